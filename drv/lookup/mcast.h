/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Multicast groups: which QPs receive packets to a multicast GID. */
#ifndef SROCE_LOOKUP_MCAST_H
#define SROCE_LOOKUP_MCAST_H

#include <rdma/ib_verbs.h>

struct in_device;
struct inet6_dev;
struct sroce_dev;
struct sroce_kqp;
struct sroce_qp;
struct sroce_user;

/**
 * struct sroce_member - a QP in a group
 * @list: entry in sroce_group.members
 * @kqp: the QP
 * @owner: user of the QP, for whom the group is counted; NULL for a kernel user
 * @times: how often it was attached
 * @rcu: frees the structure after a grace period
 */
struct sroce_member {
	struct list_head	list;
	struct sroce_kqp	*kqp;
	struct sroce_user	*owner;
	u32			times;
	struct rcu_head		rcu;
};

/**
 * struct sroce_group - a multicast group that QPs of a device are in
 * @node: entry in sroce_dev.groups
 * @gid: multicast address of the group
 * @in4: what of the netdev has joined the group, if that is of IPv4, held, or NULL; under RTNL
 * @in6: the same for IPv6
 * @members: struct sroce_member, read under RCU
 * @n: number of @members; also read under RCU
 * @rcu: frees the structure after a grace period
 */
struct sroce_group {
	struct hlist_node	node;
	union ib_gid		gid;
	struct in_device	*in4;
	struct inet6_dev	*in6;
	struct list_head	members;
	u32			n;
	struct rcu_head		rcu;
};

void sroce_mcast_init(struct sroce_dev *dev);
struct sroce_group *sroce_mcast_find(struct sroce_dev *dev, const union ib_gid *gid);
int sroce_mcast_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int sroce_mcast_detach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
void sroce_mcast_detach_all(struct sroce_qp *qp);
void sroce_mcast_rejoin(struct sroce_dev *dev);

#endif /* SROCE_LOOKUP_MCAST_H */
