// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Modify, as drv/verbs/qp.c does it: check, install the attributes, enter the state */

#include <stdlib.h>
#include "world.h"

/* Attributes that matter to the core, from a record */
static void make_attr(struct ib_qp_attr *attr, const u8 *r)
{
	attr->timeout = r[4] >> 3 & 31;
	attr->retry_cnt = r[5] & 15;
	attr->rnr_retry = r[5] >> 4;
	attr->max_rd_atomic = r[6] & 15;
	attr->max_dest_rd_atomic = r[6] >> 4;
	if (r[6] == 0xff)
		attr->max_dest_rd_atomic = 255;
	attr->min_rnr_timer = r[7] & 63;
	attr->qp_access_flags = r[8] & 15;
	if (!(r[8] & 16))
		attr->qp_access_flags |= SROCE_ACCESS_FLUSH_GLOBAL;
	attr->rq_psn = rec32(r, 9) & SROCE_PSN_MASK;
	attr->sq_psn = rec32(r, 11) & SROCE_PSN_MASK;
	attr->en_sqd_async_notify = r[15] & 1;
	attr->path_mig_state = r[15] & 2 ? IB_MIG_ARMED : IB_MIG_MIGRATED;
	attr->cur_qp_state = r[15] >> 2 & 7;
}

static void resize_res(struct sroce_qp *qp, u32 n)
{
	if (sroce_qp_may_receive(qp))
		n = n > qp->resp.nres ? n : qp->resp.nres;
	free(sroce_resp_res_resize(qp, n ? calloc(n, sizeof(*qp->resp.res)) : NULL,
				 n));
}

static void install(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	/* addresses, keys and the MTU stay what both ends were set up with */
	sroce_state_set_attrs(&qp->attr, attr, mask & ~(IB_QP_AV | IB_QP_PATH_MTU |
							IB_QP_QKEY | IB_QP_DEST_QPN |
							IB_QP_PORT | IB_QP_PKEY_INDEX));
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		resize_res(qp, attr->max_dest_rd_atomic);
	sim_provide(qp);
}

static void enter(struct world *w, struct sroce_qp *qp, enum ib_qp_state to)
{
	struct log *sq = world_sq_log(w, qp), *rq = world_rq_log(w, qp);

	if (to == IB_QPS_RESET) {
		log_reset(sq);
		if (qp->srq)
			rq->gap = true;
		else
			rq->done = rq->posted;
		rq->failed = false;
	}
	/* out of SQE */
	if (to == IB_QPS_RTS)
		sq->failed = false;
	if (to == IB_QPS_RTR && qp->state != IB_QPS_INIT)
		qp->state = to;
	else
		sim_enter(qp->kqp, to);
	/* runs the QP */
	sim_doorbell(qp->kqp);
}

static bool modify(struct world *w, struct sroce_qp *qp,
		   const struct ib_qp_attr *attr, int mask, enum ib_qp_state to)
{
	if (!sroce_state_transition_ok(qp, attr, mask, qp->state, to))
		return false;
	install(qp, attr, mask);
	enter(w, qp, to);
	return true;
}

static const int needed[IB_QPS_ERR + 1] = {
	[IB_QPS_INIT] = IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS,
	[IB_QPS_RTR] = IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
		       IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
		       IB_QP_MIN_RNR_TIMER,
	[IB_QPS_RTS] = IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
		       IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC,
};

/* What a transition needs, of what this type of QP has */
static int mask_for(const struct sroce_qp *qp, enum ib_qp_state to)
{
	int mask = needed[to];

	if (qp->state == IB_QPS_SQD || qp->state == IB_QPS_SQE ||
	    (qp->state == IB_QPS_RTS && to == IB_QPS_RTS))
		mask = 0;
	if (qp->svc != SROCE_SVC_RC)
		mask &= ~(IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER |
			  IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			  IB_QP_MAX_QP_RD_ATOMIC);
	if (qp->svc == SROCE_SVC_UD)
		mask &= IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_SQ_PSN;
	if (qp->svc == SROCE_SVC_UD && to == IB_QPS_INIT)
		mask |= IB_QP_QKEY;
	if (qp->type == IB_QPT_GSI)
		mask &= ~IB_QP_PORT;
	return mask | IB_QP_STATE;
}

/* r: 1 who, 2 to where, 3 whether the mask is right, 4 and on values */
void act_modify(struct world *w, const u8 *r)
{
	static const u8 to[8] = {
		IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD,
		IB_QPS_SQE, IB_QPS_ERR, IB_QPS_RTS,
	};
	struct sroce_qp *qp = &kqp_at(w, r[1])->qp;
	struct ib_qp_attr attr = {};
	int mask;

	make_attr(&attr, r);
	mask = mask_for(qp, to[r[2] & 7]);
	if (r[3] >= 0x80)
		mask ^= rec32(r, 11) & 0x3fffff & ~IB_QP_AV;
	modify(w, qp, &attr, mask, to[r[2] & 7]);
}

/* From wherever it is to RTS, as new or with what it has */
void act_connect(struct world *w, const u8 *r)
{
	struct sroce_qp *qp = &kqp_at(w, r[1])->qp;
	struct ib_qp_attr attr = qp->attr;
	int to;

	if (r[2] & 1 || qp->state == IB_QPS_ERR)
		modify(w, qp, &attr, IB_QP_STATE, IB_QPS_RESET);
	if (qp->state == IB_QPS_SQE || qp->state == IB_QPS_SQD)
		modify(w, qp, &attr, IB_QP_STATE, IB_QPS_RTS);
	for (to = qp->state + 1; to <= IB_QPS_RTS; to++)
		modify(w, qp, &attr, mask_for(qp, to), to);
}
