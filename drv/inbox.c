// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Where packets wait that came while somebody else had their QP: a CPU that
 * receives does not stand still while another one sends. Whoever has the QP
 * takes them in before it lets go of it, see drv/burst.c.
 */

#include <linux/netdevice.h>
#include "dev.h"

/* More datagrams and trains than these have their CPU wait for the QP. */
#define INBOX_MAX	256U

/**
 * struct inbox_cb - in skb->cb of what waits
 * @qpn: number of the QP, as packets name it
 * @n: segments that have been received
 */
struct inbox_cb {
	u32	qpn;
	u32	n;
};

static struct inbox_cb *inbox_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct inbox_cb) > sizeof(skb->cb));
	return (struct inbox_cb *)skb->cb;
}

/**
 * sroce_inbox_put() - leave a packet for whoever has the QP
 * @host: the QP's surroundings; somebody is to see to it
 * @skb: a datagram or train
 * @qpn: number of the QP, as packets name it
 * @n: segments of it that have been received
 */
void sroce_inbox_put(struct sroce_qp_host *host, struct sk_buff *skb, u32 qpn,
		     u32 n)
{
	inbox_cb(skb)->qpn = qpn;
	inbox_cb(skb)->n = n;
	/* the route may be borrowed for the burst only */
	skb_dst_drop(skb);
	dev_hold(skb->dev);
	skb_queue_tail(&host->inbox, skb);
	sroce_count(host->qp, SROCE_CNT_INBOX);
}

/**
 * sroce_inbox_or_take() - take a QP for a packet, or leave the packet to it
 * @host: the QP's surroundings, held
 * @skb: a datagram or train
 * @qpn: number of the QP, as packets name it
 * @n: segments of it that have been received
 *
 * In softirq. What came before is taken in before.
 *
 * Return: whether the QP was taken; if not, @skb is gone.
 */
bool sroce_inbox_or_take(struct sroce_qp_host *host, struct sk_buff *skb,
			 u32 qpn, u32 n)
{
	struct sroce_qp *qp = host->qp;

	if (skb_queue_empty_lockless(&host->inbox) && sroce_qp_try(qp))
		return true;
	if (skb_queue_len_lockless(&host->inbox) >= INBOX_MAX) {
		sroce_qp_begin(qp);
		sroce_inbox_empty(qp);
		return true;
	}
	sroce_inbox_put(host, skb, qpn, n);
	/* the packet is seen by whoever has the QP, or the lock is free */
	smp_mb();
	if (sroce_qp_trylock(qp))
		sroce_qp_end(qp);
	return false;
}

/**
 * sroce_inbox_empty() - take in what waits
 * @qp: the QP, locked
 */
void sroce_inbox_empty(struct sroce_qp *qp)
{
	struct sk_buff_head *inbox = &qp->host->inbox;
	u32 n = skb_queue_len_lockless(inbox);
	struct sk_buff *skb;

	while (n-- && (skb = skb_dequeue(inbox))) {
		struct net_device *dev = skb->dev;
		struct inbox_cb cb = *inbox_cb(skb);

		sroce_udp_resume(qp, skb, cb.qpn, cb.n);
		dev_put(dev);
	}
}

/**
 * sroce_inbox_purge() - drop what waits
 * @host: surroundings of a QP that nobody finds any more
 */
void sroce_inbox_purge(struct sroce_qp_host *host)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&host->inbox))) {
		dev_put(skb->dev);
		kfree_skb(skb);
	}
}
