// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* CQs that the core polls: directly, in softirqs, from work queues. */

#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "kverbs.h"

#define MESSAGES	150
#define AT_ONCE		30

/**
 * struct tally - what done() has seen
 * @cqe: where completions lead
 * @n: how many
 * @bad: those with an error
 * @softirq: those in a softirq
 * @worker: those in a work queue
 * @task: those in the thread that runs the case
 * @who: that thread
 */
struct tally {
	struct ib_cqe		cqe;
	atomic_t		n;
	atomic_t		bad;
	atomic_t		softirq;
	atomic_t		worker;
	atomic_t		task;
	struct task_struct	*who;
};

static void done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct tally *t = container_of(wc->wr_cqe, struct tally, cqe);

	if (wc->status != IB_WC_SUCCESS)
		atomic_inc(&t->bad);
	if (in_serving_softirq())
		atomic_inc(&t->softirq);
	else if (current == t->who)
		atomic_inc(&t->task);
	else if (current->flags & PF_WQ_WORKER)
		atomic_inc(&t->worker);
	atomic_inc(&t->n);
}

struct stage {
	struct ib_cq *cq[2];
	struct tally sends;
	struct tally recvs;
	int want;
};

static bool all_done(void *arg)
{
	struct stage *s = arg;

	if (s->cq[0]->poll_ctx == IB_POLL_DIRECT) {
		ib_process_cq_direct(s->cq[0], -1);
		ib_process_cq_direct(s->cq[1], -1);
	}
	return atomic_read(&s->sends.n) == s->want &&
	       atomic_read(&s->recvs.n) == s->want;
}

static int exchange(struct kv *kv, struct kv_qp *a, struct kv_qp *b,
		    struct stage *s, u8 *buf)
{
	int i;

	while (s->want < MESSAGES) {
		for (i = 0; i < AT_ONCE; i++, s->want++) {
			KV_TRY(kv_post_recv(kv, b, &s->recvs.cqe, buf, 64));
			KV_TRY(kv_post_send(kv, a, &s->sends.cqe, buf, 8));
		}
		KV_EXPECT(kv, kv_becomes(all_done, s), "%d and %d of %d",
			  atomic_read(&s->sends.n), atomic_read(&s->recvs.n),
			  s->want);
	}
	KV_IS(kv, atomic_read(&s->sends.bad), 0);
	KV_IS(kv, atomic_read(&s->recvs.bad), 0);
	return 0;
}

static int run_on(struct kv *kv, struct stage *s)
{
	struct kv_opts opts = {};
	struct kv_qp *q[2];
	void *buf;
	int i;

	for (i = 0; i < 2; i++) {
		opts.cq = s->cq[i];
		KV_GET(q[i], kv_qp(kv, i, &opts));
	}
	KV_TRY(kv_connect(kv, q[0], q[1]));
	KV_GET(buf, kv_buf(kv, 64));
	return exchange(kv, q[0], q[1], s, buf);
}

static struct stage *stage(struct kv *kv)
{
	struct stage *s = kv_buf(kv, sizeof(*s));

	if (!s)
		return NULL;
	s->sends.cqe.done = done;
	s->sends.who = current;
	s->recvs.cqe.done = done;
	s->recvs.who = current;
	return s;
}

static int run_in(struct kv *kv, enum ib_poll_context poll, struct stage **s)
{
	int i;

	KV_GET(*s, stage(kv));
	for (i = 0; i < 2; i++)
		KV_GET((*s)->cq[i], kv_api_cq(kv, i, 256, poll));
	return run_on(kv, *s);
}

static int direct(struct kv *kv)
{
	struct stage *s;

	KV_TRY(run_in(kv, IB_POLL_DIRECT, &s));
	KV_IS(kv, atomic_read(&s->recvs.task), MESSAGES);
	return 0;
}

static int softirq(struct kv *kv)
{
	struct stage *s;

	KV_TRY(run_in(kv, IB_POLL_SOFTIRQ, &s));
	KV_IS(kv, atomic_read(&s->recvs.softirq), MESSAGES);
	return 0;
}

static int workqueue(struct kv *kv)
{
	struct stage *s;

	KV_TRY(run_in(kv, IB_POLL_WORKQUEUE, &s));
	KV_IS(kv, atomic_read(&s->recvs.worker), MESSAGES);
	return 0;
}

static int unbound(struct kv *kv)
{
	struct stage *s;

	KV_TRY(run_in(kv, IB_POLL_UNBOUND_WORKQUEUE, &s));
	KV_IS(kv, atomic_read(&s->recvs.worker), MESSAGES);
	return 0;
}

static void undo_cq(void *arg)
{
	ib_free_cq(arg);
}

static int any_vector(struct kv *kv)
{
	struct stage *s;
	int i;

	KV_IS(kv, kv->dev[0]->num_comp_vectors, num_possible_cpus());
	KV_GET(s, stage(kv));
	for (i = 0; i < 2; i++) {
		s->cq[i] = ib_alloc_cq_any(kv->dev[i], NULL, 128,
					   IB_POLL_SOFTIRQ);
		KV_EXPECT(kv, !IS_ERR(s->cq[i]), "%ld", PTR_ERR(s->cq[i]));
		kv_later(kv, undo_cq, s->cq[i]);
		KV_EXPECT(kv, s->cq[i]->cqe >= 128, "%d", s->cq[i]->cqe);
	}
	return run_on(kv, s);
}

static void undo_pooled(void *arg)
{
	ib_cq_pool_put(arg, 100);
}

static int from_the_pool(struct kv *kv)
{
	struct stage *s;
	int i;

	KV_GET(s, stage(kv));
	for (i = 0; i < 2; i++) {
		s->cq[i] = ib_cq_pool_get(kv->dev[i], 100, -1,
					  IB_POLL_WORKQUEUE);
		KV_EXPECT(kv, !IS_ERR(s->cq[i]), "%ld", PTR_ERR(s->cq[i]));
		kv_later(kv, undo_pooled, s->cq[i]);
	}
	return run_on(kv, s);
}

static int bad_sizes(struct kv *kv)
{
	struct ib_device *dev = kv->dev[0];
	struct ib_cq *cq;

	cq = ib_alloc_cq(dev, NULL, dev->attrs.max_cqe + 1, 0, IB_POLL_DIRECT);
	KV_EXPECT(kv, IS_ERR(cq), "more than max_cqe");
	cq = ib_alloc_cq(dev, NULL, 16, dev->num_comp_vectors, IB_POLL_DIRECT);
	KV_EXPECT(kv, IS_ERR(cq), "no such vector");
	cq = ib_alloc_cq(dev, NULL, 0, 0, IB_POLL_DIRECT);
	KV_EXPECT(kv, IS_ERR(cq), "no entries");
	return 0;
}

KV_CASES(modes) = {
	{ "modes: polled by the consumer", direct },
	{ "modes: polled in softirqs", softirq },
	{ "modes: polled from a work queue", workqueue },
	{ "modes: polled from an unbound work queue", unbound },
	{ "modes: a CQ on any vector", any_vector },
	{ "modes: a CQ from the device's pool", from_the_pool },
	{ "modes: no CQ without entries, of too many, on no vector",
	  bad_sizes },
	{ }
};
