// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Segmentation of trains for netdevs that can't do it. The stack would allocate two pieces of
 * memory for each packet, copy its headers into one of them, and compute checksums. But the
 * packets exist already. So each gets an skb that has its headers, and refers to the rest in
 * the page where it was built. They form a list behind the first packet, as after GRO
 * (SKB_GSO_FRAGLIST): it makes one trip through the stack, and where it would be segmented,
 * it is taken apart.
 *
 * Headers that netfilter or tc change in such a train are those of the first packet only,
 * except for addresses and ports.
 */

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dst.h>
#include "drv/net/frag.h"
#include "drv/net/segment.h"

/*
 * Most that one tunnel on the way puts in front of an IP packet, as tc may redirect to: Geneve with
 * 252 bytes of options, over IPv6, and two Ethernet headers with VLAN tags
 */
#define TUNNEL_HEADERS	((u32)(2 * VLAN_ETH_HLEN + sizeof(struct ipv6hdr) + \
			       2 * sizeof(struct udphdr) + 252))

/* Whether skb_segment_list() leaves the truesize of the first packet as it is */
static bool keeps_truesize;

static struct sk_buff *probe_skb(void)
{
	struct sk_buff *skb = alloc_skb(0, GFP_KERNEL);

	if (!skb)
		return NULL;
	skb_reset_mac_header(skb);
	skb_reset_inner_mac_header(skb);
	skb_reset_network_header(skb);
	skb_reset_transport_header(skb);
	return skb;
}

/**
 * sroce_segment_init() - find out how this kernel takes lists apart, when the module is loaded
 *
 * Kernels up to 6.18, and those of some distributions, subtract the truesizes of the others
 * from that of the first packet. Its charge would become wrong, as sock_wfree() gives back
 * what it finds. Whether a kernel does is not to be seen from its version.
 */
void sroce_segment_init(void)
{
	struct sk_buff *skb = probe_skb(), *next = probe_skb();
	u32 truesize;

	if (!skb || !next) {
		kfree_skb(skb);
		kfree_skb(next);
		return;
	}
	truesize = skb->truesize;
	skb_shinfo(skb)->frag_list = next;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST;
	/* it has a reference for its caller, and one for the list of segments */
	if (!IS_ERR(skb_segment_list(skb, 0, 0))) {
		keeps_truesize = skb->truesize == truesize;
		consume_skb(skb->next);
		skb->next = NULL;
		consume_skb(skb);
	}
	consume_skb(skb);
}

/**
 * sroce_segment_keeps_truesize() - whether all packets of a list may have a truesize
 *
 * If not, only the first may. What becomes of the others is not limited then: a socket that
 * queues them does not count them.
 */
bool sroce_segment_keeps_truesize(void)
{
	return keeps_truesize;
}

static bool is_lowest(const struct net_device *dev)
{
	return list_empty(&dev->adj_list.lower);
}

/* The first netdev that a packet leaves by, for has_offload() */
static const struct net_device *top_of(const struct netdev_nested_priv *priv)
{
	return priv->data;
}

/* Whether a netdev is the lowest one, and segments UDP of that above it */
static int has_offload(struct net_device *dev, struct netdev_nested_priv *priv)
{
	netdev_features_t f = READ_ONCE(dev->features);

	if (is_vlan_dev(top_of(priv)))
		f &= READ_ONCE(dev->vlan_features);
	return is_lowest(dev) && f & NETIF_F_GSO_UDP_L4;
}

/**
 * sroce_segment_is_needed() - whether trains would be segmented in software
 * @dst: their route, whose netdev exists although that of a packet which has waited may be gone
 *
 * A route that encapsulates puts headers of any length in front of the first packet of a train.
 * For those of a list there may be too little room, so the stack is to segment the train.
 *
 * A VLAN, bond, bridge or the like claims to segment, and leaves that to the netdevs below it.
 * If one of them does segment, a train may well leave by that one.
 *
 * Context: bottom halves disabled. The answer may change at any time; either way of sending
 * is right.
 */
bool sroce_segment_is_needed(const struct dst_entry *dst)
{
	struct net_device *dev = dst->dev;
	struct netdev_nested_priv priv = { .data = dev };
	bool found;

	if (dst->lwtstate)
		return false;
	if (!(READ_ONCE(dev->features) & NETIF_F_GSO_UDP_L4))
		return true;
	if (is_lowest(dev))
		return false;
	rcu_read_lock();
	found = netdev_walk_all_lower_dev_rcu(dev, has_offload, &priv);
	rcu_read_unlock();
	return !found;
}

static void copy_headers(struct sk_buff *skb, const struct sk_buff *first)
{
	const u8 *from = skb_network_header(first);
	u8 *to = skb_network_header(skb);

	/* memcpy() of a constant length is inlined */
	if (skb_network_header_len(first) == sizeof(struct iphdr))
		memcpy(to, from, sizeof(struct iphdr) + sizeof(struct udphdr));
	else
		memcpy(to, from, sizeof(struct ipv6hdr) + sizeof(struct udphdr));
}

/* An skb with headers as those of @first, and @len bytes behind them that are at @off in @page */
static struct sk_buff *packet_create(const struct sk_buff *first, struct page *page, u32 off,
				     u32 len)
{
	u32 headers = skb_network_header_len(first) + sizeof(struct udphdr);
	/* what is pushed in front of the first is copied, and nobody looks for room */
	u32 room = max3((u32)MAX_HEADER, skb_headroom(first), TUNNEL_HEADERS) + headers;
	struct sk_buff *skb = sroce_frag_alloc_skb(room);

	if (!skb)
		return NULL;
	skb_reserve(skb, room);
	skb_set_network_header(skb, -(int)headers);
	skb_set_transport_header(skb, -(int)sizeof(struct udphdr));
	copy_headers(skb, first);
	udp_hdr(skb)->len = htons(sizeof(struct udphdr) + len);
	get_page(page);
	skb_fill_page_desc(skb, 0, page, off, len);
	skb->len = len;
	skb->data_len = len;
	/* the first packet is charged for all; ours is for who gets it as a packet of its own */
	skb->truesize = keeps_truesize ? skb->truesize + len : 0;
	return skb;
}

/**
 * sroce_segment_train() - make a train a list of packets
 * @skb: the train: its first packet is linear, the others are in its fragments, none of them
 *	in two. It is neither shared nor cloned, and not prepared for segmentation
 * @seg: bytes of UDP payload of each packet but the last
 *
 * The charge of the train remains as it was.
 *
 * Context: bottom halves disabled.
 *
 * Return: number of packets, the first included. Those behind it are fewer if there was no
 * memory.
 */
u32 sroce_segment_train(struct sk_buff *skb, u32 seg)
{
	struct skb_shared_info *info = skb_shinfo(skb);
	struct sk_buff *list = NULL, **tail = &list;
	u32 i, off, len, n = 1, bytes = 0;
	bool failed = false;

	for (i = 0; i < info->nr_frags; i++) {
		skb_frag_t *frag = &info->frags[i];

		for (off = 0; off < skb_frag_size(frag) && !failed; off += len) {
			len = min(seg, skb_frag_size(frag) - off);
			*tail = packet_create(skb, skb_frag_page(frag),
					      skb_frag_off(frag) + off, len);
			failed = !*tail;
			if (unlikely(failed))
				break;
			tail = &(*tail)->next;
			bytes += len;
			n++;
		}
		put_page(skb_frag_page(frag));
	}
	info->nr_frags = 0;
	info->frag_list = list;
	skb->len = skb_headlen(skb) + bytes;
	skb->data_len = bytes;
	return n;
}
