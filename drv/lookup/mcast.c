// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Multicast groups (10.5). When the first QP attaches to a group, the netdev joins the
 * IP group of the GID by IGMP or MLD. When the last QP detaches, the netdev leaves it.
 */

#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include "drv/core/qp.h"
#include "drv/lookup/gid_tbl.h"
#include "drv/lookup/kqp.h"
#include "drv/lookup/mcast.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/user.h"

/* Attachments of a QP to one group, each of which the RDMA core keeps in a list */
#define TIMES_MAX	4
/* Bytes of a member and of its attachments */
#define MEMBER_BYTES	((TIMES_MAX + 1) * 64)

static const struct in6_addr *addr6(const union ib_gid *gid)
{
	return (const struct in6_addr *)gid->raw;
}

static bool is_ipv4(const struct sroce_group *g)
{
	return ipv6_addr_v4mapped(addr6(&g->gid));
}

static int join4(struct sroce_group *g, struct net_device *ndev)
{
	struct in_device *in4 = __in_dev_get_rtnl(ndev);

	if (!in4)
		return -ENODEV;
	ip_mc_inc_group(in4, addr6(&g->gid)->s6_addr32[3]);
	in_dev_hold(in4);
	g->in4 = in4;
	return 0;
}

static int join6(struct sroce_group *g, struct net_device *ndev)
{
	int ret = ipv6_dev_mc_inc(ndev, addr6(&g->gid));

	if (ret)
		return ret;
	g->in6 = in6_dev_get(ndev);
	return 0;
}

/*
 * IP is turned off on a netdev with an MTU that is too small for it, and forgets its groups: what
 * is there later has not been joined by us, though maybe by others.
 */
static bool is_joined(const struct sroce_group *g, const struct net_device *ndev)
{
	return is_ipv4(g) ? g->in4 && g->in4 == __in_dev_get_rtnl(ndev) :
			    g->in6 && g->in6 == __in6_dev_get(ndev);
}

static void forget(struct sroce_group *g)
{
	if (g->in4)
		in_dev_put(g->in4);
	if (g->in6)
		in6_dev_put(g->in6);
	g->in4 = NULL;
	g->in6 = NULL;
}

/* Join, unless it has been. Under RTNL. */
static int join(struct sroce_group *g, struct net_device *ndev)
{
	if (is_joined(g, ndev))
		return 0;
	forget(g);
	return is_ipv4(g) ? join4(g, ndev) : join6(g, ndev);
}

static int netdev_join(struct sroce_dev *dev, struct sroce_group *g)
{
	struct net_device *ndev = sroce_sdev_netdev(dev);
	int ret;

	if (!ndev)
		return -ENODEV;
	rtnl_lock();
	/* it may be in another namespace by now */
	ret = dev->gone ? -ENODEV : join(g, ndev);
	rtnl_unlock();
	dev_put(ndev);
	return ret;
}

static void netdev_leave(struct sroce_dev *dev, struct sroce_group *g)
{
	struct net_device *ndev = sroce_sdev_netdev(dev);

	rtnl_lock();
	/*
	 * A netdev that is unregistered has left all groups. A join after that is not ours
	 * to undo.
	 */
	if (ndev && !dev->gone && is_joined(g, ndev)) {
		if (is_ipv4(g))
			ip_mc_dec_group(g->in4, addr6(&g->gid)->s6_addr32[3]);
		else
			ipv6_dev_mc_dec(ndev, addr6(&g->gid));
	}
	forget(g);
	rtnl_unlock();
	dev_put(ndev);
}

/**
 * sroce_mcast_init() - initialize the table of groups
 * @dev: a new device, zeroed
 */
void sroce_mcast_init(struct sroce_dev *dev)
{
	mutex_init(&dev->group_lock);
	dev->group_seed = get_random_u32();
}

static struct hlist_head *bucket(struct sroce_dev *dev, const union ib_gid *gid)
{
	u32 hash = jhash2((const u32 *)gid->raw, sizeof(*gid) / sizeof(u32), dev->group_seed);

	return &dev->groups[hash % SROCE_GROUP_BUCKETS];
}

/**
 * sroce_mcast_find() - find a group by address
 * @dev: the device
 * @gid: the address
 *
 * Context: sroce_dev.group_lock or RCU read lock.
 *
 * Return: the group, or NULL if no QP of the device is in it.
 */
struct sroce_group *sroce_mcast_find(struct sroce_dev *dev, const union ib_gid *gid)
{
	struct sroce_group *g;

	hlist_for_each_entry_rcu(g, bucket(dev, gid), node,
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

/* Number of members that are a user's, or a kernel user's */
static u32 members_of(const struct sroce_group *g, const struct sroce_user *owner)
{
	const struct sroce_member *m;
	u32 n = 0;

	list_for_each_entry(m, &g->members, list)
		n += m->owner == owner;
	return n;
}

static struct sroce_group *add_group(struct sroce_dev *dev, const union ib_gid *gid)
{
	struct sroce_group *g;
	int ret;

	g = kzalloc(sizeof(*g), GFP_KERNEL_ACCOUNT);
	if (!g)
		return ERR_PTR(-ENOMEM);
	g->gid = *gid;
	ret = netdev_join(dev, g);
	if (ret) {
		kfree(g);
		return ERR_PTR(ret);
	}
	INIT_LIST_HEAD(&g->members);
	hlist_add_head_rcu(&g->node, bucket(dev, gid));
	sroce_live_inc();
	return g;
}

static void drop_if_empty(struct sroce_dev *dev, struct sroce_group *g)
{
	if (g->n)
		return;
	netdev_leave(dev, g);
	hlist_del_rcu(&g->node);
	kfree_rcu(g, rcu);
	sroce_live_dec();
}

/*
 * A group counts for each user with a QP in it, whoever made it: whoever stays in it keeps it.
 * As a group has few places, a user may have a part of them only.
 */
static int count_member(struct sroce_dev *dev, struct sroce_group *g, struct sroce_user *owner)
{
	u32 n = members_of(g, owner);
	int ret;

	if (n >= sroce_user_most(owner, SROCE_MAX_GROUP_QPS, g->n))
		return -ENOMEM;
	ret = sroce_user_charge(owner, MEMBER_BYTES);
	if (ret || n)
		return ret;
	ret = sroce_user_add(dev, owner, SROCE_OBJ_GROUP);
	if (ret)
		sroce_user_uncharge(owner, MEMBER_BYTES);
	return ret;
}

static void uncount_member(struct sroce_dev *dev, struct sroce_group *g,
			   struct sroce_user *owner)
{
	if (!members_of(g, owner))
		sroce_user_del(dev, owner, SROCE_OBJ_GROUP);
	sroce_user_uncharge(owner, MEMBER_BYTES);
}

static int new_member(struct sroce_dev *dev, struct sroce_group *g, struct sroce_kqp *kqp,
		      struct sroce_user *owner)
{
	struct sroce_member *m;
	int ret;

	if (g->n == SROCE_MAX_GROUP_QPS)
		return -ENOMEM;
	ret = count_member(dev, g, owner);
	if (ret)
		return ret;
	m = kzalloc(sizeof(*m), GFP_KERNEL_ACCOUNT);
	if (!m) {
		uncount_member(dev, g, owner);
		return -ENOMEM;
	}
	m->kqp = kqp;
	m->owner = owner;
	m->times = 1;
	list_add_tail_rcu(&m->list, &g->members);
	WRITE_ONCE(g->n, g->n + 1);
	kqp->groups++;
	return 0;
}

static int add_member(struct sroce_dev *dev, struct sroce_group *g, struct ib_qp *ibqp)
{
	struct sroce_kqp *kqp = to_sqp(ibqp)->kqp;
	struct sroce_member *m = find_member(g, kqp);

	if (!m)
		return new_member(dev, g, kqp, sroce_pd_owner(ibqp->pd));
	if (m->times == TIMES_MAX)
		return -ENOMEM;
	m->times++;
	return 0;
}

static void del_member(struct sroce_dev *dev, struct sroce_group *g, struct sroce_member *m)
{
	list_del_rcu(&m->list);
	WRITE_ONCE(g->n, g->n - 1);
	m->kqp->groups--;
	uncount_member(dev, g, m->owner);
	kfree_rcu(m, rcu);
}

/**
 * sroce_mcast_attach() - attach a UD QP to a multicast group
 * @ibqp: the QP
 * @gid: the group
 * @lid: unused
 *
 * A QP that is attached again gets no packet twice, but has to be detached as often: the RDMA
 * core counts attachments, and a user may make several, with different LIDs.
 *
 * Return: 0, -EINVAL if @gid is not a multicast address, -ENOMEM also if a limit is
 * reached, -ENODEV if the netdev is gone, or an error of the IP stack.
 */
int sroce_mcast_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct sroce_dev *dev = to_sdev(ibqp->device);
	struct sroce_group *g;
	int ret;

	if (!sroce_gid_tbl_is_multicast(gid))
		return -EINVAL;
	mutex_lock(&dev->group_lock);
	g = sroce_mcast_find(dev, gid);
	if (!g)
		g = add_group(dev, gid);
	ret = PTR_ERR_OR_ZERO(g);
	if (!ret) {
		ret = add_member(dev, g, ibqp);
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
	g = sroce_mcast_find(dev, gid);
	if (g)
		m = find_member(g, to_sqp(ibqp)->kqp);
	if (m && !--m->times) {
		del_member(dev, g, m);
		drop_if_empty(dev, g);
	}
	mutex_unlock(&dev->group_lock);
	return m ? 0 : -EINVAL;
}

static void detach_bucket(struct sroce_dev *dev, struct hlist_head *head,
			  struct sroce_kqp *kqp)
{
	struct hlist_node *next;
	struct sroce_group *g;
	struct sroce_member *m;

	hlist_for_each_entry_safe(g, next, head, node) {
		m = find_member(g, kqp);
		if (!m)
			continue;
		del_member(dev, g, m);
		drop_if_empty(dev, g);
	}
}

/**
 * sroce_mcast_detach_all() - detach a QP from all groups
 * @qp: the QP, which is being destroyed: nobody attaches or detaches it any more
 */
void sroce_mcast_detach_all(struct sroce_qp *qp)
{
	struct sroce_dev *dev = qp->dev;
	int i;

	/* the RDMA core detaches what users have attached; to look at all groups takes long */
	if (!qp->kqp->groups)
		return;
	mutex_lock(&dev->group_lock);
	for (i = 0; i < SROCE_GROUP_BUCKETS && qp->kqp->groups; i++)
		detach_bucket(dev, &dev->groups[i], qp->kqp);
	mutex_unlock(&dev->group_lock);
}

/**
 * sroce_mcast_rejoin() - join groups that the netdev has forgotten
 * @dev: the device
 *
 * What can't be joined now is when the netdev changes the next time.
 *
 * Context: process, without RTNL.
 */
void sroce_mcast_rejoin(struct sroce_dev *dev)
{
	struct net_device *ndev = sroce_sdev_netdev(dev);
	struct sroce_group *g;
	int i;

	if (!ndev)
		return;
	mutex_lock(&dev->group_lock);
	rtnl_lock();
	for (i = 0; i < SROCE_GROUP_BUCKETS && !dev->gone; i++)
		hlist_for_each_entry(g, &dev->groups[i], node)
			join(g, ndev);
	rtnl_unlock();
	mutex_unlock(&dev->group_lock);
	dev_put(ndev);
}
