// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * GIDs of lo and tun devices. The core fills the GID table with the addresses of the
 * netdev, but follows later changes for Ethernet netdevs only. For the others, notifiers
 * here have the core scan the addresses again.
 */

#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include "drv/dev/gid.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"

/**
 * sroce_gid_rescan() - have the core scan the addresses of the netdev again
 * @work: sroce_dev.rescan; sroce_device_dealloc() cancels it
 */
void sroce_gid_rescan(struct work_struct *work)
{
	struct sroce_dev *dev = container_of(work, struct sroce_dev, rescan);

	if (!ib_device_try_get(&dev->ibdev))
		return;
	rdma_roce_rescan_device(&dev->ibdev);
	ib_device_put(&dev->ibdev);
}

/* Schedule a scan: it takes RTNL, and the notifier must not sleep. */
static void address_added(const struct net_device *ndev)
{
	struct sroce_snet *sn = sroce_snet_of(dev_net(ndev));
	struct sroce_dev *dev;

	if (ndev->type == ARPHRD_ETHER)
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(dev, &sn->devs, net_list)
		if (rcu_access_pointer(dev->ndev) == ndev)
			schedule_work(&dev->rescan);
	rcu_read_unlock();
}

static int inet_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct in_ifaddr *ifa = ptr;

	if (event == NETDEV_UP)
		address_added(ifa->ifa_dev->dev);
	return NOTIFY_DONE;
}

static int inet6_event(struct notifier_block *nb, unsigned long event,
		       void *ptr)
{
	struct inet6_ifaddr *ifa = ptr;

	if (event == NETDEV_UP)
		address_added(ifa->idev->dev);
	return NOTIFY_DONE;
}

static struct notifier_block inet_nb = { .notifier_call = inet_event };
static struct notifier_block inet6_nb = { .notifier_call = inet6_event };

/**
 * sroce_gid_init() - register the notifiers of addresses
 *
 * Return: 0 or an error of the notifiers.
 */
int sroce_gid_init(void)
{
	int ret = register_inetaddr_notifier(&inet_nb);

	if (ret)
		return ret;
	ret = register_inet6addr_notifier(&inet6_nb);
	if (ret)
		unregister_inetaddr_notifier(&inet_nb);
	return ret;
}

/**
 * sroce_gid_exit() - unregister the notifiers of addresses
 */
void sroce_gid_exit(void)
{
	unregister_inet6addr_notifier(&inet6_nb);
	unregister_inetaddr_notifier(&inet_nb);
}
