// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A copy of the RDMA core's GID table. The receive path looks up destination addresses
 * in it under RCU, without the core's locks.
 */

#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>
#include "drv/lookup/gid_tbl.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"

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
 * Index of the netdev that has an address. The core gives a device those of netdevs above its own
 * in other namespaces, too, where the same index means another netdev: -1, which none has.
 */
static int ifindex_of(const struct sroce_dev *dev, const struct ib_gid_attr *attr)
{
	const struct net_device *ndev;
	int ifindex;

	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	ifindex = ndev && net_eq(dev_net(ndev), dev->sn->net) ? ndev->ifindex : -1;
	rcu_read_unlock();
	return ifindex;
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
	g->ifindex = ifindex_of(dev, attr);
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

/**
 * sroce_gid_tbl_has() - whether a GID is in the device's table
 * @dev: the device
 * @gid: the GID
 * @ifindex: index of the netdev that has this address, or 0 for any
 *
 * Context: RCU read lock.
 */
bool sroce_gid_tbl_has(struct sroce_dev *dev, const union ib_gid *gid, int ifindex)
{
	int i, end = READ_ONCE(used_end);

	for (i = 0; i < end; i++) {
		struct sroce_gid *g = rcu_dereference(dev->gids[i]);

		if (g && !memcmp(&g->gid, gid, sizeof(*gid)) &&
		    (!ifindex || g->ifindex == ifindex))
			return true;
	}
	return false;
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
