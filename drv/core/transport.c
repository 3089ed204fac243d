// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Entry points of the core. A received packet is checked against its QP, then goes to the
 * completer or to the responder. At the end of a trip the QP sends what it may send.
 */

#include <linux/string.h>
#include "drv/core/ecn.h"
#include "drv/core/env.h"
#include "drv/core/mem/mr.h"
#include "drv/core/rc/cc.h"
#include "drv/core/rc/comp.h"
#include "drv/core/rc/flush.h"
#include "drv/core/rc/req.h"
#include "drv/core/rc/resp.h"
#include "drv/core/rc/resp_rate.h"
#include "drv/core/rc/resp_tx.h"
#include "drv/core/trace.h"
#include "drv/core/transport.h"

static void drop(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		 enum sroce_counter why)
{
	sroce_count(qp, why);
	trace_sroce_drop(qp, pkt, why);
}

/* 10.9.3: the low bits must be equal. Ours is a full member, so theirs may be limited. */
static bool pkey_matches(u16 pkey)
{
	return (pkey & 0x7fff) == (SROCE_PKEY_FULL & 0x7fff);
}

/* On the wire, packets of RC and UC don't name their sender. Those of this host do. */
static bool address_matches(const struct sroce_qp *qp,
			    const struct sroce_pkt *pkt)
{
	if (pkt->loopback && pkt->sqpn != qp->attr.dest_qp_num)
		return false;
	return !memcmp(&pkt->sgid, &qp->av.dgid, sizeof(pkt->sgid)) &&
	       !memcmp(&pkt->dgid, &qp->av.sgid, sizeof(pkt->dgid));
}

static u32 own_qkey(const struct sroce_qp *qp)
{
	return qp->type == IB_QPT_GSI ? SROCE_DEFAULT_QKEY_GSI : qp->attr.qkey;
}

static bool is_connected(const struct sroce_qp *qp)
{
	return qp->svc == SROCE_SVC_RC || qp->svc == SROCE_SVC_UC;
}

#define NO_DROP	(-1)

/* Return: the counter of the reason to drop a packet, or NO_DROP. */
static int drop_reason(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	bool ud = qp->svc == SROCE_SVC_UD;

	if (!sroce_qp_may_receive(qp))
		return SROCE_CNT_RX_QP_STATE;
	if (sroce_pkt_svc(pkt) != qp->svc && !(pkt->op->flags & SROCE_CNP && is_connected(qp)))
		return SROCE_CNT_RX_QP_TYPE;
	if (!pkey_matches(pkt->pkey))
		return SROCE_CNT_RX_PKEY;
	if (ud && pkt->qkey != own_qkey(qp))
		return SROCE_CNT_RX_QKEY;
	if (!ud && !address_matches(qp, pkt))
		return SROCE_CNT_RX_ADDRESS;
	return NO_DROP;
}

/* The first packet in RTR shows that the peer's QP is in RTS. */
static void establish(struct sroce_qp *qp)
{
	if (qp->state != IB_QPS_RTR || qp->comm_est ||
	    qp->svc == SROCE_SVC_UD)
		return;
	qp->comm_est = true;
	sroce_qp_event(qp, IB_EVENT_COMM_EST);
}

/**
 * sroce_transport_rx() - receive a packet
 * @qp: the QP, locked; the caller calls sroce_transport_run() after the last packet
 * @pkt: the packet; its ICRC is valid
 */
void sroce_transport_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	int why = drop_reason(qp, pkt);

	if (why != NO_DROP) {
		drop(qp, pkt, why);
		return;
	}
	trace_sroce_rx(qp, pkt);
	if (pkt->op->flags & SROCE_CNP) {
		sroce_cc_cnp(qp);
		return;
	}
	if (is_connected(qp))
		sroce_ecn_rx(qp, pkt);
	if (pkt->op->flags & SROCE_RESPONSE) {
		sroce_comp_rx(qp, pkt);
		return;
	}
	establish(qp);
	sroce_resp_rx(qp, pkt);
}

static void trace_segs(struct sroce_qp *qp, const struct sroce_pkt *segs)
{
	struct sroce_pkt pkt;
	u32 i;

	if (!trace_sroce_rx_enabled())
		return;
	pkt = *segs;
	pkt.payload_len = segs->seg_len;
	for (i = 0; i < segs->segs; i++) {
		pkt.psn = sroce_psn_add(segs->psn, i);
		trace_sroce_rx(qp, &pkt);
	}
}

/**
 * sroce_transport_rx_segs() - receive several packets of one message at once
 * @qp: the QP, locked; the caller calls sroce_transport_run() after the last packet
 * @pkt: the headers of the first packet and the payload of all; their ICRCs are valid
 *
 * Return: false if the caller must pass them to sroce_transport_rx() one by one. Some of
 * the payload may have been placed already; it is placed again then.
 */
bool sroce_transport_rx_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (drop_reason(qp, pkt) != NO_DROP)
		return false;
	if (!(pkt->op->flags & SROCE_RESPONSE ? sroce_comp_rx_segs(qp, pkt) :
						sroce_resp_rx_segs(qp, pkt)))
		return false;
	sroce_count(qp, SROCE_CNT_RX_PKT_BATCHES);
	sroce_ecn_rx(qp, pkt);
	trace_segs(qp, pkt);
	return true;
}

/*
 * The budget of a trip has run out, or @room in the transmit queue. Return: whether a trip
 * must follow. If it is the queue that is full, that is made when there is room.
 */
static bool run_again(struct sroce_qp *qp, u32 room, bool response)
{
	return room >= SROCE_TX_BUDGET || sroce_tx_wait_room(qp, response);
}

/* Return: whether a trip must follow; a timer may see to that if CNPs limit the rate. */
static bool run_responder(struct sroce_qp *qp)
{
	u32 room, most, n;

	/* an ACK needs no room */
	if (!qp->resp.fifo.n && !qp->resp.replays.n) {
		sroce_resp_tx_run(qp, 0);
		return false;
	}
	room = sroce_tx_room(qp, true);
	most = min_t(u32, room, SROCE_TX_BUDGET);
	n = sroce_resp_rate_free(qp, most);
	if (!sroce_resp_tx_run(qp, n))
		return false;
	if (n == most)
		return run_again(qp, room, true);
	sroce_resp_rate_wait(qp);
	return false;
}

/* Return: whether a trip must follow */
static bool run_requester(struct sroce_qp *qp)
{
	u32 room;

	/* most packets that come make none possible: only the timer is seen to */
	if (sroce_req_is_idle(qp)) {
		sroce_tx_idle(qp);
		return !sroce_req_is_done(qp) && sroce_req_run(qp, 1);
	}
	room = sroce_tx_room(qp, false);
	return sroce_req_run(qp, min_t(u32, room, SROCE_TX_BUDGET)) &&
	       run_again(qp, room, false);
}

/**
 * sroce_transport_run() - send, or flush, what there is, at the end of a trip
 * @qp: the QP, locked
 *
 * Return: whether the budget ran out: call again after others had a turn.
 */
bool sroce_transport_run(struct sroce_qp *qp)
{
	u32 before = qp->req.max_psn;
	bool more = false;

	qp->trip_bytes = 0;
	if (qp->cnp_due && sroce_qp_may_receive(qp))
		sroce_ecn_tx(qp);
	if (qp->svc == SROCE_SVC_RC)
		more = run_responder(qp);
	more |= run_requester(qp);
	if (qp->resp.answer.asked)
		sroce_resp_tx_answered(qp, sroce_psn_diff(qp->req.max_psn, before));
	if (unlikely(qp->sq.flushing))
		more |= sroce_flush_go_on(qp);
	sroce_mr_put_last(qp);
	return more;
}

/**
 * sroce_transport_tx_dropped() - this host has dropped packets of a QP
 * @qp: the QP, locked; the caller calls sroce_transport_run() afterwards
 * @response: they were READ responses, ACKs and the like, not requests
 *
 * A queue on this host was full. The packets are recovered like others that are lost.
 */
void sroce_transport_tx_dropped(struct sroce_qp *qp, bool response)
{
	if (sroce_is_rc(qp))
		sroce_cc_local_drop(qp, response);
}

/**
 * sroce_transport_faulted_in() - a fault request has ended, successfully or not
 * @qp: the QP, locked; the caller calls sroce_transport_run() afterwards
 *
 * Requester and responder retry what waited for pages, and so see whether they are present.
 */
void sroce_transport_faulted_in(struct sroce_qp *qp)
{
	sroce_req_faulted_in(qp);
	sroce_resp_faulted_in(qp);
}
