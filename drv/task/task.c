// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * One trip into a QP: lock, let the protocol work, unlock, and then do what
 * must not be done under the lock: send packets, wake consumers, raise events.
 *
 * Packets that come while somebody else has the QP are left there instead of
 * waiting for it; the one who has it takes them in.
 */

#include "drv/dev.h"

/* Most times that a burst sends what its own packets made possible */
#define ROUNDS		4
/*
 * Bursts within each other on a CPU: what one delivers on this host has the QP it is for
 * work, which delivers something itself. Two that are connected take four; but none has
 * to be connected to the one whose packets it gets.
 */
#define NESTED_MAX	4
/* How often a QP in the error state is looked after, in ns */
#define SWEEP_MIN	(1 * (u64)NSEC_PER_MSEC)
#define SWEEP_MAX	(128 * (u64)NSEC_PER_MSEC)

static DEFINE_PER_CPU(u32, nested);

/**
 * sroce_now() - monotonic time in ns
 */
u64 sroce_now(void)
{
	return ktime_get_ns();
}

/**
 * sroce_task_set_ack_timer() - have sroce_retrans_timer() called
 * @qp: the QP, locked
 * @when: not before this time, in ns of sroce_now()
 * @slack: it may be so much later
 *
 * A timer that fires early finds out and sets itself again, so moving the
 * deadline back costs nothing. Moving it forward has the clock's hardware
 * programmed, which is worth it only if that is much.
 */
void sroce_task_set_ack_timer(struct sroce_qp *qp, u64 when, u64 slack)
{
	struct sroce_kqp *kqp = qp->kqp;

	if (kqp->ack_when && kqp->ack_when <= when + slack)
		return;
	kqp->ack_when = when;
	hrtimer_start_range_ns(&kqp->ack_timer, ns_to_ktime(when), slack,
			       HRTIMER_MODE_ABS_SOFT);
}

/**
 * sroce_task_set_rnr_timer() - have sroce_retrans_rnr_timer() called
 * @qp: the QP, locked
 * @delay: after this time in ns
 */
void sroce_task_set_rnr_timer(struct sroce_qp *qp, u64 delay)
{
	hrtimer_start(&qp->kqp->rnr_timer, ns_to_ktime(delay),
		      HRTIMER_MODE_REL_SOFT);
}

static void dispatch_events(struct sroce_qp *qp, u32 events, u32 srq_events)
{
	struct ib_event ev = { .device = qp->ibqp.device };
	int i;

	ev.element.qp = &qp->ibqp;
	for (i = 0; events; i++, events >>= 1) {
		ev.event = i;
		if (events & 1 && qp->ibqp.event_handler)
			qp->ibqp.event_handler(&ev, qp->ibqp.qp_context);
	}
	if (!srq_events)
		return;
	ev.element.srq = &qp->srq->ibsrq;
	ev.event = IB_EVENT_SRQ_LIMIT_REACHED;
	if (qp->srq->ibsrq.event_handler)
		qp->srq->ibsrq.event_handler(&ev, qp->srq->ibsrq.srq_context);
}

static bool lane_empty(const struct sroce_txq *txq)
{
	return skb_queue_empty(&txq->skbs) && list_empty(&txq->lbpkts);
}

/* What is queued is moved to @list, but for a train that is about to grow. */
static void take_packets(struct sroce_txq *txq, struct sk_buff_head *list,
			 bool more)
{
	struct sk_buff *last = NULL;

	if (more && sroce_tx_txq_can_append(txq))
		last = __skb_dequeue_tail(&txq->skbs);
	skb_queue_splice_init(&txq->skbs, list);
	if (last)
		__skb_queue_tail(&txq->skbs, last);
}

/*
 * Send what is queued; whoever else queues meanwhile leaves it to us. @more:
 * the QP is called again at once, and goes on with what it leaves. A peer on
 * this host answers at once, and so on: there must be an end to it.
 *
 * Return: whether something is left that was not meant to be.
 */
static bool send_lane(struct sroce_qp *qp, struct sroce_txq *txq, bool more)
{
	struct sk_buff_head list;
	LIST_HEAD(lbpkts);
	u32 round;

	if (txq->sending)
		return false;
	if (this_cpu_read(nested) == NESTED_MAX)
		return true;
	this_cpu_inc(nested);
	__skb_queue_head_init(&list);
	txq->sending = true;
	for (round = 0; round < ROUNDS; round++) {
		take_packets(txq, &list, more);
		list_splice_init(&txq->lbpkts, &lbpkts);
		if (skb_queue_empty(&list) && list_empty(&lbpkts))
			break;
		sroce_tx_count(qp, &list);
		spin_unlock(&qp->lock);
		sroce_tx_xmit(qp->dev, &list);
		sroce_task_deliver(qp->dev, &lbpkts);
		spin_lock(&qp->lock);
	}
	txq->sending = false;
	this_cpu_dec(nested);
	return !more && !lane_empty(txq);
}

static bool send_queued(struct sroce_qp *qp, bool more)
{
	struct sroce_txq *txq = qp->kqp->txq;
	bool left = false;
	int i;

	for (i = 0; i < SROCE_TXQS; i++)
		if (!lane_empty(&txq[i]))
			left |= send_lane(qp, &txq[i], more);
	return left;
}

/*
 * The provider posts receives without telling the kernel. Those posted to a QP
 * in the error state are to be flushed all the same, so it is looked after, the
 * less often the longer nothing comes.
 */
static bool needs_sweep(const struct sroce_qp *qp)
{
	return qp->state == IB_QPS_ERR && qp->user && !qp->srq;
}

static void watch_error(struct sroce_qp *qp)
{
	struct sroce_kqp *kqp = qp->kqp;

	if (!needs_sweep(qp)) {
		kqp->err_poll_ns = 0;
		return;
	}
	/* this may be the timer itself: it runs, but is it set again? */
	if (hrtimer_is_queued(&kqp->rnr_timer))
		return;
	kqp->err_poll_ns = clamp(kqp->err_poll_ns * 2, SWEEP_MIN, SWEEP_MAX);
	sroce_task_set_rnr_timer(qp, kqp->err_poll_ns);
}

static void sweep(struct sroce_qp *qp)
{
	if (sroce_ring_filled(&qp->rq.ring))
		qp->kqp->err_poll_ns = 0;
	sroce_flush_sq(qp);
	sroce_flush_rq(qp);
	qp->kqp->err_poll_ns = clamp(qp->kqp->err_poll_ns * 2, SWEEP_MIN, SWEEP_MAX);
	sroce_task_set_rnr_timer(qp, qp->kqp->err_poll_ns);
}

/* Whether somebody who found the QP taken relies on us, who just released it */
static bool is_called(const struct sroce_kqp *kqp)
{
	/* released, and then asked: whoever leaves something asks the other way */
	smp_mb();
	return READ_ONCE(kqp->db_pending) || !skb_queue_empty_lockless(&kqp->backlog);
}

/*
 * Have the tasklet go on, on this CPU: what was sent here is received before, if
 * the peer is on this host, and nothing overtakes it.
 */
static void go_on(struct sroce_kqp *kqp)
{
	WRITE_ONCE(kqp->task_cpu, smp_processor_id() + 1);
	tasklet_schedule(&kqp->task);
}

/* What follows the release of a QP: @more: it could go on */
static void see_to(struct sroce_kqp *kqp, bool more)
{
	if (is_called(kqp) || more)
		go_on(kqp);
	local_bh_enable();
}

/**
 * sroce_task_lock() - take a QP for a burst of work
 * @qp: the QP
 *
 * Any context but hard interrupts; bottom halves are off until the end.
 */
void sroce_task_lock(struct sroce_qp *qp) __acquires(&qp->lock)
{
	spin_lock_bh(&qp->lock);
}

/**
 * sroce_task_unlock() - release a QP that was only looked at
 * @qp: the QP, taken by sroce_task_lock()
 */
void sroce_task_unlock(struct sroce_qp *qp) __releases(&qp->lock)
{
	spin_unlock(&qp->lock);
	see_to(qp->kqp, false);
}

/* Work requests of a user in a state in which they aren't executed */
static void flush_posted(struct sroce_qp *qp)
{
	sroce_wqe_doorbell(qp);
	WRITE_ONCE(qp->kqp->db_cpu, smp_processor_id() + 1);
	if (qp->state < IB_QPS_RTS)
		sroce_reset_sq(qp);
	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_SQE)
		sroce_flush_sq(qp);
	if (qp->state == IB_QPS_ERR)
		sroce_flush_rq(qp);
}

/**
 * sroce_task_is_busy() - whether a QP has so much under way that who has it keeps it for long
 * @qp: the QP, which need not be locked
 *
 * If not, it is better waited for: whoever has it may well send an acknowledge before he
 * looks for what was left with him.
 */
bool sroce_task_is_busy(const struct sroce_qp *qp)
{
	return qp->svc == SROCE_SVC_RC &&
	       sroce_psn_diff(READ_ONCE(qp->req.max_psn),
			      READ_ONCE(qp->req.una)) > (s32)SROCE_RETRANS_BATCH_MIN;
}

/**
 * sroce_task_trylock() - take a QP, unless somebody has it
 * @qp: the QP
 *
 * Return: whether it was taken. Callers are not checked for that.
 */
bool sroce_task_trylock(struct sroce_qp *qp)
{
	int taken = spin_trylock_bh(&qp->lock);

	if (taken)
		__release(&qp->lock);
	return taken;
}

/**
 * sroce_task_lock_unless_busy() - take a QP, unless somebody has it who will be long
 * @qp: the QP
 *
 * Return: whether it was taken. Callers are not checked for that.
 */
bool sroce_task_lock_unless_busy(struct sroce_qp *qp)
{
	if (sroce_task_trylock(qp))
		return true;
	if (sroce_task_is_busy(qp))
		return false;
	sroce_task_lock(qp);
	__release(&qp->lock);
	return true;
}

/**
 * sroce_task_lock_doorbell() - take a QP because its doorbell rings
 * @qp: the QP
 *
 * Return: whether it was taken; if not, whoever has it will see to it.
 */
bool sroce_task_lock_doorbell(struct sroce_qp *qp)
{
	if (!sroce_task_lock_unless_busy(qp)) {
		/* what was posted is seen by whoever sees the flag */
		smp_mb();
		WRITE_ONCE(qp->kqp->db_pending, true);
		/* pairs with is_called(): it is seen, or the lock is free */
		smp_mb();
		if (!sroce_task_trylock(qp))
			return false;
	}
	flush_posted(qp);
	return true;
}

/* A doorbell that did not wait for us */
static void answer_doorbell(struct sroce_qp *qp)
{
	if (!READ_ONCE(qp->kqp->db_pending))
		return;
	WRITE_ONCE(qp->kqp->db_pending, false);
	/* cleared before the ring is read: what is posted later rings again */
	smp_mb();
	flush_posted(qp);
}

/*
 * What is held may leave with what is sent anyhow, if that is where the last doorbell
 * rang: from elsewhere it might overtake what that one has sent.
 */
static void take_held(struct sroce_qp *qp)
{
	struct sroce_kqp *kqp = qp->kqp;

	if (kqp->db_cpu == smp_processor_id() + 1 && atomic_read(&kqp->coalesce.held))
		sroce_wqe_doorbell(qp);
}

/* Return: whether the QP could go on. */
static bool run_and_release(struct sroce_qp *qp) __releases(&qp->lock)
{
	u32 duty, events, srq_events;
	bool more;

	sroce_backlog_drain(qp);
	answer_doorbell(qp);
	take_held(qp);
	more = sroce_transport_run(qp);
	watch_error(qp);
	more |= send_queued(qp, more && !(qp->deferred & SROCE_DEFER_SEND_NOW));
	duty = qp->deferred;
	events = qp->events;
	srq_events = qp->srq_events;
	qp->deferred = 0;
	qp->events = 0;
	qp->srq_events = 0;
	spin_unlock(&qp->lock);

	if (unlikely(duty & SROCE_DEFER_SCQ))
		sroce_cq_notify(qp->scq);
	if (unlikely(duty & SROCE_DEFER_RCQ))
		sroce_cq_notify(qp->rcq);
	if (unlikely(duty & SROCE_DEFER_OVERFLOW(SROCE_DEFER_SCQ)))
		sroce_cq_overflow_event(qp->scq);
	if (unlikely(duty & SROCE_DEFER_OVERFLOW(SROCE_DEFER_RCQ)))
		sroce_cq_overflow_event(qp->rcq);
	if (unlikely(events | srq_events))
		dispatch_events(qp, events, srq_events);
	return more;
}

/**
 * sroce_task_unlock_run_once() - let the QP work, release it and see to its duties
 * @qp: the QP, taken by sroce_task_lock()
 *
 * The caller keeps the QP alive.
 *
 * Return: whether the QP could go on if called again.
 */
bool sroce_task_unlock_run_once(struct sroce_qp *qp) __releases(&qp->lock)
{
	bool more = run_and_release(qp);

	see_to(qp->kqp, false);
	return more;
}

/**
 * sroce_task_unlock_run() - sroce_task_unlock_run_once(), and go on later if there is more
 * @qp: the QP, taken by sroce_task_lock()
 */
void sroce_task_unlock_run(struct sroce_qp *qp) __releases(&qp->lock)
{
	see_to(qp->kqp, run_and_release(qp));
}

/**
 * sroce_task_unlock_verb() - sroce_task_unlock_run() of a verb that its user has called
 * @qp: the QP, taken by sroce_task_lock()
 *
 * What a kernel user is told comes from the tasklet: none of its handlers may
 * be called from within a verb.
 */
void sroce_task_unlock_verb(struct sroce_qp *qp) __releases(&qp->lock)
{
	if (qp->user) {
		sroce_task_unlock_run(qp);
		return;
	}
	tasklet_schedule(&qp->kqp->task);
	spin_unlock_bh(&qp->lock);
}

static enum hrtimer_restart ack_timer_fn(struct hrtimer *timer)
{
	struct sroce_kqp *kqp =
		container_of(timer, struct sroce_kqp, ack_timer);

	sroce_task_lock(kqp->qp);
	kqp->ack_when = 0;
	/* perhaps it has come */
	sroce_backlog_drain(kqp->qp);
	sroce_retrans_timer(kqp->qp);
	sroce_task_unlock_run(kqp->qp);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart rnr_timer_fn(struct hrtimer *timer)
{
	struct sroce_kqp *kqp =
		container_of(timer, struct sroce_kqp, rnr_timer);

	sroce_task_lock(kqp->qp);
	if (needs_sweep(kqp->qp))
		sweep(kqp->qp);
	else
		sroce_retrans_rnr_timer(kqp->qp);
	sroce_task_unlock_run(kqp->qp);
	return HRTIMER_NORESTART;
}

static void kick_fn(struct tasklet_struct *t)
{
	struct sroce_kqp *kqp = from_tasklet(kqp, t, task);
	struct sroce_qp *qp = kqp->qp;

	sroce_task_lock(qp);
	WRITE_ONCE(kqp->task_cpu, 0);
	if (!qp->user) {
		/* pairs with the release in drv/post.c: what was posted is there */
		qp->sq.prod = smp_load_acquire(&kqp->posted);
		if (qp->state >= IB_QPS_RTS)
			flush_posted(qp);
	}
	sroce_task_unlock_run(qp);
}

/**
 * sroce_task_init() - set up the surroundings of a QP
 * @qp: the QP
 * @kqp: zeroed
 */
void sroce_task_init(struct sroce_qp *qp, struct sroce_kqp *kqp)
{
	int i;

	kqp->qp = qp;
	qp->kqp = kqp;
	refcount_set(&kqp->ref, 1);
	init_completion(&kqp->unused);
	spin_lock_init(&kqp->post_lock);
	skb_queue_head_init(&kqp->backlog);
	for (i = 0; i < SROCE_TXQS; i++) {
		__skb_queue_head_init(&kqp->txq[i].skbs);
		INIT_LIST_HEAD(&kqp->txq[i].lbpkts);
	}
	sroce_hrtimer_setup(&kqp->ack_timer, ack_timer_fn,
			    HRTIMER_MODE_ABS_SOFT);
	sroce_hrtimer_setup(&kqp->rnr_timer, rnr_timer_fn,
			    HRTIMER_MODE_REL_SOFT);
	tasklet_setup(&kqp->task, kick_fn);
	sroce_coalesce_init(&kqp->coalesce);
	sroce_pager_init(qp);
}

/**
 * sroce_qp_tbl_put() - let go of a QP found by number
 * @kqp: the QP's surroundings
 */
void sroce_qp_tbl_put(struct sroce_kqp *kqp)
{
	if (refcount_dec_and_test(&kqp->ref))
		complete(&kqp->unused);
}

/**
 * sroce_task_stop() - wait until nobody uses the QP, and nobody will
 * @kqp: the surroundings; the QP can't be found any more and is in RESET
 *
 * May sleep, for as long as a burst takes.
 */
void sroce_task_stop(struct sroce_kqp *kqp)
{
	int i;

	sroce_qp_tbl_put(kqp);
	wait_for_completion(&kqp->unused);
	sroce_pager_stop(kqp->qp);
	/* The tasklet does nothing in RESET, so it can't start a timer. */
	tasklet_kill(&kqp->task);
	hrtimer_cancel(&kqp->ack_timer);
	hrtimer_cancel(&kqp->rnr_timer);
	sroce_coalesce_stop(&kqp->coalesce);
	tasklet_kill(&kqp->task);
	sroce_backlog_purge(kqp);
	for (i = 0; i < SROCE_TXQS; i++) {
		__skb_queue_purge(&kqp->txq[i].skbs);
		sroce_loopback_purge(&kqp->txq[i].lbpkts);
	}
}
