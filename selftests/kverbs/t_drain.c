// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* ib_drain_*(): all that was posted has completed when they return. */

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "kverbs.h"

#define POSTED	24

struct count {
	struct ib_cqe cqe;
	atomic_t n;
	atomic_t flushed;
};

static void done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct count *c = container_of(wc->wr_cqe, struct count, cqe);

	if (wc->status == IB_WC_WR_FLUSH_ERR)
		atomic_inc(&c->flushed);
	atomic_inc(&c->n);
}

struct stage {
	struct kv_qp *a, *b;
	struct count sends, recvs;
	void *buf;
};

static struct stage *stage(struct kv *kv, enum ib_poll_context poll,
			   bool connect)
{
	struct stage *s = kv_buf(kv, sizeof(*s));
	struct kv_opts opts = {};

	if (!s)
		return NULL;
	s->sends.cqe.done = done;
	s->recvs.cqe.done = done;
	s->buf = kv_buf(kv, 65536);
	opts.cq = kv_api_cq(kv, 0, 256, poll);
	if (!s->buf || !opts.cq)
		return NULL;
	s->a = kv_qp(kv, 0, &opts);
	opts.cq = kv_api_cq(kv, 1, 256, poll);
	if (!s->a || !opts.cq)
		return NULL;
	s->b = kv_qp(kv, 1, &opts);
	if (!s->b || (connect && kv_connect(kv, s->a, s->b)))
		return NULL;
	return s;
}

static int post_sends(struct kv *kv, struct stage *s, u32 len)
{
	int i;

	for (i = 0; i < POSTED; i++)
		KV_TRY(kv_post_send(kv, s->a, &s->sends.cqe, s->buf, len));
	return 0;
}

static int post_recvs(struct kv *kv, struct stage *s, int n)
{
	while (n--)
		KV_TRY(kv_post_recv(kv, s->b, &s->recvs.cqe, s->buf, 65536));
	return 0;
}

/* Nobody answers: there are no receives. */
static int sq_in(struct kv *kv, enum ib_poll_context poll)
{
	struct stage *s;

	KV_GET(s, stage(kv, poll, true));
	KV_TRY(post_sends(kv, s, 32768));
	ib_drain_sq(s->a->qp);
	KV_IS(kv, atomic_read(&s->sends.n), POSTED);
	KV_IS(kv, atomic_read(&s->sends.flushed), POSTED);
	KV_IS(kv, kv_state(s->a), IB_QPS_ERR);
	return 0;
}

static int sq(struct kv *kv)
{
	return sq_in(kv, IB_POLL_SOFTIRQ);
}

static int sq_direct(struct kv *kv)
{
	return sq_in(kv, IB_POLL_DIRECT);
}

static int rq_in(struct kv *kv, enum ib_poll_context poll)
{
	struct stage *s;

	KV_GET(s, stage(kv, poll, true));
	KV_TRY(post_recvs(kv, s, POSTED));
	ib_drain_rq(s->b->qp);
	KV_IS(kv, atomic_read(&s->recvs.n), POSTED);
	KV_IS(kv, atomic_read(&s->recvs.flushed), POSTED);
	return 0;
}

static int rq(struct kv *kv)
{
	return rq_in(kv, IB_POLL_WORKQUEUE);
}

static int rq_direct(struct kv *kv)
{
	return rq_in(kv, IB_POLL_DIRECT);
}

static int both_in(struct kv *kv, enum ib_poll_context poll)
{
	struct stage *s;

	KV_GET(s, stage(kv, poll, true));
	KV_TRY(post_recvs(kv, s, POSTED + 8));
	KV_TRY(post_sends(kv, s, 16384));
	/* somewhere in the middle of it */
	usleep_range(100, 2000);
	ib_drain_qp(s->a->qp);
	KV_IS(kv, atomic_read(&s->sends.n), POSTED);
	ib_drain_qp(s->b->qp);
	KV_IS(kv, atomic_read(&s->recvs.n), POSTED + 8);
	return 0;
}

static int both(struct kv *kv)
{
	return both_in(kv, IB_POLL_SOFTIRQ);
}

static int both_workqueue(struct kv *kv)
{
	return both_in(kv, IB_POLL_UNBOUND_WORKQUEUE);
}

static int in_error(struct kv *kv)
{
	struct stage *s;

	KV_GET(s, stage(kv, IB_POLL_SOFTIRQ, true));
	KV_TRY(post_recvs(kv, s, POSTED));
	KV_IS(kv, kv_to(s->b, IB_QPS_ERR), 0);
	KV_TRY(post_recvs(kv, s, 4));
	ib_drain_qp(s->b->qp);
	KV_IS(kv, atomic_read(&s->recvs.flushed), POSTED + 4);
	/* and again */
	ib_drain_qp(s->b->qp);
	return 0;
}

/* A connection that never was: ULPs drain what they have only set up. */
static int in_init(struct kv *kv)
{
	struct stage *s;

	KV_GET(s, stage(kv, IB_POLL_SOFTIRQ, false));
	KV_TRY(kv_init(kv, s->b));
	KV_TRY(post_recvs(kv, s, POSTED));
	ib_drain_qp(s->b->qp);
	KV_IS(kv, atomic_read(&s->recvs.flushed), POSTED);
	return 0;
}

/* The same QP, connected anew after a drain and RESET */
static int reused(struct kv *kv)
{
	struct stage *s;
	int i;

	KV_GET(s, stage(kv, IB_POLL_SOFTIRQ, true));
	for (i = 1; i <= 3; i++) {
		KV_TRY(post_recvs(kv, s, POSTED));
		KV_TRY(post_sends(kv, s, 4096));
		ib_drain_qp(s->a->qp);
		ib_drain_qp(s->b->qp);
		KV_IS(kv, atomic_read(&s->sends.n), i * POSTED);
		KV_IS(kv, atomic_read(&s->recvs.n), i * POSTED);
		KV_IS(kv, kv_to(s->a, IB_QPS_RESET), 0);
		KV_IS(kv, kv_to(s->b, IB_QPS_RESET), 0);
		KV_TRY(kv_connect(kv, s->a, s->b));
	}
	return 0;
}

/* The core posts a WRITE to drain a send queue, which a UD QP can't execute. */
static int ud(struct kv *kv)
{
	struct ib_rdma_wr write = { .wr.opcode = IB_WR_RDMA_WRITE, .wr.wr_id = 7 };
	struct kv_opts opts = { .type = IB_QPT_UD };
	struct kv_qp *q;
	struct ib_wc wc;

	KV_GET(q, kv_qp(kv, 0, &opts));
	KV_TRY(kv_init(kv, q));
	KV_TRY(kv_rtr(kv, q, q, 7));
	KV_IS(kv, ib_post_send(q->qp, &write.wr, NULL), -EINVAL);
	KV_IS(kv, kv_to(q, IB_QPS_ERR), 0);
	KV_IS(kv, ib_post_send(q->qp, &write.wr, NULL), 0);
	KV_TRY(kv_wait(kv, q->scq, &wc));
	KV_IS(kv, wc.wr_id, 7);
	KV_IS(kv, wc.status, IB_WC_WR_FLUSH_ERR);
	KV_GET(opts.cq, kv_api_cq(kv, 0, 64, IB_POLL_SOFTIRQ));
	KV_GET(q, kv_qp(kv, 0, &opts));
	KV_TRY(kv_init(kv, q));
	KV_TRY(kv_rtr(kv, q, q, 7));
	ib_drain_qp(q->qp);
	KV_IS(kv, kv_state(q), IB_QPS_ERR);
	return 0;
}

KV_CASES(drain) = {
	{ "drain: a send queue that nobody answers", sq },
	{ "drain: a send queue, polled by the consumer", sq_direct },
	{ "drain: a receive queue", rq },
	{ "drain: a receive queue, polled by the consumer", rq_direct },
	{ "drain: both queues with traffic, in softirqs", both },
	{ "drain: both queues with traffic, from work queues",
	  both_workqueue },
	{ "drain: in the error state", in_error },
	{ "drain: in INIT", in_init },
	{ "drain: a QP is used again afterwards", reused },
	{ "drain: a UD QP", ud },
	{ }
};
