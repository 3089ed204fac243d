// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Posting of work requests: the doorbell of a user, whose provider has filled the send ring
 * in shared memory, and the work request lists of kernel users.
 */

#include "drv/core/mem/wqe.h"
#include "drv/core/qp.h"
#include "drv/lookup/kqp.h"
#include "drv/queue/srq.h"
#include "drv/task/coalesce.h"
#include "drv/task/steer.h"
#include "drv/task/task.h"
#include "drv/verbs/ah.h"
#include "drv/verbs/post.h"

/* Most trips for a doorbell: a process may fill its ring as fast as it is emptied. */
#define DOORBELL_TRIPS	4096

/*
 * Execute what a user has put into its ring, in the context of the caller. Bottom halves
 * run between two trips, so that a peer on the same host keeps up. After too many trips
 * the tasklet goes on, because the system call keeps the device from being removed.
 */
static int user_doorbell(struct sroce_qp *qp)
{
	int left = DOORBELL_TRIPS;
	bool more;

	sroce_steer_note_doorbell();
	if (sroce_coalesce_hold(qp))
		return 0;
	do {
		if (!sroce_task_lock_doorbell(qp))
			return 0;
		if (qp->state < IB_QPS_RTS) {
			sroce_task_unlock_run(qp);
			return -EINVAL;
		}
		more = sroce_task_unlock_run_once(qp);
		if (more && (!--left || fatal_signal_pending(current))) {
			tasklet_schedule(&qp->kqp->task.tasklet);
			break;
		}
		cond_resched();
	} while (more);
	sroce_coalesce_sent(qp);
	return 0;
}

static void kernel_sges(struct sroce_wqe *wqe, const struct ib_send_wr *wr)
{
	int i;

	wqe->num_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++)
		wqe->sge[i] = wr->sg_list[i];
}

/* Copy inline data; its addresses are kernel addresses, not those of a region. */
static int kernel_inline(struct sroce_qp *qp, struct sroce_wqe *wqe,
			 const struct ib_send_wr *wr)
{
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > qp->sq.max_inline - wqe->length)
			return -EINVAL;
		memcpy(wqe->data + wqe->length, (void *)(uintptr_t)sge->addr,
		       sge->length);
		wqe->length += sge->length;
	}
	return 0;
}

static int kernel_address(struct sroce_qp *qp, struct sroce_wqe *wqe,
			  const struct ib_send_wr *wr)
{
	if (qp->svc == SROCE_SVC_UD) {
		const struct ib_ud_wr *ud = ud_wr(wr);

		wqe->remote_qpn = ud->remote_qpn & SROCE_QPN_MASK;
		wqe->remote_qkey = ud->remote_qkey;
		if (qp->type == IB_QPT_GSI)
			wqe->remote_qkey = SROCE_DEFAULT_QKEY_GSI;
		if (!ud->ah)
			return -EINVAL;
		wqe->ah = to_sibah(ud->ah)->ah;
		refcount_inc(&wqe->ah->ref);
	} else if (wqe->msg == SROCE_MSG_REG_MR) {
		const struct ib_reg_wr *reg = reg_wr(wr);

		wqe->bind.addr = reg->mr->iova;
		wqe->bind.length = reg->mr->length;
		wqe->bind.new_key = reg->key;
		wqe->bind.access = reg->access;
	} else if (sroce_wqe_fetches(wqe)) {
		const struct ib_atomic_wr *at = atomic_wr(wr);

		wqe->remote_addr = at->remote_addr;
		wqe->compare_add = at->compare_add;
		wqe->swap = at->swap;
		wqe->rkey = at->rkey;
	} else if (wqe->msg != SROCE_MSG_SEND && wqe->msg != SROCE_MSG_SEND_IMM &&
		   wqe->msg != SROCE_MSG_SEND_INV &&
		   wqe->msg != SROCE_MSG_LOCAL_INV) {
		wqe->remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
	}
	return 0;
}

static bool is_masked(const struct ib_send_wr *wr)
{
	return wr->opcode == IB_WR_MASKED_ATOMIC_CMP_AND_SWP ||
	       wr->opcode == IB_WR_MASKED_ATOMIC_FETCH_AND_ADD;
}

/*
 * Masked atomics are not in the IBTA specification, and the packets of ConnectX are
 * proprietary. So the device does not advertise them. But RDS posts only masked atomics,
 * mostly with masks that make them plain ones. Those are executed as such.
 */
static int masked_msg(const struct sroce_qp *qp, const struct ib_send_wr *wr)
{
	const struct ib_atomic_wr *at = atomic_wr(wr);

	if (wr->opcode == IB_WR_MASKED_ATOMIC_FETCH_AND_ADD)
		return at->compare_add_mask & S64_MAX ? -EINVAL :
		       sroce_wqe_msg_of_wr(qp->svc, IB_WR_ATOMIC_FETCH_AND_ADD);
	return ~(at->compare_add_mask & at->swap_mask) ? -EINVAL :
	       sroce_wqe_msg_of_wr(qp->svc, IB_WR_ATOMIC_CMP_AND_SWP);
}

/*
 * The message of a kernel user's work request, or -EINVAL. Kernel users can't bind memory
 * windows. Nor can they post a FLUSH: struct ib_send_wr has no field for its type.
 */
static int kernel_msg(const struct sroce_qp *qp, const struct ib_send_wr *wr)
{
	if (wr->opcode == IB_WR_BIND_MW || wr->opcode == SROCE_WR_FLUSH)
		return -EINVAL;
	if (is_masked(wr))
		return masked_msg(qp, wr);
	if (wr->opcode == IB_WR_RDMA_READ_WITH_INV)
		return sroce_wqe_msg_of_wr(qp->svc, IB_WR_RDMA_READ);
	if (wr->opcode == IB_WR_REG_MR)
		return qp->svc == SROCE_SVC_UD ? -EINVAL : SROCE_MSG_REG_MR;
	return sroce_wqe_msg_of_wr(qp->svc, wr->opcode);
}

/*
 * iWARP defines READ with invalidate, and that it ends the key of the memory that is read
 * into. Its drivers take that from the scatter list, and so some consumers give it only
 * there, others give it as ex.invalidate_rkey, and rdma_rw does both.
 */
static u32 invalidated_key(const struct ib_send_wr *wr)
{
	if (wr->opcode == IB_WR_RDMA_READ_WITH_INV && !wr->ex.invalidate_rkey && wr->num_sge)
		return wr->sg_list[0].lkey;
	return wr->ex.invalidate_rkey;
}

/*
 * Whether work requests are only flushed. Those that the QP could not execute are, too:
 * ib_drain_sq() posts a WRITE whatever the type of the QP.
 */
static bool flushes(const struct sroce_qp *qp)
{
	return READ_ONCE(qp->state) == IB_QPS_ERR;
}

/* Fill the slot at kqp->posted; the caller publishes it. */
static int kernel_wqe(struct sroce_qp *qp, const struct ib_send_wr *wr)
{
	struct sroce_sq *sq = &qp->sq;
	u32 at = qp->kqp->posted;
	struct sroce_wqe *wqe = sroce_sq_wqe(sq, at);
	int msg, ret;

	/* pairs with the release of the consumer: it has read the slot */
	if (sroce_sq_next(sq, at) == smp_load_acquire(&sq->cons))
		return -ENOMEM;
	msg = kernel_msg(qp, wr);
	if (wr->num_sge > sq->max_sge || (msg < 0 && !flushes(qp)))
		return -EINVAL;

	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->flags = wr->send_flags;
	if (msg < 0) {
		wqe->status = IB_WC_LOC_QP_OP_ERR;
		return 0;
	}
	wqe->msg = msg;
	wqe->imm = wr->ex.imm_data;
	wqe->inv_rkey = invalidated_key(wr);
	wqe->inv = wr->opcode == IB_WR_RDMA_READ_WITH_INV;
	wqe->masked = is_masked(wr);
	if (wr->send_flags & IB_SEND_INLINE) {
		ret = sroce_wqe_has_payload(wqe) ? kernel_inline(qp, wqe, wr) : -EINVAL;
		if (ret)
			return ret;
	} else {
		kernel_sges(wqe, wr);
	}
	ret = kernel_address(qp, wqe, wr);
	if (!ret)
		sroce_wqe_check(qp, wqe);
	return ret;
}

/*
 * Whether the tasklet may run before a post returns, as it could after an interrupt there. On
 * real-time kernels it may not: with interrupts on, callers hold locks that their handlers take.
 */
static bool may_run_now(void)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && !irqs_disabled() && !in_hardirq();
}

/*
 * Kernel users may post with locks held, even with bottom halves or interrupts off. Their
 * completion handlers may take the same locks. So the tasklet executes what is posted. A
 * tasklet that a process schedules runs when ksoftirqd gets the CPU. If the queue was empty and
 * the caller may be interrupted it mostly runs at once instead, at local_bh_enable(), as what
 * netif_rx() raises does. With more under way the wait makes longer trains.
 */
static int kernel_post(struct sroce_qp *qp, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad)
{
	struct sroce_kqp *kqp = qp->kqp;
	unsigned long flags;
	bool now;
	int ret = 0;

	now = may_run_now() && READ_ONCE(kqp->posted) == READ_ONCE(qp->sq.cons);
	if (now)
		local_bh_disable();
	spin_lock_irqsave(&kqp->post_lock, flags);
	for (; wr; wr = wr->next) {
		ret = kernel_wqe(qp, wr);
		if (ret)
			break;
		/* pairs with the acquire in drv/task/task.c and drv/verbs/qp.c */
		smp_store_release(&kqp->posted,
				  sroce_sq_next(&qp->sq, kqp->posted));
	}
	if (ret)
		*bad = wr;
	WRITE_ONCE(kqp->task.post_cpu, raw_smp_processor_id() + 1);
	/* inside the lock: once the last of them has completed, the QP may be destroyed */
	tasklet_schedule(&kqp->task.tasklet);
	spin_unlock_irqrestore(&kqp->post_lock, flags);
	if (now)
		local_bh_enable();
	return ret;
}

/**
 * sroce_post_send() - post work requests to a send queue
 * @ibqp: the QP
 * @wr: list of work requests; ignored for a user's QP, whose ring has them
 * @bad: set to the first work request that was not posted
 *
 * Context: process for a user's QP, any for a kernel user.
 *
 * Return: 0, -EINVAL in a state before RTS or for a bad work request, -ENOMEM if the
 * queue is full.
 */
int sroce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad)
{
	struct sroce_qp *qp = to_sqp(ibqp);

	if (qp->user) {
		*bad = wr;
		return user_doorbell(qp);
	}
	if (READ_ONCE(qp->state) < IB_QPS_RTS) {
		*bad = wr;
		return -EINVAL;
	}
	return kernel_post(qp, wr, bad);
}

static int kernel_recv(struct sroce_rq *rq, const struct ib_recv_wr *wr)
{
	struct sroce_abi_ring *buf = rq->ring.buf;
	u32 prod = buf->producer_index, cons, i;
	struct sroce_abi_recv_wqe *slot;

	if (wr->num_sge > rq->max_sge)
		return -EINVAL;
	/* pairs with the release of the consumer: it has read the slot */
	cons = smp_load_acquire(&buf->consumer_index);
	if (((prod + 1) & rq->ring.mask) == cons)
		return -ENOMEM;
	slot = sroce_ring_slot(&rq->ring, prod);
	memset(slot, 0, sizeof(*slot));
	slot->wr_id = wr->wr_id;
	slot->dma.num_sge = wr->num_sge;
	for (i = 0; i < wr->num_sge; i++) {
		slot->sge[i].addr = wr->sg_list[i].addr;
		slot->sge[i].length = wr->sg_list[i].length;
		slot->sge[i].lkey = wr->sg_list[i].lkey;
	}
	/* pairs with the acquire of the reader: the slot is filled */
	smp_store_release(&buf->producer_index, (prod + 1) & rq->ring.mask);
	return 0;
}

static int kernel_recvs(struct sroce_rq *rq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&rq->lock, flags);
	for (; wr && !ret; wr = ret ? wr : wr->next)
		ret = kernel_recv(rq, wr);
	spin_unlock_irqrestore(&rq->lock, flags);
	if (ret)
		*bad = wr;
	return ret;
}

/**
 * sroce_post_recv() - post receives of a kernel user
 * @ibqp: the QP
 * @wr: list of work requests
 * @bad: set to the first work request that was not posted
 *
 * Context: any.
 *
 * Return: 0, -EINVAL in RESET, with an SRQ or for a bad work request, -ENOMEM if the
 * queue is full.
 */
int sroce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad)
{
	struct sroce_qp *qp = to_sqp(ibqp);
	int ret;

	*bad = wr;
	if (qp->user || qp->srq || READ_ONCE(qp->state) == IB_QPS_RESET)
		return -EINVAL;
	ret = kernel_recvs(&qp->rq, wr, bad);
	/* pairs with sroce_flush_rq(): it sees the receives, or this sees the state */
	smp_mb();
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		tasklet_schedule(&qp->kqp->task.tasklet);
	return ret;
}

/**
 * sroce_post_srq_recv() - post receives of a kernel user to an SRQ
 * @ibsrq: the SRQ
 * @wr: list of work requests
 * @bad: set to the first work request that was not posted
 *
 * Context: any.
 *
 * Return: 0, -EINVAL for a bad work request, -ENOMEM if the queue is full.
 */
int sroce_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad)
{
	struct sroce_srq *srq = to_ssrq(ibsrq);

	*bad = wr;
	return srq->user ? -EINVAL : kernel_recvs(&srq->rq, wr, bad);
}
