// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Flushes receives that a process posts in the error state. It posts them without a system
 * call, so its QPs in that state are visited in turn, by one work item for all QPs of a user,
 * who may open the device any number of times. What that costs is bounded, whatever the number
 * of QPs and of receives.
 */

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include "drv/compat/compat.h"
#include "drv/core/rc/flush.h"
#include "drv/lookup/qp_tbl.h"
#include "drv/lookup/sdev.h"
#include "drv/task/flusher.h"

/* Shortest and longest time between two rounds, in ns */
#define DELAY_MIN	(1 * (u64)NSEC_PER_MSEC)
#define DELAY_MAX	(128 * (u64)NSEC_PER_MSEC)
/* QPs that are looked at in a round, per ms since the last one, and at most */
#define QPS_PER_MS	64
#define QPS_MAX		512
/*
 * With more QPs than QPS_MAX rounds follow each other sooner, so that each QP has its turn,
 * but not sooner than this if nothing is posted, in ns
 */
#define DELAY_CROWD	(16 * (u64)NSEC_PER_MSEC)
/* QPs that are looked at under the lock at a time */
#define QPS_LOCKED	32

static enum hrtimer_restart timer_fn(struct hrtimer *timer)
{
	struct sroce_flusher *fl = container_of(timer, struct sroce_flusher, timer);

	queue_work(system_unbound_wq, &fl->work);
	return HRTIMER_NORESTART;
}

/* Whether a QP has receives to flush, or does not belong here any more */
static bool is_due(const struct sroce_kqp *kqp)
{
	return READ_ONCE(kqp->qp->state) != IB_QPS_ERR || sroce_ring_filled(&kqp->qp->rq.ring);
}

/*
 * The next QP that is due, held; NULL if there is none among the next QPS_LOCKED, or
 * *@left, which is reduced by the number of QPs looked at
 */
static struct sroce_kqp *next_due(struct sroce_flusher *fl, u32 *left)
{
	struct sroce_kqp *kqp, *due = NULL;
	u32 n;

	spin_lock_bh(&fl->lock);
	for (n = min3(*left, fl->n, (u32)QPS_LOCKED); n && !due; n--) {
		kqp = list_first_entry(&fl->qps, struct sroce_kqp, err_list);
		list_rotate_left(&fl->qps);
		--*left;
		if (is_due(kqp))
			due = sroce_qp_tbl_get(kqp, kqp->qp->dev->sn);
	}
	if (!fl->n)
		*left = 0;
	spin_unlock_bh(&fl->lock);
	return due;
}

/* Visit QPs in turn, until a batch of receives has been flushed. Return: their number */
static u32 visit(struct sroce_flusher *fl)
{
	u32 left = min_t(u64, div_u64(fl->delay * QPS_PER_MS, NSEC_PER_MSEC), QPS_MAX);
	struct sroce_kqp *kqp;
	u32 flushed = 0;

	/* no QP twice */
	left = min(left, READ_ONCE(fl->n));
	while (left && flushed < SROCE_FLUSH_BATCH) {
		kqp = next_due(fl, &left);
		if (kqp) {
			flushed += kqp->task.flush(kqp);
			sroce_qp_tbl_put(kqp);
		}
		cond_resched();
	}
	return flushed;
}

/* Longest delay with @n QPs */
static u64 longest_delay(u32 n)
{
	return n <= QPS_MAX ? DELAY_MAX : max(div_u64(DELAY_MAX * QPS_MAX, n), DELAY_CROWD);
}

static void start_timer(struct sroce_flusher *fl, u64 delay)
{
	fl->delay = delay;
	hrtimer_start(&fl->timer, ns_to_ktime(delay), HRTIMER_MODE_REL_SOFT);
}

static void work_fn(struct work_struct *work)
{
	struct sroce_flusher *fl = container_of(work, struct sroce_flusher, work);
	u32 flushed = visit(fl);

	spin_lock_bh(&fl->lock);
	if (fl->n)
		start_timer(fl, flushed ? DELAY_MIN :
				min(fl->delay * 2, longest_delay(fl->n)));
	spin_unlock_bh(&fl->lock);
}

/**
 * sroce_flusher_init() - set up the flusher of a user
 * @fl: the flusher, zeroed; one that is set up already is left alone
 *
 * Context: process. May be called by several processes of the user at a time.
 */
void sroce_flusher_init(struct sroce_flusher *fl)
{
	static DEFINE_MUTEX(lock);

	mutex_lock(&lock);
	if (!fl->work.func) {
		spin_lock_init(&fl->lock);
		INIT_LIST_HEAD(&fl->qps);
		INIT_WORK(&fl->work, work_fn);
		sroce_hrtimer_setup(&fl->timer, timer_fn, HRTIMER_MODE_REL_SOFT);
	}
	mutex_unlock(&lock);
}

/**
 * sroce_flusher_settle() - stop the flusher of a user, if no other context needs it
 * @fl: the flusher; all QPs of the caller's context have been destroyed
 *
 * The timer is started only while there are QPs. Whoever owns the last of them comes here
 * afterwards, so nothing runs when the last context has ended. Another context may add a
 * QP while the timer is being cancelled, then it is started again.
 *
 * Context: process, may sleep for as long as a visit to a QP takes.
 */
void sroce_flusher_settle(struct sroce_flusher *fl)
{
	if (READ_ONCE(fl->n))
		return;
	hrtimer_cancel(&fl->timer);
	cancel_work_sync(&fl->work);
	spin_lock_bh(&fl->lock);
	if (fl->n)
		start_timer(fl, DELAY_MIN);
	spin_unlock_bh(&fl->lock);
}

/**
 * sroce_flusher_add() - have a QP visited, as it is in the error state
 * @kqp: a user's QP, locked, with a receive queue of its own
 *
 * The first visit is due soon. A QP that has left the error state is removed when it is
 * visited, by sroce_task.flush(), with the QP locked.
 */
void sroce_flusher_add(struct sroce_kqp *kqp)
{
	struct sroce_flusher *fl = kqp->flusher;

	if (!list_empty(&kqp->err_list))
		return;
	spin_lock(&fl->lock);
	list_add(&kqp->err_list, &fl->qps);
	fl->n++;
	start_timer(fl, DELAY_MIN);
	spin_unlock(&fl->lock);
}

/**
 * sroce_flusher_del() - undo sroce_flusher_add()
 * @kqp: the QP, locked, or one that nobody refers to any more
 */
void sroce_flusher_del(struct sroce_kqp *kqp)
{
	struct sroce_flusher *fl = kqp->flusher;

	if (list_empty(&kqp->err_list))
		return;
	spin_lock_bh(&fl->lock);
	list_del_init(&kqp->err_list);
	fl->n--;
	spin_unlock_bh(&fl->lock);
}
