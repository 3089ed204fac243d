// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets on their way out: network headers, ICRC, the IP stack.
 *
 * Packets of equal size that follow each other on one path leave as a train:
 * one skb with UDP segmentation offload, whose segments are finished packets,
 * each with its BTH and ICRC. Whoever cuts it up, if anyone does, only repeats
 * the network headers, counts the IPv4 identification and fills in the UDP
 * checksum, and ICRC covers none of what can't be known beforehand. The last
 * segment may be shorter than the others.
 *
 * The first packet is one linear skb, so that a packet that stays alone costs
 * no more than it must; those that join follow in page fragments. Payload is
 * copied: page fragments of the region would take two or three for each packet,
 * and an skb has 17.
 */

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/udp.h>
#include "drv/net/frag.h"
#include "drv/dev.h"
#include "drv/compat/unaligned.h"
#include "drv/core/wire/icrc.h"

/* What carry-less multiplication takes in at once */
#define PAYLOAD_ALIGN	16

/**
 * struct tx_cb - a train under construction, in skb->cb
 * @seg: bytes of UDP payload of each segment but the last
 * @n: segments; none in a frame of a raw packet QP, which is finished
 * @max: most of them
 * @room: bytes of UDP payload that may still be added
 * @crc: of the network headers of the first, for ICRC
 * @id: IPv4 identification of the first
 * @like: number of the newest segment for which no other CRC was to go by
 * @like_crc: that of its headers up to the end of BTH
 * @like_bth: its BTH; without an opcode that is sent, if there is none yet
 */
struct tx_cb {
	u32	seg;
	u32	n;
	u32	max;
	u32	room;
	u32	crc;
	u16	id;
	u16	like;
	u32	like_crc;
	u8	like_bth[SROCE_BTH_LEN];
};

static struct tx_cb *tx_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct tx_cb) > sizeof(skb->cb));
	return (struct tx_cb *)skb->cb;
}

static void put_ipv4(struct sk_buff *skb, struct sroce_av *av)
{
	struct iphdr *ip = skb_push(skb, sizeof(*ip));

	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IP);
	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = av->tclass;
	ip->tot_len = htons(skb->len);
	ip->id = htons(av->ip_id++);
	ip->frag_off = htons(IP_DF);
	ip->ttl = av->hop_limit;
	ip->protocol = IPPROTO_UDP;
	ip->check = 0;
	memcpy(&ip->saddr, av->sgid.raw + 12, sizeof(ip->saddr));
	memcpy(&ip->daddr, av->dgid.raw + 12, sizeof(ip->daddr));
}

static void put_ipv6(struct sk_buff *skb, struct sroce_av *av)
{
	struct ipv6hdr *ip = skb_push(skb, sizeof(*ip));

	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IPV6);
	ip6_flow_hdr(ip, av->tclass, htonl(av->flow_label));
	ip->payload_len = htons(skb->len - sizeof(*ip));
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = av->hop_limit;
	memcpy(&ip->saddr, av->sgid.raw, sizeof(ip->saddr));
	memcpy(&ip->daddr, av->dgid.raw, sizeof(ip->daddr));
}

/* UDP checksum 0: ICRC covers more, and hardware does the same (A17.3.1). */
static void put_udp(struct sk_buff *skb, const struct sroce_av *av)
{
	struct udphdr *udp = skb_push(skb, sizeof(*udp));

	skb_reset_transport_header(skb);
	udp->source = htons(av->sport);
	udp->dest = htons(SROCE_UDP_PORT);
	udp->len = htons(skb->len);
	udp->check = 0;
}

/* Without scatter/gather and checksums, segmentation costs more than it saves. */
static bool takes_trains(const struct dst_entry *dst)
{
	netdev_features_t f = dst->dev->features;

	return f & NETIF_F_SG && f & NETIF_F_CSUM_MASK && !dst->header_len;
}

static void begin_train(struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;
	u32 max = min(READ_ONCE(dev->gso_max_size), GSO_LEGACY_MAX_SIZE) - 1;
	struct tx_cb *cb = tx_cb(skb);
	u32 used = dev->hard_header_len + skb->len;

	cb->seg = skb->len - skb_network_header_len(skb) -
		  sizeof(struct udphdr);
	cb->n = 1;
	cb->max = READ_ONCE(dev->gso_max_segs);
	cb->room = takes_trains(skb_dst(skb)) && max > used ? max - used : 0;
	if (skb->protocol == htons(ETH_P_IP))
		cb->id = ntohs(ip_hdr(skb)->id);
	cb->crc = sroce_icrc_net(skb_network_header(skb), skb_network_header_len(skb),
				 skb_transport_header(skb));
	memset(cb->like_bth, 0xff, SROCE_BTH_LEN);
}

/* Without a block to cut it from, there may still be memory for one. */
static struct sk_buff *skb_of(u32 len)
{
	u32 size = SKB_DATA_ALIGN(len) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	void *head = sroce_frag_prepare(size, SMP_CACHE_BYTES);
	struct sk_buff *skb;
	u32 off;

	skb = head ? napi_build_skb(head, size) : NULL;
	if (!skb)
		return alloc_skb(len, GFP_ATOMIC | __GFP_NOWARN);
	get_page(sroce_frag_commit(size, &off));
	return skb;
}

static struct sk_buff *new_skb(struct sroce_qp *qp, struct sroce_av *av, u32 len)
{
	struct dst_entry *dst = sroce_route_get(qp->dev, av);
	struct sk_buff *skb;
	u32 room;

	if (!dst) {
		sroce_count(qp, SROCE_CNT_TX_NO_ROUTE);
		return NULL;
	}
	room = LL_RESERVED_SPACE(dst->dev) + dst->header_len +
	       sizeof(struct ipv6hdr) + sizeof(struct udphdr);
	skb = skb_of(room + len);
	if (!skb) {
		dst_release(dst);
		sroce_count(qp, SROCE_CNT_TX_NO_MEM);
		return NULL;
	}
	skb_dst_set(skb, dst);
	skb->dev = dst->dev;
	skb_reserve(skb, room);
	skb_put(skb, len);
	put_udp(skb, av);
	if (av->v6)
		put_ipv6(skb, av);
	else
		put_ipv4(skb, av);
	begin_train(skb);
	return skb;
}

static bool same_path4(const struct iphdr *ip, const struct sroce_av *av)
{
	return ip->tos == av->tclass && ip->ttl == av->hop_limit &&
	       !memcmp(&ip->saddr, av->sgid.raw + 12, sizeof(ip->saddr)) &&
	       !memcmp(&ip->daddr, av->dgid.raw + 12, sizeof(ip->daddr));
}

static bool same_path6(const struct ipv6hdr *ip, const struct sroce_av *av)
{
	return ip6_flowinfo(ip) == ip6_make_flowinfo(av->tclass,
						     htonl(av->flow_label)) &&
	       ip->hop_limit == av->hop_limit &&
	       !memcmp(&ip->saddr, av->sgid.raw, sizeof(ip->saddr)) &&
	       !memcmp(&ip->daddr, av->dgid.raw, sizeof(ip->daddr));
}

static bool same_path(const struct sk_buff *skb, const struct sroce_av *av)
{
	if (udp_hdr(skb)->source != htons(av->sport))
		return false;
	if (skb->protocol == htons(ETH_P_IP))
		return !av->v6 && same_path4(ip_hdr(skb), av);
	return av->v6 && same_path6(ipv6_hdr(skb), av);
}

/*
 * The first that joins a train, or goes into another block, starts so that its
 * payload, behind a bare BTH, is aligned for the CRC, and with it that of those that
 * follow: path MTUs are powers of two, and BTH and ICRC together have the same size.
 */
static u8 *joining_room(const struct sk_buff *skb, u32 len)
{
	const u32 skew = PAYLOAD_ALIGN - SROCE_BTH_LEN;
	u32 off;
	u8 *room;

	room = sroce_frag_prepare(len, 1);
	/* a block begins on a page */
	if (!room || (skb_shinfo(skb)->nr_frags && offset_in_page(room)))
		return room;
	room = sroce_frag_prepare(len + skew, PAYLOAD_ALIGN);
	if (!room)
		return NULL;
	sroce_frag_commit(skew, &off);
	return sroce_frag_prepare(len, 1);
}

/* Room for a packet at the end of the newest train; NULL if it must start one */
static void *join_train(struct sroce_qp *qp, const struct sroce_av *av, u32 len)
{
	struct sk_buff *skb = skb_peek_tail(&qp->kqp->open_txq->skbs);
	const struct tx_cb *cb;
	void *room;

	if (!skb)
		return NULL;
	cb = tx_cb(skb);
	if (len > cb->seg || len > cb->room || cb->n >= cb->max ||
	    skb_shinfo(skb)->nr_frags == MAX_SKB_FRAGS || !same_path(skb, av))
		return NULL;
	room = joining_room(skb, len);
	if (room)
		qp->kqp->open = skb;
	return room;
}

/**
 * sroce_tx_begin() - room for one packet of a QP
 * @qp: the QP, locked
 * @av: where it goes
 * @len: bytes from BTH to the end of the pad
 * @response: it answers the peer
 *
 * Return: where BTH goes, or NULL without memory or route; that is counted.
 */
void *sroce_tx_begin(struct sroce_qp *qp, struct sroce_av *av, u32 len,
		     bool response)
{
	struct sroce_kqp *kqp = qp->kqp;

	len += SROCE_ICRC_LEN;
	kqp->open_txq = sroce_txq(kqp, response);
	kqp->open_len = len;
	kqp->open_joins = true;
	kqp->open_bth = join_train(qp, av, len);
	if (kqp->open_bth) {
		av->ip_id = tx_cb(kqp->open)->id + tx_cb(kqp->open)->n + 1;
		return kqp->open_bth;
	}
	kqp->open_joins = false;
	kqp->open = new_skb(qp, av, len);
	if (!kqp->open)
		return NULL;
	kqp->open_bth = skb_transport_header(kqp->open) +
			 sizeof(struct udphdr);
	return kqp->open_bth;
}

/**
 * sroce_tx_begin_segs() - room for packets of equal size
 * @qp: the QP, locked
 * @av: where they go
 * @len: bytes of each, from BTH to the end of the payload
 * @response: they answer the peer
 * @n: how many; set to how many there is room for
 *
 * Return: where the first one's BTH goes, or NULL unless they can join a train of
 * their like. The others follow, each behind the ICRC of the one before it.
 */
void *sroce_tx_begin_segs(struct sroce_qp *qp, struct sroce_av *av, u32 len,
			 bool response, u32 *n)
{
	struct sroce_kqp *kqp = qp->kqp;
	const struct tx_cb *cb;

	len += SROCE_ICRC_LEN;
	kqp->open_txq = sroce_txq(kqp, response);
	kqp->open_bth = join_train(qp, av, len);
	if (!kqp->open_bth)
		return NULL;
	cb = tx_cb(kqp->open);
	if (cb->seg != len) {
		kqp->open = NULL;
		return NULL;
	}
	*n = min3(*n, cb->max - cb->n, min(cb->room, sroce_frag_left()) / len);
	kqp->open_len = len;
	kqp->open_joins = true;
	av->ip_id = cb->id + cb->n + *n;
	return kqp->open_bth;
}

/* Bits that differ between the IPv4 identifications of two segments */
static u16 id_flip(struct sk_buff *skb, u32 a, u32 b)
{
	u32 id = tx_cb(skb)->id;

	return skb->protocol == htons(ETH_P_IP) ? (id + a) ^ (id + b) : 0;
}

/* CRC of the network headers that the open packet will have as a segment */
static u32 net_crc(struct sk_buff *skb, u32 n, u32 len)
{
	u8 l3[sizeof(struct ipv6hdr)], udp[sizeof(struct udphdr)];
	const struct tx_cb *cb = tx_cb(skb);
	u32 l3_len = skb_network_header_len(skb);

	if (len == cb->seg)
		return sroce_icrc_step_id(cb->crc, id_flip(skb, 0, n));
	memcpy(l3, skb_network_header(skb), l3_len);
	sroce_icrc_segment_header(l3, l3_len, n, len);
	memcpy(udp, skb_transport_header(skb), sizeof(struct udphdr));
	put_unaligned_be16(sizeof(struct udphdr) + len, udp + 4);
	return sroce_icrc_net(l3, l3_len, udp);
}

/* @crc: of what stands before the payload of a packet of @len bytes at @bth */
static void put_icrc(u32 crc, u8 *bth, u32 len)
{
	u8 *icrc = bth + len - SROCE_ICRC_LEN;
	__le32 sum;

	bth += SROCE_BTH_LEN;
	crc = sroce_icrc_data(crc, bth, icrc - bth);
	sum = sroce_icrc_final(crc);
	memcpy(icrc, &sum, sizeof(sum));
}

/* CRC of segment @at up to the end of BTH: most differ from others in their numbers. */
static u32 headers_crc(struct sk_buff *skb, u32 at, const u8 *bth, u32 len)
{
	struct tx_cb *cb = tx_cb(skb);
	u32 crc;

	if (len != cb->seg)
		return sroce_icrc_bth(net_crc(skb, at, len), bth);
	if (sroce_icrc_can_step(cb->like_bth, bth))
		return sroce_icrc_step(cb->like_crc, id_flip(skb, cb->like, at),
				       cb->like_bth, bth);
	crc = sroce_icrc_bth(net_crc(skb, at, len), bth);
	cb->like = at;
	cb->like_crc = crc;
	memcpy(cb->like_bth, bth, SROCE_BTH_LEN);
	return crc;
}

/* @n of the open packets; the first of them is number @at of its train. */
static void put_icrcs(struct sroce_kqp *kqp, u32 at, u32 n)
{
	u8 *bth = kqp->open_bth;
	u32 i, len = kqp->open_len;

	for (i = 0; i < n; i++, bth += len)
		put_icrc(headers_crc(kqp->open, at + i, bth, len), bth, len);
}

/* @n packets in the arena, of @size bytes each, become a part of the train. */
static void couple(struct sk_buff *skb, u32 size, u32 n)
{
	u32 len = size * n;
	int i = skb_shinfo(skb)->nr_frags;
	struct tx_cb *cb = tx_cb(skb);
	struct page *page;
	u32 off;

	page = sroce_frag_commit(len, &off);
	if (skb_can_coalesce(skb, i, page, off)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[i - 1], len);
	} else {
		get_page(page);
		skb_fill_page_desc(skb, i, page, off, len);
	}
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
	cb->n += n;
	/* nothing follows a shorter one */
	cb->room = size == cb->seg ? cb->room - len : 0;
}

/**
 * sroce_tx_commit() - seal the open packets and queue them
 * @qp: the QP, locked
 * @n: so many; the room for others is not used
 */
void sroce_tx_commit(struct sroce_qp *qp, u32 n)
{
	struct sroce_kqp *kqp = qp->kqp;
	struct sk_buff *skb = kqp->open;
	u32 len = kqp->open_len;

	put_icrcs(kqp, kqp->open_joins ? tx_cb(skb)->n : 0, n);
	if (kqp->open_joins)
		couple(skb, len, n);
	else
		__skb_queue_tail(&kqp->open_txq->skbs, skb);
	kqp->open = NULL;
}

/**
 * sroce_tx_abort() - forget the open packets
 * @qp: the QP, locked
 */
void sroce_tx_abort(struct sroce_qp *qp)
{
	if (!qp->kqp->open_joins)
		kfree_skb(qp->kqp->open);
	qp->kqp->open = NULL;
}

/**
 * sroce_tx_txq_can_append() - whether more packets may join what was queued last
 * @txq: of a QP, locked
 */
bool sroce_tx_txq_can_append(struct sroce_txq *txq)
{
	struct sk_buff *skb = skb_peek_tail(&txq->skbs);
	const struct tx_cb *cb;

	if (!skb)
		return false;
	cb = tx_cb(skb);
	return cb->room >= cb->seg && cb->n < cb->max;
}

/**
 * sroce_tx_can_append() - whether more requests may join what was queued last
 * @qp: the QP, locked
 */
bool sroce_tx_can_append(struct sroce_qp *qp)
{
	return sroce_tx_txq_can_append(sroce_txq(qp->kqp, false));
}

/**
 * sroce_tx_count() - count packets that are about to leave
 * @qp: whose they are, locked
 * @list: the packets; frames are counted already
 */
void sroce_tx_count(struct sroce_qp *qp, const struct sk_buff_head *list)
{
	struct sk_buff *skb;

	skb_queue_walk(list, skb) {
		u32 n = tx_cb(skb)->n;

		if (!n)
			continue;
		if (n > 1 && !sroce_coalesce_active(&qp->kqp->coalesce))
			sroce_steer_note_tx();
		this_cpu_add(qp->counters->c[SROCE_CNT_TX_PACKETS], n);
		/* each has headers of its own, or will have */
		this_cpu_add(qp->counters->c[SROCE_CNT_TX_BYTES],
			     skb->len + (n - 1) * (skb_network_header_len(skb) +
						   sizeof(struct udphdr)));
	}
}

/* What is queued becomes what the IP stack takes. */
static void finish(struct sroce_dev *dev, struct sk_buff *skb)
{
	struct tx_cb cb = *tx_cb(skb);
	struct udphdr *udp;
	u32 len;

	memset(skb->cb, 0, sizeof(skb->cb));
	/* a frame has no headers that we know of */
	if (cb.n <= 1)
		return;
	udp = udp_hdr(skb);
	len = skb->len - skb_network_header_len(skb);
	this_cpu_inc(dev->counters->c[SROCE_CNT_TX_TRAINS]);
	skb_shinfo(skb)->gso_size = cb.seg;
	skb_shinfo(skb)->gso_segs = cb.n;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	udp->len = htons(len);
	if (skb->protocol == htons(ETH_P_IP))
		udp->check = ~udp_v4_check(len, ip_hdr(skb)->saddr,
					   ip_hdr(skb)->daddr, 0);
	else
		udp->check = ~udp_v6_check(len, &ipv6_hdr(skb)->saddr,
					   &ipv6_hdr(skb)->daddr, 0);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
}

/**
 * sroce_tx_xmit() - send packets through the IP stack
 * @dev: whose they are
 * @list: the packets, in order; empty afterwards
 *
 * Called with bottom halves disabled and no lock held: what the packets cause
 * on this host happens after the caller enables them. A packet that this host
 * drops is a loss like any other.
 */
void sroce_tx_xmit(struct sroce_dev *dev, struct sk_buff_head *list)
{
	struct net *net = dev->sn->net;
	struct sk_buff *skb;
	int err;

	while ((skb = __skb_dequeue(list))) {
		bool frame = !tx_cb(skb)->n;

		finish(dev, skb);
		if (frame)
			err = sroce_raw_xmit(dev, skb);
		else if (skb->protocol == htons(ETH_P_IP))
			err = ip_local_out(net, dev->sn->sk4->sk, skb);
		else
			err = ip6_local_out(net, dev->sn->sk6->sk, skb);
		if (net_xmit_eval(err))
			this_cpu_inc(dev->counters->c[SROCE_CNT_TX_DROPPED]);
	}
}
