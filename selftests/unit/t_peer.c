// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A requester whose peer is played by the test: every answer, at any time */

#include "tests.h"
#include "xfer.h"

#define MTU	256
#define MANY	200	/* packets; more than go out in one burst */
#define FIRST	1000	/* PSN */
#define LAST	(FIRST + MANY - 1)
#define TAPE	1024

#define ACK	0x1f	/* no end-to-end credits */
#define GAP	0x60
#define RNR	0x26	/* 80 us */

/* What the requester has sent; nothing of it arrives. */
struct tape {
	u32 n;
	struct {
		u8	opcode;
		bool	ackreq;
		u32	psn;
		u32	length;		/* of a READ */
	} p[TAPE];
};

static struct tape tape;

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

static void begin_with(struct xfers *t, const struct sim_cfg *cfg, u32 size)
{
	struct sim_cfg c = *cfg;

	c.mtu = IB_MTU_256;
	xfers_init(t, &c, size, 4096);
	t->s->wire = record;
	tape.n = 0;
}

/* No timer fires but those that the test waits for. */
static void begin(struct xfers *t)
{
	struct sim_cfg cfg = sim_default;

	cfg.timeout = 0;
	begin_with(t, &cfg, 65536);
}

/* What is posted goes out, as far as it may within 100 us. */
static void go(struct xfers *t)
{
	sim_doorbell(&t->s->a);
	sim_run_until(t->s, t->s->now + 100000);
}

static void hear(struct xfers *t, u8 opcode, u32 psn, u8 syndrome, u32 len)
{
	static const u8 data[2 * MTU];
	struct sroce_pkt p = {
		.opcode = opcode, .pkey = 0xffff, .qpn = t->s->a.qp.qpn,
		.psn = psn, .syndrome = syndrome, .payload_len = len,
	};

	sim_deliver(t->s, sim_forge(&t->s->b, &p, data));
}

static void hear_ack(struct xfers *t, u32 psn, u8 syndrome)
{
	hear(t, 0x11, psn, syndrome, 0);
}

/* A WRITE of many packets, all of them on their way */
static void begin_write(struct xfers *t)
{
	begin(t);
	xfer_put(t, IB_WR_RDMA_WRITE, MANY * MTU);
	go(t);
	CHECK_EQ(tape.n, MANY);
	tape.n = 0;
}

/* The same to a peer that is known to keep what follows a gap */
static struct sroce_repair *begin_kept(struct xfers *t)
{
	struct sroce_repair *rp;

	begin_write(t);
	rp = &t->s->a.qp.req.repair;
	rp->habit = SROCE_HABIT_KEEPS;
	return rp;
}

static void finish_write(struct xfers *t)
{
	hear_ack(t, LAST, ACK);
	CHECK_EQ(t->s->a.scq.n, 1);
	CHECK_EQ(t->s->a.scq.e[0].status, IB_WC_SUCCESS);
	CHECK_EQ(t->s->a.qp.req.una, LAST + 1);
	xfers_end(t);
}

/* The answer to the one packet that was sent again tells the peer's habit. */
static void habits(void)
{
	struct sroce_repair *rp;
	struct xfers t;

	t_case("peer: acknowledges only what was sent again: it drops the rest");
	begin_write(&t);
	rp = &t.s->a.qp.req.repair;
	hear_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(tape.n, 1);
	CHECK_EQ(tape.p[0].psn, FIRST + 10);
	CHECK(tape.p[0].ackreq);
	CHECK(rp->hold);
	hear_ack(&t, FIRST + 10, ACK);
	CHECK_EQ(rp->habit, SROCE_HABIT_DROPS);
	CHECK_EQ(tape.n, 1 + SROCE_BURST);
	CHECK_EQ(tape.p[1].psn, FIRST + 11);
	/* it had more, after all: no need to send that again */
	hear_ack(&t, FIRST + 149, ACK);
	CHECK_EQ(tape.p[1 + SROCE_BURST].psn, FIRST + 150);
	finish_write(&t);

	t_case("peer: acknowledges more than was sent again: it keeps");
	begin_write(&t);
	rp = &t.s->a.qp.req.repair;
	hear_ack(&t, FIRST + 10, GAP);
	hear_ack(&t, LAST - 1, ACK);
	CHECK_EQ(rp->habit, SROCE_HABIT_KEEPS);
	/* the repaired one; the last may be late */
	CHECK_EQ(tape.n, 1);
	sim_run_until(t.s, t.s->now + 20 * SIM_MS);
	CHECK(tape.n > 1);
	CHECK_EQ(tape.p[1].psn, LAST);
	finish_write(&t);

	t_case("peer: puts off what came after the one sent again: it keeps");
	begin_write(&t);
	rp = &t.s->a.qp.req.repair;
	hear_ack(&t, FIRST + 10, GAP);
	hear_ack(&t, FIRST + 11, RNR);
	CHECK_EQ(rp->habit, SROCE_HABIT_KEEPS);
	CHECK_EQ(t.s->a.qp.req.psn, LAST + 1);
	sim_run_until(t.s, t.s->now + 100000);
	CHECK_EQ(tape.n, 2);
	CHECK_EQ(tape.p[1].psn, FIRST + 11);
	finish_write(&t);

	t_case("peer: found dropping, shows that it keeps");
	begin_write(&t);
	rp = &t.s->a.qp.req.repair;
	rp->habit = SROCE_HABIT_DROPS;
	hear_ack(&t, FIRST + 10, GAP);
	CHECK(rp->rewound);
	CHECK_EQ(tape.n, SROCE_BURST);
	hear_ack(&t, FIRST + 149, ACK);
	CHECK_EQ(rp->habit, SROCE_HABIT_KEEPS);
	CHECK(!rp->rewound);
	finish_write(&t);
}

static void expect_psns(u32 at, u32 psn, u32 n)
{
	u32 i;

	CHECK_EQ(tape.n, at + n);
	for (i = 0; i < n && t_ok(); i++)
		CHECK_EQ(tape.p[at + i].psn, psn + i);
}

/* A peer that keeps tells of one gap at a time. */
static void many_gaps(void)
{
	struct sroce_repair *rp;
	struct xfers t;
	u32 i;

	t_case("peer: acknowledges less than was sent before the repair: lost, too");
	rp = begin_kept(&t);
	hear_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(tape.n, 1);
	/* a round trip later */
	sim_run_until(t.s, t.s->now + 100000);
	hear_ack(&t, FIRST + 29, ACK);
	expect_psns(1, FIRST + 30, 1);
	/* again, which says nothing new */
	hear_ack(&t, FIRST + 29, ACK);
	hear_ack(&t, FIRST + 30, GAP);
	CHECK_EQ(tape.n, 2);
	finish_write(&t);

	t_case("peer: gaps are frequent: repairs go out twice");
	rp = begin_kept(&t);
	rp->distance = 200;
	rp->gap = FIRST - 190;
	hear_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(tape.n, 2);
	CHECK_EQ(tape.p[1].psn, FIRST + 10);
	finish_write(&t);

	t_case("peer: gaps are dense: what follows goes out before the missing one");
	rp = begin_kept(&t);
	rp->distance = 20;
	rp->gap = FIRST - 10;
	hear_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(tape.n, SROCE_BURST_LEAST + 1);
	for (i = 0; i < SROCE_BURST_LEAST - 1; i++)
		CHECK_EQ(tape.p[i].psn, FIRST + 11 + i);
	CHECK_EQ(tape.p[i].psn, FIRST + 10);
	CHECK_EQ(tape.p[i + 1].psn, FIRST + 10);
	CHECK(tape.p[i].ackreq);
	finish_write(&t);

	t_case("peer: thought to drop what follows, put to the test again");
	begin_write(&t);
	rp = &t.s->a.qp.req.repair;
	rp->habit = SROCE_HABIT_DROPS;
	for (i = 0; rp->habit == SROCE_HABIT_DROPS && i < 100; i++)
		hear_ack(&t, FIRST + i, GAP);
	CHECK_EQ(i, 8);
	CHECK(rp->hold);
	finish_write(&t);
}

/* Packets that come out of order look like gaps for a while. */
static void no_gaps(void)
{
	struct sroce_repair *rp;
	struct xfers t;
	u32 i;

	t_case("peer: has what it lacked sooner than it can: it was late, not lost");
	rp = begin_kept(&t);
	/* a round trip, to know what is too soon */
	sim_run_until(t.s, t.s->now + 100000);
	hear_ack(&t, FIRST + 70, ACK);
	hear_ack(&t, FIRST + 80, GAP);
	CHECK_EQ(tape.n, 1);
	sim_run_until(t.s, t.s->now + 1000);
	for (i = 81; i < 100; i++)
		hear_ack(&t, FIRST + i, ACK);
	CHECK_EQ(tape.n, 1);
	CHECK_EQ(rp->burst, SROCE_BURST_LEAST);
	finish_write(&t);

	t_case("peer: has what it lacked sooner than it can, after a silence: no wonder");
	rp = begin_kept(&t);
	/* the first answer comes late, and seems to be what a round trip takes */
	sim_run_until(t.s, t.s->now + 5000000);
	hear_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(tape.n, 1);
	for (i = 0; tape.n < 2 && i < 100; i++)
		sim_run_until(t.s, t.s->now + 1000000);
	CHECK_EQ(rp->probes, 1);
	for (i = 2; i < 6; i++) {
		hear_ack(&t, FIRST + 10 * i, GAP);
		sim_run_until(t.s, t.s->now + 1000);
	}
	CHECK(t.s->a.qp.req.rtt.smooth && t.s->a.qp.req.rtt.smooth < 5000);
	CHECK(rp->distance < SROCE_GAP_FAR / 2);
	finish_write(&t);

	t_case("peer: thought to keep what follows, lacks every packet: it drops");
	rp = begin_kept(&t);
	for (i = 10; rp->habit == SROCE_HABIT_KEEPS && i < 100; i++) {
		hear_ack(&t, FIRST + i, GAP);
		sim_run_until(t.s, t.s->now + 100000);
	}
	CHECK(i < 20);
	CHECK(rp->hold);
	hear_ack(&t, FIRST + i - 1, ACK);
	CHECK_EQ(rp->habit, SROCE_HABIT_DROPS);
	finish_write(&t);
}

/* What is to be sent again waits for an RNR timer; meanwhile it may come. */
static void overtaken_repairs(void)
{
	struct sroce_repair *rp;
	struct xfers t;

	t_case("peer: has what was about to be sent again");
	begin_write(&t);
	rp = &t.s->a.qp.req.repair;
	hear_ack(&t, FIRST + 10, RNR);
	hear_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(sroce_psn_diff(rp->to, rp->from), 1);
	CHECK_EQ(tape.n, 0);
	hear_ack(&t, FIRST + 20, ACK);
	/* nothing is to be sent again, unless silence follows */
	CHECK_EQ(sroce_psn_diff(rp->to, rp->from), 0);
	CHECK_EQ(tape.n, 0);
	finish_write(&t);

	t_case("peer: has a part of what was about to be sent again");
	begin_write(&t);
	rp = &t.s->a.qp.req.repair;
	hear_ack(&t, FIRST + 10, GAP);
	expect_psns(0, FIRST + 10, 1);
	hear_ack(&t, FIRST + 11, RNR);
	hear_ack(&t, FIRST + 11, GAP);
	/* the first of them is to follow the others */
	CHECK_EQ(rp->from, FIRST + 12);
	CHECK_EQ(rp->to, FIRST + 13);
	CHECK_EQ(rp->copies, 1);
	hear_ack(&t, FIRST + 11, ACK);
	CHECK_EQ(rp->from, FIRST + 12);
	CHECK_EQ(rp->to, FIRST + 13);
	CHECK_EQ(rp->copies, 0);
	CHECK_EQ(tape.n, 1);
	/* once more when the wait is over */
	sim_run_until(t.s, t.s->now + 100000);
	CHECK(tape.n > 1);
	CHECK_EQ(tape.p[1].psn, FIRST + 12);
	finish_write(&t);
}

/* What has come of a READ can't tell that the rest is lost, and not late. */
static void silent_read(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("peer: stops in the middle of a READ: one response is asked for");
	cfg.timeout = 14;
	begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_READ, MANY * MTU);
	go(&t);
	CHECK_EQ(tape.n, 1);
	hear(&t, 0x0d, FIRST, ACK, MTU);
	while (sim_count(&t.s->a, SROCE_CNT_PROBE) < 2 && sim_step(t.s))
		;
	CHECK_EQ(tape.n, 3);
	CHECK_EQ(tape.p[1].psn, FIRST + 1);
	CHECK_EQ(tape.p[1].length, MTU);
	CHECK_EQ(tape.p[2].length, MTU);
	/* that and nothing else: two more are, and then four */
	hear(&t, 0x10, FIRST + 1, ACK, MTU);
	while (sim_count(&t.s->a, SROCE_CNT_PROBE) < 3 && sim_step(t.s))
		;
	CHECK_EQ(tape.p[3].psn, FIRST + 2);
	CHECK_EQ(tape.p[3].length, 2 * MTU);
	/* what was late goes on: nothing has to be asked for */
	hear(&t, 0x0e, FIRST + 2, ACK, MTU);
	hear(&t, 0x0e, FIRST + 3, ACK, MTU);
	hear(&t, 0x0e, FIRST + 4, ACK, MTU);
	CHECK_EQ(tape.n, 4);
	xfers_end(&t);
}

/* One response is lacking for long, but others come. */
static void slow_read(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i;

	t_case("peer: as long as READ responses come it has not gone");
	cfg.timeout = 8;	/* 1 ms */
	cfg.retry_cnt = 1;
	begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_READ, MANY * MTU);
	go(&t);
	for (i = 1; i < 20; i++) {
		hear(&t, 0x0e, FIRST + i, ACK, MTU);
		sim_run_until(t.s, t.s->now + SIM_MS);
	}
	CHECK_EQ(t.s->a.scq.n, 0);
	/* the same ones again are no sign of life */
	for (i = 1; i < 5; i++) {
		hear(&t, 0x0e, FIRST + i, ACK, MTU);
		sim_run_until(t.s, t.s->now + SIM_MS);
	}
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_RETRY_EXC_ERR);
	xfers_end(&t);
}

/* The peer's gap lies ahead of what the requester goes through once more. */
static void gap_ahead(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("peer: reports a gap ahead of what is being sent again");
	cfg.timeout = 8;
	cfg.retry_cnt = 1;
	begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_WRITE, MANY * MTU);
	go(&t);
	t.s->a.qp.req.repair.habit = SROCE_HABIT_DROPS;
	while (!sim_count(&t.s->a, SROCE_CNT_TIMEOUT) && sim_step(t.s))
		;
	CHECK_EQ(t.s->a.qp.req.psn, FIRST + SROCE_BURST);
	tape.n = 0;
	hear_ack(&t, FIRST + 100, GAP);
	/* nothing after it was sent again: all of it is */
	CHECK(!t.s->a.qp.req.repair.hold);
	expect_psns(0, FIRST + 100, SROCE_BURST);
	finish_write(&t);
}

/* An acknowledge can't end within a READ, and a stale NAK changes nothing. */
static void within_read(void)
{
	struct sroce_req *req;
	struct xfers t;

	t_case("peer: acknowledges the middle of a READ");
	begin(&t);
	req = &t.s->a.qp.req;
	xfer_put(&t, IB_WR_RDMA_READ, 4 * MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, 2 * MTU);
	go(&t);
	expect_psns(1, FIRST + 4, 2);
	hear_ack(&t, FIRST + 1, ACK);
	CHECK_EQ(req->acked, FIRST);
	CHECK_EQ(req->read_psns, 3);
	CHECK_EQ(tape.n, 3);

	t_case("peer: a later acknowledge means that READ responses are lost");
	hear_ack(&t, FIRST + 4, ACK);
	CHECK_EQ(req->acked, FIRST + 5);
	CHECK_EQ(req->una, FIRST);
	CHECK_EQ(req->read_psns, 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_IMPLIED_NAK), 1);
	CHECK_EQ(tape.n, 4);
	CHECK_EQ(tape.p[3].opcode, 0x0c);
	CHECK_EQ(tape.p[3].psn, FIRST);

	t_case("peer: NAKs that were overtaken");
	hear_ack(&t, FIRST + 4, RNR);
	CHECK(!req->rnr_wait);
	hear_ack(&t, FIRST + 4, GAP);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ACK_DUP), 2);
	CHECK_EQ(tape.n, 4);

	t_case("peer: nothing completes before what is older");
	hear_ack(&t, FIRST + 5, ACK);
	CHECK_EQ(t.s->a.scq.n, 0);
	hear(&t, 0x0d, FIRST, ACK, MTU);
	hear(&t, 0x0e, FIRST + 1, 0, MTU);
	hear(&t, 0x0e, FIRST + 2, 0, MTU);
	CHECK_EQ(t.s->a.scq.n, 0);
	hear(&t, 0x0f, FIRST + 3, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK(sroce_req_idle(&t.s->a.qp));
	xfers_end(&t);
}

/* Nothing is sent before the time that the peer asked for, and then this. */
static void check_put_off(struct xfers *t, u32 psn, u32 packets)
{
	u32 n = tape.n;

	CHECK(t->s->a.qp.req.rnr_wait);
	sim_run_until(t->s, t->s->now + 70000);
	CHECK_EQ(tape.n, n);
	sim_run_until(t->s, t->s->now + 20000);
	CHECK(!t->s->a.qp.req.rnr_wait);
	CHECK_EQ(tape.n, n + 1);
	CHECK_EQ(tape.p[n].opcode, 0x0c);
	CHECK_EQ(tape.p[n].psn, psn);
	CHECK_EQ(tape.p[n].length, packets * MTU);
}

/* As from hardware whose pages are not in memory yet */
static void read_put_off(void)
{
	struct xfers t;

	t_case("peer: not ready for a READ, of which nothing has come");
	begin(&t);
	xfer_put(&t, IB_WR_RDMA_READ, 4 * MTU);
	go(&t);
	hear_ack(&t, FIRST + 1, RNR);
	check_put_off(&t, FIRST, 4);

	t_case("peer: not ready for the rest of a READ, twice");
	hear(&t, 0x0d, FIRST, ACK, MTU);
	hear_ack(&t, FIRST + 1, RNR);
	check_put_off(&t, FIRST + 1, 3);
	hear_ack(&t, FIRST + 1, RNR);
	check_put_off(&t, FIRST + 1, 3);
	hear(&t, 0x0d, FIRST + 1, ACK, MTU);
	hear(&t, 0x0e, FIRST + 2, 0, MTU);

	t_case("peer: a READ is put off, and all that follows it with it");
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	go(&t);
	tape.n = 0;
	hear_ack(&t, FIRST + 3, RNR);
	sim_run_until(t.s, t.s->now + 90000);
	CHECK_EQ(tape.n, 2);
	CHECK_EQ(tape.p[0].psn, FIRST + 3);
	CHECK_EQ(tape.p[1].psn, FIRST + 4);

	t_case("peer: a response that is here was not put off");
	hear_ack(&t, FIRST + 2, RNR);
	CHECK(!t.s->a.qp.req.rnr_wait);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RNR_RCVD), 4);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ACK_DUP), 1);
	hear(&t, 0x0f, FIRST + 3, ACK, MTU);
	hear_ack(&t, FIRST + 4, ACK);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK(sroce_req_idle(&t.s->a.qp));
	xfers_end(&t);
}

/* What lacks is of an older READ, and what was asked for again is lost as well. */
static void put_off_behind_hole(void)
{
	struct xfers t;

	t_case("peer: not ready for the rest of a READ, and one before it lacks");
	begin(&t);
	xfer_put(&t, IB_WR_RDMA_READ, 2 * MTU);
	xfer_put(&t, IB_WR_RDMA_READ, 4 * MTU);
	go(&t);
	hear(&t, 0x0d, FIRST + 2, ACK, MTU);
	expect_psns(2, FIRST, 1);
	hear_ack(&t, FIRST + 4, RNR);
	expect_psns(3, FIRST + 3, 1);
	check_put_off(&t, FIRST + 4, 2);
	hear(&t, 0x0d, FIRST, ACK, MTU);
	hear(&t, 0x0f, FIRST + 1, ACK, MTU);
	hear(&t, 0x10, FIRST + 3, ACK, MTU);
	hear(&t, 0x0d, FIRST + 4, ACK, MTU);
	hear(&t, 0x0f, FIRST + 5, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK(sroce_req_idle(&t.s->a.qp));
	xfers_end(&t);
}

/* A READ, the response to which is lost, and a SEND that finds no receive */
static void begin_exhausted(struct xfers *t)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;

	cfg.timeout = 0;
	cfg.rnr_retry = 0;
	begin_with(t, &cfg, 65536);
	xfer_put(t, IB_WR_RDMA_READ, 2 * MTU);
	wr = xfer_make(t, IB_WR_SEND, MTU);
	sim_put_send(&t->s->a, &wr);
	go(t);
	CHECK_EQ(tape.n, 2);
	hear_ack(t, FIRST + 2, RNR);
	CHECK_EQ(sim_count(&t->s->a, SROCE_CNT_RNR_RETRY_EXC), 1);
	CHECK_EQ(t->s->a.scq.n, 0);
	/* the READ is asked for again, and nothing new goes out */
	expect_psns(2, FIRST, 1);
	xfer_put(t, IB_WR_RDMA_WRITE, MTU);
	go(t);
	CHECK_EQ(tape.n, 3);
}

static void exhausted_behind_read(void)
{
	struct xfers t;

	t_case("peer: no RNR retries left fails the SEND, not the READ before it");
	begin_exhausted(&t);
	hear_ack(&t, FIRST + 2, RNR);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RNR_RETRY_EXC), 1);
	hear(&t, 0x0d, FIRST, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 0);
	hear(&t, 0x0f, FIRST + 1, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_RNR_RETRY_EXC_ERR);
	CHECK_EQ(t.s->a.scq.e[2].status, IB_WC_WR_FLUSH_ERR);
	xfers_end(&t);

	t_case("peer: an older READ is refused while the SEND after it has failed");
	begin_exhausted(&t);
	hear_ack(&t, FIRST + 1, 0x62);
	CHECK_EQ(t.s->a.scq.n, 0);
	hear(&t, 0x0d, FIRST, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_REM_ACCESS_ERR);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_WR_FLUSH_ERR);
	xfers_end(&t);

	t_case("peer: no RNR retries left, but the SEND has come another time");
	begin_exhausted(&t);
	hear_ack(&t, FIRST + 2, ACK);
	CHECK_EQ(tape.n, 3);
	hear(&t, 0x0d, FIRST, ACK, MTU);
	hear(&t, 0x0f, FIRST + 1, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_SUCCESS);
	/* and the WRITE goes out */
	expect_psns(3, FIRST + 3, 1);
	hear_ack(&t, FIRST + 3, ACK);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK(sroce_req_idle(&t.s->a.qp));
	xfers_end(&t);
}

/* The response before the one that is refused is lost, and can still be had. */
static void read_refused_midway(u8 syndrome, enum ib_wc_status status)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("peer: refuses half a READ, and the other half is lost: %u", status);
	cfg.rnr_retry = 0;
	begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_READ, 2 * MTU);
	sim_doorbell(&t.s->a);
	hear_ack(&t, FIRST + 1, syndrome);
	CHECK_EQ(t.s->a.scq.n, 0);
	while (tape.n < 2 && sim_step(t.s))
		;
	expect_psns(1, FIRST, 1);
	hear(&t, 0x0d, FIRST, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, status);
	xfers_end(&t);
}

/* It was ready, and then had no room for what came: no probe asks without retries. */
static void lacking_after_rnr(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("peer: lacks what was sent again after an RNR wait, without retries");
	cfg.retry_cnt = 0;
	begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	go(&t);
	hear_ack(&t, FIRST, RNR);
	sim_run_until(t.s, t.s->now + 90000);
	expect_psns(1, FIRST, 1);
	hear_ack(&t, FIRST, GAP);
	expect_psns(2, FIRST, 1);
	/* once */
	hear_ack(&t, FIRST, GAP);
	CHECK_EQ(tape.n, 3);
	hear_ack(&t, FIRST, ACK);
	CHECK_EQ(t.s->a.scq.n, 1);
	xfers_end(&t);
}

/* Two READs of two packets each; the second is answered first, and wrongly. */
static void early_fault(const char *what, bool fits)
{
	struct sroce_req *req;
	struct sim_wr wr;
	struct xfers t;

	t_case("peer: %s counts when its turn comes", what);
	begin(&t);
	req = &t.s->a.qp.req;
	xfer_put(&t, IB_WR_RDMA_READ, 2 * MTU);
	wr = xfer_make(&t, IB_WR_RDMA_READ, 2 * MTU);
	if (fits)
		wr.sge[0].lkey++;
	sim_post(&t.s->a, &wr);
	CHECK_EQ(tape.n, 2);
	hear(&t, 0x0d, FIRST + 2, ACK, fits ? MTU : MTU - 4);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_BAD_RESPONSE), !fits);
	CHECK_EQ(t.s->a.scq.n, 0);
	CHECK_EQ(req->una, FIRST);
	/* the first READ is asked for again, and its responses come */
	CHECK_EQ(tape.n, 3);
	hear(&t, 0x0d, FIRST, ACK, MTU);
	hear(&t, 0x0f, FIRST + 1, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_SUCCESS);
	hear(&t, 0x0d, FIRST + 2, ACK, fits ? MTU : MTU - 4);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[1].status,
		 fits ? IB_WC_LOC_PROT_ERR : IB_WC_BAD_RESP_ERR);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
	xfers_end(&t);
}

/* A response completes older work, whose completions find no room. */
static void lost_cq(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("peer: a READ response that costs the CQ is not taken in");
	cfg.cqe = 1;
	begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	xfer_put(&t, IB_WR_RDMA_READ, MTU);
	sim_doorbell(&t.s->a);
	CHECK_EQ(tape.n, 3);
	hear(&t, 0x10, FIRST + 2, ACK, MTU);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
	CHECK(t.s->a.scq.lost);
	CHECK_EQ(t.s->a.events, BIT(IB_EVENT_QP_FATAL));
	CHECK_EQ(t.s->a.qp.req.reads, 0);
	xfers_end(&t);

	t_case("peer: so with a NAK");
	begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	sim_doorbell(&t.s->a);
	hear_ack(&t, FIRST + 2, RNR);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
	CHECK(!t.s->a.qp.req.rnr_wait);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RNR_RCVD), 0);
	xfers_end(&t);
}

/* More responses than the requester looks ahead for, all of them lost */
static void long_read(void)
{
	const u32 n = SROCE_READ_AHEAD + 1000;
	struct sim_cfg cfg = sim_default;
	struct sroce_req *req;
	struct xfers t;

	t_case("peer: a READ longer than responses are taken in ahead");
	cfg.timeout = 14;
	begin_with(&t, &cfg, (n + 10) * MTU);
	req = &t.s->a.qp.req;
	xfer_put(&t, IB_WR_RDMA_READ, n * MTU);
	sim_doorbell(&t.s->a);
	expect_psns(0, FIRST, 1);
	hear(&t, 0x0e, FIRST + SROCE_READ_AHEAD, 0, MTU);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ACK_EARLY), 1);
	hear(&t, 0x0e, FIRST + SROCE_READ_AHEAD - 1, 0, MTU);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ACK_EARLY), 1);
	CHECK_EQ(req->una, FIRST);
	CHECK_EQ(tape.n, 2);
	xfers_end(&t);

	t_case("peer: a probe asks for all that is missing of it");
	begin_with(&t, &cfg, (n + 10) * MTU);
	req = &t.s->a.qp.req;
	xfer_put(&t, IB_WR_RDMA_READ, n * MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	sim_doorbell(&t.s->a);
	hear_ack(&t, FIRST + n, ACK);
	CHECK_EQ(req->acked, FIRST + n + 1);
	tape.n = 0;
	while (!sim_count(&t.s->a, SROCE_CNT_PROBE) && sim_step(t.s))
		;
	CHECK_EQ(tape.n, 1);
	CHECK_EQ(tape.p[0].psn, FIRST);
	CHECK_EQ(tape.p[0].opcode, 0x0c);
	xfers_end(&t);
}

/* What has come is remembered by the low bits of its PSN. */
static void long_read_partly(void)
{
	const u32 n = SROCE_READ_AHEAD + 1000;
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i;

	t_case("peer: all that is missing of a long READ is asked for, at once");
	cfg.timeout = 14;
	begin_with(&t, &cfg, (n + 10) * MTU);
	xfer_put(&t, IB_WR_RDMA_READ, n * MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	sim_doorbell(&t.s->a);
	for (i = 1; i <= 500; i++)
		hear(&t, 0x0e, FIRST + i, ACK, MTU);
	tape.n = 0;
	hear_ack(&t, FIRST + n, ACK);
	expect_psns(0, FIRST + 501, 1);
	xfers_end(&t);
}

/* Silence for long, and the same is asked for again and again */
static void asked_often(void)
{
	struct sim_cfg cfg = sim_default;
	struct sroce_reread *rr;
	struct xfers t;
	u32 i;

	t_case("peer: what was asked for many times is not waited for twice");
	cfg.timeout = 14;
	begin_with(&t, &cfg, 65536);
	rr = &t.s->a.qp.req.reread;
	xfer_put(&t, IB_WR_RDMA_READ, MANY * MTU);
	go(&t);
	hear(&t, 0x0e, FIRST + 5, ACK, MTU);
	while (!sim_count(&t.s->a, SROCE_CNT_TIMEOUT) && sim_step(t.s))
		;
	i = sim_count(&t.s->a, SROCE_CNT_PROBE);
	while (sim_count(&t.s->a, SROCE_CNT_PROBE) == i && sim_step(t.s))
		;
	CHECK_EQ(rr->n, 1);
	for (i = 0; i < 5; i++)
		hear(&t, 0x0e, FIRST + i, ACK, MTU);
	CHECK_EQ(t.s->a.qp.req.una, FIRST + 6);
	CHECK_EQ(rr->n, 0);
	xfers_end(&t);
}

/* Two messages that together span more PSNs than may be compared */
static void longest(void)
{
	struct sim_wr wr = {
		.opcode = IB_WR_RDMA_READ, .flags = IB_SEND_SIGNALED,
		.num_sge = 1,
	};
	struct sroce_sq *sq;
	struct xfers t;

	t_case("peer: the longest messages go alone");
	begin(&t);
	sq = &t.s->a.qp.sq;
	wr.sge[0] = sim_sge(t.a, 0, 600u << 20);
	sim_put_send(&t.s->a, &wr);
	sim_put_send(&t.s->a, &wr);
	go(&t);
	CHECK_EQ(tape.n, 1);
	CHECK_EQ(sq->prod - sq->cons, 2);
	CHECK(!sroce_sq_wqe(sq, 1)->started);
	hear_ack(&t, FIRST, 0x62);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_REM_ACCESS_ERR);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_WR_FLUSH_ERR);
	xfers_end(&t);
}

/*
 * A work request that fails when its turn to be sent comes must not leave the
 * one before it without anybody asking for its acknowledge.
 */
static void fails_late(bool acked)
{
	struct sim_wr bad;
	struct xfers t;

	t_case("peer: a WRITE fails here, the one before %s",
	       acked ? "has its acknowledge" : "asks for one");
	begin(&t);
	xfer_put(&t, IB_WR_RDMA_READ, MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	bad = xfer_make(&t, IB_WR_RDMA_WRITE, MTU);
	bad.sge[0].lkey++;
	if (acked) {
		sim_doorbell(&t.s->a);
		hear_ack(&t, FIRST + 1, ACK);
		/* the response is lost: the READ goes out again */
		CHECK_EQ(tape.n, 3);
		tape.n = 2;
	}
	sim_post(&t.s->a, &bad);
	CHECK_EQ(tape.n, acked ? 2 : 3);
	if (!acked) {
		CHECK_EQ(tape.p[2].psn, FIRST + 1);
		CHECK(tape.p[2].ackreq);
		hear_ack(&t, FIRST + 1, ACK);
	}
	CHECK_EQ(t.s->a.scq.n, 0);
	hear(&t, 0x10, FIRST, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->a.scq.e[2].status, IB_WC_LOC_PROT_ERR);
	xfers_end(&t);
}

/* What an ATOMIC WRITE brings can't be read any more when it is to go again. */
static void gone_since(bool older)
{
	struct sim_wr wr;
	struct xfers t;

	t_case("peer: an ATOMIC WRITE to be sent again, its bytes are gone%s",
	       older ? ", after a READ" : "");
	begin(&t);
	if (older)
		xfer_put(&t, IB_WR_RDMA_READ, MTU);
	xfer_put(&t, SROCE_WR_ATOMIC_WRITE, 8);
	wr = xfer_make(&t, IB_WR_RDMA_WRITE, 0);
	sim_put_send(&t.s->a, &wr);
	sim_doorbell(&t.s->a);
	CHECK_EQ(tape.n, 2 + older);
	sim_buf_revoke(t.a);
	hear_ack(&t, FIRST + 1 + older, ACK);
	if (older) {
		CHECK_EQ(t.s->a.scq.n, 0);
		t.a->mr.key = t.a->mr.ibmr.lkey;
		hear(&t, 0x10, FIRST, ACK, MTU);
		sim_buf_revoke(t.a);
		CHECK_EQ(t.s->a.scq.n, 1);
		/* a probe finds out */
		sim_run(t.s);
	}
	CHECK_EQ(t.s->a.scq.n, 2 + older);
	CHECK_EQ(t.s->a.scq.e[older].status, IB_WC_LOC_PROT_ERR);
	CHECK_EQ(t.s->a.scq.e[older + 1].status, IB_WC_WR_FLUSH_ERR);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
	CHECK_EQ(tape.n, 2 + 2 * older);
	xfers_end(&t);
}

void test_peer(void)
{
	gone_since(false);
	gone_since(true);
	habits();
	many_gaps();
	no_gaps();
	overtaken_repairs();
	silent_read();
	slow_read();
	gap_ahead();
	within_read();
	read_put_off();
	put_off_behind_hole();
	exhausted_behind_read();
	lacking_after_rnr();
	read_refused_midway(RNR, IB_WC_RNR_RETRY_EXC_ERR);
	read_refused_midway(0x62, IB_WC_REM_ACCESS_ERR);
	early_fault("an early response of the wrong length", false);
	early_fault("an early response without a place", true);
	lost_cq();
	long_read();
	long_read_partly();
	asked_often();
	longest();
	fails_late(false);
	fails_late(true);
}
