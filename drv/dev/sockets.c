// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * UDP port 4791 in each network namespace, from the first link to the last.
 * Loading the module opens nothing.
 */

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/udp.h>
#include <linux/wait_bit.h>
#include <net/ip.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/udp_tunnel.h>
#include "drv/dev.h"

static unsigned int sroce_net_id;

/**
 * sroce_snet_of() - the module's part of a network namespace
 * @net: the namespace
 */
struct sroce_snet *sroce_snet_of(struct net *net)
{
	return net_generic(net, sroce_net_id);
}

/* Trains come whole where the socket says so, without being cut up first. */
static void accept_trains(struct socket *sock)
{
	udp_set_bit(ACCEPT_L4, sock->sk);
}

#ifdef CONFIG_NETFILTER
static bool is_train(const struct sk_buff *skb)
{
	return skb_is_gso(skb) &&
	       skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4;
}

/*
 * A socket with an encap_rcv is given a train only if that has the mark of a
 * tunnel, since others might not know what to do with it; ours does. The mark
 * means nothing without skb->encapsulation.
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

static const struct nf_hook_ops local_in[] = {
	{
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

static int watch_trains(struct net *net)
{
	return nf_register_net_hooks(net, local_in, ARRAY_SIZE(local_in));
}

static void unwatch_trains(struct net *net)
{
	nf_unregister_net_hooks(net, local_in, ARRAY_SIZE(local_in));
}
#else
/* They are cut up before they get to us. */
static int watch_trains(struct net *net)
{
	return 0;
}

static void unwatch_trains(struct net *net)
{
}
#endif

/*
 * What a QP sends to a group is for the QPs of its own host, too: undo what
 * setup_udp_tunnel_sock() has done to the socket.
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
	setup_udp_tunnel_sock(net, *sock, &tunnel);
	accept_trains(*sock);
	if (family == AF_INET)
		loop_multicast(*sock);
	return 0;
}

static void close_sockets(struct sroce_snet *sn)
{
	if (sn->sk4)
		udp_tunnel_sock_release(sn->sk4);
	if (sn->sk6)
		udp_tunnel_sock_release(sn->sk6);
	sn->sk4 = NULL;
	sn->sk6 = NULL;
}

static void close_port(struct sroce_snet *sn)
{
	unwatch_trains(sn->net);
	close_sockets(sn);
	sroce_steer_flush(sn);
}

/* IPv6 may be absent from the kernel or disabled at boot. */
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
	ret = watch_trains(sn->net);
	if (ret)
		close_sockets(sn);
	return ret;
}

/**
 * sroce_snet_get() - give a new device its namespace
 * @dev: the device
 * @net: the namespace; it does not end before sroce_snet_put()
 *
 * A netdev keeps its namespace only until it leaves it, and then the device is
 * removed by and by. A real reference, on the other hand, would keep it for
 * good.
 */
void sroce_snet_get(struct sroce_dev *dev, struct net *net)
{
	dev->sn = sroce_snet_of(net);
	atomic_inc(&dev->sn->users);
}

/**
 * sroce_snet_put() - the device is done with its namespace
 * @dev: the device, which may have none
 */
void sroce_snet_put(struct sroce_dev *dev)
{
	struct sroce_snet *sn = dev->sn;

	/* only the address is used after the last one */
	if (sn && atomic_dec_and_test(&sn->users))
		wake_up_var(&sn->users);
}

/**
 * sroce_sockets_join() - a new device is there: packets are welcome
 * @dev: the device
 *
 * Return: 0, or -EADDRINUSE if another owner of UDP port 4791 is there.
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
 * sroce_sockets_leave() - undo sroce_sockets_join(); no receiver sees @dev after
 * @dev: the device, which may not have joined
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

/**
 * sroce_snet_count() - count what is nobody's in particular
 * @sn: the namespace, under RCU; the first of its devices counts
 * @c: what happened
 */
void sroce_snet_count(struct sroce_snet *sn, enum sroce_counter c)
{
	struct sroce_dev *dev = list_first_or_null_rcu(&sn->devs,
						       struct sroce_dev,
						       net_list);

	if (dev)
		this_cpu_inc(dev->counters->c[c]);
}

static int __net_init sroce_net_init(struct net *net)
{
	struct sroce_snet *sn = sroce_snet_of(net);

	sn->net = net;
	mutex_init(&sn->lock);
	INIT_LIST_HEAD(&sn->devs);
	return 0;
}

/* All netdevs have gone or left; so will the devices that stood on them. */
static void __net_exit sroce_net_exit(struct net *net)
{
	struct sroce_snet *sn = sroce_snet_of(net);

	wait_var_event(&sn->users, !atomic_read(&sn->users));
}

static struct pernet_operations sroce_net_ops = {
	.init = sroce_net_init,
	.exit = sroce_net_exit,
	.id = &sroce_net_id,
	.size = sizeof(struct sroce_snet),
};

int sroce_snet_init(void)
{
	return register_pernet_subsys(&sroce_net_ops);
}

void sroce_snet_exit(void)
{
	unregister_pernet_subsys(&sroce_net_ops);
}
