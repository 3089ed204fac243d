// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets that reach a QP: forged, damaged, random, and the first */

#include <stdlib.h>
#include "tests.h"
#include "xfer.h"

static void dropped(void)
{
	static const struct {
		const char *what;
		struct sroce_pkt p;
		enum sroce_counter why;
	} rows[] = {
		{ "another service", { .opcode = 0x24 }, SROCE_CNT_RX_QP_TYPE },
		{ "another P_Key", { .opcode = 0x04, .pkey = 0x8001 },
		  SROCE_CNT_RX_PKEY },
		{ "a PSN to come", { .opcode = 0x04, .psn = 2000 },
		  SROCE_CNT_OUT_OF_SEQ },
		{ "a PSN that went", { .opcode = 0x04, .psn = 900 },
		  SROCE_CNT_DUPLICATE },
		{ "an ACK of nothing", { .opcode = 0x11, .psn = 5000 },
		  SROCE_CNT_ACK_GHOST },
		{ "an old ACK", { .opcode = 0x11, .psn = 900 },
		  SROCE_CNT_ACK_DUP },
		{ "a READ response to nothing",
		  { .opcode = 0x10, .payload_len = 100, .psn = 1200 },
		  SROCE_CNT_ACK_GHOST },
	};
	static const u8 data[100];
	struct sroce_pkt p;
	struct xfers t;
	u32 i;

	t_case("transport: unexpected packets are dropped and counted");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_where("%s", rows[i].what);
		xfers_init(&t, NULL, 65536, 4096);
		p = rows[i].p;
		xfers_forge(&t, &p, data);
		CHECK_EQ(sim_count(&t.s->b, rows[i].why), 1);
		CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
		CHECK_EQ(t.s->b.qp.resp.psn, 1000);
		/* what follows is received as usual */
		xfer_put(&t, IB_WR_SEND, 3000);
		xfer_put(&t, IB_WR_RDMA_READ, 3000);
		xfers_run_check(&t);
		xfers_end(&t);
	}

	t_case("transport: packets from another address are dropped");
	xfers_init(&t, NULL, 65536, 4096);
	t.s->a.qp.av.sgid.raw[15]++;
	p = (struct sroce_pkt){ .opcode = 0x04 };
	xfers_forge(&t, &p, data);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RX_ADDRESS), 1);
	CHECK_EQ(t.s->b.qp.resp.psn, 1000);
	xfers_end(&t);
}

/* Bits flip on the wire: the ICRC finds them all. */
static int flip(struct sim *s, struct sim_packet *p)
{
	struct rnd *r = s->arg;

	if (!rnd_below(r, 10))
		sim_bth(p)[rnd_below(r, p->len - p->l3_len - 8)] ^=
			1 << rnd_below(r, 8);
	return 1;
}

static void damaged(void)
{
	u32 i, k, found = 0;
	struct xfers t;
	struct rnd r;

	t_case("transport: packets damaged on the way are dropped, and sent again");
	for (i = 0; i < 200; i++) {
		t_where("seed %u", i);
		r.s = i;
		xfers_init(&t, NULL, 100000, 4096);
		t.s->wire = flip;
		t.s->arg = &r;
		for (k = 0; k < 10; k++)
			xfer_put(&t, xfer_rc_ops[k % ARRAY_SIZE(xfer_rc_ops)], 3000);
		xfers_run(&t);
		/* flips in the reserved byte, which the ICRC masks, do no harm */
		xfers_check(&t);
		found += sim_count(&t.s->b, SROCE_CNT_RX_ICRC) +
			 sim_count(&t.s->a, SROCE_CNT_RX_ICRC);
		xfers_end(&t);
	}
	CHECK(found > 100);
}

static void random_packet(struct rnd *r, struct sim *s, struct sim_buf *b)
{
	u8 opcodes[256], data[1200];
	struct sroce_kqp *to = rnd_below(r, 3) ? &s->b : &s->a;
	struct sroce_kqp *from = to == &s->a ? &s->b : &s->a;
	struct sroce_pkt p = {};
	u32 i, n = 0;

	for (i = 0; i < 256; i++)
		if (sroce_opcodes[i].name && (SROCE_SVC(i) == to->qp.svc ||
					      !rnd_below(r, 30)))
			opcodes[n++] = i;
	p.opcode = opcodes[rnd_below(r, n)];
	p.qpn = to->qp.qpn;
	p.pkey = 0xffff;
	p.solicited = rnd32(r) & 1;
	p.ackreq = rnd32(r) & 1;
	p.psn = (sroce_opcodes[p.opcode].flags & SROCE_RESPONSE ?
		 to->qp.req.una : to->qp.resp.psn) + !rnd_below(r, 6) -
		!rnd_below(r, 6);
	p.psn &= SROCE_PSN_MASK;
	p.qkey = 0x1234;
	p.va = b->mr.iova + (rnd_below(r, 4) ? 8 * rnd_below(r, 400) : rnd32(r));
	p.rkey = b->mr.key ^ !rnd_below(r, 10);
	p.length = rnd_below(r, 3) ? rnd_below(r, 4000) : rnd32(r);
	p.syndrome = rnd_below(r, 3) ? 0x1f : rnd32(r);
	p.swap_add = rnd64(r);
	if (sroce_opcodes[p.opcode].flags & SROCE_PAYLOAD)
		p.payload_len = rnd_below(r, 3) ? 256 : rnd_below(r, 300);
	rnd_fill(r, data, 300);
	sim_deliver(s, sim_forge(from, &p, data));
}

static void random_packets(enum ib_qp_type type, u32 rounds)
{
	struct sim_cfg cfg = sim_default;
	struct rnd r = { 100 + type };
	struct xfers t;
	u32 i, k;

	cfg.type = type;
	cfg.mtu = IB_MTU_256;
	for (i = 0; i < rounds && t_ok(); i++) {
		t_where("type %d, round %u", type, i);
		xfers_init(&t, &cfg, 4000, 104);
		for (k = 0; k < 4; k++) {
			struct ib_sge sge[2] = { sim_sge(t.b, 0, 200),
						 sim_sge(t.b, 200, 800) };

			sim_put_recv(&t.s->b, k, sge, 2);
			sim_put_recv(&t.s->a, k, sge, 2);
		}
		if (type == IB_QPT_RC)
			xfer_put(&t, xfer_rc_ops[i % ARRAY_SIZE(xfer_rc_ops)], 1000);
		t.s->tx_fails = rnd32(&r) & 1;
		sim_doorbell(&t.s->a);
		for (k = 0; k < 15; k++) {
			random_packet(&r, t.s, t.b);
			sim_run_until(t.s, t.s->now + rnd_below(&r, 3000));
		}
		t.s->tx_fails = false;
		sim_run(t.s);
		xfers_end(&t);
	}
}

static void established(void)
{
	struct xfers t;

	t_case("transport: the first packet in RTR raises COMM_EST, once");
	xfers_init(&t, NULL, 65536, 4096);
	t.s->b.qp.state = IB_QPS_RTR;
	xfer_put(&t, IB_WR_SEND, 100);
	xfers_run(&t);
	CHECK_EQ(t.s->b.events, BIT(IB_EVENT_COMM_EST));
	t.s->b.events = 0;
	xfer_put(&t, IB_WR_SEND, 100);
	xfers_run(&t);
	CHECK_EQ(t.s->b.events, 0);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->b.rcq.n, 2);
	xfers_end(&t);
}

/* B is connected to another QP of A's address. */
static void from_another_qp(enum ib_qp_type type)
{
	struct xfers t;

	t_case("transport: loopback packets of another source QP are dropped, %s",
	       xfer_type_name(type));
	xfers_init_type(&t, type);
	t.s->loopback = true;
	t.s->b.qp.attr.dest_qp_num++;
	xfer_put(&t, IB_WR_SEND, 100);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + SIM_MS);
	CHECK(sim_count(&t.s->b, SROCE_CNT_RX_ADDRESS) > 0);
	CHECK_EQ(t.s->b.rcq.n, 0);
	t.s->b.qp.attr.dest_qp_num--;
	if (type == IB_QPT_UC)
		xfer_put(&t, IB_WR_SEND, 100);
	xfers_run(&t);
	CHECK_EQ(t.s->b.rcq.n, 1);
	xfers_end(&t);
}

UNIT_TESTS(transport)
{
	dropped();
	from_another_qp(IB_QPT_RC);
	from_another_qp(IB_QPT_UC);
	damaged();
	t_case("transport: random packets do no harm beyond their QP");
	random_packets(IB_QPT_RC, 2000);
	random_packets(IB_QPT_UC, 1000);
	random_packets(IB_QPT_UD, 1000);
	established();
}
