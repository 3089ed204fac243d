/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The kernel's part of a QP: the state that the layers above the protocol core keep. */
#ifndef SROCE_LOOKUP_KQP_H
#define SROCE_LOOKUP_KQP_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include "drv/core/qp.h"

struct sock;
struct sroce_kqp;
struct sroce_pager;
struct sroce_ringmem;

/*
 * Requests and responses of a QP have separate transmit queues: neither waits for the
 * other, and a response does not end a train of requests.
 */
enum sroce_txq_nr {
	SROCE_TXQ_RESPONSES,
	SROCE_TXQ_REQUESTS,
	SROCE_TXQS,
};

/**
 * struct sroce_txq - a transmit queue of a QP, see drv/net/txq.c
 * @skbs: packets for the IP stack, in order; sent after unlock
 * @lbpkts: loopback packets, in order; delivered after unlock
 * @n_lbpkts: number of @lbpkts
 * @lb_bytes: bytes of payload of @lbpkts
 * @lb_stopped: @lbpkts are as many as there may be; whoever takes them makes a trip more
 * @sending: a CPU is sending from both lists; it also sends what other CPUs queue
 * @dropped: the IP stack has dropped packets, or reported congestion; the next trip tells
 *	the transport
 * @cpu: the CPU that has given packets to the IP stack last
 * @given_at: when it has, in jiffies
 * @order_wait: packets wait for those that @cpu has given, which is counted
 * @backlog_noted: @backlog_tail is valid
 * @backlog_tail: how many packets the backlog of @cpu had taken in, modulo 2^32, when nothing
 *	of what that has given was charged to @sk any more
 * @queued: bytes of @skbs, as skb->truesize counts them
 * @restart_at: bytes charged to @sk at which a stopped queue goes on
 * @kqp: the QP
 * @sk: what the IP stack holds is charged to it; NULL if the QP never sends from here.
 *	Its sk_user_data is this structure while the queue is stopped, else NULL
 * @def_write_space: sk_write_space of a socket that nobody waits for
 */
struct sroce_txq {
	struct sk_buff_head	skbs;
	struct list_head	lbpkts;
	u32			n_lbpkts;
	u32			lb_bytes;
	bool			lb_stopped;
	bool			sending;
	bool			dropped;
	int			cpu;
	unsigned long		given_at;
	bool			order_wait;
	bool			backlog_noted;
	u32			backlog_tail;
	u32			queued;
	u32			restart_at;
	struct sroce_kqp	*kqp;
	struct sock		*sk;
	void			(*def_write_space)(struct sock *sk);
};

/**
 * struct sroce_txq_limit - how much of a QP may be on its way through this host
 * @bytes: sroce_sdev_tx_limit() that @packets was computed of
 * @mtu: path MTU that @packets was computed of, in bytes
 * @packets: packets of the path MTU in each transmit queue
 */
struct sroce_txq_limit {
	u32	bytes;
	u32	mtu;
	u32	packets;
};

/**
 * struct sroce_coalesce - doorbell coalescing of a user QP, see drv/task/coalesce.c
 * @timer: sends the work requests of held doorbells
 * @held: number of doorbells held
 * @held_since: time of the first held doorbell, in ns of local_clock()
 * @last_held: time of the last held doorbell, in jiffies
 * @last_batch: recent number of held doorbells that were sent together
 * @streak: number of quick doorbells in a row
 * @streak_min: doorbells are held once @streak reaches this number
 * @n_doorbells: doorbells since @psn and @ssn were sampled
 * @psn: last sample of the requester's PSN
 * @ssn: last sample of the requester's SSN
 * @msn: the responder's MSN at the last doorbell
 * @cq_seen: sroce_cq.cons_seen of the send CQ at the last doorbell
 * @was_alone: no doorbell was held when the last one was sent at once
 * @samples: counts doorbells with @was_alone, of which only some are timed
 * @cost: mean ns that sending one doorbell takes; 0 before the first measurement
 * @start_ns: time of the last doorbell sent at once, in ns of local_clock(); 0 if
 *	doorbells of this QP can't be held
 * @last_ns: time when the last doorbell, held or not, returned
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
 * struct sroce_task - scheduling of the work for a QP, see drv/task/task.h
 * @tasklet: continues a trip that was cut short; for kernel users it also sends what was
 *	posted and reports completions and events of verbs
 * @cpu: 1 + the CPU on which @tasklet is to continue, or 0
 * @db_pending: a doorbell found the QP locked; the owner reads the send ring
 * @db_cpu: 1 + the CPU that read the send ring for the last doorbell, or 0
 * @post_cpu: 1 + the CPU on which the consumer has posted last, or 0
 * @backlog: packets that found the QP locked
 * @backlog_rcv: receives a packet of @backlog
 * @wake: has the tasklet make a trip, as a transmit queue has room again
 * @coalesce: doorbell coalescing
 * @ack_timer: ACK timer
 * @ack_latest: latest time at which @ack_timer fires, in ns of sroce_now(); 0 if it is not
 *	set
 * @rnr_timer: RNR timer
 * @rnr_counted: the QP counts in sroce_share.rnr_waits, until @rnr_timer has fired
 * @flush: flushes receives that were posted in the error state; returns their number
 * @events: BIT(enum ib_event_type) that a kernel user is to be told of by @event_work
 * @event_work: calls a kernel user's event handler
 */
struct sroce_task {
	struct tasklet_struct	tasklet;
	int			cpu;
	bool			db_pending;
	int			db_cpu;
	int			post_cpu;
	struct sk_buff_head	backlog;
	void			(*backlog_rcv)(struct sroce_qp *qp, struct sk_buff *skb,
					       u32 qpn, u32 n);
	void			(*wake)(struct sroce_kqp *kqp);
	struct sroce_coalesce	coalesce;
	struct hrtimer		ack_timer;
	u64			ack_latest;
	struct hrtimer		rnr_timer;
	bool			rnr_counted;
	u32			(*flush)(struct sroce_kqp *kqp);
	atomic_t		events;
	struct work_struct	event_work;
};

/**
 * struct sroce_flusher - visits QPs of a user in the error state, see drv/task/flusher.c
 * @lock: guards the members below; inside sroce_qp.lock
 * @qps: the QPs, the next to be visited first; sroce_kqp.err_list
 * @n: number of @qps
 * @delay: ns from the last round of visits to the next
 * @timer: queues @work
 * @work: makes a round of visits
 */
struct sroce_flusher {
	spinlock_t		lock;
	struct list_head	qps;
	u32			n;
	u64			delay;
	struct hrtimer		timer;
	struct work_struct	work;
};

/**
 * struct sroce_kqp - the kernel's part of a QP
 * @qp: the QP, valid while @ref is held
 * @ref: one reference for the QP itself, one for each user that found it by number
 * @unused: completed when @ref drops to 0
 * @rcu: frees the structure after a grace period
 * @post_lock: serializes kernel users that post send work requests
 * @posted: kernel QP: number of send work requests posted
 * @task: scheduling of the work for the QP
 * @txq: transmit queues, sent after unlock
 * @limit: limit of each of @txq
 * @tx_cpu: 1 + the CPU whose queue of a netdev the packets take, as skb->sender_cpu; 0
 *	before the first packet
 * @open_txq: transmit queue of the open packets, those under construction
 * @open: skb of the open packets: a new one, or the train that they are appended to
 * @open_bth: BTH of the first open packet
 * @open_len: bytes of each open packet from BTH on, ICRC included
 * @open_joins: the open packets are appended to the train @open
 * @flusher: flusher of its user; NULL for a kernel user
 * @err_list: entry in sroce_flusher.qps; changed with the QP locked
 * @groups: multicast groups that the QP is in; guarded by sroce_dev.group_lock
 * @sq_mem: memory of the send ring
 * @rq_mem: memory of the receive ring
 * @pager: faults in pages of ODP regions, see drv/verbs/pager.c
 * @share: share of its user
 * @held: bytes of received packets that the QP keeps
 * @charged: bytes that are charged to @share for them
 */
struct sroce_kqp {
	struct sroce_qp		*qp;
	refcount_t		ref;
	struct completion	unused;
	struct rcu_head		rcu;
	spinlock_t		post_lock;
	u32			posted;
	struct sroce_task	task;
	struct sroce_txq	txq[SROCE_TXQS];
	struct sroce_txq_limit	limit;
	int			tx_cpu;
	struct sroce_txq	*open_txq;
	struct sk_buff		*open;
	u8			*open_bth;
	u32			open_len;
	bool			open_joins;
	struct sroce_flusher	*flusher;
	struct list_head	err_list;
	u32			groups;
	struct sroce_ringmem	*sq_mem;
	struct sroce_ringmem	*rq_mem;
	struct sroce_pager	*pager;
	struct sroce_share	*share;
	long			held;
	long			charged;
};

static inline struct sroce_txq *sroce_kqp_txq(struct sroce_kqp *kqp, bool response)
{
	return &kqp->txq[response ? SROCE_TXQ_RESPONSES : SROCE_TXQ_REQUESTS];
}

/*
 * Whether so many packets of a QP are in flight that its owner is likely to hold the lock
 * for long. The QP need not be locked. If it is not busy, spinning for the lock is better
 * than the backlog: the owner may send an ACK before it looks at the backlog.
 */
static inline bool sroce_kqp_is_busy(const struct sroce_kqp *kqp)
{
	const struct sroce_qp *qp = kqp->qp;

	return qp->svc == SROCE_SVC_RC &&
	       sroce_psn_diff(READ_ONCE(qp->req.max_psn), READ_ONCE(qp->req.una)) >
	       (s32)SROCE_RETRANS_BATCH_MIN;
}

#endif /* SROCE_LOOKUP_KQP_H */
