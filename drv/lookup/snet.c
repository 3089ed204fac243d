// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * State for each network namespace: the devices in it and their UDP sockets. The
 * namespace waits for its devices when it ends.
 */

#include <linux/wait_bit.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include "drv/core/counter.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"

static unsigned int sroce_net_id;

/**
 * sroce_snet_of() - the module's part of a network namespace
 * @net: the namespace
 *
 * Return: the state of @net; never NULL.
 */
struct sroce_snet *sroce_snet_of(struct net *net)
{
	return net_generic(net, sroce_net_id);
}

/**
 * sroce_snet_get() - set a new device's namespace
 * @dev: the device
 * @net: the namespace; it does not end before sroce_snet_put()
 *
 * The netdev's reference to the namespace is not enough: the device is removed some time
 * after its netdev has left. get_net() would be too much: the namespace would not end
 * while it has devices.
 */
void sroce_snet_get(struct sroce_dev *dev, struct net *net)
{
	dev->sn = sroce_snet_of(net);
	atomic_inc(&dev->sn->users);
}

/**
 * sroce_snet_put() - drop a device's use of its namespace
 * @dev: the device; it may have no namespace yet
 */
void sroce_snet_put(struct sroce_dev *dev)
{
	struct sroce_snet *sn = dev->sn;

	/* @sn may be freed after the last put: only its address is used */
	if (sn && atomic_dec_and_test(&sn->users))
		wake_up_var(&sn->users);
}

/**
 * sroce_snet_count_n() - count events that belong to no particular device
 * @sn: the namespace; its first device counts the events
 * @c: the event
 * @n: how often it has happened
 *
 * Context: RCU read lock.
 */
void sroce_snet_count_n(struct sroce_snet *sn, enum sroce_counter c, u32 n)
{
	struct sroce_dev *dev = list_first_or_null_rcu(&sn->devs,
						       struct sroce_dev,
						       net_list);

	if (dev)
		this_cpu_add(dev->counters->c[c], n);
}

static int __net_init sroce_net_init(struct net *net)
{
	struct sroce_snet *sn = sroce_snet_of(net);

	sn->net = net;
	mutex_init(&sn->lock);
	INIT_LIST_HEAD(&sn->devs);
	return 0;
}

/* All netdevs have left the namespace. The removal of their devices may be pending. */
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

/**
 * sroce_snet_init() - register the per-namespace state
 *
 * Return: 0 or a negative error code.
 */
int sroce_snet_init(void)
{
	return register_pernet_subsys(&sroce_net_ops);
}

/**
 * sroce_snet_exit() - unregister the per-namespace state
 */
void sroce_snet_exit(void)
{
	unregister_pernet_subsys(&sroce_net_ops);
}
