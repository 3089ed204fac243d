// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A peer played by the test */

#include "peer.h"

struct tape tape;

static int record(struct sim *s, struct sim_packet *p)
{
	u32 i = tape.n++;

	if (p->from != &s->a || i >= TAPE)
		return 0;
	tape.p[i].opcode = sim_bth(p)[0];
	tape.p[i].ackreq = sim_bth(p)[8] & 0x80;
	tape.p[i].psn = sim_psn(p);
	if (tape.p[i].opcode == 0x0c)
		tape.p[i].length = sim_bth(p)[26] << 8 | sim_bth(p)[27];
	return 0;
}

void peer_begin_with(struct xfers *t, const struct sim_cfg *cfg, u32 size)
{
	struct sim_cfg c = *cfg;

	c.mtu = IB_MTU_256;
	xfers_init(t, &c, size, 4096);
	t->s->wire = record;
	tape.n = 0;
}

/* No timer fires but those that the test waits for. */
void peer_begin(struct xfers *t)
{
	struct sim_cfg cfg = sim_default;

	cfg.timeout = 0;
	peer_begin_with(t, &cfg, 65536);
}

/* What is posted goes out, as far as it may within 100 us. */
void peer_go(struct xfers *t)
{
	sim_doorbell(&t->s->a);
	sim_run_until(t->s, t->s->now + 100000);
}

/* An answer comes, with as many bytes. */
void peer_hear(struct xfers *t, u8 opcode, u32 psn, u8 syndrome, u32 len)
{
	static const u8 data[2 * MTU];
	struct sroce_pkt p = {
		.opcode = opcode, .pkey = 0xffff, .qpn = t->s->a.qp.qpn,
		.psn = psn, .syndrome = syndrome, .payload_len = len,
	};

	sim_deliver(t->s, sim_forge(&t->s->b, &p, data));
}

void peer_ack(struct xfers *t, u32 psn, u8 syndrome)
{
	peer_hear(t, 0x11, psn, syndrome, 0);
}

/* From number @at on, @n packets in a row were sent, and no more. */
void peer_sent(u32 at, u32 psn, u32 n)
{
	u32 i;

	CHECK_EQ(tape.n, at + n);
	for (i = 0; i < n && t_ok(); i++)
		CHECK_EQ(tape.p[at + i].psn, psn + i);
}
