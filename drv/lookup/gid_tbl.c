// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A mirror of the core's GID table that the receive path can read. */

#include <linux/slab.h>
#include <net/ipv6.h>
#include "drv/lookup/gid_tbl.h"
#include "drv/lookup/sdev.h"

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
 * sroce_gid_tbl_is_multicast() - whether a GID is the address of a group
 * @gid: the GID, perhaps an IPv4 address
 */
bool sroce_gid_tbl_is_multicast(const union ib_gid *gid)
{
	const struct in6_addr *addr = (const struct in6_addr *)gid->raw;

	if (ipv6_addr_v4mapped(addr))
		return ipv4_is_multicast(addr->s6_addr32[3]);
	return ipv6_addr_is_multicast(addr);
}
