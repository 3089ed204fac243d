/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared receive queues. */
#ifndef SROCE_QUEUE_SRQ_H
#define SROCE_QUEUE_SRQ_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include "drv/core/mem/wr.h"

struct ib_srq_attr;
struct ib_srq_init_attr;
struct ib_ucontext;
struct sroce_ringmem;

/**
 * struct sroce_srq - a shared receive queue
 * @ibsrq: the RDMA core's part
 * @mem: memory of the ring
 * @rq: the receive queue
 * @num: SRQ number, unique on the device
 * @user: work requests are posted by user space
 * @resize_mutex: serializes changes of the size
 */
struct sroce_srq {
	struct ib_srq		ibsrq;
	struct sroce_ringmem	*mem;
	struct sroce_rq		rq;
	u32			num;
	bool			user;
	struct mutex		resize_mutex;
};

static inline struct sroce_srq *to_ssrq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct sroce_srq, ibsrq);
}

struct sroce_ringmem *sroce_srq_create_rq(struct sroce_rq *rq, struct ib_ucontext *uc,
					  u32 *max_wr, u32 most, u32 *max_sge);
int sroce_srq_create(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		     struct ib_udata *udata);
int sroce_srq_modify(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int sroce_srq_query(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int sroce_srq_destroy(struct ib_srq *ibsrq, struct ib_udata *udata);

#endif /* SROCE_QUEUE_SRQ_H */
