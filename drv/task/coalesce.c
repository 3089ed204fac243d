// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Streams of doorbells: who posts small messages one by one, and the next in less
 * time than the system call for the last one took, does not wait for each of them to
 * be on its way. What such a stream posts is held for a moment and leaves as one
 * train, for one trip through the IP stack and one acknowledge.
 *
 * A message by itself and one that answers another leave with their doorbell, and so do
 * a few that are waited for. Only RC's are held: the timer may send on another CPU than the
 * doorbell, and what has no acknowledge may not be overtaken.
 */

#include <linux/jiffies.h>
#include <linux/moduleparam.h>
#include <linux/sched/clock.h>
#include "drv/dev.h"

/* So many quick doorbells in a row make a stream, or more if that was wrong of late. */
#define STREAM_MIN	8U
#define STREAM_MAX	128U
/* One that is late has to be made up for by so many. */
#define LAG		2
/* Most doorbells that are held, and as a part of the ring; fewer are not worth it. */
#define HELD_MAX	32
#define HELD_MIN	4
#define RING_SHARE	8
/* How long they are */
#define HOLD_MIN	(4 * NSEC_PER_USEC)
#define HOLD_MAX	(500 * NSEC_PER_USEC)
/* One doorbell of so many is timed, and the mean of about so many of those counts. */
#define SAMPLE		8U
#define SMOOTH		4
#define COST_MAX	NSEC_PER_MSEC
/* Who has held a doorbell within this time is a stream to others. */
#define LATELY		(HZ / 100 + 1)

static bool tx_coalesce = true;
module_param(tx_coalesce, bool, 0644);
MODULE_PARM_DESC(tx_coalesce, "Send small messages posted back to back as one train");

/*
 * As long as it would take to send the fewest, or half of those that left together
 * lately. Where they were many the timer had better not fire between two of the next: that
 * takes longer than a doorbell, which looks like the end of the stream.
 */
static s64 hold_time(const struct sroce_coalesce *st)
{
	s64 doorbells = max_t(s64, READ_ONCE(st->last_batch) / 2, HELD_MIN);

	return clamp_t(s64, READ_ONCE(st->cost) * doorbells, HOLD_MIN, HOLD_MAX);
}

static int held_max(const struct sroce_qp *qp)
{
	return min_t(int, (qp->sq.mask + 1) / RING_SHARE, HELD_MAX);
}

/* On a real-time kernel who polls may keep the timer from running. */
static bool may_hold(const struct sroce_qp *qp)
{
	return qp->svc == SROCE_SVC_RC && held_max(qp) >= HELD_MIN &&
	       READ_ONCE(tx_coalesce) && !IS_ENABLED(CONFIG_PREEMPT_RT) &&
	       hrtimer_resolution <= HOLD_MIN;
}

/* A stream goes on even if something holds its process up a little. */
static bool is_quick(const struct sroce_coalesce *st, s64 now)
{
	s64 cost = READ_ONCE(st->cost);

	return now - st->last_ns < (st->streak < READ_ONCE(st->streak_min) ? cost / 2 : cost);
}

/* Whether a number is another than at the last doorbell */
static bool has_moved(u32 now, u32 *then)
{
	u32 before = *then;

	*then = now;
	return now != before;
}

/* The peer has sent a message since the last doorbell. */
static bool was_answered(struct sroce_qp *qp, struct sroce_coalesce *st)
{
	return has_moved(READ_ONCE(qp->resp.msn), &st->msn);
}

/* The process has polled completions since the last one. */
static bool was_polled(struct sroce_qp *qp, struct sroce_coalesce *st)
{
	return has_moved(READ_ONCE(qp->scq->cons_seen), &st->cq_seen);
}

/*
 * Whether what was sent since the last look were messages of one packet, with hardly
 * more than one for a doorbell. If there was nothing, it may come late, or those
 * doorbells were for nothing.
 */
static bool is_small(struct sroce_qp *qp, struct sroce_coalesce *st, bool *some)
{
	u32 psn = READ_ONCE(qp->req.psn), ssn = READ_ONCE(qp->req.ssn);
	s32 packets = sroce_psn_diff(psn, st->psn);
	s32 messages = sroce_psn_diff(ssn, st->ssn);
	bool ret = packets <= messages && messages <= 2 * st->n_doorbells;

	*some = packets > 0;
	if (*some)
		st->n_doorbells = 0;
	st->psn = psn;
	st->ssn = ssn;
	return ret;
}

/* Whether @qp's doorbells are a stream, with the one that rings now */
static bool is_stream(struct sroce_qp *qp, struct sroce_coalesce *st, s64 now)
{
	u32 need = READ_ONCE(st->streak_min), row = min(READ_ONCE(st->streak), need);
	bool quick = is_quick(st, now), some = true;

	if (was_answered(qp, st) ||
	    (!atomic_read(&st->held) && !is_small(qp, st, &some)))
		row = 0;
	else if (!quick)
		row -= min_t(u32, row, LAG);
	else if (some)
		row++;
	if (was_polled(qp, st))
		row = min(row, need / 2);
	st->n_doorbells = min(st->n_doorbells + 1, 2 * HELD_MAX);
	WRITE_ONCE(st->streak, row);
	return row >= need;
}

/**
 * sroce_coalesce_active() - whether messages are posted in a stream of late
 * @st: of a QP
 *
 * Who posts one by one is slower than who receives: were that another CPU, completions
 * would come in smaller portions, and so would messages.
 */
bool sroce_coalesce_active(const struct sroce_coalesce *st)
{
	return time_before(jiffies, READ_ONCE(st->last_held) + LATELY);
}

/* All that was posted is to be sent now. Return: how much of it was held. */
static int release(struct sroce_coalesce *st)
{
	/* a full barrier: who holds more has the ring read again */
	return atomic_read(&st->held) ? atomic_xchg(&st->held, 0) : 0;
}

static void set_timer(struct sroce_coalesce *st)
{
	/* pairs with timer_fn(): it sees what is held, or is not there any more */
	smp_mb__after_atomic();
	if (!hrtimer_is_queued(&st->timer))
		hrtimer_start(&st->timer, ns_to_ktime(hold_time(st)),
			      HRTIMER_MODE_REL_SOFT);
}

static void count(struct sroce_qp *qp)
{
	/* the set of counters may be on its way out */
	rcu_read_lock();
	sroce_count(qp, SROCE_CNT_DB_COALESCED);
	rcu_read_unlock();
}

/* Return: false if it is one too many */
static bool hold_one(struct sroce_qp *qp, struct sroce_coalesce *st, s64 now)
{
	int held = atomic_inc_return(&st->held);

	if (held >= held_max(qp))
		return false;
	if (held == 1)
		WRITE_ONCE(st->held_since, now);
	WRITE_ONCE(st->last_held, jiffies);
	set_timer(st);
	count(qp);
	return true;
}

/**
 * sroce_coalesce_hold() - a user's doorbell rings: may it wait for those that follow?
 * @qp: the QP
 *
 * Process context. Where two of a QP ring at once, what is remembered of them may be
 * wrong, and one leaves too early, or a moment too late.
 *
 * Return: true if what was posted will be sent by a later doorbell or the timer; if
 * not, the caller sends it, and all that was held, and then calls
 * sroce_coalesce_sent().
 */
bool sroce_coalesce_hold(struct sroce_qp *qp)
{
	struct sroce_coalesce *st = &qp->kqp->coalesce;
	s64 now = 0;
	int held;

	if (may_hold(qp)) {
		now = local_clock();
		if (is_stream(qp, st, now) && READ_ONCE(qp->state) == IB_QPS_RTS) {
			if (hold_one(qp, st, now)) {
				st->last_ns = now;
				return true;
			}
			WRITE_ONCE(st->streak_min, STREAM_MIN);
		}
	}
	held = release(st);
	/* fewer than before may have been chance */
	if (held)
		WRITE_ONCE(st->last_batch, max(held, st->last_batch * 3 / 4));
	st->start_ns = now;
	st->was_alone = !held;
	return false;
}

/* The last doorbell sent one packet, and nothing that was held before. */
static bool was_alone(struct sroce_qp *qp, const struct sroce_coalesce *st)
{
	return st->was_alone &&
	       sroce_psn_diff(READ_ONCE(qp->req.psn), st->psn) <= st->n_doorbells;
}

/* What held it up is not its cost, nor what takes long now and then. */
static void learn(struct sroce_coalesce *st, s64 took)
{
	s64 cost = st->cost;

	took = clamp_t(s64, took, 1, cost ? min_t(s64, 2 * cost, COST_MAX) : COST_MAX);
	WRITE_ONCE(st->cost, cost ? cost + (took - cost) / SMOOTH : took);
}

/**
 * sroce_coalesce_sent() - a user's doorbell that was not held is done with
 * @qp: the QP
 */
void sroce_coalesce_sent(struct sroce_qp *qp)
{
	struct sroce_coalesce *st = &qp->kqp->coalesce;
	s64 now;

	if (!st->start_ns)
		return;
	/* the clock is not free */
	if (st->was_alone && !st->streak && st->cost && ++st->samples % SAMPLE) {
		st->last_ns = st->start_ns + st->cost;
		return;
	}
	now = local_clock();
	if (was_alone(qp, st))
		learn(st, now - st->start_ns);
	st->last_ns = now;
}

/**
 * sroce_task_send_held() - what is held has to leave before something changes
 * @qp: the QP, of a user
 *
 * Process context, nothing locked.
 */
void sroce_task_send_held(struct sroce_qp *qp)
{
	if (release(&qp->kqp->coalesce) && sroce_task_lock_doorbell(qp))
		sroce_task_unlock_run(qp);
}

/* The stream has ended, or it goes on and something new is held since. */
static enum hrtimer_restart timer_fn(struct hrtimer *timer)
{
	struct sroce_coalesce *st = container_of(timer, struct sroce_coalesce, timer);
	struct sroce_kqp *kqp = container_of(st, struct sroce_kqp, coalesce);
	u32 need = READ_ONCE(st->streak_min);
	s64 left;
	int held;

	/* pairs with set_timer() */
	smp_mb();
	left = READ_ONCE(st->held_since) + hold_time(st) - (s64)local_clock();
	if (atomic_read(&st->held) && left > 0) {
		left = min(left, hold_time(st));
		/* not forwarded: a doorbell may be setting it, too */
		hrtimer_start(timer, ns_to_ktime(left), HRTIMER_MODE_REL_SOFT);
		return HRTIMER_NORESTART;
	}
	held = release(st);
	if (!held)
		return HRTIMER_NORESTART;
	WRITE_ONCE(st->last_batch, held);
	if (held < HELD_MIN)
		WRITE_ONCE(st->streak, 0);
	WRITE_ONCE(st->streak_min, clamp(held < HELD_MIN ? need * 2 : need / 2,
				   STREAM_MIN, STREAM_MAX));
	/* as a doorbell: what can't be executed now is flushed, or discarded */
	WRITE_ONCE(kqp->db_pending, true);
	tasklet_schedule(&kqp->task);
	return HRTIMER_NORESTART;
}

/**
 * sroce_coalesce_init() - no doorbell has rung yet
 * @st: zeroed
 */
void sroce_coalesce_init(struct sroce_coalesce *st)
{
	st->streak_min = STREAM_MIN;
	st->last_held = jiffies - LATELY;
	sroce_hrtimer_setup(&st->timer, timer_fn, HRTIMER_MODE_REL_SOFT);
}

/**
 * sroce_coalesce_stop() - nothing that is held will be sent
 * @st: of a QP whose doorbell can't ring any more
 */
void sroce_coalesce_stop(struct sroce_coalesce *st)
{
	hrtimer_cancel(&st->timer);
}
