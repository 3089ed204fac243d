// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* READs and atomics that are asked for again, seen from the responder */

#include <stdlib.h>
#include "tests.h"
#include "xfer.h"

#define MTU	256
#define MANY	200	/* packets; more than go out in one burst */
#define FIRST	1000	/* PSN */
#define TAPE	1024

/* What the responder has sent; nothing of it arrives. */
struct tape {
	u32 n;
	struct {
		u8	opcode;
		u8	syndrome;
		u32	psn;
		u32	len;
	} p[TAPE];
};

static struct tape tape;

static int record(struct sim *s, struct sim_packet *p)
{
	const u8 *bth = sim_bth(p);
	u32 i = tape.n++;

	if (p->from != &s->b || i >= TAPE)
		return 0;
	tape.p[i].opcode = bth[0];
	tape.p[i].psn = sim_psn(p);
	tape.p[i].syndrome = bth[SROCE_BTH_LEN];
	tape.p[i].len = p->len - p->l3_len - 8 - SROCE_ICRC_LEN -
			sroce_opcodes[bth[0]].hdr_len - (bth[1] >> 4 & 3);
	return 0;
}

static void begin(struct xfers *t, u32 remembered)
{
	struct sim_cfg cfg = sim_default;

	cfg.mtu = IB_MTU_256;
	cfg.dest_rd_atomic = remembered;
	xfers_init(t, &cfg, 65536, 4096);
	sim_fill(t->b, 0, 65536, 1);
	t->s->wire = record;
	tape.n = 0;
}

/* A request arrives and is answered, up to one burst. */
static void ask(struct xfers *t, u8 opcode, u32 psn, u64 off, u32 len,
		u32 wrong_key)
{
	struct sroce_pkt p = {
		.opcode = opcode, .pkey = 0xffff, .qpn = t->s->b.qp.qpn,
		.psn = psn, .va = t->b->mr.iova + off, .length = len,
		.rkey = t->b->mr.ibmr.rkey ^ wrong_key, .swap_add = 1,
	};

	sim_deliver(t->s, sim_forge(&t->s->a, &p, NULL));
}

static void ask_read(struct xfers *t, u32 psn, u64 off, u32 len)
{
	ask(t, 0x0c, psn, off, len, 0);
}

/* @n READ responses were sent from the @at'th packet on, the last @len long. */
static void check_sent(u32 at, u32 psn, u32 n, u32 len)
{
	u32 i;

	CHECK(tape.n >= at + n);
	for (i = 0; i < n && t_ok(); i++) {
		bool last = i == n - 1;
		u8 want = n == 1 ? 0x10 : last ? 0x0f : i ? 0x0e : 0x0d;

		CHECK_EQ(tape.p[at + i].psn, psn + i);
		CHECK_EQ(tape.p[at + i].opcode, want);
		CHECK_EQ(tape.p[at + i].len, last ? len : MTU);
	}
}

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

	t_case("replay: a READ, whole or from any packet on to any");
	begin(&t, 4);
	ask_read(&t, FIRST, 0, 10 * MTU + 5);
	check_sent(0, FIRST, 11, 5);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_where("from packet %u", rows[i].from);
		at = tape.n;
		ask_read(&t, FIRST + rows[i].from, rows[i].from * MTU,
			 (rows[i].n - 1) * MTU + rows[i].len);
		CHECK_EQ(tape.n, at + rows[i].n);
		check_sent(at, FIRST + rows[i].from, rows[i].n, rows[i].len);
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

	t_case("replay: a READ of nothing");
	begin(&t, 4);
	for (i = 0; i < 2; i++) {
		ask_read(&t, FIRST, 0, 0);
		CHECK_EQ(tape.n, i + 1);
		check_sent(i, FIRST, 1, 0);
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

	t_case("replay: nothing but what was asked for before");
	begin(&t, 4);
	ask_read(&t, FIRST, 0, 10 * MTU + 5);
	ask(&t, 0x14, FIRST + 11, 0, 0, 0);
	CHECK_EQ(tape.n, 12);
	value = sim_get64(t.b, 0);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_where("%s", rows[i].what);
		ask(&t, rows[i].opcode, rows[i].psn, rows[i].off, rows[i].len,
		    rows[i].wrong_key);
		CHECK_EQ(tape.n, 12);
		CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_DUPLICATE), i + 1);
	}
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_READ_REPLAY), 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ATOMIC_REPLAY), 0);
	CHECK_EQ(sim_get64(t.b, 0), value);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
	xfers_end(&t);
}

/* While the first answer to a long READ is under way */
static void unfinished(void)
{
	struct xfers t;

	t_case("replay: of what was not sent yet nothing is sent twice");
	begin(&t, 4);
	ask_read(&t, FIRST, 0, MANY * MTU);
	CHECK_EQ(tape.n, SROCE_TX_BUDGET);
	t.s->b.kick_when = 0;
	ask_read(&t, FIRST + 100, 100 * MTU, 10 * MTU);
	sim_run(t.s);
	CHECK_EQ(tape.n, MANY);
	check_sent(0, FIRST, MANY, MTU);
	xfers_end(&t);

	t_case("replay: what was sent already goes before the rest");
	begin(&t, 4);
	ask_read(&t, FIRST, 0, MANY * MTU);
	ask_read(&t, FIRST + 10, 10 * MTU, 5 * MTU);
	sim_run(t.s);
	CHECK_EQ(tape.n, MANY + 5);
	check_sent(SROCE_TX_BUDGET, FIRST + 10, 5, MTU);
	xfers_end(&t);

	t_case("replay: up to where the first answer goes on");
	begin(&t, 4);
	ask_read(&t, FIRST, 0, MANY * MTU);
	ask_read(&t, FIRST + 60, 60 * MTU, 10 * MTU);
	sim_run(t.s);
	CHECK_EQ(tape.n, MANY + 4);
	check_sent(SROCE_TX_BUDGET, FIRST + 60, 4, MTU);
	xfers_end(&t);

	t_case("replay: to the end, instead of the first answer");
	begin(&t, 4);
	ask_read(&t, FIRST, 0, MANY * MTU);
	ask_read(&t, FIRST + 10, 10 * MTU, (MANY - 10) * MTU);
	sim_run(t.s);
	CHECK_EQ(tape.n, SROCE_TX_BUDGET + MANY - 10);
	check_sent(SROCE_TX_BUDGET, FIRST + 10, MANY - 10, MTU);
	CHECK(!t.s->b.qp.resp.res[0].queued);
	xfers_end(&t);
}

/* While a replay is under way: 64 of its packets have been sent. */
static u32 begin_replay(struct xfers *t, u32 n)
{
	begin(t, 4);
	ask_read(t, FIRST, 0, MANY * MTU);
	sim_run(t->s);
	CHECK_EQ(tape.n, MANY);
	tape.n = 0;
	ask_read(t, FIRST, 0, n * MTU);
	CHECK_EQ(tape.n, SROCE_TX_BUDGET);
	return tape.n;
}

static void overlapping(void)
{
	struct xfers t;
	u32 at, i;

	t_case("replay: what is about to be sent again anyhow");
	begin_replay(&t, MANY);
	ask_read(&t, FIRST + 100, 100 * MTU, 10 * MTU);
	sim_run(t.s);
	CHECK_EQ(tape.n, MANY);
	check_sent(0, FIRST, MANY, MTU);
	xfers_end(&t);

	t_case("replay: from before a replay's next packet to behind it");
	at = begin_replay(&t, MANY);
	ask_read(&t, FIRST + 10, 10 * MTU, 80 * MTU);
	sim_run(t.s);
	CHECK_EQ(tape.n, at + MANY - 10);
	check_sent(at, FIRST + 10, MANY - 10, MTU);
	xfers_end(&t);

	t_case("replay: two parts of a READ, and nothing in between");
	at = begin_replay(&t, MANY);
	ask_read(&t, FIRST + 10, 10 * MTU, 5 * MTU);
	ask_read(&t, FIRST + 20, 20 * MTU, 2 * MTU);
	ask_read(&t, FIRST + 13, 13 * MTU, 4 * MTU);
	sim_run(t.s);
	CHECK_EQ(tape.n, MANY + 9);
	check_sent(MANY, FIRST + 10, 7, MTU);
	check_sent(MANY + 7, FIRST + 20, 2, MTU);
	xfers_end(&t);

	t_case("replay: more than can be remembered");
	begin_replay(&t, MANY);
	for (i = 0; i < SROCE_REPLAYS_MAX; i++)
		ask_read(&t, FIRST + 2 * i % 60, 2 * i % 60 * MTU, MTU);
	for (i = 0; i < SROCE_REPLAYS_MAX; i++)
		ask_read(&t, FIRST + 1, MTU, (MANY - 1) * MTU);
	CHECK(t.s->b.qp.resp.replays.n <= SROCE_REPLAYS_MAX);
	sim_run(t.s);
	xfers_end(&t);

	t_case("replay: a peer that goes back over all READs it may have");
	begin(&t, SROCE_MAX_RD_ATOMIC);
	for (i = 0; i < SROCE_MAX_RD_ATOMIC; i++) {
		ask_read(&t, FIRST + i * MANY, 0, MANY * MTU);
		sim_run(t.s);
	}
	tape.n = 0;
	for (i = 0; i < SROCE_MAX_RD_ATOMIC; i++)
		ask_read(&t, FIRST + i * MANY, 0, MANY * MTU);
	sim_run(t.s);
	CHECK_EQ(tape.n, SROCE_MAX_RD_ATOMIC * MANY);
	xfers_end(&t);

	t_case("replay: to beyond a replay's end");
	begin_replay(&t, 100);
	ask_read(&t, FIRST + 90, 90 * MTU, 50 * MTU);
	sim_run(t.s);
	CHECK_EQ(tape.n, 140);
	check_sent(0, FIRST, 140, MTU);
	xfers_end(&t);
}

/* What was sent last is an acknowledge, or a NAK, of this PSN. */
static void check_acked(u32 psn)
{
	CHECK(tape.n);
	CHECK_EQ(tape.p[tape.n - 1].opcode, 0x11);
	CHECK_EQ(tape.p[tape.n - 1].psn, psn);
}

static void between_answers(void)
{
	struct xfers t;

	/* WRITE, FETCH_ADD, WRITE, READ, WRITE, FETCH_ADD; without bytes */
	t_case("replay: an acknowledge of a duplicate does not overtake answers");
	begin(&t, 4);
	ask(&t, 0x0a, FIRST, 0, 0, 0);
	ask(&t, 0x14, FIRST + 1, 8, 8, 0);
	ask(&t, 0x0a, FIRST + 2, 0, 0, 0);
	ask(&t, 0x0c, FIRST + 3, 0, 2 * MTU, 0);
	ask(&t, 0x0a, FIRST + 5, 0, 0, 0);
	ask(&t, 0x14, FIRST + 6, 16, 8, 0);
	sim_run(t.s);
	ask(&t, 0x0a, FIRST, 0, 0, 0);
	check_acked(FIRST);
	ask(&t, 0x0a, FIRST + 2, 0, 0, 0);
	check_acked(FIRST + 2);
	/* nor is it the PSN of one that brings something */
	ask(&t, 0x0a, FIRST + 5, 0, 0, 0);
	check_acked(FIRST + 5);
	xfers_end(&t);

	t_case("replay: nothing to be asked for follows: all is acknowledged");
	begin(&t, 4);
	ask(&t, 0x14, FIRST, 8, 8, 0);
	ask(&t, 0x0a, FIRST + 1, 0, 0, 0);
	ask(&t, 0x0a, FIRST + 2, 0, 0, 0);
	ask(&t, 0x0a, FIRST + 1, 0, 0, 0);
	check_acked(FIRST + 2);
	xfers_end(&t);
}

static void resize(struct sroce_qp *qp, u32 n)
{
	free(sroce_resp_res_resize(qp, calloc(n, sizeof(*qp->resp.res)), n));
}

static void forgotten(void)
{
	struct xfers t;
	u32 at;

	t_case("replay: a new READ ends the replay of the one it replaces");
	begin(&t, 2);
	ask_read(&t, FIRST, 0, MANY * MTU);
	sim_run(t.s);
	ask_read(&t, FIRST + MANY, 0, MANY * MTU);
	sim_run(t.s);
	/* the newer first, so that the older stands behind it */
	ask_read(&t, FIRST + MANY, 0, MANY * MTU);
	ask_read(&t, FIRST, 0, MANY * MTU);
	CHECK_EQ(t.s->b.qp.resp.replays.n, 2);
	ask_read(&t, FIRST + 2 * MANY, 512, 3 * MTU);
	CHECK_EQ(t.s->b.qp.resp.replays.n, 1);
	at = 3 * MANY;
	sim_run(t.s);
	CHECK_EQ(tape.n, at + 3);
	check_sent(2 * MANY, FIRST + MANY, MANY, MTU);
	check_sent(at, FIRST + 2 * MANY, 3, MTU);
	xfers_end(&t);

	t_case("replay: what is owed stays when more may be outstanding");
	begin(&t, 3);
	for (at = 0; at < 5; at++) {
		ask_read(&t, FIRST + at, at * MTU, MTU);
		sim_run(t.s);
	}
	ask_read(&t, FIRST + 5, 5 * MTU, MANY * MTU);
	CHECK_EQ(t.s->b.qp.resp.fifo.n, 1);
	ask_read(&t, FIRST + 4, 4 * MTU, MTU);
	resize(&t.s->b.qp, 7);
	ask_read(&t, FIRST + 3, 3 * MTU, MTU);
	ask_read(&t, FIRST + 5 + MANY, 0, 2 * MTU);
	sim_run(t.s);
	CHECK_EQ(tape.n, 5 + MANY + 2 + 2);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_READ_REPLAY), 2);
	check_sent(5 + MANY + 2, FIRST + 5 + MANY, 2, MTU);
	CHECK_EQ(t.s->b.qp.resp.head, 4);
	/* and fewer when nothing is */
	resize(&t.s->b.qp, 2);
	at = tape.n;
	ask_read(&t, FIRST + 5 + MANY, 0, 2 * MTU);
	ask_read(&t, FIRST + 3, 3 * MTU, MTU);
	sim_run(t.s);
	CHECK_EQ(tape.n, at + 2);
	xfers_end(&t);

	t_case("replay: an error ends it");
	at = begin_replay(&t, MANY);
	sim_enter(&t.s->b, IB_QPS_ERR);
	sim_doorbell(&t.s->b);
	sim_run(t.s);
	CHECK_EQ(tape.n, at);
	CHECK_EQ(t.s->b.qp.resp.replays.n, 0);
	xfers_end(&t);

	t_case("replay: of memory that is gone, no answer and no harm");
	begin(&t, 4);
	ask_read(&t, FIRST, 0, 3 * MTU);
	sim_buf_revoke(t.b);
	tape.n = 0;
	ask_read(&t, FIRST + 1, MTU, MTU);
	CHECK_EQ(tape.n, 0);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
	CHECK_EQ(t.s->b.events, 0);
	/* the same key, but for the first time */
	ask_read(&t, FIRST + 3, 0, MTU);
	CHECK_EQ(tape.n, 1);
	CHECK_EQ(tape.p[0].psn, FIRST + 3);
	CHECK_EQ(tape.p[0].opcode, 0x11);
	CHECK_EQ(tape.p[0].syndrome, 0x62);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	CHECK_EQ(t.s->b.events, BIT(IB_EVENT_QP_ACCESS_ERR));
	xfers_end(&t);
}

/* What is owed goes before the NAK, and nothing comes in any more. */
static void last_word(void)
{
	struct xfers t;

	t_case("replay: a request refused waits for the READ before it");
	begin(&t, 1);
	ask_read(&t, FIRST, 0, MANY * MTU);
	/* more READs than may be outstanding */
	ask_read(&t, FIRST + MANY, 0, MTU);
	CHECK(t.s->b.qp.resp.closing);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
	ask(&t, 0x14, FIRST + MANY, 0, 0, 0);
	sim_run(t.s);
	CHECK_EQ(tape.n, MANY + 1);
	check_sent(0, FIRST, MANY, MTU);
	CHECK_EQ(tape.p[MANY].opcode, 0x11);
	CHECK_EQ(tape.p[MANY].psn, FIRST + MANY);
	CHECK_EQ(tape.p[MANY].syndrome, 0x61);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_INV_SENT), 1);
	CHECK(sim_filled(t.b, 0, 4096, 1));
	CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	xfers_end(&t);
}

UNIT_TESTS(resp_res)
{
	parts();
	empty();
	impostors();
	unfinished();
	overlapping();
	between_answers();
	forgotten();
	last_word();
}
