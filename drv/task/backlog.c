// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The backlog of a QP: packets that arrived while another CPU had the QP locked. So a CPU
 * that receives does not wait for one that sends. The owner receives the packets of the
 * backlog before it unlocks the QP, see drv/task/task.h.
 */

#include <linux/netdevice.h>
#include "drv/core/env.h"
#include "drv/lookup/kqp.h"
#include "drv/task/backlog.h"

/* With so many datagrams and trains queued, a receiving CPU waits for the QP's lock. */
#define BACKLOG_MAX	64U
/* Most datagrams and trains that are received in a trip, before it sends */
#define BATCH		16U

/**
 * struct backlog_cb - in skb->cb of a packet in a backlog
 * @qpn: destination QPN of the packet
 * @n: segments of the train that have been received
 */
struct backlog_cb {
	u32	qpn;
	u32	n;
};

static struct backlog_cb *backlog_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct backlog_cb) > sizeof(skb->cb));
	return (struct backlog_cb *)skb->cb;
}

/**
 * sroce_backlog_is_full() - whether no packet should be added to a backlog
 * @kqp: the QP, which need not be locked
 */
bool sroce_backlog_is_full(const struct sroce_kqp *kqp)
{
	return skb_queue_len_lockless(&kqp->task.backlog) >= BACKLOG_MAX;
}

/**
 * sroce_backlog_queue() - queue a packet for the owner of a QP
 * @kqp: the QP, held
 * @skb: a datagram or train; consumed
 * @qpn: destination QPN of the packet
 * @n: segments of it that have been received
 *
 * The caller makes sure that a trip into the QP ends after this.
 */
void sroce_backlog_queue(struct sroce_kqp *kqp, struct sk_buff *skb, u32 qpn, u32 n)
{
	backlog_cb(skb)->qpn = qpn;
	backlog_cb(skb)->n = n;
	/* the route may be valid for this softirq only */
	skb_dst_drop(skb);
	dev_hold(skb->dev);
	skb_queue_tail(&kqp->task.backlog, skb);
	sroce_count(kqp->qp, SROCE_CNT_BACKLOG);
}

/**
 * sroce_backlog_add() - queue a packet for the tasklet of a QP
 * @kqp: the QP, held
 * @skb: a datagram or train; consumed, dropped if the backlog is full
 * @qpn: destination QPN of the packet
 * @n: segments of it that have been received
 *
 * For a caller that has another QP locked and must not wait for this one.
 */
void sroce_backlog_add(struct sroce_kqp *kqp, struct sk_buff *skb, u32 qpn, u32 n)
{
	if (sroce_backlog_is_full(kqp)) {
		sroce_count(kqp->qp, SROCE_CNT_BACKLOG_FULL);
		kfree_skb(skb);
		return;
	}
	sroce_backlog_queue(kqp, skb, qpn, n);
	tasklet_schedule(&kqp->task.tasklet);
}

/**
 * sroce_backlog_drain() - receive packets of the backlog, at most BATCH
 * @qp: the QP, locked
 */
void sroce_backlog_drain(struct sroce_qp *qp)
{
	struct sroce_task *task = &qp->kqp->task;
	u32 n = min(skb_queue_len_lockless(&task->backlog), BATCH);
	struct sk_buff *skb;

	while (n-- && (skb = skb_dequeue(&task->backlog))) {
		struct net_device *dev = skb->dev;
		struct backlog_cb cb = *backlog_cb(skb);

		task->backlog_rcv(qp, skb, cb.qpn, cb.n);
		dev_put(dev);
	}
}

/**
 * sroce_backlog_drain_all() - receive the packets that the backlog has now
 * @qp: the QP, locked
 *
 * Others may go on adding packets as fast as this takes them: those are left.
 */
void sroce_backlog_drain_all(struct sroce_qp *qp)
{
	u32 n = skb_queue_len_lockless(&qp->kqp->task.backlog), done;

	for (done = 0; done < n; done += BATCH)
		sroce_backlog_drain(qp);
}

/**
 * sroce_backlog_purge() - drop the packets of the backlog
 * @kqp: a QP that can't be found any more
 */
void sroce_backlog_purge(struct sroce_kqp *kqp)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&kqp->task.backlog))) {
		dev_put(skb->dev);
		kfree_skb(skb);
	}
}
