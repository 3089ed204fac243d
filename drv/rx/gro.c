// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets that crossed the wire one by one become trains again (generic receive offload).
 * So the stack, the lookup of the QP and the trip to it cost once for all that NAPI brought
 * together.
 *
 * The ICRC covers the headers below it. So a packet joins a train only if its headers are
 * those that segmentation of the train would give it again, and a train may be treated as
 * the one that its sender had: cut up if it leaves by another netdev, linearized, copied.
 * Nevertheless each packet stays in an skb of its own, in the frag_list of the first, and
 * its payload where the driver has put it.
 *
 * The packets of a flow to a QP stay in order: one that does not join their train sends that
 * on its way first.
 */

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/gro.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include "drv/compat/unaligned.h"
#include "drv/core/wire/wire.h"
#include "drv/lookup/gid_tbl.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"
#include "drv/net/bth.h"
#include "drv/net/segment.h"
#include "drv/rx/gro.h"

/* Most packets of a train; more, and a drop or a wait concerns too many at once */
#define TRAIN_MAX	64U
/* Most bytes of a train: the network header has 16 bits for its length */
#define BYTES_MAX	0xffffU

#define IPV4_LEN	sizeof(struct iphdr)
#define IPV6_LEN	sizeof(struct ipv6hdr)
/* Shortest UDP payload of a packet */
#define PAYLOAD_MIN	(SROCE_BTH_LEN + SROCE_ICRC_LEN)

/*
 * Headers of a packet, at its network header. @len: bytes of that, 20 or 40, without options
 * or extensions; the UDP header follows.
 */
struct headers {
	const u8	*l3;
	u32		len;
};

static const struct udphdr *udp_of(const struct headers *h)
{
	return (const struct udphdr *)(h->l3 + h->len);
}

/* Return: whether UDP follows a network header of @h->len bytes. */
static bool find_headers(struct sk_buff *skb, struct headers *h)
{
	u32 end = skb_gro_offset(skb), len = h->len + sizeof(struct udphdr);

	if (end < len)
		return false;
	h->l3 = skb_gro_header(skb, end, end - len);
	return h->l3 && h->l3 == skb_gro_network_header(skb);
}

/* Headers of a packet that waits, at the same place in it; they are linear. */
static bool same_place(const struct sk_buff *p, u32 end, struct headers *h)
{
	if (skb_headlen(p) < end)
		return false;
	h->l3 = p->data + end - sizeof(struct udphdr) - h->len;
	return true;
}

static bool same_vlan(const struct sk_buff *a, const struct sk_buff *b)
{
	return skb_vlan_tag_present(a) == skb_vlan_tag_present(b) &&
	       (!skb_vlan_tag_present(a) ||
		(a->vlan_proto == b->vlan_proto && a->vlan_tci == b->vlan_tci));
}

/* Whether addresses and ports are equal; ports follow the addresses. */
static bool same_flow(const struct headers *a, const struct headers *b)
{
	if (a->len == IPV4_LEN)
		return !memcmp(a->l3 + 12, b->l3 + 12, 12);
	return !memcmp(a->l3 + 8, b->l3 + 8, 36);
}

/*
 * Whether segment @n of a train that begins with @first has the headers @h, but for lengths
 * and checksums: segmentation counts the identification up, and copies all else.
 */
static bool is_segment(const struct headers *first, u32 n, const struct headers *h)
{
	const u8 *a = first->l3, *b = h->l3;

	if (h->len == IPV6_LEN)
		return !memcmp(a, b, 4) && !memcmp(a + 6, b + 6, 2);
	return !memcmp(a, b, 2) && !memcmp(a + 6, b + 6, 4) &&
	       (u16)(get_unaligned_be16(a + 4) + n) == get_unaligned_be16(b + 4);
}

/* Whether the UDP checksum is right, absent, or still to be computed by an offload */
static bool is_checked(const struct sk_buff *skb)
{
	u32 udp = skb_gro_offset(skb) - sizeof(struct udphdr);

	/* GRO has verified a checksum, if it is not absent; then NONE became UNNECESSARY */
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		return skb->ip_summed != CHECKSUM_NONE;
	return skb_checksum_start_offset(skb) == udp &&
	       skb->csum_offset == offsetof(struct udphdr, check);
}

/* Whether a packet may join or begin a train: the layers agree on its length. */
static bool is_plain(struct sk_buff *skb, const struct headers *h)
{
	u32 len = skb_gro_len(skb);

	return !NAPI_GRO_CB(skb)->flush && len >= PAYLOAD_MIN &&
	       ntohs(udp_of(h)->len) == sizeof(struct udphdr) + len &&
	       (h->len == IPV4_LEN || h->l3[6] == IPPROTO_UDP) &&
	       !skb_cloned(skb) && !skb_zcopy(skb) && !skb->encapsulation && is_checked(skb);
}

/* Whether packets from @h on are for this host; what it forwards is none of our business. */
static bool is_local(struct sroce_snet *sn, const struct headers *h)
{
	struct sroce_dev *dev;
	union ib_gid dgid;

	if (h->len == IPV4_LEN)
		ipv6_addr_set_v4mapped(get_unaligned((__be32 *)(h->l3 + 16)),
				       (struct in6_addr *)dgid.raw);
	else
		memcpy(dgid.raw, h->l3 + 24, sizeof(dgid));
	list_for_each_entry_rcu(dev, &sn->devs, net_list)
		if (sroce_gid_tbl_has(dev, &dgid, NULL))
			return true;
	return false;
}

/* Whether packets, with BTHs at @end, are for the same QP */
static bool same_qp(const struct sk_buff *p, const struct sk_buff *skb, u32 end)
{
	struct sroce_bth buf_p, buf;
	const struct sroce_bth *a = sroce_skb_bth(p, end, &buf_p);
	const struct sroce_bth *b = sroce_skb_bth(skb, end, &buf);

	return a && b && sroce_bth_qpn(a) == sroce_bth_qpn(b);
}

/*
 * The train, or single packet, of the flow that waits for more. There is at most one for each QP:
 * one that is busy takes all the rest of a train in its backlog. It may be one that
 * udp_gro_receive() excludes, as only one of the two has a UDP checksum.
 */
static struct sk_buff *find_train(struct list_head *head, const struct sk_buff *skb,
				  const struct headers *h, struct headers *first)
{
	struct sk_buff *p;

	first->len = h->len;
	list_for_each_entry(p, head, list)
		if (NAPI_GRO_CB(p)->is_flist && p->dev == skb->dev &&
		    p->protocol == skb->protocol && same_vlan(p, skb) &&
		    same_place(p, skb_gro_offset(skb), first) && same_flow(first, h) &&
		    same_qp(p, skb, skb_gro_offset(skb)))
			return p;
	return NULL;
}

/*
 * Whether a packet counts for the same sender on this host as a train, or for none: of a list
 * that was taken apart the first packet has all of the charge.
 */
static bool same_owner(const struct sk_buff *p, const struct sk_buff *skb)
{
	if (p->destructor && p->destructor != sock_wfree)
		return false;
	if (!skb->destructor && !skb->sk)
		return p->destructor || !p->sk;
	return p->sk == skb->sk && p->destructor == skb->destructor;
}

/* Whether a plain packet continues a train; only the last one may be shorter than the rest. */
static bool fits(const struct sk_buff *p, const struct headers *first,
		 const struct sk_buff *skb, const struct headers *h)
{
	u32 n = NAPI_GRO_CB(p)->count, len = skb_gro_len(skb);

	return NAPI_GRO_CB(p)->same_flow && !NAPI_GRO_CB(p)->flush && n < TRAIN_MAX &&
	       p->len + len <= BYTES_MAX && ntohs(udp_of(h)->len) <= ntohs(udp_of(first)->len) &&
	       p->ip_summed == skb->ip_summed && p->csum_level == skb->csum_level &&
	       same_owner(p, skb) && !skb_cloned(p) && is_segment(first, n, h);
}

/*
 * Add a packet that fits to a train, with a network header of @l3_len bytes. Return: false if
 * there is no memory for that.
 */
static bool append(struct sk_buff *p, struct sk_buff *skb, u32 l3_len)
{
	/* skb_segment_list() reads headers there, if the train leaves by another netdev */
	if (!pskb_may_pull(skb, skb_gro_offset(skb)))
		return false;
	/* it may still be that of a VLAN tag, and skb_segment_list() goes by it */
	skb_set_network_header(skb, skb_gro_offset(skb) - sizeof(struct udphdr) - l3_len);
	__skb_pull(skb, skb_gro_offset(skb));
	/*
	 * sock_wfree() of the first gives back all of @p->truesize, and no more, though
	 * skb_segment_list() may subtract that of the others.
	 */
	if (skb->destructor == p->destructor)
		p->truesize += skb->truesize;
	if (!sroce_segment_keeps_truesize())
		skb->truesize = 0;
	skb->destructor = NULL;
	skb->sk = NULL;
	skb_dst_drop(skb);
	skb->next = NULL;
	if (NAPI_GRO_CB(p)->last == p)
		skb_shinfo(p)->frag_list = skb;
	else
		NAPI_GRO_CB(p)->last->next = skb;
	NAPI_GRO_CB(p)->last = skb;
	NAPI_GRO_CB(p)->count++;
	NAPI_GRO_CB(skb)->same_flow = 1;
	skb_shinfo(p)->flags |= skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
	p->data_len += skb->len;
	p->len += skb->len;
	return true;
}

/**
 * sroce_gro_receive() - gro_receive of the namespace's sockets
 * @sk: the socket
 * @head: packets and trains that wait for more
 * @skb: a packet, to be added to one of them, to wait, or, with its flush set, to go on
 *
 * udp4_gro_complete() and udp6_gro_complete() make a train of what has is_flist set and is
 * not in a tunnel, without asking the socket, which may be closed by then.
 *
 * Context: softirq, under RCU.
 *
 * Return: the train that does not wait any longer, or NULL.
 */
struct sk_buff *sroce_gro_receive(struct sock *sk, struct list_head *head, struct sk_buff *skb)
{
	struct headers h = { .len = sk->sk_family == AF_INET ? IPV4_LEN : IPV6_LEN }, first;
	struct sroce_snet *sn = sroce_snet_of(sock_net(sk));
	bool plain, is_last;
	struct sk_buff *p;

	NAPI_GRO_CB(skb)->encap_mark = 0;
	NAPI_GRO_CB(skb)->is_flist = 1;
	if (!find_headers(skb, &h)) {
		NAPI_GRO_CB(skb)->flush = 1;
		return NULL;
	}
	plain = is_plain(skb, &h);
	/* what was verified belongs to no more than this packet */
	if (plain && skb->ip_summed == CHECKSUM_COMPLETE) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		skb->csum_level = 0;
	}
	p = find_train(head, skb, &h, &first);
	if (p && plain && fits(p, &first, skb, &h)) {
		is_last = udp_of(&h)->len != udp_of(&first)->len ||
			  NAPI_GRO_CB(p)->count + 1 == TRAIN_MAX;
		if (append(p, skb, h.len))
			return is_last ? p : NULL;
		plain = false;
	}
	if (p)
		sroce_snet_count(sn, SROCE_CNT_RX_GRO_ENDED);
	if (!plain || (!p && !is_local(sn, &h)))
		NAPI_GRO_CB(skb)->flush = 1;
	return p;
}
