// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Regions whose pages come when they are needed, and may go at any time */

#include "tests.h"
#include "xfer.h"

#define SIZE	400000
#define DELAY	(300 * 1000ULL)		/* until pages come, in ns */

/* Whose memory it is */
enum { LOCAL = 1, REMOTE = 2 };

static void begin(struct xfers *t, int whose, bool local)
{
	xfers_init(t, NULL, SIZE, 5000);
	t->s->page_delay = DELAY;
	t->s->local = local;
	if (whose & LOCAL)
		sim_buf_on_demand(t->a);
	if (whose & REMOTE)
		sim_buf_on_demand(t->b);
}

/* Post, and go on until there is something on the wire */
static void until_sent(struct xfers *t)
{
	sim_doorbell(&t->s->a);
	while (!t->s->wire_head && sim_step(t->s))
		;
}

static void finish(struct xfers *t)
{
	sim_doorbell(&t->s->a);
	sim_run(t->s);
	xfers_check(t);
	CHECK_EQ(t->s->a.qp.state, IB_QPS_RTS);
	CHECK_EQ(t->s->b.qp.state, IB_QPS_RTS);
	xfers_end(t);
}

static const char *where(int whose)
{
	return whose == LOCAL ? "the sender's" : whose == REMOTE ?
	       "the receiver's" : "both ends'";
}

static void each(u32 opcode, int whose, bool local)
{
	struct xfers t;

	t_case("paging: %s, %s memory%s", xfer_name(opcode), where(whose),
	       local ? ", on one host" : "");
	begin(&t, whose, local);
	xfer_put(&t, opcode, 50000);
	xfer_put(&t, opcode, 700);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK(sim_count(&t.s->a, SROCE_CNT_ODP_WAIT) +
	      sim_count(&t.s->b, SROCE_CNT_ODP_WAIT) > 0);
	/* nobody is told that anything was lost, who needn't know */
	CHECK(local || !sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT));
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	finish(&t);
}

/* No packet leaves without its bytes. */
static void pinned_then(u32 opcode, u32 len)
{
	struct xfers t;

	t_case("paging: %s, of a region that is pinned when a page was missed",
	       xfer_name(opcode));
	begin(&t, LOCAL, false);
	sim_buf_pinned_then(t.a);
	xfer_put(&t, opcode, len);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK(!t.a->mr.odp);
	finish(&t);
}

/* All of a message that is cold at both ends, for one wait each, or a few */
static void cold(u32 opcode)
{
	struct xfers t;

	t_case("paging: %s of 300 KB, cold at both ends", xfer_name(opcode));
	begin(&t, LOCAL | REMOTE, false);
	xfer_put(&t, opcode, 300000);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	/* one for each entry of the list */
	CHECK(sim_count(&t.s->a, SROCE_CNT_ODP_WAIT) <= 3);
	CHECK(sim_count(&t.s->b, SROCE_CNT_ODP_WAIT) <=
	      (opcode == IB_WR_SEND ? 8 : 1));
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ODP_MISS), 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ODP_DROP), 0);
	/* probes, while all is silent */
	CHECK(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT) < 4);
	finish(&t);
}

/* The packets of one message, while the first of them waits */
static void in_order(void)
{
	struct xfers t;

	t_case("paging: a request that waits is executed once, and all after it");
	begin(&t, REMOTE, false);
	xfer_put(&t, IB_WR_RDMA_WRITE, 20000);
	xfer_put(&t, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
	xfer_put(&t, IB_WR_SEND, 3000);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + DELAY / 2);
	CHECK(t.s->b.qp.resp.paging);
	CHECK(t.s->b.qp.resp.ofo_len > 20);
	CHECK_EQ(t.s->b.qp.resp.msn, 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ACK_SENT), 0);
	finish(&t);
}

static void no_room(void)
{
	struct xfers t;

	t_case("paging: a request that can't wait is asked for when the pages are there");
	begin(&t, REMOTE, false);
	t.s->b.qp.resp.ofo_max = 0;
	xfer_put(&t, IB_WR_RDMA_WRITE, 20000);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + DELAY / 2);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 0);
	CHECK(sim_count(&t.s->b, SROCE_CNT_ODP_DROP) > 0);
	finish(&t);
}

static void little_room(void)
{
	struct xfers t;

	t_case("paging: so is what comes after it when the room is full");
	begin(&t, REMOTE, false);
	/* who wants no retries does not probe */
	t.s->a.qp.attr.retry_cnt = 0;
	t.s->b.qp.resp.ofo_max = 5;
	xfer_put(&t, IB_WR_RDMA_WRITE, 20000);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	finish(&t);
}

/* @room: so many can be kept of those that found no page */
static void missed_response(u32 room)
{
	struct xfers t;

	t_case("paging: the responses of a READ that found no page %s",
	       room ? "wait for it" : "nor room are asked for at once");
	begin(&t, LOCAL, false);
	t.s->a.qp.resp.ofo_max = room;
	/* before the silence is one */
	t.s->page_delay = DELAY / 3;
	xfer_put(&t, IB_WR_RDMA_READ, 3 * 1024);
	until_sent(&t);
	sim_buf_evict(t.a, 0);
	sim_run(t.s);
	CHECK(sim_count(&t.s->a, SROCE_CNT_ODP_MISS) > 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_READ_RETRY) > 0, !room);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	finish(&t);
}

/* Who has what it asked for, and only no page for it, waits for nobody else. */
static void kept_for_long(void)
{
	struct xfers t;

	t_case("paging: responses that wait longer than the timeout, without retries");
	begin(&t, LOCAL, false);
	t.s->a.qp.attr.retry_cnt = 0;
	t.s->a.qp.attr.timeout = 8;
	xfer_put(&t, IB_WR_RDMA_READ, 3 * 1024);
	until_sent(&t);
	t.s->page_delay = 3 * (4096ULL << 8);
	sim_buf_evict(t.a, 0);
	sim_run(t.s);
	CHECK(sim_count(&t.s->a, SROCE_CNT_ODP_MISS) > 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	finish(&t);
}

/* A response that comes again and again is kept once. */
static void kept_once(void)
{
	struct xfers t;

	t_case("paging: a response that waits is kept once, however often it comes");
	begin(&t, LOCAL, false);
	xfer_put(&t, IB_WR_RDMA_READ, 3 * 1024);
	until_sent(&t);
	sim_buf_evict(t.a, 0);
	while (!t.s->a.qp.req.n_deferred && sim_step(t.s))
		;
	sim_run_until(t.s, t.s->now + DELAY / 10);
	CHECK_EQ(t.s->a.qp.req.n_deferred, 3);
	sroce_read_retry_dropped(&t.s->a.qp, t.s->a.qp.req.max_psn);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + DELAY / 4);
	CHECK(sim_count(&t.s->a, SROCE_CNT_ODP_MISS) > 3);
	CHECK_EQ(t.s->a.qp.req.n_deferred, 3);
	finish(&t);
}

/* Each time that pages come something is done with them, however soon they go. */
static void fleeting(u32 opcode, int whose)
{
	u64 limit = 100 * DELAY;
	struct xfers t;

	t_case("paging: %s, pages in %s memory that are gone when the next packet comes",
	       xfer_name(opcode), where(whose));
	begin(&t, whose, false);
	limit += t.s->now;
	xfer_put(&t, opcode, 20000);
	sim_doorbell(&t.s->a);
	do {
		if (whose & LOCAL)
			sim_buf_ebb(t.a);
		if (whose & REMOTE)
			sim_buf_ebb(t.b);
	} while (t.s->now < limit && sim_step(t.s));
	CHECK(t.s->now < limit);
	CHECK_EQ(t.s->a.scq.n, 1);
	finish(&t);
}

/* What can't come is an error like any wrong address. */
static void never(u32 opcode, int whose, enum ib_wc_status status)
{
	struct xfers t;

	t_case("paging: %s, pages in %s memory that can't come: an error",
	       xfer_name(opcode), where(whose));
	begin(&t, whose, false);
	sim_buf_never(whose & LOCAL ? t.a : t.b, 0);
	xfer_put(&t, opcode, 3000);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, status);
	xfers_end(&t);
}

/* Who can't send has no answer to wait for, however long that takes. */
static void patience(void)
{
	struct xfers t;

	t_case("paging: a requester without retries waits longer than its timeout");
	begin(&t, LOCAL, false);
	t.s->a.qp.attr.retry_cnt = 0;
	t.s->a.qp.attr.timeout = 8;
	t.s->page_few = true;
	t.s->page_delay = 3 * (4096ULL << 8);
	xfer_put(&t, IB_WR_SEND, 10000);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	finish(&t);
}

/* Nor is a responder given up that waits for pages, as long as it says so. */
static void no_hurry(void)
{
	struct xfers t;

	t_case("paging: a responder that waits longer than all timeouts says so");
	begin(&t, REMOTE, false);
	t.s->a.qp.attr.retry_cnt = 1;
	t.s->a.qp.attr.timeout = 14;
	t.s->page_delay = 500 * SIM_MS;
	xfer_put(&t, IB_WR_SEND, 3000);
	xfer_put(&t, IB_WR_RDMA_WRITE, 20000);
	xfer_put(&t, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK(sim_count(&t.s->b, SROCE_CNT_RNR_SENT) > 1);
	finish(&t);

	t_case("paging: it says so to nobody while it doesn't take long");
	begin(&t, REMOTE, false);
	t.s->a.qp.attr.timeout = 14;
	t.s->page_delay = 20 * SIM_MS;
	xfer_put(&t, IB_WR_RDMA_WRITE, 20000);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK(sim_count(&t.s->a, SROCE_CNT_PROBE) > 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RNR_SENT), 0);
	finish(&t);
}

/* What is brought along may fail: it is not needed yet. */
static void never_later(u32 opcode, u32 want)
{
	struct xfers t;
	struct sim_wr wr = {
		.opcode = opcode, .num_sge = 1, .flags = IB_SEND_SIGNALED,
	};

	t_case("paging: %s of pages that are there, before some that can't come",
	       xfer_name(opcode));
	begin(&t, LOCAL | REMOTE, false);
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

/* The QP goes while it waits. */
static void dies(enum ib_qp_state to)
{
	struct xfers t;

	t_case("paging: a QP that waits goes to state %d", to);
	begin(&t, LOCAL | REMOTE, false);
	xfer_put(&t, IB_WR_RDMA_WRITE, 20000);
	xfer_put(&t, IB_WR_RDMA_READ, 20000);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + 3 * DELAY / 2);
	CHECK(t.s->b.qp.resp.paging);
	sim_enter(&t.s->a, to);
	sim_enter(&t.s->b, to);
	sim_run(t.s);
	CHECK_EQ(t.s->b.qp.resp.ofo_len, 0);
	CHECK_EQ(t.s->a.scq.n, to == IB_QPS_ERR ? 2 : 0);
	xfers_end(&t);
}

/* Messages that come while the first of them waits */
static void unreliable(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i;

	t_case("paging: UC messages wait, in order");
	cfg.type = IB_QPT_UC;
	xfers_init(&t, &cfg, SIZE, 5000);
	t.s->page_delay = DELAY;
	sim_buf_on_demand(t.b);
	for (i = 0; i < 8; i++)
		xfer_put(&t, i % 2 ? IB_WR_SEND_WITH_IMM : IB_WR_RDMA_WRITE,
			 3000 + i);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + DELAY / 2);
	CHECK(t.s->b.qp.resp.ofo_len > 20);
	finish(&t);

	t_case("paging: UC loses what can't wait, and receives the next");
	xfers_init(&t, &cfg, SIZE, 5000);
	sim_buf_on_demand(t.b);
	t.s->b.qp.resp.ofo_max = 0;
	for (i = 0; i < 2; i++) {
		struct sim_wr wr = {
			.wr_id = i, .opcode = IB_WR_RDMA_WRITE, .num_sge = 1,
			.flags = IB_SEND_SIGNALED,
			.sge = { sim_sge(t.a, 0, 3000) },
			.remote_addr = t.b->mr.iova, .rkey = t.b->mr.key,
		};

		sim_fill(t.a, 0, 3000, 77);
		sim_post(&t.s->a, &wr);
		sim_run(t.s);
		CHECK_EQ(sim_filled(t.b, 0, 3000, 77), i == 1);
	}
	CHECK(sim_count(&t.s->b, SROCE_CNT_ODP_DROP) > 0);
	xfers_end(&t);
}

struct tide {
	struct rnd	r;
	struct xfers	*t;
	u32		loss;	/* packets in 1000 */
};

/* With each packet some page goes, at either end; some packets do, too. */
static int ebb(struct sim *s, struct sim_packet *p)
{
	struct tide *w = s->arg;

	if (!rnd_below(&w->r, 4))
		sim_buf_evict(w->t->a, rnd32(&w->r));
	if (!rnd_below(&w->r, 4))
		sim_buf_evict(w->t->b, rnd32(&w->r));
	return p->parcel || rnd_below(&w->r, 1000) >= w->loss;
}

/* The pages that a request goes to leave before it comes, three times. */
static bool leave(struct sim *s, struct sroce_qp *qp)
{
	struct xfers *t = s->arg;

	if (qp == &s->a.qp && sim_count(&s->b, SROCE_CNT_ODP_DROP) < 3)
		sim_buf_ebb(t->b);
	return true;
}

/* The peer says so each time, and has to be heard each time. */
static void missed_again(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("paging: what can't wait finds no page three times, without retries");
	cfg.retry_cnt = 0;
	xfers_init(&t, &cfg, SIZE, 5000);
	t.s->local = true;
	t.s->page_delay = DELAY;
	t.s->tx_ok = leave;
	t.s->arg = &t;
	t.s->b.qp.resp.ofo_max = 0;
	sim_buf_on_demand(t.b);
	xfer_put(&t, IB_WR_RDMA_WRITE, 300);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ODP_DROP), 3);
	finish(&t);
}

static void tides(u32 rounds, u32 loss, bool local)
{
	struct sim_cfg cfg = sim_default;
	struct tide w;
	struct xfers t;
	u32 i, k;

	t_case("paging: %u seeds, pages come and go, %u of 1000 packets lost%s",
	       rounds, loss, local ? ", on one host" : "");
	for (i = 0; i < rounds && t_ok(); i++) {
		t_where("seed %u", i);
		w = (struct tide){ { i + 1 }, &t, loss };
		cfg.psn = rnd32(&w.r) & SROCE_PSN_MASK;
		cfg.mtu = 1 + rnd_below(&w.r, 5);
		xfers_init(&t, &cfg, SIZE, 8 * (1 + rnd_below(&w.r, 900)));
		t.s->page_delay = rnd_below(&w.r, 200000);
		t.s->local = local;
		sim_buf_on_demand(t.a);
		sim_buf_on_demand(t.b);
		t.s->wire = ebb;
		t.s->arg = &w;
		for (k = 0; k < 30; k++)
			xfer_put(&t, xfer_rc_ops[rnd_below(&w.r, ARRAY_SIZE(xfer_rc_ops))],
				 rnd_below(&w.r, 9000));
		finish(&t);
	}
}

UNIT_TESTS(sge)
{
	u32 i, whose;

	/* all but a FLUSH, which touches no memory */
	for (i = 0; xfer_rc_ops[i] != SROCE_WR_FLUSH; i++)
		for (whose = LOCAL; whose <= (LOCAL | REMOTE); whose++) {
			each(xfer_rc_ops[i], whose, false);
			each(xfer_rc_ops[i], whose, true);
			fleeting(xfer_rc_ops[i], whose);
		}
	pinned_then(IB_WR_RDMA_WRITE, 20000);
	pinned_then(IB_WR_SEND, 700);
	pinned_then(IB_WR_RDMA_READ, 20000);
	cold(IB_WR_RDMA_WRITE);
	cold(IB_WR_RDMA_READ);
	cold(IB_WR_SEND);
	in_order();
	no_room();
	little_room();
	missed_response(0);
	missed_response(10);
	kept_for_long();
	kept_once();
	never(IB_WR_SEND, LOCAL, IB_WC_LOC_PROT_ERR);
	never(IB_WR_SEND, REMOTE, IB_WC_REM_OP_ERR);
	never(IB_WR_RDMA_WRITE, REMOTE, IB_WC_REM_ACCESS_ERR);
	never(IB_WR_RDMA_READ, REMOTE, IB_WC_REM_ACCESS_ERR);
	never(IB_WR_RDMA_READ, LOCAL, IB_WC_LOC_PROT_ERR);
	patience();
	no_hurry();
	never_later(IB_WR_RDMA_WRITE, IB_WC_LOC_PROT_ERR);
	never_later(IB_WR_RDMA_READ, IB_WC_REM_ACCESS_ERR);
	dies(IB_QPS_ERR);
	dies(IB_QPS_RESET);
	unreliable();
	missed_again();
	tides(100, 0, false);
	tides(100, 20, false);
	tides(100, 0, true);
}
