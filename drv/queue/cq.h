/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion queues. What the protocol calls is declared in drv/core/env.h. */
#ifndef SROCE_QUEUE_CQ_H
#define SROCE_QUEUE_CQ_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "drv/compat/compat.h"
#include "drv/core/mem/ring.h"

struct ib_cq_init_attr;
struct ib_uverbs_wc;
struct sroce_ringmem;

/**
 * struct sroce_cq - a completion queue
 * @ibcq: the RDMA core's part
 * @lock: guards the members below, and the ring against other producers and other kernel
 *	consumers
 * @mem: memory of the ring; NULL once the queue is destroyed
 * @ring: the ring: struct ib_uverbs_wc in user CQs, struct ib_wc in kernel CQs
 * @cons_seen: consumer index when it was read last
 * @notify: armed: 0 (not), IB_CQ_SOLICITED or IB_CQ_NEXT_COMP
 * @user: the consumer is in user space
 * @owner: user that it is counted for, NULL for a kernel user
 * @overflowed: the queue has overflowed and takes no more completions
 * @qps: number of send and receive queues that complete here
 * @mod_count: moderation: completions that cause a call of the handler; below 2: each
 * @mod_usec: moderation: us after which fewer completions cause a call; 0: no moderation
 * @mod_held: completions whose notification is delayed by moderation
 * @mod_timer: fires @mod_usec after the first of them
 * @in_handler: kernel CQ: the handler is running
 * @handler_again: kernel CQ: the handler must be called again after it returns
 * @resize_mutex: serializes changes of the size
 */
struct sroce_cq {
	struct ib_cq		ibcq;
	spinlock_t		lock;
	struct sroce_ringmem	*mem;
	struct sroce_ring	ring;
	u32			cons_seen;
	u8			notify;
	bool			user;
	struct sroce_user	*owner;
	bool			overflowed;
	u32			qps;
	u16			mod_count;
	u16			mod_usec;
	u32			mod_held;
	struct hrtimer		mod_timer;
	bool			in_handler;
	bool			handler_again;
	struct mutex		resize_mutex;
};

static inline struct sroce_cq *to_scq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct sroce_cq, ibcq);
}

int sroce_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct ib_udata *udata);
#ifdef SROCE_HAVE_CREATE_CQ_ATTRS
int sroce_cq_create_attrs(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs);
#endif
int sroce_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata);
u32 sroce_cq_used(struct sroce_cq *cq);
int sroce_cq_resize(struct ib_cq *ibcq, sroce_cqe_arg cqe, struct ib_udata *udata);
void sroce_cq_notify(struct sroce_cq *cq);
int sroce_cq_modify(struct ib_cq *ibcq, u16 count, u16 period);
void sroce_cq_attach_qp(struct sroce_cq *cq);
void sroce_cq_detach_qp(struct sroce_cq *cq, const struct ib_qp *ibqp);
void sroce_cq_overflow_event(struct sroce_cq *cq);
int sroce_cq_poll(struct ib_cq *ibcq, int num, struct ib_wc *wc);
int sroce_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif /* SROCE_QUEUE_CQ_H */
