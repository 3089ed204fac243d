// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Devices, from `rdma link add` until the link is deleted or its netdev goes away.
 *
 * The driver id is that of rdma_rxe, because the stock provider requires it. So rdma_rxe
 * must not find these devices when it asks the core for a device of a netdev. They are not
 * in the core's table of netdevs, but have .get_netdev, and the module keeps its own list.
 */

#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <rdma/ib_verbs.h>
#include "drv/compat/compat.h"
#include "drv/core/counter.h"
#include "drv/core/wire/wire.h"
#include "drv/dev/device.h"
#include "drv/dev/gid.h"
#include "drv/dev/sockets.h"
#include "drv/lookup/mcast.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"
#include "drv/net/loopback.h"

/* Sets the operations and attributes of a device; see sroce_device_init() */
static void (*set_ops)(struct sroce_dev *dev);
/* All devices that have a netdev, guarded by devs_lock */
static LIST_HEAD(devs);
static DEFINE_MUTEX(devs_lock);
/* Devices that have not been freed completely, whether in the list or not */
static atomic_t devs_alive = ATOMIC_INIT(0);

/* Why a netdev can't have a device, or NULL. It must carry Ethernet frames or plain IP. */
static const char *unsupported(const struct net_device *ndev)
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

/*
 * A bond or bridge has the addresses, and its packets may come by any of its ports. A VRF
 * leaves both to its netdevs.
 */
static void note_upper(struct net_device *ndev, const char *name)
{
	struct net_device *upper;

	rcu_read_lock();
	upper = netdev_master_upper_dev_get_rcu(ndev);
	if (upper && !netif_is_l3_master(upper))
		netdev_info(ndev,
			    "sroce: %s is added to a port of %s; a link on %s serves all its ports\n",
			    name, upper->name, upper->name);
	rcu_read_unlock();
}

/*
 * rdma_cm asks for a RoCE GID only if the address belongs to an Ethernet netdev (up to 6.12
 * at least). With another one it fails with ENODEV, of which nobody would guess the reason.
 */
static void tell_limits(const char *name, const struct net_device *ndev)
{
	if (ndev->type != ARPHRD_ETHER)
		netdev_info(ndev, "sroce: rdma_cm will not find %s, as this is no Ethernet netdev; verbs will\n",
			    name);
}

/* Whether a netdev has no device: 0, -EEXIST, or -EBUSY if it had one that is not gone yet */
static int check_free(const struct net_device *ndev)
{
	const struct sroce_dev *dev;

	list_for_each_entry(dev, &devs, list)
		if (rcu_access_pointer(dev->ndev) == ndev)
			return dev->gone ? -EBUSY : -EEXIST;
	return 0;
}

static void set_guid(struct sroce_dev *dev, const struct net_device *ndev)
{
	u8 mac[ETH_ALEN];

	/* lo and tun have no MAC address: use a random one */
	if (ndev->addr_len == ETH_ALEN && !is_zero_ether_addr(ndev->dev_addr))
		ether_addr_copy(mac, ndev->dev_addr);
	else
		eth_random_addr(mac);
	addrconf_addr_eui48((u8 *)&dev->ibdev.node_guid, mac);
}

/**
 * sroce_device_dealloc() - .dealloc_driver: undo sroce_device_add()
 * @ibdev: the device, unregistered, or never registered
 *
 * Context: process, may sleep.
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
	cancel_work_sync(&dev->netdev_changed);
	WARN_ON(!xa_empty(&dev->mrs) || !xa_empty(&dev->ahs) ||
		!xa_empty(&dev->stats) ||
		atomic_read(&dev->objects[SROCE_OBJ_GROUP]));
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

/* The netdev came up, went down or changed; sroce_device_dealloc() cancels this. */
static void netdev_changed(struct work_struct *work)
{
	struct sroce_dev *dev = container_of(work, struct sroce_dev, netdev_changed);
	struct net_device *ndev = rcu_access_pointer(dev->ndev);

	sroce_sdev_read_speed(dev, ndev);
	sroce_mcast_rejoin(dev);
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
	sroce_mcast_init(dev);
	INIT_WORK(&dev->rescan, sroce_gid_rescan);
	INIT_WORK(&dev->netdev_changed, netdev_changed);
	dev->loopback = sroce_loopback_default();
	dev->cc = true;
	dev->trains = true;
	set_guid(dev, ndev);
	set_ops(dev);
	return dev;
}

/*
 * Raise an event when the port goes up or down, once for each change. The core's work item
 * for an event takes no reference to the device. The device can't be unregistered while
 * this function has one.
 */
static void port_changed(struct sroce_dev *dev, const struct net_device *ndev)
{
	struct ib_event ev = {
		.device = &dev->ibdev,
		.element.port_num = 1,
	};
	enum ib_port_state state = sroce_sdev_port_state(ndev);

	if (dev->port_state == state || !ib_device_try_get(&dev->ibdev))
		return;
	dev->port_state = state;
	ev.event = state == IB_PORT_ACTIVE ? IB_EVENT_PORT_ACTIVE :
					     IB_EVENT_PORT_ERR;
	ib_dispatch_event(&ev);
	ib_device_put(&dev->ibdev);
}

/*
 * Add the device to the list, unless the netdev has one already. Under RTNL the netdev
 * neither goes away nor moves to another namespace. If it does later, netdev_event() is
 * called.
 */
static int add_to_list(struct sroce_dev *dev, struct net_device *ndev)
{
	int ret;

	rtnl_lock();
	mutex_lock(&devs_lock);
	ret = ndev->reg_state == NETREG_REGISTERED ? check_free(ndev) : -ENODEV;
	if (!ret) {
		list_add_tail(&dev->list, &devs);
		rcu_assign_pointer(dev->ndev, ndev);
		netdev_hold(ndev, &dev->ndev_tracker, GFP_KERNEL);
		sroce_snet_get(dev, dev_net(ndev));
	}
	mutex_unlock(&devs_lock);
	/* not under devs_lock: netdev_event() takes that with the lock of the netdev held */
	if (!ret)
		sroce_sdev_update_line_limit(dev, ndev);
	rtnl_unlock();
	return ret;
}

/**
 * sroce_device_enable() - .enable_driver: the core has registered the device
 * @ibdev: the device
 *
 * The core calls this also after it has moved the device to another namespace. While it
 * did, the device could not be unregistered. So that is done now if the netdev has gone.
 * Addresses that were added meanwhile are looked for.
 *
 * Return: 0, or -ENODEV if the netdev has gone or left its namespace meanwhile.
 */
int sroce_device_enable(struct ib_device *ibdev)
{
	struct sroce_dev *dev = to_sdev(ibdev);
	int ret = 0;

	mutex_lock(&devs_lock);
	if (!dev->gone)
		dev->port_state = sroce_sdev_port_state(rcu_access_pointer(dev->ndev));
	else if (dev->enabled)
		ib_unregister_device_queued(ibdev);
	else
		ret = -ENODEV;
	dev->enabled = true;
	mutex_unlock(&devs_lock);
	if (!ret)
		schedule_work(&dev->rescan);
	return ret;
}

static const char *error_text(int err)
{
	switch (err) {
	case -EADDRINUSE:
		return "UDP port 4791 is taken in this namespace (rdma_rxe?)";
	case -EEXIST:
		return "it has an sroce device already";
	case -EBUSY:
		return "the device that it had where it came from is still being removed";
	case -ENODEV:
		return "it is going away";
	default:
		return "no UDP socket";
	}
}

/**
 * sroce_device_add() - create and register a device on a netdev
 * @name: name of the device, or a pattern with %d
 * @ndev: the netdev
 *
 * .newlink of a link type has no extack (up to 6.12 at least). So the reason of an error
 * is logged, once for each request.
 *
 * Context: process, without RTNL.
 *
 * Return: 0, -EEXIST if the netdev has a device, -EBUSY if it had one in another namespace that
 * is still being removed, -EINVAL if it can't have one, -EADDRINUSE if UDP port 4791 is in use
 * in its namespace, -ENODEV if it goes away meanwhile, -ENOMEM.
 */
int sroce_device_add(const char *name, struct net_device *ndev)
{
	const char *why = unsupported(ndev);
	struct sroce_dev *dev;
	int ret;

	if (why) {
		netdev_info(ndev, "sroce: can't add %s: %s\n", name, why);
		return -EINVAL;
	}
	dev = dev_alloc(ndev);
	if (!dev)
		return -ENOMEM;
	ret = add_to_list(dev, ndev);
	if (!ret)
		ret = sroce_sockets_join(dev);
	if (ret) {
		netdev_info(ndev, "sroce: can't add %s: %s\n", name,
			    error_text(ret));
		ib_dealloc_device(&dev->ibdev);
		return ret;
	}
	note_upper(ndev, name);
	ib_mark_name_assigned_by_user(&dev->ibdev);
	ret = ib_register_device(&dev->ibdev, name, NULL);
	/* don't use dev after success: it may have been deleted by now */
	if (ret)
		ib_dealloc_device(&dev->ibdev);
	else
		tell_limits(name, ndev);
	return ret;
}

/*
 * Unregister the device asynchronously: the caller of the notifier holds RTNL, which the
 * teardown takes. If there is no reference to get, the device is being unregistered, or
 * sroce_device_enable() will fail.
 */
static void netdev_gone(struct sroce_dev *dev)
{
	dev->gone = true;
	if (!ib_device_try_get(&dev->ibdev))
		return;
	ib_unregister_device_queued(&dev->ibdev);
	ib_device_put(&dev->ibdev);
}

/*
 * From 6.15 on, the caller holds the lock of some netdevs for some events, which whoever asks for
 * the speed of the line takes. So that is asked later.
 */
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
			schedule_work(&dev->netdev_changed);
			port_changed(dev, ndev);
			break;
		case NETDEV_CHANGEMTU:
			schedule_work(&dev->netdev_changed);
			break;
		}
	}
	mutex_unlock(&devs_lock);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = {
	.notifier_call = netdev_event,
};

/**
 * sroce_device_init() - register the notifiers of netdevs and their addresses
 * @set: sets the operations and attributes of a new device
 *
 * Return: 0 or an error of the notifiers.
 */
int sroce_device_init(void (*set)(struct sroce_dev *dev))
{
	int ret;

	set_ops = set;
	ret = register_netdevice_notifier(&netdev_nb);
	if (ret)
		return ret;
	ret = sroce_gid_init();
	if (ret)
		unregister_netdevice_notifier(&netdev_nb);
	return ret;
}

/**
 * sroce_device_exit() - unregister all devices
 *
 * A work item or a netlink request of the core may be unregistering some of them already.
 * Their sroce_device_dealloc() must have returned before the module's text is freed.
 */
void sroce_device_exit(void)
{
	struct sroce_dev *dev;

	sroce_gid_exit();
	for (;;) {
		mutex_lock(&devs_lock);
		dev = list_first_entry_or_null(&devs, struct sroce_dev, list);
		if (dev && !ib_device_try_get(&dev->ibdev))
			dev = ERR_PTR(-EAGAIN);
		mutex_unlock(&devs_lock);
		if (!dev)
			break;
		if (IS_ERR(dev))
			/* it is being unregistered elsewhere */
			usleep_range(1000, 2000);
		else
			ib_unregister_device_and_put(&dev->ibdev);
	}
	/* not before: it is told of each netdev as if that went away */
	unregister_netdevice_notifier(&netdev_nb);
	while (atomic_read(&devs_alive))
		usleep_range(1000, 2000);
	/* the last one may be preempted just before its return */
	synchronize_rcu_tasks();
}
