// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A packet has found its QP: is it meant for it, and which half gets it? */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/tx/segs.h"
#include "drv/core/trace.h"

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

#define FOR_US	(-1)

/* Why the QP must not take a packet, or FOR_US */
static int misfit(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	bool ud = qp->svc == SROCE_SVC_UD;

	if (!sroce_qp_may_receive(qp))
		return SROCE_CNT_RX_QP_STATE;
	if (sroce_pkt_svc(pkt) != qp->svc)
		return SROCE_CNT_RX_QP_TYPE;
	if (!pkey_matches(pkt->pkey))
		return SROCE_CNT_RX_PKEY;
	if (ud && pkt->qkey != own_qkey(qp))
		return SROCE_CNT_RX_QKEY;
	if (!ud && !address_matches(qp, pkt))
		return SROCE_CNT_RX_ADDRESS;
	return FOR_US;
}

static void establish(struct sroce_qp *qp)
{
	if (qp->state != IB_QPS_RTR || qp->comm_est ||
	    qp->svc == SROCE_SVC_UD)
		return;
	qp->comm_est = true;
	sroce_qp_event(qp, IB_EVENT_COMM_EST);
}

/* The payload of a run lies in pieces, one in each packet. */
static int place_run(struct sroce_rx_cursor *pl, u8 *to, u32 len)
{
	const struct sroce_pkt *pkt = pl->pkt;
	int ret = 0;

	while (len && !ret) {
		u32 n;

		if (!pl->left) {
			pl->left = pkt->seg_len;
			if (pl->off)
				pl->off += sroce_segs_gap(pkt);
		}
		n = min(len, pl->left);
		ret = sroce_pkt_copy(pkt, pl->off, to, n);
		pl->off += n;
		pl->left -= n;
		to += n;
		len -= n;
	}
	return ret;
}

/**
 * sroce_segs_rx_span() - for sroce_mr_walk(): copy payload in
 * @span: where it goes
 * @len: how many bytes
 * @arg: struct sroce_rx_cursor, where they are; moves on
 *
 * Return: what sroce_pkt_copy() said
 */
int sroce_segs_rx_span(void *span, u32 len, void *arg)
{
	struct sroce_rx_cursor *pl = arg;
	int ret;

	if (pl->pkt->segs)
		return place_run(pl, span, len);
	ret = sroce_pkt_copy(pl->pkt, pl->off, span, len);
	pl->off += len;
	return ret;
}

/**
 * sroce_transport_rx() - hand a packet to its QP
 * @qp: the QP, locked; sroce_transport_run() is to follow the last of a burst
 * @pkt: the packet; its ICRC is right
 */
void sroce_transport_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	int why = misfit(qp, pkt);

	if (why != FOR_US) {
		drop(qp, pkt, why);
		return;
	}
	trace_sroce_rx(qp, pkt);
	if (pkt->op->flags & SROCE_RESPONSE) {
		sroce_comp_rx(qp, pkt);
		return;
	}
	establish(qp);
	sroce_resp_rx(qp, pkt);
}

static void trace_run(struct sroce_qp *qp, const struct sroce_pkt *run)
{
	struct sroce_pkt pkt = *run;
	u32 i;

	pkt.payload_len = run->seg_len;
	for (i = 0; i < run->segs; i++) {
		pkt.psn = sroce_psn_add(run->psn, i);
		trace_sroce_rx(qp, &pkt);
	}
}

/**
 * sroce_transport_rx_segs() - hand a run of packets to its QP
 * @qp: the QP, locked; sroce_transport_run() is to follow the last of a burst
 * @pkt: the run: the headers of its first packet, and the payload of all; their
 *	ICRCs are right
 *
 * Return: false if the packets must be handed over one by one: what has come of them
 * so far, such as a part of the payload in its place, would come again.
 */
bool sroce_transport_rx_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (misfit(qp, pkt) != FOR_US)
		return false;
	if (!(pkt->op->flags & SROCE_RESPONSE ? sroce_comp_rx_segs(qp, pkt) :
						sroce_resp_rx_segs(qp, pkt)))
		return false;
	sroce_count(qp, SROCE_CNT_RX_PKT_BATCHES);
	trace_run(qp, pkt);
	return true;
}

/**
 * sroce_transport_run() - send what a burst of input has made possible
 * @qp: the QP, locked
 *
 * Return: whether there is more to do; call again when others had a turn.
 */
bool sroce_transport_run(struct sroce_qp *qp)
{
	bool more = false;

	qp->trip_bytes = 0;
	if (qp->svc == SROCE_SVC_RC)
		more = sroce_resp_tx_run(qp, SROCE_TX_BUDGET);
	more |= sroce_req_run(qp, SROCE_TX_BUDGET);
	sroce_mr_put_last(qp);
	return more;
}

/**
 * sroce_transport_paged() - pages that were wanted have come, or can't
 * @qp: the QP, locked; sroce_transport_run() is to follow
 *
 * Whoever waits tries again, and finds out.
 */
void sroce_transport_paged(struct sroce_qp *qp)
{
	sroce_req_paged(qp);
	sroce_resp_paged(qp);
}
