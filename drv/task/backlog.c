// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The backlog of a QP: packets that came while another CPU had the QP locked. A
 * CPU that receives does not wait for one that sends. Whoever has the QP takes the
 * backlog in before it unlocks, see drv/task/task.h.
 */

#include <linux/netdevice.h>
#include "drv/core/env.h"
#include "drv/lookup/kqp.h"
#include "drv/task/backlog.h"

/* With more datagrams and trains than these, the receiving CPU waits for the QP. */
#define BACKLOG_MAX	64U
/* What is taken in before anything is sent */
#define BATCH		16U

/**
 * struct backlog_cb - in skb->cb of a packet in a backlog
 * @qpn: number of the QP, as packets name it
 * @n: segments that have been received
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
 * sroce_backlog_is_full() - whether a backlog should take no more
 * @kqp: the QP
 */
bool sroce_backlog_is_full(const struct sroce_kqp *kqp)
{
	return skb_queue_len_lockless(&kqp->task.backlog) >= BACKLOG_MAX;
}

/**
 * sroce_backlog_queue() - queue a packet for whoever has the QP
 * @kqp: the QP, held
 * @skb: a datagram or train; gone afterwards
 * @qpn: number of the QP, as packets name it
 * @n: segments of it that have been received
 *
 * The caller sees to it that the QP is unlocked after this, or visited.
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
 * sroce_backlog_add() - leave a packet to a QP that must not be waited for
 * @kqp: the QP, held
 * @skb: a datagram or train; gone afterwards, dropped if the backlog is full
 * @qpn: number of the QP, as packets name it
 * @n: segments of it that have been received
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
 * sroce_backlog_drain() - take the backlog in, or as much of it as is reasonable
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
 * sroce_backlog_purge() - drop the backlog
 * @kqp: a QP that nobody finds any more
 */
void sroce_backlog_purge(struct sroce_kqp *kqp)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&kqp->task.backlog))) {
		dev_put(skb->dev);
		kfree_skb(skb);
	}
}
