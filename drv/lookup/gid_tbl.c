// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A copy of the RDMA core's GID table. The receive path looks up destination addresses
 * in it under RCU, without the core's locks.
 */

#include <linux/if_vlan.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include "drv/lookup/gid_tbl.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"

#define NO_VLAN		0xffff

/* One more than the highest index that any device has had a GID at: most have few. */
static int used_end;
static DEFINE_SPINLOCK(used_lock);

static void note_used(int index)
{
	spin_lock(&used_lock);
	if (index >= used_end)
		WRITE_ONCE(used_end, index + 1);
	spin_unlock(&used_lock);
}

/*
 * Note the netdev that has an address. The core gives a device those of netdevs above its own in
 * other namespaces, too, where the same index means another netdev: -1, which none has.
 */
static void note_netdev(struct sroce_gid *g, const struct sroce_dev *dev,
			const struct ib_gid_attr *attr)
{
	const struct net_device *ndev;

	g->ifindex = -1;
	g->vlan = NO_VLAN;
	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	if (ndev && net_eq(dev_net(ndev), dev->sn->net)) {
		g->ifindex = ndev->ifindex;
		if (is_vlan_dev(ndev))
			g->vlan = vlan_dev_vlan_id(ndev);
	}
	rcu_read_unlock();
}

/**
 * sroce_gid_tbl_add() - add a GID to the device's table (ib_device_ops.add_gid)
 * @attr: the GID and its index
 * @context: set to the entry; the core passes it to sroce_gid_tbl_del()
 *
 * Return: 0, -EINVAL if the index is too large, or -ENOMEM.
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
	note_netdev(g, dev, attr);
	note_used(attr->index);
	rcu_assign_pointer(dev->gids[attr->index], g);
	*context = g;
	return 0;
}

/**
 * sroce_gid_tbl_del() - delete a GID from the device's table (ib_device_ops.del_gid)
 * @attr: the GID and its index
 * @context: as set by sroce_gid_tbl_add()
 *
 * Return: 0
 */
int sroce_gid_tbl_del(const struct ib_gid_attr *attr, void **context)
{
	struct sroce_dev *dev = to_sdev(attr->device);
	struct sroce_gid *g = *context;

	RCU_INIT_POINTER(dev->gids[attr->index], NULL);
	kfree_rcu(g, rcu);
	return 0;
}

/* Whether an address is that of a netdev, or of one in its VRF, which the stack names for all */
static bool is_of(const struct sroce_gid *g, const struct net_device *ndev)
{
	return g->ifindex == ndev->ifindex ||
	       (netif_is_l3_master(ndev) &&
		l3mdev_master_ifindex_by_index(dev_net(ndev), g->ifindex) == ndev->ifindex);
}

static const struct sroce_gid *find(struct sroce_dev *dev, const union ib_gid *gid,
				    const struct net_device *ndev)
{
	int i, end = READ_ONCE(used_end);

	for (i = 0; i < end; i++) {
		struct sroce_gid *g = rcu_dereference(dev->gids[i]);

		if (g && !memcmp(&g->gid, gid, sizeof(*gid)) && (!ndev || is_of(g, ndev)))
			return g;
	}
	return NULL;
}

/**
 * sroce_gid_tbl_has() - whether a GID is in the device's table
 * @dev: the device
 * @gid: the GID
 * @ndev: the netdev that has this address, or its VRF, or NULL for any
 *
 * Context: RCU read lock.
 */
bool sroce_gid_tbl_has(struct sroce_dev *dev, const union ib_gid *gid,
		       const struct net_device *ndev)
{
	return find(dev, gid, ndev);
}

/**
 * sroce_gid_tbl_has_vlan() - whether the device has GIDs of the netdev of a VLAN
 * @dev: the device
 * @ifindex: index of the netdev
 *
 * Context: RCU read lock.
 */
bool sroce_gid_tbl_has_vlan(struct sroce_dev *dev, int ifindex)
{
	int i, end = READ_ONCE(used_end);

	for (i = 0; i < end; i++) {
		const struct sroce_gid *g = rcu_dereference(dev->gids[i]);

		if (g && g->ifindex == ifindex && g->vlan != NO_VLAN)
			return true;
	}
	return false;
}

/**
 * sroce_gid_tbl_vlan() - the VLAN of a netdev that has a GID
 * @dev: the device
 * @gid: the GID
 * @ndev: the netdev, or its VRF
 *
 * Context: RCU read lock.
 *
 * Return: the number of the VLAN, or 0xffff for none.
 */
u16 sroce_gid_tbl_vlan(struct sroce_dev *dev, const union ib_gid *gid,
		       const struct net_device *ndev)
{
	const struct sroce_gid *g = find(dev, gid, ndev);

	return g ? g->vlan : NO_VLAN;
}

/**
 * sroce_gid_tbl_is_multicast() - whether a GID is a multicast address
 * @gid: the GID, IPv6 or IPv4-mapped
 */
bool sroce_gid_tbl_is_multicast(const union ib_gid *gid)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid->raw;

	if (ipv6_addr_v4mapped(addr))
		return ipv4_is_multicast(addr->s6_addr32[3]);
	return ipv6_addr_is_multicast(addr);
}
