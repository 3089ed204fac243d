// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets from the UDP socket: who are they for, and are they whole? */

#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ipv6.h>
#include "dev.h"
#include "proto/icrc.h"

static void count(struct sroce_dev *dev, enum sroce_counter c)
{
	this_cpu_inc(dev->counters->c[c]);
}

static struct sroce_dev *dev_of(struct sroce_net *sn, const union ib_gid *dgid,
				const struct net_device *ndev)
{
	struct sroce_dev *dev, *any = NULL;

	list_for_each_entry_rcu(dev, &sn->devs, net_list) {
		if (rcu_access_pointer(dev->ndev) == ndev) {
			if (sroce_dev_has_gid(dev, dgid))
				return dev;
		} else if (!any && sroce_dev_has_gid(dev, dgid)) {
			any = dev;
		}
	}
	return any;
}

/*
 * A packet without a QP still counts somewhere: at the device it came to, or
 * at the first of the namespace.
 */
static void count_orphan(struct sroce_net *sn, const struct sroce_pkt *pkt,
			 const struct sk_buff *skb, enum sroce_counter c)
{
	struct sroce_dev *dev = dev_of(sn, &pkt->dgid, skb->dev);

	if (!dev)
		dev = list_first_or_null_rcu(&sn->devs, struct sroce_dev,
					     net_list);
	if (dev)
		count(dev, c);
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

static bool icrc_ok(const struct sk_buff *skb, const struct sroce_pkt *pkt)
{
	u32 from = pkt->carrier_off + SROCE_BTH_LEN;
	u32 to = skb->len - SROCE_ICRC_LEN;
	struct skb_seq_state seq;
	const u8 *data;
	__le32 want;
	u32 crc, len, done = 0;

	crc = sroce_icrc_head(pkt->l3, pkt->l3_len, skb->data,
			      skb->data + pkt->carrier_off);
	if (skb_copy_bits(skb, to, &want, sizeof(want)))
		return false;
	skb_prepare_seq_read((struct sk_buff *)skb, from, to, &seq);
	while ((len = skb_seq_read(done, &data, &seq))) {
		/* a piece ends where its memory does, not at @to */
		len = min(len, to - from - done);
		crc = sroce_icrc_data(crc, data, len);
		done += len;
	}
	return want == sroce_icrc_final(crc);
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
	return skb_copy_bits(pkt->carrier,
			     pkt->carrier_off + pkt->op->hdr_len + off, to, len);
}

/**
 * sroce_pkt_hold() - keep what a packet reads its payload from
 * @pkt: the packet
 */
void sroce_pkt_hold(const struct sroce_pkt *pkt)
{
	struct sk_buff *skb = skb_get((struct sk_buff *)pkt->carrier);

	/* the route may be borrowed for the burst only */
	skb_dst_drop(skb);
}

/**
 * sroce_pkt_release() - let go of a packet that was held
 * @pkt: the packet
 */
void sroce_pkt_release(const struct sroce_pkt *pkt)
{
	consume_skb((struct sk_buff *)pkt->carrier);
}

static struct sroce_qp_host *find_gsi(struct sroce_net *sn,
				      const struct sroce_pkt *pkt,
				      const struct sk_buff *skb)
{
	struct sroce_dev *dev = dev_of(sn, &pkt->dgid, skb->dev);

	return dev ? rcu_dereference(dev->gsi) : NULL;
}

/* The QP that a packet names, held; its address must be one of the device. */
static struct sroce_qp_host *find_qp(struct sroce_net *sn,
				     const struct sroce_pkt *pkt,
				     const struct sk_buff *skb)
{
	struct sroce_qp_host *host;

	if (pkt->qpn == SROCE_QPN_GSI)
		host = find_gsi(sn, pkt, skb);
	else
		host = xa_load(&sroce_qps, pkt->qpn);
	if (!host || !refcount_inc_not_zero(&host->ref))
		return NULL;
	if (host->qp->dev->sn == sn &&
	    (host->qp->svc != SROCE_SVC_UD ||
	     sroce_dev_has_gid(host->qp->dev, &pkt->dgid)))
		return host;
	sroce_qp_host_put(host);
	return NULL;
}

static u16 vlan_of(const struct sk_buff *skb)
{
	if (skb->dev && is_vlan_dev(skb->dev))
		return vlan_dev_vlan_id(skb->dev);
	return 0xffff;
}

static void deliver(struct sroce_qp_host *host, struct sk_buff *skb,
		    const struct sroce_pkt *pkt)
{
	struct sroce_qp *qp = host->qp;

	sroce_count(qp, SROCE_CNT_RX_PACKETS);
	this_cpu_add(qp->counters->c[SROCE_CNT_RX_BYTES],
		     skb->len + pkt->l3_len);
	sroce_qp_begin(qp);
	sroce_qp_rx(qp, pkt);
	sroce_qp_end(qp);
}

/* One packet; skb->data is at the UDP header. Return: why it was dropped. */
static int receive(struct sroce_net *sn, struct sk_buff *skb,
		   struct sroce_pkt *pkt)
{
	struct sroce_qp_host *host;
	u32 len, head;
	int ret;

	if (skb->len < sizeof(struct udphdr) ||
	    !read_addresses(pkt, skb))
		return SROCE_CNT_RX_MALFORMED;
	len = skb->len - sizeof(struct udphdr);
	head = min_t(u32, len, SROCE_HDR_MAX);
	if (!pskb_may_pull(skb, sizeof(struct udphdr) + head))
		return SROCE_CNT_RX_MALFORMED;
	/* the pull may have moved the headers */
	read_addresses(pkt, skb);
	pkt->carrier = skb;
	pkt->carrier_off = sizeof(struct udphdr);
	pkt->vlan = vlan_of(skb);
	ret = sroce_pkt_parse(pkt, skb->data + sizeof(struct udphdr), head, len);
	if (ret)
		return ret == -EPROTONOSUPPORT ? SROCE_CNT_RX_BAD_OPCODE :
						 SROCE_CNT_RX_MALFORMED;
	if (!icrc_ok(skb, pkt))
		return SROCE_CNT_RX_ICRC;
	host = find_qp(sn, pkt, skb);
	if (!host)
		return SROCE_CNT_RX_NO_QP;
	deliver(host, skb, pkt);
	sroce_qp_host_put(host);
	return -1;
}

/**
 * sroce_udp_rcv() - encap_rcv of the namespace's sockets
 * @sk: the socket
 * @skb: a datagram, data at the UDP header
 *
 * Runs in softirq, under RCU.
 *
 * Return: 0, the packet is consumed whatever it was.
 */
int sroce_udp_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct sroce_net *sn = sroce_netns(sock_net(sk));
	struct sroce_pkt pkt = {};
	int why = receive(sn, skb, &pkt);

	if (why < 0) {
		consume_skb(skb);
		return 0;
	}
	count_orphan(sn, &pkt, skb, why);
	kfree_skb(skb);
	return 0;
}
