// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Loopback: two QPs on one host, without a wire */

#include "tests.h"
#include "xfer.h"

static void start(struct xfers *t, const struct sim_cfg *cfg, u32 size,
		  u32 chunk)
{
	xfers_init(t, cfg, size, chunk);
	t->s->loopback = true;
}

static void nothing_lost(const struct xfers *t)
{
	CHECK_EQ(sim_count(&t->s->a, SROCE_CNT_TX_PACKETS), 0);
	CHECK_EQ(sim_count(&t->s->b, SROCE_CNT_TX_PACKETS), 0);
	CHECK_EQ(sim_count(&t->s->a, SROCE_CNT_RETRANSMIT), 0);
	CHECK_EQ(sim_count(&t->s->b, SROCE_CNT_DUPLICATE), 0);
	CHECK_EQ(sim_count(&t->s->b, SROCE_CNT_OUT_OF_SEQ), 0);
	CHECK_EQ(t->s->a.qp.req.reads, 0);
	CHECK_EQ(t->s->a.qp.req.read_psns, 0);
	CHECK_EQ(t->s->a.qp.req.psn, t->s->b.qp.resp.psn);
}

static void sizes(enum ib_mtu mtu, u32 chunk)
{
	static const u32 len[] = {
		0, 1, 3, 4, 255, 256, 257, 1023, 1024, 1025, 4096, 65535,
		65536, 65537, 3 * 65536, 200001
	};
	struct sim_cfg cfg = sim_default;
	u32 i, k;

	t_case("lbpkt: all operations and sizes, MTU %u, extents of %u",
	       128 << mtu, chunk);
	cfg.mtu = mtu;
	for (i = 0; i < ARRAY_SIZE(xfer_rc_ops); i++) {
		for (k = 0; k < ARRAY_SIZE(len); k++) {
			struct xfers t;

			t_where("%s, %u bytes", xfer_name(xfer_rc_ops[i]),
				len[k]);
			start(&t, &cfg, len[k] + 256, chunk);
			xfer_put(&t, xfer_rc_ops[i], len[k]);
			xfers_run_check(&t);
			nothing_lost(&t);
			CHECK(sim_count(&t.s->a, SROCE_CNT_LOOPBACK_PACKETS) <=
			      len[k] / 65536 + 1);
			xfers_end(&t);
		}
	}
}

static void mixed(void)
{
	struct sim_cfg cfg = sim_default;
	struct rnd r = { 11 };
	u32 i, round;

	t_case("lbpkt: queues full of mixed messages, across the PSN wrap");
	cfg.psn = 0xfffe80;
	for (round = 0; round < 50; round++) {
		struct xfers t;

		t_where("round %u", round);
		start(&t, &cfg, 4000000, 5000);
		for (i = 0; i < 60; i++)
			xfer_put(&t, xfer_rc_ops[rnd_below(&r, ARRAY_SIZE(xfer_rc_ops))],
				 rnd_below(&r, 2) ? rnd_below(&r, 100000) :
						    rnd_below(&r, 1000));
		xfers_run_check(&t);
		nothing_lost(&t);
		xfers_end(&t);
	}
}

/* A round with random messages of up to @len bytes */
static void start_round(struct xfers *t, u32 round, struct rnd *r, u32 len)
{
	u32 i;

	t_where("round %u", round);
	start(t, NULL, 4000000, 5000);
	for (i = 0; i < 30; i++) {
		u32 op = xfer_rc_ops[rnd_below(r, ARRAY_SIZE(xfer_rc_ops))];

		xfer_put(t, op, rnd_below(r, len));
	}
}

static bool lose_some(struct sim *s, struct sroce_qp *qp)
{
	struct rnd *r = s->arg;

	(void)qp;

	return rnd_below(r, 10);
}

/* A packet for which there is no memory is a loss like any other. */
static void losses(void)
{
	struct rnd r = { 12 };
	u32 round;

	t_case("lbpkt: packets that can't be allocated are sent later");
	for (round = 0; round < 100; round++) {
		struct xfers t;

		start_round(&t, round, &r, 100000);
		t.s->tx_ok = lose_some;
		t.s->arg = &r;
		xfers_run_check(&t);
		CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OFO_QUEUED), 0);
		xfers_end(&t);
	}
}

/* Loopback may end or begin in the middle: an address moves. */
static void switched(void)
{
	struct rnd r = { 13 };
	u32 round;

	t_case("lbpkt: the wire and loopback may alternate");
	for (round = 0; round < 400; round++) {
		struct xfers t;

		start_round(&t, round, &r, 60000);
		sim_doorbell(&t.s->a);
		do {
			t.s->loopback = rnd_below(&r, 2);
		} while (sim_step(t.s));
		xfers_check(&t);
		xfers_end(&t);
	}
}

static int lose_and_switch(struct sim *s, struct sim_packet *p)
{
	u32 *lost = s->arg;

	if (s->loopback || p->from != &s->a || sim_psn(p) != *lost)
		return 1;
	s->loopback = true;
	return 0;
}

/*
 * A loopback packet would have space for the whole message. If it is sent in place of a
 * lost packet, it must not hold what was never sent: an ACK of that would be invalid.
 */
static void switched_after_loss(void)
{
	struct xfers t;
	u32 lost;

	t_case("lbpkt: a packet that the wire lost is sent again by loopback");
	start(&t, NULL, 200000, 5000);
	lost = sroce_psn_add(t.s->a.qp.req.psn, 2);
	t.s->loopback = false;
	t.s->wire = lose_and_switch;
	t.s->arg = &lost;
	xfer_put(&t, IB_WR_RDMA_WRITE, 150000);
	xfers_run_check(&t);
	CHECK(t.s->loopback);
	CHECK(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT) > 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_end(&t);
}

static void wrong_keys(void)
{
	u32 k;

	t_case("lbpkt: a wrong key is the same error as on the wire");
	for (k = 0; k < 3; k++) {
		struct xfers t;
		struct sim_wr wr;

		t_where("%u", k);
		start(&t, NULL, 100000, 5000);
		wr = xfer_make(&t, k == 2 ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE,
			       50000);
		if (k)
			wr.rkey ^= 1;
		else
			wr.sge[1].lkey ^= 1;
		sim_post(&t.s->a, &wr);
		sim_run(t.s);
		CHECK_EQ(t.s->a.scq.n, 1);
		CHECK_EQ(t.s->a.scq.e[0].status, k ? IB_WC_REM_ACCESS_ERR :
						     IB_WC_LOC_PROT_ERR);
		CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
		xfers_end(&t);
	}
}

/* UC work completes when its packets are built: they must hold a copy. */
static void uc_copies(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("lbpkt: UC data is as it was when the work request completed");
	cfg.type = IB_QPT_UC;
	start(&t, &cfg, 10000, 5000);
	xfer_put(&t, IB_WR_RDMA_WRITE, 5000);
	sim_doorbell(&t.s->a);
	CHECK_EQ(t.s->a.scq.n, 1);
	sim_fill(t.a, t.x[0].off, 5000, 77);
	sim_run(t.s);
	CHECK(sim_filled(t.b, t.x[0].off, 5000, 0));
	xfers_end(&t);
}

/* The region of a READ may be deregistered before its data is copied. */
static void revoked(void)
{
	struct xfers t;
	struct sim_wr wr;
	u32 i;

	t_case("lbpkt: a region deregistered in the middle of a READ");
	for (i = 1; i < 4; i++) {
		t_where("after %u steps", i);
		start(&t, NULL, 5000000, 5000);
		wr = xfer_make(&t, IB_WR_RDMA_READ, 4000000);
		sim_put_send(&t.s->a, &wr);
		sim_doorbell(&t.s->a);
		while (t.s->steps < i && sim_step(t.s))
			;
		sim_buf_revoke(t.b);
		sim_run(t.s);
		CHECK_EQ(t.s->a.scq.n, 1);
		CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_REM_ACCESS_ERR);
		xfers_end(&t);
	}
}

/* The responses that come before the first pages do go farther than responses are noted. */
static void long_read_on_demand(void)
{
	static const u64 delay[] = { 1, 1000, 10000, 100000, XFER_ODP_DELAY };
	struct sim_cfg cfg = sim_default;
	u32 i;

	t_case("lbpkt: a READ longer than read-ahead into memory on demand waits for no probe");
	cfg.mtu = IB_MTU_256;
	for (i = 0; i < ARRAY_SIZE(delay); i++) {
		struct xfers t;

		t_where("pages after %u ns", (u32)delay[i]);
		start(&t, &cfg, 0x1000000, 1 << 20);
		t.s->page_delay = delay[i];
		t.s->page_few = i & 1;
		sim_buf_on_demand(t.a);
		xfer_put(&t, IB_WR_RDMA_READ, 0xc00000);
		xfers_run_check(&t);
		CHECK(sim_count(&t.s->a, SROCE_CNT_ACK_EARLY) > 0);
		CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
		CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
		xfers_end(&t);
	}
}

UNIT_TESTS(lbpkt)
{
	sizes(IB_MTU_256, 104);
	sizes(IB_MTU_1024, 4096);
	sizes(IB_MTU_4096, 1 << 20);
	mixed();
	losses();
	switched();
	switched_after_loss();
	wrong_keys();
	uc_copies();
	revoked();
	long_read_on_demand();
}
