// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Fetch work requests from rings shared with user space. A slot is copied exactly once.
 * From then on only the private copy is used, and each of its fields is checked.
 */

#include <linux/if_ether.h>
#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/mem/mr.h"
#include "drv/core/mem/sge.h"
#include "drv/core/mem/wqe.h"

#define SVC(x) BIT(SROCE_SVC_##x)

/* What user space may post, by enum ib_uverbs_wr_opcode */
static const struct user_op {
	u8	svcs;
	u8	msg;
} user_ops[] = {
	[IB_WR_RDMA_WRITE]	= { SVC(RC) | SVC(UC), SROCE_MSG_WRITE },
	[IB_WR_RDMA_WRITE_WITH_IMM] = { SVC(RC) | SVC(UC), SROCE_MSG_WRITE_IMM },
	[IB_WR_SEND]		= { SVC(RC) | SVC(UC) | SVC(UD), SROCE_MSG_SEND },
	[IB_WR_SEND_WITH_IMM]	= { SVC(RC) | SVC(UC) | SVC(UD), SROCE_MSG_SEND_IMM },
	[IB_WR_RDMA_READ]	= { SVC(RC), SROCE_MSG_READ },
	[IB_WR_ATOMIC_CMP_AND_SWP] = { SVC(RC), SROCE_MSG_CMP_SWP },
	[IB_WR_ATOMIC_FETCH_AND_ADD] = { SVC(RC), SROCE_MSG_FETCH_ADD },
	[IB_WR_SEND_WITH_INV]	= { SVC(RC), SROCE_MSG_SEND_INV },
	[IB_WR_LOCAL_INV]	= { SVC(RC) | SVC(UC), SROCE_MSG_LOCAL_INV },
	[IB_WR_BIND_MW]		= { SVC(RC) | SVC(UC), SROCE_MSG_BIND_MW },
#ifdef SROCE_HAVE_FLUSH
	[SROCE_WR_FLUSH]	= { SVC(RC), SROCE_MSG_FLUSH },
#endif
	[SROCE_WR_ATOMIC_WRITE]	= { SVC(RC), SROCE_MSG_ATOMIC_WRITE },
};

/**
 * sroce_wqe_msg_of_wr() - convert the opcode of a work request
 * @svc: transport service of the QP
 * @opcode: enum ib_wr_opcode, not validated
 *
 * Return: enum sroce_msg, or -EINVAL if @svc does not support the opcode.
 */
int sroce_wqe_msg_of_wr(u8 svc, u32 opcode)
{
	if (svc == SROCE_SVC_RAW)
		return opcode == IB_WR_SEND ? SROCE_MSG_FRAME : -EINVAL;
	if (opcode >= ARRAY_SIZE(user_ops) || !(user_ops[opcode].svcs & BIT(svc)))
		return -EINVAL;
	return user_ops[opcode].msg;
}

static void copy_sges(struct ib_sge *to, const struct sroce_abi_sge *from, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		to[i].addr = from[i].addr;
		to[i].length = from[i].length;
		to[i].lkey = from[i].lkey;
	}
}

/* User space may write to the slot at any time, so the head is copied once. */
static void copy_head(struct sroce_posted *to, const struct sroce_abi_send_wqe *slot)
{
	memcpy(&to->wr, &slot->wr, sizeof(to->wr));
	memcpy(&to->dma, &slot->dma, sizeof(to->dma));
	/* keep the compiler from reading the slot's head again */
	barrier();
}

/*
 * Scatter/gather list or inline data. The provider's extended API (ibv_wr_*) does not set
 * IB_SEND_INLINE, so a payload without entries is inline as well. Up to rdma-core 63 it
 * sets a wrong dma.length for lists, so sroce_wqe_check() computes that.
 */
static void decode_payload(struct sroce_qp *qp, struct sroce_wqe *wqe,
			   const struct sroce_abi_dma *dma,
			   const u8 *payload)
{
	if (sroce_wqe_is_mem_op(wqe))
		return;
	if (wqe->msg == SROCE_MSG_FLUSH) {
		/* the length is that of the peer's memory; there is no payload */
		wqe->flags &= ~IB_SEND_INLINE;
		wqe->length = dma->length;
		return;
	}
	if (sroce_wqe_has_payload(wqe) &&
	    (wqe->flags & IB_SEND_INLINE || (!dma->num_sge && dma->length))) {
		wqe->flags |= IB_SEND_INLINE;
		wqe->num_sge = 0;
		wqe->length = dma->length;
		if (wqe->length > qp->sq.max_inline) {
			wqe->status = IB_WC_LOC_QP_OP_ERR;
			return;
		}
		sroce_copy(wqe->data, payload, wqe->length);
		return;
	}

	/* nothing is sent from a buffer, and there is data where the list should be */
	if (wqe->flags & IB_SEND_INLINE) {
		wqe->flags &= ~IB_SEND_INLINE;
		wqe->status = IB_WC_LOC_QP_OP_ERR;
		return;
	}
	if (dma->num_sge > qp->sq.max_sge) {
		wqe->num_sge = 0;
		wqe->status = IB_WC_LOC_QP_OP_ERR;
		return;
	}
	wqe->num_sge = dma->num_sge;
	copy_sges(wqe->sge, (const void *)payload, wqe->num_sge);
}

/* Values that are undefined or don't fit the FETH are errors. */
static void decode_flush(struct sroce_wqe *wqe,
			 const struct sroce_abi_send_wr *wr)
{
	u32 type = wr->flush.type, level = wr->flush.level;

	wqe->remote_addr = wr->flush.remote_addr;
	wqe->rkey = wr->flush.rkey;
	wqe->feth = type | level << SROCE_FETH_SELECT_SHIFT;
	if (!type || type & ~(SROCE_FLUSH_GLOBAL | SROCE_FLUSH_PERSISTENT) ||
	    level > SROCE_FLUSH_REGION)
		wqe->status = IB_WC_LOC_QP_OP_ERR;
}

static void decode_address(struct sroce_qp *qp, struct sroce_wqe *wqe,
			   const struct sroce_abi_send_wr *wr)
{
	if (qp->svc == SROCE_SVC_UD) {
		wqe->remote_qpn = wr->ud.remote_qpn & SROCE_QPN_MASK;
		wqe->remote_qkey = wr->ud.remote_qkey;
		wqe->ah = sroce_ah_get(qp, wr->ud.ah_num);
		if (!wqe->ah)
			wqe->status = IB_WC_LOC_QP_OP_ERR;
	} else if (wqe->msg == SROCE_MSG_BIND_MW) {
		wqe->bind.addr = wr->mw.addr;
		wqe->bind.length = wr->mw.length;
		wqe->bind.mr_key = wr->mw.mr_lkey;
		wqe->bind.key = wr->mw.mw_rkey;
		wqe->bind.new_key = wr->mw.rkey;
		wqe->bind.access = wr->mw.access;
	} else if (wqe->msg == SROCE_MSG_FLUSH) {
		decode_flush(wqe, wr);
	} else if (sroce_wqe_fetches(wqe)) {
		wqe->remote_addr = wr->atomic.remote_addr;
		wqe->compare_add = wr->atomic.compare_add;
		wqe->swap = wr->atomic.swap;
		wqe->rkey = wr->atomic.rkey;
	} else {
		wqe->remote_addr = wr->rdma.remote_addr;
		wqe->rkey = wr->rdma.rkey;
	}
}

/* A FLUSH of a whole region has no length; what was posted is ignored. */
static u32 flush_length(const struct sroce_wqe *wqe)
{
	return wqe->feth >> SROCE_FETH_SELECT_SHIFT == SROCE_FLUSH_REGION ?
	       0 : wqe->length;
}

/**
 * sroce_wqe_check() - compute and check the length of a work request
 * @qp: the QP, locked
 * @wqe: the work request, decoded; @wqe->status is set if it can't be executed
 */
void sroce_wqe_check(struct sroce_qp *qp, struct sroce_wqe *wqe)
{
	u64 len = 0;
	u32 i;

	if (wqe->status != IB_WC_SUCCESS)
		return;
	if (!(wqe->flags & IB_SEND_INLINE)) {
		if (wqe->msg == SROCE_MSG_FLUSH)
			len = flush_length(wqe);
		for (i = 0; i < wqe->num_sge; i++)
			len += wqe->sge[i].length;
		if (len > SROCE_MSG_MAX)
			wqe->status = IB_WC_LOC_LEN_ERR;
		wqe->length = len;
	}
	if (qp->svc == SROCE_SVC_UD && wqe->length > sroce_ud_max(qp))
		wqe->status = IB_WC_LOC_LEN_ERR;
	if (wqe->msg == SROCE_MSG_FRAME &&
	    (wqe->length < ETH_HLEN || wqe->length > sroce_raw_max(qp)))
		wqe->status = IB_WC_LOC_LEN_ERR;
	if (wqe->msg >= SROCE_MSG_CMP_SWP && wqe->length != sizeof(u64))
		wqe->status = IB_WC_LOC_LEN_ERR;
}

/**
 * sroce_wqe_doorbell() - accept what user space has posted until now
 * @qp: the QP, locked
 *
 * Work requests posted later wait for their own doorbell, even if the QP runs earlier for
 * another reason: otherwise they would leave in small trains, or from another CPU, where
 * they could overtake packets sent before.
 */
void sroce_wqe_doorbell(struct sroce_qp *qp)
{
	struct sroce_sq *sq = &qp->sq;

	if (qp->user)
		sq->db_tail = (sq->ring.own + sroce_ring_filled(&sq->ring)) & sq->ring.mask;
}

/**
 * sroce_wqe_fetch() - fetch the next work request that sroce_wqe_doorbell() has accepted
 * @qp: the QP, locked
 *
 * Return: whether there was one, and space for it in the send queue.
 */
bool sroce_wqe_fetch(struct sroce_qp *qp)
{
	const struct sroce_abi_send_wqe *slot;
	struct sroce_sq *sq = &qp->sq;
	struct sroce_posted *p = &sq->posted;
	struct sroce_wqe *wqe;
	int msg;

	if (sroce_sq_full(sq) || !sroce_sq_rung(sq))
		return false;

	slot = sroce_ring_slot(&sq->ring, sq->ring.own);
	copy_head(p, slot);
	wqe = sroce_sq_wqe(sq, sq->prod);
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = p->wr.wr_id;
	wqe->flags = p->wr.send_flags & (IB_SEND_FENCE | IB_SEND_SIGNALED |
					 IB_SEND_SOLICITED | IB_SEND_INLINE);
	wqe->imm = (__force __be32)p->wr.ex;
	wqe->inv_rkey = p->wr.ex;
	msg = sroce_wqe_msg_of_wr(qp->svc, p->wr.opcode);
	if (msg < 0) {
		wqe->status = IB_WC_LOC_QP_OP_ERR;
	} else {
		wqe->msg = msg;
		decode_address(qp, wqe, &p->wr);
		decode_payload(qp, wqe, &p->dma, slot->payload);
	}
	sroce_wqe_check(qp, wqe);
	if (wqe->status != IB_WC_SUCCESS)
		sroce_count(qp, SROCE_CNT_SQ_BAD_WQE);

	/* The slot is released to user space when the work request completes. */
	sq->ring.own = (sq->ring.own + 1) & sq->ring.mask;
	sq->prod = sroce_sq_next(sq, sq->prod);
	return true;
}

/**
 * sroce_wqe_fetch_recv() - fetch the next work request of a receive queue
 * @rq: the queue; the caller serializes consumers
 * @to: filled in
 *
 * Return: whether there was one.
 */
bool sroce_wqe_fetch_recv(struct sroce_rq *rq, struct sroce_rwqe *to)
{
	const struct sroce_abi_recv_wqe *slot;
	struct sroce_abi_recv_wqe raw;
	u32 i;

	if (!sroce_ring_filled(&rq->ring))
		return false;

	slot = sroce_ring_slot(&rq->ring, rq->ring.own);
	memcpy(&raw, slot, sizeof(raw));
	/* as in copy_head() */
	barrier();

	to->wr_id = raw.wr_id;
	to->bad = raw.dma.num_sge > rq->max_sge;
	to->num_sge = to->bad ? 0 : raw.dma.num_sge;
	to->length = 0;
	copy_sges(to->sge, slot->sge, to->num_sge);
	for (i = 0; i < to->num_sge; i++)
		to->length += to->sge[i].length;
	sroce_ring_consume(&rq->ring, 1);
	return true;
}

/**
 * sroce_wqe_walk() - call a function for a part of the payload of a send work request
 * @qp: the QP, locked
 * @wqe: the work request
 * @off: offset of the part in the payload
 * @len: bytes of the part
 * @fn: called for each contiguous part of the memory, in order; it only reads
 * @arg: passed to @fn
 *
 * Return: 0 or an error of sroce_sge_walk().
 */
int sroce_wqe_walk(struct sroce_qp *qp, const struct sroce_wqe *wqe, u32 off,
		   u32 len, sroce_span_fn fn, void *arg)
{
	if (wqe->flags & IB_SEND_INLINE)
		return fn((void *)(wqe->data + off), len, arg);
	return sroce_sge_walk(qp, wqe->sge, wqe->num_sge, off, len, 0, fn, arg);
}

/**
 * sroce_wqe_gather() - copy a part of the payload of a send work request
 * @qp: the QP, locked
 * @wqe: the work request
 * @off: offset of the part in the payload
 * @to: destination
 * @len: bytes of the part
 *
 * Return: as sroce_wqe_walk().
 */
int sroce_wqe_gather(struct sroce_qp *qp, const struct sroce_wqe *wqe, u32 off,
		     u8 *to, u32 len)
{
	void *p = NULL;

	if (!(wqe->flags & IB_SEND_INLINE))
		p = sroce_sge_flat(qp, wqe->sge, wqe->num_sge, off, len);
	if (p)
		return sroce_mr_copy_from(p, len, &to);
	return sroce_wqe_walk(qp, wqe, off, len, sroce_mr_copy_from, &to);
}
