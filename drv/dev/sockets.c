// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The sockets of UDP port 4791 in a network namespace. They are open while the namespace
 * has devices, not from when the module is loaded.
 */

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/net_namespace.h>
#include <net/udp_tunnel.h>
#include "drv/compat/compat.h"
#include "drv/core/wire/wire.h"
#include "drv/dev/sockets.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"
#include "drv/rx/gro.h"
#include "drv/rx/udp.h"
#include "drv/task/steer.h"

/*
 * Have the socket receive trains as one skb each; otherwise they are segmented. Those of
 * drv/rx/gro.c have their packets in a frag_list.
 */
static void accept_trains(struct socket *sock)
{
	udp_set_bit(ACCEPT_L4, sock->sk);
	udp_set_bit(ACCEPT_FRAGLIST, sock->sk);
}

#ifdef CONFIG_NETFILTER
static bool is_train(const struct sk_buff *skb)
{
	return skb_is_gso(skb) &&
	       skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4;
}

/*
 * A socket with an encap_rcv gets a train only if it is marked as that of a tunnel: most
 * encap_rcv functions can't receive one. sroce_udp_rcv() can. The mark has no effect
 * without skb->encapsulation.
 */
static unsigned int mark_train(struct sk_buff *skb, u32 off)
{
	struct udphdr buf, *udp = skb_header_pointer(skb, off, sizeof(buf), &buf);

	if (udp && udp->dest == htons(SROCE_UDP_PORT) &&
	    !skb_unclone(skb, GFP_ATOMIC))
		skb_shinfo(skb)->gso_type |= SKB_GSO_UDP_TUNNEL;
	return NF_ACCEPT;
}

static unsigned int local_in4(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	if (!is_train(skb) || ip_hdr(skb)->protocol != IPPROTO_UDP)
		return NF_ACCEPT;
	return mark_train(skb, skb_network_offset(skb) + ip_hdrlen(skb));
}

static unsigned int local_in6(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	if (!is_train(skb) || ipv6_hdr(skb)->nexthdr != IPPROTO_UDP)
		return NF_ACCEPT;
	return mark_train(skb, skb_network_offset(skb) + sizeof(struct ipv6hdr));
}

/* Whether the owner of a user's socket may as well use raw sockets in the namespace */
static bool owner_may_forge(const struct net *net, struct sock *sk)
{
	bool may = false;

	/* the socket may be about to be closed while a packet of it waits in a queue */
	read_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_socket && sk->sk_socket->file)
		may = file_ns_capable(sk->sk_socket->file, net->user_ns, CAP_NET_RAW);
	read_unlock_bh(&sk->sk_callback_lock);
	return may;
}

/* Whether IPsec has replaced the UDP header; nothing else of a UDP socket leaves as ESP or AH. */
static bool is_transformed(const struct sk_buff *skb)
{
	u8 proto = skb->protocol == htons(ETH_P_IP) ? ip_hdr(skb)->protocol :
						      ipv6_hdr(skb)->nexthdr;

	return proto == IPPROTO_ESP || proto == IPPROTO_AH;
}

/*
 * Netfilter may have given a train that is a list another route, which encapsulates. There is too
 * little room for that in front of the packets behind the first: see drv/net/segment.c. What is
 * no list any more is segmented by the stack; kernels from before October 2024 can't, and drop it.
 * Return: false if there is no memory.
 */
static bool has_room(struct sk_buff *skb)
{
	const struct dst_entry *dst = skb_dst(skb);

	if (likely(!dst || !dst->lwtstate) || !skb_is_gso(skb) ||
	    !(skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST))
		return true;
	return !skb_linearize(skb);
}

/*
 * Drop what users' UDP sockets send to the port, here or elsewhere. It would speak for the
 * device: an ICRC can be computed, and the source address is all that tells a peer. Sockets
 * of the kernel, ours and those of tunnels, and raw ones pass.
 */
static unsigned int local_out(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct sock *sk = state->sk;

	if (unlikely(!has_room(skb)))
		return NF_DROP;
	if (!sk || !sk_fullsock(sk) || sk->sk_kern_sock || sk->sk_protocol != IPPROTO_UDP ||
	    sk->sk_type != SOCK_DGRAM || !skb_transport_header_was_set(skb) ||
	    is_transformed(skb) || udp_hdr(skb)->dest != htons(SROCE_UDP_PORT) ||
	    owner_may_forge(state->net, sk))
		return NF_ACCEPT;
	sroce_snet_count(sroce_snet_of(state->net), SROCE_CNT_TX_FOREIGN);
	return NF_DROP;
}

static const struct nf_hook_ops hooks[] = {
	{
		.hook		= local_out,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP_PRI_LAST,
	}, {
		.hook		= local_out,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_OUT,
		.priority	= NF_IP6_PRI_LAST,
	}, {
		.hook		= local_in4,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP_PRI_LAST,
	}, {
		.hook		= local_in6,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_LOCAL_IN,
		.priority	= NF_IP6_PRI_LAST,
	},
};

static int register_hooks(struct net *net)
{
	return nf_register_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}

static void unregister_hooks(struct net *net)
{
	nf_unregister_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}
#else
/*
 * Without netfilter trains are segmented before they are received, and users' sockets may
 * send to the port.
 */
static int register_hooks(struct net *net)
{
	return 0;
}

static void unregister_hooks(struct net *net)
{
}
#endif

/*
 * Multicast packets are also for QPs of the sending host. So enable IP_MULTICAST_LOOP,
 * which setup_udp_tunnel_sock() has disabled.
 */
static void loop_multicast(struct socket *sock)
{
	int on = 1;

	sock->ops->setsockopt(sock, SOL_IP, IP_MULTICAST_LOOP,
			      KERNEL_SOCKPTR(&on), sizeof(on));
}

static int open_socket(struct net *net, u8 family, struct socket **sock)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = 1,
		.encap_rcv = sroce_udp_rcv,
		.gro_receive = sroce_gro_receive,
	};
	struct udp_port_cfg port = {
		.family = family,
		.local_udp_port = htons(SROCE_UDP_PORT),
		.ipv6_v6only = 1,
	};
	int ret;

	ret = udp_sock_create(net, &port, sock);
	if (ret) {
		*sock = NULL;
		return ret;
	}
	sroce_tunnel_sock_setup(net, *sock, &tunnel);
	accept_trains(*sock);
	if (family == AF_INET)
		loop_multicast(*sock);
	return 0;
}

static void close_sockets(struct sroce_snet *sn)
{
	if (sn->sk4)
		sroce_tunnel_sock_release(sn->sk4);
	if (sn->sk6)
		sroce_tunnel_sock_release(sn->sk6);
	sn->sk4 = NULL;
	sn->sk6 = NULL;
	sroce_steer_flush(sn);
}

static void close_port(struct sroce_snet *sn)
{
	unregister_hooks(sn->net);
	close_sockets(sn);
}

/* IPv6 may be missing in the kernel or disabled at boot. */
static int open_sockets(struct sroce_snet *sn)
{
	int ret;

	ret = open_socket(sn->net, AF_INET, &sn->sk4);
	if (ret)
		return ret;
	ret = open_socket(sn->net, AF_INET6, &sn->sk6);
	if (ret && ret != -EAFNOSUPPORT && ret != -EPFNOSUPPORT) {
		close_sockets(sn);
		return ret;
	}
	return 0;
}

static int open_port(struct sroce_snet *sn)
{
	int ret = open_sockets(sn);

	if (ret)
		return ret;
	ret = register_hooks(sn->net);
	if (ret)
		close_sockets(sn);
	return ret;
}

/**
 * sroce_sockets_join() - receive packets for a new device
 * @dev: the device
 *
 * The first device of a namespace opens the sockets.
 *
 * Return: 0, -EADDRINUSE if UDP port 4791 is in use, or an error of the sockets.
 */
int sroce_sockets_join(struct sroce_dev *dev)
{
	struct sroce_snet *sn = dev->sn;
	int ret = 0;

	mutex_lock(&sn->lock);
	if (!sn->links)
		ret = open_port(sn);
	if (!ret) {
		sn->links++;
		list_add_tail_rcu(&dev->net_list, &sn->devs);
	}
	mutex_unlock(&sn->lock);
	return ret;
}

/**
 * sroce_sockets_leave() - undo sroce_sockets_join(), if the device has joined
 * @dev: the device
 *
 * The last device of a namespace closes the sockets. After the return no packet is
 * received for @dev.
 *
 * Context: process, may sleep.
 */
void sroce_sockets_leave(struct sroce_dev *dev)
{
	struct sroce_snet *sn = dev->sn;

	if (list_empty(&dev->net_list))
		return;
	mutex_lock(&sn->lock);
	list_del_rcu(&dev->net_list);
	if (!--sn->links)
		close_port(sn);
	mutex_unlock(&sn->lock);
	synchronize_rcu();
}
