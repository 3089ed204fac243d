// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Shared receive queues, and what they have in common with the receive queues of QPs. */

#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "drv/core/env.h"
#include "drv/core/mem/wqe.h"
#include "drv/lookup/sdev.h"
#include "drv/queue/ringmem.h"
#include "drv/queue/srq.h"

/* Receives, of up to 1 KiB, that a resize moves at a time with interrupts disabled */
#define RESIZE_BATCH	32

static u32 elem_size(u32 max_sge)
{
	return roundup_pow_of_two(max_t(u32, SMP_CACHE_BYTES,
					sizeof(struct sroce_abi_recv_wqe) +
					max_sge * sizeof(struct sroce_abi_sge)));
}

/**
 * sroce_srq_create_rq() - initialize a receive queue, of an SRQ or a QP
 * @rq: the queue
 * @uc: user context, NULL for a kernel queue
 * @max_wr: in: work requests wanted; out: actual number, at least as many
 * @most: the device's limit of that
 * @max_sge: in: scatter/gather entries wanted per work request; out: actual number
 *
 * Return: memory of the ring, or an error pointer.
 */
struct sroce_ringmem *sroce_srq_create_rq(struct sroce_rq *rq, struct ib_ucontext *uc,
					  u32 *max_wr, u32 most, u32 *max_sge)
{
	u32 slots = roundup_pow_of_two(*max_wr + 1);
	u32 elem = elem_size(*max_sge);
	struct sroce_ringmem *mem;

	spin_lock_init(&rq->lock);
	mem = sroce_ringmem_create(uc, &rq->ring, slots, elem);
	if (IS_ERR(mem))
		return mem;
	/* a kernel user gets what he asked for, see drv/verbs/qp.c */
	if (uc)
		*max_wr = min(slots - 1, most);
	*max_sge = min_t(u32, SROCE_MAX_SGE,
			 (elem - sizeof(struct sroce_abi_recv_wqe)) /
			 sizeof(struct sroce_abi_sge));
	rq->max_wr = *max_wr;
	rq->max_sge = *max_sge;
	return mem;
}

static bool srq_take(struct sroce_qp *qp, struct sroce_rwqe *to)
{
	struct sroce_rq *rq = &qp->srq->rq;
	unsigned long flags;
	bool got;

	spin_lock_irqsave(&rq->lock, flags);
	got = sroce_wqe_fetch_recv(rq, to);
	/* also if it has found none: a limit that is set too late must not wait for a receive */
	if (rq->limit && sroce_ring_filled(&rq->ring) < rq->limit) {
		rq->limit = 0;
		qp->srq_events |= BIT(IB_EVENT_SRQ_LIMIT_REACHED);
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return got;
}

/**
 * sroce_srq_take_recv() - take the next receive work request, from the RQ or the SRQ
 * @qp: the QP, locked
 * @to: the work request is copied here
 *
 * Return: false if there is none.
 */
bool sroce_srq_take_recv(struct sroce_qp *qp, struct sroce_rwqe *to)
{
	if (qp->srq)
		return srq_take(qp, to);
	return sroce_wqe_fetch_recv(&qp->rq, to);
}

/**
 * sroce_srq_create() - create a shared receive queue
 * @ibsrq: the queue
 * @init: in: sizes wanted; out: actual sizes, at least as large
 * @udata: user space: mmap offset of the ring and SRQ number are returned there
 *
 * Return: 0; -EINVAL beyond a limit; -EOPNOTSUPP for other types: XRC, see
 * drv/README.md, and tag matching; -ENOMEM; -EFAULT.
 */
int sroce_srq_create(struct ib_srq *ibsrq, struct ib_srq_init_attr *init,
		     struct ib_udata *udata)
{
	struct sroce_abi_create_srq_resp resp = {};
	struct sroce_user *owner = sroce_pd_owner(ibsrq->pd);
	struct sroce_dev *dev = to_sdev(ibsrq->device);
	struct sroce_srq *srq = to_ssrq(ibsrq);
	int ret;

	if (init->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!init->attr.max_wr || init->attr.max_wr > SROCE_MAX_SRQ_WR ||
	    init->attr.max_sge > SROCE_MAX_SGE ||
	    (udata && udata->outlen < sizeof(resp)))
		return -EINVAL;

	srq->user = udata;
	mutex_init(&srq->resize_mutex);
	ret = sroce_user_add(dev, owner, SROCE_OBJ_SRQ);
	if (ret)
		return ret;
	srq->mem = sroce_srq_create_rq(&srq->rq, sroce_uc(udata),
				       &init->attr.max_wr, SROCE_MAX_SRQ_WR,
				       &init->attr.max_sge);
	if (IS_ERR(srq->mem)) {
		ret = PTR_ERR(srq->mem);
		goto err;
	}
	srq->num = atomic_inc_return(&dev->srqs);
	if (udata) {
		sroce_ringmem_describe(srq->mem, &resp.mi);
		resp.srq_num = srq->num;
		if (ib_copy_to_udata(udata, &resp, sizeof(resp))) {
			sroce_ringmem_destroy(srq->mem);
			ret = -EFAULT;
			goto err;
		}
	}
	sroce_live_inc();
	return 0;
err:
	sroce_user_del(dev, owner, SROCE_OBJ_SRQ);
	return ret;
}

/* Use the new ring. Return: 0, or -EINVAL if the limit is beyond it. The SRQ is locked. */
static int use_ring(struct sroce_srq *srq, const struct sroce_rq *new,
		    struct sroce_ringmem **mem, const u32 *limit)
{
	struct sroce_rq *rq = &srq->rq;

	if ((limit ? *limit : rq->limit) > new->max_wr)
		return -EINVAL;
	swap(srq->mem, *mem);
	rq->ring = new->ring;
	rq->max_wr = new->max_wr;
	if (limit)
		rq->limit = *limit;
	return 0;
}

/*
 * Move the posted work requests to a new ring, as the provider does not copy them. This is
 * done in batches, as interrupts are disabled. QPs may take receives between them. The
 * provider does not post, as it holds its lock. A kernel user could, so all are copied
 * at once then.
 *
 * @mem: in: memory of the new ring; out: what is to be freed
 */
static int move_recvs(struct sroce_srq *srq, struct sroce_rq *new,
		      struct sroce_ringmem **mem, const u32 *limit)
{
	u32 batch = srq->user ? RESIZE_BATCH : U32_MAX;
	struct sroce_rq *rq = &srq->rq;
	struct sroce_ring_move move;
	unsigned long flags;
	int ret;

	spin_lock_irqsave(&rq->lock, flags);
	sroce_ring_move_begin(&move, &rq->ring, &new->ring);
	while ((ret = sroce_ring_move(&move, batch)) > 0) {
		spin_unlock_irqrestore(&rq->lock, flags);
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		spin_lock_irqsave(&rq->lock, flags);
	}
	if (!ret)
		ret = use_ring(srq, new, mem, limit);
	spin_unlock_irqrestore(&rq->lock, flags);
	return ret;
}

/* Tell the provider where the new ring is. */
static int tell_ring(const struct sroce_ringmem *mem, struct ib_udata *udata)
{
	struct sroce_abi_modify_srq cmd = {};
	struct sroce_abi_mmap mi;

	if (udata->inlen < sizeof(cmd))
		return -EINVAL;
	if (ib_copy_from_udata(&cmd, udata, sizeof(cmd)))
		return -EFAULT;
	sroce_ringmem_describe(mem, &mi);
	return copy_to_user(u64_to_user_ptr(cmd.mmap_info_addr), &mi, sizeof(mi)) ?
	       -EFAULT : 0;
}

/* Change the size. Set the limit to *@limit, unless that is NULL. */
static int srq_resize(struct sroce_srq *srq, u32 max_wr, const u32 *limit,
		      struct ib_udata *udata)
{
	u32 max_sge = srq->rq.max_sge;
	struct sroce_ringmem *mem;
	struct sroce_rq new = {};
	int ret = 0;

	if (!max_wr || max_wr > SROCE_MAX_SRQ_WR)
		return -EINVAL;
	mem = sroce_srq_create_rq(&new, sroce_uc(udata), &max_wr, SROCE_MAX_SRQ_WR,
				  &max_sge);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	if (udata)
		ret = tell_ring(mem, udata);
	if (!ret)
		ret = mutex_lock_killable(&srq->resize_mutex);
	if (!ret) {
		ret = move_recvs(srq, &new, &mem, limit);
		mutex_unlock(&srq->resize_mutex);
	}
	sroce_ringmem_destroy(mem);
	return ret;
}

/**
 * sroce_srq_modify() - change size or limit of a shared receive queue
 * @ibsrq: the queue
 * @attr: new values
 * @mask: IB_SRQ_MAX_WR, IB_SRQ_LIMIT: the values to change
 * @udata: user space: address where a resize returns the mmap offset of the new ring
 *
 * Return: 0; -EINVAL beyond a limit or if the posted work requests don't fit; -ENOMEM;
 * -EFAULT; -EINTR after a fatal signal; -EBUSY if the process goes on to post without the
 * provider's lock. After an error the queue is unchanged.
 */
int sroce_srq_modify(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct sroce_srq *srq = to_ssrq(ibsrq);
	unsigned long flags;
	int ret = 0;

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return -EINVAL;
	if (mask & IB_SRQ_MAX_WR)
		return srq_resize(srq, attr->max_wr, mask & IB_SRQ_LIMIT ?
				  &attr->srq_limit : NULL, udata);
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	spin_lock_irqsave(&srq->rq.lock, flags);
	if (attr->srq_limit > srq->rq.max_wr)
		ret = -EINVAL;
	else
		srq->rq.limit = attr->srq_limit;
	spin_unlock_irqrestore(&srq->rq.lock, flags);
	return ret;
}

/**
 * sroce_srq_query() - get size and limit of a shared receive queue
 * @ibsrq: the queue
 * @attr: filled in
 *
 * Return: 0
 */
int sroce_srq_query(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct sroce_srq *srq = to_ssrq(ibsrq);

	attr->max_wr = srq->rq.max_wr;
	attr->max_sge = srq->rq.max_sge;
	attr->srq_limit = srq->rq.limit;
	return 0;
}

/**
 * sroce_srq_destroy() - destroy a shared receive queue
 * @ibsrq: the queue, no longer used by any QP
 * @udata: unused
 *
 * Return: 0
 */
int sroce_srq_destroy(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	sroce_ringmem_destroy(to_ssrq(ibsrq)->mem);
	sroce_user_del(to_sdev(ibsrq->device), sroce_pd_owner(ibsrq->pd), SROCE_OBJ_SRQ);
	sroce_live_dec();
	return 0;
}
