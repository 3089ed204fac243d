// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* QP states: what a transition needs, and what it starts (10.3). */

#include <linux/string.h>
#include "drv/core/env.h"

/*
 * Bounds of attributes; ib_modify_qp_is_ok() knows which of them a transition
 * requires and permits.
 */
static const struct attr_range {
	u16 off;
	u8 max;
	int mask;
} ranges[] = {
	{ offsetof(struct ib_qp_attr, timeout), 31, IB_QP_TIMEOUT },
	{ offsetof(struct ib_qp_attr, retry_cnt), 7, IB_QP_RETRY_CNT },
	{ offsetof(struct ib_qp_attr, rnr_retry), 7, IB_QP_RNR_RETRY },
	{ offsetof(struct ib_qp_attr, min_rnr_timer), 31,
	  IB_QP_MIN_RNR_TIMER },
	{ offsetof(struct ib_qp_attr, max_rd_atomic), SROCE_MAX_RD_ATOMIC,
	  IB_QP_MAX_QP_RD_ATOMIC },
	{ offsetof(struct ib_qp_attr, max_dest_rd_atomic),
	  SROCE_MAX_RD_ATOMIC, IB_QP_MAX_DEST_RD_ATOMIC },
};

static bool attrs_in_range(const struct ib_qp_attr *attr, int mask)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		const u8 *p = (const u8 *)attr + ranges[i].off;

		if (mask & ranges[i].mask && *p > ranges[i].max)
			return false;
	}
	return true;
}

/**
 * sroce_state_transition_ok() - whether a modify is possible
 * @qp: the QP
 * @attr: what is asked for
 * @mask: which of it
 * @from: the state it is in
 * @to: the state it would be in
 */
bool sroce_state_transition_ok(struct sroce_qp *qp, const struct ib_qp_attr *attr,
			    int mask, enum ib_qp_state from,
			    enum ib_qp_state to)
{
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != from)
		return false;
	if (!ib_modify_qp_is_ok(from, to, qp->type, mask))
		return false;
	/* Only a drained send queue may take new attributes (10.3.1.5). */
	if (from == IB_QPS_SQD && to == IB_QPS_SQD && !qp->drained &&
	    mask & ~(IB_QP_STATE | IB_QP_CUR_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY))
		return false;
	return attrs_in_range(attr, mask);
}

/**
 * sroce_state_start_req() - set the requester up for the send PSN in force
 * @qp: the QP, going to RTS
 */
void sroce_state_start_req(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	req->retries = qp->attr.retry_cnt;
	req->rnr_retries = qp->attr.rnr_retry;
	qp->drained = false;
}

/**
 * sroce_state_start_resp() - set the responder up for the receive PSN in force
 * @qp: the QP, going to RTR
 */
void sroce_state_start_resp(struct sroce_qp *qp)
{
	qp->resp.psn = qp->attr.rq_psn;
}

/**
 * sroce_reset_sq() - forget all send work requests, without completions
 * @qp: the QP
 *
 * Also for a doorbell in a state that refuses work: the provider has published
 * it in the ring already, and what was refused must never run.
 */
void sroce_reset_sq(struct sroce_qp *qp)
{
	struct sroce_sq *sq = &qp->sq;

	for (; sq->cons != sq->prod; sq->cons = sroce_sq_next(sq, sq->cons)) {
		struct sroce_wqe *wqe = sroce_sq_wqe(sq, sq->cons);

		if (qp->svc == SROCE_SVC_UD && wqe->ah)
			sroce_ah_put(wqe->ah);
	}
	if (qp->user && sq->ring.buf)
		sroce_ring_consume(&sq->ring, sroce_ring_filled(&sq->ring));
	sq->db_tail = sq->ring.own;
	sq->cons = sq->ring.own;
	sq->prod = sq->ring.own;
	qp->req.next_idx = sq->cons;
	qp->req.acked_idx = sq->cons;
}

/**
 * sroce_reset_qp() - forget all work and all progress, without completions
 * @qp: the QP, going to or coming up in RESET
 */
void sroce_reset_qp(struct sroce_qp *qp)
{
	struct sroce_res *res = qp->resp.res;
	u32 nres = qp->resp.nres;

	sroce_reset_sq(qp);
	if (qp->rq.ring.buf)
		sroce_ring_consume(&qp->rq.ring, sroce_ring_filled(&qp->rq.ring));
	/* a QP that comes up has no list yet */
	if (qp->resp.ofo_queue.next)
		sroce_ofo_purge(qp);
	memset(&qp->req, 0, sizeof(qp->req));
	INIT_LIST_HEAD(&qp->req.deferred);
	memset(&qp->resp, 0, sizeof(qp->resp));
	INIT_LIST_HEAD(&qp->resp.ofo_queue);
	qp->resp.ofo_max = SROCE_OFO_MAX;
	if (res)
		memset(res, 0, nres * sizeof(*res));
	qp->resp.res = res;
	qp->resp.nres = nres;
	qp->req.next_idx = qp->sq.cons;
	qp->req.acked_idx = qp->sq.cons;
	qp->state = IB_QPS_RESET;
	qp->drained = false;
	qp->lb_copy_only = false;
	qp->comm_est = false;
	qp->last_wqe = false;
}
