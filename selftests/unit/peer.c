// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A peer played by the test */

#include <stdlib.h>
#include "peer.h"

struct txlog txlog;

static int record(struct sim *s, struct sim_packet *p)
{
	const u8 *bth = sim_bth(p);
	u32 i = txlog.n++;

	(void)s;
	if (p->from != txlog.of || i >= TXLOG_MAX)
		return txlog.passes;
	txlog.p[i].opcode = bth[0];
	txlog.p[i].ackreq = bth[8] & 0x80;
	txlog.p[i].psn = sim_psn(p);
	txlog.p[i].syndrome = bth[SROCE_BTH_LEN];
	txlog.p[i].msn = bth[13] << 16 | bth[14] << 8 | bth[15];
	if (bth[0] == 0x0c)
		txlog.p[i].length = (u32)bth[24] << 24 | bth[25] << 16 | bth[26] << 8 | bth[27];
	txlog.p[i].payload = p->len - p->l3_len - 8 - SROCE_ICRC_LEN -
			    sroce_opcodes[bth[0]].hdr_len - (bth[1] >> 4 & 3);
	return txlog.passes;
}

/* From now on what @of sends is on the txlog. */
void peer_record(struct sim *s, const struct sroce_kqp *of)
{
	s->wire = record;
	txlog.of = of;
	txlog.passes = false;
	txlog.n = 0;
}

void peer_begin_with(struct xfers *t, const struct sim_cfg *cfg, u32 size)
{
	struct sim_cfg c = *cfg;

	c.mtu = IB_MTU_256;
	xfers_init(t, &c, size, 4096);
	sim_open_cwnd(&t->s->a);
	peer_record(t->s, &t->s->a);
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

	CHECK_EQ(txlog.n, at + n);
	for (i = 0; i < n && t_ok(); i++)
		CHECK_EQ(txlog.p[at + i].psn, psn + i);
}

void peer_begin_resp(struct xfers *t, u32 n)
{
	struct sim_cfg cfg = sim_default;

	cfg.mtu = IB_MTU_256;
	cfg.dest_rd_atomic = n;
	xfers_init(t, &cfg, 65536, 4096);
	sim_fill(t->b, 0, 65536, 1);
	peer_record(t->s, &t->s->b);
}

/* As sim.tx_room: the queue is full for responses. */
u32 peer_no_room(struct sim *s, struct sroce_qp *qp, bool response)
{
	(void)s;
	(void)qp;
	return response ? 0 : ~0u;
}

/* It remembers as many from now on. */
void peer_resize(struct xfers *t, u32 n)
{
	struct sroce_qp *qp = &t->s->b.qp;

	free(sroce_resp_res_resize(qp, calloc(n, sizeof(*qp->resp.res)), n));
}

/* A request arrives, and the responder runs once. */
void peer_ask(struct xfers *t, u8 opcode, u32 psn, u64 off, u32 len, u32 wrong_key)
{
	struct sroce_pkt p = {
		.opcode = opcode, .pkey = 0xffff, .qpn = t->s->b.qp.qpn,
		.psn = psn, .va = t->b->mr.iova + off, .length = len,
		.rkey = t->b->mr.ibmr.rkey ^ wrong_key, .swap_add = 1,
	};

	sim_deliver(t->s, sim_forge(&t->s->a, &p, NULL));
}

void peer_ask_read(struct xfers *t, u32 psn, u64 off, u32 len)
{
	peer_ask(t, 0x0c, psn, off, len, 0);
}

/* @n READ responses were sent from the @at'th packet on, the last @len long. */
void peer_read_sent(u32 at, u32 psn, u32 n, u32 len)
{
	u32 i;

	CHECK(txlog.n >= at + n);
	for (i = 0; i < n && t_ok(); i++) {
		bool last = i == n - 1;
		u8 want = n == 1 ? 0x10 : last ? 0x0f : i ? 0x0e : 0x0d;

		CHECK_EQ(txlog.p[at + i].psn, psn + i);
		CHECK_EQ(txlog.p[at + i].opcode, want);
		CHECK_EQ(txlog.p[at + i].payload, last ? len : MTU);
	}
}
