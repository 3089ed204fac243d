// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What the module keeps for each network namespace. */

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
 */
struct sroce_snet *sroce_snet_of(struct net *net)
{
	return net_generic(net, sroce_net_id);
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
