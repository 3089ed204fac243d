/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The device and the objects that hang on it. */
#ifndef SROCE_DEV_H
#define SROCE_DEV_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "drv/compat/compat.h"
#include "drv/core/env.h"
#include "drv/core/qp.h"

#define SROCE_MAX_QP		0x100000
#define SROCE_MAX_QP_WR		0x8000
#define SROCE_MAX_CQ		0x100000
#define SROCE_MAX_CQE		0x400000
#define SROCE_MAX_SRQ		0x40000
#define SROCE_MAX_SRQ_WR	0x8000
#define SROCE_MAX_MR		0xffffff
#define SROCE_MAX_FAST_PAGES	4096
#define SROCE_MAX_GROUPS	8192
#define SROCE_MAX_GROUP_QPS	256
#define SROCE_MAX_AH		0x100000
#define SROCE_MAX_PD		0x100000
#define SROCE_GIDS		256
#define SROCE_CA_ACK_DELAY	15	/* 4.096 us * 2^15 = 134 ms */
#define SROCE_QPN_MIN		16
#define SROCE_VENDOR_ID		0xffffff	/* no OUI is ours */
#define SROCE_VENDOR_PART	0x5352
#define SROCE_HW_VERSION	1
/* Major (32 bits), minor and patch (16 bits each), as libibverbs prints it */
#define SROCE_FW_VERSION	((0ULL << 32) | (1 << 16) | 0)

/**
 * struct sroce_snet - what a network namespace holds for its links
 * @net: the namespace
 * @users: devices that point here; the namespace stays for them
 * @lock: guards @links and the life of the sockets
 * @links: devices in this namespace
 * @sk4: UDP socket on port 4791 for IPv4, while there are links
 * @sk6: the same for IPv6, NULL without IPv6
 * @devs: the devices, RCU
 */
struct sroce_snet {
	struct net		*net;
	atomic_t		users;
	struct mutex		lock;
	u32			links;
	struct socket		*sk4;
	struct socket		*sk6;
	struct list_head	devs;
};

/**
 * struct sroce_gid - a GID that the core has given the device
 * @gid: the GID
 * @rcu: frees it
 */
struct sroce_gid {
	union ib_gid	gid;
	struct rcu_head	rcu;
};

/**
 * struct sroce_dev - an RDMA device on a netdev
 * @ibdev: the core's view
 * @sn: the namespace it works in
 * @ndev: the netdev it stands on, referenced; NULL once that goes away
 * @ndev_tracker: of that reference
 * @list: all devices of the module
 * @net_list: devices of @sn
 * @counters: per CPU, of all that has no set of its own
 * @stats: sets of counters that QPs are bound to
 * @past: what sets that are gone have counted
 * @stat_lock: guards @past, and sets against being freed
 * @groups: multicast groups that QPs are in, RCU
 * @ngroups: how many
 * @group_lock: guards changes of @groups; RTNL nests in it
 * @gsi: QP 1, or NULL
 * @mrs: regions by the index part of their key
 * @ahs: address handles by number
 * @next_mr: where the search for a free index goes on
 * @next_ah: likewise
 * @srqs: number of the newest SRQ
 * @loopback: what stays on this host bypasses the IP stack
 * @gone: the netdev goes away, or leaves the namespace
 * @enabled: the core has known the device for once
 * @port_state: as last reported
 * @rescan: has the core look at the addresses again
 * @gids: mirror of the GID table, for the receive path
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
	struct list_head		groups;
	u32				ngroups;
	struct mutex			group_lock;
	struct sroce_kqp __rcu	*gsi;
	struct xarray			mrs;
	struct xarray			ahs;
	u32				next_mr;
	u32				next_ah;
	atomic_t			srqs;
	atomic_t			odps;
	bool				loopback;
	bool				gone;
	bool				enabled;
	enum ib_port_state		port_state;
	struct work_struct		rescan;
	struct sroce_gid __rcu		*gids[SROCE_GIDS];
};

/**
 * struct sroce_ringmem - memory of a ring, mapped by user space if it likes
 * @entry: mmap entry; unused for kernel rings
 * @buf: the memory
 * @size: bytes, whole pages
 * @user: @entry is in use
 */
struct sroce_ringmem {
	struct rdma_user_mmap_entry	entry;
	void				*buf;
	size_t				size;
	bool				user;
};

/* Most ranges of pages that are being brought for a QP */
#define SROCE_FAULT_REQS	8
/* Most pages that are known not to come */
#define SROCE_FAULT_ERRORS	4

/* What pages are brought for; or those that the process has, and no others */
enum sroce_fault { SROCE_FAULT_READ, SROCE_FAULT_WRITE, SROCE_FAULT_PRESENT };

/**
 * struct sroce_odp_stat - what has happened to the pages of a region on demand
 * @faults: brought since they were needed
 * @prefetched: brought before that
 * @gone: taken away
 */
struct sroce_odp_stat {
	u64	faults;
	u64	prefetched;
	u64	gone;
};

/**
 * struct sroce_fault_req - pages to be brought
 * @mr: the region, held
 * @iova: first byte
 * @need: bytes that are needed
 * @len: bytes that are of use, those included
 * @write: they are to be changed
 */
struct sroce_fault_req {
	struct sroce_mr	*mr;
	u64		iova;
	u32		need;
	u32		len;
	bool		write;
};

/**
 * struct sroce_fault_error - a page that could not be brought
 * @key: of its region
 * @iova: its first byte, or the first that was wanted
 * @write: it was to be changed
 * @fresh: nobody knows yet
 */
struct sroce_fault_error {
	u32		key;
	u64		iova;
	bool		write;
	bool		fresh;
};

/**
 * struct sroce_pager - brings pages for a QP
 * @qp: the QP, whose lock owns what follows
 * @work: does it
 * @n: entries of @want
 * @want: what is to be brought
 * @failed: what was tried in vain
 * @next_failed: entries of @failed that were ever used
 */
struct sroce_pager {
	struct sroce_qp		*qp;
	struct work_struct	work;
	u32			n;
	struct sroce_fault_req	want[SROCE_FAULT_REQS];
	struct sroce_fault_error	failed[SROCE_FAULT_ERRORS];
	u32			next_failed;
};

/*
 * What a QP asks and what it answers are two streams: neither waits for the other,
 * and no response ends a train of requests.
 */
enum sroce_txq_nr {
	SROCE_TXQ_RESPONSES,
	SROCE_TXQ_REQUESTS,
	SROCE_TXQS,
};

/**
 * struct sroce_txq - one stream of a QP, in order
 * @skbs: packets to send after unlock
 * @lbpkts: the same, for those that stay on this host
 * @sending: somebody is sending from these two
 */
struct sroce_txq {
	struct sk_buff_head	skbs;
	struct list_head	lbpkts;
	bool			sending;
};

/**
 * struct sroce_coalesce - doorbells of a user that follow each other
 * @timer: has what is held sent
 * @held: doorbells that wait for more
 * @held_since: when the first of them began to, in ns of local_clock()
 * @last_held: when one was held last, in jiffies
 * @last_batch: how many left together lately
 * @streak: quick ones in a row
 * @streak_min: so many of them are a stream
 * @n_doorbells: doorbells since the last look at the two that follow
 * @psn: the requester's at the last look
 * @ssn: its SSN
 * @msn: the responder's MSN at the last doorbell
 * @cq_seen: sroce_cq.seen of the send CQ, then
 * @was_alone: the last doorbell that sent at once found nothing held
 * @samples: such doorbells
 * @cost: ns that one takes, by samples; 0 before the first
 * @start_ns: when it rang, in ns of local_clock(); 0 if none is ever held
 * @last_ns: when the last doorbell was done with, held or not
 */
struct sroce_coalesce {
	struct hrtimer	timer;
	atomic_t	held;
	s64		held_since;
	unsigned long	last_held;
	int		last_batch;
	u32		streak;
	u32		streak_min;
	int		n_doorbells;
	u32		psn;
	u32		ssn;
	u32		msn;
	u32		cq_seen;
	bool		was_alone;
	u32		samples;
	s64		cost;
	s64		start_ns;
	s64		last_ns;
};

/**
 * struct sroce_kqp - the surroundings of a QP
 * @qp: the QP, valid while @ref is held
 * @ref: the QP itself, and each user that found it by number
 * @unused: completed when @ref drops to 0
 * @rcu: frees this after the last lookup
 * @ack_timer: acknowledge timer
 * @ack_when: when @ack_timer will fire, 0 if it won't
 * @rnr_timer: RNR timer; in the error state, the next look after receives
 * @err_poll_ns: ns until the next look after a QP in the error state
 * @task: goes on when a burst was cut short, starts kernel sends and tells kernel
 *	users what verbs of theirs have caused
 * @post_lock: serializes kernel senders
 * @posted: kernel QP: send work requests posted
 * @backlog: packets that came while somebody else had the QP
 * @db_pending: so did a doorbell
 * @db_cpu: one more than the CPU on which its last doorbell was seen to
 * @task_cpu: one more than the CPU on which @task goes on with a burst, or 0
 * @coalesce: doorbells of a user that follow each other
 * @txq: what is to be sent after unlock
 * @open_txq: where the packet under construction goes
 * @open: what the packet under construction is, or will be, a part of
 * @open_bth: where that packet starts
 * @open_len: its length, ICRC included; others of that length may follow it
 * @open_joins: it joins a train
 * @sq_mem: memory of the send ring
 * @rq_mem: memory of the receive ring
 * @pager: brings pages of regions on demand
 */
struct sroce_kqp {
	struct sroce_qp		*qp;
	refcount_t		ref;
	struct completion	unused;
	struct rcu_head		rcu;
	struct hrtimer		ack_timer;
	u64			ack_when;
	struct hrtimer		rnr_timer;
	u64			err_poll_ns;
	struct tasklet_struct	task;
	spinlock_t		post_lock;
	u32			posted;
	struct sk_buff_head	backlog;
	bool			db_pending;
	int			task_cpu;
	int			db_cpu;
	struct sroce_coalesce	coalesce;
	struct sroce_txq	txq[SROCE_TXQS];
	struct sroce_txq	*open_txq;
	struct sk_buff		*open;
	u8			*open_bth;
	u32			open_len;
	bool			open_joins;
	struct sroce_ringmem	*sq_mem;
	struct sroce_ringmem	*rq_mem;
	struct sroce_pager	pager;
};

struct sroce_ucontext {
	struct ib_ucontext	ibuc;
};

struct sroce_pd {
	struct ib_pd		ibpd;
};

/**
 * struct sroce_cq - a completion queue
 * @ibcq: the core's view
 * @lock: guards the producer, and a kernel consumer
 * @mem: memory of the ring
 * @ring: the ring; user CQs hold struct ib_uverbs_wc, kernel ones struct ib_wc
 * @cons_seen: consumer index when last looked at
 * @notify: armed: 0, IB_CQ_SOLICITED or IB_CQ_NEXT_COMP
 * @user: its consumer is user space
 * @overflowed: it overflowed
 * @qps: how many ends of QPs lead here
 * @mod_count: completions that are worth a call of the handler, 0 or 1 for any
 * @mod_usec: after as many us fewer are
 * @mod_held: completions that are to be told of
 * @mod_timer: when @mod_usec is over
 * @in_handler: the consumer's handler runs
 * @handler_again: and has to run again
 */
struct sroce_cq {
	struct ib_cq		ibcq;
	spinlock_t		lock;
	struct sroce_ringmem	*mem;
	struct sroce_ring	ring;
	u32			cons_seen;
	u8			notify;
	bool			user;
	bool			overflowed;
	u32			qps;
	u16			mod_count;
	u16			mod_usec;
	u32			mod_held;
	struct hrtimer		mod_timer;
	bool			in_handler;
	bool			handler_again;
};

struct sroce_srq {
	struct ib_srq		ibsrq;
	struct sroce_ringmem	*mem;
	struct sroce_rq		rq;
	u32			num;
	bool			user;
};

/**
 * struct sroce_ah - the address behind an address handle
 * @ref: the handle, and each work request that uses it
 * @pd: the handle's PD
 * @num: its number
 * @attr: as set, for query
 * @av: where packets go
 * @rcu: frees it
 */
struct sroce_ah {
	refcount_t		ref;
	struct ib_pd		*pd;
	u32			num;
	struct rdma_ah_attr	attr;
	struct sroce_av		av;
	struct rcu_head		rcu;
};

struct sroce_ibmw {
	struct ib_mw		ibmw;
	struct sroce_mr		*mw;
};

struct sroce_ibah {
	struct ib_ah		ibah;
	struct sroce_ah		*ah;
};

static inline struct sroce_dev *to_sdev(struct ib_device *ibdev)
{
	return container_of(ibdev, struct sroce_dev, ibdev);
}

static inline struct sroce_qp *to_sqp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct sroce_qp, ibqp);
}

static inline struct sroce_cq *to_scq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct sroce_cq, ibcq);
}

static inline struct sroce_srq *to_ssrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct sroce_srq, ibsrq);
}

static inline struct sroce_mr *to_smr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct sroce_mr, ibmr);
}

static inline struct sroce_ibmw *to_sibmw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct sroce_ibmw, ibmw);
}

static inline struct sroce_ibah *to_sibah(struct ib_ah *ibah)
{
	return container_of(ibah, struct sroce_ibah, ibah);
}

static inline struct ib_ucontext *sroce_uc(struct ib_udata *udata)
{
	struct sroce_ucontext *uc = rdma_udata_to_drv_context(udata,
					struct sroce_ucontext, ibuc);

	return uc ? &uc->ibuc : NULL;
}

/* Objects alive in the module, checked at unload */
extern atomic_t sroce_sdev_live;

static inline void sroce_live_inc(void)
{
	atomic_inc(&sroce_sdev_live);
}

static inline void sroce_live_dec(void)
{
	atomic_dec(&sroce_sdev_live);
}

/* device.c */
void sroce_device_dealloc(struct ib_device *ibdev);
int sroce_device_enable(struct ib_device *ibdev);
int sroce_device_add(const char *name, struct net_device *ndev);
int sroce_device_init(void);
void sroce_device_exit(void);
struct net_device *sroce_sdev_netdev(struct sroce_dev *dev);
enum ib_mtu sroce_sdev_mtu(int netdev_mtu);

/* gid.c */
int sroce_gid_tbl_add(const struct ib_gid_attr *attr, void **context);
int sroce_gid_tbl_del(const struct ib_gid_attr *attr, void **context);
bool sroce_gid_tbl_has(struct sroce_dev *dev, const union ib_gid *gid);
void sroce_gid_rescan(struct work_struct *work);
int sroce_gid_init(void);
void sroce_gid_exit(void);

/* verbs.c */
extern const struct ib_device_ops sroce_ops_device;
void sroce_ops_set(struct sroce_dev *dev);

/* netns.c */
int sroce_snet_init(void);
void sroce_snet_exit(void);
struct sroce_snet *sroce_snet_of(struct net *net);
void sroce_snet_get(struct sroce_dev *dev, struct net *net);
void sroce_snet_put(struct sroce_dev *dev);
int sroce_sockets_join(struct sroce_dev *dev);
void sroce_sockets_leave(struct sroce_dev *dev);
void sroce_snet_count(struct sroce_snet *sn, enum sroce_counter c);

/* stream.c */
bool sroce_coalesce_hold(struct sroce_qp *qp);
bool sroce_coalesce_active(const struct sroce_coalesce *st);
void sroce_coalesce_sent(struct sroce_qp *qp);
void sroce_task_send_held(struct sroce_qp *qp);
void sroce_coalesce_init(struct sroce_coalesce *st);
void sroce_coalesce_stop(struct sroce_coalesce *st);

/* inbox.c */
bool sroce_task_lock_or_backlog(struct sroce_kqp *kqp, struct sk_buff *skb,
			 u32 qpn, u32 n);
void sroce_backlog_add(struct sroce_kqp *kqp, struct sk_buff *skb, u32 qpn,
		     u32 n);
void sroce_backlog_drain(struct sroce_qp *qp);
void sroce_backlog_purge(struct sroce_kqp *kqp);

/* relay.c */
bool sroce_steer(struct sroce_snet *sn, struct sk_buff *skb);
void sroce_steer_note_tx(void);
void sroce_steer_note_doorbell(void);
void sroce_steer_flush(const struct sroce_snet *sn);
void sroce_steer_init(void);
void sroce_steer_exit(void);

/* input.c */
int sroce_udp_rcv(struct sock *sk, struct sk_buff *skb);
void sroce_udp_input(struct sroce_snet *sn, struct sk_buff *skb);
void sroce_udp_resume(struct sroce_qp *qp, struct sk_buff *skb, u32 qpn, u32 n);
void sroce_udp_deliver(struct sroce_qp *qp, const struct sroce_pkt *pkt, u32 len);

/* output.c */
static inline struct sroce_txq *sroce_txq(struct sroce_kqp *kqp,
					    bool response)
{
	return &kqp->txq[response ? SROCE_TXQ_RESPONSES : SROCE_TXQ_REQUESTS];
}

void sroce_tx_count(struct sroce_qp *qp, const struct sk_buff_head *list);
void sroce_tx_xmit(struct sroce_dev *dev, struct sk_buff_head *list);
bool sroce_tx_txq_can_append(struct sroce_txq *txq);

/* frame.c */
int sroce_raw_xmit(struct sroce_dev *dev, struct sk_buff *skb);

/* route.c */
struct dst_entry *sroce_route_get(struct sroce_dev *dev, struct sroce_av *av);
bool sroce_route_is_local(struct sroce_dev *dev, struct sroce_av *av);

/* parcel.c */
bool sroce_loopback_default(void);
int sroce_loopback_init(void);
void sroce_loopback_exit(void);
void sroce_task_deliver(struct sroce_dev *dev, struct list_head *list);
void sroce_loopback_purge(struct list_head *list);

/* burst.c */
void sroce_task_init(struct sroce_qp *qp, struct sroce_kqp *kqp);
void sroce_task_stop(struct sroce_kqp *kqp);
void sroce_task_lock(struct sroce_qp *qp);
void sroce_task_unlock(struct sroce_qp *qp);
bool sroce_task_trylock(struct sroce_qp *qp);
bool sroce_task_is_busy(const struct sroce_qp *qp);
bool sroce_task_lock_unless_busy(struct sroce_qp *qp);
bool sroce_task_lock_doorbell(struct sroce_qp *qp);
void sroce_task_unlock_run(struct sroce_qp *qp);
bool sroce_task_unlock_run_once(struct sroce_qp *qp);
void sroce_task_unlock_verb(struct sroce_qp *qp);
void sroce_qp_tbl_put(struct sroce_kqp *kqp);

/* ringmem.c */
struct sroce_ringmem *sroce_ringmem_create(struct ib_ucontext *uc,
				   struct sroce_ring *ring, u32 slots,
				   u32 elem);
void sroce_ringmem_destroy(struct sroce_ringmem *map);
void sroce_ringmem_describe(const struct sroce_ringmem *map,
			struct sroce_abi_mmap *mi);
int sroce_ringmem_mmap(struct ib_ucontext *uc, struct vm_area_struct *vma);
void sroce_ringmem_mmap_free(struct rdma_user_mmap_entry *entry);

/* qp.c */
extern struct xarray sroce_qp_tbl;
int sroce_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata);
int sroce_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int sroce_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);
int sroce_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata);

/* post.c */
int sroce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad);
int sroce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad);
int sroce_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad);

/* cq.c */
int sroce_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct ib_udata *udata);
#ifdef SROCE_HAVE_CREATE_CQ_ATTRS
int sroce_cq_create_attrs(struct ib_cq *ibcq,
			  const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs);
#endif
int sroce_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata);
int sroce_cq_resize(struct ib_cq *ibcq, int cqe, struct ib_udata *udata);
int sroce_cq_poll(struct ib_cq *ibcq, int num, struct ib_wc *wc);
int sroce_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
int sroce_cq_modify(struct ib_cq *ibcq, u16 count, u16 period);
void sroce_cq_attach_qp(struct sroce_cq *cq);
void sroce_cq_detach_qp(struct sroce_cq *cq);
void sroce_cq_notify(struct sroce_cq *cq);
void sroce_cq_overflow_event(struct sroce_cq *cq);
u32 sroce_cq_used(struct sroce_cq *cq);

/* srq.c */
struct sroce_ringmem *sroce_srq_create_rq(struct sroce_rq *rq, struct ib_ucontext *uc,
				  u32 *max_wr, u32 *max_sge);
int sroce_srq_create(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		     struct ib_udata *udata);
int sroce_srq_modify(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int sroce_srq_query(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int sroce_srq_destroy(struct ib_srq *ibsrq, struct ib_udata *udata);

/* mem.c */
struct sroce_mr *sroce_region_find(struct sroce_dev *dev, u32 key);
void sroce_mr_hold(struct sroce_mr *mr);
struct ib_mr *sroce_region_get_dma(struct ib_pd *ibpd, int access);
struct ib_mr *sroce_region_reg_user(struct ib_pd *ibpd, u64 start, u64 length,
				u64 iova, int access, struct ib_udata *udata);
struct ib_mr *sroce_region_rereg_user(struct ib_mr *ibmr, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *ibpd, struct ib_udata *udata);
struct ib_mr *sroce_region_alloc_fast(struct ib_pd *ibpd, enum ib_mr_type type,
			     u32 max_pages);
int sroce_region_map_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		    unsigned int *sg_offset);
int sroce_region_dereg(struct ib_mr *ibmr, struct ib_udata *udata);
struct sroce_mr *sroce_region_alloc(struct ib_pd *ibpd, enum sroce_mr_kind kind,
				int access);
void sroce_region_free(struct sroce_mr *mr);

int sroce_region_publish(struct sroce_mr *mr);
void sroce_region_unpublish(struct sroce_mr *mr);

/* odp.c */
struct sroce_odp *sroce_odp_new(struct sroce_dev *dev, u64 start, u64 length,
				u64 iova);
void sroce_odp_free(struct sroce_odp *odp);
struct mm_struct *sroce_odp_mm(const struct sroce_odp *odp, u64 iova,
				  u64 *va);
int sroce_odp_fault_in(struct sroce_odp *odp, u64 *iova, u32 len,
		    enum sroce_fault how, bool ahead);
void sroce_odp_stat(const struct sroce_odp *odp, struct sroce_odp_stat *stat);

/* pager.c */
int sroce_pager_wq_init(void);
void sroce_pager_wq_exit(void);
void sroce_pager_init(struct sroce_qp *qp);
void sroce_pager_stop(struct sroce_qp *qp);
void sroce_pager_forget(struct sroce_qp *qp);
int sroce_pager_advise(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sge, u32 n,
		    struct uverbs_attr_bundle *attrs);

/* dmabuf.c */
struct ib_mr *sroce_dmabuf_reg(struct ib_pd *ibpd, u64 offset,
				       u64 length, u64 iova, int fd, int access,
				       struct sroce_dmabuf_arg *unused);
void sroce_dmabuf_free(struct sroce_dmabuf *db);
int sroce_dmabuf_init(void);
void sroce_dmabuf_exit(void);

/* mw.c */
int sroce_mw_alloc(struct ib_mw *ibmw, struct ib_udata *udata);
int sroce_mw_dealloc(struct ib_mw *ibmw);
void sroce_mw_forget(const struct sroce_qp *qp);

/* ah.c */
int sroce_av_from_attr(struct sroce_dev *dev, struct sroce_av *av,
		       const struct rdma_ah_attr *attr, u32 entropy);
int sroce_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata);
int sroce_ah_modify(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int sroce_ah_query(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int sroce_ah_destroy(struct ib_ah *ibah, u32 flags);

/* stats.c */
u64 sroce_stats_total(struct sroce_dev *dev, enum sroce_counter c);
struct rdma_hw_stats *sroce_stats_alloc_port(struct ib_device *ibdev,
						u32 port);
int sroce_stats_get_port(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index);
int sroce_stats_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp);
int sroce_stats_unbind_qp(struct ib_qp *ibqp);
int sroce_stats_dealloc(struct rdma_counter *counter);
struct rdma_hw_stats *sroce_stats_alloc(struct rdma_counter *counter);
int sroce_stats_update(struct rdma_counter *counter);

/* pma.c */
int sroce_pma_process_mad(struct ib_device *ibdev, int flags, u32 port,
		      const struct ib_wc *wc, const struct ib_grh *grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey);

/* res.c */
int sroce_res_fill_qp(struct sk_buff *msg, struct ib_qp *ibqp);
int sroce_res_fill_cq(struct sk_buff *msg, struct ib_cq *ibcq);
int sroce_res_fill_mr(struct sk_buff *msg, struct ib_mr *ibmr);
int sroce_res_fill_mr_stat(struct sk_buff *msg, struct ib_mr *ibmr);

/* mcast.c */
bool sroce_gid_tbl_is_multicast(const union ib_gid *gid);
int sroce_mcast_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int sroce_mcast_detach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
void sroce_mcast_forget(struct sroce_qp *qp);
bool sroce_mcast_rcv(struct sroce_snet *sn, const struct sk_buff *skb,
		     const struct sroce_pkt *pkt, u32 len);

#endif /* SROCE_DEV_H */
