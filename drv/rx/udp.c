// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets from the UDP socket: who are they for, and are they whole?
 *
 * A train (see output.c) that comes whole is worked through as it is: its
 * packets find the QP once, take its lock once and are answered together.
 */

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/mm.h>
#include <linux/udp.h>
#include <net/ipv6.h>
#include "drv/dev.h"
#include "drv/compat/unaligned.h"
#include "drv/core/wire/icrc.h"

static void count(struct sroce_dev *dev, enum sroce_counter c)
{
	this_cpu_inc(dev->counters->c[c]);
}

static struct sroce_dev *dev_of(struct sroce_snet *sn, const union ib_gid *dgid,
				const struct net_device *ndev)
{
	struct sroce_dev *dev, *any = NULL;

	list_for_each_entry_rcu(dev, &sn->devs, net_list) {
		if (rcu_access_pointer(dev->ndev) == ndev) {
			if (sroce_gid_tbl_has(dev, dgid))
				return dev;
		} else if (!any && sroce_gid_tbl_has(dev, dgid)) {
			any = dev;
		}
	}
	return any;
}

/*
 * A packet without a QP still counts somewhere: at the device it came to, or
 * at the first of the namespace.
 */
static void count_orphan(struct sroce_snet *sn, const struct sroce_pkt *pkt,
			 const struct sk_buff *skb, enum sroce_counter c)
{
	struct sroce_dev *dev = dev_of(sn, &pkt->dgid, skb->dev);

	if (dev)
		count(dev, c);
	else
		sroce_snet_count(sn, c);
}

/* Network header without options or extensions: ICRC knows no others. */
static bool read_addresses(struct sroce_pkt *pkt, const struct sk_buff *skb)
{
	pkt->l3 = skb_network_header(skb);
	pkt->l3_len = skb_network_header_len(skb);
	if (skb->protocol == htons(ETH_P_IP)) {
		ipv6_addr_set_v4mapped(ip_hdr(skb)->saddr,
				       (struct in6_addr *)pkt->sgid.raw);
		ipv6_addr_set_v4mapped(ip_hdr(skb)->daddr,
				       (struct in6_addr *)pkt->dgid.raw);
		return pkt->l3_len == sizeof(struct iphdr);
	}
	memcpy(pkt->sgid.raw, &ipv6_hdr(skb)->saddr, sizeof(pkt->sgid));
	memcpy(pkt->dgid.raw, &ipv6_hdr(skb)->daddr, sizeof(pkt->dgid));
	return pkt->l3_len == sizeof(struct ipv6hdr);
}

/* What is at @off, and how many bytes lie there in one piece; NULL if in a list */
static const u8 *piece_at(const struct sk_buff *skb, u32 off, u32 *len)
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
			*len = start + size - off;
			return (u8 *)skb_frag_address(frag) + (off - start);
		}
		start += size;
	}
	return NULL;
}

static u32 icrc_pieces(struct sk_buff *skb, u32 crc, u32 from, u32 to)
{
	struct skb_seq_state seq;
	const u8 *data;
	u32 len, done = 0;

	skb_prepare_seq_read(skb, from, to, &seq);
	while ((len = skb_seq_read(done, &data, &seq))) {
		/* a piece ends where its memory does, not at @to */
		len = min(len, to - from - done);
		crc = sroce_icrc_data(crc, data, len);
		done += len;
	}
	return crc;
}

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

static atomic_long_t ofo;

/* Peers with many QPs decide how much is kept, and no socket accounts for it. */
static bool charge(long size)
{
	long max = (totalram_pages() / KEPT_SHARE) << PAGE_SHIFT;

	if (atomic_long_add_return(size, &ofo) <= max)
		return true;
	atomic_long_sub(size, &ofo);
	return false;
}

static void uncharge(long size)
{
	atomic_long_sub(size, &ofo);
}

/* What stays on this host has its payload with it, or is not kept. */
static bool hold_parcel(const struct sroce_pkt *pkt)
{
	struct sroce_lbpkt *lbpkt = (struct sroce_lbpkt *)pkt->carrier;

	if (!charge(sizeof(*lbpkt) + pkt->payload_len))
		return false;
	lbpkt->refs++;
	return true;
}

static void release_parcel(const struct sroce_pkt *pkt)
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
		return hold_parcel(pkt);
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
		release_parcel(pkt);
		return;
	}
	uncharge(skb->truesize);
	consume_skb(skb);
}

static struct sroce_kqp *find_gsi(struct sroce_snet *sn,
				      const struct sroce_pkt *pkt,
				      const struct sk_buff *skb)
{
	struct sroce_dev *dev = dev_of(sn, &pkt->dgid, skb->dev);

	return dev ? rcu_dereference(dev->gsi) : NULL;
}

/* The QP that a packet names, held; its address must be one of the device. */
static struct sroce_kqp *find_qp(struct sroce_snet *sn,
				     const struct sroce_pkt *pkt,
				     const struct sk_buff *skb)
{
	struct sroce_kqp *kqp;

	if (pkt->qpn == SROCE_QPN_GSI)
		kqp = find_gsi(sn, pkt, skb);
	else
		kqp = xa_load(&sroce_qp_tbl, pkt->qpn);
	if (!kqp || !refcount_inc_not_zero(&kqp->ref))
		return NULL;
	if (kqp->qp->dev->sn == sn &&
	    (kqp->qp->svc != SROCE_SVC_UD ||
	     sroce_gid_tbl_has(kqp->qp->dev, &pkt->dgid)))
		return kqp;
	sroce_qp_tbl_put(kqp);
	return NULL;
}

static u16 vlan_of(const struct sk_buff *skb)
{
	if (skb->dev && is_vlan_dev(skb->dev))
		return vlan_dev_vlan_id(skb->dev);
	return 0xffff;
}

/**
 * struct rx - a datagram, or a train of them, on its way to QPs
 * @sn: the namespace
 * @skb: what came, data at the UDP header
 * @seg: UDP payload of each segment but the last
 * @n: segments so far
 * @good: so many of those that are received next have been found good: the first was
 *	before it was left in an inbox, or they were thought to be a run
 * @guest: whoever called has taken @kqp, and releases it
 * @qpn: number of @kqp, as packets name it
 * @kqp: the QP that is taken at present, or NULL
 * @crc: of the network headers of the first segment, for ICRC
 * @like: number of the newest segment for which no other CRC was to go by
 * @like_crc: that of its headers up to the end of BTH
 * @like_bth: its BTH, within the train, or NULL
 * @headed: number of the segment that those of @l3 and @udp are of
 * @l3: network header of the segment
 * @udp: its UDP header
 * @flat: what follows the segment in the piece of @skb that it lies in
 * @left: bytes of that; 0 if the segment was in two of them
 * @hdr: room for transport headers that are in pieces
 * @pkt: the packet in it
 */
struct rx {
	struct sroce_snet	*sn;
	struct sk_buff		*skb;
	u32			seg;
	u32			n;
	u32			good;
	bool			guest;
	u32			qpn;
	struct sroce_kqp	*kqp;
	u32			crc;
	u32			like;
	u32			like_crc;
	const u8		*like_bth;
	u32			headed;
	u8			l3[sizeof(struct ipv6hdr)];
	u8			udp[sizeof(struct udphdr)];
	const u8		*flat;
	u32			left;
	u8			hdr[SROCE_HDR_MAX];
	struct sroce_pkt	pkt;
};

/* A segment of @len bytes at @off if it lies in one piece, or NULL */
static const u8 *flat(struct rx *rx, u32 off, u32 len)
{
	const u8 *p = rx->flat;

	/* behind the last one, mostly */
	if (rx->left < len) {
		p = piece_at(rx->skb, off, &rx->left);
		if (!p || rx->left < len) {
			rx->left = 0;
			return NULL;
		}
	}
	rx->flat = p + len;
	rx->left -= len;
	return p;
}

/* What became of a packet, other than that it was dropped */
#define TAKEN	(-1)
/* it, and all that follow it in the train, are in an inbox */
#define LEFT	(-2)

/* Successive packets of a QP find it locked, and it answers them all at once. */
static void end_burst(struct rx *rx)
{
	if (!rx->kqp)
		return;
	if (!rx->guest) {
		sroce_task_unlock_run(rx->kqp->qp);
		sroce_qp_tbl_put(rx->kqp);
	}
	rx->kqp = NULL;
}

/* Whoever has a QP does not wait for another one. */
static bool take_qp(struct rx *rx, struct sroce_kqp *kqp)
{
	if (!rx->guest)
		return sroce_task_lock_or_backlog(kqp, rx->skb, rx->pkt.qpn, rx->n);
	sroce_backlog_add(kqp, rx->skb, rx->pkt.qpn, rx->n);
	return false;
}

/* Return: TAKEN if the QP is locked, or else what becomes of the packet. */
static int begin_burst(struct rx *rx)
{
	struct sroce_kqp *kqp;

	if (rx->kqp && rx->qpn == rx->pkt.qpn)
		return TAKEN;
	end_burst(rx);
	kqp = find_qp(rx->sn, &rx->pkt, rx->skb);
	if (!kqp)
		return SROCE_CNT_RX_NO_QP;
	if (!take_qp(rx, kqp)) {
		sroce_qp_tbl_put(kqp);
		return LEFT;
	}
	rx->kqp = kqp;
	rx->qpn = rx->pkt.qpn;
	return TAKEN;
}

/* The headers of the first segment, whichever is received first */
static void first_headers(struct rx *rx)
{
	struct sroce_pkt *pkt = &rx->pkt;

	/* a length that the compiler knows costs no call */
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

/* Those that a segment would have as a packet of its own */
static void segment_headers(struct rx *rx, u32 len)
{
	if (rx->n == rx->headed && len == rx->seg)
		return;
	sroce_icrc_segment_header(rx->l3, rx->pkt.l3_len, rx->n - rx->headed, len);
	put_unaligned_be16(sizeof(rx->udp) + len, rx->udp + 4);
	rx->headed = rx->n;
}

/* Bits that differ between the IPv4 identifications of two segments */
static u16 id_flip(const struct rx *rx, u32 a, u32 b)
{
	u32 id;

	if (rx->pkt.l3_len != sizeof(struct iphdr))
		return 0;
	id = ntohs(ip_hdr(rx->skb)->id);
	return (id + a) ^ (id + b);
}

/* Their CRC, of segment @n: most segments differ in their number only. */
static u32 net_crc(const struct rx *rx, u32 n, u32 len)
{
	if (len != rx->seg)
		return sroce_icrc_net(rx->l3, rx->pkt.l3_len, rx->udp);
	return sroce_icrc_step_id(rx->crc, id_flip(rx, 0, n));
}

/* And with BTH, which is the packet's own: most segments differ in their numbers. */
static u32 bth_crc(struct rx *rx, u32 n, const u8 *bth, u32 len)
{
	u32 crc;

	if (rx->like_bth && len == rx->seg && sroce_icrc_can_step(rx->like_bth, bth))
		return sroce_icrc_step(rx->like_crc, id_flip(rx, rx->like, n),
				       rx->like_bth, bth);
	crc = sroce_icrc_bth(net_crc(rx, n, len), bth);
	if (len == rx->seg && bth != rx->hdr) {
		rx->like = n;
		rx->like_crc = crc;
		rx->like_bth = bth;
	}
	return crc;
}

/* @crc: of what stands before it, and of the BTH */
static bool ends_well(u32 crc, const u8 *bth, u32 len)
{
	u32 end = len - SROCE_ICRC_LEN;
	__le32 want;

	memcpy(&want, bth + end, sizeof(want));
	crc = sroce_icrc_data(crc, bth + SROCE_BTH_LEN, end - SROCE_BTH_LEN);
	return want == sroce_icrc_final(crc);
}

/* @bth: a copy, if the packet lies in pieces */
static bool icrc_ok(struct rx *rx, const u8 *bth, u32 len)
{
	const struct sroce_pkt *pkt = &rx->pkt;
	u32 crc, off = pkt->carrier_off, end = len - SROCE_ICRC_LEN;
	__le32 want;

	if (pkt->flat)
		return ends_well(bth_crc(rx, rx->n, bth, len), bth, len);
	if (skb_copy_bits(rx->skb, off + end, &want, sizeof(want)))
		return false;
	crc = bth_crc(rx, rx->n, bth, len);
	crc = icrc_pieces(rx->skb, crc, off + SROCE_BTH_LEN, off + end);
	return want == sroce_icrc_final(crc);
}

static void count_taken(struct sroce_qp *qp, const struct sroce_pkt *pkt, u32 len,
			u32 n)
{
	this_cpu_add(qp->counters->c[SROCE_CNT_RX_PACKETS], n);
	this_cpu_add(qp->counters->c[SROCE_CNT_RX_BYTES],
		     n * (len + sizeof(struct udphdr) + pkt->l3_len));
}

/**
 * sroce_udp_deliver() - count a packet and hand it to its QP
 * @qp: the QP, locked
 * @pkt: the packet; its ICRC is right
 * @len: bytes from BTH to the end of the ICRC
 */
void sroce_udp_deliver(struct sroce_qp *qp, const struct sroce_pkt *pkt, u32 len)
{
	count_taken(qp, pkt, len, 1);
	sroce_transport_rx(qp, pkt);
}

/*
 * One packet of @len bytes at @off. Return: why it was dropped, TAKEN or LEFT.
 */
static int receive(struct rx *rx, u32 off, u32 len)
{
	u32 head = min_t(u32, len, SROCE_HDR_MAX);
	struct sroce_pkt *pkt = &rx->pkt;
	bool good = rx->good;
	const u8 *bth;
	int ret;

	/* of this one, whatever becomes of it */
	rx->good -= good;
	/* what belongs to the network layer is the same for all */
	memset(pkt, 0, offsetof(struct sroce_pkt, sgid));
	segment_headers(rx, len);
	pkt->carrier_off = off;
	pkt->flat = flat(rx, off, len);
	bth = pkt->flat ?: skb_header_pointer(rx->skb, off, head, rx->hdr);
	if (!bth)
		return SROCE_CNT_RX_MALFORMED;
	ret = sroce_pkt_parse(pkt, bth, head, len);
	if (ret)
		return ret == -EPROTONOSUPPORT ? SROCE_CNT_RX_BAD_OPCODE :
						 SROCE_CNT_RX_MALFORMED;
	if (!good && !icrc_ok(rx, bth, len))
		return SROCE_CNT_RX_ICRC;
	if (sroce_gid_tbl_is_multicast(&pkt->dgid)) {
		end_burst(rx);
		return sroce_mcast_rcv(rx->sn, rx->skb, pkt, len) ?
		       TAKEN : SROCE_CNT_RX_NO_QP;
	}
	ret = begin_burst(rx);
	if (ret == TAKEN)
		sroce_udp_deliver(rx->kqp->qp, pkt, len);
	return ret;
}

/* Bytes of BTH before the word with AckReq and PSN */
#define BTH_CONST	8

/* Whether @bth is @n packets after @pkt, and differs from it in PSN only */
static bool continues(const struct sroce_pkt *pkt, const u8 *bth, u32 n)
{
	return !memcmp(bth, pkt->flat, BTH_CONST) &&
	       get_unaligned_be32(bth + BTH_CONST) == sroce_psn_add(pkt->psn, n);
}

/* How many packets from @bth on, in @left bytes, continue the newest one, and are whole */
static u32 run_length(struct rx *rx, const u8 *bth, u32 left)
{
	u32 n, seg = rx->seg;

	for (n = 0; left >= seg; n++, left -= seg, bth += seg)
		if (!continues(&rx->pkt, bth, n + 1) ||
		    !ends_well(bth_crc(rx, rx->n + n, bth, seg), bth, seg))
			break;
	return n;
}

/* Whether a packet may have others like it before and behind it */
static bool is_middle(const struct sroce_pkt *pkt)
{
	return pkt->flat && !pkt->pad &&
	       !(pkt->op->flags & (SROCE_START | SROCE_END));
}

/*
 * Take in the run from @off on that the packet just taken may be the first of.
 * Return: how many packets; if none, they go one by one.
 */
static u32 receive_run(struct rx *rx, u32 off)
{
	struct sroce_pkt *pkt = &rx->pkt;
	const u8 *bth;
	u32 n, left;

	if (!rx->kqp || rx->good || !is_middle(pkt))
		return 0;
	bth = piece_at(rx->skb, off, &left);
	if (!bth)
		return 0;
	n = run_length(rx, bth, min(left, rx->skb->len - off));
	if (n > 1) {
		pkt->psn = sroce_psn_add(pkt->psn, 1);
		pkt->ackreq = false;
		pkt->carrier_off = off;
		pkt->flat = bth;
		pkt->segs = n;
		pkt->seg_len = pkt->payload_len;
		pkt->payload_len *= n;
		if (sroce_transport_rx_segs(rx->kqp->qp, pkt)) {
			/* wherever they end */
			rx->left = 0;
			count_taken(rx->kqp->qp, pkt, rx->seg, n);
			return n;
		}
	}
	rx->good = n;
	return 0;
}

/* Return: TAKEN if all were, LEFT, or why the last was dropped that was. */
static int receive_all(struct rx *rx)
{
	u32 off = sizeof(struct udphdr) + rx->n * rx->seg;
	int why, last = TAKEN;

	rx->pkt.carrier = rx->skb;
	rx->pkt.vlan = vlan_of(rx->skb);
	/* a train of what can't be packets is one mistake, not thousands */
	if (rx->skb->len < off || rx->seg < SROCE_BTH_LEN + SROCE_ICRC_LEN ||
	    !read_addresses(&rx->pkt, rx->skb)) {
		count_orphan(rx->sn, &rx->pkt, rx->skb, SROCE_CNT_RX_MALFORMED);
		return SROCE_CNT_RX_MALFORMED;
	}
	first_headers(rx);
	rx->crc = sroce_icrc_net(rx->l3, rx->pkt.l3_len, rx->udp);
	do {
		u32 n, len = min(rx->skb->len - off, rx->seg);

		why = receive(rx, off, len);
		if (why == LEFT)
			return LEFT;
		if (why >= 0) {
			count_orphan(rx->sn, &rx->pkt, rx->skb, why);
			last = why;
		}
		off += len;
		rx->n++;
		n = why == TAKEN && off < rx->skb->len ? receive_run(rx, off) : 0;
		off += n * rx->seg;
		rx->n += n;
	} while (off < rx->skb->len);
	end_burst(rx);
	return last;
}

static u32 segment_size(const struct sk_buff *skb)
{
	return skb_is_gso(skb) ? skb_shinfo(skb)->gso_size :
				 skb->len - sizeof(struct udphdr);
}

static void consume(struct rx *rx)
{
	switch (receive_all(rx)) {
	case LEFT:
		break;
	case TAKEN:
		napi_consume_skb(rx->skb, 1);
		break;
	default:
		kfree_skb(rx->skb);
	}
}

/**
 * sroce_udp_input() - take in what came by a socket
 * @sn: the namespace
 * @skb: a datagram or a train of them, data at the UDP header; consumed
 *
 * Runs in softirq, under RCU.
 */
void sroce_udp_input(struct sroce_snet *sn, struct sk_buff *skb)
{
	struct rx rx = {
		.sn = sn,
		.skb = skb,
		.seg = segment_size(skb),
	};

	if (skb_is_gso(skb))
		sroce_snet_count(sn, SROCE_CNT_RX_TRAINS);
	consume(&rx);
}

/**
 * sroce_udp_rcv() - encap_rcv of the namespace's sockets
 * @sk: the socket
 * @skb: a datagram or a train of them, data at the UDP header
 *
 * Runs in softirq, under RCU.
 *
 * Return: 0, the packet is consumed whatever it was.
 */
int sroce_udp_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct sroce_snet *sn = sroce_snet_of(sock_net(sk));

	if (!sroce_steer(sn, skb))
		sroce_udp_input(sn, skb);
	return 0;
}

/**
 * sroce_udp_resume() - go on with what was left in an inbox
 * @qp: the QP, locked; it stays so
 * @skb: the datagram or train
 * @qpn: number of @qp, as packets name it
 * @n: how many of its segments have been received; the next one's ICRC is right
 *
 * Called with bottom halves disabled.
 */
void sroce_udp_resume(struct sroce_qp *qp, struct sk_buff *skb, u32 qpn, u32 n)
{
	struct rx rx = {
		.sn = qp->dev->sn,
		.skb = skb,
		.seg = segment_size(skb),
		.n = n,
		.good = 1,
		.guest = true,
		.qpn = qpn,
		.kqp = qp->kqp,
	};

	rcu_read_lock();
	consume(&rx);
	rcu_read_unlock();
}
