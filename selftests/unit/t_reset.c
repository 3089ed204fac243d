// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A QP that begins again */

#include "tests.h"
#include "xfer.h"

/* Everything again from RESET, with READs left queued by an error */
static void reset(void)
{
	struct xfers t;
	u32 i, seen;

	t_case("reset: work is dropped without completions, and the QP works again");
	xfers_init(&t, NULL, 800000, 4096);
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
	/* packets of the life before meet a QP that is not listening */
	sim_run(t.s);
	for (i = 0; i < 2; i++) {
		struct sroce_kqp *kqp = i ? &t.s->b : &t.s->a;

		sim_enter(kqp, IB_QPS_INIT);
		sim_enter(kqp, IB_QPS_RTR);
		sim_enter(kqp, IB_QPS_RTS);
		kqp->scq.n = 0;
		kqp->rcq.n = 0;
	}
	t.n = 0;
	t.off = 650000;
	for (i = 0; i < 8; i++)
		xfer_put(&t, xfer_rc_ops[i], 3000);
	xfers_run_check(&t);
	xfers_end(&t);
}

UNIT_TESTS(reset)
{
	reset();
}
