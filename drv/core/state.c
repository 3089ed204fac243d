// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* QP states: which transitions are possible, and what they initialize (10.3). */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/state.h"

/*
 * Upper bounds of attributes. ib_modify_qp_is_ok() checks which attributes a transition
 * requires and permits, but not their values.
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
 * sroce_state_transition_ok() - check the arguments of a modify
 * @qp: the QP, locked
 * @attr: the new attributes
 * @mask: enum ib_qp_attr_mask: which of @attr are set
 * @from: the present state
 * @to: the new state
 *
 * Return: whether the modify is permitted.
 */
bool sroce_state_transition_ok(struct sroce_qp *qp, const struct ib_qp_attr *attr,
			       int mask, enum ib_qp_state from,
			       enum ib_qp_state to)
{
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != from)
		return false;
	if (!ib_modify_qp_is_ok(from, to, qp->type, mask))
		return false;
	/* In SQD attributes may change only once the send queue is drained (10.3.1.5). */
	if (from == IB_QPS_SQD && to == IB_QPS_SQD && !qp->drained &&
	    mask & ~(IB_QP_STATE | IB_QP_CUR_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY))
		return false;
	return attrs_in_range(attr, mask);
}

/**
 * sroce_state_start_req() - initialize the requester from the QP's attributes
 * @qp: the QP, locked, going to RTS
 */
void sroce_state_start_req(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	req->retries = qp->attr.retry_cnt;
	req->rnr_retries = qp->attr.rnr_retry;
	qp->drained = false;
}

/**
 * sroce_state_start_resp() - initialize the responder from the QP's attributes
 * @qp: the QP, locked, going to RTR
 */
void sroce_state_start_resp(struct sroce_qp *qp)
{
	qp->resp.psn = qp->attr.rq_psn;
}
