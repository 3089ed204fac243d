// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Address vectors: conversion of the address attributes of a verb into a path. */

#include <linux/jhash.h>
#include <linux/random.h>
#include <net/addrconf.h>
#include <net/inet_ecn.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <rdma/ib_cache.h>
#include "drv/core/qp.h"
#include "drv/lookup/gid_tbl.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"
#include "drv/net/av.h"

/* SLs have 4 bits */
#define SL_MASK	15

/*
 * The SL is the priority, as adapters make it that of the VLAN tag. An SL of 0 is also
 * that of programs that only know of the traffic class.
 */
static u32 priority(const struct rdma_ah_attr *attr)
{
	u8 sl = rdma_ah_get_sl(attr) & SL_MASK;

	return sl ?: rt_tos2priority(rdma_ah_read_grh(attr)->traffic_class);
}

/*
 * The RDMA core gives each device a default GID, fe80 and the MAC, also if IPv6 is off or has
 * made another link-local address. The stack drops all that comes to it then.
 */
static bool is_address(const struct net_device *ndev, const union ib_gid *gid)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid->raw;

	if (!(ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL))
		return true;
	/* with ipv6.disable=1 there is no table to look into */
	return ipv6_mod_enabled() &&
	       ipv6_chk_addr_and_flags(dev_net(ndev), addr, ndev, false, 1, 0);
}

/**
 * sroce_av_from_attr() - resolve address attributes into a path
 * @dev: the device
 * @av: filled in, except for its route cache
 * @attr: attributes; the RDMA core has checked and resolved the GID index
 * @entropy: distinguishes this flow from others between the same addresses; the UDP
 *	source port is made of it if there is no flow label
 *
 * Return: 0, or -EINVAL if there is no GRH or source GID, if only one of the addresses
 * is IPv4, or if the source GID's netdev is gone or in another namespace; -EADDRNOTAVAIL if the
 * source GID is a link-local address that the netdev does not have.
 */
int sroce_av_from_attr(struct sroce_dev *dev, struct sroce_av *av,
		       const struct rdma_ah_attr *attr, u32 entropy)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	const struct ib_gid_attr *sgid = grh->sgid_attr;
	const struct net_device *ndev;
	int ret = 0;

	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || !sgid)
		return -EINVAL;

	av->sgid = sgid->gid;
	av->dgid = grh->dgid;
	av->v6 = !ipv6_addr_v4mapped((struct in6_addr *)&sgid->gid);
	if (av->v6 == ipv6_addr_v4mapped((struct in6_addr *)&grh->dgid))
		return -EINVAL;
	av->multicast = sroce_gid_tbl_is_multicast(&grh->dgid);
	av->tclass = grh->traffic_class;
	av->priority = priority(attr);
	av->hop_limit = grh->hop_limit ?: 64;
	av->flow_label = grh->flow_label & 0xfffff;
	av->ip_id = get_random_u32();
	/* A17.9.2: the source port carries the flow's entropy. */
	if (av->flow_label)
		av->sport = rdma_flow_label_to_udp_sport(av->flow_label);
	else
		av->sport = IB_ROCE_UDP_ENCAP_VALID_PORT_MIN |
			    (jhash_1word(entropy, 0) & 0x3fff);

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid);
	if (IS_ERR(ndev) || !net_eq(dev_net(ndev), dev->sn->net))
		ret = -EINVAL;
	else if (!is_address(ndev, &av->sgid))
		ret = -EADDRNOTAVAIL;
	else
		av->ifindex = ndev->ifindex;
	rcu_read_unlock();
	return ret;
}

/**
 * sroce_av_set_ect() - make the packets of a path ECN-capable, if its device says so
 * @dev: the device
 * @av: the path of a QP that heeds CNPs; nothing else may claim to be ECN-capable
 *
 * The traffic class's own ECN bits are sent as they are.
 */
void sroce_av_set_ect(struct sroce_dev *dev, struct sroce_av *av)
{
	if (READ_ONCE(dev->ecn) && !(av->tclass & INET_ECN_MASK))
		av->tclass |= INET_ECN_ECT_0;
}
