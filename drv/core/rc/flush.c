// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completion of send work requests, the error states, and the flush of both queues
 * on the way there.
 */

#include "drv/core/env.h"
#include "drv/core/mem/wqe.h"
#include "drv/core/rc/flush.h"
#include "drv/core/rc/ofo.h"
#include "drv/core/rc/reset.h"
#include "drv/core/rc/resp_res.h"
#include "drv/core/trace.h"

static const u8 wc_opcode[SROCE_MSGS] = {
	[SROCE_MSG_SEND]	= IB_WC_SEND,
	[SROCE_MSG_SEND_IMM]	= IB_WC_SEND,
	[SROCE_MSG_SEND_INV]	= IB_WC_SEND,
	[SROCE_MSG_WRITE]	= IB_WC_RDMA_WRITE,
	[SROCE_MSG_WRITE_IMM]	= IB_WC_RDMA_WRITE,
	[SROCE_MSG_LOCAL_INV]	= IB_WC_LOCAL_INV,
	[SROCE_MSG_BIND_MW]	= IB_WC_BIND_MW,
	[SROCE_MSG_REG_MR]	= IB_WC_REG_MR,
	[SROCE_MSG_FRAME]	= IB_WC_SEND,
	[SROCE_MSG_READ]	= IB_WC_RDMA_READ,
	[SROCE_MSG_FLUSH]	= SROCE_WC_FLUSH,
	[SROCE_MSG_CMP_SWP]	= IB_WC_COMP_SWAP,
	[SROCE_MSG_FETCH_ADD]	= IB_WC_FETCH_ADD,
	[SROCE_MSG_ATOMIC_WRITE] = SROCE_WC_ATOMIC_WRITE,
};

static u8 opcode_of(const struct sroce_wqe *wqe)
{
	if (!wqe->masked)
		return wc_opcode[wqe->msg];
	return wqe->msg == SROCE_MSG_CMP_SWP ? IB_WC_MASKED_COMP_SWAP :
					       IB_WC_MASKED_FETCH_ADD;
}

static void count_status(struct sroce_qp *qp, enum ib_wc_status status)
{
	if (status == IB_WC_WR_FLUSH_ERR)
		sroce_count(qp, SROCE_CNT_WC_FLUSH);
	else if (status != IB_WC_SUCCESS)
		sroce_count(qp, SROCE_CNT_WC_ERROR);
}

/* The overflow of a CQ is fatal to its QPs (11.6.3.2). */
static void cq_overflow(struct sroce_qp *qp)
{
	if (qp->state != IB_QPS_ERR && qp->state != IB_QPS_RESET)
		sroce_flush_qp_fatal(qp, IB_EVENT_QP_FATAL);
}

static void post_send_cqe(struct sroce_qp *qp, u64 wr_id, u8 opcode, u32 length,
			  enum ib_wc_status status)
{
	struct sroce_cqe cqe = {
		.wr_id = wr_id,
		.status = status,
		.opcode = opcode,
		.byte_len = length,
		.vlan = 0xffff,
	};

	trace_sroce_complete(qp, &cqe);
	if (!sroce_cq_post(qp, qp->scq, &cqe, status != IB_WC_SUCCESS, SROCE_DEFER_SCQ))
		cq_overflow(qp);
}

/**
 * sroce_sq_complete() - complete the oldest send work request
 * @qp: the QP, locked
 * @status: status of the completion
 *
 * The QP may have entered the error state on return, if its CQ has overflowed.
 */
void sroce_sq_complete(struct sroce_qp *qp, enum ib_wc_status status)
{
	struct sroce_wqe *wqe = sroce_sq_wqe(&qp->sq, qp->sq.cons);
	bool signaled = qp->sig_all || wqe->flags & IB_SEND_SIGNALED ||
			status != IB_WC_SUCCESS;
	u64 wr_id = wqe->wr_id;
	u8 opcode = opcode_of(wqe);
	u32 length = wqe->length;

	if (qp->svc == SROCE_SVC_UD && wqe->ah) {
		sroce_ah_put(wqe->ah);
		wqe->ah = NULL;
	}
	/* frees the slot, which a kernel user may fill again */
	smp_store_release(&qp->sq.cons, sroce_sq_next(&qp->sq, qp->sq.cons));
	if (qp->user)
		/* the slot was copied when it was fetched; the provider may reuse it */
		smp_store_release(&qp->sq.ring.buf->consumer_index, qp->sq.cons);
	count_status(qp, status);
	if (signaled)
		post_send_cqe(qp, wr_id, opcode, length, status);
}

/**
 * sroce_flush_sq() - complete send work requests with a flush error
 * @qp: the QP, locked, in a state that does not execute them
 *
 * At most SROCE_FLUSH_BATCH of them: each is copied from the ring, which may have many
 * thousands. sroce_sq.flushing tells whether some are left. Those are flushed by the trips
 * that follow, see sroce_flush_go_on(), between which others have a turn. A work request that
 * is posted later rings its own doorbell.
 */
void sroce_flush_sq(struct sroce_qp *qp)
{
	struct sroce_sq *sq = &qp->sq;
	u32 left = SROCE_FLUSH_BATCH;

	/* an overflow of the CQ may flush, too */
	while (left-- && (sq->cons != sq->prod || sroce_wqe_fetch(qp)))
		sroce_sq_complete(qp, IB_WC_WR_FLUSH_ERR);
	sroce_reset_req(qp);
	WRITE_ONCE(sq->flushing, sq->cons != sq->prod || sroce_sq_rung(sq));
	sq->flushed = sq->flushing;
}

/**
 * sroce_flush_go_on() - flush more send work requests at the end of a trip
 * @qp: the QP, locked, with sroce_sq.flushing
 *
 * Not if this trip has flushed a batch already.
 *
 * Return: whether a trip must follow.
 */
bool sroce_flush_go_on(struct sroce_qp *qp)
{
	if (!qp->sq.flushed)
		sroce_flush_sq(qp);
	qp->sq.flushed = false;
	return qp->sq.flushing;
}

static void flush_recv(struct sroce_qp *qp, const struct sroce_rwqe *wqe)
{
	struct sroce_cqe cqe = {
		.wr_id = wqe->wr_id,
		.status = IB_WC_WR_FLUSH_ERR,
		.opcode = IB_WC_RECV,
		.vlan = 0xffff,
	};

	count_status(qp, cqe.status);
	trace_sroce_complete(qp, &cqe);
	if (!sroce_cq_post(qp, qp->rcq, &cqe, true, SROCE_DEFER_RCQ))
		cq_overflow(qp);
}

/**
 * sroce_flush_rq() - complete receive work requests with a flush error
 * @qp: the QP, locked
 *
 * At most SROCE_FLUSH_BATCH of them. For the rest this has to be called again, after others
 * had a turn.
 *
 * Those of an SRQ stay, except one in use. The QP reports that it takes no more of them
 * (IB_EVENT_QP_LAST_WQE_REACHED).
 */
void sroce_flush_rq(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;
	u32 left = SROCE_FLUSH_BATCH;

	/* whoever posts after this sees the state and triggers a flush */
	smp_mb();
	if (resp->have_wqe) {
		resp->have_wqe = false;
		flush_recv(qp, &resp->wqe);
	}
	resp->msg = 0;
	if (qp->srq) {
		if (!qp->last_wqe)
			sroce_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
		qp->last_wqe = true;
		return;
	}
	while (left-- && sroce_wqe_fetch_recv(&qp->rq, &resp->wqe))
		flush_recv(qp, &resp->wqe);
}

/**
 * sroce_flush_qp_error() - enter the error state and flush both queues
 * @qp: the QP, locked; see sroce_flush_sq() and sroce_flush_rq() for what may be left to
 *	flush
 */
void sroce_flush_qp_error(struct sroce_qp *qp)
{
	trace_sroce_state(qp, IB_QPS_ERR);
	qp->state = IB_QPS_ERR;
	sroce_resp_res_cancel(qp);
	sroce_ofo_purge(qp);
	sroce_flush_sq(qp);
	sroce_flush_rq(qp);
}

/**
 * sroce_flush_qp_fatal() - enter the error state and raise an event
 * @qp: the QP, locked
 * @event: an affiliated asynchronous error
 */
void sroce_flush_qp_fatal(struct sroce_qp *qp, enum ib_event_type event)
{
	sroce_qp_event(qp, event);
	sroce_flush_qp_error(qp);
}

/**
 * sroce_sq_fail() - complete the oldest send work request with an error
 * @qp: the QP, locked
 * @status: the error
 *
 * RC and raw packet QPs go to the error state. UC and UD QPs go to SQE, in which they
 * still receive.
 */
void sroce_sq_fail(struct sroce_qp *qp, enum ib_wc_status status)
{
	if (qp->sq.cons == qp->sq.prod || qp->sq.flushing)
		return;
	if (qp->svc == SROCE_SVC_RC || qp->svc == SROCE_SVC_RAW) {
		/* whoever polls the completion must find the error state */
		qp->state = IB_QPS_ERR;
		sroce_sq_complete(qp, status);
		sroce_flush_qp_error(qp);
		return;
	}
	trace_sroce_state(qp, IB_QPS_SQE);
	qp->state = IB_QPS_SQE;
	sroce_sq_complete(qp, status);
	sroce_flush_sq(qp);
}
