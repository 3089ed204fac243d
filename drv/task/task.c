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
 * sroce_timer_ack() - have sroce_req_timer() called
 * @qp: the QP, locked
 * @when: not before this time, in ns of sroce_now()
 * @slack: it may be so much later
 *
 * A timer that fires early finds out and sets itself again, so moving the
 * deadline back costs nothing. Moving it forward has the clock's hardware
 * programmed, which is worth it only if that is much.
 */
void sroce_timer_ack(struct sroce_qp *qp, u64 when, u64 slack)
{
	struct sroce_qp_host *host = qp->host;

	if (host->ack_when && host->ack_when <= when + slack)
		return;
	host->ack_when = when;
	hrtimer_start_range_ns(&host->ack_timer, ns_to_ktime(when), slack,
			       HRTIMER_MODE_ABS_SOFT);
}

/**
 * sroce_timer_rnr() - have sroce_req_rnr_over() called
 * @qp: the QP, locked
 * @delay: after this time in ns
 */
void sroce_timer_rnr(struct sroce_qp *qp, u64 delay)
{
	hrtimer_start(&qp->host->rnr_timer, ns_to_ktime(delay),
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

static bool lane_empty(const struct sroce_lane *lane)
{
	return skb_queue_empty(&lane->txq) && list_empty(&lane->parcels);
}

/* What is queued is moved to @list, but for a train that is about to grow. */
static void take_packets(struct sroce_lane *lane, struct sk_buff_head *list,
			 bool more)
{
	struct sk_buff *last = NULL;

	if (more && sroce_lane_grows(lane))
		last = __skb_dequeue_tail(&lane->txq);
	skb_queue_splice_init(&lane->txq, list);
	if (last)
		__skb_queue_tail(&lane->txq, last);
}

/*
 * Send what is queued; whoever else queues meanwhile leaves it to us. @more:
 * the QP is called again at once, and goes on with what it leaves. A peer on
 * this host answers at once, and so on: there must be an end to it.
 *
 * Return: whether something is left that was not meant to be.
 */
static bool send_lane(struct sroce_qp *qp, struct sroce_lane *lane, bool more)
{
	struct sk_buff_head list;
	LIST_HEAD(parcels);
	u32 round;

	if (lane->sending)
		return false;
	if (this_cpu_read(nested) == NESTED_MAX)
		return true;
	this_cpu_inc(nested);
	__skb_queue_head_init(&list);
	lane->sending = true;
	for (round = 0; round < ROUNDS; round++) {
		take_packets(lane, &list, more);
		list_splice_init(&lane->parcels, &parcels);
		if (skb_queue_empty(&list) && list_empty(&parcels))
			break;
		sroce_tx_count(qp, &list);
		spin_unlock(&qp->lock);
		sroce_output(qp->dev, &list);
		sroce_parcel_deliver(qp->dev, &parcels);
		spin_lock(&qp->lock);
	}
	lane->sending = false;
	this_cpu_dec(nested);
	return !more && !lane_empty(lane);
}

static bool send_queued(struct sroce_qp *qp, bool more)
{
	struct sroce_lane *lane = qp->host->lane;
	bool left = false;
	int i;

	for (i = 0; i < SROCE_LANES; i++)
		if (!lane_empty(&lane[i]))
			left |= send_lane(qp, &lane[i], more);
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
	struct sroce_qp_host *host = qp->host;

	if (!needs_sweep(qp)) {
		host->sweep = 0;
		return;
	}
	/* this may be the timer itself: it runs, but is it set again? */
	if (hrtimer_is_queued(&host->rnr_timer))
		return;
	host->sweep = clamp(host->sweep * 2, SWEEP_MIN, SWEEP_MAX);
	sroce_timer_rnr(qp, host->sweep);
}

static void sweep(struct sroce_qp *qp)
{
	if (sroce_ring_filled(&qp->rq.ring))
		qp->host->sweep = 0;
	sroce_sq_flush(qp);
	sroce_rq_flush(qp);
	qp->host->sweep = clamp(qp->host->sweep * 2, SWEEP_MIN, SWEEP_MAX);
	sroce_timer_rnr(qp, qp->host->sweep);
}

/* Whether somebody who found the QP taken relies on us, who just released it */
static bool is_called(const struct sroce_qp_host *host)
{
	/* released, and then asked: whoever leaves something asks the other way */
	smp_mb();
	return READ_ONCE(host->rung) || !skb_queue_empty_lockless(&host->inbox);
}

/*
 * Have the tasklet go on, on this CPU: what was sent here is received before, if
 * the peer is on this host, and nothing overtakes it.
 */
static void go_on(struct sroce_qp_host *host)
{
	WRITE_ONCE(host->kicked, smp_processor_id() + 1);
	tasklet_schedule(&host->kick);
}

/* What follows the release of a QP: @more: it could go on */
static void see_to(struct sroce_qp_host *host, bool more)
{
	if (is_called(host) || more)
		go_on(host);
	local_bh_enable();
}

/**
 * sroce_qp_begin() - take a QP for a burst of work
 * @qp: the QP
 *
 * Any context but hard interrupts; bottom halves are off until the end.
 */
void sroce_qp_begin(struct sroce_qp *qp) __acquires(&qp->lock)
{
	spin_lock_bh(&qp->lock);
}

/**
 * sroce_qp_leave() - release a QP that was only looked at
 * @qp: the QP, taken by sroce_qp_begin()
 */
void sroce_qp_leave(struct sroce_qp *qp) __releases(&qp->lock)
{
	spin_unlock(&qp->lock);
	see_to(qp->host, false);
}

/* Work requests of a user in a state in which they aren't executed */
static void flush_posted(struct sroce_qp *qp)
{
	sroce_sq_rang(qp);
	WRITE_ONCE(qp->host->rang_on, smp_processor_id() + 1);
	if (qp->state < IB_QPS_RTS)
		sroce_sq_discard(qp);
	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_SQE)
		sroce_sq_flush(qp);
	if (qp->state == IB_QPS_ERR)
		sroce_rq_flush(qp);
}

/**
 * sroce_qp_is_busy() - whether a QP has so much under way that who has it keeps it for long
 * @qp: the QP, which need not be locked
 *
 * If not, it is better waited for: whoever has it may well send an acknowledge before he
 * looks for what was left with him.
 */
bool sroce_qp_is_busy(const struct sroce_qp *qp)
{
	return qp->svc == SROCE_SVC_RC &&
	       sroce_psn_diff(READ_ONCE(qp->req.max_psn),
			      READ_ONCE(qp->req.una)) > (s32)SROCE_BURST_LEAST;
}

/**
 * sroce_qp_trylock() - take a QP, unless somebody has it
 * @qp: the QP
 *
 * Return: whether it was taken. Callers are not checked for that.
 */
bool sroce_qp_trylock(struct sroce_qp *qp)
{
	int taken = spin_trylock_bh(&qp->lock);

	if (taken)
		__release(&qp->lock);
	return taken;
}

/**
 * sroce_qp_try() - take a QP, unless somebody has it who will be long
 * @qp: the QP
 *
 * Return: whether it was taken. Callers are not checked for that.
 */
bool sroce_qp_try(struct sroce_qp *qp)
{
	if (sroce_qp_trylock(qp))
		return true;
	if (sroce_qp_is_busy(qp))
		return false;
	sroce_qp_begin(qp);
	__release(&qp->lock);
	return true;
}

/**
 * sroce_qp_ring() - take a QP because its doorbell rings
 * @qp: the QP
 *
 * Return: whether it was taken; if not, whoever has it will see to it.
 */
bool sroce_qp_ring(struct sroce_qp *qp)
{
	if (!sroce_qp_try(qp)) {
		/* what was posted is seen by whoever sees the flag */
		smp_mb();
		WRITE_ONCE(qp->host->rung, true);
		/* pairs with is_called(): it is seen, or the lock is free */
		smp_mb();
		if (!sroce_qp_trylock(qp))
			return false;
	}
	flush_posted(qp);
	return true;
}

/* A doorbell that did not wait for us */
static void answer_doorbell(struct sroce_qp *qp)
{
	if (!READ_ONCE(qp->host->rung))
		return;
	WRITE_ONCE(qp->host->rung, false);
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
	struct sroce_qp_host *host = qp->host;

	if (host->rang_on == smp_processor_id() + 1 && atomic_read(&host->stream.held))
		sroce_sq_rang(qp);
}

/* Return: whether the QP could go on. */
static bool run_and_release(struct sroce_qp *qp) __releases(&qp->lock)
{
	u32 duty, events, srq_events;
	bool more;

	sroce_inbox_empty(qp);
	answer_doorbell(qp);
	take_held(qp);
	more = sroce_qp_run(qp);
	watch_error(qp);
	more |= send_queued(qp, more && !(qp->duty & SROCE_DUTY_SEND));
	duty = qp->duty;
	events = qp->events;
	srq_events = qp->srq_events;
	qp->duty = 0;
	qp->events = 0;
	qp->srq_events = 0;
	spin_unlock(&qp->lock);

	if (unlikely(duty & SROCE_DUTY_SCQ))
		sroce_cq_wake(qp->scq);
	if (unlikely(duty & SROCE_DUTY_RCQ))
		sroce_cq_wake(qp->rcq);
	if (unlikely(duty & SROCE_DUTY_LOST(SROCE_DUTY_SCQ)))
		sroce_cq_lost(qp->scq);
	if (unlikely(duty & SROCE_DUTY_LOST(SROCE_DUTY_RCQ)))
		sroce_cq_lost(qp->rcq);
	if (unlikely(events | srq_events))
		dispatch_events(qp, events, srq_events);
	return more;
}

/**
 * sroce_qp_end_run() - let the QP work, release it and see to its duties
 * @qp: the QP, taken by sroce_qp_begin()
 *
 * The caller keeps the QP alive.
 *
 * Return: whether the QP could go on if called again.
 */
bool sroce_qp_end_run(struct sroce_qp *qp) __releases(&qp->lock)
{
	bool more = run_and_release(qp);

	see_to(qp->host, false);
	return more;
}

/**
 * sroce_qp_end() - sroce_qp_end_run(), and go on later if there is more
 * @qp: the QP, taken by sroce_qp_begin()
 */
void sroce_qp_end(struct sroce_qp *qp) __releases(&qp->lock)
{
	see_to(qp->host, run_and_release(qp));
}

/**
 * sroce_qp_end_verb() - sroce_qp_end() of a verb that its user has called
 * @qp: the QP, taken by sroce_qp_begin()
 *
 * What a kernel user is told comes from the tasklet: none of its handlers may
 * be called from within a verb.
 */
void sroce_qp_end_verb(struct sroce_qp *qp) __releases(&qp->lock)
{
	if (qp->user) {
		sroce_qp_end(qp);
		return;
	}
	tasklet_schedule(&qp->host->kick);
	spin_unlock_bh(&qp->lock);
}

static enum hrtimer_restart ack_timer_fn(struct hrtimer *timer)
{
	struct sroce_qp_host *host =
		container_of(timer, struct sroce_qp_host, ack_timer);

	sroce_qp_begin(host->qp);
	host->ack_when = 0;
	/* perhaps it has come */
	sroce_inbox_empty(host->qp);
	sroce_req_timer(host->qp);
	sroce_qp_end(host->qp);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart rnr_timer_fn(struct hrtimer *timer)
{
	struct sroce_qp_host *host =
		container_of(timer, struct sroce_qp_host, rnr_timer);

	sroce_qp_begin(host->qp);
	if (needs_sweep(host->qp))
		sweep(host->qp);
	else
		sroce_req_rnr_over(host->qp);
	sroce_qp_end(host->qp);
	return HRTIMER_NORESTART;
}

static void kick_fn(struct tasklet_struct *t)
{
	struct sroce_qp_host *host = from_tasklet(host, t, kick);
	struct sroce_qp *qp = host->qp;

	sroce_qp_begin(qp);
	WRITE_ONCE(host->kicked, 0);
	if (!qp->user) {
		/* pairs with the release in drv/post.c: what was posted is there */
		qp->sq.prod = smp_load_acquire(&host->posted);
		if (qp->state >= IB_QPS_RTS)
			flush_posted(qp);
	}
	sroce_qp_end(qp);
}

/**
 * sroce_qp_host_init() - set up the surroundings of a QP
 * @qp: the QP
 * @host: zeroed
 */
void sroce_qp_host_init(struct sroce_qp *qp, struct sroce_qp_host *host)
{
	int i;

	host->qp = qp;
	qp->host = host;
	refcount_set(&host->ref, 1);
	init_completion(&host->unused);
	spin_lock_init(&host->post_lock);
	skb_queue_head_init(&host->inbox);
	for (i = 0; i < SROCE_LANES; i++) {
		__skb_queue_head_init(&host->lane[i].txq);
		INIT_LIST_HEAD(&host->lane[i].parcels);
	}
	sroce_hrtimer_setup(&host->ack_timer, ack_timer_fn,
			    HRTIMER_MODE_ABS_SOFT);
	sroce_hrtimer_setup(&host->rnr_timer, rnr_timer_fn,
			    HRTIMER_MODE_REL_SOFT);
	tasklet_setup(&host->kick, kick_fn);
	sroce_stream_init(&host->stream);
	sroce_pager_init(qp);
}

/**
 * sroce_qp_host_put() - let go of a QP found by number
 * @host: the QP's surroundings
 */
void sroce_qp_host_put(struct sroce_qp_host *host)
{
	if (refcount_dec_and_test(&host->ref))
		complete(&host->unused);
}

/**
 * sroce_qp_host_stop() - wait until nobody uses the QP, and nobody will
 * @host: the surroundings; the QP can't be found any more and is in RESET
 *
 * May sleep, for as long as a burst takes.
 */
void sroce_qp_host_stop(struct sroce_qp_host *host)
{
	int i;

	sroce_qp_host_put(host);
	wait_for_completion(&host->unused);
	sroce_pager_stop(host->qp);
	/* The tasklet does nothing in RESET, so it can't start a timer. */
	tasklet_kill(&host->kick);
	hrtimer_cancel(&host->ack_timer);
	hrtimer_cancel(&host->rnr_timer);
	sroce_stream_stop(&host->stream);
	tasklet_kill(&host->kick);
	sroce_inbox_purge(host);
	for (i = 0; i < SROCE_LANES; i++) {
		__skb_queue_purge(&host->lane[i].txq);
		sroce_parcel_purge(&host->lane[i].parcels);
	}
}
