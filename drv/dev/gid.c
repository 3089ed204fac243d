// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * GIDs. The core keeps the table, from the addresses of the netdev; here is a
 * mirror that the receive path can read, and what the core leaves out: it
 * follows the addresses of Ethernet netdevs only, not those of lo and tun.
 */

#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include "drv/dev.h"

/**
 * sroce_gid_tbl_add() - the core has put a GID into the table
 * @attr: the GID and its index
 * @context: ours, given back on deletion
 */
int sroce_gid_tbl_add(const struct ib_gid_attr *attr, void **context)
{
	struct sroce_dev *dev = to_sdev(attr->device);
	struct sroce_gid *g;

	if (attr->index >= SROCE_GIDS)
		return -EINVAL;
	g = kmalloc(sizeof(*g), GFP_KERNEL);
	if (!g)
		return -ENOMEM;
	g->gid = attr->gid;
	rcu_assign_pointer(dev->gids[attr->index], g);
	*context = g;
	return 0;
}

/**
 * sroce_gid_tbl_del() - the core has taken a GID from the table
 * @attr: the GID and its index
 * @context: as set by sroce_gid_tbl_add()
 */
int sroce_gid_tbl_del(const struct ib_gid_attr *attr, void **context)
{
	struct sroce_dev *dev = to_sdev(attr->device);
	struct sroce_gid *g = *context;

	RCU_INIT_POINTER(dev->gids[attr->index], NULL);
	kfree_rcu(g, rcu);
	return 0;
}

/**
 * sroce_gid_tbl_has() - whether an address is one of the device's
 * @dev: the device
 * @gid: the address
 *
 * Called under RCU.
 */
bool sroce_gid_tbl_has(struct sroce_dev *dev, const union ib_gid *gid)
{
	int i;

	for (i = 0; i < SROCE_GIDS; i++) {
		struct sroce_gid *g = rcu_dereference(dev->gids[i]);

		if (g && !memcmp(&g->gid, gid, sizeof(*gid)))
			return true;
	}
	return false;
}

/**
 * sroce_gid_rescan() - have the core look at the netdev's addresses again
 * @work: of the device; it is cancelled before the device goes
 */
void sroce_gid_rescan(struct work_struct *work)
{
	struct sroce_dev *dev = container_of(work, struct sroce_dev, rescan);

	if (!ib_device_try_get(&dev->ibdev))
		return;
	rdma_roce_rescan_device(&dev->ibdev);
	ib_device_put(&dev->ibdev);
}

/* The notifier may not sleep, and the scan takes RTNL: leave it to a work. */
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

void sroce_gid_exit(void)
{
	unregister_inet6addr_notifier(&inet6_nb);
	unregister_inetaddr_notifier(&inet_nb);
}
