// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices: from `rdma link add` to the end of the link or of its netdev.
 *
 * The driver id is rdma_rxe's, since the stock provider insists on it. Hence
 * the core must never find our devices by netdev on rxe's behalf: they answer
 * through .get_netdev and are not entered in the core's table, and the module
 * keeps its own list.
 */

#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include "drv/dev.h"

static LIST_HEAD(devs);
static DEFINE_MUTEX(devs_lock);
/* Devices not yet given back in full, whether in the list or not */
static atomic_t devs_alive = ATOMIC_INIT(0);

/**
 * sroce_sdev_mtu() - path MTU that fits into a netdev's MTU
 * @netdev_mtu: bytes
 */
enum ib_mtu sroce_sdev_mtu(int netdev_mtu)
{
	int room = netdev_mtu - SROCE_NET_OVERHEAD;
	int mtu = IB_MTU_4096;

	while (mtu > IB_MTU_256 && ib_mtu_enum_to_int(mtu) > room)
		mtu--;
	return mtu;
}

/**
 * sroce_sdev_netdev() - the netdev under a device
 * @dev: the device
 *
 * Return: the netdev, held, or NULL if it is gone.
 */
struct net_device *sroce_sdev_netdev(struct sroce_dev *dev)
{
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rcu_dereference(dev->ndev);
	dev_hold(ndev);
	rcu_read_unlock();
	return ndev;
}

/* A netdev may be lent to RDMA if packets to it are Ethernet's or plain IP. */
static const char *unfit(const struct net_device *ndev)
{
	switch (ndev->type) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
	case ARPHRD_NONE:
		break;
	default:
		return "not an Ethernet, loopback or tun device";
	}
	if (ndev->mtu < SROCE_MTU_MIN + SROCE_NET_OVERHEAD)
		return "its MTU is too small for a path MTU of 256";
	return NULL;
}

static bool taken(const struct net_device *ndev)
{
	struct sroce_dev *dev;

	list_for_each_entry(dev, &devs, list)
		if (rcu_access_pointer(dev->ndev) == ndev)
			return true;
	return false;
}

static void dev_guid(struct sroce_dev *dev, const struct net_device *ndev)
{
	u8 mac[ETH_ALEN];

	/* lo and tun have no address: any unique one will do. */
	if (ndev->addr_len == ETH_ALEN && !is_zero_ether_addr(ndev->dev_addr))
		ether_addr_copy(mac, ndev->dev_addr);
	else
		eth_random_addr(mac);
	addrconf_addr_eui48((u8 *)&dev->ibdev.node_guid, mac);
}

/**
 * sroce_device_dealloc() - dealloc_driver: the core is done with the device
 * @ibdev: the device
 */
void sroce_device_dealloc(struct ib_device *ibdev)
{
	struct sroce_dev *dev = to_sdev(ibdev);
	struct net_device *ndev = rcu_access_pointer(dev->ndev);

	mutex_lock(&devs_lock);
	list_del(&dev->list);
	mutex_unlock(&devs_lock);
	sroce_sockets_leave(dev);
	cancel_work_sync(&dev->rescan);
	WARN_ON(!xa_empty(&dev->mrs) || !xa_empty(&dev->ahs) ||
		!xa_empty(&dev->stats) || !list_empty(&dev->groups));
	xa_destroy(&dev->mrs);
	xa_destroy(&dev->ahs);
	xa_destroy(&dev->stats);
	free_percpu(dev->counters);
	RCU_INIT_POINTER(dev->ndev, NULL);
	netdev_put(ndev, &dev->ndev_tracker);
	sroce_snet_put(dev);
	sroce_live_dec();
	atomic_dec(&devs_alive);
}

static struct sroce_dev *dev_alloc(struct net_device *ndev)
{
	struct sroce_dev *dev = ib_alloc_device(sroce_dev, ibdev);

	if (!dev)
		return NULL;
	dev->counters = alloc_percpu(struct sroce_counters);
	if (!dev->counters) {
		ib_dealloc_device(&dev->ibdev);
		return NULL;
	}
	sroce_live_inc();
	atomic_inc(&devs_alive);
	INIT_LIST_HEAD(&dev->list);
	INIT_LIST_HEAD(&dev->net_list);
	xa_init_flags(&dev->mrs, XA_FLAGS_ALLOC1);
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&dev->stats, XA_FLAGS_ALLOC1);
	mutex_init(&dev->stat_lock);
	INIT_LIST_HEAD(&dev->groups);
	mutex_init(&dev->group_lock);
	INIT_WORK(&dev->rescan, sroce_gid_rescan);
	dev->loopback = sroce_loopback_default();
	dev_guid(dev, ndev);
	sroce_ops_set(dev);
	return dev;
}

static enum ib_port_state state_of(const struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev) ? IB_PORT_ACTIVE :
							       IB_PORT_DOWN;
}

/*
 * Tell users of a port that went up or down, once for each change. The core's
 * work for an event does not keep the device, but waits for those who do.
 */
static void port_changed(struct sroce_dev *dev, const struct net_device *ndev)
{
	struct ib_event ev = {
		.device = &dev->ibdev,
		.element.port_num = 1,
	};
	enum ib_port_state state = state_of(ndev);

	if (dev->port_state == state || !ib_device_try_get(&dev->ibdev))
		return;
	dev->port_state = state;
	ev.event = state == IB_PORT_ACTIVE ? IB_EVENT_PORT_ACTIVE :
					     IB_EVENT_PORT_ERR;
	ib_dispatch_event(&ev);
	ib_device_put(&dev->ibdev);
}

/*
 * Enter the device into the list, unless the netdev has one. Under RTNL the
 * netdev neither goes nor leaves its namespace; if it does later, we are told.
 */
static int claim(struct sroce_dev *dev, struct net_device *ndev)
{
	int ret = 0;

	rtnl_lock();
	mutex_lock(&devs_lock);
	if (ndev->reg_state != NETREG_REGISTERED) {
		ret = -ENODEV;
	} else if (taken(ndev)) {
		ret = -EEXIST;
	} else {
		list_add_tail(&dev->list, &devs);
		rcu_assign_pointer(dev->ndev, ndev);
		netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
		sroce_snet_get(dev, dev_net(ndev));
	}
	mutex_unlock(&devs_lock);
	rtnl_unlock();
	return ret;
}

/**
 * sroce_device_enable() - enable_driver: the core knows the device from here on
 * @ibdev: the device
 *
 * Also when it has moved to another namespace of the core's, during which nobody
 * could have had it removed.
 *
 * Return: 0, or -ENODEV if the netdev has gone or left meanwhile.
 */
int sroce_device_enable(struct ib_device *ibdev)
{
	struct sroce_dev *dev = to_sdev(ibdev);
	int ret = 0;

	mutex_lock(&devs_lock);
	if (!dev->gone)
		dev->port_state = state_of(rcu_access_pointer(dev->ndev));
	else if (dev->enabled)
		ib_unregister_device_queued(ibdev);
	else
		ret = -ENODEV;
	dev->enabled = true;
	mutex_unlock(&devs_lock);
	return ret;
}

static const char *refusal(int err)
{
	switch (err) {
	case -EADDRINUSE:
		return "UDP port 4791 is taken in this namespace (rdma_rxe?)";
	case -EEXIST:
		return "it has an sroce device already";
	case -ENODEV:
		return "it is going away";
	default:
		return "no UDP socket";
	}
}

/**
 * sroce_device_add() - make a device on a netdev
 * @name: its name, perhaps a pattern with %d
 * @ndev: the netdev
 *
 * The link type's newlink has no extack to fill (up to 6.12 at least), so the
 * reason of a refusal goes to the log, once for each request.
 *
 * Return: 0, -EEXIST if the netdev has one, -EINVAL if it can't have one,
 * -EADDRINUSE if somebody else owns UDP port 4791 in its namespace, -ENODEV if
 * it goes away meanwhile.
 */
int sroce_device_add(const char *name, struct net_device *ndev)
{
	const char *why = unfit(ndev);
	struct sroce_dev *dev;
	int ret;

	if (why) {
		netdev_info(ndev, "sroce: can't add %s: %s\n", name, why);
		return -EINVAL;
	}
	dev = dev_alloc(ndev);
	if (!dev)
		return -ENOMEM;
	ret = claim(dev, ndev);
	if (!ret)
		ret = sroce_sockets_join(dev);
	if (ret) {
		netdev_info(ndev, "sroce: can't add %s: %s\n", name,
			    refusal(ret));
		ib_dealloc_device(&dev->ibdev);
		return ret;
	}
	ib_mark_name_assigned_by_user(&dev->ibdev);
	ret = ib_register_device(&dev->ibdev, name, NULL);
	if (ret)
		ib_dealloc_device(&dev->ibdev);
	/* else it may have been deleted by now */
	return ret;
}

/*
 * Asynchronous: the notifier's caller holds RTNL, which teardown needs. Without
 * a reference to be had, somebody else removes the device, or sroce_device_enable()
 * will refuse it.
 */
static void netdev_gone(struct sroce_dev *dev)
{
	dev->gone = true;
	if (!ib_device_try_get(&dev->ibdev))
		return;
	ib_unregister_device_queued(&dev->ibdev);
	ib_device_put(&dev->ibdev);
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	struct sroce_dev *dev;

	mutex_lock(&devs_lock);
	list_for_each_entry(dev, &devs, list) {
		if (rcu_access_pointer(dev->ndev) != ndev)
			continue;
		switch (event) {
		case NETDEV_UNREGISTER:
			netdev_gone(dev);
			break;
		case NETDEV_UP:
		case NETDEV_DOWN:
		case NETDEV_CHANGE:
			port_changed(dev, ndev);
			break;
		}
	}
	mutex_unlock(&devs_lock);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = {
	.notifier_call = netdev_event,
};

int sroce_device_init(void)
{
	int ret = register_netdevice_notifier(&netdev_nb);

	if (ret)
		return ret;
	ret = sroce_gid_init();
	if (ret)
		unregister_netdevice_notifier(&netdev_nb);
	return ret;
}

/**
 * sroce_device_exit() - remove all devices
 *
 * Some may be on their way out already, by a work or a netlink request of the
 * core: their sroce_device_dealloc() must be over before the module's text goes.
 */
void sroce_device_exit(void)
{
	struct sroce_dev *dev;

	sroce_gid_exit();
	unregister_netdevice_notifier(&netdev_nb);
	for (;;) {
		mutex_lock(&devs_lock);
		dev = list_first_entry_or_null(&devs, struct sroce_dev, list);
		if (dev && !ib_device_try_get(&dev->ibdev))
			dev = ERR_PTR(-EAGAIN);
		mutex_unlock(&devs_lock);
		if (!dev)
			break;
		if (IS_ERR(dev))
			/* somebody else is removing it */
			usleep_range(1000, 2000);
		else
			ib_unregister_device_and_put(&dev->ibdev);
	}
	while (atomic_read(&devs_alive))
		usleep_range(1000, 2000);
	/* the last one may be preempted just before its return */
	synchronize_rcu_tasks();
}
