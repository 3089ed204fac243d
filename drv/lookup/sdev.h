/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The RDMA device, and the limits that it reports. */
#ifndef SROCE_LOOKUP_SDEV_H
#define SROCE_LOOKUP_SDEV_H

#include <linux/netdevice.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "drv/core/counter.h"

struct sroce_kqp;
struct sroce_snet;

/* Limits, see drv/README.md */
#define SROCE_MAX_QP		0x10000
#define SROCE_MAX_QP_WR		0x8000
#define SROCE_MAX_CQ		0x20000
#define SROCE_MAX_CQE		0x7ffff
#define SROCE_MAX_SRQ		0x10000
#define SROCE_MAX_SRQ_WR	0x8000
#define SROCE_MAX_MR		0x80000
#define SROCE_MAX_ODP		0x4000
#define SROCE_KEY_INDEX_MAX	0xffffff
#define SROCE_MAX_FAST_PAGES	0x20000
#define SROCE_MAX_GROUPS	8192
#define SROCE_GROUP_BUCKETS	256
#define SROCE_MAX_GROUP_QPS	256
#define SROCE_MAX_AH		0x20000
#define SROCE_AH_NUM_MAX	0xffffff
#define SROCE_MAX_PD		0x10000
#define SROCE_GIDS		256
#define SROCE_CA_ACK_DELAY	15	/* 4.096 us * 2^15 = 134 ms */
#define SROCE_QPN_MIN		16
#define SROCE_VENDOR_ID		0xffffff	/* the project has no OUI */
#define SROCE_VENDOR_PART	0x5352
#define SROCE_HW_VERSION	1

/* Objects whose number is limited, see drv/lookup/user.c */
enum sroce_obj {
	SROCE_OBJ_PD,
	SROCE_OBJ_CQ,
	SROCE_OBJ_SRQ,
	SROCE_OBJ_QP,
	SROCE_OBJ_MR,	/* and windows */
	SROCE_OBJ_AH,
	SROCE_OBJ_GROUP,
	SROCE_OBJ_ODP,	/* regions on demand */
	SROCE_OBJS,
};

/* The speed of the line is not known, as of virtual netdevs. */
#define SROCE_LINE_UNKNOWN	U32_MAX

/**
 * struct sroce_gid - an entry of the device's GID table
 * @gid: the GID
 * @ifindex: index of the netdev that has this address; -1: in another namespace
 * @vlan: VLAN of that netdev; 0xffff for none
 * @rcu: frees the structure after a grace period
 */
struct sroce_gid {
	union ib_gid	gid;
	int		ifindex;
	u16		vlan;
	struct rcu_head	rcu;
};

/**
 * struct sroce_share - what the QPs of a user take of the host, or those of all kernel users of
 * a device
 * @held: bytes of received packets that they keep
 * @rnr_waits: number of QPs that wait for RNR
 */
struct sroce_share {
	atomic_long_t	held;
	atomic_t	rnr_waits;
};

/**
 * struct sroce_dev - an RDMA device on a netdev
 * @ibdev: the RDMA core's part of the device
 * @sn: the module's part of the device's network namespace
 * @ndev: the netdev, held; NULL after sroce_device_dealloc()
 * @ndev_tracker: tracks the reference to @ndev
 * @list: entry in the list of all devices
 * @net_list: entry in sroce_snet.devs
 * @counters: per CPU, for all QPs that are not bound to a counter set of @stats
 * @stats: counter sets that QPs are bound to, by id
 * @past: sums of the counter sets that were freed
 * @stat_lock: guards @past, and counter sets against being freed
 * @objects: number of objects, by enum sroce_obj, ...
 * @user_objects: ... and those of users without CAP_SYS_RESOURCE
 * @groups: multicast groups with attached QPs, hashed by GID, read under RCU
 * @group_seed: of the hash, so that nobody can choose groups of one bucket
 * @group_lock: guards changes of @groups; taken before RTNL
 * @gsi: QP 1, or NULL
 * @mrs: regions and windows by the index part of their key
 * @ahs: address handles by number
 * @next_mr: where the search for a free index in @mrs starts
 * @next_ah: where the search for a free index in @ahs starts
 * @srqs: number of the newest SRQ
 * @odps: number of ODP regions
 * @share: what QPs of kernel users take
 * @loopback: packets to peers on this host bypass the IP stack
 * @ack_with_answer: ACKs may wait for the answer of a process, with QPs that are created
 * @cc: congestion control is on for QPs that are created
 * @trains: consecutive packets leave as trains
 * @global_atomics: the device says that its atomics are atomic for the CPU, too
 * @ecn: packets of RC QPs with @cc are ECN-capable, ECT(0), on paths set from now on
 * @tx_limit: bytes that a transmit queue of a QP may have in this host's qdiscs and drivers,
 *	as set by the administrator; 0: by the netdev and its line
 * @line_limit: bytes that the line takes in a ms; SROCE_LINE_UNKNOWN
 * @gone: the netdev is being unregistered, or has left the namespace
 * @enabled: the RDMA core has enabled the device at least once
 * @port_state: port state that was reported last
 * @rescan: makes the RDMA core read the netdev's addresses again
 * @netdev_changed: reads the speed of the netdev's line, and joins groups, again
 * @gids: copy of the GID table, for the receive path, RCU
 */
struct sroce_dev {
	struct ib_device		ibdev;
	struct sroce_snet		*sn;
	struct net_device __rcu		*ndev;
	netdevice_tracker		ndev_tracker;
	struct list_head		list;
	struct list_head		net_list;
	struct sroce_counters __percpu	*counters;
	struct xarray			stats;
	struct sroce_counters		past;
	struct mutex			stat_lock;
	atomic_t			objects[SROCE_OBJS];
	atomic_t			user_objects[SROCE_OBJS];
	struct hlist_head		groups[SROCE_GROUP_BUCKETS];
	u32				group_seed;
	struct mutex			group_lock;
	struct sroce_kqp __rcu		*gsi;
	struct xarray			mrs;
	struct xarray			ahs;
	u32				next_mr;
	u32				next_ah;
	atomic_t			srqs;
	atomic_t			odps;
	struct sroce_share		share;
	bool				loopback;
	bool				ack_with_answer;
	bool				cc;
	bool				trains;
	bool				ecn;
	bool				global_atomics;
	u32				tx_limit;
	u32				line_limit;
	bool				gone;
	bool				enabled;
	enum ib_port_state		port_state;
	struct work_struct		rescan;
	struct work_struct		netdev_changed;
	struct sroce_gid __rcu		*gids[SROCE_GIDS];
};

static inline struct sroce_dev *to_sdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct sroce_dev, ibdev);
}

/* Number of objects alive in the module; a leak is reported at unload. */
extern atomic_t sroce_sdev_live;

static inline void sroce_live_inc(void)
{
	atomic_inc(&sroce_sdev_live);
}

static inline void sroce_live_dec(void)
{
	atomic_dec(&sroce_sdev_live);
}

enum ib_mtu sroce_sdev_mtu(int netdev_mtu);
enum ib_port_state sroce_sdev_port_state(const struct net_device *ndev);
struct net_device *sroce_sdev_netdev(struct sroce_dev *dev);
bool sroce_sdev_is_virtual(struct net_device *ndev);
bool sroce_sdev_read_speed(struct sroce_dev *dev, struct net_device *ndev);
void sroce_sdev_update_line_limit(struct sroce_dev *dev, struct net_device *ndev);
u32 sroce_sdev_tx_limit(struct sroce_dev *dev);

#endif /* SROCE_LOOKUP_SDEV_H */
