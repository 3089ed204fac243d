// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Where packets wait that came while somebody else had their QP: a CPU that
 * receives does not stand still while another one sends. Whoever has the QP
 * takes them in before it lets go of it, see drv/burst.c.
 */

#include <linux/netdevice.h>
#include "drv/dev.h"

/* More datagrams and trains than these have their CPU wait for the QP. */
#define INBOX_MAX	64U
/* What is taken in before anything is sent */
#define BATCH		16U

/**
 * struct inbox_cb - in skb->cb of what waits
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

static bool is_full(const struct sroce_kqp *kqp)
{
	return skb_queue_len_lockless(&kqp->backlog) >= INBOX_MAX;
}

static void put(struct sroce_kqp *kqp, struct sk_buff *skb, u32 qpn, u32 n)
{
	backlog_cb(skb)->qpn = qpn;
	backlog_cb(skb)->n = n;
	/* the route may be borrowed for the burst only */
	skb_dst_drop(skb);
	dev_hold(skb->dev);
	skb_queue_tail(&kqp->backlog, skb);
	sroce_count(kqp->qp, SROCE_CNT_BACKLOG);
}

/**
 * sroce_backlog_add() - leave a packet to a QP that can't be waited for
 * @kqp: the QP's surroundings, held
 * @skb: a datagram or train; gone afterwards
 * @qpn: number of the QP, as packets name it
 * @n: segments of it that have been received
 */
void sroce_backlog_add(struct sroce_kqp *kqp, struct sk_buff *skb, u32 qpn,
		     u32 n)
{
	if (is_full(kqp)) {
		sroce_count(kqp->qp, SROCE_CNT_BACKLOG_FULL);
		kfree_skb(skb);
		return;
	}
	put(kqp, skb, qpn, n);
	tasklet_schedule(&kqp->task);
}

/*
 * Another CPU is about to go on with what it sends: what follows goes behind it,
 * and would overtake it if it was sent from here.
 */
static bool is_elsewhere(const struct sroce_kqp *kqp)
{
	int kicked = READ_ONCE(kqp->task_cpu);

	return kicked && kicked != smp_processor_id() + 1;
}

/**
 * sroce_task_lock_or_backlog() - take a QP for a packet, or leave the packet to it
 * @kqp: the QP's surroundings, held
 * @skb: a datagram or train
 * @qpn: number of the QP, as packets name it
 * @n: segments of it that have been received
 *
 * In softirq. What came before is taken in before.
 *
 * Return: whether the QP was taken; if not, @skb is gone.
 */
bool sroce_task_lock_or_backlog(struct sroce_kqp *kqp, struct sk_buff *skb,
			 u32 qpn, u32 n)
{
	struct sroce_qp *qp = kqp->qp;

	if (skb_queue_empty_lockless(&kqp->backlog) && !is_elsewhere(kqp) &&
	    sroce_task_lock_unless_busy(qp))
		return true;
	if (is_full(kqp)) {
		sroce_task_lock(qp);
		while (!skb_queue_empty_lockless(&kqp->backlog))
			sroce_backlog_drain(qp);
		return true;
	}
	put(kqp, skb, qpn, n);
	/* the packet is seen by whoever has the QP, or the lock is free */
	smp_mb();
	if (!is_elsewhere(kqp) && sroce_task_trylock(qp))
		sroce_task_unlock_run(qp);
	return false;
}

/**
 * sroce_backlog_drain() - take in what waits, or as much of it as is reasonable
 * @qp: the QP, locked
 */
void sroce_backlog_drain(struct sroce_qp *qp)
{
	struct sk_buff_head *backlog = &qp->kqp->backlog;
	u32 n = min(skb_queue_len_lockless(backlog), BATCH);
	struct sk_buff *skb;

	while (n-- && (skb = skb_dequeue(backlog))) {
		struct net_device *dev = skb->dev;
		struct backlog_cb cb = *backlog_cb(skb);

		sroce_udp_resume(qp, skb, cb.qpn, cb.n);
		dev_put(dev);
	}
}

/**
 * sroce_backlog_purge() - drop what waits
 * @kqp: surroundings of a QP that nobody finds any more
 */
void sroce_backlog_purge(struct sroce_kqp *kqp)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&kqp->backlog))) {
		dev_put(skb->dev);
		kfree_skb(skb);
	}
}
