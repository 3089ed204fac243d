// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The payload of received packets: access to it, and holding it for later. */

#include <linux/mm.h>
#include <linux/skbuff.h>
#include "drv/core/env.h"
#include "drv/core/rc/ofo.h"
#include "drv/core/tx/lbpkt.h"
#include "drv/lookup/kqp.h"
#include "drv/lookup/sdev.h"

/**
 * sroce_pkt_copy() - copy payload bytes of a received packet
 * @pkt: the packet
 * @off: first byte, relative to the payload
 * @to: destination
 * @len: number of bytes
 *
 * Return: 0, or -EFAULT if the packet is shorter.
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

/*
 * Copy a packet to hold it. Its own memory may be a part of 32 KiB, as that of drv/net/frag.c and
 * of many drivers is, or of a train. A sender who has one packet of each such block held, and the
 * rest go elsewhere, would take many times the memory that is charged. The peer sends again what
 * can't be held: the reserves are for others.
 */
static struct sk_buff *copy_packet(const struct sroce_pkt *pkt)
{
	u32 len = pkt->op->hdr_len + pkt->payload_len;
	struct sk_buff *skb = alloc_skb(len, GFP_NOWAIT | __GFP_NOWARN);

	if (skb && skb_copy_bits(pkt->carrier, pkt->carrier_off,
				 skb_put(skb, len), len)) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

/* Packets of all QPs may hold this part of the host's memory. */
#define HELD_SHARE	64

static atomic_long_t held_bytes;

/* A QP charges so many bytes at once, so that it seldom writes what it shares with others. */
#define CHARGE_UNIT	(16L << 10)

/*
 * Limit held memory: no socket accounts for it, and peers with many QPs could fill it. It is
 * not dropped with time: a user keeps no more than his part from others.
 */
static bool charge_share(struct sroce_kqp *kqp, long size)
{
	long max = (totalram_pages() / HELD_SHARE) << PAGE_SHIFT;
	long all = atomic_long_add_return(size, &held_bytes);
	long own = atomic_long_add_return(size, &kqp->share->held);

	kqp->charged += size;
	return sroce_ofo_is_fair(kqp->charged, own, all, max);
}

static void uncharge_share(struct sroce_kqp *kqp, long size)
{
	kqp->charged -= size;
	atomic_long_sub(size, &kqp->share->held);
	atomic_long_sub(size, &held_bytes);
}

static bool charge(struct sroce_qp *qp, long size)
{
	struct sroce_kqp *kqp = qp->kqp;
	long lacks = kqp->held + size - kqp->charged;

	if (lacks > 0 && !charge_share(kqp, round_up(lacks, CHARGE_UNIT))) {
		uncharge_share(kqp, round_up(lacks, CHARGE_UNIT));
		return false;
	}
	kqp->held += size;
	return true;
}

/* Up to two units stay charged while the QP keeps something: it may be about to keep more. */
static void uncharge(struct sroce_qp *qp, long size)
{
	struct sroce_kqp *kqp = qp->kqp;
	long need;

	kqp->held -= size;
	need = kqp->held ? round_up(kqp->held, CHARGE_UNIT) + CHARGE_UNIT : 0;
	if (kqp->charged > need)
		uncharge_share(kqp, kqp->charged - need);
}

/* Bytes that are held for a packet, with its description, which ofo.c keeps beside it */
static long held_size(const struct sk_buff *skb)
{
	return skb->truesize + sizeof(struct sroce_ofo_pkt);
}

static long held_lb_size(const struct sroce_pkt *pkt)
{
	return sizeof(struct sroce_lbpkt) + pkt->payload_len + sizeof(struct sroce_ofo_pkt);
}

/* Hold a loopback packet; its payload is its own, see sroce_ofo_put(). */
static bool hold_lbpkt(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_lbpkt *lbpkt = (struct sroce_lbpkt *)pkt->carrier;

	if (!charge(qp, held_lb_size(pkt)))
		return false;
	lbpkt->refs++;
	return true;
}

static void release_lbpkt(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	uncharge(qp, held_lb_size(pkt));
	sroce_lbpkt_free((struct sroce_lbpkt *)pkt->carrier);
}

/**
 * sroce_pkt_hold() - hold the memory of a packet's payload until sroce_pkt_release()
 * @qp: the QP that it is for, locked
 * @pkt: the packet; it is copied, but for a loopback packet
 *
 * Context: softirq.
 *
 * Return: true; false if there is no memory, or too much is held.
 */
bool sroce_pkt_hold(struct sroce_qp *qp, struct sroce_pkt *pkt)
{
	struct sk_buff *skb;

	if (pkt->loopback)
		return hold_lbpkt(qp, pkt);
	skb = copy_packet(pkt);
	if (!skb)
		return false;
	if (!charge(qp, held_size(skb))) {
		consume_skb(skb);
		return false;
	}
	pkt->carrier = skb;
	pkt->carrier_off = 0;
	pkt->flat = skb->data;
	return true;
}

/**
 * sroce_pkt_release() - release a packet that was held
 * @qp: the QP that it is for, locked
 * @pkt: the packet
 */
void sroce_pkt_release(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sk_buff *skb = (struct sk_buff *)pkt->carrier;

	if (pkt->loopback) {
		release_lbpkt(qp, pkt);
		return;
	}
	uncharge(qp, held_size(skb));
	consume_skb(skb);
}
