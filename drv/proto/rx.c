// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A packet has found its QP: is it meant for it, and which half gets it? */

#include <linux/string.h>
#include "env.h"
#include "trace.h"

static void drop(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		 enum sroce_counter why)
{
	sroce_count(qp, why);
	trace_sroce_drop(qp, pkt, why);
}

/* 10.9.3: P_Keys match if their low bits do and not both are limited. */
static bool pkey_matches(u16 pkey)
{
	return (pkey & 0x7fff) == (SROCE_PKEY_FULL & 0x7fff);
}

static bool address_matches(const struct sroce_qp *qp,
			    const struct sroce_pkt *pkt)
{
	return !memcmp(&pkt->sgid, &qp->av.dgid, sizeof(pkt->sgid)) &&
	       !memcmp(&pkt->dgid, &qp->av.sgid, sizeof(pkt->dgid));
}

static u32 own_qkey(const struct sroce_qp *qp)
{
	return qp->type == IB_QPT_GSI ? SROCE_DEFAULT_QKEY_GSI : qp->attr.qkey;
}

static bool for_us(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	bool ud = qp->svc == SROCE_SVC_UD;

	if (sroce_pkt_svc(pkt) != qp->svc) {
		drop(qp, pkt, SROCE_CNT_RX_QP_TYPE);
		return false;
	}
	if (!pkey_matches(pkt->pkey)) {
		drop(qp, pkt, SROCE_CNT_RX_PKEY);
		return false;
	}
	if (ud && pkt->qkey != own_qkey(qp)) {
		drop(qp, pkt, SROCE_CNT_RX_QKEY);
		return false;
	}
	if (!ud && !address_matches(qp, pkt)) {
		drop(qp, pkt, SROCE_CNT_RX_ADDRESS);
		return false;
	}
	return true;
}

static void establish(struct sroce_qp *qp)
{
	if (qp->state != IB_QPS_RTR || qp->comm_est ||
	    qp->svc == SROCE_SVC_UD)
		return;
	qp->comm_est = true;
	sroce_qp_event(qp, IB_EVENT_COMM_EST);
}

/**
 * sroce_place_span() - for sroce_mr_walk(): copy payload in
 * @span: where it goes
 * @len: how many bytes
 * @arg: struct sroce_place, where they are; moves on
 *
 * Return: what sroce_pkt_copy() said
 */
int sroce_place_span(void *span, u32 len, void *arg)
{
	struct sroce_place *pl = arg;
	int ret = sroce_pkt_copy(pl->pkt, pl->off, span, len);

	pl->off += len;
	return ret;
}

/**
 * sroce_qp_rx() - hand a packet to its QP
 * @qp: the QP, locked; sroce_qp_run() is to follow the last of a burst
 * @pkt: the packet; its ICRC is right
 */
void sroce_qp_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (!sroce_qp_may_receive(qp)) {
		drop(qp, pkt, SROCE_CNT_RX_QP_STATE);
		return;
	}
	if (!for_us(qp, pkt))
		return;
	trace_sroce_rx(qp, pkt);
	if (pkt->op->flags & SROCE_RESPONSE) {
		sroce_comp_rx(qp, pkt);
		return;
	}
	establish(qp);
	sroce_resp_rx(qp, pkt);
}

/**
 * sroce_qp_run() - send what a burst of input has made possible
 * @qp: the QP, locked
 *
 * Return: whether there is more to do; call again when others had a turn.
 */
bool sroce_qp_run(struct sroce_qp *qp)
{
	bool more = false;

	qp->burst = 0;
	if (qp->svc == SROCE_SVC_RC)
		more = sroce_answer_run(qp, SROCE_BURST);
	return sroce_req_run(qp, SROCE_BURST) || more;
}

/**
 * sroce_qp_paged() - pages that were wanted have come, or can't
 * @qp: the QP, locked; sroce_qp_run() is to follow
 *
 * Whoever waits tries again, and finds out.
 */
void sroce_qp_paged(struct sroce_qp *qp)
{
	sroce_req_paged(qp);
	sroce_resp_paged(qp);
}
