// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completions of send work requests, error states, and what is flushed */

#include <stdlib.h>
#include "tests.h"
#include "xfer.h"

static void bad_local(u32 opcode, u32 which)
{
	struct sim_wr wr;
	struct xfers t;

	t_where("%s, entry %u", xfer_name(opcode), which);
	xfers_init(&t, NULL, 65536, 4096);
	xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
	xfer_put(&t, IB_WR_RDMA_READ, 3000);
	xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
	wr = xfer_make(&t, opcode, 5000);
	wr.sge[which].lkey ^= 1;
	if (xfer_recvs(opcode))
		xfer_recv(&t, 3);
	sim_put_send(&t.s->a, &wr);
	xfers_put_writes(&t, 3);
	xfers_run(&t);
	xfers_check_failed(&t, 3, IB_WC_LOC_PROT_ERR);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_end(&t);
}

static void bad_locals(void)
{
	u32 i, k;

	t_case("flush: a bad local key fails its own work request, not those before");
	/* all but a FLUSH, which has none */
	for (i = 0; xfer_rc_ops[i] != SROCE_WR_FLUSH; i++)
		for (k = 0; k < 3; k++)
			bad_local(xfer_rc_ops[i], k);
}

static void cq_overflow(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i;

	t_case("flush: a CQ that overflows takes its QP to the error state");
	cfg.cqe = 4;
	xfers_init(&t, &cfg, 65536, 4096);
	for (i = 0; i < 10; i++)
		xfer_put(&t, IB_WR_SEND, 1500);
	xfers_run(&t);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
	CHECK_EQ(t.s->b.rcq.n, 4);
	CHECK(t.s->b.events & BIT(IB_EVENT_QP_FATAL));
	xfers_end(&t);
}

static void error(void)
{
	struct xfers t;
	u32 i;

	t_case("flush: ERR flushes both queues in order, and later work");
	xfers_init(&t, NULL, 800000, 4096);
	xfers_put_each(&t, 90000);
	sim_doorbell(&t.s->a);
	sim_enter(&t.s->a, IB_QPS_ERR);
	sim_enter(&t.s->b, IB_QPS_ERR);
	CHECK_EQ(t.s->a.scq.n, 8);
	CHECK_EQ(t.s->b.rcq.n, 4);
	xfer_put(&t, IB_WR_SEND, 10);
	sim_doorbell(&t.s->a);
	sim_doorbell(&t.s->b);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 9);
	CHECK_EQ(t.s->b.rcq.n, 5);
	for (i = 0; i < 9 && i < t.s->a.scq.n; i++) {
		CHECK_EQ(t.s->a.scq.e[i].wr_id, i);
		CHECK_EQ(t.s->a.scq.e[i].status, IB_WC_WR_FLUSH_ERR);
	}
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_WC_FLUSH), 9);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_WC_FLUSH), 5);
	xfers_end(&t);
}

/* A local error ends in SQE; a transition to RTS resumes sending. */
static void sqe(enum ib_qp_type type)
{
	struct sim_wr wr;
	struct xfers t;

	t_case("flush: %s, a local error ends in SQE, receiving goes on",
	       xfer_type_name(type));
	xfers_init_type(&t, type);
	wr = xfer_make(&t, IB_WR_SEND, 700);
	wr.sge[1].lkey ^= 1;
	sim_put_send(&t.s->a, &wr);
	wr = xfer_make(&t, IB_WR_SEND, 700);
	sim_put_send(&t.s->a, &wr);
	xfers_run(&t);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_SQE);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_LOC_PROT_ERR);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_WR_FLUSH_ERR);
	CHECK(sroce_qp_may_receive(&t.s->a.qp));
	sim_enter(&t.s->a, IB_QPS_RTS);
	xfer_put(&t, IB_WR_SEND, 700);
	xfers_run(&t);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[2].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->b.rcq.n, 1);
	CHECK_EQ(t.s->b.rcq.e[0].wr_id, 1002);
	xfers_end(&t);
}

/* A user process refills a ring as fast as it is flushed. */
struct refill {
	struct sroce_kqp	*kqp;
	u32			posts;
};

static void refill(struct sim *s, struct sroce_qp *qp,
		   const struct sroce_cqe *cqe)
{
	struct refill *f = s->arg;

	(void)qp;
	(void)cqe;
	if (f->posts++ > 100000)
		return;
	f->kqp->qp.sq.ring.buf->producer_index++;
	f->kqp->qp.rq.ring.buf->producer_index++;
}

static void endless(void)
{
	struct refill f = { 0 };
	struct sim *s = sim_new(NULL);

	t_case("flush: a ring refilled while it is flushed does not hold the CPU");
	f.kqp = &s->a;
	s->posted = refill;
	s->arg = &f;
	s->a.qp.sq.ring.buf->producer_index = 5;
	s->a.qp.rq.ring.buf->producer_index = 5;
	sroce_flush_qp_error(&s->a.qp);
	/* each queue is flushed a bounded number of times */
	CHECK(f.posts <= 4 * s->cfg.slots);
	s->posted = NULL;
	sim_end(s);
}

/* More send work requests than are flushed at a time */
#define DEEP	1000U

static void deep_post(struct xfers *t, struct sim_wr *wr, u32 n)
{
	for (; n; n--) {
		sim_put_send(&t->s->a, wr);
		wr->wr_id++;
	}
	sim_doorbell(&t->s->a);
}

static struct sim_wr deep_init(struct xfers *t)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;

	cfg.slots = 2048;
	cfg.cqe = 4096;
	xfers_init(t, &cfg, 65536, 4096);
	wr = xfer_make(t, IB_WR_RDMA_WRITE, 10);
	deep_post(t, &wr, DEEP);
	return wr;
}

static void deep(void)
{
	struct sroce_cq *cq;
	struct sim_wr wr;
	struct xfers t;
	u32 i, before;

	t_case("flush: a long send queue in batches, in order, each once");
	wr = deep_init(&t);
	cq = &t.s->a.scq;
	before = cq->n;
	sim_enter(&t.s->a, IB_QPS_ERR);
	CHECK_EQ(cq->n, before + SROCE_FLUSH_BATCH);
	CHECK(t.s->a.qp.sq.flushing);
	/* posted meanwhile, so that one is behind all others */
	deep_post(&t, &wr, 1);
	CHECK_EQ(cq->n, before + 2 * SROCE_FLUSH_BATCH);
	sim_run(t.s);
	CHECK(!t.s->a.qp.sq.flushing);
	CHECK_EQ(cq->n, DEEP + 1);
	for (i = 0; i < cq->n; i++) {
		CHECK_EQ(cq->e[i].wr_id, i);
		CHECK_EQ(cq->e[i].status, i < before ? IB_WC_SUCCESS : IB_WC_WR_FLUSH_ERR);
	}
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_WC_FLUSH), DEEP + 1 - before);
	xfers_end(&t);
}

/* What is left when the QP is reset is dropped, and the next life begins with nothing. */
static void deep_reset(void)
{
	struct xfers t;
	u32 n;

	t_case("flush: RESET of a send queue that is flushed in part");
	deep_init(&t);
	sim_enter(&t.s->a, IB_QPS_ERR);
	n = t.s->a.scq.n;
	sim_enter(&t.s->a, IB_QPS_RESET);
	CHECK(!t.s->a.qp.sq.flushing);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, n);
	CHECK_EQ(sroce_ring_filled(&t.s->a.qp.sq.ring), 0);
	xfers_end(&t);
}

UNIT_TESTS(flush)
{
	bad_locals();
	cq_overflow();
	error();
	sqe(IB_QPT_UC);
	sqe(IB_QPT_UD);
	endless();
	deep();
	deep_reset();
}
