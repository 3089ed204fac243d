// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* QP states: which transitions are possible, and what they initialize (10.3). */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/rc/flush.h"
#include "drv/core/rc/reset.h"
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
 * sroce_state_set_attrs() - copy the attributes that a modify sets
 * @to: the QP's attributes
 * @attr: new values, checked
 * @mask: which of them are set, enum ib_qp_attr_mask
 */
void sroce_state_set_attrs(struct ib_qp_attr *to, const struct ib_qp_attr *attr, int mask)
{
#define COPY(bit, field) do { if (mask & (bit)) to->field = attr->field; } while (0)
	COPY(IB_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
	COPY(IB_QP_ACCESS_FLAGS, qp_access_flags);
	COPY(IB_QP_PKEY_INDEX, pkey_index);
	COPY(IB_QP_PORT, port_num);
	COPY(IB_QP_QKEY, qkey);
	COPY(IB_QP_AV, ah_attr);
	COPY(IB_QP_PATH_MTU, path_mtu);
	COPY(IB_QP_TIMEOUT, timeout);
	COPY(IB_QP_RETRY_CNT, retry_cnt);
	COPY(IB_QP_RNR_RETRY, rnr_retry);
	COPY(IB_QP_RQ_PSN, rq_psn);
	COPY(IB_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	COPY(IB_QP_MIN_RNR_TIMER, min_rnr_timer);
	COPY(IB_QP_SQ_PSN, sq_psn);
	COPY(IB_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	COPY(IB_QP_PATH_MIG_STATE, path_mig_state);
	COPY(IB_QP_DEST_QPN, dest_qp_num);
#undef COPY
	/* as the core does with PSNs: the other bits are flags in the BTH (9.2) */
	to->dest_qp_num &= SROCE_QPN_MASK;
}

/**
 * sroce_state_enter() - enter a state
 * @qp: the QP, locked; its attributes are those for the new state
 * @from: the present state
 * @to: the new state; the transition was checked
 */
void sroce_state_enter(struct sroce_qp *qp, enum ib_qp_state from, enum ib_qp_state to)
{
	switch (to) {
	case IB_QPS_RESET:
		sroce_reset_qp(qp);
		return;
	case IB_QPS_ERR:
		sroce_flush_qp_error(qp);
		return;
	case IB_QPS_RTR:
		if (from == IB_QPS_INIT)
			qp->resp.psn = qp->attr.rq_psn;
		break;
	case IB_QPS_RTS:
		qp->req.retries = qp->attr.retry_cnt;
		qp->req.excused = 0;
		qp->req.rnr_retries = qp->attr.rnr_retry;
		qp->drained = false;
		/* for the next SQD the modify has to ask again */
		qp->attr.en_sqd_async_notify = false;
		break;
	default:
		break;
	}
	qp->state = to;
}
