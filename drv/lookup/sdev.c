// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Basic properties of a device: its netdev, and the path MTU that this allows. */

#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include "drv/core/wire/wire.h"
#include "drv/lookup/sdev.h"

atomic_t sroce_sdev_live = ATOMIC_INIT(0);

/**
 * sroce_sdev_mtu() - largest path MTU that fits into a netdev's MTU
 * @netdev_mtu: MTU of the netdev in bytes
 *
 * Return: IB_MTU_256 if even that does not fit.
 */
enum ib_mtu sroce_sdev_mtu(int netdev_mtu)
{
	int max = netdev_mtu - SROCE_NET_OVERHEAD;
	int mtu = IB_MTU_4096;

	while (mtu > IB_MTU_256 && ib_mtu_enum_to_int(mtu) > max)
		mtu--;
	return mtu;
}

/**
 * sroce_sdev_netdev() - netdev of a device
 * @dev: the device
 *
 * Return: the netdev, held until dev_put(), or NULL if it is gone.
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

/**
 * sroce_sdev_port_state() - state of the port that a netdev stands for
 * @ndev: the netdev
 */
enum ib_port_state sroce_sdev_port_state(const struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev) ? IB_PORT_ACTIVE :
							       IB_PORT_DOWN;
}

static int has_parent(struct net_device *dev, struct netdev_nested_priv *priv)
{
	return !!dev->dev.parent;
}

/**
 * sroce_sdev_is_virtual() - whether there is no hardware below a netdev
 * @ndev: the netdev; a VLAN, bond, bridge or the like may be above a physical one
 *
 * Context: RCU read side.
 */
bool sroce_sdev_is_virtual(struct net_device *ndev)
{
	struct netdev_nested_priv priv = {};

	return !ndev->dev.parent && !netdev_walk_all_lower_dev_rcu(ndev, has_parent, &priv);
}

/* Bytes that the line takes in a ms, or SROCE_LINE_UNKNOWN */
static u32 bytes_per_ms(struct net_device *ndev)
{
	struct ethtool_link_ksettings link;

	if (__ethtool_get_link_ksettings(ndev, &link) || !link.base.speed ||
	    link.base.speed == (u32)SPEED_UNKNOWN)
		return SROCE_LINE_UNKNOWN;
	/* Mbit/s */
	return min_t(u64, link.base.speed * 125ULL, SROCE_LINE_UNKNOWN - 1);
}

/**
 * sroce_sdev_update_line_limit() - set what the line takes in a ms
 * @dev: the device
 * @ndev: its netdev
 *
 * Context: RTNL; not from a notifier, which may be called with the netdev's own lock held.
 */
void sroce_sdev_update_line_limit(struct sroce_dev *dev, struct net_device *ndev)
{
	WRITE_ONCE(dev->line_limit, bytes_per_ms(ndev));
}

/**
 * sroce_sdev_read_speed() - read the speed of the line
 * @dev: the device
 * @ndev: its netdev
 *
 * Context: process, without RTNL.
 *
 * Return: whether it is known.
 */
bool sroce_sdev_read_speed(struct sroce_dev *dev, struct net_device *ndev)
{
	rtnl_lock();
	if (ndev->reg_state == NETREG_REGISTERED)
		sroce_sdev_update_line_limit(dev, ndev);
	rtnl_unlock();
	return READ_ONCE(dev->line_limit) != SROCE_LINE_UNKNOWN;
}

/**
 * sroce_sdev_tx_limit() - how much of a QP may be on its way through this host
 * @dev: the device
 *
 * Two of the longest trains, so that one is built while the other is sent, but not more
 * than what the line takes in a ms. There is no notifier for a change of gso_max_size, so
 * this reads it each time.
 *
 * Return: bytes that a transmit queue may have; the administrator's limit if there is one.
 */
u32 sroce_sdev_tx_limit(struct sroce_dev *dev)
{
	u32 limit = READ_ONCE(dev->tx_limit), train = GSO_LEGACY_MAX_SIZE;
	struct net_device *ndev;

	if (limit)
		return limit;
	rcu_read_lock();
	ndev = rcu_dereference(dev->ndev);
	if (ndev)
		train = min_t(u32, train, READ_ONCE(ndev->gso_max_size));
	rcu_read_unlock();
	return min(2 * train, READ_ONCE(dev->line_limit));
}
