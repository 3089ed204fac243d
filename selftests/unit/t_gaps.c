// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Retransmission: what a peer's answers tell of gaps, and of what it does behind them */

#include "tests.h"
#include "peer.h"

#define MANY	200	/* packets; more than one run of the task sends */
#define LAST	(FIRST + MANY - 1)

/* A WRITE of many packets, all of them in flight */
static struct sroce_retrans *begin_write(struct xfers *t)
{
	peer_begin(t);
	xfer_put(t, IB_WR_RDMA_WRITE, MANY * MTU);
	peer_go(t);
	CHECK_EQ(txlog.n, MANY);
	txlog.n = 0;
	return &t->s->a.qp.req.retrans;
}

/* The same to a peer that is known to keep what follows a gap */
static struct sroce_retrans *begin_write_kept(struct xfers *t)
{
	struct sroce_retrans *rp = begin_write(t);

	rp->gap_policy = SROCE_GAP_KEEPS;
	return rp;
}

/* The newest gap was at @gap, @dist packets after the one before; now there is another. */
static void begin_gaps(struct xfers *t, u32 dist, u32 gap)
{
	struct sroce_retrans *rp = begin_write_kept(t);

	rp->gap_dist = dist;
	rp->gap = gap;
	peer_ack(t, FIRST + 10, GAP);
}

static void finish_write(struct xfers *t)
{
	peer_ack(t, LAST, ACK);
	CHECK_EQ(t->s->a.scq.n, 1);
	CHECK_EQ(t->s->a.scq.e[0].status, IB_WC_SUCCESS);
	CHECK_EQ(t->s->a.qp.req.una, LAST + 1);
	xfers_end(t);
}

/* An answer to a part of what was sent again shows nothing of what followed the gap. */
static void answered_in_part(void)
{
	struct sroce_retrans *rp;
	struct xfers t;

	t_case("retrans: ACK of a part of the retransmission: nothing is known yet");
	rp = begin_write(&t);
	while (!rp->probes)
		sim_run_until(t.s, t.s->now + 10000);
	txlog.n = 0;
	/* the gap is right behind the probe, so twice as much is sent */
	peer_ack(&t, FIRST + 1, GAP);
	peer_sent(0, FIRST + 1, 2);
	peer_ack(&t, FIRST + 1, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_UNKNOWN);
	peer_ack(&t, FIRST + 2, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_DROPS);
	CHECK_EQ(txlog.p[2].psn, FIRST + 3);
	finish_write(&t);
}

/* The window is smaller after the gap, and no packet behind it has asked for an ACK. */
static void window_full(void)
{
	struct sroce_retrans *rp;
	struct xfers t;

	t_case("retrans: only the retransmission asks for the ACK that shows the gap policy");
	peer_begin(&t);
	rp = &t.s->a.qp.req.retrans;
	xfer_put(&t, IB_WR_RDMA_WRITE, MANY * MTU);
	sim_doorbell(&t.s->a);
	CHECK_EQ(txlog.n, SROCE_TX_BUDGET);
	CHECK(t.s->a.qp.req.since_ackreq);
	t.s->a.qp.req.cwnd.cwnd = 20;
	txlog.n = 0;
	peer_ack(&t, FIRST + 10, GAP);
	sim_run_until(t.s, t.s->now + 100000);
	peer_sent(0, FIRST + 10, 1);
	sim_open_cwnd(&t.s->a);
	peer_ack(&t, FIRST + 10, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_DROPS);
	sim_run_until(t.s, t.s->now + 100000);
	finish_write(&t);
}

/* The response to the first retransmission shows the gap policy of the peer. */
static void gap_policies(void)
{
	struct sroce_retrans *rp;
	struct xfers t;

	t_case("retrans: ACK of just the retransmission: the peer drops");
	rp = begin_write(&t);
	peer_ack(&t, FIRST + 10, GAP);
	peer_sent(0, FIRST + 10, 1);
	CHECK(txlog.p[0].ackreq);
	CHECK(rp->hold_new);
	peer_ack(&t, FIRST + 10, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_DROPS);
	CHECK_EQ(txlog.n, 1 + SROCE_TX_BUDGET);
	CHECK_EQ(txlog.p[1].psn, FIRST + 11);
	/* an ACK of more: these are not sent again */
	peer_ack(&t, FIRST + 149, ACK);
	CHECK_EQ(txlog.p[1 + SROCE_TX_BUDGET].psn, FIRST + 150);
	finish_write(&t);

	t_case("retrans: ACK beyond the retransmission: the peer keeps");
	rp = begin_write(&t);
	peer_ack(&t, FIRST + 10, GAP);
	peer_ack(&t, LAST - 1, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_KEEPS);
	/* just the missing one; the last may be late */
	CHECK_EQ(txlog.n, 1);
	sim_run_until(t.s, t.s->now + 20 * SIM_MS);
	CHECK(txlog.n > 1);
	CHECK_EQ(txlog.p[1].psn, LAST);
	finish_write(&t);

	t_case("retrans: RNR NAK beyond the retransmission: the peer keeps");
	rp = begin_write(&t);
	peer_ack(&t, FIRST + 10, GAP);
	peer_ack(&t, FIRST + 11, RNR);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_KEEPS);
	CHECK_EQ(t.s->a.qp.req.psn, LAST + 1);
	sim_run_until(t.s, t.s->now + 100000);
	CHECK_EQ(txlog.n, 2);
	CHECK_EQ(txlog.p[1].psn, FIRST + 11);
	finish_write(&t);

	t_case("retrans: a peer believed to drop shows that it keeps");
	rp = begin_write(&t);
	rp->gap_policy = SROCE_GAP_DROPS;
	peer_ack(&t, FIRST + 10, GAP);
	CHECK(rp->rewound);
	CHECK_EQ(txlog.n, SROCE_TX_BUDGET);
	peer_ack(&t, FIRST + 149, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_KEEPS);
	CHECK(!rp->rewound);
	finish_write(&t);
}

/* A peer that keeps packets reports one gap at a time. */
static void many_gaps(void)
{
	struct sroce_retrans *rp;
	struct xfers t;
	u32 i;

	t_case("retrans: an ACK below what was sent before the retransmission: another gap");
	rp = begin_write_kept(&t);
	peer_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(txlog.n, 1);
	/* a round trip later */
	sim_run_until(t.s, t.s->now + 100000);
	peer_ack(&t, FIRST + 29, ACK);
	peer_sent(1, FIRST + 30, 1);
	/* a duplicate ACK, without news */
	peer_ack(&t, FIRST + 29, ACK);
	peer_ack(&t, FIRST + 30, GAP);
	CHECK_EQ(txlog.n, 2);
	finish_write(&t);

	t_case("retrans: frequent gaps: retransmissions are sent twice");
	begin_gaps(&t, 200, FIRST - 190);
	CHECK_EQ(txlog.n, 2);
	CHECK_EQ(txlog.p[1].psn, FIRST + 10);
	finish_write(&t);

	t_case("retrans: dense gaps: following packets are sent before the missing one");
	begin_gaps(&t, 20, FIRST - 10);
	CHECK_EQ(txlog.n, SROCE_RETRANS_BATCH_MIN + 1);
	for (i = 0; i < SROCE_RETRANS_BATCH_MIN - 1; i++)
		CHECK_EQ(txlog.p[i].psn, FIRST + 11 + i);
	CHECK_EQ(txlog.p[i].psn, FIRST + 10);
	CHECK_EQ(txlog.p[i + 1].psn, FIRST + 10);
	CHECK(txlog.p[i].ackreq);
	finish_write(&t);

	t_case("retrans: a peer believed to drop is tested again");
	rp = begin_write(&t);
	rp->gap_policy = SROCE_GAP_DROPS;
	for (i = 0; rp->gap_policy == SROCE_GAP_DROPS && i < 100; i++) {
		peer_go(&t);
		peer_ack(&t, FIRST + i, GAP);
	}
	CHECK_EQ(i, 8);
	CHECK(rp->hold_new);
	finish_write(&t);
}

/* Reordered packets look like gaps for a while. */
static void no_gaps(void)
{
	struct sroce_retrans *rp;
	struct xfers t;
	u32 i;

	t_case("retrans: ACK earlier than an RTT: the packet was reordered, not lost");
	rp = begin_write_kept(&t);
	/* an RTT sample */
	sim_run_until(t.s, t.s->now + 100000);
	peer_ack(&t, FIRST + 70, ACK);
	peer_ack(&t, FIRST + 80, GAP);
	CHECK_EQ(txlog.n, 1);
	sim_run_until(t.s, t.s->now + 1000);
	for (i = 81; i < 100; i++)
		peer_ack(&t, FIRST + i, ACK);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(rp->batch, SROCE_RETRANS_BATCH_MIN);
	finish_write(&t);

	t_case("retrans: ACK earlier than an RTT after silence: no sign of reordering");
	rp = begin_write_kept(&t);
	/* the first ACK comes late, and makes a large RTT sample */
	sim_run_until(t.s, t.s->now + 1500000);
	peer_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(txlog.n, 1);
	for (i = 0; txlog.n < 2 && i < 100; i++)
		sim_run_until(t.s, t.s->now + 1000000);
	CHECK_EQ(rp->probes, 1);
	for (i = 2; i < 6; i++) {
		peer_ack(&t, FIRST + 10 * i, GAP);
		sim_run_until(t.s, t.s->now + 1000);
	}
	CHECK(t.s->a.qp.req.rtt.srtt && t.s->a.qp.req.rtt.srtt < 5000);
	CHECK(rp->gap_dist < SROCE_GAP_DIST_MAX / 2);
	finish_write(&t);

	t_case("retrans: a peer believed to keep reports each packet: it drops");
	rp = begin_write_kept(&t);
	for (i = 10; rp->gap_policy == SROCE_GAP_KEEPS && i < 100; i++) {
		peer_ack(&t, FIRST + i, GAP);
		sim_run_until(t.s, t.s->now + 100000);
	}
	CHECK(i < 20);
	CHECK(rp->hold_new);
	peer_ack(&t, FIRST + i - 1, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_DROPS);
	finish_write(&t);
}

/*
 * In slow start there is a gap, on a path with a long queue, where it is filled by one packet,
 * or a short one, where it is filled by two. The window is decreased. A round trip passes.
 */
static struct sroce_cwnd *begin_twice(struct xfers *t, u64 queue)
{
	struct sroce_retrans *rp = begin_write_kept(t);
	struct sroce_cwnd *c = &t->s->a.qp.req.cwnd;

	sim_run_until(t->s, t->s->now + SIM_MS);
	sroce_cwnd_sample(c, 100000, t->s->now);
	sroce_cwnd_sample(c, 100000 + queue, t->s->now);
	sroce_cwnd_sample(c, 100000 + queue, t->s->now);
	c->cwnd = 400;
	/* frequent, but not dense */
	rp->gap_dist = 90;
	rp->gap = FIRST - 15;
	peer_ack(t, FIRST + 80, GAP);
	CHECK(sroce_cwnd(c) < 400);
	CHECK(c->ssthresh);
	CHECK_EQ(txlog.n, queue > 100000 ? 1 : 2);
	sim_run_until(t->s, t->s->now + 100000);
	return c;
}

/* Likewise, but it is not known yet what the peer does with packets after a gap. */
static void first_came_twice(void)
{
	struct sroce_cwnd *c;
	struct xfers t;

	t_case("retrans: the same at the first gap of all");
	peer_begin(&t);
	c = &t.s->a.qp.req.cwnd;
	xfer_put(&t, IB_WR_RDMA_WRITE, 100 * MTU);
	peer_go(&t);
	sroce_cwnd_sample(c, 100000, t.s->now);
	sroce_cwnd_sample(c, 600000, t.s->now);
	sroce_cwnd_sample(c, 600000, t.s->now);
	sim_run_until(t.s, t.s->now + SIM_MS);
	c->cwnd = 400;
	peer_ack(&t, FIRST + 50, GAP);
	CHECK(sroce_cwnd(c) < 400);
	sim_run_until(t.s, t.s->now + 500000);
	peer_ack(&t, FIRST + 99, ACK);
	peer_ack(&t, FIRST + 99, ACK);
	CHECK_EQ(sroce_cwnd(c), 400);
	CHECK_EQ(t.s->a.scq.n, 1);
	xfers_end(&t);
}

static void came_twice(void)
{
	struct sroce_cwnd *c;
	struct xfers t;
	u32 cut;

	t_case("retrans: the newest ACK again after a gap: the packet was late");
	c = begin_twice(&t, 500000);
	peer_ack(&t, LAST, ACK);
	CHECK(sroce_cwnd(c) < 400);
	peer_ack(&t, LAST, ACK);
	CHECK_EQ(sroce_cwnd(c), 400);
	CHECK_EQ(c->ssthresh, 0);

	t_case("retrans: but only once");
	sroce_cwnd_lost(c, 200, 1, t.s->now += SIM_MS);
	cut = sroce_cwnd(c);
	CHECK(cut < 400);
	peer_ack(&t, LAST, ACK);
	CHECK_EQ(sroce_cwnd(c), cut);
	finish_write(&t);

	t_case("retrans: no sign of that if the missing packet was sent twice");
	c = begin_twice(&t, 50000);
	peer_ack(&t, LAST, ACK);
	cut = sroce_cwnd(c);
	CHECK(cut < 400);
	peer_ack(&t, LAST, ACK);
	CHECK_EQ(sroce_cwnd(c), cut);
	finish_write(&t);
}

/* What the peer has refused has arrived; meanwhile it says so. */
static void acked_while_waiting(void)
{
	struct sroce_retrans *rp;
	struct xfers t;

	t_case("retrans: a gap at what was refused, and an ACK of it during the wait");
	rp = begin_write(&t);
	peer_ack(&t, FIRST + 10, RNR);
	peer_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(rp->to, rp->from);
	peer_ack(&t, FIRST + 20, ACK);
	/* nothing is to be sent again, unless silence follows */
	CHECK_EQ(rp->to, rp->from);
	CHECK_EQ(txlog.n, 0);
	finish_write(&t);

	t_case("retrans: the same at what was sent again");
	rp = begin_write(&t);
	peer_ack(&t, FIRST + 10, GAP);
	peer_sent(0, FIRST + 10, 1);
	peer_ack(&t, FIRST + 11, RNR);
	peer_ack(&t, FIRST + 11, GAP);
	peer_ack(&t, FIRST + 11, ACK);
	CHECK_EQ(rp->to, rp->from);
	CHECK_EQ(txlog.n, 1);
	/* once more when the wait is over */
	sim_run_until(t.s, t.s->now + 100000);
	CHECK(txlog.n > 1);
	CHECK_EQ(txlog.p[1].psn, FIRST + 12);
	finish_write(&t);
}

/* The reported gap lies ahead of the PSN that go-back-N has reached. */
static void gap_ahead(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("retrans: a gap ahead of what is being sent again");
	cfg.timeout = 8;
	cfg.retry_cnt = 1;
	peer_begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_WRITE, MANY * MTU);
	peer_go(&t);
	t.s->a.qp.req.retrans.gap_policy = SROCE_GAP_DROPS;
	while (!sim_count(&t.s->a, SROCE_CNT_TIMEOUT_EXCUSED) && sim_step(t.s))
		;
	CHECK_EQ(t.s->a.qp.req.psn, FIRST + SROCE_TX_BUDGET);
	txlog.n = 0;
	peer_ack(&t, FIRST + 100, GAP);
	/* nothing after it was sent again: all of it is */
	CHECK(!t.s->a.qp.req.retrans.hold_new);
	peer_sent(0, FIRST + 100, SROCE_TX_BUDGET);
	finish_write(&t);
}

/* All of the window was sent again just now, so gaps in it are no news; but this is none. */
static void refused_in_window(void)
{
	struct sroce_retrans *rp;
	struct xfers t;

	t_case("retrans: what was refused after a window was sent again is sent once more");
	rp = begin_write_kept(&t);
	rp->back_psn = t.s->a.qp.req.max_psn;
	rp->back_at = t.s->now;
	t.s->a.qp.req.rtt.srtt = 20 * SIM_MS;
	peer_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(txlog.n, 0);
	peer_ack(&t, FIRST + 10, RNR);
	sim_run_until(t.s, t.s->now + 100000);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(txlog.p[0].psn, FIRST + 10);
	finish_write(&t);
}

UNIT_TESTS(gaps)
{
	refused_in_window();
	answered_in_part();
	gap_policies();
	window_full();
	many_gaps();
	no_gaps();
	came_twice();
	first_came_twice();
	acked_while_waiting();
	gap_ahead();
}
