/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion queues. */
#ifndef SROCE_QUEUE_CQ_H
#define SROCE_QUEUE_CQ_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "drv/core/mem/ring.h"

struct ib_cq_init_attr;
struct ib_uverbs_wc;
struct sroce_ringmem;

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
int sroce_cq_resize(struct ib_cq *ibcq, int cqe, struct ib_udata *udata);
void sroce_cq_notify(struct sroce_cq *cq);
int sroce_cq_modify(struct ib_cq *ibcq, u16 count, u16 period);
void sroce_cq_attach_qp(struct sroce_cq *cq);
void sroce_cq_detach_qp(struct sroce_cq *cq);
void sroce_cq_overflow_event(struct sroce_cq *cq);
int sroce_cq_poll(struct ib_cq *ibcq, int num, struct ib_wc *wc);
int sroce_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif /* SROCE_QUEUE_CQ_H */
