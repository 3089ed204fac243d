// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups (10.5). The first QP that attaches has the netdev join the IP
 * group of the GID, by IGMP or MLD, and the last one that detaches has it leave.
 */

#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include "drv/dev.h"

/**
 * struct sroce_member - a QP in a group
 * @list: of the group
 * @kqp: the QP
 * @rcu: frees it
 */
struct sroce_member {
	struct list_head	list;
	struct sroce_kqp	*kqp;
	struct rcu_head		rcu;
};

/**
 * struct sroce_group - a multicast group that QPs of a device are in
 * @list: of the device
 * @gid: its address
 * @members: the QPs
 * @n: how many
 * @rcu: frees it
 */
struct sroce_group {
	struct list_head	list;
	union ib_gid		gid;
	struct list_head	members;
	u32			n;
	struct rcu_head		rcu;
};

static const struct in6_addr *addr6(const union ib_gid *gid)
{
	return (const struct in6_addr *)gid->raw;
}

/**
 * sroce_gid_tbl_is_multicast() - whether a GID is the address of a group
 * @gid: the GID, perhaps an IPv4 address
 */
bool sroce_gid_tbl_is_multicast(const union ib_gid *gid)
{
	if (ipv6_addr_v4mapped(addr6(gid)))
		return ipv4_is_multicast(addr6(gid)->s6_addr32[3]);
	return ipv6_addr_is_multicast(addr6(gid));
}

static int join4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, addr);
	return 0;
}

static void leave4(struct net_device *ndev, __be32 addr)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (in_dev)
		ip_mc_dec_group(in_dev, addr);
}

static void leave(struct net_device *ndev, const union ib_gid *gid)
{
	if (ipv6_addr_v4mapped(addr6(gid)))
		leave4(ndev, addr6(gid)->s6_addr32[3]);
	else
		ipv6_dev_mc_dec(ndev, addr6(gid));
}

/* The netdev's membership; it loses them all when it goes away itself. */
static int netdev_join(struct sroce_dev *dev, const union ib_gid *gid)
{
	struct net_device *ndev = sroce_sdev_netdev(dev);
	int ret;

	if (!ndev)
		return -ENODEV;
	rtnl_lock();
	if (ipv6_addr_v4mapped(addr6(gid)))
		ret = join4(ndev, addr6(gid)->s6_addr32[3]);
	else
		ret = ipv6_dev_mc_inc(ndev, addr6(gid));
	rtnl_unlock();
	dev_put(ndev);
	return ret;
}

static void netdev_leave(struct sroce_dev *dev, const union ib_gid *gid)
{
	struct net_device *ndev = sroce_sdev_netdev(dev);

	if (!ndev)
		return;
	rtnl_lock();
	/* one that has gone has lost them, and whoever joins now is somebody else */
	if (!dev->gone)
		leave(ndev, gid);
	rtnl_unlock();
	dev_put(ndev);
}

static struct sroce_group *find_group(struct sroce_dev *dev,
				      const union ib_gid *gid)
{
	struct sroce_group *g;

	list_for_each_entry_rcu(g, &dev->groups, list,
				lockdep_is_held(&dev->group_lock))
		if (!memcmp(&g->gid, gid, sizeof(*gid)))
			return g;
	return NULL;
}

static struct sroce_member *find_member(struct sroce_group *g,
					const struct sroce_kqp *kqp)
{
	struct sroce_member *m;

	list_for_each_entry(m, &g->members, list)
		if (m->kqp == kqp)
			return m;
	return NULL;
}

static struct sroce_group *add_group(struct sroce_dev *dev,
				     const union ib_gid *gid)
{
	struct sroce_group *g;
	int ret;

	if (dev->ngroups == SROCE_MAX_GROUPS)
		return ERR_PTR(-ENOMEM);
	g = kzalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);
	if (!g)
		return ERR_PTR(-ENOMEM);
	ret = netdev_join(dev, gid);
	if (ret) {
		kfree(g);
		return ERR_PTR(ret);
	}
	g->gid = *gid;
	INIT_LIST_HEAD(&g->members);
	list_add_tail_rcu(&g->list, &dev->groups);
	dev->ngroups++;
	sroce_live_inc();
	return g;
}

static void drop_if_empty(struct sroce_dev *dev, struct sroce_group *g)
{
	if (g->n)
		return;
	netdev_leave(dev, &g->gid);
	list_del_rcu(&g->list);
	dev->ngroups--;
	kfree_rcu(g, rcu);
	sroce_live_dec();
}

static int add_member(struct sroce_group *g, struct sroce_kqp *kqp)
{
	struct sroce_member *m;

	if (find_member(g, kqp))
		return 0;
	if (g->n == SROCE_MAX_GROUP_QPS)
		return -ENOMEM;
	m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	if (!m)
		return -ENOMEM;
	m->kqp = kqp;
	list_add_tail_rcu(&m->list, &g->members);
	g->n++;
	return 0;
}

static void del_member(struct sroce_group *g, struct sroce_member *m)
{
	list_del_rcu(&m->list);
	g->n--;
	kfree_rcu(m, rcu);
}

/**
 * sroce_mcast_attach() - have a QP get what is sent to a group
 * @ibqp: the QP, UD
 * @gid: the group
 * @lid: unused
 */
int sroce_mcast_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct sroce_dev *dev = to_sdev(ibqp->device);
	struct sroce_group *g;
	int ret;

	if (!sroce_gid_tbl_is_multicast(gid))
		return -EINVAL;
	mutex_lock(&dev->group_lock);
	g = find_group(dev, gid);
	if (!g)
		g = add_group(dev, gid);
	ret = PTR_ERR_OR_ZERO(g);
	if (!ret) {
		ret = add_member(g, to_sqp(ibqp)->kqp);
		drop_if_empty(dev, g);
	}
	mutex_unlock(&dev->group_lock);
	return ret;
}

/**
 * sroce_mcast_detach() - undo sroce_mcast_attach()
 * @ibqp: the QP
 * @gid: the group
 * @lid: unused
 *
 * Return: 0, or -EINVAL if the QP is not in the group.
 */
int sroce_mcast_detach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct sroce_dev *dev = to_sdev(ibqp->device);
	struct sroce_member *m = NULL;
	struct sroce_group *g;

	mutex_lock(&dev->group_lock);
	g = find_group(dev, gid);
	if (g)
		m = find_member(g, to_sqp(ibqp)->kqp);
	if (m) {
		del_member(g, m);
		drop_if_empty(dev, g);
	}
	mutex_unlock(&dev->group_lock);
	return m ? 0 : -EINVAL;
}

/**
 * sroce_mcast_forget() - a QP leaves all groups
 * @qp: the QP
 */
void sroce_mcast_forget(struct sroce_qp *qp)
{
	struct sroce_dev *dev = qp->dev;
	struct sroce_group *g, *next;
	struct sroce_member *m;

	if (qp->svc != SROCE_SVC_UD || list_empty(&dev->groups))
		return;
	mutex_lock(&dev->group_lock);
	list_for_each_entry_safe(g, next, &dev->groups, list) {
		m = find_member(g, qp->kqp);
		if (!m)
			continue;
		del_member(g, m);
		drop_if_empty(dev, g);
	}
	mutex_unlock(&dev->group_lock);
}

static u32 deliver_to(struct sroce_group *g, const struct sroce_pkt *pkt,
		      u32 len)
{
	struct sroce_member *m;
	u32 n = 0;

	list_for_each_entry_rcu(m, &g->members, list) {
		if (!refcount_inc_not_zero(&m->kqp->ref))
			continue;
		sroce_count(m->kqp->qp, SROCE_CNT_RX_MULTICAST);
		sroce_task_lock(m->kqp->qp);
		sroce_udp_deliver(m->kqp->qp, pkt, len);
		sroce_task_unlock_run(m->kqp->qp);
		sroce_qp_tbl_put(m->kqp);
		n++;
	}
	return n;
}

/**
 * sroce_mcast_rcv() - hand a packet to all QPs in its group
 * @sn: the namespace
 * @skb: where it is
 * @pkt: the packet; its ICRC is right
 * @len: bytes from BTH to the end of the ICRC
 *
 * Called under RCU.
 *
 * Return: whether there was one.
 */
bool sroce_mcast_rcv(struct sroce_snet *sn, const struct sk_buff *skb,
		     const struct sroce_pkt *pkt, u32 len)
{
	struct sroce_group *g;
	struct sroce_dev *dev;
	u32 n = 0;

	if (pkt->qpn != SROCE_QPN_MULTICAST)
		return false;
	list_for_each_entry_rcu(dev, &sn->devs, net_list) {
		if (rcu_access_pointer(dev->ndev) != skb->dev)
			continue;
		g = find_group(dev, &pkt->dgid);
		if (g)
			n += deliver_to(g, pkt, len);
	}
	return n;
}
