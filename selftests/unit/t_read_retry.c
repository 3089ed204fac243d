// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A requester whose peer is played by the test: every answer, at any time */

#include "tests.h"
#include "peer.h"

#define MANY	200	/* packets; more than go out in one burst */
#define LAST	(FIRST + MANY - 1)

/* A WRITE of many packets, all of them on their way */
static void begin_write(struct xfers *t)
{
	peer_begin(t);
	xfer_put(t, IB_WR_RDMA_WRITE, MANY * MTU);
	peer_go(t);
	CHECK_EQ(tape.n, MANY);
	tape.n = 0;
}

/* The same to a peer that is known to keep what follows a gap */
static struct sroce_retrans *begin_kept(struct xfers *t)
{
	struct sroce_retrans *rp;

	begin_write(t);
	rp = &t->s->a.qp.req.retrans;
	rp->gap_policy = SROCE_GAP_KEEPS;
	return rp;
}

static void finish_write(struct xfers *t)
{
	peer_ack(t, LAST, ACK);
	CHECK_EQ(t->s->a.scq.n, 1);
	CHECK_EQ(t->s->a.scq.e[0].status, IB_WC_SUCCESS);
	CHECK_EQ(t->s->a.qp.req.una, LAST + 1);
	xfers_end(t);
}

/* The answer to the one packet that was sent again tells the peer's habit. */
static void habits(void)
{
	struct sroce_retrans *rp;
	struct xfers t;

	t_case("peer: acknowledges only what was sent again: it drops the rest");
	begin_write(&t);
	rp = &t.s->a.qp.req.retrans;
	peer_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(tape.n, 1);
	CHECK_EQ(tape.p[0].psn, FIRST + 10);
	CHECK(tape.p[0].ackreq);
	CHECK(rp->hold_new);
	peer_ack(&t, FIRST + 10, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_DROPS);
	CHECK_EQ(tape.n, 1 + SROCE_TX_BUDGET);
	CHECK_EQ(tape.p[1].psn, FIRST + 11);
	/* it had more, after all: no need to send that again */
	peer_ack(&t, FIRST + 149, ACK);
	CHECK_EQ(tape.p[1 + SROCE_TX_BUDGET].psn, FIRST + 150);
	finish_write(&t);

	t_case("peer: acknowledges more than was sent again: it keeps");
	begin_write(&t);
	rp = &t.s->a.qp.req.retrans;
	peer_ack(&t, FIRST + 10, GAP);
	peer_ack(&t, LAST - 1, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_KEEPS);
	/* the repaired one; the last may be late */
	CHECK_EQ(tape.n, 1);
	sim_run_until(t.s, t.s->now + 20 * SIM_MS);
	CHECK(tape.n > 1);
	CHECK_EQ(tape.p[1].psn, LAST);
	finish_write(&t);

	t_case("peer: puts off what came after the one sent again: it keeps");
	begin_write(&t);
	rp = &t.s->a.qp.req.retrans;
	peer_ack(&t, FIRST + 10, GAP);
	peer_ack(&t, FIRST + 11, RNR);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_KEEPS);
	CHECK_EQ(t.s->a.qp.req.psn, LAST + 1);
	sim_run_until(t.s, t.s->now + 100000);
	CHECK_EQ(tape.n, 2);
	CHECK_EQ(tape.p[1].psn, FIRST + 11);
	finish_write(&t);

	t_case("peer: found dropping, shows that it keeps");
	begin_write(&t);
	rp = &t.s->a.qp.req.retrans;
	rp->gap_policy = SROCE_GAP_DROPS;
	peer_ack(&t, FIRST + 10, GAP);
	CHECK(rp->rewound);
	CHECK_EQ(tape.n, SROCE_TX_BUDGET);
	peer_ack(&t, FIRST + 149, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_KEEPS);
	CHECK(!rp->rewound);
	finish_write(&t);
}

/* A peer that keeps tells of one gap at a time. */
static void many_gaps(void)
{
	struct sroce_retrans *rp;
	struct xfers t;
	u32 i;

	t_case("peer: acknowledges less than was sent before the repair: lost, too");
	rp = begin_kept(&t);
	peer_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(tape.n, 1);
	/* a round trip later */
	sim_run_until(t.s, t.s->now + 100000);
	peer_ack(&t, FIRST + 29, ACK);
	peer_sent(1, FIRST + 30, 1);
	/* again, which says nothing new */
	peer_ack(&t, FIRST + 29, ACK);
	peer_ack(&t, FIRST + 30, GAP);
	CHECK_EQ(tape.n, 2);
	finish_write(&t);

	t_case("peer: gaps are frequent: repairs go out twice");
	rp = begin_kept(&t);
	rp->gap_dist = 200;
	rp->gap = FIRST - 190;
	peer_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(tape.n, 2);
	CHECK_EQ(tape.p[1].psn, FIRST + 10);
	finish_write(&t);

	t_case("peer: gaps are dense: what follows goes out before the missing one");
	rp = begin_kept(&t);
	rp->gap_dist = 20;
	rp->gap = FIRST - 10;
	peer_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(tape.n, SROCE_RETRANS_BATCH_MIN + 1);
	for (i = 0; i < SROCE_RETRANS_BATCH_MIN - 1; i++)
		CHECK_EQ(tape.p[i].psn, FIRST + 11 + i);
	CHECK_EQ(tape.p[i].psn, FIRST + 10);
	CHECK_EQ(tape.p[i + 1].psn, FIRST + 10);
	CHECK(tape.p[i].ackreq);
	finish_write(&t);

	t_case("peer: thought to drop what follows, put to the test again");
	begin_write(&t);
	rp = &t.s->a.qp.req.retrans;
	rp->gap_policy = SROCE_GAP_DROPS;
	for (i = 0; rp->gap_policy == SROCE_GAP_DROPS && i < 100; i++)
		peer_ack(&t, FIRST + i, GAP);
	CHECK_EQ(i, 8);
	CHECK(rp->hold_new);
	finish_write(&t);
}

/* Packets that come out of order look like gaps for a while. */
static void no_gaps(void)
{
	struct sroce_retrans *rp;
	struct xfers t;
	u32 i;

	t_case("peer: has what it lacked sooner than it can: it was late, not lost");
	rp = begin_kept(&t);
	/* a round trip, to know what is too soon */
	sim_run_until(t.s, t.s->now + 100000);
	peer_ack(&t, FIRST + 70, ACK);
	peer_ack(&t, FIRST + 80, GAP);
	CHECK_EQ(tape.n, 1);
	sim_run_until(t.s, t.s->now + 1000);
	for (i = 81; i < 100; i++)
		peer_ack(&t, FIRST + i, ACK);
	CHECK_EQ(tape.n, 1);
	CHECK_EQ(rp->batch, SROCE_RETRANS_BATCH_MIN);
	finish_write(&t);

	t_case("peer: has what it lacked sooner than it can, after a silence: no wonder");
	rp = begin_kept(&t);
	/* the first answer comes late, and seems to be what a round trip takes */
	sim_run_until(t.s, t.s->now + 5000000);
	peer_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(tape.n, 1);
	for (i = 0; tape.n < 2 && i < 100; i++)
		sim_run_until(t.s, t.s->now + 1000000);
	CHECK_EQ(rp->probes, 1);
	for (i = 2; i < 6; i++) {
		peer_ack(&t, FIRST + 10 * i, GAP);
		sim_run_until(t.s, t.s->now + 1000);
	}
	CHECK(t.s->a.qp.req.rtt.srtt && t.s->a.qp.req.rtt.srtt < 5000);
	CHECK(rp->gap_dist < SROCE_GAP_DIST_MAX / 2);
	finish_write(&t);

	t_case("peer: thought to keep what follows, lacks every packet: it drops");
	rp = begin_kept(&t);
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

/* What is to be sent again waits for an RNR timer; meanwhile it may come. */
static void overtaken_repairs(void)
{
	struct sroce_retrans *rp;
	struct xfers t;

	t_case("peer: has what was about to be sent again");
	begin_write(&t);
	rp = &t.s->a.qp.req.retrans;
	peer_ack(&t, FIRST + 10, RNR);
	peer_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(sroce_psn_diff(rp->to, rp->from), 1);
	CHECK_EQ(tape.n, 0);
	peer_ack(&t, FIRST + 20, ACK);
	/* nothing is to be sent again, unless silence follows */
	CHECK_EQ(sroce_psn_diff(rp->to, rp->from), 0);
	CHECK_EQ(tape.n, 0);
	finish_write(&t);

	t_case("peer: has a part of what was about to be sent again");
	begin_write(&t);
	rp = &t.s->a.qp.req.retrans;
	peer_ack(&t, FIRST + 10, GAP);
	peer_sent(0, FIRST + 10, 1);
	peer_ack(&t, FIRST + 11, RNR);
	peer_ack(&t, FIRST + 11, GAP);
	/* the first of them is to follow the others */
	CHECK_EQ(rp->from, FIRST + 12);
	CHECK_EQ(rp->to, FIRST + 13);
	CHECK_EQ(rp->copies, 1);
	peer_ack(&t, FIRST + 11, ACK);
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
	peer_begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_READ, MANY * MTU);
	peer_go(&t);
	CHECK_EQ(tape.n, 1);
	peer_hear(&t, 0x0d, FIRST, ACK, MTU);
	while (sim_count(&t.s->a, SROCE_CNT_PROBE) < 2 && sim_step(t.s))
		;
	CHECK_EQ(tape.n, 3);
	CHECK_EQ(tape.p[1].psn, FIRST + 1);
	CHECK_EQ(tape.p[1].length, MTU);
	CHECK_EQ(tape.p[2].length, MTU);
	/* that and nothing else: two more are, and then four */
	peer_hear(&t, 0x10, FIRST + 1, ACK, MTU);
	while (sim_count(&t.s->a, SROCE_CNT_PROBE) < 3 && sim_step(t.s))
		;
	CHECK_EQ(tape.p[3].psn, FIRST + 2);
	CHECK_EQ(tape.p[3].length, 2 * MTU);
	/* what was late goes on: nothing has to be asked for */
	peer_hear(&t, 0x0e, FIRST + 2, ACK, MTU);
	peer_hear(&t, 0x0e, FIRST + 3, ACK, MTU);
	peer_hear(&t, 0x0e, FIRST + 4, ACK, MTU);
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
	peer_begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_READ, MANY * MTU);
	peer_go(&t);
	for (i = 1; i < 20; i++) {
		peer_hear(&t, 0x0e, FIRST + i, ACK, MTU);
		sim_run_until(t.s, t.s->now + SIM_MS);
	}
	CHECK_EQ(t.s->a.scq.n, 0);
	/* the same ones again are no sign of life */
	for (i = 1; i < 5; i++) {
		peer_hear(&t, 0x0e, FIRST + i, ACK, MTU);
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
	peer_begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_WRITE, MANY * MTU);
	peer_go(&t);
	t.s->a.qp.req.retrans.gap_policy = SROCE_GAP_DROPS;
	while (!sim_count(&t.s->a, SROCE_CNT_TIMEOUT) && sim_step(t.s))
		;
	CHECK_EQ(t.s->a.qp.req.psn, FIRST + SROCE_TX_BUDGET);
	tape.n = 0;
	peer_ack(&t, FIRST + 100, GAP);
	/* nothing after it was sent again: all of it is */
	CHECK(!t.s->a.qp.req.retrans.hold_new);
	peer_sent(0, FIRST + 100, SROCE_TX_BUDGET);
	finish_write(&t);
}

/* An acknowledge can't end within a READ, and a stale NAK changes nothing. */
static void within_read(void)
{
	struct sroce_req *req;
	struct xfers t;

	t_case("peer: acknowledges the middle of a READ");
	peer_begin(&t);
	req = &t.s->a.qp.req;
	xfer_put(&t, IB_WR_RDMA_READ, 4 * MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, 2 * MTU);
	peer_go(&t);
	peer_sent(1, FIRST + 4, 2);
	peer_ack(&t, FIRST + 1, ACK);
	CHECK_EQ(req->acked, FIRST);
	CHECK_EQ(req->read_psns, 3);
	CHECK_EQ(tape.n, 3);

	t_case("peer: a later acknowledge means that READ responses are lost");
	peer_ack(&t, FIRST + 4, ACK);
	CHECK_EQ(req->acked, FIRST + 5);
	CHECK_EQ(req->una, FIRST);
	CHECK_EQ(req->read_psns, 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_IMPLIED_NAK), 1);
	CHECK_EQ(tape.n, 4);
	CHECK_EQ(tape.p[3].opcode, 0x0c);
	CHECK_EQ(tape.p[3].psn, FIRST);

	t_case("peer: NAKs that were overtaken");
	peer_ack(&t, FIRST + 4, RNR);
	CHECK(!req->rnr_wait);
	peer_ack(&t, FIRST + 4, GAP);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ACK_DUP), 2);
	CHECK_EQ(tape.n, 4);

	t_case("peer: nothing completes before what is older");
	peer_ack(&t, FIRST + 5, ACK);
	CHECK_EQ(t.s->a.scq.n, 0);
	peer_hear(&t, 0x0d, FIRST, ACK, MTU);
	peer_hear(&t, 0x0e, FIRST + 1, 0, MTU);
	peer_hear(&t, 0x0e, FIRST + 2, 0, MTU);
	CHECK_EQ(t.s->a.scq.n, 0);
	peer_hear(&t, 0x0f, FIRST + 3, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK(sroce_sq_sched_idle(&t.s->a.qp));
	xfers_end(&t);
}

/* Two READs of two packets each; the second is answered first, and wrongly. */
static void early_fault(const char *what, bool fits)
{
	struct sroce_req *req;
	struct sim_wr wr;
	struct xfers t;

	t_case("peer: %s counts when its turn comes", what);
	peer_begin(&t);
	req = &t.s->a.qp.req;
	xfer_put(&t, IB_WR_RDMA_READ, 2 * MTU);
	wr = xfer_make(&t, IB_WR_RDMA_READ, 2 * MTU);
	if (fits)
		wr.sge[0].lkey++;
	sim_post(&t.s->a, &wr);
	CHECK_EQ(tape.n, 2);
	peer_hear(&t, 0x0d, FIRST + 2, ACK, fits ? MTU : MTU - 4);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_BAD_RESPONSE), !fits);
	CHECK_EQ(t.s->a.scq.n, 0);
	CHECK_EQ(req->una, FIRST);
	/* the first READ is asked for again, and its responses come */
	CHECK_EQ(tape.n, 3);
	peer_hear(&t, 0x0d, FIRST, ACK, MTU);
	peer_hear(&t, 0x0f, FIRST + 1, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_SUCCESS);
	peer_hear(&t, 0x0d, FIRST + 2, ACK, fits ? MTU : MTU - 4);
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
	peer_begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	xfer_put(&t, IB_WR_RDMA_READ, MTU);
	sim_doorbell(&t.s->a);
	CHECK_EQ(tape.n, 3);
	peer_hear(&t, 0x10, FIRST + 2, ACK, MTU);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
	CHECK(t.s->a.scq.overflowed);
	CHECK_EQ(t.s->a.events, BIT(IB_EVENT_QP_FATAL));
	CHECK_EQ(t.s->a.qp.req.reads, 0);
	xfers_end(&t);

	t_case("peer: so with a NAK");
	peer_begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	sim_doorbell(&t.s->a);
	peer_ack(&t, FIRST + 2, RNR);
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
	peer_begin_with(&t, &cfg, (n + 10) * MTU);
	req = &t.s->a.qp.req;
	xfer_put(&t, IB_WR_RDMA_READ, n * MTU);
	sim_doorbell(&t.s->a);
	peer_sent(0, FIRST, 1);
	peer_hear(&t, 0x0e, FIRST + SROCE_READ_AHEAD, 0, MTU);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ACK_EARLY), 1);
	peer_hear(&t, 0x0e, FIRST + SROCE_READ_AHEAD - 1, 0, MTU);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ACK_EARLY), 1);
	CHECK_EQ(req->una, FIRST);
	CHECK_EQ(tape.n, 2);
	xfers_end(&t);

	t_case("peer: a probe asks for all that is missing of it");
	peer_begin_with(&t, &cfg, (n + 10) * MTU);
	req = &t.s->a.qp.req;
	xfer_put(&t, IB_WR_RDMA_READ, n * MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	sim_doorbell(&t.s->a);
	peer_ack(&t, FIRST + n, ACK);
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
	peer_begin_with(&t, &cfg, (n + 10) * MTU);
	xfer_put(&t, IB_WR_RDMA_READ, n * MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	sim_doorbell(&t.s->a);
	for (i = 1; i <= 500; i++)
		peer_hear(&t, 0x0e, FIRST + i, ACK, MTU);
	tape.n = 0;
	peer_ack(&t, FIRST + n, ACK);
	peer_sent(0, FIRST + 501, 1);
	xfers_end(&t);
}

/* Silence for long, and the same is asked for again and again */
static void asked_often(void)
{
	struct sim_cfg cfg = sim_default;
	struct sroce_read_retry *rr;
	struct xfers t;
	u32 i;

	t_case("peer: what was asked for many times is not waited for twice");
	cfg.timeout = 14;
	peer_begin_with(&t, &cfg, 65536);
	rr = &t.s->a.qp.req.read_retry;
	xfer_put(&t, IB_WR_RDMA_READ, MANY * MTU);
	peer_go(&t);
	peer_hear(&t, 0x0e, FIRST + 5, ACK, MTU);
	while (!sim_count(&t.s->a, SROCE_CNT_TIMEOUT) && sim_step(t.s))
		;
	i = sim_count(&t.s->a, SROCE_CNT_PROBE);
	while (sim_count(&t.s->a, SROCE_CNT_PROBE) == i && sim_step(t.s))
		;
	CHECK_EQ(rr->n, 1);
	for (i = 0; i < 5; i++)
		peer_hear(&t, 0x0e, FIRST + i, ACK, MTU);
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
	peer_begin(&t);
	sq = &t.s->a.qp.sq;
	wr.sge[0] = sim_sge(t.a, 0, 600u << 20);
	sim_put_send(&t.s->a, &wr);
	sim_put_send(&t.s->a, &wr);
	peer_go(&t);
	CHECK_EQ(tape.n, 1);
	CHECK_EQ(sq->prod - sq->cons, 2);
	CHECK(!sroce_sq_wqe(sq, 1)->started);
	peer_ack(&t, FIRST, 0x62);
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
	peer_begin(&t);
	xfer_put(&t, IB_WR_RDMA_READ, MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	bad = xfer_make(&t, IB_WR_RDMA_WRITE, MTU);
	bad.sge[0].lkey++;
	if (acked) {
		sim_doorbell(&t.s->a);
		peer_ack(&t, FIRST + 1, ACK);
		/* the response is lost: the READ goes out again */
		CHECK_EQ(tape.n, 3);
		tape.n = 2;
	}
	sim_post(&t.s->a, &bad);
	CHECK_EQ(tape.n, acked ? 2 : 3);
	if (!acked) {
		CHECK_EQ(tape.p[2].psn, FIRST + 1);
		CHECK(tape.p[2].ackreq);
		peer_ack(&t, FIRST + 1, ACK);
	}
	CHECK_EQ(t.s->a.scq.n, 0);
	peer_hear(&t, 0x10, FIRST, ACK, MTU);
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
	peer_begin(&t);
	if (older)
		xfer_put(&t, IB_WR_RDMA_READ, MTU);
	xfer_put(&t, SROCE_WR_ATOMIC_WRITE, 8);
	wr = xfer_make(&t, IB_WR_RDMA_WRITE, 0);
	sim_put_send(&t.s->a, &wr);
	sim_doorbell(&t.s->a);
	CHECK_EQ(tape.n, 2 + older);
	sim_buf_revoke(t.a);
	peer_ack(&t, FIRST + 1 + older, ACK);
	if (older) {
		CHECK_EQ(t.s->a.scq.n, 0);
		t.a->mr.key = t.a->mr.ibmr.lkey;
		peer_hear(&t, 0x10, FIRST, ACK, MTU);
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

UNIT_TESTS(read_retry)
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
