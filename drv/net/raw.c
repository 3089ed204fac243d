// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Ethernet frames of raw packet QPs. The user provides the whole frame. It leaves through
 * the netdev's queueing discipline like a frame of a packet socket.
 */

#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include "drv/core/env.h"
#include "drv/core/mem/wqe.h"
#include "drv/lookup/kqp.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"
#include "drv/net/raw.h"
#include "drv/net/txq.h"

/**
 * sroce_raw_max() - length of the longest frame that the netdev takes
 * @qp: the QP, locked
 *
 * Return: bytes, Ethernet and VLAN headers included; 0 if the netdev is gone.
 */
u32 sroce_raw_max(struct sroce_qp *qp)
{
	struct net_device *ndev;
	u32 max = 0;

	rcu_read_lock();
	ndev = rcu_dereference(qp->dev->ndev);
	if (ndev)
		max = READ_ONCE(ndev->mtu) + VLAN_ETH_HLEN;
	rcu_read_unlock();
	return max;
}

/* The bytes of a VLAN header are only for a frame that has one, as with packet sockets. */
static bool is_too_long(struct sroce_qp *qp, const struct sk_buff *skb)
{
	return eth_hdr(skb)->h_proto != htons(ETH_P_8021Q) &&
	       skb->len + VLAN_HLEN > sroce_raw_max(qp);
}

/**
 * sroce_raw_tx() - queue the payload of a work request as a frame
 * @qp: the QP, locked
 * @wqe: the work request, long enough for an Ethernet header
 *
 * Without memory the frame is lost, as on the wire, and that is counted.
 *
 * Return: 0, -EMSGSIZE if the frame is too long, or an error of sroce_wqe_gather().
 */
int sroce_raw_tx(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	struct sk_buff *skb = alloc_skb(NET_SKB_PAD + MAX_HEADER + wqe->length,
					GFP_ATOMIC | __GFP_NOWARN);
	int ret;

	if (!skb) {
		sroce_count(qp, SROCE_CNT_TX_NO_MEM);
		return 0;
	}
	skb_reserve(skb, NET_SKB_PAD + MAX_HEADER);
	ret = sroce_wqe_gather(qp, wqe, 0, skb_put(skb, wqe->length),
			       wqe->length);
	skb_reset_mac_header(skb);
	if (!ret && is_too_long(qp, skb))
		ret = -EMSGSIZE;
	if (ret) {
		kfree_skb(skb);
		return ret;
	}
	skb_set_network_header(skb, ETH_HLEN);
	skb->protocol = eth_hdr(skb)->h_proto;
	sroce_count(qp, SROCE_CNT_TX_PACKETS);
	this_cpu_add(qp->counters->c[SROCE_CNT_TX_BYTES], wqe->length);
	sroce_txq_add(&qp->kqp->txq[SROCE_TXQ_REQUESTS], skb);
	return 0;
}

/**
 * sroce_raw_xmit() - send a frame
 * @dev: the device
 * @skb: the frame
 *
 * Return: the result of dev_queue_xmit(), or NET_XMIT_DROP if the netdev is gone or has moved to
 * another namespace.
 */
int sroce_raw_xmit(struct sroce_dev *dev, struct sk_buff *skb)
{
	/* looked up again: the netdev may have gone since the frame was queued */
	struct net_device *ndev = sroce_sdev_netdev(dev);
	int ret = NET_XMIT_DROP;

	/* one that has moved belongs to another namespace, though the device still exists */
	if (ndev && net_eq(dev_net(ndev), dev->sn->net)) {
		skb->dev = ndev;
		ret = dev_queue_xmit(skb);
	} else {
		kfree_skb(skb);
	}
	dev_put(ndev);
	return ret;
}
