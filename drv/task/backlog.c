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
struct inbox_cb {
	u32	qpn;
	u32	n;
};

static struct inbox_cb *inbox_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct inbox_cb) > sizeof(skb->cb));
	return (struct inbox_cb *)skb->cb;
}

static bool is_full(const struct sroce_qp_host *host)
{
	return skb_queue_len_lockless(&host->inbox) >= INBOX_MAX;
}

static void put(struct sroce_qp_host *host, struct sk_buff *skb, u32 qpn, u32 n)
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
 * sroce_inbox_put() - leave a packet to a QP that can't be waited for
 * @host: the QP's surroundings, held
 * @skb: a datagram or train; gone afterwards
 * @qpn: number of the QP, as packets name it
 * @n: segments of it that have been received
 */
void sroce_inbox_put(struct sroce_qp_host *host, struct sk_buff *skb, u32 qpn,
		     u32 n)
{
	if (is_full(host)) {
		sroce_count(host->qp, SROCE_CNT_INBOX_FULL);
		kfree_skb(skb);
		return;
	}
	put(host, skb, qpn, n);
	tasklet_schedule(&host->kick);
}

/*
 * Another CPU is about to go on with what it sends: what follows goes behind it,
 * and would overtake it if it was sent from here.
 */
static bool is_elsewhere(const struct sroce_qp_host *host)
{
	int kicked = READ_ONCE(host->kicked);

	return kicked && kicked != smp_processor_id() + 1;
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

	if (skb_queue_empty_lockless(&host->inbox) && !is_elsewhere(host) &&
	    sroce_qp_try(qp))
		return true;
	if (is_full(host)) {
		sroce_qp_begin(qp);
		while (!skb_queue_empty_lockless(&host->inbox))
			sroce_inbox_empty(qp);
		return true;
	}
	put(host, skb, qpn, n);
	/* the packet is seen by whoever has the QP, or the lock is free */
	smp_mb();
	if (!is_elsewhere(host) && sroce_qp_trylock(qp))
		sroce_qp_end(qp);
	return false;
}

/**
 * sroce_inbox_empty() - take in what waits, or as much of it as is reasonable
 * @qp: the QP, locked
 */
void sroce_inbox_empty(struct sroce_qp *qp)
{
	struct sk_buff_head *inbox = &qp->host->inbox;
	u32 n = min(skb_queue_len_lockless(inbox), BATCH);
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
