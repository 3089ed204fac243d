// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Route lookup for paths, with a cache, and whether a path leads to this host. */

#include <net/flow.h>
#include <net/inet_dscp.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/route.h>
#include "drv/compat/compat.h"
#include "drv/core/qp.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"
#include "drv/net/route.h"

/*
 * A path leaves by the netdev of its source GID. So the second lookup is bound to that
 * netdev. The first is not, but to its VRF, if it is in one: it finds the addresses of the other
 * netdevs there, which can't be reached through the netdev.
 */
static struct rtable *lookup4(struct net *net, struct flowi4 *fl, int ifindex)
{
	struct rtable *rt;

	fl->flowi4_oif = l3mdev_master_ifindex_by_index(net, ifindex);
	rt = ip_route_output_key(net, fl);
	if (!IS_ERR(rt)) {
		if (rt->rt_type == RTN_LOCAL)
			return rt;
		ip_rt_put(rt);
	}
	fl->flowi4_oif = ifindex;
	return ip_route_output_key(net, fl);
}

static bool is_local6(const struct dst_entry *dst)
{
	return container_of(dst, struct rt6_info, dst)->rt6i_flags & RTF_LOCAL;
}

static struct dst_entry *lookup6(struct sroce_snet *sn, struct flowi6 *fl,
				 int ifindex)
{
	struct sock *sk = sn->sk6->sk;
	struct dst_entry *dst;

	if (!(ipv6_addr_type(&fl->daddr) & IPV6_ADDR_LINKLOCAL)) {
		fl->flowi6_oif = l3mdev_master_ifindex_by_index(sn->net, ifindex);
		dst = ip6_dst_lookup_flow(sn->net, sk, fl, NULL);
		if (!IS_ERR(dst)) {
			if (is_local6(dst))
				return dst;
			dst_release(dst);
		}
	}
	fl->flowi6_oif = ifindex;
	return ip6_dst_lookup_flow(sn->net, sk, fl, NULL);
}

static struct dst_entry *route4(struct sroce_dev *dev, struct sroce_av *av)
{
	struct flowi4 fl = {
		.flowi4_proto = IPPROTO_UDP,
	};
	struct rtable *rt;

	memcpy(&fl.saddr, av->sgid.raw + 12, sizeof(fl.saddr));
	memcpy(&fl.daddr, av->dgid.raw + 12, sizeof(fl.daddr));
	fl.fl4_sport = htons(av->sport);
	fl.fl4_dport = htons(SROCE_UDP_PORT);
	sroce_flowi4_set_tos(&fl, av->tclass);
	rt = lookup4(dev->sn->net, &fl, av->ifindex);
	if (IS_ERR(rt))
		return NULL;
	av->loopback = rt->rt_type == RTN_LOCAL;
	av->resolved = true;
	dst_cache_set_ip4(&av->dst, &rt->dst, fl.saddr);
	return &rt->dst;
}

static struct dst_entry *route6(struct sroce_dev *dev, struct sroce_av *av)
{
	struct flowi6 fl = {
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
	dst = lookup6(dev->sn, &fl, av->ifindex);
	if (IS_ERR(dst))
		return NULL;
	av->loopback = is_local6(dst);
	av->resolved = true;
	dst_cache_set_ip6(&av->dst, dst, &fl.saddr);
	return dst;
}

/**
 * sroce_route_get() - route of a path
 * @dev: the device
 * @av: the path, of a locked QP; the route is cached in it
 *
 * Return: the route, with a reference for the caller, or NULL if there is none.
 */
struct dst_entry *sroce_route_get(struct sroce_dev *dev, struct sroce_av *av)
{
	struct dst_entry *dst = NULL;

	/* a multicast route changes when this host joins or leaves the group */
	if (!av->multicast)
		dst = dst_cache_get(&av->dst);
	if (dst)
		return dst;
	return av->v6 ? route6(dev, av) : route4(dev, av);
}

/**
 * sroce_route_is_local() - whether a path leads to this host
 * @dev: the device
 * @av: the path, of a locked QP
 *
 * A local path is checked again once in a jiffy: the answer chooses a way only, and by each of
 * them a packet has to be of the peer's address. A remote path is checked again only when a
 * packet is sent and the cached route has become invalid.
 */
bool sroce_route_is_local(struct sroce_dev *dev, struct sroce_av *av)
{
	struct dst_entry *dst;

	if (av->resolved && (!av->loopback || time_before_eq(jiffies, av->local_at)))
		return av->loopback;
	dst = sroce_route_get(dev, av);
	if (!dst)
		return false;
	dst_release(dst);
	av->local_at = jiffies;
	return av->loopback;
}
