// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets received by the UDP sockets: parse them, check their ICRC, find their QP.
 *
 * A train (see drv/net/tx.c, drv/rx/gro.c) that arrives as one skb is received without
 * cutting it up. Its QP is looked up and locked once, and replies to all of its packets
 * together.
 */

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "drv/compat/unaligned.h"
#include "drv/core/env.h"
#include "drv/core/transport.h"
#include "drv/core/wire/icrc.h"
#include "drv/core/wire/train_icrc.h"
#include "drv/lookup/gid_tbl.h"
#include "drv/lookup/kqp.h"
#include "drv/lookup/mcast.h"
#include "drv/lookup/qp_tbl.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"
#include "drv/rx/udp.h"
#include "drv/task/backlog.h"
#include "drv/task/steer.h"
#include "drv/task/task.h"

static void count(struct sroce_dev *dev, enum sroce_counter c)
{
	this_cpu_inc(dev->counters->c[c]);
}

/*
 * The device that has a GID, if possible as an address of @ndev. Devices on a netdev and on its
 * VLANs may all have it; the first is the one that rdma_cm uses, too.
 */
static struct sroce_dev *find_dev(struct sroce_snet *sn, const union ib_gid *dgid,
				  const struct net_device *ndev)
{
	struct sroce_dev *dev, *any = NULL;

	list_for_each_entry_rcu(dev, &sn->devs, net_list) {
		if (sroce_gid_tbl_has(dev, dgid, ndev))
			return dev;
		if (!any && sroce_gid_tbl_has(dev, dgid, NULL))
			any = dev;
	}
	return any;
}

/* Count a dropped packet: at the device that it was sent to, or else at the namespace. */
static void count_drop(struct sroce_snet *sn, const struct sroce_pkt *pkt,
		       const struct sk_buff *skb, enum sroce_counter c)
{
	struct sroce_dev *dev = find_dev(sn, &pkt->dgid, skb->dev);

	if (dev)
		count(dev, c);
	else
		sroce_snet_count(sn, c);
}

/* Return: whether the network header is plain: the ICRC covers no options or extensions. */
static bool read_addresses(struct sroce_pkt *pkt, const struct sk_buff *skb)
{
	/* more than a u8 holds: extension headers may have 256 bytes */
	u32 len = skb_network_header_len(skb);

	pkt->l3 = skb_network_header(skb);
	pkt->l3_len = len;
	if (skb->protocol == htons(ETH_P_IP)) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr,
				       (struct in6_addr *)pkt->sgid.raw);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr,
				       (struct in6_addr *)pkt->dgid.raw);
		pkt->ce = INET_ECN_is_ce(ip_hdr(skb)->tos);
		return len == sizeof(struct iphdr);
	}
	memcpy(pkt->sgid.raw, &ipv6_hdr(skb)->saddr, sizeof(pkt->sgid));
	memcpy(pkt->dgid.raw, &ipv6_hdr(skb)->daddr, sizeof(pkt->dgid));
	pkt->ce = INET_ECN_is_ce(ipv6_get_dsfield(ipv6_hdr(skb)));
	return len == sizeof(struct ipv6hdr);
}

/* Data at @off; @len: set to the contiguous bytes there. NULL if it is in a frag_list. */
static const u8 *data_at(const struct sk_buff *skb, u32 off, u32 *len)
{
	u32 start = skb_headlen(skb);
	int i;

	if (off < start) {
		*len = start - off;
		return skb->data + off;
	}
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];
		u32 size = skb_frag_size(frag);

		if (off < start + size) {
			const u8 *p = skb_frag_address_safe(frag);

			/* a device's own memory has no address here */
			*len = start + size - off;
			return p ? p + (off - start) : NULL;
		}
		start += size;
	}
	return NULL;
}

/* CRC of bytes that need not be contiguous */
static u32 icrc_skb(struct sk_buff *skb, u32 crc, u32 from, u32 to)
{
	struct skb_seq_state seq;
	const u8 *data;
	u32 len, done = 0;

	skb_prepare_seq_read(skb, from, to, &seq);
	while ((len = skb_seq_read(done, &data, &seq))) {
		/* the contiguous data may go on behind @to */
		len = min(len, to - from - done);
		crc = sroce_icrc_data(crc, data, len);
		done += len;
	}
	return crc;
}

/*
 * The destination QP of a packet, held, or NULL. For UD the packet's destination must be a
 * GID of the QP's device; RC and UC check the addresses of their connection.
 */
static struct sroce_kqp *find_qp(struct sroce_snet *sn, const struct sroce_pkt *pkt,
				 const struct sk_buff *skb)
{
	struct sroce_kqp *kqp;

	if (pkt->qpn == SROCE_QPN_GSI) {
		struct sroce_dev *dev = find_dev(sn, &pkt->dgid, skb->dev);

		kqp = dev ? rcu_dereference(dev->gsi) : NULL;
	} else {
		kqp = sroce_qp_tbl_peek(pkt->qpn);
	}
	kqp = sroce_qp_tbl_get(kqp, sn);
	if (!kqp || kqp->qp->svc != SROCE_SVC_UD ||
	    sroce_gid_tbl_has(kqp->qp->dev, &pkt->dgid, NULL))
		return kqp;
	sroce_qp_tbl_put(kqp);
	return NULL;
}

/*
 * Strong host model: a packet is for the device whose netdev has received it, or one above
 * or below that, such as a VLAN, bond or bridge. A device on a VLAN has addresses of the other
 * VLANs, too: a packet to one of those comes by its netdev. What this host sends to itself
 * comes by lo.
 */
static bool came_by_netdev(struct sroce_dev *dev, const struct sroce_pkt *pkt,
			   struct net_device *from)
{
	struct net_device *ndev = rcu_dereference(dev->ndev);

	if (likely(from == ndev) || from->flags & IFF_LOOPBACK)
		return true;
	if (!ndev)
		return false;
	if (is_vlan_dev(from) && vlan_dev_real_dev(from) == ndev)
		return true;
	return netdev_has_upper_dev_all_rcu(ndev, from) ||
	       netdev_has_upper_dev_all_rcu(from, ndev) ||
	       sroce_gid_tbl_has(dev, &pkt->dgid, from);
}

/*
 * The VLAN that a packet has come by. Of one in a VRF skb->dev is that of the VRF, and what else
 * the stack says of it is lost in a backlog.
 */
static u16 vlan_id(struct sroce_snet *sn, const struct sroce_pkt *pkt, const struct sk_buff *skb)
{
	struct sroce_dev *dev;

	if (is_vlan_dev(skb->dev))
		return vlan_dev_vlan_id(skb->dev);
	if (likely(!netif_is_l3_master(skb->dev)))
		return 0xffff;
	dev = find_dev(sn, &pkt->dgid, skb->dev);
	return dev ? sroce_gid_tbl_vlan(dev, &pkt->dgid, skb->dev) : 0xffff;
}

static void count_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt, u32 len, u32 n)
{
	this_cpu_add(qp->counters->c[SROCE_CNT_RX_PACKETS], n);
	this_cpu_add(qp->counters->c[SROCE_CNT_RX_BYTES],
		     n * (len + sizeof(struct udphdr) + pkt->l3_len));
}

/* Count a packet of @len bytes, whose ICRC is right, and pass it to its QP, locked. */
static void deliver(struct sroce_qp *qp, const struct sroce_pkt *pkt, u32 len)
{
	count_rx(qp, pkt, len, 1);
	sroce_transport_rx(qp, pkt);
}

/**
 * struct part - one of the skbs that a train consists of
 * @skb: it; the first has the others in its frag_list
 * @off: where its data begin in the train
 * @len: bytes of data, without a frag_list
 */
struct part {
	struct sk_buff	*skb;
	u32		off;
	u32		len;
};

/* Most segments that are received at once: as many as UDP segmentation offload makes */
#define SEGS_MAX	64

/**
 * struct rx - a datagram or train while it is received
 * @sn: the namespace
 * @skb: the datagram or train, data at the UDP header
 * @seg: bytes of UDP payload of each segment; the last may have less
 * @n: segments that have been received
 * @icrc_checked: the ICRC of so many segments from here on is known to be right: that of
 *	the first was checked before it was queued in a backlog, or receive_segs() has
 *	checked segments that could not be received at once
 * @qp_locked: the caller has locked @kqp, and unlocks it
 * @qpn: destination QPN of the packets that @kqp was locked for
 * @kqp: the QP that is locked now, or NULL
 * @icrc: CRC of the headers of segments
 * @hdr_n: number of the segment whose headers @l3 and @udp are
 * @l3: network header, as the segment would have it as a packet of its own
 * @udp: UDP header, likewise
 * @part: the skb that the segment received last begins in
 * @flat: contiguous data behind the segment that was received last, in @part
 * @flat_len: bytes at @flat; 0 if they are not known
 * @hdr: space for transport headers that are not contiguous in @skb
 * @multicast: the packets are for a group
 * @copies: copies that were made of segments for members of the group
 * @pkt: the packet in the segment
 */
struct rx {
	struct sroce_snet	*sn;
	struct sk_buff		*skb;
	u32			seg;
	u32			n;
	u32			icrc_checked;
	bool			qp_locked;
	u32			qpn;
	struct sroce_kqp	*kqp;
	struct sroce_train_icrc	icrc;
	u32			hdr_n;
	u8			l3[sizeof(struct ipv6hdr)];
	u8			udp[sizeof(struct udphdr)];
	struct part		part;
	const u8		*flat;
	u32			flat_len;
	u8			hdr[SROCE_HDR_MAX];
	bool			multicast;
	u32			copies;
	struct sroce_pkt	pkt;
};

/*
 * Most copies that are made of the packets of a train for members of a group. All are made in
 * one go, and a full train to a full group would make 16,384.
 */
#define COPIES_MAX	2048

/* Pass the packet to the QPs of a group. Return: how many there are. */
static u32 deliver_to_group(struct rx *rx, struct sroce_dev *dev, struct sroce_group *g,
			    u32 len)
{
	struct sroce_member *m;
	u32 n = 0, left;

	list_for_each_entry_rcu(m, &g->members, list) {
		if (rx->copies == COPIES_MAX)
			break;
		if (!refcount_inc_not_zero(&m->kqp->ref))
			continue;
		sroce_count(m->kqp->qp, SROCE_CNT_RX_MULTICAST);
		sroce_task_lock(m->kqp->qp);
		deliver(m->kqp->qp, &rx->pkt, len);
		sroce_task_unlock_run(m->kqp->qp);
		sroce_qp_tbl_put(m->kqp);
		rx->copies++;
		n++;
	}
	if (likely(rx->copies < COPIES_MAX))
		return n;
	/* members may join and leave meanwhile */
	left = max(READ_ONCE(g->n), n) - n;
	this_cpu_add(dev->counters->c[SROCE_CNT_RX_MULTICAST_DROPS], left);
	return n + left;
}

/* Index of the netdev that has received a packet; of one in a VRF, skb->dev is that of the VRF. */
static int received_by(const struct sk_buff *skb)
{
	int sdif = skb->protocol == htons(ETH_P_IP) ? inet_sdif(skb) : inet6_sdif(skb);

	return sdif ?: skb->dev->ifindex;
}

/* Pass the packet, of @len bytes, to all QPs of its group. Return: whether there is one. */
static bool deliver_multicast(struct rx *rx, u32 len)
{
	const struct sroce_pkt *pkt = &rx->pkt;
	struct sroce_group *g;
	int ifindex = received_by(rx->skb);
	struct net_device *ndev;
	struct sroce_dev *dev;
	u32 n = 0;

	if (pkt->qpn != SROCE_QPN_MULTICAST)
		return false;
	list_for_each_entry_rcu(dev, &rx->sn->devs, net_list) {
		ndev = rcu_dereference(dev->ndev);
		g = ndev ? sroce_mcast_find(dev, &pkt->dgid) : NULL;
		if (!g)
			continue;
		/* rdma_cm joins by the netdev that has the address, perhaps a VLAN on this one */
		if (ndev->ifindex == ifindex ||
		    (!is_vlan_dev(ndev) && sroce_gid_tbl_has_vlan(dev, ifindex)))
			n += deliver_to_group(rx, dev, g, len);
	}
	return n;
}

static void first_part(struct rx *rx)
{
	rx->part.skb = rx->skb;
	rx->part.off = 0;
	/* skb_pagelen() is for what has frags */
	rx->part.len = skb_has_frag_list(rx->skb) ? skb_pagelen(rx->skb) : rx->skb->len;
}

/* Go on to the part that has the data at @off, which are not before the present one. */
static void find_part(struct rx *rx, u32 off)
{
	struct part *part = &rx->part;

	while (unlikely(off - part->off >= part->len)) {
		struct sk_buff *next = part->skb == rx->skb ?
				       skb_shinfo(rx->skb)->frag_list : part->skb->next;

		if (!next)
			return;
		part->off += part->len;
		part->len = next->len;
		part->skb = next;
		rx->flat_len = 0;
	}
}

/* A segment of @len bytes at @off if it is contiguous, or NULL */
static const u8 *flat_segment(struct rx *rx, u32 off, u32 len)
{
	const u8 *p = rx->flat;

	find_part(rx, off);
	/* mostly it follows the last one in the same memory */
	if (rx->flat_len < len) {
		p = data_at(rx->part.skb, off - rx->part.off, &rx->flat_len);
		if (!p || rx->flat_len < len) {
			rx->flat_len = 0;
			return NULL;
		}
	}
	rx->flat = p + len;
	rx->flat_len -= len;
	return p;
}

/* Results of a packet that was not dropped: it was received, ... */
#define RX_DONE		(-1)
/* ... or the skb, from this packet on, is in a backlog */
#define RX_QUEUED	(-2)

/* Unlock the QP, which replies to all packets since it was locked. */
static void put_qp(struct rx *rx)
{
	if (!rx->kqp)
		return;
	if (!rx->qp_locked) {
		sroce_task_unlock_run(rx->kqp->qp);
		sroce_qp_tbl_put(rx->kqp);
	}
	rx->kqp = NULL;
}

/* Lock a QP or queue the skb for it. A caller that has locked another QP does not wait. */
static bool lock_qp(struct rx *rx, struct sroce_kqp *kqp)
{
	if (!rx->qp_locked)
		return sroce_task_lock_or_backlog(kqp, rx->skb, rx->pkt.qpn, rx->n);
	sroce_backlog_add(kqp, rx->skb, rx->pkt.qpn, rx->n);
	return false;
}

/*
 * Lock the QP of the packet, unless it is locked already for the one before.
 * Return: RX_DONE if it is locked, RX_QUEUED, or why the packet is dropped.
 */
static int get_qp(struct rx *rx)
{
	struct sroce_kqp *kqp;

	if (rx->kqp && rx->qpn == rx->pkt.qpn)
		return RX_DONE;
	put_qp(rx);
	kqp = find_qp(rx->sn, &rx->pkt, rx->skb);
	if (!kqp)
		return SROCE_CNT_RX_NO_QP;
	if (!came_by_netdev(kqp->qp->dev, &rx->pkt, rx->skb->dev)) {
		sroce_qp_tbl_put(kqp);
		return SROCE_CNT_RX_NETDEV;
	}
	if (!lock_qp(rx, kqp)) {
		sroce_qp_tbl_put(kqp);
		return RX_QUEUED;
	}
	rx->kqp = kqp;
	rx->qpn = rx->pkt.qpn;
	return RX_DONE;
}

/* Set @l3 and @udp to the headers of segment 0, whichever segment is received first. */
static void first_headers(struct rx *rx)
{
	struct sroce_pkt *pkt = &rx->pkt;

	/* memcpy() of a constant length is inlined */
	if (pkt->l3_len == sizeof(struct iphdr))
		memcpy(rx->l3, skb_network_header(rx->skb), sizeof(struct iphdr));
	else
		memcpy(rx->l3, skb_network_header(rx->skb), sizeof(struct ipv6hdr));
	memcpy(rx->udp, rx->skb->data, sizeof(rx->udp));
	pkt->l3 = rx->l3;
	if (!skb_is_gso(rx->skb))
		return;
	sroce_icrc_segment_header(rx->l3, pkt->l3_len, 0, rx->seg);
	put_unaligned_be16(sizeof(rx->udp) + rx->seg, rx->udp + 4);
}

/* Change @l3 and @udp to the headers that this segment would have as a packet. */
static void segment_headers(struct rx *rx, u32 len)
{
	if (rx->n == rx->hdr_n && len == rx->seg)
		return;
	sroce_icrc_segment_header(rx->l3, rx->pkt.l3_len, rx->n - rx->hdr_n, len);
	put_unaligned_be16(sizeof(rx->udp) + len, rx->udp + 4);
	rx->hdr_n = rx->n;
}

/* CRC of the headers of segment @n, of @len bytes, up to the end of its BTH */
static u32 bth_crc(struct rx *rx, u32 n, const u8 *bth, u32 len)
{
	if (len == rx->seg)
		return sroce_train_icrc_headers(&rx->icrc, n, bth);
	return sroce_icrc_bth(sroce_icrc_net(rx->l3, rx->pkt.l3_len, rx->udp), bth);
}

/* Whether the ICRC of a contiguous packet is right; @crc: up to the end of its BTH */
static bool icrc_ok_flat(u32 crc, const u8 *bth, u32 len)
{
	u32 end = len - SROCE_ICRC_LEN;
	__le32 want;

	memcpy(&want, bth + end, sizeof(want));
	crc = sroce_icrc_data(crc, bth + SROCE_BTH_LEN, end - SROCE_BTH_LEN);
	return want == sroce_icrc_final(crc);
}

/* Whether the ICRC of the packet is right; @bth: a copy if it is not contiguous */
static bool icrc_ok(struct rx *rx, const u8 *bth, u32 len)
{
	const struct sroce_pkt *pkt = &rx->pkt;
	u32 crc, off = pkt->carrier_off, end = len - SROCE_ICRC_LEN;
	struct sk_buff *skb = (struct sk_buff *)pkt->carrier;
	__le32 want;

	if (pkt->flat)
		return icrc_ok_flat(bth_crc(rx, rx->n, bth, len), bth, len);
	if (skb_copy_bits(skb, off + end, &want, sizeof(want)))
		return false;
	crc = bth_crc(rx, rx->n, bth, len);
	crc = icrc_skb(skb, crc, off + SROCE_BTH_LEN, off + end);
	return want == sroce_icrc_final(crc);
}

/* Set where the packet at @off is: in one part, or, if that has not all of it, the train. */
static void set_carrier(struct rx *rx, u32 off, u32 len)
{
	const struct part *part = &rx->part;
	struct sroce_pkt *pkt = &rx->pkt;

	pkt->flat = flat_segment(rx, off, len);
	if (off + len <= part->off + part->len) {
		pkt->carrier = part->skb;
		pkt->carrier_off = off - part->off;
	} else {
		pkt->carrier = rx->skb;
		pkt->carrier_off = off;
	}
}

/* Receive the packet at @off. Return: RX_DONE, RX_QUEUED, or why it is dropped. */
static int receive_one(struct rx *rx, u32 off, u32 len)
{
	u32 head = min_t(u32, len, SROCE_HDR_MAX);
	struct sroce_pkt *pkt = &rx->pkt;
	bool checked = rx->icrc_checked;
	const u8 *bth;
	int ret;

	/* count this one, whether it is dropped or not */
	rx->icrc_checked -= checked;
	/* the network layer's part is the same for all packets of the skb */
	memset(pkt, 0, offsetof(struct sroce_pkt, sgid));
	segment_headers(rx, len);
	set_carrier(rx, off, len);
	bth = pkt->flat ?: skb_header_pointer(pkt->carrier, pkt->carrier_off, head, rx->hdr);
	if (!bth)
		return SROCE_CNT_RX_MALFORMED;
	ret = sroce_pkt_parse(pkt, bth, head, len);
	if (ret)
		return ret == -EPROTONOSUPPORT ? SROCE_CNT_RX_BAD_OPCODE :
						 SROCE_CNT_RX_MALFORMED;
	if (!checked && !icrc_ok(rx, bth, len))
		return SROCE_CNT_RX_ICRC;
	if (rx->multicast) {
		put_qp(rx);
		return deliver_multicast(rx, len) ? RX_DONE : SROCE_CNT_RX_NO_QP;
	}
	ret = get_qp(rx);
	if (ret == RX_DONE)
		deliver(rx->kqp->qp, pkt, len);
	return ret;
}

/* Bytes of the BTH before the word with AckReq and PSN */
#define BTH_CONST	8

/* Whether @bth belongs to packet @n after @pkt, and differs from it in the PSN only */
static bool is_next(const struct sroce_pkt *pkt, const u8 *bth, u32 n)
{
	return !memcmp(bth, pkt->flat, BTH_CONST) &&
	       get_unaligned_be32(bth + BTH_CONST) == sroce_psn_add(pkt->psn, n);
}

/*
 * Find the packets from @off on that follow the last one, are contiguous and have a right
 * ICRC. Return: how many; @at: set to their BTHs.
 */
static u32 find_segs(struct rx *rx, u32 off, const u8 **at)
{
	u32 n, seg = rx->seg;

	for (n = 0; n < SEGS_MAX && rx->skb->len - off >= seg; n++, off += seg) {
		const u8 *bth = flat_segment(rx, off, seg);

		if (!bth || !is_next(&rx->pkt, bth, n + 1) ||
		    !icrc_ok_flat(bth_crc(rx, rx->n + n, bth, seg), bth, seg))
			break;
		at[n] = bth;
	}
	return n;
}

/*
 * Whether packets that follow may be received at once: the last one is from the middle of a
 * message, and contiguous in memory.
 */
static bool may_follow(const struct rx *rx)
{
	const struct sroce_pkt *pkt = &rx->pkt;

	return rx->kqp && !rx->icrc_checked && pkt->flat && !pkt->pad &&
	       !(pkt->op->flags & (SROCE_START | SROCE_END));
}

/*
 * Receive the packets from @off on that continue the last one, as may_follow(), all at once.
 * Return: how many; if 0, they are received one by one. Not inline: many kernels are built
 * to clear @at, for single packets, too.
 */
static noinline u32 receive_segs(struct rx *rx, u32 off)
{
	struct sroce_pkt *pkt = &rx->pkt;
	struct part part = rx->part;
	const u8 *at[SEGS_MAX];
	u32 n;

	n = find_segs(rx, off, at);
	/* flat_segment() looks up what follows */
	rx->flat_len = 0;
	if (n > 1) {
		pkt->psn = sroce_psn_add(pkt->psn, 1);
		pkt->ackreq = false;
		pkt->flat = at[0];
		pkt->segs = n;
		pkt->seg_at = at;
		pkt->seg_len = pkt->payload_len;
		pkt->payload_len *= n;
		if (sroce_transport_rx_segs(rx->kqp->qp, pkt)) {
			count_rx(rx->kqp->qp, pkt, rx->seg, n);
			return n;
		}
	}
	rx->part = part;
	rx->icrc_checked = n;
	return 0;
}

/* Return: RX_DONE, RX_QUEUED, or why the last of the dropped packets was dropped. */
static int receive_all(struct rx *rx)
{
	u32 off = sizeof(struct udphdr) + rx->n * rx->seg;
	int why, last = RX_DONE;

	first_part(rx);
	/* count a train of segments that can't be packets once */
	if (rx->skb->len < off || rx->seg < SROCE_BTH_LEN + SROCE_ICRC_LEN ||
	    !read_addresses(&rx->pkt, rx->skb)) {
		count_drop(rx->sn, &rx->pkt, rx->skb, SROCE_CNT_RX_MALFORMED);
		return SROCE_CNT_RX_MALFORMED;
	}
	rx->pkt.vlan = vlan_id(rx->sn, &rx->pkt, rx->skb);
	rx->multicast = sroce_gid_tbl_is_multicast(&rx->pkt.dgid);
	first_headers(rx);
	sroce_train_icrc_init(&rx->icrc, rx->l3, rx->pkt.l3_len, rx->udp);
	do {
		u32 n = 0, len = min(rx->skb->len - off, rx->seg);

		why = receive_one(rx, off, len);
		if (why == RX_QUEUED)
			return RX_QUEUED;
		if (why >= 0) {
			count_drop(rx->sn, &rx->pkt, rx->skb, why);
			last = why;
		}
		off += len;
		rx->n++;
		if (why == RX_DONE && off < rx->skb->len && may_follow(rx))
			n = receive_segs(rx, off);
		off += n * rx->seg;
		rx->n += n;
	} while (off < rx->skb->len);
	put_qp(rx);
	return last;
}

static u32 segment_size(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? skb_shinfo(skb)->gso_size :
				 skb->len - sizeof(struct udphdr);
}

/*
 * Free a train that was received; @drop: a packet of it was dropped, and no more than one skb is to
 * count as that. The packets of its frag_list would if it were freed with them. Clones may have
 * lists of the same packets, so their @next stays.
 */
static void free_received(struct sk_buff *skb, bool drop)
{
	struct sk_buff *next, *part = NULL;

	/* nobody else has the train, or holds it for later */
	if (skb_has_frag_list(skb) && skb_is_gso(skb) && !skb_shared(skb) &&
	    !skb_cloned(skb)) {
		part = skb_shinfo(skb)->frag_list;
		skb_shinfo(skb)->frag_list = NULL;
	}
	if (drop)
		kfree_skb(skb);
	else
		napi_consume_skb(skb, 1);
	for (; part; part = next) {
		next = part->next;
		napi_consume_skb(part, 1);
	}
}

static void consume(struct rx *rx)
{
	int ret = receive_all(rx);

	if (ret != RX_QUEUED)
		free_received(rx->skb, ret != RX_DONE);
}

static void count_train(struct sroce_snet *sn, const struct sk_buff *skb)
{
	if (!skb_is_gso(skb))
		return;
	sroce_snet_count(sn, SROCE_CNT_RX_TRAINS);
	if (skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST) {
		sroce_snet_count(sn, SROCE_CNT_RX_GRO_TRAINS);
		sroce_snet_count_n(sn, SROCE_CNT_RX_GRO_PACKETS, skb_shinfo(skb)->gso_segs);
	}
}

/**
 * sroce_udp_input() - receive a datagram or train, on this CPU
 * @sn: the namespace
 * @skb: the datagram or train, data at the UDP header; consumed
 *
 * Context: softirq, under RCU.
 */
void sroce_udp_input(struct sroce_snet *sn, struct sk_buff *skb)
{
	struct rx rx = {
		.sn = sn,
		.skb = skb,
		.seg = segment_size(skb),
	};

	count_train(sn, skb);
	consume(&rx);
}

/**
 * sroce_udp_rcv() - encap_rcv of the namespace's sockets
 * @sk: the socket
 * @skb: a datagram or train, data at the UDP header; consumed
 *
 * Context: softirq, under RCU.
 *
 * Return: 0: the packet is consumed, even if it is dropped.
 */
int sroce_udp_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct sroce_snet *sn = sroce_snet_of(sock_net(sk));

	if (!sroce_steer(sn, skb))
		sroce_udp_input(sn, skb);
	return 0;
}

/**
 * sroce_udp_resume() - receive a datagram or train from a backlog
 * @qp: the QP, locked; it stays locked
 * @skb: the datagram or train; consumed
 * @qpn: destination QPN of the packet
 * @n: segments that have been received; the ICRC of the next one has been checked
 *
 * Context: bottom halves are off.
 */
void sroce_udp_resume(struct sroce_qp *qp, struct sk_buff *skb, u32 qpn, u32 n)
{
	struct rx rx = {
		.sn = qp->dev->sn,
		.skb = skb,
		.seg = segment_size(skb),
		.n = n,
		.icrc_checked = 1,
		.qp_locked = true,
		.qpn = qpn,
		.kqp = qp->kqp,
	};

	rcu_read_lock();
	consume(&rx);
	rcu_read_unlock();
}
