// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A trip into a QP: lock it, let the protocol work, unlock it, and then do what must not
 * be done under the lock: send packets, notify consumers, raise events. Which CPU makes
 * the trip, and when, is described in drv/task/task.h.
 */

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include "drv/compat/compat.h"
#include "drv/core/env.h"
#include "drv/core/mem/wqe.h"
#include "drv/core/rc/answer.h"
#include "drv/core/rc/flush.h"
#include "drv/core/rc/reset.h"
#include "drv/core/rc/retrans.h"
#include "drv/core/transport.h"
#include "drv/core/tx/lbpkt.h"
#include "drv/lookup/kqp.h"
#include "drv/lookup/qp_tbl.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"
#include "drv/net/loopback.h"
#include "drv/net/tx.h"
#include "drv/net/txq.h"
#include "drv/queue/cq.h"
#include "drv/queue/srq.h"
#include "drv/task/backlog.h"
#include "drv/task/coalesce.h"
#include "drv/task/flusher.h"
#include "drv/task/steer.h"
#include "drv/task/task.h"

/* Most rounds of sending in a trip: loopback packets have replies, which cause more */
#define ROUNDS		4
/*
 * Most nested trips on a CPU. A loopback packet makes a trip into the receiving QP, which
 * may send loopback packets itself. Two connected QPs need four nested trips. The stack
 * must not depend on that.
 */
#define NESTED_MAX	4
/*
 * If more than so many QPs of a user wait for RNR, their waits end once per so many ns, on
 * average. Each time one sends and is refused again, and the peer may be on this host, too.
 */
#define RNR_WAITS_FREE	16
#define RNR_INTERVAL	(100 * NSEC_PER_USEC)

static DEFINE_PER_CPU(u32, nested);

static void deliver(struct sroce_dev *dev, struct list_head *list);

/**
 * sroce_now() - monotonic time
 *
 * Return: ns of CLOCK_MONOTONIC.
 */
u64 sroce_now(void)
{
	return ktime_get_ns();
}

/**
 * sroce_task_set_ack_timer() - set the ACK timer, which calls sroce_retrans_timer()
 * @qp: the QP, locked
 * @when: earliest time, in ns of sroce_now()
 * @slack: how much later it may fire, in ns
 *
 * A timer that fires before its deadline is set again by who waits, in the run that follows. So a
 * later deadline costs nothing here. An earlier one programs the clock's hardware. That is done
 * only if the timer, with the slack that it was set with, could fire too late.
 */
void sroce_task_set_ack_timer(struct sroce_qp *qp, u64 when, u64 slack)
{
	struct sroce_task *task = &qp->kqp->task;

	if (task->ack_latest && task->ack_latest <= when + slack)
		return;
	task->ack_latest = when + slack;
	hrtimer_start_range_ns(&task->ack_timer, ns_to_ktime(when), slack,
			       HRTIMER_MODE_ABS_SOFT);
}

/* Return: the number of QPs of the user that wait for RNR, this one included. */
static u32 count_rnr_wait(struct sroce_kqp *kqp)
{
	if (kqp->task.rnr_counted)
		return atomic_read(&kqp->share->rnr_waits);
	kqp->task.rnr_counted = true;
	return atomic_inc_return(&kqp->share->rnr_waits);
}

static void uncount_rnr_wait(struct sroce_kqp *kqp)
{
	if (!kqp->task.rnr_counted)
		return;
	kqp->task.rnr_counted = false;
	atomic_dec(&kqp->share->rnr_waits);
}

/**
 * sroce_task_set_rnr_timer() - set the RNR timer, which calls sroce_retrans_rnr_timer()
 * @qp: the QP, locked
 * @delay: time from now, in ns
 *
 * It is set later if the QP has waited in vain, and so many QPs of the user wait that their timers
 * would fire too often. What the peer asks for is a least time (9.7.5.2.8).
 */
void sroce_task_set_rnr_timer(struct sroce_qp *qp, u64 delay)
{
	u64 waits = count_rnr_wait(qp->kqp), least = waits * RNR_INTERVAL;

	/* the first wait of a QP is no one's fault: its peer may be another than theirs */
	if (unlikely(waits > RNR_WAITS_FREE && delay < least && qp->req.rnr_waits > 1)) {
		sroce_count(qp, SROCE_CNT_RNR_DELAYED);
		delay = least;
	}
	hrtimer_start(&qp->kqp->task.rnr_timer, ns_to_ktime(delay),
		      HRTIMER_MODE_REL_SOFT);
}

static void qp_events(struct sroce_qp *qp, u32 events)
{
	struct ib_event ev = { .device = qp->ibqp.device, .element.qp = &qp->ibqp };
	int i;

	for (i = 0; events; i++, events >>= 1) {
		ev.event = i;
		if (events & 1 && qp->ibqp.event_handler)
			qp->ibqp.event_handler(&ev, qp->ibqp.qp_context);
	}
}

static void event_work(struct work_struct *work)
{
	struct sroce_task *task = container_of(work, struct sroce_task, event_work);

	qp_events(container_of(task, struct sroce_kqp, task)->qp, atomic_xchg(&task->events, 0));
}

/* The handler of a kernel user's QP may sleep (struct ib_qp_init_attr). */
static void dispatch_events(struct sroce_qp *qp, u32 events, u32 srq_events)
{
	struct ib_event ev = { .device = qp->ibqp.device };

	if (events && !qp->user) {
		atomic_or(events, &qp->kqp->task.events);
		schedule_work(&qp->kqp->task.event_work);
	} else {
		qp_events(qp, events);
	}
	if (!srq_events)
		return;
	ev.element.srq = &qp->srq->ibsrq;
	ev.event = IB_EVENT_SRQ_LIMIT_REACHED;
	if (qp->srq->ibsrq.event_handler)
		qp->srq->ibsrq.event_handler(&ev, qp->srq->ibsrq.srq_context);
}

static bool txq_empty(const struct sroce_txq *txq)
{
	return skb_queue_empty(&txq->skbs) && list_empty(&txq->lbpkts);
}

/* Move queued packets to @list. @more: leave a train that the next packets may join. */
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

/* Prepare packets to be sent, and tell drv/task/steer.c about a train. */
static void prepare_packets(struct sroce_qp *qp, struct sroce_txq *txq,
			    const struct sk_buff_head *list)
{
	if (sroce_tx_prepare(qp, txq, list) &&
	    !sroce_coalesce_active(&qp->kqp->task.coalesce))
		sroce_steer_note_tx();
}

/*
 * Whether packets wait for those of another CPU. That ends with a timer, at the latest: UC has none
 * of its own, nor has RC while it only responds. In RESET none may be started.
 */
static bool must_wait(struct sroce_qp *qp, struct sroce_txq *txq)
{
	if (!sroce_txq_must_wait(txq))
		return false;
	if (qp->state != IB_QPS_RESET)
		sroce_task_set_ack_timer(qp, sroce_now() + sroce_txq_wait_left(txq), 0);
	return true;
}

/*
 * Send what is queued, with the lock dropped meanwhile. Packets that another CPU queues in
 * the meantime are sent here as well. The number of rounds is bounded, because a peer on
 * this host replies at once, which makes more packets possible.
 *
 * @more: the protocol is called again at once, and its packets may join the last train.
 *
 * Return: whether packets are left over, other than that train, or were dropped, or others
 * may follow, as loopback packets have left a full queue.
 */
static bool send_txq(struct sroce_qp *qp, struct sroce_txq *txq, bool more)
{
	struct sk_buff_head list;
	bool dropped, stopped = false;
	LIST_HEAD(lbpkts);
	u32 round;

	if (txq->sending || must_wait(qp, txq))
		return false;
	if (this_cpu_read(nested) >= NESTED_MAX)
		return true;
	this_cpu_inc(nested);
	__skb_queue_head_init(&list);
	txq->sending = true;
	for (round = 0; round < ROUNDS; round++) {
		take_packets(txq, &list, more);
		stopped |= sroce_loopback_take(txq, &lbpkts);
		if (skb_queue_empty(&list) && list_empty(&lbpkts))
			break;
		prepare_packets(qp, txq, &list);
		spin_unlock(&qp->lock);
		dropped = sroce_tx_xmit(qp->dev, &list);
		deliver(qp->dev, &lbpkts);
		spin_lock(&qp->lock);
		txq->dropped |= dropped;
	}
	txq->sending = false;
	this_cpu_dec(nested);
	return txq->dropped || stopped || (!more && !txq_empty(txq));
}

static bool send_queued(struct sroce_qp *qp, bool more)
{
	struct sroce_txq *txq = qp->kqp->txq;
	bool left = false;
	int i;

	for (i = 0; i < SROCE_TXQS; i++)
		if (!txq_empty(&txq[i]))
			left |= send_txq(qp, &txq[i], more);
	return left;
}

/* Tell the transport what the IP stack has dropped since it was told last. */
static void report_drops(struct sroce_qp *qp)
{
	struct sroce_txq *txq = qp->kqp->txq;
	int i;

	for (i = 0; i < SROCE_TXQS; i++) {
		if (likely(!txq[i].dropped))
			continue;
		txq[i].dropped = false;
		sroce_transport_tx_dropped(qp, i == SROCE_TXQ_RESPONSES);
	}
}

/*
 * A user posts receives without a doorbell. Receives posted in the error state have to be
 * flushed. So the QP is visited from time to time.
 */
static bool needs_flusher(const struct sroce_qp *qp)
{
	return qp->state == IB_QPS_ERR && qp->user && !qp->srq;
}

/*
 * See to receives that are not flushed, as there were many, or as they will be posted
 * without a doorbell. Return: whether the QP has more to do; only that of a kernel user,
 * who can't go on posting for ever.
 */
static bool watch_error(struct sroce_qp *qp)
{
	if (likely(qp->state != IB_QPS_ERR))
		return false;
	if (!qp->user)
		return !qp->srq && sroce_ring_filled(&qp->rq.ring);
	if (needs_flusher(qp))
		sroce_flusher_add(qp->kqp);
	return false;
}

/* Whether a CPU that found the QP locked has left a note for its owner */
static bool is_needed(const struct sroce_task *task)
{
	/*
	 * Pairs with the barriers after a note was left: here the unlock comes before the
	 * check, there the note comes before try_lock(). One of the two CPUs succeeds.
	 */
	smp_mb();
	return READ_ONCE(task->db_pending) || !skb_queue_empty_lockless(&task->backlog);
}

/*
 * Have the tasklet go on, on this CPU. If the peer is on this host, packets that were sent
 * here are received here first, and later ones don't overtake them.
 */
static void go_on(struct sroce_task *task)
{
	WRITE_ONCE(task->cpu, smp_processor_id() + 1);
	tasklet_schedule(&task->tasklet);
}

/* See to notes after the unlock of a QP. @more: the QP has more to do. */
static void after_unlock(struct sroce_task *task, bool more)
{
	if (is_needed(task) || more)
		go_on(task);
	local_bh_enable();
}

/**
 * sroce_task_lock() - lock a QP for a trip into it
 * @qp: the QP
 *
 * Context: process or softirq; waits for the owner. Bottom halves are off until the
 * unlock.
 */
void sroce_task_lock(struct sroce_qp *qp) __acquires(&qp->lock)
{
	spin_lock_bh(&qp->lock);
}

/**
 * sroce_task_unlock() - unlock a QP that has no work because of this lock
 * @qp: the QP, locked by sroce_task_lock()
 *
 * The tasklet is scheduled if another CPU has left a note meanwhile.
 */
void sroce_task_unlock(struct sroce_qp *qp) __releases(&qp->lock)
{
	spin_unlock(&qp->lock);
	after_unlock(&qp->kqp->task, false);
}

/**
 * sroce_task_lock_query() - lock a QP that may be being destroyed, and hold it if not
 * @qp: the QP, whose ib_qp the RDMA core has not freed
 *
 * On some kernels the core lets a dump find a QP until after its destruction. So what a
 * dump or query calls must use nothing that the destruction frees.
 *
 * Return: the kernel's part of the QP, held; NULL if the QP is being destroyed: then only
 * what is within struct sroce_qp may be used. The QP is locked in either case.
 */
struct sroce_kqp *sroce_task_lock_query(struct sroce_qp *qp) __acquires(&qp->lock)
{
	sroce_task_lock(qp);
	return sroce_qp_tbl_get(qp->kqp, qp->dev->sn);
}

/**
 * sroce_task_unlock_query() - undo sroce_task_lock_query()
 * @qp: the QP
 * @kqp: what sroce_task_lock_query() returned
 */
void sroce_task_unlock_query(struct sroce_qp *qp, struct sroce_kqp *kqp)
	__releases(&qp->lock)
{
	if (!kqp) {
		spin_unlock_bh(&qp->lock);
		return;
	}
	sroce_task_unlock(qp);
	sroce_qp_tbl_put(kqp);
}

/* Take in posted sends; drop or flush them in a state that does not execute them. */
static void take_doorbell(struct sroce_qp *qp)
{
	sroce_wqe_doorbell(qp);
	WRITE_ONCE(qp->kqp->task.db_cpu, smp_processor_id() + 1);
	if (qp->state < IB_QPS_RTS)
		sroce_reset_sq(qp);
	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_SQE)
		sroce_flush_sq(qp);
	if (qp->state == IB_QPS_ERR)
		sroce_flush_rq(qp);
}

/* Return: whether the QP was locked. Sparse does not track a conditional lock. */
static bool try_lock(struct sroce_qp *qp)
{
	int locked = spin_trylock_bh(&qp->lock);

	if (locked)
		__release(&qp->lock);
	return locked;
}

/* Lock a QP, unless its owner will keep it for long. Return: whether it was locked. */
static bool lock_unless_busy(struct sroce_qp *qp)
{
	if (try_lock(qp))
		return true;
	if (sroce_kqp_is_busy(qp->kqp))
		return false;
	sroce_task_lock(qp);
	__release(&qp->lock);
	return true;
}

/**
 * sroce_task_lock_doorbell() - lock a QP and take in its posted sends, or leave a note
 * @qp: the QP
 *
 * Context: process.
 *
 * Return: whether the QP was locked; if not, its owner takes in what was posted.
 */
bool sroce_task_lock_doorbell(struct sroce_qp *qp)
{
	WRITE_ONCE(qp->kqp->task.post_cpu, raw_smp_processor_id() + 1);
	if (!lock_unless_busy(qp)) {
		/* a CPU that sees the flag also sees what was posted */
		smp_mb();
		WRITE_ONCE(qp->kqp->task.db_pending, true);
		/* pairs with is_needed(): the flag is seen, or the lock is free */
		smp_mb();
		if (!try_lock(qp))
			return false;
	}
	take_doorbell(qp);
	return true;
}

/* Take in what was posted by a doorbell that found the QP locked. */
static void take_pending_doorbell(struct sroce_qp *qp)
{
	struct sroce_task *task = &qp->kqp->task;

	if (!READ_ONCE(task->db_pending))
		return;
	WRITE_ONCE(task->db_pending, false);
	/* clear before the ring is read: a later doorbell sets the flag again */
	smp_mb();
	take_doorbell(qp);
}

/*
 * Take in held doorbells, as this trip may send anyway. Only on the CPU of the last
 * doorbell: from another CPU the packets could overtake those that the doorbell has sent.
 */
static void take_held(struct sroce_qp *qp)
{
	struct sroce_task *task = &qp->kqp->task;

	if (task->db_cpu == smp_processor_id() + 1 && atomic_read(&task->coalesce.held))
		sroce_wqe_doorbell(qp);
}

/* Notify consumers of CQs, and raise the events of an overflow. */
static void notify_cqs(struct sroce_qp *qp, u32 deferred)
{
	if (unlikely(deferred & SROCE_DEFER_SCQ))
		sroce_cq_notify(qp->scq);
	if (unlikely(deferred & SROCE_DEFER_RCQ))
		sroce_cq_notify(qp->rcq);
	if (unlikely(deferred & SROCE_DEFER_OVERFLOW(SROCE_DEFER_SCQ)))
		sroce_cq_overflow_event(qp->scq);
	if (unlikely(deferred & SROCE_DEFER_OVERFLOW(SROCE_DEFER_RCQ)))
		sroce_cq_overflow_event(qp->rcq);
}

/* The trip itself, see drv/task/task.h. Return: whether the QP has more to do. */
static bool run_and_unlock(struct sroce_qp *qp) __releases(&qp->lock)
{
	u32 deferred, events, srq_events;
	bool more;

	sroce_backlog_drain(qp);
	take_pending_doorbell(qp);
	take_held(qp);
	report_drops(qp);
	more = sroce_transport_run(qp);
	more |= watch_error(qp);
	more |= send_queued(qp, more && !(qp->deferred & SROCE_DEFER_SEND_NOW));
	deferred = qp->deferred;
	events = qp->events;
	srq_events = qp->srq_events;
	qp->deferred = 0;
	qp->events = 0;
	qp->srq_events = 0;
	spin_unlock(&qp->lock);

	notify_cqs(qp, deferred);
	if (unlikely(events | srq_events))
		dispatch_events(qp, events, srq_events);
	return more;
}

/**
 * sroce_task_unlock_run_once() - let the QP work, unlock it and do what was deferred
 * @qp: the QP, locked by sroce_task_lock()
 *
 * The caller holds a reference to the QP.
 *
 * Return: whether the QP has more to do; the caller makes another trip then.
 */
bool sroce_task_unlock_run_once(struct sroce_qp *qp) __releases(&qp->lock)
{
	bool more = run_and_unlock(qp);

	after_unlock(&qp->kqp->task, false);
	return more;
}

/**
 * sroce_task_unlock_run() - like unlock_run_once(), the tasklet goes on if there is more
 * @qp: the QP, locked by sroce_task_lock()
 */
void sroce_task_unlock_run(struct sroce_qp *qp) __releases(&qp->lock)
{
	after_unlock(&qp->kqp->task, run_and_unlock(qp));
}

/**
 * sroce_task_unlock_verb() - unlock a QP at the end of a verb, and let it work
 * @qp: the QP, locked by sroce_task_lock()
 *
 * For a kernel user the tasklet makes the trip: completion and event handlers must not be
 * called from within a verb, as the caller may hold locks that they take.
 */
void sroce_task_unlock_verb(struct sroce_qp *qp) __releases(&qp->lock)
{
	if (qp->user) {
		sroce_task_unlock_run(qp);
		return;
	}
	tasklet_schedule(&qp->kqp->task.tasklet);
	spin_unlock_bh(&qp->lock);
}

/*
 * Whether the tasklet of another CPU is to go on. Packets sent from here could overtake
 * those that the other CPU has sent.
 */
static bool is_elsewhere(const struct sroce_task *task)
{
	int cpu = READ_ONCE(task->cpu);

	return cpu && cpu != smp_processor_id() + 1;
}

/**
 * sroce_task_lock_or_backlog() - lock a QP for a packet, or queue the packet for its owner
 * @kqp: the QP, held
 * @skb: a datagram or train
 * @qpn: destination QPN of the packet
 * @n: segments of it that have been received
 *
 * Packets stay in order: those in the backlog are received before @skb.
 *
 * Context: softirq.
 *
 * Return: true if the QP was locked; false if @skb was queued and is gone.
 */
bool sroce_task_lock_or_backlog(struct sroce_kqp *kqp, struct sk_buff *skb, u32 qpn, u32 n)
{
	struct sroce_task *task = &kqp->task;
	struct sroce_qp *qp = kqp->qp;

	if (skb_queue_empty_lockless(&task->backlog) && !is_elsewhere(task) &&
	    lock_unless_busy(qp))
		return true;
	if (sroce_backlog_is_full(kqp)) {
		sroce_task_lock(qp);
		sroce_backlog_drain_all(qp);
		/* for sparse: the caller unlocks */
		__release(&qp->lock);
		return true;
	}
	sroce_backlog_queue(kqp, skb, qpn, n);
	/* the owner of the QP sees the packet, or the lock is free */
	smp_mb();
	if (!is_elsewhere(task) && try_lock(qp)) {
		__acquire(&qp->lock);
		sroce_task_unlock_run(qp);
	}
	return false;
}

/* Send what held doorbells have posted. */
static void send_doorbells(struct sroce_qp *qp)
{
	if (!sroce_coalesce_release(&qp->kqp->task.coalesce) || !sroce_task_lock_doorbell(qp))
		return;
	/* for sparse, which does not see that the doorbell has locked it */
	__acquire(&qp->lock);
	sroce_task_unlock_run(qp);
}

/**
 * sroce_task_send_held() - send what is held, messages and an ACK, before the QP is changed
 * @qp: the QP, unlocked
 *
 * No other ACK is held before there is a new streak of answers.
 *
 * Context: process.
 */
void sroce_task_send_held(struct sroce_qp *qp)
{
	send_doorbells(qp);
	if (!sroce_answer_may_end(qp))
		return;
	sroce_task_lock(qp);
	sroce_answer_end(qp);
	sroce_task_unlock_run(qp);
}

static struct sroce_kqp *find_qp(struct sroce_dev *dev, u32 qpn)
{
	struct sroce_kqp *kqp;

	rcu_read_lock();
	kqp = sroce_qp_tbl_get(sroce_qp_tbl_peek(qpn), dev->sn);
	rcu_read_unlock();
	return kqp;
}

/*
 * Hand loopback packets of one QP to its peer, in order; @list is empty afterwards. Bottom
 * halves are off and no lock is held. The peer's reply may be received before this
 * returns.
 */
static void deliver(struct sroce_dev *dev, struct list_head *list)
{
	struct sroce_lbpkt *lbpkt = sroce_loopback_first(list);
	struct sroce_kqp *kqp;

	if (!lbpkt)
		return;
	kqp = find_qp(dev, lbpkt->pkt.qpn);
	if (!kqp) {
		this_cpu_inc(dev->counters->c[SROCE_CNT_RX_NO_QP]);
		sroce_loopback_purge(list);
		return;
	}
	sroce_task_lock(kqp->qp);
	while ((lbpkt = sroce_loopback_first(list))) {
		sroce_transport_rx(kqp->qp, &lbpkt->pkt);
		sroce_loopback_del(lbpkt);
	}
	sroce_task_unlock_run(kqp->qp);
	sroce_qp_tbl_put(kqp);
}

static enum hrtimer_restart ack_timer_fn(struct hrtimer *timer)
{
	struct sroce_kqp *kqp = container_of(timer, struct sroce_kqp, task.ack_timer);

	sroce_task_lock(kqp->qp);
	kqp->task.ack_latest = 0;
	/* the ACK may be in the backlog */
	sroce_backlog_drain(kqp->qp);
	sroce_retrans_timer(kqp->qp);
	sroce_task_unlock_run(kqp->qp);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart rnr_timer_fn(struct hrtimer *timer)
{
	struct sroce_kqp *kqp = container_of(timer, struct sroce_kqp, task.rnr_timer);

	sroce_task_lock(kqp->qp);
	uncount_rnr_wait(kqp);
	sroce_retrans_rnr_timer(kqp->qp);
	sroce_task_unlock_run(kqp->qp);
	return HRTIMER_NORESTART;
}

/* A visit of the flusher. Return: number of receives flushed */
static u32 flush(struct sroce_kqp *kqp)
{
	struct sroce_qp *qp = kqp->qp;
	u32 own;

	sroce_task_lock(qp);
	own = qp->rq.ring.own;
	if (needs_flusher(qp)) {
		sroce_flush_sq(qp);
		sroce_flush_rq(qp);
		own = (qp->rq.ring.own - own) & qp->rq.ring.mask;
	} else {
		sroce_flusher_del(kqp);
		own = 0;
	}
	sroce_task_unlock_run(qp);
	return own;
}

static void tasklet_fn(struct tasklet_struct *t)
{
	struct sroce_kqp *kqp = container_of(t, struct sroce_kqp, task.tasklet);
	struct sroce_qp *qp = kqp->qp;

	sroce_task_lock(qp);
	WRITE_ONCE(kqp->task.cpu, 0);
	if (!qp->user) {
		/* pairs with the release in drv/verbs/post.c: what was posted is there */
		qp->sq.prod = smp_load_acquire(&kqp->posted);
		if (qp->state >= IB_QPS_RTS)
			take_doorbell(qp);
	}
	sroce_task_unlock_run(qp);
}

/* On a virtual link this CPU still has packets that those of another would overtake. */
static void wake(struct sroce_kqp *kqp)
{
	go_on(&kqp->task);
}

/**
 * sroce_task_init() - set up the kernel's part of a QP
 * @qp: the QP
 * @kqp: its kernel's part, zeroed
 * @backlog_rcv: receives a packet from the backlog, with the QP locked; consumes it
 */
void sroce_task_init(struct sroce_qp *qp, struct sroce_kqp *kqp,
		     void (*backlog_rcv)(struct sroce_qp *qp, struct sk_buff *skb,
					 u32 qpn, u32 n))
{
	struct sroce_task *task = &kqp->task;
	int i;

	kqp->qp = qp;
	qp->kqp = kqp;
	refcount_set(&kqp->ref, 1);
	init_completion(&kqp->unused);
	spin_lock_init(&kqp->post_lock);
	skb_queue_head_init(&task->backlog);
	task->backlog_rcv = backlog_rcv;
	task->wake = wake;
	task->flush = flush;
	INIT_LIST_HEAD(&kqp->err_list);
	for (i = 0; i < SROCE_TXQS; i++) {
		__skb_queue_head_init(&kqp->txq[i].skbs);
		INIT_LIST_HEAD(&kqp->txq[i].lbpkts);
	}
	sroce_hrtimer_setup(&task->ack_timer, ack_timer_fn, HRTIMER_MODE_ABS_SOFT);
	sroce_hrtimer_setup(&task->rnr_timer, rnr_timer_fn, HRTIMER_MODE_REL_SOFT);
	tasklet_setup(&task->tasklet, tasklet_fn);
	INIT_WORK(&task->event_work, event_work);
	sroce_coalesce_init(&task->coalesce);
}

/**
 * sroce_task_drop_queued() - drop packets that are queued to be sent
 * @kqp: the QP, locked and in RESET
 *
 * Those that another CPU is sending have left the queues.
 */
void sroce_task_drop_queued(struct sroce_kqp *kqp)
{
	LIST_HEAD(lbpkts);
	int i;

	for (i = 0; i < SROCE_TXQS; i++) {
		sroce_txq_purge(&kqp->txq[i]);
		sroce_loopback_take(&kqp->txq[i], &lbpkts);
	}
	sroce_loopback_purge(&lbpkts);
}

/**
 * sroce_task_stop() - stop the tasklet and the timers of a QP, drop the packets in it
 * @kqp: the QP, in RESET; it can't be found any more, and all references are gone
 *
 * Context: process; may sleep, for as long as a trip into the QP takes.
 */
void sroce_task_stop(struct sroce_kqp *kqp)
{
	struct sroce_task *task = &kqp->task;

	/* a post whose work has completed may not have scheduled the tasklet yet */
	spin_lock_irq(&kqp->post_lock);
	spin_unlock_irq(&kqp->post_lock);
	/* in RESET the tasklet starts no timer; but a timer schedules the tasklet */
	tasklet_kill(&task->tasklet);
	hrtimer_cancel(&task->ack_timer);
	hrtimer_cancel(&task->rnr_timer);
	uncount_rnr_wait(kqp);
	sroce_flusher_del(kqp);
	sroce_coalesce_stop(&task->coalesce);
	/* what could leave has left; with packets, a trip might wait for the queue again */
	spin_lock_bh(&kqp->qp->lock);
	sroce_task_drop_queued(kqp);
	spin_unlock_bh(&kqp->qp->lock);
	sroce_txq_stop(kqp);
	tasklet_kill(&task->tasklet);
	cancel_work_sync(&task->event_work);
	sroce_backlog_purge(kqp);
}
