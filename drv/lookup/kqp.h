/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The kernel's part of a QP: what each floor above the protocol core keeps for it. */
#ifndef SROCE_LOOKUP_KQP_H
#define SROCE_LOOKUP_KQP_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include "drv/core/qp.h"

struct sroce_ringmem;

/*
 * A QP's requests and its responses are two queues: neither waits for the other, and no
 * response ends a train of requests.
 */
enum sroce_txq_nr {
	SROCE_TXQ_RESPONSES,
	SROCE_TXQ_REQUESTS,
	SROCE_TXQS,
};

/**
 * struct sroce_txq - one transmit queue of a QP, in order
 * @skbs: packets to send after unlock
 * @lbpkts: the same, for those that stay on this host
 * @sending: a CPU is sending from these two; others leave what they queue to it
 */
struct sroce_txq {
	struct sk_buff_head	skbs;
	struct list_head	lbpkts;
	bool			sending;
};

/**
 * struct sroce_coalesce - doorbells of a user that follow each other, see drv/task/coalesce.c
 * @timer: sends what is held
 * @held: doorbells that are held
 * @held_since: when the first of them rang, in ns of local_clock()
 * @last_held: when one was held last, in jiffies
 * @last_batch: how many left together lately
 * @streak: doorbells in a row that followed each other quickly
 * @streak_min: so many of them make a stream
 * @n_doorbells: doorbells since @psn and @ssn were looked at
 * @psn: the requester's PSN at the last look
 * @ssn: its SSN
 * @msn: the responder's MSN at the last doorbell
 * @cq_seen: sroce_cq.cons_seen of the send CQ at the last doorbell
 * @was_alone: the last doorbell that sent at once found nothing held
 * @samples: such doorbells
 * @cost: ns that one takes, by samples; 0 before the first
 * @start_ns: when it rang, in ns of local_clock(); 0 if doorbells are never held
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
 * struct sroce_task - who works for a QP, on which CPU, and when: see drv/task/task.h
 * @tasklet: goes on when a trip was cut short, starts the sends of a kernel user, and
 *	tells it what its verbs have caused
 * @cpu: one more than the CPU on which @tasklet is to go on, or 0
 * @db_pending: a doorbell found the QP locked: its owner takes in what was posted
 * @db_cpu: one more than the CPU on which the last doorbell was taken in
 * @backlog: packets that found the QP locked
 * @backlog_rcv: takes one of them in
 * @coalesce: doorbells that are held
 * @ack_timer: ACK timer
 * @ack_when: when @ack_timer will fire, 0 if it won't
 * @rnr_timer: RNR timer; in the error state, the next look for receives
 * @err_poll_ns: ns until the next look for receives in the error state
 */
struct sroce_task {
	struct tasklet_struct	tasklet;
	int			cpu;
	bool			db_pending;
	int			db_cpu;
	struct sk_buff_head	backlog;
	void			(*backlog_rcv)(struct sroce_qp *qp, struct sk_buff *skb,
					       u32 qpn, u32 n);
	struct sroce_coalesce	coalesce;
	struct hrtimer		ack_timer;
	u64			ack_when;
	struct hrtimer		rnr_timer;
	u64			err_poll_ns;
};

/* Most ranges of pages that are faulted in for a QP at a time */
#define SROCE_FAULT_REQS	8
/* Most pages of which it is known that they can't be faulted in */
#define SROCE_FAULT_ERRORS	4

/**
 * struct sroce_fault_req - pages to be faulted in
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
 * struct sroce_fault_error - a page that could not be faulted in
 * @key: of its region
 * @iova: its first byte, or the first that was wanted
 * @write: it was to be changed
 * @fresh: the QP has not been told yet
 */
struct sroce_fault_error {
	u32		key;
	u64		iova;
	bool		write;
	bool		fresh;
};

/**
 * struct sroce_pager - faults pages in for a QP, see drv/verbs/pager.c
 * @qp: the QP, whose lock guards what follows
 * @work: does it
 * @n: entries of @req
 * @req: what is to be faulted in
 * @error: what could not be
 * @next_error: entries of @error that were ever used
 */
struct sroce_pager {
	struct sroce_qp			*qp;
	struct work_struct		work;
	u32				n;
	struct sroce_fault_req		req[SROCE_FAULT_REQS];
	struct sroce_fault_error	error[SROCE_FAULT_ERRORS];
	u32				next_error;
};

/**
 * struct sroce_kqp - the kernel's part of a QP
 * @qp: the QP, valid while @ref is held
 * @ref: the QP itself, and each user that found it by number
 * @unused: completed when @ref drops to 0
 * @rcu: frees this after the last lookup
 * @post_lock: serializes kernel senders
 * @posted: kernel QP: send work requests posted
 * @task: who works for the QP, on which CPU, and when
 * @txq: what is to be sent after unlock
 * @open_txq: where the packet under construction goes
 * @open: what the packet under construction is, or will be, a part of
 * @open_bth: where that packet starts
 * @open_len: its length, ICRC included; others of that length may follow it
 * @open_joins: it joins a train
 * @sq_mem: memory of the send ring
 * @rq_mem: memory of the receive ring
 * @pager: faults pages of regions on demand in
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
	struct sroce_txq	*open_txq;
	struct sk_buff		*open;
	u8			*open_bth;
	u32			open_len;
	bool			open_joins;
	struct sroce_ringmem	*sq_mem;
	struct sroce_ringmem	*rq_mem;
	struct sroce_pager	pager;
};

static inline struct sroce_txq *sroce_kqp_txq(struct sroce_kqp *kqp, bool response)
{
	return &kqp->txq[response ? SROCE_TXQ_RESPONSES : SROCE_TXQ_REQUESTS];
}

/*
 * Whether a QP, which need not be locked, has so much under way that its owner keeps it
 * for long. If not, it is better waited for: the owner may well send an ACK before it
 * looks for what was left to it.
 */
static inline bool sroce_kqp_is_busy(const struct sroce_kqp *kqp)
{
	const struct sroce_qp *qp = kqp->qp;

	return qp->svc == SROCE_SVC_RC &&
	       sroce_psn_diff(READ_ONCE(qp->req.max_psn), READ_ONCE(qp->req.una)) >
	       (s32)SROCE_RETRANS_BATCH_MIN;
}

#endif /* SROCE_LOOKUP_KQP_H */
