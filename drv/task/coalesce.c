// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Coalescing of doorbells. A process that rings the next doorbell in less time than the
 * system call for the last one took does not wait for each message to be sent. Such
 * doorbells are held for a moment. The messages leave as one train, with one pass through
 * the IP stack and one ACK.
 *
 * A single message, a reply and a few messages that are waited for leave with their
 * doorbell. Only doorbells of RC QPs are held: the timer may send on another CPU than the
 * doorbell, and the other services can't repair the order of packets.
 */

#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/sched/clock.h>
#include "drv/compat/compat.h"
#include "drv/core/env.h"
#include "drv/lookup/kqp.h"
#include "drv/queue/cq.h"
#include "drv/task/coalesce.h"

/* Bounds of sroce_coalesce.streak_min, the quick doorbells in a row before one is held */
#define STREAK_MIN	8U
#define STREAK_MAX	128U
/* Quick doorbells that make up for one that is late */
#define LATE_PENALTY	2
/* Most doorbells that are held; at most 1 / RING_SHARE of the ring; least that pay */
#define HELD_MAX	32
#define RING_SHARE	8
#define HELD_MIN	4
/* Bounds of the time for which they are held, in ns */
#define HOLD_MIN	(4 * NSEC_PER_USEC)
#define HOLD_MAX	(500 * NSEC_PER_USEC)
/* One doorbell in SAMPLE is timed; its time has a weight of 1 / COST_WEIGHT in the mean */
#define SAMPLE		8U
#define COST_WEIGHT	4
/* Most time that is taken for the cost of a doorbell, in ns */
#define COST_MAX	NSEC_PER_MSEC
/* A QP counts as coalescing for so long after a doorbell was held, in jiffies */
#define ACTIVE_TIME	(HZ / 100 + 1)

static bool tx_coalesce = true;
module_param(tx_coalesce, bool, 0644);
MODULE_PARM_DESC(tx_coalesce, "Send small messages posted back to back as one train");

/*
 * How long to hold, in ns: the cost of HELD_MIN doorbells, or of half of the last batch.
 * After a large batch the timer should not fire between two doorbells. It takes longer
 * than a doorbell, so the next one would look late and end the streak.
 */
static s64 hold_time(const struct sroce_coalesce *co)
{
	s64 doorbells = max_t(s64, READ_ONCE(co->last_batch) / 2, HELD_MIN);

	return clamp_t(s64, READ_ONCE(co->cost) * doorbells, HOLD_MIN, HOLD_MAX);
}

static int held_max(const struct sroce_qp *qp)
{
	return min_t(int, (qp->sq.mask + 1) / RING_SHARE, HELD_MAX);
}

/* On a real-time kernel a process that polls may keep the timer from running. */
static bool may_hold(const struct sroce_qp *qp)
{
	return qp->svc == SROCE_SVC_RC && held_max(qp) >= HELD_MIN &&
	       READ_ONCE(tx_coalesce) && !IS_ENABLED(CONFIG_PREEMPT_RT) &&
	       hrtimer_resolution <= HOLD_MIN;
}

/*
 * Whether a doorbell follows the last one quickly. Once doorbells are held, the process
 * may be delayed a little without an end of the streak.
 */
static bool is_quick(const struct sroce_coalesce *co, s64 now)
{
	s64 cost = READ_ONCE(co->cost);

	return now - co->last_ns <
	       (co->streak < READ_ONCE(co->streak_min) ? cost / 2 : cost);
}

/* Return: whether *@seen differs from @now; it is updated. */
static bool update_seen(u32 now, u32 *seen)
{
	u32 before = *seen;

	*seen = now;
	return now != before;
}

/* Whether the peer has sent a message since the last doorbell */
static bool was_answered(struct sroce_qp *qp, struct sroce_coalesce *co)
{
	return update_seen(READ_ONCE(qp->resp.msn), &co->msn);
}

/* Whether the process has polled completions since the last doorbell */
static bool was_polled(struct sroce_qp *qp, struct sroce_coalesce *co)
{
	return update_seen(READ_ONCE(qp->scq->cons_seen), &co->cq_seen);
}

/*
 * Whether the messages sent since the last call have one packet each, and are at most two
 * a doorbell. @sent: set to whether there were any; they may still be on their way, or
 * the doorbells had nothing to send.
 */
static bool is_small(struct sroce_qp *qp, struct sroce_coalesce *co, bool *sent)
{
	u32 psn = READ_ONCE(qp->req.psn), ssn = READ_ONCE(qp->req.ssn);
	s32 packets = sroce_psn_diff(psn, co->psn);
	s32 messages = sroce_psn_diff(ssn, co->ssn);
	bool ret = packets <= messages && messages <= 2 * co->n_doorbells;

	*sent = packets > 0;
	if (*sent)
		co->n_doorbells = 0;
	co->psn = psn;
	co->ssn = ssn;
	return ret;
}

/* Add the doorbell that rings now to the streak. Return: whether it is long enough. */
static bool update_streak(struct sroce_qp *qp, struct sroce_coalesce *co, s64 now)
{
	u32 need = READ_ONCE(co->streak_min), streak = min(READ_ONCE(co->streak), need);
	bool quick = is_quick(co, now), sent = true;

	if (was_answered(qp, co) ||
	    (!atomic_read(&co->held) && !is_small(qp, co, &sent)))
		streak = 0;
	else if (!quick)
		streak -= min_t(u32, streak, LATE_PENALTY);
	else if (sent)
		streak++;
	if (was_polled(qp, co))
		streak = min(streak, need / 2);
	co->n_doorbells = min(co->n_doorbells + 1, 2 * HELD_MAX);
	WRITE_ONCE(co->streak, streak);
	return streak >= need;
}

/**
 * sroce_coalesce_active() - whether doorbells of a QP were held within the last 10 ms
 * @co: the QP's state
 *
 * Such a QP is not steered. Posting one by one is slower than receiving: if another CPU
 * received, completions would come in smaller batches, and so would messages.
 *
 * Context: any; the QP need not be locked.
 */
bool sroce_coalesce_active(const struct sroce_coalesce *co)
{
	return time_before(jiffies, READ_ONCE(co->last_held) + ACTIVE_TIME);
}

/**
 * sroce_coalesce_release() - end the hold: the caller sends all that was posted
 * @co: the QP's state
 *
 * Context: any; the QP need not be locked.
 *
 * Return: number of doorbells that were held.
 */
int sroce_coalesce_release(struct sroce_coalesce *co)
{
	/* a full barrier: a doorbell held after this has the ring read again */
	return atomic_read(&co->held) ? atomic_xchg(&co->held, 0) : 0;
}

static void set_timer(struct sroce_coalesce *co)
{
	/* pairs with timer_fn(): it sees the doorbell, or is not queued any more */
	smp_mb__after_atomic();
	if (!hrtimer_is_queued(&co->timer))
		hrtimer_start(&co->timer, ns_to_ktime(hold_time(co)),
			      HRTIMER_MODE_REL_SOFT);
}

static void count_held(struct sroce_qp *qp)
{
	/* the set of counters may be freed after a grace period */
	rcu_read_lock();
	sroce_count(qp, SROCE_CNT_DB_COALESCED);
	rcu_read_unlock();
}

/* Return: false if too many doorbells are held: the caller sends. */
static bool hold_one(struct sroce_qp *qp, struct sroce_coalesce *co, s64 now)
{
	int held = atomic_inc_return(&co->held);

	if (held >= held_max(qp))
		return false;
	if (held == 1)
		WRITE_ONCE(co->held_since, now);
	WRITE_ONCE(co->last_held, jiffies);
	set_timer(co);
	count_held(qp);
	return true;
}

/**
 * sroce_coalesce_hold() - hold a user's doorbell, if others are likely to follow it
 * @qp: the QP, unlocked
 *
 * Context: process. If two doorbells of a QP ring at once, the state may be inexact. Then
 * one of them leaves too early, or a moment too late.
 *
 * Return: true if a later doorbell or the timer sends what was posted. If false, the
 * caller sends it with all that was held, and then calls sroce_coalesce_sent().
 */
bool sroce_coalesce_hold(struct sroce_qp *qp)
{
	struct sroce_coalesce *co = &qp->kqp->task.coalesce;
	s64 now = 0;
	int held;

	if (may_hold(qp)) {
		now = local_clock();
		if (update_streak(qp, co, now) && READ_ONCE(qp->state) == IB_QPS_RTS) {
			if (hold_one(qp, co, now)) {
				co->last_ns = now;
				return true;
			}
			WRITE_ONCE(co->streak_min, STREAK_MIN);
		}
	}
	held = sroce_coalesce_release(co);
	/* a smaller batch may be chance: last_batch decreases slowly */
	if (held)
		WRITE_ONCE(co->last_batch, max(held, co->last_batch * 3 / 4));
	co->start_ns = now;
	co->was_alone = !held;
	return false;
}

/* Whether the last doorbell sent one packet, and none that was held before */
static bool was_alone(struct sroce_qp *qp, const struct sroce_coalesce *co)
{
	return co->was_alone &&
	       sroce_psn_diff(READ_ONCE(qp->req.psn), co->psn) <= co->n_doorbells;
}

/* Add a sample to the mean; bounds keep out delays by interrupts and preemption. */
static void update_cost(struct sroce_coalesce *co, s64 took)
{
	s64 cost = co->cost;

	took = clamp_t(s64, took, 1, cost ? min_t(s64, 2 * cost, COST_MAX) : COST_MAX);
	WRITE_ONCE(co->cost, cost ? cost + (took - cost) / COST_WEIGHT : took);
}

/**
 * sroce_coalesce_sent() - note that a user's doorbell that was not held has been executed
 * @qp: the QP, unlocked
 *
 * Context: process.
 */
void sroce_coalesce_sent(struct sroce_qp *qp)
{
	struct sroce_coalesce *co = &qp->kqp->task.coalesce;
	s64 now;

	if (!co->start_ns)
		return;
	/* reading the clock takes time: only some doorbells are measured */
	if (co->was_alone && !co->streak && co->cost && ++co->samples % SAMPLE) {
		co->last_ns = co->start_ns + co->cost;
		return;
	}
	now = local_clock();
	if (was_alone(qp, co))
		update_cost(co, now - co->start_ns);
	co->last_ns = now;
}

/* Send what is held; or set the timer again, if the first of it was held later. */
static enum hrtimer_restart timer_fn(struct hrtimer *timer)
{
	struct sroce_coalesce *co = container_of(timer, struct sroce_coalesce, timer);
	struct sroce_kqp *kqp = container_of(co, struct sroce_kqp, task.coalesce);
	u32 need = READ_ONCE(co->streak_min);
	s64 left;
	int held;

	/* pairs with set_timer() */
	smp_mb();
	left = READ_ONCE(co->held_since) + hold_time(co) - (s64)local_clock();
	if (atomic_read(&co->held) && left > 0) {
		left = min(left, hold_time(co));
		/* not hrtimer_forward(): a doorbell may set the timer at the same time */
		hrtimer_start(timer, ns_to_ktime(left), HRTIMER_MODE_REL_SOFT);
		return HRTIMER_NORESTART;
	}
	held = sroce_coalesce_release(co);
	if (!held)
		return HRTIMER_NORESTART;
	WRITE_ONCE(co->last_batch, held);
	if (held < HELD_MIN)
		WRITE_ONCE(co->streak, 0);
	WRITE_ONCE(co->streak_min, clamp(held < HELD_MIN ? need * 2 : need / 2,
					 STREAK_MIN, STREAK_MAX));
	/* like a doorbell: what the QP's state does not execute is flushed or dropped */
	WRITE_ONCE(kqp->task.db_pending, true);
	tasklet_schedule(&kqp->task.tasklet);
	return HRTIMER_NORESTART;
}

/**
 * sroce_coalesce_init() - initialize the state of a new QP
 * @co: the state, zeroed
 */
void sroce_coalesce_init(struct sroce_coalesce *co)
{
	co->streak_min = STREAK_MIN;
	co->last_held = jiffies - ACTIVE_TIME;
	sroce_hrtimer_setup(&co->timer, timer_fn, HRTIMER_MODE_REL_SOFT);
}

/**
 * sroce_coalesce_stop() - cancel the timer; what is held is not sent
 * @co: state of a QP whose doorbell can't ring any more
 *
 * Context: process, may sleep.
 */
void sroce_coalesce_stop(struct sroce_coalesce *co)
{
	hrtimer_cancel(&co->timer);
}
