// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets on their way out: network headers, ICRC, route, the IP stack. */

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>
#include "dev.h"
#include "proto/icrc.h"

static struct dst_entry *route4(struct sroce_dev *dev, struct sroce_av *av)
{
	struct flowi4 fl = {
		.flowi4_oif = av->ifindex,
		.flowi4_proto = IPPROTO_UDP,
	};
	struct rtable *rt;

	memcpy(&fl.saddr, av->sgid.raw + 12, sizeof(fl.saddr));
	memcpy(&fl.daddr, av->dgid.raw + 12, sizeof(fl.daddr));
	fl.fl4_sport = htons(av->sport);
	fl.fl4_dport = htons(SROCE_UDP_PORT);
	sroce_flowi4_set_tos(&fl, av->tclass);
	rt = ip_route_output_key(dev->sn->net, &fl);
	if (IS_ERR(rt))
		return NULL;
	dst_cache_set_ip4(&av->dst, &rt->dst, fl.saddr);
	return &rt->dst;
}

static struct dst_entry *route6(struct sroce_dev *dev, struct sroce_av *av)
{
	struct flowi6 fl = {
		.flowi6_oif = av->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.flowlabel = ip6_make_flowinfo(av->tclass,
					       htonl(av->flow_label)),
	};
	struct dst_entry *dst;

	if (!dev->sn->sk6)
		return NULL;
	memcpy(&fl.saddr, av->sgid.raw, sizeof(fl.saddr));
	memcpy(&fl.daddr, av->dgid.raw, sizeof(fl.daddr));
	fl.fl6_sport = htons(av->sport);
	fl.fl6_dport = htons(SROCE_UDP_PORT);
	dst = ip6_dst_lookup_flow(dev->sn->net, dev->sn->sk6->sk, &fl, NULL);
	if (IS_ERR(dst))
		return NULL;
	dst_cache_set_ip6(&av->dst, dst, &fl.saddr);
	return dst;
}

/* A reference to the route, from the path's cache if it still holds */
static struct dst_entry *route(struct sroce_dev *dev, struct sroce_av *av)
{
	struct dst_entry *dst = dst_cache_get(&av->dst);

	if (dst)
		return dst;
	return av->v6 ? route6(dev, av) : route4(dev, av);
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

/**
 * sroce_tx_begin() - room for one packet of a QP
 * @qp: the QP, locked
 * @av: where it goes
 * @len: bytes from BTH to the end of the pad
 *
 * Return: where BTH goes, or NULL without memory or route; that is counted.
 */
void *sroce_tx_begin(struct sroce_qp *qp, struct sroce_av *av, u32 len)
{
	struct dst_entry *dst = route(qp->dev, av);
	struct sk_buff *skb;
	u32 room;
	void *bth;

	if (!dst) {
		sroce_count(qp, SROCE_CNT_TX_NO_ROUTE);
		return NULL;
	}
	room = LL_RESERVED_SPACE(dst->dev) + dst->header_len +
	       sizeof(struct ipv6hdr) + sizeof(struct udphdr);
	skb = alloc_skb(room + len + SROCE_ICRC_LEN, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb) {
		dst_release(dst);
		sroce_count(qp, SROCE_CNT_TX_NO_MEM);
		return NULL;
	}
	skb_dst_set(skb, dst);
	skb->dev = dst->dev;
	skb_reserve(skb, room);
	bth = skb_put(skb, len);
	skb_put(skb, SROCE_ICRC_LEN);
	put_udp(skb, av);
	if (av->v6)
		put_ipv6(skb, av);
	else
		put_ipv4(skb, av);
	qp->host->open = skb;
	return bth;
}

/**
 * sroce_tx_commit() - seal the open packet and queue it
 * @qp: the QP, locked
 */
void sroce_tx_commit(struct sroce_qp *qp)
{
	struct sk_buff *skb = qp->host->open;
	const u8 *udp = skb_transport_header(skb);
	const u8 *bth = udp + sizeof(struct udphdr);
	const u8 *ext = bth + SROCE_BTH_LEN;
	u8 *icrc = skb_tail_pointer(skb) - SROCE_ICRC_LEN;
	__le32 sum;
	u32 crc;

	crc = sroce_icrc_head(skb_network_header(skb),
			      skb_network_header_len(skb), udp, bth);
	crc = sroce_icrc_data(crc, ext, icrc - ext);
	sum = sroce_icrc_final(crc);
	memcpy(icrc, &sum, sizeof(sum));

	sroce_count(qp, SROCE_CNT_TX_PACKETS);
	this_cpu_add(qp->counters->c[SROCE_CNT_TX_BYTES], skb->len);
	__skb_queue_tail(&qp->host->txq, skb);
	qp->host->open = NULL;
}

/**
 * sroce_tx_abort() - forget the open packet
 * @qp: the QP, locked
 */
void sroce_tx_abort(struct sroce_qp *qp)
{
	kfree_skb(qp->host->open);
	qp->host->open = NULL;
}

/**
 * sroce_output() - send packets through the IP stack
 * @dev: whose they are
 * @list: the packets, in order; empty afterwards
 *
 * Called with bottom halves disabled and no lock held: what the packets cause
 * on this host happens after the caller enables them. A packet that this host
 * drops is a loss like any other.
 */
void sroce_output(struct sroce_dev *dev, struct sk_buff_head *list)
{
	struct net *net = dev->sn->net;
	struct sk_buff *skb;
	int err;

	while ((skb = __skb_dequeue(list))) {
		if (skb->protocol == htons(ETH_P_IP))
			err = ip_local_out(net, dev->sn->sk4->sk, skb);
		else
			err = ip6_local_out(net, dev->sn->sk6->sk, skb);
		if (net_xmit_eval(err))
			this_cpu_inc(dev->counters->c[SROCE_CNT_TX_DROPPED]);
	}
}
