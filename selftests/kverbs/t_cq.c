// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* CQs with a handler: when it is called, from where, and what it may do. */

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "kverbs.h"

/**
 * struct watch - what a handler has seen
 * @kv: the run
 * @calls: how often it was called
 * @inside: how many are in it now
 * @most: how many there were at a time
 * @direct: calls from within a verb of the thread that runs the case
 * @within: calls while that thread posted, in its context
 * @done: completions that it has polled
 * @bad: those with an error
 * @task: the thread that runs the case
 * @posting: it is in ib_post_send()
 * @work: what it does, or NULL
 * @q: the sender, and whose completions go to the handler
 * @cq: with the handler
 * @left: for @work
 * @buf: what is sent and received
 */
struct watch {
	struct kv		*kv;
	atomic_t		calls;
	atomic_t		inside;
	atomic_t		most;
	atomic_t		direct;
	atomic_t		within;
	atomic_t		done;
	atomic_t		bad;
	struct task_struct	*task;
	bool			posting;
	void			(*work)(struct watch *w, struct ib_cq *cq);
	struct kv_qp		*q[2];
	struct ib_cq		*cq;
	int			left;
	void			*buf;
};

static void handler(struct ib_cq *cq, void *ctx)
{
	struct watch *w = ctx;
	int now = atomic_inc_return(&w->inside);

	if (now > atomic_read(&w->most))
		atomic_set(&w->most, now);
	atomic_inc(&w->calls);
	if (current == w->task && !in_serving_softirq() && !in_hardirq())
		atomic_inc(&w->direct);
	if (current == w->task && READ_ONCE(w->posting))
		atomic_inc(&w->within);
	if (w->work)
		w->work(w, cq);
	atomic_dec(&w->inside);
}

static struct watch *watch(struct kv *kv)
{
	struct watch *w = kv_buf(kv, sizeof(*w));

	if (!w)
		return NULL;
	w->kv = kv;
	w->task = current;
	return w;
}

static bool called(void *arg)
{
	return atomic_read(&((struct watch *)arg)->calls);
}

static int send_flags(struct kv *kv, struct kv_qp *q, void *buf, int flags)
{
	struct ib_sge sge = { (uintptr_t)buf, 8, q->pd->local_dma_lkey };
	struct ib_send_wr wr = kv_send_wr(&sge);

	wr.wr_id = 0x5e4d;
	wr.send_flags |= flags;
	KV_IS(kv, kv_do(kv, q, &wr), IB_WC_SUCCESS);
	return 0;
}

/*
 * Two connected QPs: w->q[0] sends, the completions of w->q[1] go to @w->cq,
 * which has the handler. It has @recvs receives into w->buf.
 */
static int watched(struct kv *kv, struct watch *w, int recvs)
{
	struct kv_opts opts = {};

	KV_GET(w->q[0], kv_qp(kv, 0, &opts));
	KV_GET(w->cq, kv_cq(kv, 1, 256, handler, w));
	opts.cq = w->cq;
	KV_GET(w->q[1], kv_qp(kv, 1, &opts));
	KV_TRY(kv_connect(kv, w->q[0], w->q[1]));
	KV_GET(w->buf, kv_buf(kv, 64));
	while (recvs--)
		KV_TRY(kv_recv(kv, w->q[1], w->buf, 64));
	return 0;
}

/* A message from the sender to the QP that is watched */
static int message(struct kv *kv, struct watch *w, int flags)
{
	return send_flags(kv, w->q[0], w->buf, flags);
}

static int once_per_arm(struct kv *kv)
{
	struct ib_wc wc[8];
	struct watch *w;
	int i;

	KV_GET(w, watch(kv));
	KV_TRY(watched(kv, w, 6));
	KV_TRY(message(kv, w, 0));
	msleep(KV_QUIET_MS);
	KV_IS(kv, atomic_read(&w->calls), 0);

	/* what is there already makes no call */
	KV_IS(kv, ib_req_notify_cq(w->cq, IB_CQ_NEXT_COMP), 0);
	msleep(KV_QUIET_MS);
	KV_IS(kv, atomic_read(&w->calls), 0);

	for (i = 0; i < 3; i++)
		KV_TRY(message(kv, w, 0));
	KV_EXPECT(kv, kv_becomes(called, w), "no call");
	msleep(KV_QUIET_MS);
	KV_IS(kv, atomic_read(&w->calls), 1);
	KV_IS(kv, ib_poll_cq(w->cq, 8, wc), 4);
	return 0;
}

static int missed(struct kv *kv)
{
	const int how = IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS;
	struct ib_wc wc[8];
	struct watch *w;

	KV_GET(w, watch(kv));
	KV_TRY(watched(kv, w, 2));
	KV_IS(kv, ib_req_notify_cq(w->cq, how), 0);
	KV_TRY(message(kv, w, 0));
	KV_EXPECT(kv, kv_becomes(called, w), "no call");
	KV_EXPECT(kv, ib_req_notify_cq(w->cq, how) > 0, "an entry is there");
	KV_IS(kv, ib_poll_cq(w->cq, 8, wc), 1);
	KV_IS(kv, ib_req_notify_cq(w->cq, how), 0);
	KV_TRY(message(kv, w, 0));
	KV_EXPECT(kv, kv_becomes(called, w), "no call");
	return 0;
}

/* Armed for any completion by @how, it stays so when less is asked for. */
static int stays_armed(struct kv *kv, struct watch *w, enum ib_cq_notify_flags how)
{
	atomic_set(&w->calls, 0);
	KV_IS(kv, ib_req_notify_cq(w->cq, how), 0);
	KV_IS(kv, ib_req_notify_cq(w->cq, IB_CQ_SOLICITED), 0);
	KV_TRY(message(kv, w, 0));
	KV_EXPECT(kv, kv_becomes(called, w), "no call");
	return 0;
}

static int solicited(struct kv *kv)
{
	struct watch *w;

	KV_GET(w, watch(kv));
	KV_TRY(watched(kv, w, 8));
	KV_IS(kv, ib_req_notify_cq(w->cq, IB_CQ_SOLICITED), 0);
	KV_TRY(message(kv, w, 0));
	KV_TRY(message(kv, w, 0));
	msleep(KV_QUIET_MS);
	KV_IS(kv, atomic_read(&w->calls), 0);
	KV_TRY(message(kv, w, IB_SEND_SOLICITED));
	KV_EXPECT(kv, kv_becomes(called, w), "no call");
	KV_TRY(stays_armed(kv, w, IB_CQ_NEXT_COMP));
	/* an error counts as solicited */
	atomic_set(&w->calls, 0);
	KV_IS(kv, ib_req_notify_cq(w->cq, IB_CQ_SOLICITED), 0);
	KV_IS(kv, kv_to(w->q[1], IB_QPS_ERR), 0);
	KV_EXPECT(kv, kv_becomes(called, w), "no call");
	return 0;
}

/* net/smc arms with the mask that has both bits, and means any completion. */
static int both_bits(struct kv *kv)
{
	struct watch *w;

	KV_GET(w, watch(kv));
	KV_TRY(watched(kv, w, 2));
	KV_IS(kv, ib_req_notify_cq(w->cq, IB_CQ_SOLICITED_MASK), 0);
	KV_TRY(message(kv, w, 0));
	KV_EXPECT(kv, kv_becomes(called, w), "no call");
	return stays_armed(kv, w, IB_CQ_SOLICITED_MASK);
}

/* Poll until there is nothing, arm, and look again, as consumers do. */
static void drain(struct watch *w, struct ib_cq *cq,
		  void (*each)(struct watch *w, struct ib_wc *wc))
{
	struct ib_wc wc;

	do {
		while (ib_poll_cq(cq, 1, &wc) > 0) {
			if (wc.status != IB_WC_SUCCESS)
				atomic_inc(&w->bad);
			else if (each)
				each(w, &wc);
			atomic_inc(&w->done);
		}
	} while (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				  IB_CQ_REPORT_MISSED_EVENTS) > 0);
}

/* Each message makes the next, the other way, all within handlers. */
static void pong(struct watch *w, struct ib_wc *wc)
{
	struct kv_qp *q = wc->qp == w->q[0]->qp ? w->q[0] : w->q[1];
	struct ib_sge sge = { (uintptr_t)w->buf, 8, q->pd->local_dma_lkey };
	struct ib_recv_wr rwr = { .sg_list = &sge, .num_sge = 1 };
	struct ib_send_wr wr = kv_send_wr(&sge);

	if (wc->opcode != IB_WC_RECV)
		return;
	if (ib_post_recv(q->qp, &rwr, NULL))
		atomic_inc(&w->bad);
	if (w->left-- > 0 && ib_post_send(q->qp, &wr, NULL))
		atomic_inc(&w->bad);
}

static void pong_work(struct watch *w, struct ib_cq *cq)
{
	drain(w, cq, pong);
}

static bool all_played(void *arg)
{
	struct watch *w = arg;

	/* 201 sends and as many receives */
	return atomic_read(&w->done) == 402;
}

static int rearm_inside(struct kv *kv)
{
	struct ib_sge sge = { .length = 8 };
	struct ib_send_wr wr = kv_send_wr(&sge);
	struct kv_opts opts = {};
	struct watch *w;
	int i;

	KV_GET(w, watch(kv));
	w->work = pong_work;
	KV_GET(w->buf, kv_buf(kv, 64));
	/* two devices have two CQs; then they share what handlers count */
	for (i = 0; i < 2; i++) {
		KV_GET(opts.cq, kv_cq(kv, i, 64, handler, w));
		KV_GET(w->q[i], kv_qp(kv, i, &opts));
		KV_IS(kv, ib_req_notify_cq(opts.cq, IB_CQ_NEXT_COMP), 0);
	}
	KV_TRY(kv_connect(kv, w->q[0], w->q[1]));
	for (i = 0; i < 4; i++)
		KV_TRY(kv_recv(kv, w->q[i & 1], w->buf, 64));
	w->left = 200;
	sge.addr = (uintptr_t)w->buf;
	sge.lkey = w->q[0]->pd->local_dma_lkey;
	KV_TRY(kv_post(kv, w->q[0], &wr));
	KV_EXPECT(kv, kv_becomes(all_played, w), "%d done, %d left",
		  atomic_read(&w->done), w->left);
	KV_IS(kv, atomic_read(&w->bad), 0);
	return 0;
}

/* The CQ is armed at once, so that completions come while this one works. */
static void linger(struct watch *w, struct ib_cq *cq)
{
	struct ib_wc wc;
	int i;

	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	for (i = 0; i < 20; i++) {
		udelay(50);
		cpu_relax();
	}
	do {
		while (ib_poll_cq(cq, 1, &wc) > 0)
			atomic_inc(&w->done);
	} while (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				  IB_CQ_REPORT_MISSED_EVENTS) > 0);
}

struct flood {
	struct kv_qp *q;
	void *buf;
	int n;
	int err;
};

static int flood_fn(void *arg)
{
	struct flood *f = arg;
	struct ib_sge sge = { (uintptr_t)f->buf, 8, f->q->pd->local_dma_lkey };
	struct ib_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
	};
	int i;

	for (i = 0; i < f->n && !f->err; i++) {
		f->err = ib_post_send(f->q->qp, &wr, NULL);
		usleep_range(20, 300);
	}
	while (!kthread_should_stop())
		usleep_range(100, 500);
	return 0;
}

#define FLOOD	60

static bool flooded(void *arg)
{
	struct watch *w = arg;

	return atomic_read(&w->done) == 2 * FLOOD;
}

/*
 * Documentation/infiniband/core_locking.rst: only one handler of a CQ at a time,
 * whoever's completions they are.
 */
static int one_at_a_time(struct kv *kv)
{
	struct task_struct *task[2] = {};
	struct kv_opts opts = {}, shared = {};
	struct flood f[2] = {};
	struct kv_qp *b[2];
	struct watch *w;
	int i, j, ret = 0;

	KV_SKIP_IF(kv, num_online_cpus() < 2, "one CPU only");
	KV_GET(w, watch(kv));
	w->work = linger;
	KV_GET(w->buf, kv_buf(kv, 64));
	KV_GET(shared.cq, kv_cq(kv, 1, 1024, handler, w));
	for (i = 0; i < 2; i++) {
		KV_GET(f[i].q, kv_qp(kv, 0, &opts));
		KV_GET(b[i], kv_qp(kv, 1, &shared));
		KV_TRY(kv_connect(kv, f[i].q, b[i]));
		for (j = 0; j < FLOOD; j++)
			KV_TRY(kv_recv(kv, b[i], w->buf, 64));
		f[i].buf = w->buf;
		f[i].n = FLOOD;
	}
	KV_IS(kv, ib_req_notify_cq(shared.cq, IB_CQ_NEXT_COMP), 0);
	for (i = 0; i < 2; i++) {
		task[i] = kthread_create(flood_fn, &f[i], "kverbs/%d", i);
		if (IS_ERR(task[i])) {
			task[i] = NULL;
			ret = KV_FAIL(kv, "no thread");
			break;
		}
		kthread_bind(task[i], i ? cpumask_last(cpu_online_mask) :
					  cpumask_first(cpu_online_mask));
		wake_up_process(task[i]);
	}
	if (!ret && !kv_becomes(flooded, w))
		ret = KV_FAIL(kv, "%d of %d came", atomic_read(&w->done),
			      2 * FLOOD);
	for (i = 0; i < 2; i++)
		if (task[i])
			kthread_stop(task[i]);
	KV_TRY(ret);
	KV_IS(kv, f[0].err, 0);
	KV_IS(kv, f[1].err, 0);
	KV_IS(kv, atomic_read(&w->most), 1);
	return 0;
}

/* The same document: no handler from within a verb. */
static int not_from_a_verb(struct kv *kv)
{
	struct watch *w;
	int i;

	KV_GET(w, watch(kv));
	w->work = pong_work;
	KV_TRY(watched(kv, w, 10));
	KV_IS(kv, ib_req_notify_cq(w->cq, IB_CQ_NEXT_COMP), 0);
	KV_IS(kv, kv_to(w->q[1], IB_QPS_ERR), 0);
	KV_EXPECT(kv, kv_becomes(called, w), "no call");
	KV_TRY(kv_recv(kv, w->q[1], w->buf, 64));
	for (i = 0; i < 20; i++) {
		KV_IS(kv, kv_state(w->q[1]), IB_QPS_ERR);
		usleep_range(100, 1000);
	}
	KV_IS(kv, atomic_read(&w->done), 11);
	KV_IS(kv, atomic_read(&w->bad), 11);
	KV_IS(kv, atomic_read(&w->direct), 0);
	return 0;
}

/* A message to the QP that is watched, whose handler notes whether it runs within the post */
static int note_within(struct kv *kv, struct watch *w)
{
	struct ib_sge sge = { (uintptr_t)w->buf, 8, w->q[0]->pd->local_dma_lkey };
	struct ib_send_wr wr = kv_send_wr(&sge);
	int ret;

	ib_req_notify_cq(w->cq, IB_CQ_NEXT_COMP);
	WRITE_ONCE(w->posting, true);
	ret = kv_post(kv, w->q[0], &wr);
	WRITE_ONCE(w->posting, false);
	return ret;
}

static int both_done(struct kv *kv, struct watch *w)
{
	struct ib_wc wc;

	KV_TRY(kv_wait(kv, w->q[0]->scq, &wc));
	KV_IS(kv, wc.status, IB_WC_SUCCESS);
	KV_TRY(kv_wait(kv, w->cq, &wc));
	KV_IS(kv, wc.status, IB_WC_SUCCESS);
	return 0;
}

/*
 * Who posts to an idle QP and may be interrupted does not wait for ksoftirqd. A softirq that has
 * taken its time leaves the rest to ksoftirqd, so not all are received within the post.
 */
static int sent_at_once(struct kv *kv)
{
	struct watch *w;
	int i;

	KV_SKIP_IF(kv, IS_ENABLED(CONFIG_PREEMPT_RT), "softirqs of RT kernels are threads");
	KV_GET(w, watch(kv));
	KV_TRY(watched(kv, w, 20));
	for (i = 0; i < 20; i++) {
		KV_TRY(note_within(kv, w));
		KV_TRY(both_done(kv, w));
	}
	KV_EXPECT(kv, atomic_read(&w->within) >= 5, "only %d of 20", atomic_read(&w->within));
	KV_IS(kv, atomic_read(&w->direct), 0);
	return 0;
}

/* The caller may hold locks that its handlers take. */
static int not_with_interrupts_off(struct kv *kv)
{
	unsigned long flags;
	struct watch *w;
	int i, ret;

	KV_SKIP_IF(kv, IS_ENABLED(CONFIG_PREEMPT_RT), "RT kernels allow no post then");
	KV_GET(w, watch(kv));
	KV_TRY(watched(kv, w, 20));
	for (i = 0; i < 20; i++) {
		local_irq_save(flags);
		ret = note_within(kv, w);
		local_irq_restore(flags);
		KV_TRY(ret);
		KV_TRY(both_done(kv, w));
	}
	KV_IS(kv, atomic_read(&w->within), 0);
	return 0;
}

static int moderated(struct kv *kv)
{
	struct watch *w;
	int i, ret, calls;
	ktime_t start;

	KV_GET(w, watch(kv));
	KV_TRY(watched(kv, w, 12));
	ret = rdma_set_cq_moderation(w->cq, 4, 60000);
	KV_SKIP_IF(kv, ret == -EOPNOTSUPP, "no moderation");
	KV_IS(kv, ret, 0);
	KV_IS(kv, ib_req_notify_cq(w->cq, IB_CQ_NEXT_COMP), 0);
	/* fewer than four have to wait, four are enough */
	start = ktime_get();
	for (i = 0; i < 3; i++)
		KV_TRY(message(kv, w, 0));
	calls = atomic_read(&w->calls);
	KV_EXPECT(kv, !calls || ktime_ms_delta(ktime_get(), start) >= 60,
		  "a call for three");
	KV_TRY(message(kv, w, 0));
	KV_EXPECT(kv, kv_becomes(called, w), "no call for four");
	/* one waits as long as it has to */
	atomic_set(&w->calls, 0);
	KV_IS(kv, rdma_set_cq_moderation(w->cq, 1000, 20000), 0);
	KV_IS(kv, ib_req_notify_cq(w->cq, IB_CQ_NEXT_COMP), 0);
	KV_TRY(message(kv, w, 0));
	KV_EXPECT(kv, kv_becomes(called, w), "no call after the time");
	/* none */
	atomic_set(&w->calls, 0);
	KV_IS(kv, rdma_set_cq_moderation(w->cq, 0, 0), 0);
	KV_IS(kv, ib_req_notify_cq(w->cq, IB_CQ_NEXT_COMP), 0);
	KV_TRY(message(kv, w, 0));
	KV_EXPECT(kv, kv_becomes(called, w), "no call without moderation");
	KV_IS(kv, atomic_read(&w->calls), 1);
	return 0;
}

static void cq_event(struct ib_event *ev, void *ctx)
{
	struct watch *w = ctx;

	if (ev->event == IB_EVENT_CQ_ERR)
		atomic_inc(&w->calls);
}

static void undo_cq(void *arg)
{
	ib_destroy_cq(arg);
}

/* It takes no more, says so, and takes the QP with it. */
static int overflow(struct kv *kv)
{
	struct ib_cq_init_attr attr = { .cqe = 3 };
	struct kv_opts opts = {}, full = {};
	struct kv_qp *a, *b;
	struct watch *w;
	void *buf;
	int i, n;

	KV_GET(w, watch(kv));
	full.cq = ib_create_cq(kv->dev[1], NULL, cq_event, w, &attr);
	KV_EXPECT(kv, !IS_ERR(full.cq), "%ld", PTR_ERR(full.cq));
	kv_later(kv, undo_cq, full.cq);
	n = full.cq->cqe;
	KV_EXPECT(kv, n >= 3 && n < 32, "%d entries", n);
	KV_GET(a, kv_qp(kv, 0, &opts));
	KV_GET(b, kv_qp(kv, 1, &full));
	KV_TRY(kv_connect(kv, a, b));
	KV_GET(buf, kv_buf(kv, 64));
	for (i = 0; i <= n; i++)
		KV_TRY(kv_recv(kv, b, buf, 64));
	for (i = 0; i < n; i++)
		KV_TRY(send_flags(kv, a, buf, 0));
	KV_IS(kv, atomic_read(&w->calls), 0);
	kv_send(kv, a, buf, 8);
	KV_EXPECT(kv, kv_becomes(called, w), "no CQ_ERR");
	KV_TRY(kv_event(kv, b, IB_EVENT_QP_FATAL));
	KV_IS(kv, atomic_read(&w->calls), 1);
	KV_IS(kv, kv_state(b), IB_QPS_ERR);
	return 0;
}

/* A receive that is flushed at once, as its QP is in the error state */
static int flushed(struct kv *kv, struct kv_qp *q, u8 *buf)
{
	KV_TRY(kv_recv(kv, q, buf, 1));
	msleep(KV_QUIET_MS);
	return 0;
}

/* wc->qp would point to freed memory. What others have completed stays, in order. */
static int destroyed_qp(struct kv *kv)
{
	struct kv_qp *gone, *other;
	struct kv_opts opts = {};
	struct ib_wc wc;
	u8 *buf;
	int i;

	KV_GET(opts.cq, kv_cq(kv, 0, 64, NULL, NULL));
	KV_GET(other, kv_qp(kv, 0, &opts));
	KV_GET(gone, kv_qp(kv, 0, &opts));
	KV_GET(buf, kv_buf(kv, 64));
	KV_TRY(kv_init(kv, other));
	KV_TRY(kv_init(kv, gone));
	KV_IS(kv, kv_to(other, IB_QPS_ERR), 0);
	KV_IS(kv, kv_to(gone, IB_QPS_ERR), 0);
	for (i = 0; i < 3; i++) {
		KV_TRY(flushed(kv, gone, buf));
		KV_TRY(flushed(kv, other, buf + i));
		KV_TRY(flushed(kv, gone, buf));
	}
	/* the case destroys the QP itself */
	kv->undos--;
	ib_destroy_qp(gone->qp);
	kfree(gone);
	for (i = 0; i < 3; i++) {
		KV_TRY(kv_wait(kv, opts.cq, &wc));
		KV_IS(kv, wc.wr_id, (uintptr_t)(buf + i));
		KV_EXPECT(kv, wc.qp == other->qp, "of the QP that was destroyed");
	}
	KV_IS(kv, ib_poll_cq(opts.cq, 1, &wc), 0);
	/* the queue works on */
	KV_TRY(flushed(kv, other, buf));
	return kv_wait(kv, opts.cq, &wc);
}

KV_CASES(cq) = {
	{ "cq: a handler is called once for each arming", once_per_arm },
	{ "cq: missed events are reported", missed },
	{ "cq: solicited completions only", solicited },
	{ "cq: armed with both bits, any completion counts", both_bits },
	{ "cq: handlers poll, post and arm, for 400 completions",
	  rearm_inside },
	{ "cq: one handler at a time, for completions on two CPUs",
	  one_at_a_time },
	{ "cq: no handler from within ib_modify_qp", not_from_a_verb },
	{ "post: a message of an idle QP does not wait for ksoftirqd", sent_at_once },
	{ "post: no handler within a post with interrupts off", not_with_interrupts_off },
	{ "cq: moderation by number and by time", moderated },
	{ "cq: an overflow is an event of the CQ and of the QP", overflow },
	{ "cq: the completions of a QP that is destroyed are removed", destroyed_qp },
	{ }
};
