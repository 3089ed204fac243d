// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* RESET, and what a QP is like after it */

#include "tests.h"
#include "xfer.h"

/* From RESET to RTS, without messages or completions */
static void to_rts(struct xfers *t)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct sroce_kqp *kqp = t->s->kqp[i];

		sim_enter(kqp, IB_QPS_INIT);
		sim_enter(kqp, IB_QPS_RTR);
		sim_enter(kqp, IB_QPS_RTS);
		kqp->scq.n = 0;
		kqp->rcq.n = 0;
	}
	t->n = 0;
}

/* Both QPs are reset, with READs that an error has left queued, and work again. */
static void reset(void)
{
	struct xfers t;
	u32 i, seen;

	t_case("reset: work is dropped without completions, and the QP works again");
	xfers_init(&t, NULL, 800000, 4096);
	sim_open_cwnd(&t.s->a);
	for (i = 0; i < 4; i++)
		xfer_put(&t, IB_WR_RDMA_READ, 150000);
	t.s->task_delay = SIM_MS;
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, 2 * SIM_LATENCY);
	seen = t.s->a.scq.n;
	CHECK(t.s->b.qp.resp.fifo.n > 0);
	sim_enter(&t.s->b, IB_QPS_ERR);
	for (i = 0; i < 2; i++) {
		struct sroce_kqp *kqp = i ? &t.s->b : &t.s->a;

		sim_enter(kqp, IB_QPS_RESET);
		CHECK_EQ(sroce_ring_filled(&kqp->qp.sq.ring), 0);
		CHECK_EQ(sroce_ring_filled(&kqp->qp.rq.ring), 0);
		CHECK(sroce_sq_sched_idle(&kqp->qp));
	}
	CHECK_EQ(t.s->a.scq.n, seen);
	/* packets from before RESET are dropped */
	sim_run(t.s);
	to_rts(&t);
	t.off = 650000;
	xfers_put_each(&t, 3000);
	xfers_run_check(&t);
	xfers_end(&t);
}

static void new_psn(void)
{
	struct sroce_req *req;
	struct xfers t;

	t_case("reset: the next connection starts at its own PSN");
	xfers_init(&t, NULL, 65536, 4096);
	req = &t.s->a.qp.req;
	xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
	xfers_run_check(&t);
	CHECK_EQ(req->una, 1003);
	sim_enter(&t.s->a, IB_QPS_RESET);
	sim_enter(&t.s->b, IB_QPS_RESET);
	t.s->a.qp.attr.sq_psn = 0xfffffe;
	t.s->b.qp.attr.rq_psn = 0xfffffe;
	to_rts(&t);
	CHECK_EQ(req->psn, 0xfffffe);
	CHECK_EQ(req->una, 0xfffffe);
	CHECK_EQ(req->acked, 0xfffffe);
	CHECK_EQ(req->max_psn, 0xfffffe);
	CHECK_EQ(t.s->b.qp.resp.psn, 0xfffffe);
	CHECK_EQ(t.s->b.qp.resp.msn, 0);
	t.off = 32768;
	xfer_put(&t, IB_WR_RDMA_WRITE, 5 * 1024);
	xfers_run_check(&t);
	CHECK_EQ(req->una, 3);
	xfers_end(&t);
}

/* RESET of the send queue alone, as after an error in SQE */
static void only_sq(void)
{
	struct ib_sge sge;
	struct xfers t;

	t_case("reset: of the send queue keeps receive work requests");
	xfers_init(&t, NULL, 65536, 4096);
	xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
	sge = sim_sge(t.a, 60000, 100);
	sim_put_recv(&t.s->a, 7, &sge, 1);
	sroce_reset_sq(&t.s->a.qp);
	CHECK_EQ(sroce_ring_filled(&t.s->a.qp.sq.ring), 0);
	CHECK_EQ(sroce_ring_filled(&t.s->a.qp.rq.ring), 1);
	sim_run(t.s);
	CHECK_EQ(t.s->sent, 0);
	CHECK_EQ(t.s->a.scq.n, 0);
	xfers_end(&t);
}

/* The window and the round trip of the old path say nothing of the new one. */
static void new_path(bool cc)
{
	struct sroce_req *req;
	struct xfers t;

	t_case("reset: of the path, %s congestion control", cc ? "with" : "without");
	xfers_init(&t, NULL, 200000, 4096);
	req = &t.s->a.qp.req;
	t.s->a.qp.cc = cc;
	sroce_reset_req_psn(&t.s->a.qp, 1000);
	xfer_put(&t, IB_WR_RDMA_WRITE, 60 * 1024);
	xfers_run_check(&t);
	CHECK(req->cwnd.min_rtt && req->rtt.srtt);
	CHECK(sroce_cwnd(&req->cwnd) > SROCE_CWND_INIT);
	req->retrans.gap_policy = SROCE_GAP_KEEPS;
	req->retrans.gap_dist = 1;
	req->retrans.batch = 2 * SROCE_RETRANS_BATCH_MIN;
	req->pace_at = 1;
	sroce_reset_path(&t.s->a.qp);
	CHECK_EQ(sroce_cwnd(&req->cwnd), cc ? SROCE_CWND_INIT : SROCE_CWND_MAX);
	CHECK_EQ(req->quota, SROCE_CWND_INIT);
	CHECK_EQ(req->cwnd.min_rtt, 0);
	CHECK_EQ(req->rtt.srtt, 0);
	CHECK_EQ(req->pace_at, 0);
	CHECK_EQ(req->retrans.gap_dist, SROCE_GAP_DIST_MAX);
	CHECK_EQ(req->retrans.batch, SROCE_RETRANS_BATCH_MIN);
	CHECK_EQ(req->retrans.gap_policy, SROCE_GAP_KEEPS);
	CHECK_EQ(req->psn, 1060);

	t_case("reset: the next request is the first that measures it");
	t.off = 100000;
	xfer_put(&t, IB_WR_RDMA_WRITE, 60 * 1024);
	xfers_run_check(&t);
	CHECK(req->cwnd.min_rtt && req->rtt.srtt);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 0);
	xfers_end(&t);
}

UNIT_TESTS(reset)
{
	reset();
	new_psn();
	only_sq();
	new_path(true);
	new_path(false);
}
