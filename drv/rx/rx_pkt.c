// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The payload of received packets: where it is, and how it is kept for later. */

#include <linux/mm.h>
#include <linux/skbuff.h>
#include "drv/core/env.h"
#include "drv/core/tx/lbpkt.h"

/**
 * sroce_pkt_copy() - payload bytes of a received packet
 * @pkt: the packet
 * @off: first byte
 * @to: where to
 * @len: how many
 *
 * Return: 0, or -EFAULT if there are not that many.
 */
int sroce_pkt_copy(const struct sroce_pkt *pkt, u32 off, void *to, u32 len)
{
	if (pkt->loopback) {
		sroce_lbpkt_copy(pkt->carrier, off, to, len);
		return 0;
	}
	off += pkt->op->hdr_len;
	if (pkt->flat) {
		sroce_copy(to, pkt->flat + off, len);
		return 0;
	}
	return skb_copy_bits(pkt->carrier, pkt->carrier_off + off, to, len);
}

/* A train would be kept whole for the sake of one packet. */
static struct sk_buff *cut_out(const struct sroce_pkt *pkt)
{
	u32 len = pkt->op->hdr_len + pkt->payload_len;
	struct sk_buff *skb = alloc_skb(len, GFP_ATOMIC | __GFP_NOWARN);

	if (skb && skb_copy_bits(pkt->carrier, pkt->carrier_off,
				 skb_put(skb, len), len)) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

/* Packets of all QPs may be kept in this part of the host's memory. */
#define KEPT_SHARE	64

static atomic_long_t kept;

/* Peers with many QPs decide how much is kept, and no socket accounts for it. */
static bool charge(long size)
{
	long max = (totalram_pages() / KEPT_SHARE) << PAGE_SHIFT;

	if (atomic_long_add_return(size, &kept) <= max)
		return true;
	atomic_long_sub(size, &kept);
	return false;
}

static void uncharge(long size)
{
	atomic_long_sub(size, &kept);
}

/* What stays on this host has its payload with it, or is not kept. */
static bool hold_lbpkt(const struct sroce_pkt *pkt)
{
	struct sroce_lbpkt *lbpkt = (struct sroce_lbpkt *)pkt->carrier;

	if (!charge(sizeof(*lbpkt) + pkt->payload_len))
		return false;
	lbpkt->refs++;
	return true;
}

static void release_lbpkt(const struct sroce_pkt *pkt)
{
	uncharge(sizeof(struct sroce_lbpkt) + pkt->payload_len);
	sroce_lbpkt_free((struct sroce_lbpkt *)pkt->carrier);
}

/**
 * sroce_pkt_hold() - keep what a packet reads its payload from
 * @pkt: the packet
 *
 * Return: false without memory.
 */
bool sroce_pkt_hold(struct sroce_pkt *pkt)
{
	struct sk_buff *skb = (struct sk_buff *)pkt->carrier;
	bool cut;

	if (pkt->loopback)
		return hold_lbpkt(pkt);
	cut = skb_is_gso(skb);
	skb = cut ? cut_out(pkt) : skb_get(skb);
	if (!skb)
		return false;
	if (!charge(skb->truesize)) {
		consume_skb(skb);
		return false;
	}
	if (cut) {
		pkt->carrier = skb;
		pkt->carrier_off = 0;
		pkt->flat = skb->data;
	} else {
		/* the route may be borrowed for the burst only */
		skb_dst_drop(skb);
	}
	return true;
}

/**
 * sroce_pkt_release() - let go of a packet that was held
 * @pkt: the packet
 */
void sroce_pkt_release(const struct sroce_pkt *pkt)
{
	struct sk_buff *skb = (struct sk_buff *)pkt->carrier;

	if (pkt->loopback) {
		release_lbpkt(pkt);
		return;
	}
	uncharge(skb->truesize);
	consume_skb(skb);
}
