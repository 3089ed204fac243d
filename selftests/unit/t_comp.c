// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The completer: ACKs, NAKs and responses in any order, and RNR waits */

#include "tests.h"
#include "peer.h"

/* Nothing is sent before the RNR delay is over, and then a READ of @packets at @psn. */
static void check_rnr_wait(struct xfers *t, u32 psn, u32 packets)
{
	u32 n = txlog.n;

	CHECK(t->s->a.qp.req.rnr_wait);
	sim_run_until(t->s, t->s->now + 70000);
	CHECK_EQ(txlog.n, n);
	sim_run_until(t->s, t->s->now + 20000);
	CHECK(!t->s->a.qp.req.rnr_wait);
	CHECK_EQ(txlog.n, n + 1);
	CHECK_EQ(txlog.p[n].opcode, 0x0c);
	CHECK_EQ(txlog.p[n].psn, psn);
	CHECK_EQ(txlog.p[n].length, packets * MTU);
}

/* Hardware sends RNR NAKs for READs whose pages are not in memory yet. */
static void rnr_read(void)
{
	struct xfers t;

	t_case("comp: RNR NAK for a READ without any response yet");
	peer_begin(&t);
	xfer_put(&t, IB_WR_RDMA_READ, 4 * MTU);
	peer_go(&t);
	peer_ack(&t, FIRST + 1, RNR);
	check_rnr_wait(&t, FIRST, 4);

	t_case("comp: RNR NAK for the rest of a READ, twice");
	peer_hear(&t, 0x0d, FIRST, ACK, MTU);
	peer_ack(&t, FIRST + 1, RNR);
	check_rnr_wait(&t, FIRST + 1, 3);
	peer_ack(&t, FIRST + 1, RNR);
	check_rnr_wait(&t, FIRST + 1, 3);
	peer_hear(&t, 0x0d, FIRST + 1, ACK, MTU);
	peer_hear(&t, 0x0e, FIRST + 2, 0, MTU);

	t_case("comp: an RNR NAK for a READ also delays all that follows it");
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	peer_go(&t);
	txlog.n = 0;
	peer_ack(&t, FIRST + 3, RNR);
	sim_run_until(t.s, t.s->now + 90000);
	CHECK_EQ(txlog.n, 2);
	CHECK_EQ(txlog.p[0].psn, FIRST + 3);
	CHECK_EQ(txlog.p[1].psn, FIRST + 4);

	t_case("comp: an RNR NAK for a response that has arrived is ignored");
	peer_ack(&t, FIRST + 2, RNR);
	CHECK(!t.s->a.qp.req.rnr_wait);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RNR_RCVD), 4);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ACK_DUP), 1);
	peer_hear(&t, 0x0f, FIRST + 3, ACK, MTU);
	peer_ack(&t, FIRST + 4, ACK);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK(sroce_sq_sched_idle(&t.s->a.qp));
	xfers_end(&t);
}

/* Both responses of the oldest READ arrive. */
static void read_arrives(struct xfers *t)
{
	peer_hear(t, 0x0d, FIRST, ACK, MTU);
	peer_hear(t, 0x0f, FIRST + 1, ACK, MTU);
}

/* A response of an older READ is missing, and so is the one that is asked for again. */
static void rnr_behind_gap(void)
{
	struct xfers t;

	t_case("comp: RNR NAK for the rest of a READ while an older READ has a gap");
	peer_begin(&t);
	xfer_put(&t, IB_WR_RDMA_READ, 2 * MTU);
	xfer_put(&t, IB_WR_RDMA_READ, 4 * MTU);
	t.s->a.qp.req.read_retry.selective = true;
	peer_go(&t);
	peer_hear(&t, 0x0d, FIRST + 2, ACK, MTU);
	peer_sent(2, FIRST, 1);
	peer_ack(&t, FIRST + 4, RNR);
	peer_sent(3, FIRST + 3, 1);
	check_rnr_wait(&t, FIRST + 4, 2);
	read_arrives(&t);
	peer_hear(&t, 0x10, FIRST + 3, ACK, MTU);
	peer_hear(&t, 0x0d, FIRST + 4, ACK, MTU);
	peer_hear(&t, 0x0f, FIRST + 5, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK(sroce_sq_sched_idle(&t.s->a.qp));
	xfers_end(&t);
}

/* The responder has executed a READ, and what follows it, but can't read its memory again. */
static void rnr_replayed(void)
{
	struct xfers t;

	t_case("comp: RNR NAK for a READ that is asked for again after it was executed");
	peer_begin(&t);
	xfer_put(&t, IB_WR_RDMA_READ, 4 * MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	peer_go(&t);
	peer_ack(&t, FIRST + 4, ACK);
	peer_sent(2, FIRST, 1);
	peer_ack(&t, FIRST, RNR);
	check_rnr_wait(&t, FIRST, 4);
	peer_hear(&t, 0x0d, FIRST, ACK, MTU);
	peer_ack(&t, FIRST + 1, RNR);
	check_rnr_wait(&t, FIRST + 1, 3);
	peer_hear(&t, 0x0d, FIRST + 1, ACK, MTU);
	peer_hear(&t, 0x0e, FIRST + 2, 0, MTU);
	peer_hear(&t, 0x0f, FIRST + 3, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK(sroce_sq_sched_idle(&t.s->a.qp));
	xfers_end(&t);
}

/* The same, while other responses have come: only what was refused is missing. */
static void rnr_replayed_before(bool selective)
{
	struct xfers t;
	u32 n;

	t_case("comp: RNR NAK for a READ that is asked for again before one that was answered%s",
	       selective ? ", by range" : "");
	peer_begin(&t);
	xfer_put(&t, IB_WR_RDMA_READ, 4 * MTU);
	xfer_put(&t, IB_WR_RDMA_READ, MTU);
	t.s->a.qp.req.read_retry.selective = selective;
	peer_go(&t);
	peer_hear(&t, 0x10, FIRST + 4, ACK, MTU);
	peer_sent(2, FIRST, 1);
	peer_ack(&t, FIRST, RNR);
	CHECK(t.s->a.qp.req.rnr_wait);
	n = txlog.n;
	sim_run_until(t.s, t.s->now + 90000);
	CHECK(!t.s->a.qp.req.rnr_wait);
	peer_sent(n, FIRST, 1);
	CHECK_EQ(txlog.p[n].length, 4 * MTU);
	xfers_end(&t);
}

/* There are no probes and no timers, and the first RNR NAK is fatal. */
static void begin_without_retries(struct xfers *t)
{
	struct sim_cfg cfg = sim_default;

	cfg.timeout = 0;
	cfg.retry_cnt = 0;
	cfg.rnr_retry = 0;
	peer_begin_with(t, &cfg, 65536);
}

/*
 * A READ, the response to which is lost, a SEND that finds no receive, and a WRITE; or
 * another READ instead of them
 */
static void begin_exhausted(struct xfers *t, u32 reads)
{
	struct sim_wr wr;

	begin_without_retries(t);
	xfer_put(t, IB_WR_RDMA_READ, 2 * MTU);
	if (reads == 2) {
		xfer_put(t, IB_WR_RDMA_READ, 2 * MTU);
	} else {
		wr = xfer_make(t, IB_WR_SEND, MTU);
		sim_put_send(&t->s->a, &wr);
		xfer_put(t, IB_WR_RDMA_WRITE, MTU);
	}
	peer_go(t);
	txlog.n = 0;
	peer_ack(t, FIRST + 2, RNR);
	CHECK_EQ(sim_count(&t->s->a, SROCE_CNT_RNR_RETRY_EXC), 1);
	CHECK_EQ(t->s->a.scq.n, 0);
	/* the first READ is sent again */
	peer_sent(0, FIRST, 1);
}

static void exhausted_behind_read(void)
{
	struct xfers t;

	t_case("comp: exceeded RNR retries fail the SEND, not the READ before it");
	begin_exhausted(&t, 1);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	peer_go(&t);
	CHECK_EQ(txlog.n, 1);
	peer_ack(&t, FIRST + 2, RNR);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RNR_RETRY_EXC), 1);
	peer_hear(&t, 0x0d, FIRST, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 0);
	peer_hear(&t, 0x0f, FIRST + 1, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 4);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_RNR_RETRY_EXC_ERR);
	CHECK_EQ(t.s->a.scq.e[2].status, IB_WC_WR_FLUSH_ERR);
	xfers_end(&t);

	t_case("comp: an older READ is refused while the SEND after it has failed");
	begin_exhausted(&t, 1);
	peer_ack(&t, FIRST + 1, 0x62);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_REM_ACCESS_ERR);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_WR_FLUSH_ERR);
	xfers_end(&t);

	t_case("comp: RNR NAK for an older READ after the SEND behind it has failed");
	begin_exhausted(&t, 1);
	peer_hear(&t, 0x0d, FIRST, ACK, MTU);
	peer_ack(&t, FIRST + 1, RNR);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_RNR_RETRY_EXC_ERR);
	xfers_end(&t);
}

/* RNR retries of a SEND are exceeded, but another copy of it was received. */
static void exhausted_but_received(void)
{
	struct xfers t;

	t_case("comp: RNR retries exceeded, but another copy of the SEND arrived");
	begin_exhausted(&t, 1);
	peer_ack(&t, FIRST + 2, ACK);
	/* what was sent after it may have been dropped */
	peer_sent(1, FIRST + 3, 1);
	read_arrives(&t);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_SUCCESS);
	peer_ack(&t, FIRST + 3, ACK);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK(sroce_sq_sched_idle(&t.s->a.qp));
	xfers_end(&t);

	t_case("comp: likewise, and the next request is lost");
	begin_exhausted(&t, 1);
	peer_ack(&t, FIRST + 3, GAP);
	peer_sent(1, FIRST + 3, 1);
	peer_ack(&t, FIRST + 3, ACK);
	read_arrives(&t);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK(sroce_sq_sched_idle(&t.s->a.qp));
	xfers_end(&t);

	t_case("comp: likewise, and the next request is refused");
	begin_exhausted(&t, 1);
	peer_ack(&t, FIRST + 3, 0x62);
	read_arrives(&t);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->a.scq.e[2].status, IB_WC_REM_ACCESS_ERR);
	xfers_end(&t);

	t_case("comp: RNR retries exceeded for a READ, but it was executed");
	begin_exhausted(&t, 2);
	peer_hear(&t, 0x0f, FIRST + 3, ACK, MTU);
	read_arrives(&t);
	CHECK_EQ(t.s->a.scq.n, 1);
	peer_hear(&t, 0x0d, FIRST + 2, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_RTS);
	xfers_end(&t);
}

/* No response has arrived, and the READ fails without waiting for any. */
static void read_refused_midway(u8 syndrome, enum ib_wc_status status)
{
	struct xfers t;

	t_case("comp: half a READ is refused and the other half is lost, status %u", status);
	begin_without_retries(&t);
	xfer_put(&t, IB_WR_RDMA_READ, 2 * MTU);
	sim_doorbell(&t.s->a);
	peer_ack(&t, FIRST + 1, syndrome);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, status);
	xfers_end(&t);
}

/* Without anything else in flight there is no packet to take an RTT sample of. */
static void nothing_behind(void)
{
	struct sroce_req *req;
	struct xfers t;

	t_case("comp: a READ with an RNR wait is no RTT sample for later requests");
	peer_begin(&t);
	req = &t.s->a.qp.req;
	req->retrans.gap_policy = SROCE_GAP_KEEPS;
	xfer_put(&t, IB_WR_RDMA_READ, 2 * MTU);
	peer_go(&t);
	peer_hear(&t, 0x0d, FIRST, ACK, MTU);
	peer_ack(&t, FIRST + 1, RNR);
	sim_run_until(t.s, t.s->now + 90000);
	peer_hear(&t, 0x0f, FIRST + 1, ACK, MTU);
	sim_run_until(t.s, t.s->now + 1000 * SIM_MS);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	peer_go(&t);
	peer_ack(&t, FIRST + 2, ACK);
	CHECK(req->rtt.srtt < SIM_MS);
	xfers_end(&t);
}

/*
 * The peer was ready, and then dropped what was sent again. It has to be sent once more at
 * its NAK, as there are no probes without retries.
 */
static void gap_after_rnr(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("comp: a gap at what was sent again after an RNR wait, without retries");
	cfg.retry_cnt = 0;
	peer_begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	peer_go(&t);
	peer_ack(&t, FIRST, RNR);
	sim_run_until(t.s, t.s->now + 90000);
	peer_sent(1, FIRST, 1);
	peer_ack(&t, FIRST, GAP);
	peer_sent(2, FIRST, 1);
	/* once */
	peer_ack(&t, FIRST, GAP);
	CHECK_EQ(txlog.n, 3);
	peer_ack(&t, FIRST, ACK);
	CHECK_EQ(t.s->a.scq.n, 1);
	xfers_end(&t);
}

/* rdma_rxe also reports a gap for what follows a packet that it has refused. */
static void gap_behind_refused(void)
{
	struct xfers t;

	t_case("comp: a gap at a packet that was refused is no loss");
	peer_begin(&t);
	t.s->a.qp.req.retrans.gap_policy = SROCE_GAP_DROPS;
	xfer_put(&t, IB_WR_RDMA_WRITE, 4 * MTU);
	peer_go(&t);
	peer_ack(&t, FIRST, RNR);
	peer_ack(&t, FIRST, GAP);
	CHECK_EQ(txlog.n, 4);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ACK_DUP), 1);
	/* after the wait it is sent again, and what follows; a gap there counts */
	sim_run_until(t.s, t.s->now + 90000);
	peer_sent(4, FIRST, 4);
	peer_ack(&t, FIRST, GAP);
	peer_sent(8, FIRST, 4);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE), 1);
	peer_ack(&t, FIRST + 3, ACK);
	CHECK_EQ(t.s->a.scq.n, 1);
	xfers_end(&t);
}

/* A peer that drops what follows a gap is one however often it has no receive. */
static void refused_often(u8 policy)
{
	struct sroce_retrans *rp;
	struct xfers t;
	u32 i;

	t_case("comp: a peer is not forgotten that %s what follows a gap, but often refuses",
	       policy == SROCE_GAP_DROPS ? "drops" : "keeps");
	peer_begin(&t);
	t.s->a.qp.attr.rnr_retry = 7;
	rp = &t.s->a.qp.req.retrans;
	rp->gap_policy = policy;
	for (i = 0; i < 20; i++) {
		xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
		peer_go(&t);
		peer_ack(&t, FIRST + i, RNR);
		sim_run_until(t.s, t.s->now + 90000);
		peer_ack(&t, FIRST + i, ACK);
		CHECK_EQ(rp->gap_policy, policy);
	}
	/* nor are they gaps, near which packets are sent twice */
	CHECK_EQ(rp->gap_dist, SROCE_GAP_DIST_MAX);
	CHECK_EQ(txlog.n, 40);
	CHECK_EQ(t.s->a.scq.n, 20);
	xfers_end(&t);
}

/* An ACK can't end within a READ, and a stale NAK changes nothing. */
static void within_read(void)
{
	struct sroce_req *req;
	struct xfers t;

	t_case("comp: an ACK within a READ");
	peer_begin(&t);
	req = &t.s->a.qp.req;
	xfer_put(&t, IB_WR_RDMA_READ, 4 * MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, 2 * MTU);
	peer_go(&t);
	peer_sent(1, FIRST + 4, 2);
	peer_ack(&t, FIRST + 1, ACK);
	CHECK_EQ(req->acked, FIRST);
	CHECK_EQ(req->read_psns, 3);
	CHECK_EQ(txlog.n, 3);

	t_case("comp: a later ACK implies that READ responses are lost");
	peer_ack(&t, FIRST + 4, ACK);
	CHECK_EQ(req->acked, FIRST + 5);
	CHECK_EQ(req->una, FIRST);
	CHECK_EQ(req->read_psns, 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_IMPLIED_NAK), 1);
	CHECK_EQ(txlog.n, 4);
	CHECK_EQ(txlog.p[3].opcode, 0x0c);
	CHECK_EQ(txlog.p[3].psn, FIRST);

	t_case("comp: NAKs that a later ACK has overtaken");
	peer_ack(&t, FIRST + 4, RNR);
	CHECK(!req->rnr_wait);
	peer_ack(&t, FIRST + 4, GAP);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ACK_DUP), 2);
	CHECK_EQ(txlog.n, 4);

	t_case("comp: nothing completes before older work requests");
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

/* Two READs of two packets each; the first response is of the second, and wrong. */
static void early_fault(const char *what, bool fits)
{
	struct sroce_req *req;
	struct sim_wr wr;
	struct xfers t;

	t_case("comp: %s counts once it is the oldest", what);
	peer_begin(&t);
	req = &t.s->a.qp.req;
	xfer_put(&t, IB_WR_RDMA_READ, 2 * MTU);
	wr = xfer_make(&t, IB_WR_RDMA_READ, 2 * MTU);
	if (fits)
		wr.sge[0].lkey++;
	sim_post(&t.s->a, &wr);
	CHECK_EQ(txlog.n, 2);
	peer_hear(&t, 0x0d, FIRST + 2, ACK, fits ? MTU : MTU - 4);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_BAD_RESPONSE), !fits);
	CHECK_EQ(t.s->a.scq.n, 0);
	CHECK_EQ(req->una, FIRST);
	/* the first READ is asked for again, and its responses come */
	CHECK_EQ(txlog.n, 3);
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

/* A response completes older work requests, whose completions overflow the CQ. */
static void lost_cq(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("comp: a READ response is dropped if older completions overflow the CQ");
	cfg.cqe = 1;
	peer_begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	xfer_put(&t, IB_WR_RDMA_READ, MTU);
	sim_doorbell(&t.s->a);
	CHECK_EQ(txlog.n, 3);
	peer_hear(&t, 0x10, FIRST + 2, ACK, MTU);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
	CHECK(t.s->a.scq.overflowed);
	CHECK_EQ(t.s->a.events, BIT(IB_EVENT_QP_FATAL));
	CHECK_EQ(t.s->a.qp.req.reads, 0);
	xfers_end(&t);

	t_case("comp: likewise a NAK");
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

static void rnr_then_success(void)
{
	static const u32 ops[] = {
		IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE_WITH_IMM
	};
	struct sim_wr wr;
	struct xfers t;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		t_case("comp: %s before its receive is posted",
		       xfer_name(ops[i]));
		for (k = 0; k < 2; k++) {
			xfers_init(&t, NULL, 65536, 4096);
			xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
			wr = xfer_make(&t, ops[i], k ? 3000 : 0);
			sim_put_send(&t.s->a, &wr);
			xfer_put(&t, IB_WR_RDMA_READ, 3000);
			sim_doorbell(&t.s->a);
			sim_run_until(t.s, SIM_MS);
			CHECK_EQ(t.s->a.scq.n, 1);
			CHECK(sim_count(&t.s->b, SROCE_CNT_RNR_SENT) > 5);
			CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RNR_SENT),
				 sim_count(&t.s->a, SROCE_CNT_RNR_RCVD));
			CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
			xfer_recv(&t, 1);
			sim_run(t.s);
			xfers_check(&t);
			xfers_end(&t);
		}
	}
}

static void rnr_exhausted(u32 retries)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct xfers t;

	t_case("comp: no receive for %u retries", retries);
	cfg.rnr_retry = retries;
	xfers_init(&t, &cfg, 65536, 4096);
	xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
	wr = xfer_make(&t, IB_WR_SEND, 3000);
	sim_put_send(&t.s->a, &wr);
	xfers_put_writes(&t, 3);
	xfers_run(&t);
	xfers_check_failed(&t, 1, IB_WC_RNR_RETRY_EXC_ERR);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RNR_SENT), retries + 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RNR_RETRY_EXC), 1);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
	xfers_end(&t);
}

/* Nothing is sent during the delay that the responder asks for. */
static void rnr_delay(void)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct xfers t;
	u64 start;

	t_case("comp: the RNR delay is kept");
	cfg.min_rnr_timer = 14;		/* 1.28 ms, table 46 */
	xfers_init(&t, &cfg, 4096, 4096);
	wr = xfer_make(&t, IB_WR_SEND, 10);
	start = t.s->now;
	sim_post(&t.s->a, &wr);
	sim_run_until(t.s, start + 1270000);
	CHECK_EQ(t.s->sent, 2);
	sim_run_until(t.s, start + 1290000);
	CHECK_EQ(t.s->sent, 4);
	xfer_recv(&t, 0);
	sim_run(t.s);
	xfers_check(&t);
	xfers_end(&t);
}

/* A peer that asks for the shortest wait, again and again, doesn't keep a CPU busy. */
static void rnr_in_vain(void)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct xfers t;

	t_case("comp: waits for RNR in a row get longer");
	cfg.min_rnr_timer = 1;		/* 10 us */
	cfg.rnr_retry = 7;
	xfers_init(&t, &cfg, 4096, 4096);
	wr = xfer_make(&t, IB_WR_SEND, 10);
	sim_post(&t.s->a, &wr);
	sim_run_until(t.s, t.s->now + 100 * SIM_MS);
	CHECK(sim_count(&t.s->a, SROCE_CNT_RNR_RCVD) >= 100 / 2);
	CHECK(sim_count(&t.s->a, SROCE_CNT_RNR_RCVD) <= 100);

	t_case("comp: and the wait in which the peer gets ready is short enough");
	xfer_recv(&t, 0);
	sim_run_until(t.s, t.s->now + 2 * SIM_MS);
	xfers_check(&t);

	t_case("comp: the first wait after progress is as short as the peer says");
	wr = xfer_make(&t, IB_WR_SEND, 10);
	sim_post(&t.s->a, &wr);
	while (!t.s->a.qp.req.rnr_wait)
		sim_run_until(t.s, t.s->now + 1000);
	sim_run_until(t.s, t.s->now + 11000);
	CHECK(!t.s->a.qp.req.rnr_wait);
	xfer_recv(&t, 1);
	sim_run(t.s);
	xfers_check(&t);
	xfers_end(&t);
}

/*
 * Receives one by one, after RNR waits; ATOMIC acks in between move things on
 * while what follows is refused. Each wait ends with a packet, without timers.
 */
static void rnr_again(u32 ops)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct xfers t;
	u32 i;

	t_case("comp: %u RNR waits, an atomic before each", ops);
	cfg.retry_cnt = 0;
	cfg.timeout = 14;
	cfg.min_rnr_timer = 8;
	xfers_init(&t, &cfg, 65536, 4096);
	for (i = 0; i < ops; i++) {
		wr = xfer_make(&t, IB_WR_RDMA_WRITE_WITH_IMM, 3000);
		sim_put_send(&t.s->a, &wr);
		xfer_put(&t, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
	}
	sim_doorbell(&t.s->a);
	for (i = 0; i < ops; i++) {
		sim_run_until(t.s, (i + 1) * SIM_MS);
		xfer_recv(&t, 2 * i);
	}
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_end(&t);
}

/* The payload to be sent again can't be read any more: that fails at once. */
static void rnr_then_gone(void)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct xfers t;

	t_case("comp: memory deregistered during an RNR wait");
	cfg.timeout = 0;
	cfg.min_rnr_timer = 8;
	xfers_init(&t, &cfg, 4096, 4096);
	wr = xfer_make(&t, IB_WR_SEND, 10);
	sim_post(&t.s->a, &wr);
	sim_run_until(t.s, 10 * SIM_LATENCY);
	CHECK(t.s->a.qp.req.rnr_wait);
	sim_buf_revoke(t.a);
	sim_run_until(t.s, SIM_MS);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_LOC_PROT_ERR);
	xfers_end(&t);
}

/* A has a READ outstanding and receives @p; with success it ignores that. */
static void hear(struct sroce_pkt *p, enum ib_wc_status want)
{
	static const u8 data[2000];
	struct xfers t;
	u64 never = 0;

	xfers_init(&t, NULL, 65536, 4096);
	xfer_put(&t, IB_WR_RDMA_READ, 3000);
	t.s->tx_fails = true;
	t.s->arg = &never;
	sim_doorbell(&t.s->a);
	p->qpn = t.s->a.qp.qpn;
	p->pkey = 0xffff;
	p->psn = 1000;
	sim_deliver(t.s, sim_forge(&t.s->b, p, data));
	if (want == IB_WC_SUCCESS) {
		CHECK_EQ(t.s->a.scq.n, 0);
		CHECK_EQ(t.s->a.qp.req.una, 1000);
		t.s->tx_fails = false;
		sim_run(t.s);
		xfers_check(&t);
	} else {
		CHECK_EQ(t.s->a.scq.n, 1);
		CHECK_EQ(t.s->a.scq.e[0].status, want);
	}
	xfers_end(&t);
}

static void responses(void)
{
	struct sroce_pkt p;

	t_case("comp: a READ response of the wrong length ends the READ");
	p = (struct sroce_pkt){ .opcode = 0x0d, .payload_len = 1020 };
	hear(&p, IB_WC_BAD_RESP_ERR);
	p = (struct sroce_pkt){ .opcode = 0x10, .payload_len = 1500 };
	hear(&p, IB_WC_BAD_RESP_ERR);
	p = (struct sroce_pkt){ .opcode = 0x0f };
	hear(&p, IB_WC_BAD_RESP_ERR);

	t_case("comp: responses of the wrong kind or with odd codes do no harm");
	p = (struct sroce_pkt){ .opcode = 0x12 };
	hear(&p, IB_WC_SUCCESS);
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x1f };
	hear(&p, IB_WC_SUCCESS);
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x40 };
	hear(&p, IB_WC_SUCCESS);
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x65 };
	hear(&p, IB_WC_SUCCESS);
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x7f };
	hear(&p, IB_WC_SUCCESS);

	t_case("comp: each NAK code has its completion status");
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x61 };
	hear(&p, IB_WC_REM_INV_REQ_ERR);
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x62 };
	hear(&p, IB_WC_REM_ACCESS_ERR);
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x63 };
	hear(&p, IB_WC_REM_OP_ERR);
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x64 };
	hear(&p, IB_WC_REM_INV_RD_REQ_ERR);
}

/* All requests of A are lost. */
static int to_nowhere(struct sim *s, struct sim_packet *p)
{
	return p->from != &s->a;
}

static void flush_responses(void)
{
	static const u8 data[8];
	static const struct {
		u8 opcode;
		u32 len;
		enum ib_wc_status status;
	} rows[] = {
		{ 0x10, 0, IB_WC_SUCCESS },
		{ 0x10, 8, IB_WC_BAD_RESP_ERR },
		/* ignored */
		{ 0x12, 0, IB_WC_RETRY_EXC_ERR },
		{ 0x11, 0, IB_WC_RETRY_EXC_ERR },
	};
	struct sim_wr wr;
	struct xfers t;
	u32 i;

	t_case("comp: only an empty READ response completes a FLUSH");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sroce_pkt p = {
			.opcode = rows[i].opcode, .pkey = 0xffff,
			.syndrome = 0x1f, .msn = 1, .payload_len = rows[i].len,
		};

		t_where("row %u", i);
		xfers_init(&t, NULL, 65536, 4096);
		t.s->wire = to_nowhere;
		p.qpn = t.s->a.qp.qpn;
		p.psn = t.s->a.qp.req.psn;
		wr = xfer_flush(&t, 0, 64);
		sim_post(&t.s->a, &wr);
		sim_deliver(t.s, sim_forge(&t.s->b, &p, data));
		sim_run(t.s);
		CHECK_EQ(t.s->a.scq.n, 1);
		CHECK_EQ(t.s->a.scq.e[0].status, rows[i].status);
		xfers_end(&t);
	}
}

UNIT_TESTS(comp)
{
	rnr_read();
	rnr_behind_gap();
	rnr_replayed();
	rnr_replayed_before(false);
	rnr_replayed_before(true);
	exhausted_behind_read();
	exhausted_but_received();
	nothing_behind();
	gap_after_rnr();
	gap_behind_refused();
	refused_often(SROCE_GAP_DROPS);
	refused_often(SROCE_GAP_KEEPS);
	read_refused_midway(RNR, IB_WC_RNR_RETRY_EXC_ERR);
	read_refused_midway(0x62, IB_WC_REM_ACCESS_ERR);
	within_read();
	early_fault("an out-of-order response of the wrong length", false);
	early_fault("an out-of-order response with a bad L_Key", true);
	lost_cq();
	rnr_then_success();
	rnr_exhausted(0);
	rnr_exhausted(3);
	rnr_delay();
	rnr_then_gone();
	rnr_in_vain();
	rnr_again(2);
	rnr_again(8);
	responses();
	flush_responses();
}
