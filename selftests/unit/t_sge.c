// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Payload lists of memory on demand: pages are faulted in, and may be evicted at any time */

#include "tests.h"
#include "xfer.h"

static const char *where(int whose)
{
	return whose == XFER_LOCAL ? "the sender's" : whose == XFER_REMOTE ?
	       "the receiver's" : "both ends'";
}

static void each(u32 opcode, int whose, bool local)
{
	struct xfers t;

	t_case("sge: %s, %s memory%s", xfer_name(opcode), where(whose),
	       local ? ", loopback" : "");
	xfers_init_odp(&t, whose, local);
	xfer_put(&t, opcode, 50000);
	xfer_put(&t, opcode, 700);
	xfers_run(&t);
	CHECK(sim_count(&t.s->a, SROCE_CNT_ODP_WAIT) +
	      sim_count(&t.s->b, SROCE_CNT_ODP_WAIT) > 0);
	/* the peer is not told of a gap */
	CHECK(local || !sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT));
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_finish(&t);
}

/* No packet is sent without its payload. */
static void pinned_then(u32 opcode, u32 len)
{
	struct xfers t;

	t_case("sge: %s from a region that is pinned during a page fault",
	       xfer_name(opcode));
	xfers_init_odp(&t, XFER_LOCAL, false);
	sim_buf_pin_on_fault(t.a);
	xfer_put(&t, opcode, len);
	xfers_run(&t);
	CHECK(!t.a->mr.odp);
	xfers_finish(&t);
}

/* No page of a message is present at either end: that takes few page faults. */
static void absent(u32 opcode)
{
	struct xfers t;

	t_case("sge: %s of 300 KB, no page present at either end", xfer_name(opcode));
	xfers_init_odp(&t, XFER_LOCAL | XFER_REMOTE, false);
	sim_open_cwnd(&t.s->a);
	xfer_put(&t, opcode, 300000);
	xfers_run(&t);
	/* one for each SGE */
	CHECK(sim_count(&t.s->a, SROCE_CNT_ODP_WAIT) <= 3);
	CHECK(sim_count(&t.s->b, SROCE_CNT_ODP_WAIT) <=
	      (opcode == IB_WR_SEND ? 8 : 1));
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ODP_MISS), 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ODP_DROP), 0);
	/* probes during the page faults */
	CHECK(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT) < 4);
	xfers_finish(&t);
}

/* There is progress at each page fault, even if pages are evicted soon. */
static void evicted(u32 opcode, int whose)
{
	u64 limit = 100 * XFER_ODP_DELAY;
	struct xfers t;

	t_case("sge: %s, pages in %s memory that are evicted after each packet",
	       xfer_name(opcode), where(whose));
	xfers_init_odp(&t, whose, false);
	limit += t.s->now;
	xfer_put(&t, opcode, 20000);
	sim_doorbell(&t.s->a);
	do {
		if (whose & XFER_LOCAL)
			sim_buf_evict_all(t.a);
		if (whose & XFER_REMOTE)
			sim_buf_evict_all(t.b);
	} while (t.s->now < limit && sim_step(t.s));
	CHECK(t.s->now < limit);
	CHECK_EQ(t.s->a.scq.n, 1);
	xfers_finish(&t);
}

/* A page that can't be faulted in is an error like a wrong address. */
static void never(u32 opcode, int whose, enum ib_wc_status status)
{
	struct xfers t;

	t_case("sge: %s, pages in %s memory that can't be faulted in",
	       xfer_name(opcode), where(whose));
	xfers_init_odp(&t, whose, false);
	sim_buf_never(whose & XFER_LOCAL ? t.a : t.b, 0);
	xfer_put(&t, opcode, 3000);
	xfers_run(&t);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, status);
	xfers_end(&t);
}

/* Prefault may fail without an error: those pages are not needed yet. */
static void never_later(u32 opcode, u32 want)
{
	struct xfers t;
	struct sim_wr wr = {
		.opcode = opcode, .num_sge = 1, .flags = IB_SEND_SIGNALED,
	};

	t_case("sge: %s of present pages before some that can't be faulted in",
	       xfer_name(opcode));
	xfers_init_odp(&t, XFER_LOCAL | XFER_REMOTE, false);
	sim_buf_never(t.a, 2);
	sim_buf_never(t.b, 2);
	wr.sge[0] = sim_sge(t.a, 0, 8192);
	wr.remote_addr = t.b->mr.iova;
	wr.rkey = t.b->mr.key;
	sim_post(&t.s->a, &wr);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_SUCCESS);
	wr.sge[0].length++;
	sim_post(&t.s->a, &wr);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[1].status, want);
	xfers_end(&t);
}

/* Both entries of a list have the key of one region, which ends before the second. */
static void beyond(u32 opcode, int whose, enum ib_wc_status want)
{
	struct ib_sge sge[2];
	struct sim_wr wr;
	struct xfers t;

	t_case("sge: %s, absent pages of %s memory before some outside of their region",
	       xfer_name(opcode), where(whose));
	xfers_init_odp(&t, whose, false);
	wr = xfer_make(&t, opcode, 8192);
	sge[0] = sim_sge(whose == XFER_LOCAL ? t.a : t.b, 0, 4096);
	sge[1] = sge[0];
	sge[1].addr += 1 << 30;
	if (whose == XFER_LOCAL) {
		memcpy(wr.sge, sge, sizeof(sge));
		wr.num_sge = 2;
	} else {
		sim_put_recv(&t.s->b, 0, sge, 2);
	}
	CHECK_EQ(xfers_post(&t, &wr), want);
	xfers_end(&t);
}

/* A receive's memory is of the PD of its queue, what is written by a key of the QP's. */
static void pds(bool odp, bool recv, bool region, u32 opcode, enum ib_wc_status want)
{
	struct ib_pd *other = (struct ib_pd *)&other;
	struct sim_wr wr;
	struct xfers t;

	t_case("sge: %s to a region of %s PD, receives of %s%s", xfer_name(opcode),
	       region ? "another" : "the QP's", recv ? "another" : "it",
	       odp ? ", pages absent" : "");
	if (odp)
		xfers_init_odp(&t, XFER_REMOTE, false);
	else
		xfers_init(&t, NULL, 65536, 4096);
	t.s->b.qp.recv_pd = recv ? other : t.s->b.qp.ibqp.pd;
	t.b->mr.pd = region ? other : t.s->b.qp.ibqp.pd;
	wr = xfer_make(&t, opcode, 3000);
	if (opcode == IB_WR_SEND)
		xfer_recv(&t, 0);
	CHECK_EQ(xfers_post(&t, &wr), want);
	xfers_end(&t);
}

static void each_pd(bool odp)
{
	pds(odp, true, true, IB_WR_SEND, IB_WC_SUCCESS);
	pds(odp, true, false, IB_WR_SEND, IB_WC_REM_OP_ERR);
	pds(odp, false, true, IB_WR_SEND, IB_WC_REM_OP_ERR);
	pds(odp, true, false, IB_WR_RDMA_WRITE, IB_WC_SUCCESS);
	pds(odp, true, true, IB_WR_RDMA_WRITE, IB_WC_REM_ACCESS_ERR);
	pds(odp, true, true, IB_WR_RDMA_READ, IB_WC_REM_ACCESS_ERR);
}

struct evictions {
	struct rnd	r;
	struct xfers	*t;
	u32		loss;	/* packets in 1000 */
};

/* Pages at both ends are evicted and packets lost, by chance. */
static int evict_some(struct sim *s, struct sim_packet *p)
{
	struct evictions *w = s->arg;

	if (!rnd_below(&w->r, 4))
		sim_buf_evict(w->t->a, rnd32(&w->r));
	if (!rnd_below(&w->r, 4))
		sim_buf_evict(w->t->b, rnd32(&w->r));
	return p->lbpkt || rnd_below(&w->r, 1000) >= w->loss;
}

static void random_evictions(u32 rounds, u32 loss, bool local)
{
	struct sim_cfg cfg = sim_default;
	struct evictions w;
	struct xfers t;
	u32 i, k;

	t_case("sge: %u seeds, pages come and go, %u of 1000 packets lost%s",
	       rounds, loss, local ? ", loopback" : "");
	for (i = 0; i < rounds && t_ok(); i++) {
		t_where("seed %u", i);
		w = (struct evictions){ { i + 1 }, &t, loss };
		cfg.psn = rnd32(&w.r) & SROCE_PSN_MASK;
		cfg.mtu = 1 + rnd_below(&w.r, 5);
		xfers_init(&t, &cfg, XFER_ODP_SIZE, 8 * (1 + rnd_below(&w.r, 900)));
		t.s->page_delay = rnd_below(&w.r, 200000);
		t.s->loopback = local;
		sim_buf_on_demand(t.a);
		sim_buf_on_demand(t.b);
		t.s->wire = evict_some;
		t.s->arg = &w;
		for (k = 0; k < 30; k++)
			xfer_put(&t, xfer_rc_ops[rnd_below(&w.r, ARRAY_SIZE(xfer_rc_ops))],
				 rnd_below(&w.r, 9000));
		xfers_finish(&t);
	}
}

UNIT_TESTS(sge)
{
	u32 i, whose;

	/* all but a FLUSH, which touches no memory */
	for (i = 0; xfer_rc_ops[i] != SROCE_WR_FLUSH; i++)
		for (whose = XFER_LOCAL; whose <= (XFER_LOCAL | XFER_REMOTE); whose++) {
			each(xfer_rc_ops[i], whose, false);
			each(xfer_rc_ops[i], whose, true);
			evicted(xfer_rc_ops[i], whose);
		}
	pinned_then(IB_WR_RDMA_WRITE, 20000);
	pinned_then(IB_WR_SEND, 700);
	pinned_then(IB_WR_RDMA_READ, 20000);
	absent(IB_WR_RDMA_WRITE);
	absent(IB_WR_RDMA_READ);
	absent(IB_WR_SEND);
	never(IB_WR_SEND, XFER_LOCAL, IB_WC_LOC_PROT_ERR);
	never(IB_WR_SEND, XFER_REMOTE, IB_WC_REM_OP_ERR);
	never(IB_WR_RDMA_WRITE, XFER_REMOTE, IB_WC_REM_ACCESS_ERR);
	never(IB_WR_RDMA_READ, XFER_REMOTE, IB_WC_REM_ACCESS_ERR);
	never(IB_WR_RDMA_READ, XFER_LOCAL, IB_WC_LOC_PROT_ERR);
	never_later(IB_WR_RDMA_WRITE, IB_WC_LOC_PROT_ERR);
	never_later(IB_WR_RDMA_READ, IB_WC_REM_ACCESS_ERR);
	beyond(IB_WR_RDMA_READ, XFER_LOCAL, IB_WC_LOC_PROT_ERR);
	beyond(IB_WR_RDMA_WRITE, XFER_LOCAL, IB_WC_LOC_PROT_ERR);
	beyond(IB_WR_SEND, XFER_LOCAL, IB_WC_LOC_PROT_ERR);
	beyond(IB_WR_SEND, XFER_REMOTE, IB_WC_REM_OP_ERR);
	each_pd(false);
	each_pd(true);
	random_evictions(100, 0, false);
	random_evictions(100, 20, false);
	random_evictions(100, 0, true);
}
