// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Transmission of packets: network headers, ICRC, IP stack.
 *
 * Consecutive packets of equal size on one path leave as a train: one skb with UDP
 * segmentation offload. Each segment is a finished packet with its BTH and ICRC.
 * Segmentation, if it happens at all, only repeats the network headers, increments the
 * IPv4 identification and fills in the UDP checksum. All of this is known beforehand or
 * not covered by the ICRC. The last segment may be shorter than the others. If the netdev
 * can't segment, segment.c makes a list of packets of the train.
 *
 * The first packet is in the linear part of the skb, so that a single packet has no
 * overhead. The packets appended to it are in page fragments. Payload is copied: an skb
 * has only 17 fragments, and each packet would take two or three of the region's pages.
 */

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>
#include <net/udp.h>
#include "drv/compat/unaligned.h"
#include "drv/core/env.h"
#include "drv/core/wire/icrc.h"
#include "drv/core/wire/train_icrc.h"
#include "drv/lookup/kqp.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"
#include "drv/net/frag.h"
#include "drv/net/raw.h"
#include "drv/net/route.h"
#include "drv/net/segment.h"
#include "drv/net/tx.h"
#include "drv/net/txq.h"

/* Bytes that carry-less multiplication processes at once */
#define PAYLOAD_ALIGN	16

/**
 * struct tx_cb - a train under construction, in skb->cb
 * @seg: bytes of UDP payload of each segment but the last
 * @n: number of segments; 0 in a frame of a raw packet QP
 * @max: most segments
 * @space: bytes of UDP payload that may still be appended
 * @ifindex: index of the netdev that its path leaves by
 * @icrc: CRC of the headers of the segments, and the first IPv4 identification
 */
struct tx_cb {
	u32	seg;
	u32	n;
	u32	max;
	u32	space;
	int	ifindex;
	struct sroce_train_icrc icrc;
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

/* The UDP checksum is 0, as hardware sends it (A17.3.1): the ICRC covers more. */
static void put_udp(struct sk_buff *skb, const struct sroce_av *av)
{
	struct udphdr *udp = skb_push(skb, sizeof(*udp));

	skb_reset_transport_header(skb);
	udp->source = htons(av->sport);
	udp->dest = htons(SROCE_UDP_PORT);
	udp->len = htons(skb->len);
	udp->check = 0;
}

/* Without scatter/gather and checksum offload, segmentation costs more than it saves. */
static bool can_segment(const struct dst_entry *dst)
{
	netdev_features_t f = dst->dev->features;

	return f & NETIF_F_SG && f & NETIF_F_CSUM_MASK && !dst->header_len;
}

/*
 * Most segments of a train. A virtual machine drops what its virtio-net or the host's tap gets
 * with more than UDP_MAX_SEGMENTS; it is 64 or 128, and that of the other kernel counts.
 */
#define TRAIN_SEGMENTS	64U

/*
 * Segments that a train may have if this is its first. None crosses an identification of
 * 0x8000: hardware that segments can be set up to count with 15 bits.
 */
static u32 most_segments(const struct sk_buff *skb, const struct sroce_train_icrc *icrc)
{
	u32 most = READ_ONCE(skb_dst(skb)->dev->gso_max_segs);

	return min3(most, TRAIN_SEGMENTS, 0x8000U - (icrc->id & 0x7fff));
}

/* Bytes of UDP payload that may be appended to the first packet */
static u32 train_space(const struct sroce_dev *sdev, const struct sk_buff *skb)
{
	const struct net_device *dev = skb_dst(skb)->dev;
	u32 max = min(READ_ONCE(dev->gso_max_size), GSO_LEGACY_MAX_SIZE) - 1;
	u32 used = dev->hard_header_len + skb->len;

	if (!READ_ONCE(sdev->trains) || !can_segment(skb_dst(skb)) || max <= used)
		return 0;
	return max - used;
}

static void train_init(const struct sroce_dev *sdev, struct sk_buff *skb)
{
	struct tx_cb *cb = tx_cb(skb);

	cb->seg = skb->len - skb_network_header_len(skb) -
		  sizeof(struct udphdr);
	cb->n = 1;
	cb->space = train_space(sdev, skb);
	sroce_train_icrc_init(&cb->icrc, skb_network_header(skb),
			      skb_network_header_len(skb), skb_transport_header(skb));
	cb->max = most_segments(skb, &cb->icrc);
}

static struct sk_buff *skb_create(struct sroce_qp *qp, struct sroce_av *av, u32 len)
{
	struct dst_entry *dst = sroce_route_get(qp->dev, av);
	struct sk_buff *skb;
	u32 headroom;

	if (!dst) {
		sroce_count(qp, SROCE_CNT_TX_NO_ROUTE);
		return NULL;
	}
	headroom = LL_RESERVED_SPACE(dst->dev) + dst->header_len +
		   sizeof(struct ipv6hdr) + sizeof(struct udphdr);
	skb = sroce_frag_alloc_skb(headroom + len);
	if (!skb) {
		dst_release(dst);
		sroce_count(qp, SROCE_CNT_TX_NO_MEM);
		return NULL;
	}
	/* no skb->dev: to netfilter, a packet of a netdev is one that is forwarded */
	skb_dst_set(skb, dst);
	skb->priority = av->priority;
	skb_reserve(skb, headroom);
	skb_put(skb, len);
	put_udp(skb, av);
	if (av->v6)
		put_ipv6(skb, av);
	else
		put_ipv4(skb, av);
	train_init(qp->dev, skb);
	tx_cb(skb)->ifindex = av->ifindex;
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

/* Netdevs of several VLANs may have the same link-local address. */
static bool same_path(struct sk_buff *skb, const struct sroce_av *av)
{
	if (udp_hdr(skb)->source != htons(av->sport) || skb->priority != av->priority ||
	    tx_cb(skb)->ifindex != av->ifindex)
		return false;
	if (skb->protocol == htons(ETH_P_IP))
		return !av->v6 && same_path4(ip_hdr(skb), av);
	return av->v6 && same_path6(ipv6_hdr(skb), av);
}

/*
 * Memory for a segment of @len bytes. The first one appended to a train, or cut from a new
 * block, is placed so that its payload is aligned for the CRC if it has only a BTH. Then
 * the payloads of the segments that follow are aligned as well: path MTUs are multiples
 * of PAYLOAD_ALIGN, and so is the size of BTH and ICRC together.
 */
static u8 *segment_prepare(const struct sk_buff *skb, u32 len)
{
	const u32 skew = PAYLOAD_ALIGN - SROCE_BTH_LEN;
	u32 off;
	u8 *mem;

	mem = sroce_frag_prepare(len, 1);
	/* a block begins on a page */
	if (!mem || (skb_shinfo(skb)->nr_frags && offset_in_page(mem)))
		return mem;
	mem = sroce_frag_prepare(len + skew, PAYLOAD_ALIGN);
	if (!mem)
		return NULL;
	sroce_frag_commit(skew, &off);
	return sroce_frag_prepare(len, 1);
}

/* Whether a train, or NULL, can have another packet of @len bytes, ICRC included */
static bool has_space(struct sk_buff *skb, const struct sroce_av *av, u32 len)
{
	const struct tx_cb *cb;

	if (!skb)
		return false;
	cb = tx_cb(skb);
	return len <= cb->seg && len <= cb->space && cb->n < cb->max &&
	       skb_shinfo(skb)->nr_frags < MAX_SKB_FRAGS && same_path(skb, av);
}

/* Memory for a packet at the end of the last train; NULL if the packet must start one */
static void *train_prepare(struct sroce_qp *qp, const struct sroce_av *av, u32 len)
{
	struct sk_buff *skb = skb_peek_tail(&qp->kqp->open_txq->skbs);
	void *mem;

	if (!has_space(skb, av, len))
		return NULL;
	mem = segment_prepare(skb, len);
	if (mem)
		qp->kqp->open = skb;
	return mem;
}

/**
 * sroce_tx_begin() - open a packet
 * @qp: the QP, locked
 * @av: path of the packet
 * @len: bytes from BTH to the end of the pad, ICRC not included
 * @response: the packet is a response
 *
 * The caller fills in the packet, then calls sroce_tx_commit() or sroce_tx_abort().
 *
 * Return: where the BTH goes; NULL without memory or route, which is counted.
 */
void *sroce_tx_begin(struct sroce_qp *qp, struct sroce_av *av, u32 len,
		     bool response)
{
	struct sroce_kqp *kqp = qp->kqp;

	len += SROCE_ICRC_LEN;
	kqp->open_txq = sroce_kqp_txq(kqp, response);
	kqp->open_len = len;
	kqp->open_joins = true;
	kqp->open_bth = train_prepare(qp, av, len);
	if (kqp->open_bth) {
		av->ip_id = tx_cb(kqp->open)->icrc.id + tx_cb(kqp->open)->n + 1;
		return kqp->open_bth;
	}
	kqp->open_joins = false;
	kqp->open = skb_create(qp, av, len);
	if (!kqp->open)
		return NULL;
	kqp->open_bth = skb_transport_header(kqp->open) +
			 sizeof(struct udphdr);
	return kqp->open_bth;
}

/**
 * sroce_tx_begin_segs() - open several packets of equal size
 * @qp: the QP, locked
 * @av: path of the packets
 * @len: bytes of each packet from BTH to the end of the payload, ICRC not included
 * @response: the packets are responses
 * @n: in: number of packets wanted; out: number of packets that fit
 *
 * Return: where the BTH of the first packet goes. Each other packet starts behind the ICRC
 * of the one before it. NULL if they can't be appended to a train of packets of this
 * size; then nothing is open.
 */
void *sroce_tx_begin_segs(struct sroce_qp *qp, struct sroce_av *av, u32 len,
			  bool response, u32 *n)
{
	struct sroce_kqp *kqp = qp->kqp;
	const struct tx_cb *cb;

	len += SROCE_ICRC_LEN;
	kqp->open_txq = sroce_kqp_txq(kqp, response);
	kqp->open_bth = train_prepare(qp, av, len);
	if (!kqp->open_bth)
		return NULL;
	cb = tx_cb(kqp->open);
	if (cb->seg != len) {
		kqp->open = NULL;
		return NULL;
	}
	*n = min3(*n, cb->max - cb->n, min(cb->space, sroce_frag_left()) / len);
	kqp->open_len = len;
	kqp->open_joins = true;
	av->ip_id = cb->icrc.id + cb->n + *n;
	return kqp->open_bth;
}

/* CRC of the headers of a segment that is shorter than those before it */
static u32 short_segment_crc(struct sk_buff *skb, u32 n, const u8 *bth, u32 len)
{
	u8 l3[sizeof(struct ipv6hdr)], udp[sizeof(struct udphdr)];
	u32 l3_len = skb_network_header_len(skb);

	memcpy(l3, skb_network_header(skb), l3_len);
	sroce_icrc_segment_header(l3, l3_len, n, len);
	memcpy(udp, skb_transport_header(skb), sizeof(struct udphdr));
	put_unaligned_be16(sizeof(struct udphdr) + len, udp + 4);
	return sroce_icrc_bth(sroce_icrc_net(l3, l3_len, udp), bth);
}

/* Finish the packet of @len bytes at @bth. @crc: CRC of its headers up to the BTH */
static void put_icrc(u32 crc, u8 *bth, u32 len)
{
	u8 *icrc = bth + len - SROCE_ICRC_LEN;
	__le32 sum;

	bth += SROCE_BTH_LEN;
	crc = sroce_icrc_data(crc, bth, icrc - bth);
	sum = sroce_icrc_final(crc);
	memcpy(icrc, &sum, sizeof(sum));
}

/* CRC of the headers of segment @at, up to the end of its BTH */
static u32 headers_crc(struct sk_buff *skb, u32 at, const u8 *bth, u32 len)
{
	struct tx_cb *cb = tx_cb(skb);

	return len == cb->seg ? sroce_train_icrc_headers(&cb->icrc, at, bth) :
				short_segment_crc(skb, at, bth, len);
}

/* Finish the first @n open packets. The first of them is segment @at of its train. */
static void put_icrcs(struct sroce_kqp *kqp, u32 at, u32 n)
{
	u8 *bth = kqp->open_bth;
	u32 i, len = kqp->open_len;

	for (i = 0; i < n; i++, bth += len)
		put_icrc(headers_crc(kqp->open, at + i, bth, len), bth, len);
}

/* Append the @n open packets of @size bytes each to their train. */
static void train_append(struct sk_buff *skb, u32 size, u32 n)
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
	/* only the last segment may be shorter */
	cb->space = size == cb->seg ? cb->space - len : 0;
}

/**
 * sroce_tx_commit() - add the ICRCs to the open packets and queue them
 * @qp: the QP, locked
 * @n: number of packets, which may be less than the number opened
 *
 * The packets are sent when the QP is unlocked.
 */
void sroce_tx_commit(struct sroce_qp *qp, u32 n)
{
	struct sroce_kqp *kqp = qp->kqp;
	struct sk_buff *skb = kqp->open;
	u32 len = kqp->open_len;

	put_icrcs(kqp, kqp->open_joins ? tx_cb(skb)->n : 0, n);
	if (kqp->open_joins) {
		train_append(skb, len, n);
		kqp->open_txq->queued += len * n;
	} else {
		sroce_txq_add(kqp->open_txq, skb);
	}
	kqp->open = NULL;
}

/**
 * sroce_tx_abort() - drop the open packets
 * @qp: the QP, locked
 */
void sroce_tx_abort(struct sroce_qp *qp)
{
	if (!qp->kqp->open_joins)
		kfree_skb(qp->kqp->open);
	qp->kqp->open = NULL;
}

/**
 * sroce_tx_fits() - whether a response can be the last of the train of requests queued last
 * @qp: the QP, locked
 * @len: bytes of the response from BTH on, ICRC not included
 */
bool sroce_tx_fits(struct sroce_qp *qp, u32 len)
{
	struct sk_buff *skb = skb_peek_tail(&sroce_kqp_txq(qp->kqp, false)->skbs);

	return has_space(skb, &qp->av, len + SROCE_ICRC_LEN);
}

/**
 * sroce_tx_join() - have the next packet, a response that fits, leave with a request
 * @qp: the QP, locked
 * @len: as for sroce_tx_fits(), which is true
 *
 * Responses of before need not have left this host: those that this CPU has sent are ahead in
 * the netdev's queue, and hardware keeps the order of that, however late it completes them.
 * Responses that follow may overtake this one, which must be an ACK: it is then a duplicate.
 *
 * Return: whether it can: it overtakes no response, and has not to wait for packets that another
 * CPU has sent or sends.
 */
bool sroce_tx_join(struct sroce_qp *qp, u32 len)
{
	struct sroce_txq *requests = sroce_kqp_txq(qp->kqp, false);
	struct sroce_txq *responses = sroce_kqp_txq(qp->kqp, true);
	const struct sk_buff *skb = skb_peek_tail(&requests->skbs);

	return !requests->sending && !sroce_txq_is_overtaken(requests, skb) &&
	       sroce_txq_is_given(responses) && !sroce_txq_is_overtaken(responses, skb);
}

/**
 * sroce_tx_txq_can_append() - whether packets may be appended to the last train
 * @txq: transmit queue of a locked QP
 */
bool sroce_tx_txq_can_append(struct sroce_txq *txq)
{
	struct sk_buff *skb = skb_peek_tail(&txq->skbs);
	const struct tx_cb *cb;

	if (!skb)
		return false;
	cb = tx_cb(skb);
	return cb->space >= cb->seg && cb->n < cb->max;
}

/**
 * sroce_tx_can_append() - whether requests may be appended to the last train
 * @qp: the QP, locked
 */
bool sroce_tx_can_append(struct sroce_qp *qp)
{
	return sroce_tx_txq_can_append(sroce_kqp_txq(qp->kqp, false));
}

/**
 * sroce_ud_max() - length of the longest datagram that may be sent
 * @qp: the QP, locked
 *
 * Return: the active MTU of the port, in bytes; if the netdev is gone, that of any port.
 */
u32 sroce_ud_max(struct sroce_qp *qp)
{
	enum ib_mtu mtu = IB_MTU_4096;
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rcu_dereference(qp->dev->ndev);
	if (ndev)
		mtu = sroce_sdev_mtu(READ_ONCE(ndev->mtu));
	rcu_read_unlock();
	return ib_mtu_enum_to_int(mtu);
}

/**
 * sroce_tx_prepare() - charge and count packets that are about to be sent
 * @qp: the QP, locked
 * @txq: the transmit queue that they were in
 * @list: the packets; frames of raw packet QPs are counted by sroce_raw_tx()
 *
 * Return: whether there is a train of several packets among them. Two may be an answer and its
 * ACK, for which no other CPU is needed.
 */
bool sroce_tx_prepare(struct sroce_qp *qp, struct sroce_txq *txq,
		      const struct sk_buff_head *list)
{
	u32 few = qp->ack_with_answer ? 2 : 1;
	bool train = false;
	struct sk_buff *skb;

	skb_queue_walk(list, skb) {
		u32 n = tx_cb(skb)->n;

		sroce_txq_own(qp->kqp, txq, skb);
		if (!n)
			continue;
		train |= n > few;
		this_cpu_add(qp->counters->c[SROCE_CNT_TX_PACKETS], n);
		/* each segment has, or will have, its own network headers */
		this_cpu_add(qp->counters->c[SROCE_CNT_TX_BYTES],
			     skb->len + (n - 1) * (skb_network_header_len(skb) +
						   sizeof(struct udphdr)));
	}
	return train;
}

/* The netdev, or the stack, will fill in the UDP checksums of a train. */
static void put_partial_checksum(struct sk_buff *skb, u32 len)
{
	struct udphdr *udp = udp_hdr(skb);

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

/*
 * Make a train a list of packets. They have no UDP checksum, as single packets. Return: the
 * number of packets, which is less than @n if there was no memory for some.
 */
static u32 segment(struct sroce_dev *dev, struct sk_buff *skb, u32 seg, u32 n)
{
	u32 left = sroce_segment_train(skb, seg);

	this_cpu_inc(dev->counters->c[SROCE_CNT_TX_SEGMENTED]);
	if (unlikely(left < n))
		this_cpu_add(dev->counters->c[SROCE_CNT_TX_NO_MEM], n - left);
	/* nobody has to compute one, nor to check that there is none */
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	return left;
}

/* Prepare a queued skb for the IP stack: segmentation offload, if it is a train */
static void set_gso(struct sroce_dev *dev, struct sk_buff *skb)
{
	struct skb_shared_info *info = skb_shinfo(skb);
	struct tx_cb cb = *tx_cb(skb);
	u32 len;

	memset(skb->cb, 0, sizeof(skb->cb));
	/* raw packet QP: the headers are the user's */
	if (cb.n <= 1)
		return;
	this_cpu_inc(dev->counters->c[SROCE_CNT_TX_TRAINS]);
	info->gso_type = SKB_GSO_UDP_L4;
	if (sroce_segment_is_needed(skb_dst(skb))) {
		cb.n = segment(dev, skb, cb.seg, cb.n);
		info->gso_type |= SKB_GSO_FRAGLIST;
	}
	len = skb->len - skb_network_header_len(skb);
	if (!(info->gso_type & SKB_GSO_FRAGLIST))
		put_partial_checksum(skb, len);
	if (unlikely(cb.n == 1)) {
		info->gso_type = 0;
		return;
	}
	info->gso_size = cb.seg;
	info->gso_segs = cb.n;
	udp_hdr(skb)->len = htons(len);
}

/**
 * sroce_tx_xmit() - send packets through the IP stack
 * @dev: the device
 * @list: the packets, in order; empty afterwards
 *
 * Packets that the IP stack drops are counted; they are lost, as on the wire.
 *
 * Context: bottom halves disabled, no lock held. Packets to this host are received after
 * the caller enables bottom halves.
 *
 * Return: whether a queue on this host was too full: the stack has dropped packets, or
 * says that it is about to.
 */
bool sroce_tx_xmit(struct sroce_dev *dev, struct sk_buff_head *list)
{
	struct net *net = dev->sn->net;
	bool dropped = false;
	struct sk_buff *skb;
	int err;

	while ((skb = __skb_dequeue(list))) {
		bool frame = !tx_cb(skb)->n;

		set_gso(dev, skb);
		if (frame)
			err = sroce_raw_xmit(dev, skb);
		else if (skb->protocol == htons(ETH_P_IP))
			err = ip_local_out(net, dev->sn->sk4->sk, skb);
		else
			err = ip6_local_out(net, dev->sn->sk6->sk, skb);
		if (likely(!err))
			continue;
		/* other errors are not those of a queue */
		dropped |= err == NET_XMIT_DROP || err == NET_XMIT_CN || err == -ENOBUFS;
		this_cpu_inc(dev->counters->c[err == NET_XMIT_CN ?
					      SROCE_CNT_TX_CONGESTED :
					      SROCE_CNT_TX_DROPPED]);
	}
	return dropped;
}
