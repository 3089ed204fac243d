// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* READs, atomics and FLUSHes that are asked for again, seen from the responder */

#include "tests.h"
#include "peer.h"

#define MANY	200	/* packets; more than one run of the task sends */

static void parts(void)
{
	static const struct {
		u32 from, n, len;
	} rows[] = {
		{ 0, 11, 5 }, { 3, 8, 5 }, { 10, 1, 5 },
		{ 3, 2, MTU }, { 0, 1, MTU }, { 9, 1, MTU },
	};
	struct xfers t;
	u32 i, at;

	t_case("resp_res: a READ again, whole or any range of packets");
	peer_begin_resp(&t, 4);
	peer_ask_read(&t, FIRST, 0, 10 * MTU + 5);
	peer_read_sent(0, FIRST, 11, 5);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_where("from packet %u", rows[i].from);
		at = txlog.n;
		peer_ask_read(&t, FIRST + rows[i].from, rows[i].from * MTU,
			 (rows[i].n - 1) * MTU + rows[i].len);
		CHECK_EQ(txlog.n, at + rows[i].n);
		peer_read_sent(at, FIRST + rows[i].from, rows[i].n, rows[i].len);
	}
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_READ_REPLAY), ARRAY_SIZE(rows));
	CHECK_EQ(t.s->b.qp.resp.psn, FIRST + 11);
	CHECK_EQ(t.s->b.qp.resp.msn, 1);
	xfers_end(&t);
}

static void empty(void)
{
	struct xfers t;
	u32 i;

	t_case("resp_res: a READ of 0 bytes again");
	peer_begin_resp(&t, 4);
	for (i = 0; i < 2; i++) {
		peer_ask_read(&t, FIRST, 0, 0);
		CHECK_EQ(txlog.n, i + 1);
		peer_read_sent(i, FIRST, 1, 0);
	}
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_READ_REPLAY), 1);
	xfers_end(&t);
}

static void impostors(void)
{
	static const struct {
		const char *what;
		u8	opcode;
		u32	psn, off, len, wrong_key;
	} rows[] = {
		{ "another key", 0x0c, FIRST, 0, 2 * MTU, 1 },
		{ "another address", 0x0c, FIRST, 8, 2 * MTU, 0 },
		{ "an address of another packet", 0x0c, FIRST + 1, 0, MTU, 0 },
		{ "more than was read", 0x0c, FIRST, 0, 10 * MTU + 6, 0 },
		{ "a part of a packet", 0x0c, FIRST, 0, MTU + 1, 0 },
		{ "nothing of something", 0x0c, FIRST, 0, 0, 0 },
		{ "an atomic that was a READ", 0x14, FIRST, 0, 0, 0 },
		{ "a READ that was an atomic", 0x0c, FIRST + 11, 0, 8, 0 },
		{ "what was never asked for", 0x0c, FIRST - 5, 0, 8, 0 },
	};
	struct xfers t;
	u64 value;
	u32 i;

	t_case("resp_res: a duplicate that differs from the request is dropped");
	peer_begin_resp(&t, 4);
	peer_ask_read(&t, FIRST, 0, 10 * MTU + 5);
	peer_ask(&t, 0x14, FIRST + 11, 0, 0, 0);
	CHECK_EQ(txlog.n, 12);
	value = sim_get64(t.b, 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_where("%s", rows[i].what);
		peer_ask(&t, rows[i].opcode, rows[i].psn, rows[i].off, rows[i].len,
		    rows[i].wrong_key);
		CHECK_EQ(txlog.n, 12);
		CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_DUPLICATE), i + 1);
	}
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_READ_REPLAY), 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ATOMIC_REPLAY), 0);
	CHECK_EQ(sim_get64(t.b, 0), value);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
	xfers_end(&t);
}

/* In all @n responses of the READ are sent, each once. */
static void end_read_once(struct xfers *t, u32 n)
{
	sim_run(t->s);
	CHECK_EQ(txlog.n, n);
	peer_read_sent(0, FIRST, n, MTU);
	xfers_end(t);
}

/*
 * @n packets from number @from on are asked for again while the first response is being
 * sent; of these @again are sent next.
 */
static void replay_unfinished(struct xfers *t, u32 from, u32 n, u32 again)
{
	peer_begin_resp(t, 4);
	peer_ask_read(t, FIRST, 0, MANY * MTU);
	peer_ask_read(t, FIRST + from, from * MTU, n * MTU);
	sim_run(t->s);
	peer_read_sent(SROCE_TX_BUDGET, FIRST + from, again, MTU);
}

/* A long READ of which a part is sent, and no more before the next packet arrives */
static void begin_unfinished(struct xfers *t)
{
	peer_begin_resp(t, 4);
	peer_ask_read(t, FIRST, 0, MANY * MTU);
	CHECK_EQ(txlog.n, SROCE_TX_BUDGET);
	t->s->b.task_when = 0;
}

/* Of @at responses that were sent, the one behind them is asked for, and all that follow. */
static void rest_again(struct xfers *t, u32 at)
{
	peer_ask_read(t, FIRST + at, at * MTU, (MANY - at) * MTU);
	sim_run(t->s);
	CHECK_EQ(txlog.n, MANY);
	peer_read_sent(at, FIRST + at, MANY - at, MTU);
	xfers_end(t);
}

/* While the first response of a long READ is being sent */
static void unfinished(void)
{
	struct xfers t;

	t_case("resp_res: responses not yet sent for the first time are not replayed");
	begin_unfinished(&t);
	peer_ask_read(&t, FIRST + 100, 100 * MTU, 10 * MTU);
	end_read_once(&t, MANY);

	t_case("resp_res: but if the next of them is asked for, it is a first one");
	begin_unfinished(&t);
	rest_again(&t, SROCE_TX_BUDGET);

	t_case("resp_res: a replay is sent before the rest of the first response");
	replay_unfinished(&t, 10, 5, 5);
	CHECK_EQ(txlog.n, MANY + 5);
	xfers_end(&t);

	t_case("resp_res: a replay ends where the first response continues");
	replay_unfinished(&t, 60, 10, 4);
	CHECK_EQ(txlog.n, MANY + 4);
	xfers_end(&t);

	t_case("resp_res: a replay to the end replaces the first response");
	replay_unfinished(&t, 10, MANY - 10, MANY - 10);
	CHECK_EQ(txlog.n, SROCE_TX_BUDGET + MANY - 10);
	CHECK(!t.s->b.qp.resp.res[0].queued);

	t_case("resp_res: after that, too, a replay of deregistered memory is dropped");
	sim_buf_revoke(t.b);
	txlog.n = 0;
	peer_ask_read(&t, FIRST + MANY - 5, (MANY - 5) * MTU, 5 * MTU);
	sim_run(t.s);
	CHECK_EQ(txlog.n, 0);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
	xfers_end(&t);
}

/* While a replay is being sent: one budget of its packets has been sent. */
static u32 begin_replay(struct xfers *t, u32 n)
{
	peer_begin_resp(t, 4);
	peer_ask_read(t, FIRST, 0, MANY * MTU);
	sim_run(t->s);
	CHECK_EQ(txlog.n, MANY);
	txlog.n = 0;
	peer_ask_read(t, FIRST, 0, n * MTU);
	CHECK_EQ(txlog.n, SROCE_TX_BUDGET);
	return txlog.n;
}

/* None of them is sent before all have been asked for. */
static void three_ranges(void)
{
	struct xfers t;

	t_case("resp_res: two ranges of a READ are replayed without what lies between");
	peer_begin_resp(&t, 4);
	peer_ask_read(&t, FIRST, 0, MANY * MTU);
	sim_run(t.s);
	t.s->tx_room = peer_no_room;
	peer_ask_read(&t, FIRST + 10, 10 * MTU, 5 * MTU);
	peer_ask_read(&t, FIRST + 20, 20 * MTU, 2 * MTU);
	peer_ask_read(&t, FIRST + 13, 13 * MTU, 4 * MTU);
	CHECK_EQ(txlog.n, MANY);
	t.s->tx_room = NULL;
	sim_doorbell(&t.s->b);
	sim_run(t.s);
	CHECK_EQ(txlog.n, MANY + 9);
	peer_read_sent(MANY, FIRST + 10, 7, MTU);
	peer_read_sent(MANY + 7, FIRST + 20, 2, MTU);
	xfers_end(&t);
}

static void overlapping(void)
{
	struct xfers t;
	u32 at, i;

	t_case("resp_res: a range that is part of a queued replay is not queued again");
	begin_replay(&t, MANY);
	peer_ask_read(&t, FIRST + 100, 100 * MTU, 10 * MTU);
	end_read_once(&t, MANY);

	t_case("resp_res: a range from a replay's next packet on begins with a first one");
	at = begin_replay(&t, MANY);
	rest_again(&t, at);

	t_case("resp_res: a range around a replay's next packet restarts it there");
	at = begin_replay(&t, MANY);
	peer_ask_read(&t, FIRST + 10, 10 * MTU, 80 * MTU);
	sim_run(t.s);
	CHECK_EQ(txlog.n, at + MANY - 10);
	peer_read_sent(at, FIRST + 10, MANY - 10, MTU);
	xfers_end(&t);

	t_case("resp_res: two ranges of a READ are replayed before the rest of it, and no more");
	at = begin_replay(&t, MANY);
	peer_ask_read(&t, FIRST + 20, 20 * MTU, 2 * MTU);
	peer_ask_read(&t, FIRST + 10, 10 * MTU, 5 * MTU);
	sim_run(t.s);
	CHECK_EQ(txlog.n, MANY + 7);
	peer_read_sent(at, FIRST + 20, 2, MTU);
	peer_read_sent(at + SROCE_TX_BUDGET, FIRST + 10, 5, MTU);
	xfers_end(&t);

	t_case("resp_res: more ranges than there are entries");
	begin_replay(&t, MANY);
	for (i = 0; i < SROCE_REPLAYS_MAX; i++)
		peer_ask_read(&t, FIRST + 2 * i % 60, 2 * i % 60 * MTU, MTU);
	for (i = 0; i < SROCE_REPLAYS_MAX; i++)
		peer_ask_read(&t, FIRST + 1, MTU, (MANY - 1) * MTU);
	CHECK(t.s->b.qp.resp.replays.n <= SROCE_REPLAYS_MAX);
	sim_run(t.s);
	xfers_end(&t);

	t_case("resp_res: all outstanding READs are replayed in full");
	peer_begin_resp(&t, SROCE_MAX_RD_ATOMIC);
	for (i = 0; i < SROCE_MAX_RD_ATOMIC; i++) {
		peer_ask_read(&t, FIRST + i * MANY, 0, MANY * MTU);
		sim_run(t.s);
	}
	txlog.n = 0;
	for (i = 0; i < SROCE_MAX_RD_ATOMIC; i++)
		peer_ask_read(&t, FIRST + i * MANY, 0, MANY * MTU);
	sim_run(t.s);
	CHECK_EQ(txlog.n, SROCE_MAX_RD_ATOMIC * MANY);
	xfers_end(&t);

	t_case("resp_res: a range that extends a queued replay");
	begin_replay(&t, 100);
	peer_ask_read(&t, FIRST + 90, 90 * MTU, 50 * MTU);
	end_read_once(&t, 140);
}

static void replaced(void)
{
	struct xfers t;
	u32 at;

	t_case("resp_res: a new READ ends the replay of the one it replaces");
	peer_begin_resp(&t, 2);
	peer_ask_read(&t, FIRST, 0, MANY * MTU);
	sim_run(t.s);
	peer_ask_read(&t, FIRST + MANY, 0, MANY * MTU);
	sim_run(t.s);
	peer_ask_read(&t, FIRST, 0, MANY * MTU);
	peer_ask_read(&t, FIRST + MANY, 0, MANY * MTU);
	CHECK_EQ(t.s->b.qp.resp.replays.n, 2);
	peer_ask_read(&t, FIRST + 2 * MANY, 512, 3 * MTU);
	CHECK_EQ(t.s->b.qp.resp.replays.n, 1);
	at = 2 * MANY + 2 * SROCE_TX_BUDGET;
	sim_run(t.s);
	CHECK_EQ(txlog.n, at + MANY + 3);
	peer_read_sent(at, FIRST + MANY, MANY, MTU);
	peer_read_sent(at + MANY, FIRST + 2 * MANY, 3, MTU);
	xfers_end(&t);
}

static void resized(void)
{
	struct xfers t;
	u32 at;

	t_case("resp_res: pending responses survive a resize");
	peer_begin_resp(&t, 3);
	for (at = 0; at < 5; at++) {
		peer_ask_read(&t, FIRST + at, at * MTU, MTU);
		sim_run(t.s);
	}
	peer_ask_read(&t, FIRST + 5, 5 * MTU, MANY * MTU);
	CHECK_EQ(t.s->b.qp.resp.fifo.n, 1);
	peer_ask_read(&t, FIRST + 4, 4 * MTU, MTU);
	peer_resize(&t, 7);
	peer_ask_read(&t, FIRST + 3, 3 * MTU, MTU);
	peer_ask_read(&t, FIRST + 5 + MANY, 0, 2 * MTU);
	sim_run(t.s);
	CHECK_EQ(txlog.n, 5 + MANY + 2 + 2);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_READ_REPLAY), 2);
	peer_read_sent(5 + MANY + 2, FIRST + 5 + MANY, 2, MTU);
	CHECK_EQ(t.s->b.qp.resp.head, 4);
	/* it may shrink when nothing is pending */
	peer_resize(&t, 2);
	at = txlog.n;
	peer_ask_read(&t, FIRST + 5 + MANY, 0, 2 * MTU);
	peer_ask_read(&t, FIRST + 3, 3 * MTU, MTU);
	sim_run(t.s);
	CHECK_EQ(txlog.n, at + 2);
	xfers_end(&t);
}

static void ended_by_error(void)
{
	struct xfers t;
	u32 at;

	t_case("resp_res: an error ends a replay");
	at = begin_replay(&t, MANY);
	sim_enter(&t.s->b, IB_QPS_ERR);
	sim_doorbell(&t.s->b);
	sim_run(t.s);
	CHECK_EQ(txlog.n, at);
	CHECK_EQ(t.s->b.qp.resp.replays.n, 0);
	xfers_end(&t);
}

static void memory_gone(void)
{
	struct xfers t;

	t_case("resp_res: a replay of deregistered memory is dropped");
	peer_begin_resp(&t, 4);
	peer_ask_read(&t, FIRST, 0, 3 * MTU);
	sim_buf_revoke(t.b);
	txlog.n = 0;
	peer_ask_read(&t, FIRST + 1, MTU, MTU);
	CHECK_EQ(txlog.n, 0);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
	CHECK_EQ(t.s->b.events, 0);
	/* the same key, but for the first time */
	peer_ask_read(&t, FIRST + 3, 0, MTU);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(txlog.p[0].psn, FIRST + 3);
	CHECK_EQ(txlog.p[0].opcode, 0x11);
	CHECK_EQ(txlog.p[0].syndrome, 0x62);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	CHECK_EQ(t.s->b.events, BIT(IB_EVENT_QP_ACCESS_ERR));
	xfers_end(&t);
}

/* What was not sent yet leaves as a part of the replay. */
static void memory_gone_between(void)
{
	struct xfers t;

	t_case("resp_res: a replay of memory that is gone, but not the rest of it, is dropped");
	begin_unfinished(&t);
	sim_buf_revoke(t.b);
	peer_ask_read(&t, FIRST + 10, 10 * MTU, (MANY - 10) * MTU);
	sim_run(t.s);
	CHECK_EQ(txlog.n, SROCE_TX_BUDGET + 1);
	CHECK_EQ(txlog.p[SROCE_TX_BUDGET].psn, FIRST + SROCE_TX_BUDGET);
	CHECK_EQ(txlog.p[SROCE_TX_BUDGET].syndrome, 0x62);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	xfers_end(&t);
}

static void again(void)
{
	struct sim_wr wr;
	struct xfers t;
	u32 i, psn;

	t_case("resp_res: a duplicate FLUSH is answered again, and not executed as new");
	xfers_init(&t, NULL, 65536, 4096);
	peer_record(t.s, &t.s->b);
	txlog.passes = true;
	wr = xfer_flush(&t, 0, 64);
	psn = t.s->b.qp.resp.psn;
	CHECK_EQ(xfers_post(&t, &wr), IB_WC_SUCCESS);
	for (i = 1; i < 4; i++) {
		struct sroce_pkt p = {
			.opcode = 0x1c, .qpn = t.s->b.qp.qpn, .pkey = 0xffff,
			.psn = psn, .feth = SROCE_FLUSH_GLOBAL, .va = t.b->mr.iova,
			.rkey = t.b->mr.key, .length = 64,
		};

		txlog.n = 0;
		sim_deliver(t.s, sim_forge(&t.s->a, &p, NULL));
		sim_run(t.s);
		CHECK_EQ(txlog.n, 1);
		CHECK_EQ(txlog.p[0].opcode, 0x10);
		CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_FLUSH_REPLAY), i);
	}
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ATOMIC_REPLAY), 0);
	CHECK_EQ(t.s->b.qp.resp.msn, 1);
	xfers_end(&t);
}

/* Of two atomics with the same PSN the newer is replayed. */
static void replay_after_wrap(void)
{
	struct sroce_pkt p = { .opcode = 0x14, .swap_add = 1 };
	struct sim_packet *ack;
	struct xfers t;
	u32 i;

	t_case("resp_res: the atomic that is replayed is the newest with its PSN");
	xfers_init(&t, NULL, 4096, 4096);
	p.va = t.b->mr.iova;
	p.rkey = t.b->mr.key;
	for (i = 0; i < 3; i++) {
		/* as if the PSNs had wrapped */
		t.s->b.qp.resp.psn = 0x777;
		p.psn = 0x777;
		xfers_forge(&t, &p, NULL);
		CHECK_EQ(sim_get64(t.b, 0), i + 1);
		xfers_forge(&t, &p, NULL);
		CHECK_EQ(sim_get64(t.b, 0), i + 1);
		CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ATOMIC_REPLAY), i + 1);
		/* atomic ACK: original data after BTH and AETH */
		for (ack = t.s->wire_head; ack && ack->next; ack = ack->next)
			;
		CHECK(ack);
		if (ack)
			CHECK_EQ(sim_bth(ack)[23], i);
	}
	xfers_end(&t);
}

/*
 * The requester may start its next READ as soon as it has all responses of the
 * one before, though a replay it asked for in between is still being sent.
 */
static int slow_responses(struct sim *s, struct sim_packet *p)
{
	if (p->from == &s->b && s->now < 4 * SIM_MS)
		p->when = 2 * SIM_MS;
	/* the first response is sent at once, the replay later */
	if (s->now > SIM_MS)
		s->task_delay = SIM_MS;
	return 1;
}

static void read_behind_replay(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("resp_res: a new READ is accepted while a replay is being sent");
	cfg.rd_atomic = cfg.dest_rd_atomic = 1;
	xfers_init(&t, &cfg, 700000, 4096);
	t.s->wire = slow_responses;
	xfer_put(&t, IB_WR_RDMA_READ, 300 * 1024);
	xfer_put(&t, IB_WR_RDMA_READ, 300 * 1024);
	xfer_put(&t, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
	xfers_run(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_INV_SENT), 0);
	xfers_check(&t);
	xfers_end(&t);
}

UNIT_TESTS(resp_res)
{
	parts();
	empty();
	impostors();
	unfinished();
	overlapping();
	three_ranges();
	replaced();
	resized();
	ended_by_error();
	memory_gone();
	memory_gone_between();
	again();
	replay_after_wrap();
	read_behind_replay();
}
