// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completer: what acknowledges and responses mean for the work requests of an
 * RC send queue (9.7.5.2, 9.7.6).
 */

#include <linux/string.h>
#include "env.h"
#include "trace.h"

/* RNR NAK timer field to ns, table 46 */
static const u32 rnr_us[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960,
	1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960,
	61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

static void progress(struct sroce_qp *qp, u32 una)
{
	struct sroce_req *req = &qp->req;

	req->una = una;
	req->rewound = false;
	req->deadline = 0;
	req->retries = qp->attr.retry_cnt;
	req->rnr_retries = qp->attr.rnr_retry;
	/* acknowledged while it was being resent: skip the rest */
	if (sroce_psn_diff(una, req->psn) > 0)
		sroce_req_seek(qp, una);
}

static void complete_oldest(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	if (sroce_wqe_responds(wqe))
		qp->req.reads--;
	sroce_sq_complete(qp, IB_WC_SUCCESS);
}

/*
 * Everything before @end is acknowledged.
 * Return: false if that takes in a READ or atomic whose response is missing.
 */
static bool ack_before(struct sroce_qp *qp, u32 end)
{
	struct sroce_wqe *wqe;
	bool hole = false;
	u32 una = end;

	while ((wqe = sroce_sq_oldest(qp))) {
		if (sroce_psn_diff(end, wqe->first_psn) <= 0)
			break;
		if (sroce_wqe_responds(wqe)) {
			una = wqe->first_psn;
			hole = true;
			break;
		}
		if (sroce_psn_diff(end, wqe->last_psn) <= 0)
			break;
		complete_oldest(qp, wqe);
	}
	if (sroce_psn_diff(una, qp->req.una) > 0)
		progress(qp, una);
	return !hole;
}

/* Send again from the oldest missing PSN, once until there is progress. */
static void resend(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	if (req->rewound)
		return;
	req->rewound = true;
	req->unasked = SROCE_ACK_EVERY;
	sroce_req_seek(qp, req->una);
}

static void implied_nak(struct sroce_qp *qp)
{
	sroce_count(qp, SROCE_CNT_IMPLIED_NAK);
	resend(qp);
}

static void rnr_nak(struct sroce_qp *qp, u8 timer)
{
	struct sroce_req *req = &qp->req;

	sroce_count(qp, SROCE_CNT_RNR_RCVD);
	if (req->rnr_wait)
		return;
	if (qp->attr.rnr_retry != 7) {
		if (!req->rnr_retries) {
			sroce_count(qp, SROCE_CNT_RNR_RETRY_EXC);
			sroce_sq_fail(qp, IB_WC_RNR_RETRY_EXC_ERR);
			return;
		}
		req->rnr_retries--;
	}
	req->rnr_wait = true;
	req->deadline = 0;
	req->unasked = SROCE_ACK_EVERY;
	sroce_req_seek(qp, req->una);
	sroce_timer_rnr(qp, rnr_us[timer] * 1000ULL);
}

static void nak(struct sroce_qp *qp, u8 code)
{
	static const u8 status[] = {
		[SROCE_NAK_INV_REQ]	= IB_WC_REM_INV_REQ_ERR,
		[SROCE_NAK_REM_ACCESS]	= IB_WC_REM_ACCESS_ERR,
		[SROCE_NAK_REM_OP]	= IB_WC_REM_OP_ERR,
		[SROCE_NAK_INV_RD]	= IB_WC_REM_INV_RD_REQ_ERR,
	};

	if (code == SROCE_NAK_PSN_SEQ) {
		sroce_count(qp, SROCE_CNT_NAK_SEQ_RCVD);
		resend(qp);
	} else if (code < ARRAY_SIZE(status)) {
		sroce_count(qp, SROCE_CNT_NAK_FATAL_RCVD);
		sroce_sq_fail(qp, status[code]);
	} else {
		sroce_count(qp, SROCE_CNT_BAD_RESPONSE);
	}
}

static void rx_ack(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u8 value = pkt->syndrome & SROCE_AETH_VALUE;

	switch (pkt->syndrome & SROCE_AETH_TYPE) {
	case SROCE_AETH_ACK:
		if (!ack_before(qp, sroce_psn_add(pkt->psn, 1)))
			implied_nak(qp);
		break;
	case SROCE_AETH_RNR:
		if (ack_before(qp, pkt->psn))
			rnr_nak(qp, value);
		else
			implied_nak(qp);
		break;
	case SROCE_AETH_NAK:
		if (ack_before(qp, pkt->psn) ||
		    (value != SROCE_NAK_PSN_SEQ && qp->req.una == pkt->psn))
			nak(qp, value);
		else
			implied_nak(qp);
		break;
	default:
		sroce_count(qp, SROCE_CNT_BAD_RESPONSE);
	}
}

struct place {
	const struct sroce_pkt	*pkt;
	u32			off;
};

static int place_span(void *span, u32 len, void *arg)
{
	struct place *pl = arg;
	int ret = sroce_pkt_copy(pl->pkt, pl->off, span, len);

	pl->off += len;
	return ret;
}

/* The work request that waits for a response with this PSN, if there is one. */
static struct sroce_wqe *awaiting(struct sroce_qp *qp,
				  const struct sroce_pkt *pkt, bool *hole)
{
	struct sroce_wqe *wqe = sroce_sq_oldest(qp);

	*hole = false;
	if (!wqe || !sroce_wqe_responds(wqe) || qp->req.una != pkt->psn) {
		*hole = !ack_before(qp, pkt->psn);
		wqe = sroce_sq_oldest(qp);
		/* what came before is acknowledged; una may now have arrived */
		if (*hole && wqe && sroce_wqe_responds(wqe) &&
		    qp->req.una == pkt->psn)
			*hole = false;
	}
	if (*hole || !wqe || !sroce_wqe_responds(wqe) ||
	    qp->req.una != pkt->psn)
		return NULL;
	return wqe;
}

/* Positive acknowledge in the AETH that READ and atomic responses carry */
static bool aeth_positive(const struct sroce_pkt *pkt)
{
	return !(pkt->op->flags & SROCE_AETH) ||
	       (pkt->syndrome & SROCE_AETH_TYPE) == SROCE_AETH_ACK;
}

static void rx_read(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		    struct sroce_wqe *wqe)
{
	u32 off = sroce_psn_diff(pkt->psn, wqe->first_psn) * qp->mtu;
	struct place pl = { .pkt = pkt };

	if (pkt->payload_len != min(qp->mtu, wqe->length - off)) {
		sroce_count(qp, SROCE_CNT_BAD_RESPONSE);
		sroce_sq_fail(qp, IB_WC_BAD_RESP_ERR);
		return;
	}
	if (sroce_sge_scatter(qp, wqe->sge, wqe->num_sge, off,
			      pkt->payload_len, place_span, &pl)) {
		sroce_sq_fail(qp, IB_WC_LOC_PROT_ERR);
		return;
	}
	if (pkt->psn == wqe->last_psn)
		complete_oldest(qp, wqe);
	else
		qp->req.read_psns--;	/* una moves over it */
	progress(qp, sroce_psn_add(pkt->psn, 1));
}

static int put_orig(void *span, u32 len, void *arg)
{
	u8 **from = arg;

	memcpy(span, *from, len);
	*from += len;
	return 0;
}

static void rx_atomic(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		      struct sroce_wqe *wqe)
{
	u64 orig = pkt->orig;
	u8 *from = (u8 *)&orig;

	if (sroce_sge_scatter(qp, wqe->sge, wqe->num_sge, 0, sizeof(orig),
			      put_orig, &from)) {
		sroce_sq_fail(qp, IB_WC_LOC_PROT_ERR);
		return;
	}
	complete_oldest(qp, wqe);
	progress(qp, sroce_psn_add(pkt->psn, 1));
}

static void rx_response(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	bool atomic = pkt->op->flags & SROCE_ATOMIC;
	struct sroce_wqe *wqe;
	bool hole;

	wqe = awaiting(qp, pkt, &hole);
	if (hole) {
		implied_nak(qp);
	} else if (!wqe || atomic != (wqe->msg != SROCE_MSG_READ) ||
		   !aeth_positive(pkt)) {
		sroce_count(qp, SROCE_CNT_BAD_RESPONSE);
	} else if (atomic) {
		rx_atomic(qp, pkt, wqe);
	} else {
		rx_read(qp, pkt, wqe);
	}
}

/**
 * sroce_comp_rx() - take in a response packet
 * @qp: the QP, RC and ready to send
 * @pkt: the packet
 */
void sroce_comp_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	if (!sroce_qp_may_send(qp)) {
		sroce_count(qp, SROCE_CNT_RX_QP_STATE);
		return;
	}
	if (sroce_psn_diff(pkt->psn, qp->req.una) < 0) {
		sroce_count(qp, SROCE_CNT_ACK_DUP);
		return;
	}
	if (sroce_psn_diff(pkt->psn, qp->req.max_psn) >= 0) {
		sroce_count(qp, SROCE_CNT_ACK_GHOST);
		return;
	}
	if (pkt->op->flags & (SROCE_READING | SROCE_ATOMIC))
		rx_response(qp, pkt);
	else
		rx_ack(qp, pkt);
}
