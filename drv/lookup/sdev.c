// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What every floor asks of a device: its netdev, and what fits into that. */

#include <linux/netdevice.h>
#include "drv/core/wire/wire.h"
#include "drv/lookup/sdev.h"

/* Objects alive in the module, checked at unload */
atomic_t sroce_sdev_live = ATOMIC_INIT(0);

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
