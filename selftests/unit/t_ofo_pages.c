// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets that are kept during a page fault */

#include "tests.h"
#include "peer.h"

/* The other packets of a message arrive during a page fault of the first. */
static void in_order(void)
{
	struct xfers t;

	t_case("ofo: a request that waits for pages is executed once, as are all after it");
	xfers_init_odp(&t, XFER_REMOTE, false);
	sim_open_cwnd(&t.s->a);
	xfer_put(&t, IB_WR_RDMA_WRITE, 20000);
	xfer_put(&t, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
	xfer_put(&t, IB_WR_SEND, 3000);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + XFER_ODP_DELAY / 2);
	CHECK(t.s->b.qp.resp.paging);
	CHECK(t.s->b.qp.resp.ofo_len > 20);
	CHECK_EQ(t.s->b.qp.resp.msn, 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ACK_SENT), 0);
	xfers_finish(&t);
}

static void no_room(void)
{
	struct xfers t;

	t_case("ofo: a request that can't be kept is NAKed once its pages are in");
	xfers_init_odp(&t, XFER_REMOTE, false);
	t.s->b.qp.resp.ofo_max = 0;
	xfer_put(&t, IB_WR_RDMA_WRITE, 20000);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + XFER_ODP_DELAY / 2);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 0);
	CHECK(sim_count(&t.s->b, SROCE_CNT_ODP_DROP) > 0);
	xfers_finish(&t);
}

static void no_room_behind_gap(void)
{
	static const u8 data[4];
	struct sroce_pkt p = { .opcode = 0x0a, .payload_len = 4, .length = 4 };
	struct xfers t;

	t_case("ofo: likewise where a request that follows it is kept");
	peer_begin_resp(&t, 1);
	sim_buf_on_demand(t.b);
	t.s->b.qp.resp.ofo_max = 1;
	p.va = t.b->mr.iova;
	p.rkey = t.b->mr.key;
	p.psn = FIRST + 1;
	xfers_forge(&t, &p, data);
	CHECK_EQ(txlog.n, 1);
	p.psn = FIRST;
	xfers_forge(&t, &p, data);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ODP_DROP), 1);
	CHECK_EQ(txlog.n, 1);
	sim_run(t.s);
	CHECK_EQ(txlog.n, 2);
	CHECK_EQ(txlog.p[1].psn, FIRST);
	CHECK_EQ(txlog.p[1].syndrome, GAP);
	xfers_end(&t);
}

static void little_room(void)
{
	struct xfers t;

	t_case("ofo: likewise packets after it once the queue is full");
	xfers_init_odp(&t, XFER_REMOTE, false);
	/* without retries there are no probes */
	t.s->a.qp.attr.retry_cnt = 0;
	t.s->b.qp.resp.ofo_max = 5;
	xfer_put(&t, IB_WR_RDMA_WRITE, 20000);
	xfers_run(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_finish(&t);
}

/* @room: this many responses can be kept during a page fault */
static void missed_response(u32 room)
{
	struct xfers t;

	t_case("ofo: READ responses that found no page %s",
	       room ? "wait for it" : "and can't be kept are asked for at once");
	xfers_init_odp(&t, XFER_LOCAL, false);
	t.s->a.qp.resp.ofo_max = room;
	/* shorter than the timeout of a probe */
	t.s->page_delay = XFER_ODP_DELAY / 3;
	xfer_put(&t, IB_WR_RDMA_READ, 3 * 1024);
	xfers_until_sent(&t);
	sim_buf_evict(t.a, 0);
	sim_run(t.s);
	CHECK(sim_count(&t.s->a, SROCE_CNT_ODP_MISS) > 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_READ_RETRY) > 0, !room);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	xfers_finish(&t);
}

/* The ACK timeout does not run for responses that only wait for pages. */
static void deferred_for_long(u32 room)
{
	struct xfers t;

	t_case("ofo: responses that wait for pages longer than the timeout, without retries%s",
	       room ? "" : "; none is kept");
	xfers_init_odp(&t, XFER_LOCAL, false);
	t.s->a.qp.resp.ofo_max = room;
	t.s->a.qp.attr.retry_cnt = 0;
	t.s->a.qp.attr.timeout = 8;
	xfer_put(&t, IB_WR_RDMA_READ, 3 * 1024);
	xfers_until_sent(&t);
	t.s->page_delay = 3 * (4096ULL << 8);
	sim_buf_evict(t.a, 0);
	sim_run(t.s);
	CHECK(sim_count(&t.s->a, SROCE_CNT_ODP_MISS) > 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_finish(&t);
}

/* An ATOMIC WRITE whose response is lost, and whose payload is evicted before that is seen */
struct evicted {
	struct xfer_loss loss;	/* first: sim->arg is its address, for xfer_lose() */
	struct sim_buf *buf;
};

/* @next: the opcode of a work request behind it, whose response shows the loss; @len: its bytes */
static void send_evicted(struct xfers *t, struct evicted *e, u32 next, u32 len)
{
	*e = (struct evicted){
		.loss = { .responses = true, .p = { { t->s->a.qp.req.psn, 1 } } },
		.buf = t->a,
	};
	t->s->a.qp.attr.retry_cnt = 0;
	t->s->wire = xfer_lose;
	t->s->arg = e;
	xfer_put(t, SROCE_WR_ATOMIC_WRITE, 8);
	xfer_put(t, next, len);
	xfers_until_sent(t);
	while (t->s->a.qp.req.reads < 2 && sim_step(t->s))
		;
	sim_buf_evict_all(t->a);
}

static void evicted_payload(void)
{
	struct evicted e;
	struct xfers t;

	t_case("ofo: an ATOMIC WRITE is repeated once its payload is back, without retries");
	xfers_init_odp(&t, XFER_LOCAL, false);
	t.s->a.qp.attr.timeout = 8;
	send_evicted(&t, &e, SROCE_WR_ATOMIC_WRITE, 8);
	t.s->page_delay = 3 * (4096ULL << 8);
	sim_run(t.s);
	CHECK_EQ(e.loss.p[0].seen, 2);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_finish(&t);
}

/* The payload of the ATOMIC WRITE goes again as soon as it has come, and its turn is now. */
static void evict_payload_once(struct sim *s)
{
	struct sroce_read_retry *rr = &s->a.qp.req.read_retry;
	const struct evicted *e = s->arg;

	s->evict = NULL;
	sim_buf_evict(e->buf, 0);
	rr->n = 0;
	rr->full = true;
	rr->selective = true;
}

/*
 * An ATOMIC WRITE waits for its payload, responses behind it for their memory, of which one is
 * kept. When that one has been placed the ATOMIC WRITE waits once more.
 */
static void evicted_again(void)
{
	struct evicted e;
	struct xfers t;

	t_case("ofo: responses that were dropped before such a wait are requested after it");
	xfers_init(&t, NULL, XFER_ODP_SIZE, 5000);
	t.s->page_size = 8 + XFER_GAP;
	sim_buf_on_demand(t.a);
	t.s->a.qp.resp.ofo_max = 1;
	send_evicted(&t, &e, IB_WR_RDMA_READ, 3 * 1024);
	t.s->page_delay = XFER_ODP_DELAY;
	t.s->evict = evict_payload_once;
	sim_run(t.s);
	CHECK(!t.s->evict);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_finish(&t);
}

/* A response that arrives several times is kept once. */
static void deferred_once(void)
{
	struct xfers t;

	t_case("ofo: a response that waits is kept once, however often it arrives");
	xfers_init_odp(&t, XFER_LOCAL, false);
	xfer_put(&t, IB_WR_RDMA_READ, 3 * 1024);
	xfers_until_sent(&t);
	sim_buf_evict(t.a, 0);
	while (!t.s->a.qp.req.n_ofo_resps && sim_step(t.s))
		;
	sim_run_until(t.s, t.s->now + XFER_ODP_DELAY / 10);
	CHECK_EQ(t.s->a.qp.req.n_ofo_resps, 3);
	sroce_read_retry_dropped(&t.s->a.qp, t.s->a.qp.req.max_psn);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + XFER_ODP_DELAY / 4);
	CHECK(sim_count(&t.s->a, SROCE_CNT_ODP_MISS) > 3);
	CHECK_EQ(t.s->a.qp.req.n_ofo_resps, 3);
	xfers_finish(&t);
}

/* The first response is lost, and with it the pages of the next; and what is sent again at once. */
static int lose_before_fault(struct sim *s, struct sim_packet *p)
{
	struct xfers *t = s->arg;

	if (!sim_is_response(p) || sim_psn(p) != FIRST + 1)
		return 1;
	if (s->page_delay > 1000 * SIM_MS) {
		s->wire = NULL;
	} else {
		sim_buf_evict_all(t->a);
		s->page_delay = 10000 * SIM_MS;
	}
	return 0;
}

static void older_is_lost(void)
{
	struct sim_buf *mine;
	struct xfers t;

	t_case("ofo: while a response waits for pages, a READ before it is asked for again");
	xfers_init_odp(&t, XFER_LOCAL, false);
	t.s->a.qp.attr.timeout = 14;
	mine = sim_buf_new(t.s, 0x10000000, 65536, 4096, IB_ACCESS_LOCAL_WRITE);
	xfer_put_other(&t, IB_WR_RDMA_READ, 0, t.a, &t.b->mr, MTU);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	t.s->wire = lose_before_fault;
	t.s->arg = &t;
	xfer_put_other(&t, IB_WR_RDMA_READ, 1, mine, &t.b->mr, MTU);
	xfer_put_other(&t, IB_WR_RDMA_READ, 2, t.a, &t.b->mr, MTU);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + 1000 * SIM_MS);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_SUCCESS);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[2].status, IB_WC_SUCCESS);
	xfers_end(&t);
}

/* The QP changes its state during a page fault. */
static void dies(enum ib_qp_state to)
{
	struct xfers t;

	t_case("ofo: a QP that waits for pages goes to state %d", to);
	xfers_init_odp(&t, XFER_LOCAL | XFER_REMOTE, false);
	xfer_put(&t, IB_WR_RDMA_WRITE, 20000);
	xfer_put(&t, IB_WR_RDMA_READ, 20000);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + 3 * XFER_ODP_DELAY / 2);
	CHECK(t.s->b.qp.resp.paging);
	sim_enter(&t.s->a, to);
	sim_enter(&t.s->b, to);
	sim_run(t.s);
	CHECK_EQ(t.s->b.qp.resp.ofo_len, 0);
	CHECK_EQ(t.s->a.scq.n, to == IB_QPS_ERR ? 2 : 0);
	xfers_end(&t);
}

/* Messages arrive during a page fault of the first. */
static void unreliable(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i;

	t_case("ofo: UC messages wait for pages in order");
	cfg.type = IB_QPT_UC;
	xfers_init(&t, &cfg, XFER_ODP_SIZE, 5000);
	t.s->page_delay = XFER_ODP_DELAY;
	sim_buf_on_demand(t.b);
	for (i = 0; i < 8; i++)
		xfer_put(&t, i % 2 ? IB_WR_SEND_WITH_IMM : IB_WR_RDMA_WRITE,
			 3000 + i);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + XFER_ODP_DELAY / 2);
	CHECK(t.s->b.qp.resp.ofo_len > 20);
	xfers_finish(&t);

	t_case("ofo: UC drops what can't be kept, and receives the next");
	xfers_init(&t, &cfg, XFER_ODP_SIZE, 5000);
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

/* The pages of a request are evicted before it arrives, three times. */
static bool evict_before_rx(struct sim *s, struct sroce_qp *qp)
{
	struct xfers *t = s->arg;

	if (qp == &s->a.qp && sim_count(&s->b, SROCE_CNT_ODP_DROP) < 3)
		sim_buf_evict_all(t->b);
	return true;
}

/* Each page fault is followed by a NAK, none of which may be ignored. */
static void missed_again(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("ofo: a request that can't be kept finds no page three times, without retries");
	cfg.retry_cnt = 0;
	xfers_init(&t, &cfg, XFER_ODP_SIZE, 5000);
	t.s->loopback = true;
	t.s->page_delay = XFER_ODP_DELAY;
	t.s->tx_ok = evict_before_rx;
	t.s->arg = &t;
	t.s->b.qp.resp.ofo_max = 0;
	sim_buf_on_demand(t.b);
	xfer_put(&t, IB_WR_RDMA_WRITE, 300);
	xfers_run(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ODP_DROP), 3);
	xfers_finish(&t);
}

struct evictions {
	struct sim_buf	*buf;
	u32		left;
};

/* All pages are evicted whenever some have come. */
static void evict_at_once(struct sim *s)
{
	struct evictions *e = s->arg;

	if (e->left) {
		e->left--;
		sim_buf_evict_all(e->buf);
	}
}

/* What waits for its pages already is not kept anew for each page fault. */
static void faults_again(enum ib_qp_type type)
{
	struct sim_cfg cfg = sim_default;
	struct evictions e = { .left = 5 };
	/* a datagram is one packet */
	u32 i, n = type == IB_QPT_UD ? 6 : 2;
	struct xfers t;

	t_case("ofo: %s requests that wait for pages, and miss them again, need no more memory",
	       xfer_type_name(type));
	cfg.type = type;
	xfers_init(&t, &cfg, XFER_ODP_SIZE, 5000);
	t.s->page_delay = XFER_ODP_DELAY;
	t.s->evict = evict_at_once;
	t.s->arg = &e;
	e.buf = t.b;
	sim_buf_on_demand(t.b);
	for (i = 0; i < n; i++)
		xfer_put(&t, IB_WR_SEND, 6000 / n);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + XFER_ODP_DELAY / 2);
	CHECK_EQ(t.s->b.qp.resp.ofo_len, 6);
	t.s->hold_fails = true;
	sim_run(t.s);
	CHECK_EQ(e.left, 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ODP_DROP), 0);
	xfers_finish(&t);
}

/* B, a responder, is under test; its pages come after 10 ms. */
static void begin_in_fault(struct xfers *t)
{
	struct sim_cfg cfg = sim_default;

	cfg.timeout = 14;
	peer_begin_with(t, &cfg, 65536);
	peer_record(t->s, &t->s->b);
	t->s->page_delay = 10 * SIM_MS;
	sim_buf_on_demand(t->b);
}

/* The whole message arrives twice during a page fault of its first packet. */
static void twice_in_fault(void)
{
	static const u8 zeros[MTU];
	struct xfers t;
	u32 i;

	t_case("ofo: a duplicate message during a page fault causes no NAK");
	begin_in_fault(&t);
	for (i = 0; i < 8; i++)
		xfers_forge(&t, &(struct sroce_pkt){
			.opcode = i % 4 == 0 ? 6 : i % 4 == 3 ? 8 : 7,
			.psn = FIRST + i % 4, .payload_len = MTU,
			.ackreq = i % 4 == 3, .va = t.b->mr.iova,
			.rkey = t.b->mr.key, .length = 4 * MTU,
		}, zeros);
	sim_run_until(t.s, t.s->now + 20 * SIM_MS);
	CHECK_EQ(t.s->b.qp.resp.psn, FIRST + 4);
	CHECK(txlog.n > 0);
	CHECK_EQ(txlog.p[txlog.n - 1].syndrome & SROCE_AETH_TYPE, 0);
	CHECK_EQ(txlog.p[txlog.n - 1].psn, FIRST + 3);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 0);
	xfers_end(&t);
}

/*
 * A WRITE of four packets waits for the pages of its first. The requester waits for pages of its
 * own behind it, and sends packet number @again once more, to ask for an ACK.
 */
static void asks_in_fault(u32 again)
{
	static const u8 zeros[MTU];
	struct xfers t;
	u32 i, n;

	t_case("ofo: a duplicate of packet %u asks for an ACK during a page fault", again);
	begin_in_fault(&t);
	for (i = 0; i <= 4; i++) {
		n = i < 4 ? i : again;
		xfers_forge(&t, &(struct sroce_pkt){
			.opcode = n ? 7 : 6, .psn = FIRST + n, .payload_len = MTU,
			.ackreq = i == 4, .va = t.b->mr.iova, .rkey = t.b->mr.key,
			.length = 5 * MTU,
		}, zeros);
	}
	sim_run_until(t.s, t.s->now + 20 * SIM_MS);
	CHECK_EQ(t.s->b.qp.resp.psn, FIRST + 4);
	CHECK(txlog.n > 0);
	CHECK_EQ(txlog.p[txlog.n - 1].opcode, 0x11);
	CHECK_EQ(txlog.p[txlog.n - 1].syndrome & SROCE_AETH_TYPE, 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 0);
	xfers_end(&t);
}

UNIT_TESTS(ofo_pages)
{
	in_order();
	no_room();
	no_room_behind_gap();
	little_room();
	missed_response(0);
	missed_response(10);
	deferred_for_long(8);
	deferred_for_long(0);
	evicted_payload();
	evicted_again();
	deferred_once();
	older_is_lost();
	dies(IB_QPS_ERR);
	dies(IB_QPS_RESET);
	unreliable();
	missed_again();
	faults_again(IB_QPT_RC);
	faults_again(IB_QPT_UC);
	faults_again(IB_QPT_UD);
	twice_in_fault();
	asks_in_fault(0);
	asks_in_fault(3);
}
