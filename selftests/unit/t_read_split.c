// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* READs that are sent as several requests, and the window that says how many may be out */

#include "tests.h"
#include "peer.h"

#define PSNS	40	/* of the READ in most cases */
#define WINDOW	16

static struct sroce_cwnd *begin(struct xfers *t, u32 rd_atomic, u32 cwnd)
{
	struct sim_cfg cfg = sim_default;

	cfg.timeout = 0;
	cfg.rd_atomic = rd_atomic;
	peer_begin_with(t, &cfg, 1 << 21);
	t->s->a.qp.req.read_cwnd.cwnd = cwnd;
	return &t->s->a.qp.req.read_cwnd;
}

static void read_begins(struct xfers *t, u32 psns)
{
	xfer_put(t, IB_WR_RDMA_READ, psns * MTU);
	peer_go(t);
}

/* Responses come, one by one; which of their request they are does not matter. */
static void answer(struct xfers *t, u32 from, u32 n)
{
	u32 i;

	for (i = from; i < from + n; i++)
		peer_hear(t, 0x0e, FIRST + i, ACK, MTU);
}

/* A READ of a window, not as one request, as another READ is not over when it begins. */
static void begin_behind(struct xfers *t, bool selective)
{
	begin(t, 16, WINDOW + 1);
	t->s->a.qp.req.read_retry.selective = selective;
	read_begins(t, 1);
	read_begins(t, WINDOW);
	CHECK_EQ(txlog.n, 5);
	peer_hear(t, 0x10, FIRST, ACK, MTU);
	CHECK_EQ(t->s->a.scq.n, 1);
}

/* Packet @at is a READ request for @psns responses from @first on. */
static void check_request(u32 at, u32 first, u32 psns)
{
	CHECK(txlog.n > at);
	CHECK_EQ(txlog.p[at].opcode, 0x0c);
	CHECK_EQ(txlog.p[at].psn, FIRST + first);
	CHECK_EQ(txlog.p[at].length, psns * MTU);
}

static void in_parts(void)
{
	struct sroce_req *req;
	struct xfers t;
	u32 i;

	t_case("read_split: no more than a window is requested, a quarter of it at a time");
	begin(&t, 16, WINDOW);
	req = &t.s->a.qp.req;
	read_begins(&t, PSNS);
	CHECK_EQ(txlog.n, 4);
	for (i = 0; i < 4; i++)
		check_request(i, 4 * i, 4);
	CHECK_EQ(req->reads, 4);
	CHECK_EQ(req->reading, WINDOW);
	CHECK_EQ(req->max_psn, FIRST + WINDOW);
	/* the peer counts each request as a message */
	CHECK_EQ(req->ssn, 4);
	for (i = 0; i < PSNS; i++)
		answer(&t, i, 1);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(req->reads, 0);
	CHECK_EQ(req->reading, 0);
	CHECK_EQ(req->read_psns, 0);
	xfers_end(&t);
}

static void limited(void)
{
	struct xfers t;

	t_case("read_split: no more requests than max_rd_atomic, each for its part of the window");
	begin(&t, 2, WINDOW);
	read_begins(&t, PSNS);
	CHECK_EQ(txlog.n, 2);
	check_request(0, 0, 8);
	check_request(1, 8, 8);
	xfers_end(&t);

	begin(&t, 1, WINDOW);
	read_begins(&t, PSNS);
	CHECK_EQ(txlog.n, 1);
	check_request(0, 0, 16);
	xfers_end(&t);
}

static void whole(void)
{
	struct xfers t;

	t_case("read_split: without congestion control a READ is one request");
	begin(&t, 16, WINDOW);
	t.s->a.qp.cc = false;
	read_begins(&t, PSNS);
	CHECK_EQ(txlog.n, 1);
	check_request(0, 0, PSNS);
	xfers_end(&t);
}

/* The work request after the READ begins once the READ has been requested entirely. */
static void in_turn(void)
{
	struct xfers t;

	t_case("read_split: what follows a READ is sent after its last request");
	begin(&t, 16, WINDOW);
	xfer_put(&t, IB_WR_RDMA_READ, 20 * MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	peer_go(&t);
	CHECK_EQ(txlog.n, 4);
	answer(&t, 0, 4);
	CHECK_EQ(txlog.n, 6);
	check_request(4, 16, 4);
	CHECK_EQ(txlog.p[5].opcode, 0x0a);
	CHECK_EQ(txlog.p[5].psn, FIRST + 20);
	xfers_end(&t);
}

/* Bounds of requests before and after a change of size */
static void resized(void)
{
	struct sroce_cwnd *c;
	struct sroce_wqe *wqe;
	struct xfers t;

	t_case("read_split: the size of requests follows the window, bounds stay known");
	c = begin(&t, 16, WINDOW);
	read_begins(&t, 800);
	wqe = sroce_sq_wqe(&t.s->a.qp.sq, t.s->a.qp.sq.cons);
	c->cwnd = 64;
	answer(&t, 0, 1);
	check_request(4, 16, 16);
	CHECK_EQ(sroce_read_split_start(wqe, FIRST + 15), FIRST + 12);
	CHECK_EQ(sroce_read_split_end(wqe, FIRST + 15), FIRST + 16);
	CHECK_EQ(sroce_read_split_start(wqe, FIRST + 16), FIRST + 16);
	CHECK_EQ(sroce_read_split_end(wqe, FIRST + 31), FIRST + 32);
	CHECK_EQ(sroce_read_split_count(wqe, FIRST + 3, FIRST + 33), 5);

	t_case("read_split: there are no more than two sizes at a time");
	c->cwnd = 128;
	answer(&t, 1, 1);
	CHECK_EQ(wqe->split.psns, 16);
	CHECK_EQ(sroce_read_split_start(wqe, FIRST + 15), FIRST + 12);
	c->cwnd = 400;
	answer(&t, 2, 13);
	CHECK_EQ(wqe->split.psns, 16);
	answer(&t, 15, 1);
	CHECK(wqe->split.psns >= 100);
	xfers_end(&t);
}

static void acknowledged(void)
{
	struct sroce_req *req;
	struct xfers t;

	t_case("read_split: an ACK within a request acknowledges those before");
	begin(&t, 16, WINDOW);
	req = &t.s->a.qp.req;
	read_begins(&t, PSNS);
	CHECK_EQ(req->read_psns, 12);
	CHECK_EQ(sroce_cc_unacked(&t.s->a.qp), 4);
	peer_ack(&t, FIRST + 5, ACK);
	CHECK_EQ(req->acked, FIRST + 4);
	CHECK_EQ(req->read_psns, 9);
	CHECK_EQ(sroce_cc_unacked(&t.s->a.qp), 3);
	peer_hear(&t, 0x0e, FIRST + 9, ACK, MTU);
	CHECK_EQ(req->acked, FIRST + 12);
	CHECK_EQ(req->read_psns, 3);
	xfers_end(&t);
}

/* A request is lost: it is sent again as it was. */
static void request_lost(void)
{
	struct xfers t;

	t_case("read_split: a request that is lost is sent again with its bounds");
	begin(&t, 16, WINDOW);
	read_begins(&t, PSNS);
	answer(&t, 0, 4);
	t.s->a.qp.req.read_cwnd.cwnd = 100;
	peer_ack(&t, FIRST + 4, GAP);
	CHECK(txlog.n > 5);
	check_request(txlog.n - 1, 4, 4);
	xfers_end(&t);
}

/* A request costs trips, and the responses to it leave in trains of their own. */
static void as_one(void)
{
	struct sroce_cwnd *c;
	struct xfers t;

	t_case("read_split: a READ for which the window has room is one request");
	c = begin(&t, 16, WINDOW);
	read_begins(&t, WINDOW);
	CHECK_EQ(txlog.n, 1);
	check_request(0, 0, WINDOW);

	t_case("read_split: unless responses to others are under way");
	answer(&t, 0, WINDOW - 1);
	c->cwnd = WINDOW;
	read_begins(&t, WINDOW - 1);
	CHECK_EQ(txlog.n, 5);
	check_request(1, WINDOW, 4);
	xfers_end(&t);
}

/* What is missing of a request is asked for once all responses to it had their turn. */
static void response_lost(void)
{
	struct xfers t;
	u32 n;

	t_case("read_split: a lost response is requested when its request is over");
	begin_behind(&t, false);
	answer(&t, 1, 1);
	answer(&t, 3, 1);
	n = txlog.n;
	CHECK_EQ(n, 5);
	answer(&t, 4, 1);
	CHECK_EQ(txlog.n, n + 1);
	check_request(n, 2, 1);
	answer(&t, 5, 4);
	CHECK_EQ(txlog.n, n + 1);
	answer(&t, 2, 1);
	answer(&t, 9, 8);
	CHECK_EQ(t.s->a.scq.n, 2);
	xfers_end(&t);

	t_case("read_split: of a selective peer too, across requests");
	begin_behind(&t, true);
	answer(&t, 1, 2);
	answer(&t, 8, 1);
	CHECK_EQ(txlog.n, 7);
	check_request(5, 3, 2);
	check_request(6, 5, 3);
	xfers_end(&t);
}

/* A READ's responses come as one train, as if it were one request. */
static void across(void)
{
	struct sroce_pkt pkt = {
		.opcode = 0x0e, .psn = FIRST, .payload_len = 14 * MTU, .segs = 14, .seg_len = MTU,
		.pkey = 0xffff,
	};
	struct sroce_req *req;
	struct xfers t;

	t_case("read_split: responses across requests are not taken as one train");
	begin(&t, 16, WINDOW);
	req = &t.s->a.qp.req;
	read_begins(&t, PSNS);
	pkt.qpn = t.s->a.qp.qpn;
	pkt.op = &sroce_opcodes[pkt.opcode];
	CHECK(!sroce_comp_rx_segs(&t.s->a.qp, &pkt));
	CHECK_EQ(req->una, FIRST);
	xfers_end(&t);
}

static void unused(void)
{
	struct sroce_cwnd *c;
	struct xfers t;
	u32 i;

	t_case("read_split: nor does the window grow by small READs, one at a time");
	c = begin(&t, 1, WINDOW);
	for (i = 0; i < 16; i++) {
		read_begins(&t, 1);
		peer_hear(&t, 0x10, FIRST + i, ACK, MTU);
	}
	CHECK_EQ(c->cwnd, WINDOW);
	xfers_end(&t);
	c = begin(&t, 16, SROCE_CC_LARGE);
	for (i = 0; i < 16; i++) {
		read_begins(&t, 1);
		peer_hear(&t, 0x10, FIRST + i, ACK, MTU);
	}
	CHECK_EQ(c->cwnd, SROCE_CC_LARGE);
	xfers_end(&t);

	t_case("read_split: a large window is requested at once, and once more");
	begin(&t, 16, SROCE_CC_LARGE);
	for (i = 0; i < 5; i++)
		xfer_put(&t, IB_WR_RDMA_READ, 500 * MTU);
	peer_go(&t);
	CHECK_EQ(txlog.n, 4);
	check_request(0, 0, 500);
	CHECK_EQ(t.s->a.qp.req.reading, 2000);
	xfers_end(&t);
}

static void window(void)
{
	struct sroce_cwnd *c;
	struct xfers t;
	u32 before;

	t_case("read_split: the window of responses grows while it is in use");
	c = begin(&t, 16, WINDOW);
	read_begins(&t, 8);
	answer(&t, 0, 8);
	CHECK_EQ(c->cwnd, WINDOW);
	xfers_end(&t);
	c = begin(&t, 16, WINDOW);
	read_begins(&t, PSNS);
	answer(&t, 0, 8);
	CHECK(c->cwnd > WINDOW);

	t_case("read_split: it shrinks when many responses are lost");
	before = c->cwnd;
	t.s->now += SIM_MS;
	answer(&t, 8, 1);
	answer(&t, 19, 1);
	CHECK(c->cwnd < before);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE), 1);
	/* that is not the window of requests */
	CHECK_EQ(t.s->a.qp.req.cwnd.cwnd, SROCE_CWND_MAX);

	t_case("read_split: and grows back when they were only late");
	answer(&t, 9, 1);
	CHECK(c->cwnd >= before);
	xfers_end(&t);
}

static void refused(void)
{
	struct sroce_cwnd *c;
	struct xfers t;

	t_case("read_split: a READ that is put off half way is no loss");
	c = begin(&t, 16, 256);
	read_begins(&t, 64);
	answer(&t, 0, 10);
	peer_ack(&t, FIRST + 10, RNR);
	/* the wait is over; no timer has fired since */
	sim_run_until(t.s, t.s->now + 120000);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_READ_RETRY), 1);
	check_request(1, 10, 54);
	CHECK_EQ(c->cwnd, 256);
	xfers_end(&t);
}

/* To look at what is next, or to have to wait, decides nothing. */
static void only_looked(void)
{
	struct sroce_read_split split;
	struct sroce_wqe *wqe;
	struct sroce_cwnd *c;
	struct sroce_qp *qp;
	struct xfers t;

	t_case("read_split: a look at the next request does not choose its size");
	c = begin(&t, 16, WINDOW);
	qp = &t.s->a.qp;
	read_begins(&t, 800);
	wqe = sroce_sq_wqe(&qp->sq, qp->sq.cons);
	split = wqe->split;
	c->cwnd = 64;
	CHECK(sroce_sq_sched_peek(qp) == wqe);
	CHECK(!memcmp(&split, &wqe->split, sizeof(split)));

	t_case("read_split: nor does a request that has to wait");
	qp->attr.max_rd_atomic = 4;
	sim_doorbell(&t.s->a);
	CHECK_EQ(txlog.n, 4);
	qp->attr.max_rd_atomic = 16;
	c->cwnd = WINDOW;
	answer(&t, 0, 8);
	CHECK(txlog.n > 4);
	CHECK(txlog.p[4].length <= 8 * MTU);
	xfers_end(&t);
}

/* PSNs wrap around in the middle of a READ, at each place of a request. */
static void wraps(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfer_loss lost = { 0 };
	struct xfers t;
	u32 i, psn;

	t_case("read_split: PSN 0 at each place of a READ");
	cfg.mtu = IB_MTU_256;
	for (i = 1; i < PSNS; i++) {
		cfg.psn = SROCE_PSN_MASK + 1 - i;
		xfers_init(&t, &cfg, 65536, 65536);
		t.s->a.qp.req.read_cwnd.cwnd = WINDOW;
		/* one response or request on each side of it is lost */
		psn = (cfg.psn + (i * 7) % PSNS) & SROCE_PSN_MASK;
		lost = (struct xfer_loss){ .p = { { psn, 1 }, { 0, 1 } } };
		t.s->wire = xfer_lose;
		t.s->arg = &lost;
		xfer_put(&t, IB_WR_RDMA_READ, PSNS * MTU - 3);
		xfer_put(&t, IB_WR_RDMA_WRITE, 2 * MTU);
		xfers_run_check(&t);
		CHECK_EQ(t.s->a.qp.req.reads, 0);
		CHECK_EQ(t.s->a.qp.req.reading, 0);
		CHECK_EQ(t.s->a.qp.req.read_psns, 0);
		CHECK_EQ(t.s->a.qp.req.una, (cfg.psn + PSNS + 2) & SROCE_PSN_MASK);
		CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_BAD_RESPONSE), 0);
		xfers_end(&t);
	}
}

/* Bounds of requests on both sides of PSN 0, where their size changes, too */
static void wrapped_bounds(void)
{
	struct sroce_wqe wqe = {
		.msg = SROCE_MSG_READ, .first_psn = 0xfffff0, .last_psn = 0x20,
		.split = { .psn = 8, .psns = 16, .psns_before = 4 },
	};

	t_case("read_split: bounds of requests on both sides of PSN 0");
	CHECK_EQ(sroce_read_split_start(&wqe, 0xfffff0), 0xfffff0);
	CHECK_EQ(sroce_read_split_end(&wqe, 0xfffff3), 0xfffff4);
	CHECK_EQ(sroce_read_split_start(&wqe, 0xffffff), 0xfffffc);
	CHECK_EQ(sroce_read_split_end(&wqe, 0xffffff), 0);
	CHECK_EQ(sroce_read_split_start(&wqe, 0), 0);
	CHECK_EQ(sroce_read_split_end(&wqe, 7), 8);
	CHECK_EQ(sroce_read_split_count(&wqe, 0xfffff0, 0x21), 6 + 2);
	/* the size changes before PSN 0, and a request lies across it */
	wqe.split.psn = 0xfffff8;
	CHECK_EQ(sroce_read_split_start(&wqe, 3), 0xfffff8);
	CHECK_EQ(sroce_read_split_end(&wqe, 0xfffff8), 8);
	CHECK_EQ(sroce_read_split_start(&wqe, 0xfffff7), 0xfffff4);
	CHECK_EQ(sroce_read_split_end(&wqe, 0x19), 0x21);
}

static void stalled(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("read_split: the end of a READ that does not come is a loss");
	cfg.timeout = 14;
	peer_begin_with(&t, &cfg, 65536);
	t.s->a.qp.req.read_cwnd.cwnd = 100;
	read_begins(&t, 20);
	answer(&t, 0, 10);
	while (!sim_count(&t.s->a, SROCE_CNT_PROBE) && sim_step(t.s))
		;
	CHECK(t.s->a.qp.req.read_cwnd.cwnd < 100);
	xfers_end(&t);
}

UNIT_TESTS(read_split)
{
	in_parts();
	as_one();
	limited();
	whole();
	in_turn();
	resized();
	only_looked();
	wraps();
	wrapped_bounds();
	acknowledged();
	request_lost();
	response_lost();
	across();
	window();
	unused();
	refused();
	stalled();
}
