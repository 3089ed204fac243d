// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completer: processes ACKs, NAKs and responses, and completes the work requests of an
 * RC send queue in order (9.7.5.2, 9.7.6).
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/mem/mem_ops.h"
#include "drv/core/mem/mr.h"
#include "drv/core/mem/sge.h"
#include "drv/core/rc/cc.h"
#include "drv/core/rc/comp.h"
#include "drv/core/rc/flush.h"
#include "drv/core/rc/ofo.h"
#include "drv/core/rc/read_retry.h"
#include "drv/core/rc/read_split.h"
#include "drv/core/rc/retrans.h"
#include "drv/core/rc/rtt.h"
#include "drv/core/rc/sq_sched.h"
#include "drv/core/tx/segs.h"
#include "drv/core/wire/credit.h"

/* RNR NAK timer field to microseconds, table 46 */
static const u32 rnr_us[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960,
	1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960,
	61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

/*
 * Least wait for RNR, in us, if the wait before it was in vain: doubled each time, up to
 * RNR_LEAST << RNR_LEAST_SHIFT. A peer may ask for as little as 10 us, and for that often.
 * QPs of one process could keep a CPU busy with that.
 */
#define RNR_LEAST	10U
#define RNR_LEAST_SHIFT	7

/* The request that had failed was sent twice, and the other copy succeeded: go on. */
static void clear_pending_err(struct sroce_qp *qp)
{
	qp->req.pending_err = 0;
	sroce_retrans_restart(qp);
}

/* The requests of a READ that lie before @end do not count as unacknowledged any more. */
static void acknowledge_read(struct sroce_req *req, const struct sroce_wqe *wqe, u32 end)
{
	struct sroce_retrans *rp = &req->retrans;
	u32 n;

	if (wqe->msg != SROCE_MSG_READ)
		return;
	n = sroce_read_split_psns(wqe, req->acked, end);
	req->read_psns -= n;
	rp->left_read_psns -= min(n, rp->left_read_psns);
}

/*
 * The responder has executed all requests before @end. If @end lies within a READ request,
 * which is executed as a whole, only those before it count. @gap: from an RNR
 * NAK or a NAK of a gap.
 */
static void advance(struct sroce_qp *qp, u32 end, bool gap)
{
	struct sroce_req *req = &qp->req;
	s32 before = sroce_cc_in_flight(qp);
	u32 read_psns = req->read_psns, n, i;
	struct sroce_sq *sq = &qp->sq;
	bool clear;

	for (i = req->acked_idx; i != sq->prod; i = sroce_sq_next(sq, i)) {
		const struct sroce_wqe *wqe = sroce_sq_wqe(sq, i);

		/* a local operation has no PSN: it is passed with the request before */
		if (!wqe->started || sroce_psn_diff(end, wqe->first_psn) <
		    !sroce_wqe_is_mem_op(wqe))
			break;
		if (sroce_psn_diff(end, wqe->last_psn) <= 0) {
			if (sroce_wqe_wants_response(wqe))
				end = sroce_read_split_start(wqe, end);
			acknowledge_read(req, wqe, end);
			break;
		}
		acknowledge_read(req, wqe, sroce_psn_add(wqe->last_psn, 1));
	}
	req->acked_idx = i;
	if (sroce_psn_diff(end, req->acked) <= 0)
		return;
	clear = req->pending_err && req->pending_err_psn == req->acked;
	n = sroce_psn_diff(end, req->acked) - (read_psns - req->read_psns);
	req->acked = end;
	if (req->credit_probe && sroce_psn_diff(end, req->credit_probe_psn) > 0)
		req->credit_probe = false;
	sroce_cc_acked(qp, before);
	sroce_retrans_acked(qp, n, gap);
	if (clear)
		clear_pending_err(qp);
}

/* One past the PSNs of a work request, from una on, whose responses have arrived */
static u32 answered_end(struct sroce_req *req, const struct sroce_wqe *wqe)
{
	u32 psn = req->una, end = sroce_psn_add(wqe->last_psn, 1);

	if (sroce_psn_diff(wqe->first_psn, psn) > 0)
		psn = wqe->first_psn;
	while (psn != end && test_bit(psn % SROCE_READ_AHEAD, req->read_buf->bitmap)) {
		__clear_bit(psn % SROCE_READ_AHEAD, req->read_buf->bitmap);
		psn = sroce_psn_add(psn, 1);
	}
	return psn;
}

/* One past the PSNs of a work request that are done */
static u32 done_end(struct sroce_req *req, const struct sroce_wqe *wqe)
{
	if (sroce_wqe_wants_response(wqe))
		return answered_end(req, wqe);
	if (sroce_psn_diff(req->acked, wqe->last_psn) > 0)
		return sroce_psn_add(wqe->last_psn, 1);
	return req->acked;
}

/* All responses of the oldest work request have arrived. */
static void finish_read(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	if (wqe->inv && sroce_mem_ops_invalidate(qp, wqe->inv_rkey, false)) {
		sroce_count(qp, SROCE_CNT_MEM_OP_ERROR);
		sroce_sq_fail(qp, IB_WC_MW_BIND_ERR);
	}
}

/* Fail @wqe, the oldest work request, if the pending error is its own. */
static void settle_pending_err(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	struct sroce_req *req = &qp->req;

	if (!wqe || !wqe->started ||
	    sroce_psn_diff(req->pending_err_psn, wqe->first_psn) < 0)
		clear_pending_err(qp);
	else if (sroce_psn_diff(req->pending_err_psn, wqe->last_psn) <= 0)
		sroce_sq_fail(qp, req->pending_err);
}

/**
 * sroce_comp_settle() - complete the oldest work requests that are done
 * @qp: the QP, RC, locked
 *
 * Work requests complete in order, up to the first that is not done. If that one has a
 * pending error, it fails. The QP may have entered the error state on return.
 */
void sroce_comp_settle(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_wqe *wqe;
	u32 una = req->una;

	while ((wqe = sroce_sq_oldest(qp))) {
		u32 end = done_end(req, wqe);

		if (sroce_psn_diff(end, req->una) > 0) {
			if (sroce_wqe_wants_response(wqe))
				req->reads -= sroce_read_split_count(wqe, req->una, end);
			req->una = end;
		}
		if (sroce_psn_diff(end, wqe->last_psn) <= 0)
			break;
		if (sroce_wqe_wants_response(wqe))
			finish_read(qp, wqe);
		/* the invalidation of a READ may have failed */
		if (!sroce_qp_may_send(qp))
			return;
		/* a local operation that sending went back behind, and has not passed again */
		if (req->next_idx == qp->sq.cons)
			req->next_idx = sroce_sq_next(&qp->sq, req->next_idx);
		sroce_sq_complete(qp, IB_WC_SUCCESS);
		/* the CQ may have overflowed, which is fatal to the QP */
		if (!sroce_qp_may_send(qp))
			return;
	}
	if (req->una != una) {
		sroce_read_retry_trim(qp);
		sroce_retrans_progress(qp);
	}
	if (req->pending_err)
		settle_pending_err(qp, wqe);
}

/* The request with @psn has failed: it completes with @status once it is the oldest. */
static void set_pending_err(struct sroce_qp *qp, u32 psn, enum ib_wc_status status)
{
	struct sroce_req *req = &qp->req;

	if (req->pending_err && sroce_psn_diff(psn, req->pending_err_psn) > 0)
		return;
	req->pending_err = status;
	req->pending_err_psn = psn;
	sroce_comp_settle(qp);
}

/* Update the limit sequence number from the credits in an AETH (9.7.7.2). */
static void update_lsn(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u8 code = pkt->syndrome & SROCE_AETH_VALUE;
	struct sroce_req *req = &qp->req;
	u32 limit;

	if (code == SROCE_AETH_NO_CREDITS) {
		req->lsn_valid = false;
		return;
	}
	limit = sroce_psn_add(pkt->msn, sroce_credit_decode(code));
	/* an older ACK that was overtaken has an older limit */
	if (req->lsn_valid && sroce_psn_diff(limit, req->lsn) < 0)
		return;
	req->lsn_valid = true;
	req->lsn = limit;
}

/*
 * Whether an RNR NAK of a PSN is valid: it is that of the next request, or of a missing
 * response of a READ after which nothing was executed, or that was requested again: its
 * memory may be absent by then.
 */
static bool is_rnr_valid(struct sroce_qp *qp, u32 psn)
{
	struct sroce_req *req = &qp->req;
	const struct sroce_wqe *wqe;

	if (psn == req->acked)
		return true;
	wqe = sroce_sq_sched_wqe(qp, qp->sq.cons, psn);
	if (!wqe || wqe->msg != SROCE_MSG_READ || !sroce_read_retry_missing(req, psn))
		return false;
	return sroce_read_retry_is_asked(req, psn) ||
	       (psn != sroce_read_split_start(wqe, psn) &&
		sroce_psn_diff(req->acked, sroce_read_split_end(wqe, psn)) <= 0);
}

/*
 * ns to wait after an RNR NAK. What the peer asks for is a least time. A wait is about as
 * long as all before it in a row, so it doesn't last much longer than the peer needs.
 */
static u64 rnr_delay(struct sroce_req *req, u8 timer)
{
	u32 least = req->rnr_waits ? RNR_LEAST << req->rnr_waits : 0;

	if (req->rnr_waits < RNR_LEAST_SHIFT)
		req->rnr_waits++;
	return max(rnr_us[timer], least) * (u64)NSEC_PER_USEC;
}

static void rnr_nak(struct sroce_qp *qp, u32 psn, u8 timer)
{
	struct sroce_req *req = &qp->req;

	sroce_count(qp, SROCE_CNT_RNR_RCVD);
	if (req->rnr_wait)
		return;
	if (req->pending_err && sroce_psn_diff(psn, req->pending_err_psn) >= 0)
		return;
	if (qp->attr.rnr_retry != 7) {
		if (!req->rnr_retries) {
			sroce_count(qp, SROCE_CNT_RNR_RETRY_EXC);
			set_pending_err(qp, psn, IB_WC_RNR_RETRY_EXC_ERR);
			return;
		}
		req->rnr_retries--;
	}
	req->rnr_wait = true;
	sroce_read_retry_postpone(qp, psn);
	sroce_task_set_rnr_timer(qp, rnr_delay(req, timer));
}

static void fatal_nak(struct sroce_qp *qp, u32 psn, u8 code)
{
	static const u8 status[] = {
		[SROCE_NAK_INV_REQ]	= IB_WC_REM_INV_REQ_ERR,
		[SROCE_NAK_REM_ACCESS]	= IB_WC_REM_ACCESS_ERR,
		[SROCE_NAK_REM_OP]	= IB_WC_REM_OP_ERR,
		[SROCE_NAK_INV_RD]	= IB_WC_REM_INV_RD_REQ_ERR,
	};

	if (code >= ARRAY_SIZE(status) || !status[code]) {
		sroce_count(qp, SROCE_CNT_BAD_RESPONSE);
		return;
	}
	sroce_count(qp, SROCE_CNT_NAK_FATAL_RCVD);
	set_pending_err(qp, psn, status[code]);
}

/* An ACK: the PSN is the newest that was executed. */
static void rx_positive(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u32 end = sroce_psn_add(pkt->psn, 1), before = qp->req.acked;

	if (sroce_psn_diff(end, before) <= 0) {
		sroce_count(qp, SROCE_CNT_ACK_DUP);
		return;
	}
	update_lsn(qp, pkt);
	advance(qp, end, false);
	/* an ACK within a READ has no meaning */
	if (qp->req.acked == before)
		sroce_count(qp, SROCE_CNT_BAD_RESPONSE);
	sroce_read_retry_until(qp, qp->req.acked);
	sroce_comp_settle(qp);
	if (qp->req.acked != before && sroce_qp_may_send(qp))
		sroce_retrans_implied_gap(qp);
}

/* A NAK or RNR NAK: the PSN is the oldest not executed; all before is acknowledged. */
static void rx_negative(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u8 value = pkt->syndrome & SROCE_AETH_VALUE;
	bool rnr = (pkt->syndrome & SROCE_AETH_TYPE) == SROCE_AETH_RNR;
	bool gap = !rnr && value == SROCE_NAK_PSN_SEQ;
	u32 end;

	/* an RNR NAK shows that the packet arrived: more came than what filled the gap */
	advance(qp, pkt->psn, gap || rnr);
	/* a READ may be refused half way: no responses follow from that PSN on */
	end = qp->req.acked;
	if (sroce_psn_diff(pkt->psn, end) < 0)
		end = pkt->psn;
	sroce_read_retry_until(qp, end);
	sroce_comp_settle(qp);
	if (!sroce_qp_may_send(qp))
		return;
	if (gap)
		sroce_count(qp, SROCE_CNT_NAK_SEQ_RCVD);
	/* rdma_rxe reports a gap behind a packet that it has refused, too: that one has arrived */
	if ((gap && (pkt->psn != qp->req.acked || qp->req.rnr_wait)) ||
	    (rnr && !is_rnr_valid(qp, pkt->psn)))
		sroce_count(qp, SROCE_CNT_ACK_DUP);
	else if (gap)
		sroce_retrans_gap(qp);
	else if (rnr)
		rnr_nak(qp, pkt->psn, value);
	else
		fatal_nak(qp, pkt->psn, value);
}

static void rx_ack(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	switch (pkt->syndrome & SROCE_AETH_TYPE) {
	case SROCE_AETH_ACK:
		rx_positive(qp, pkt);
		break;
	case SROCE_AETH_RNR:
	case SROCE_AETH_NAK:
		rx_negative(qp, pkt);
		break;
	default:
		sroce_count(qp, SROCE_CNT_BAD_RESPONSE);
	}
}

/* The AETH, which READ and atomic responses carry, is that of an ACK. */
static bool aeth_positive(const struct sroce_pkt *pkt)
{
	return !(pkt->op->flags & SROCE_AETH) ||
	       (pkt->syndrome & SROCE_AETH_TYPE) == SROCE_AETH_ACK;
}

static int place_read(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		      const struct sroce_wqe *wqe)
{
	u32 off = sroce_psn_diff(pkt->psn, wqe->first_psn) * qp->mtu;
	struct sroce_rx_cursor pl = { .pkt = pkt };

	return sroce_sge_scatter(qp, wqe->sge, wqe->num_sge, off,
				 pkt->payload_len, sroce_segs_rx_span, &pl);
}

static int place_atomic(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			const struct sroce_wqe *wqe)
{
	u64 orig = pkt->orig;
	u8 *from = (u8 *)&orig;

	return sroce_sge_scatter(qp, wqe->sge, wqe->num_sge, 0, sizeof(orig),
				 sroce_mr_copy_to, &from);
}

/* One past the PSNs of a response */
static u32 response_end(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return sroce_psn_add(pkt->psn, sroce_pkt_psns(pkt, qp->mtu));
}

/* Whether the length of a response is what its request asked for */
static bool response_fits(const struct sroce_qp *qp,
			  const struct sroce_pkt *pkt,
			  const struct sroce_wqe *wqe)
{
	u32 off, left, len = pkt->payload_len;

	if (pkt->op->flags & SROCE_ATOMIC)
		return true;
	if (sroce_wqe_ack_only(wqe))
		return !pkt->payload_len;
	off = sroce_psn_diff(pkt->psn, wqe->first_psn) * qp->mtu;
	left = wqe->length - off;
	if (pkt->loopback)
		return len == left || (len && len < left && !(len % qp->mtu));
	return len == min(qp->mtu, left);
}

static void mark_received(struct sroce_req *req, u32 psn, u32 end)
{
	for (; psn != end; psn = sroce_psn_add(psn, 1))
		__set_bit(psn % SROCE_READ_AHEAD, req->read_buf->bitmap);
}

/*
 * Only the oldest work request fails at once. With another the response is ignored: it
 * counts as missing and is requested again.
 */
static void bad_response(struct sroce_qp *qp, const struct sroce_wqe *wqe,
			 enum ib_wc_status status)
{
	if (status == IB_WC_BAD_RESP_ERR)
		sroce_count(qp, SROCE_CNT_BAD_RESPONSE);
	if (wqe == sroce_sq_oldest(qp))
		sroce_sq_fail(qp, status);
}

/*
 * Fault in the memory that a response goes to. Return: -EAGAIN if that is under way,
 * -EFAULT if it is not possible.
 */
static int fault_in_response(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			     const struct sroce_wqe *wqe)
{
	u32 off = sroce_psn_diff(pkt->psn, wqe->first_psn) * qp->mtu;
	u32 need = wqe->msg == SROCE_MSG_READ ? pkt->payload_len : wqe->length;
	int ret;

	ret = sroce_sge_fault_in(qp, wqe->sge, wqe->num_sge, off, need,
				 wqe->length - off, IB_ACCESS_LOCAL_WRITE);
	if (ret != -EAGAIN)
		return -EFAULT;
	sroce_count(qp, SROCE_CNT_ODP_MISS);
	sroce_retrans_alive(qp);
	return ret;
}

/*
 * Defer a response until its memory is faulted in; without room it counts as lost. One that is
 * deferred already tells nothing new, and a peer could have it looked at again and again.
 */
static void defer_response(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	int ret = sroce_ofo_defer(qp, pkt);
	u32 end = response_end(qp, pkt);

	if (!ret)
		sroce_read_retry_received(qp, pkt->psn, end);
	else if (ret != -EEXIST)
		sroce_read_retry_wants_pages(qp, end);
}

/*
 * Process what a response implies for other requests and responses. Return: false if
 * the QP has entered an error state.
 */
static bool note_response(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			  const struct sroce_wqe *wqe)
{
	advance(qp, sroce_read_split_end(wqe, pkt->psn), false);
	sroce_read_retry_until(qp, pkt->psn);
	sroce_comp_settle(qp);
	return sroce_qp_may_send(qp);
}

/* The payload of a response has been placed. */
static void finish_response(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			    const struct sroce_wqe *wqe)
{
	u32 end = response_end(qp, pkt);

	mark_received(&qp->req, pkt->psn, end);
	if (wqe->msg == SROCE_MSG_READ)
		sroce_cc_read_received(qp, sroce_psn_diff(end, pkt->psn));
	sroce_retrans_alive(qp);
	sroce_read_retry_received(qp, pkt->psn, end);
	if (sroce_qp_may_send(qp))
		sroce_comp_settle(qp);
}

/*
 * Place the payload of a response at once; the completion waits for older responses.
 * Return: whether the response must be deferred. In all other cases it is done with.
 */
static bool take_response(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			  struct sroce_wqe *wqe)
{
	int ret;

	if (!note_response(qp, pkt, wqe))
		return false;
	if (!response_fits(qp, pkt, wqe)) {
		bad_response(qp, wqe, IB_WC_BAD_RESP_ERR);
		return false;
	}
	ret = pkt->op->flags & SROCE_ATOMIC ? place_atomic(qp, pkt, wqe) :
					      place_read(qp, pkt, wqe);
	if (ret == -EAGAIN)
		ret = fault_in_response(qp, pkt, wqe);
	if (ret == -EAGAIN)
		return true;
	if (ret) {
		bad_response(qp, wqe, IB_WC_LOC_PROT_ERR);
		return false;
	}
	if (pkt->op->flags & SROCE_AETH)
		update_lsn(qp, pkt);
	finish_response(qp, pkt, wqe);
	return false;
}

static void duplicate(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	sroce_count(qp, SROCE_CNT_ACK_DUP);
	if (pkt->op->flags & SROCE_READING)
		sroce_read_retry_duplicate(qp, pkt->psn);
}

/*
 * A response is too far ahead to be noted. If older ones wait for pages that is why: in loopback
 * a whole READ is requested at once.
 */
static void early(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u32 end = response_end(qp, pkt);

	sroce_count(qp, SROCE_CNT_ACK_EARLY);
	if (qp->req.resp_dropped)
		sroce_read_retry_wants_pages(qp, end);
	else if (pkt->loopback)
		sroce_read_retry_until(qp, end);
}

/* Return: whether the response must be deferred */
static bool rx_response(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_wqe *wqe = sroce_sq_sched_wqe(qp, qp->sq.cons, pkt->psn);
	bool atomic = pkt->op->flags & SROCE_ATOMIC;

	if (!wqe || !sroce_wqe_wants_response(wqe) || !aeth_positive(pkt) ||
	    atomic != sroce_wqe_fetches(wqe))
		sroce_count(qp, SROCE_CNT_BAD_RESPONSE);
	else if (sroce_psn_diff(response_end(qp, pkt), qp->req.una) >
		 SROCE_READ_AHEAD)
		early(qp, pkt);
	else if (test_bit(pkt->psn % SROCE_READ_AHEAD, qp->req.read_buf->bitmap))
		duplicate(qp, pkt);
	else
		return take_response(qp, pkt, wqe);
	return false;
}

/* Whether a response is within the PSNs of outstanding requests */
static bool is_outstanding(const struct sroce_req *req, const struct sroce_pkt *pkt)
{
	return sroce_psn_diff(pkt->psn, req->una) >= 0 &&
	       sroce_psn_diff(pkt->psn, req->max_psn) < 0;
}

/**
 * sroce_comp_faulted_in() - process the deferred responses after pages were faulted in
 * @qp: the QP, RC, locked
 *
 * Responses whose memory is still missing are deferred again.
 */
void sroce_comp_faulted_in(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_ofo_pkt *ofo, *next;
	LIST_HEAD(deferred);

	list_splice_init(&req->ofo_resps, &deferred);
	req->n_ofo_resps = 0;
	list_for_each_entry_safe(ofo, next, &deferred, list) {
		/* an earlier response may have failed the QP */
		if (sroce_qp_may_send(qp) && is_outstanding(req, &ofo->pkt) &&
		    rx_response(qp, &ofo->pkt))
			sroce_ofo_defer_again(qp, ofo);
		else
			sroce_ofo_free(qp, ofo);
	}
}

/**
 * sroce_comp_rx() - process a response packet
 * @qp: the QP, RC, locked
 * @pkt: the packet
 */
void sroce_comp_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_req *req = &qp->req;

	if (!sroce_qp_may_send(qp)) {
		sroce_count(qp, SROCE_CNT_RX_QP_STATE);
		return;
	}
	/* the newest ACK again: it carries new credits, or answers a probe */
	if (pkt->opcode == SROCE_OP_ACK && aeth_positive(pkt) &&
	    sroce_psn_add(pkt->psn, 1) == req->acked) {
		update_lsn(qp, pkt);
		sroce_retrans_duplicate(qp);
	}
	if (sroce_psn_diff(pkt->psn, req->una) < 0) {
		duplicate(qp, pkt);
		return;
	}
	if (sroce_psn_diff(pkt->psn, req->max_psn) >= 0) {
		sroce_count(qp, SROCE_CNT_ACK_GHOST);
		return;
	}
	sroce_rtt_heard(qp);
	if (!(pkt->op->flags & SROCE_HAS_RESPONSE))
		rx_ack(qp, pkt);
	else if (rx_response(qp, pkt))
		defer_response(qp, pkt);
}

/* Whether all segments answer one READ request, within read-ahead, and none has arrived yet */
static bool are_segs_missing(const struct sroce_qp *qp, const struct sroce_pkt *pkt,
			     const struct sroce_wqe *wqe)
{
	const struct sroce_req *req = &qp->req;
	u32 end = response_end(qp, pkt), psn;

	if (wqe->msg != SROCE_MSG_READ || pkt->seg_len != qp->mtu ||
	    sroce_psn_diff(pkt->psn, req->una) < 0 ||
	    sroce_psn_diff(pkt->psn, req->max_psn) >= 0 ||
	    /* none of them is the last of its request */
	    sroce_psn_diff(end, sroce_read_split_end(wqe, pkt->psn)) >= 0 ||
	    sroce_psn_diff(end, req->una) > SROCE_READ_AHEAD)
		return false;
	for (psn = pkt->psn; psn != end; psn = sroce_psn_add(psn, 1))
		if (test_bit(psn % SROCE_READ_AHEAD, req->read_buf->bitmap))
			return false;
	return true;
}

/**
 * sroce_comp_rx_segs() - process several READ responses received as one train
 * @qp: the QP, RC, locked
 * @pkt: the segments
 *
 * Return: false if the packets must be processed one by one.
 */
bool sroce_comp_rx_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	const struct sroce_wqe *wqe;

	if (!sroce_qp_may_send(qp) || !(pkt->op->flags & SROCE_READING))
		return false;
	wqe = sroce_sq_sched_wqe(qp, qp->sq.cons, pkt->psn);
	if (!wqe || !are_segs_missing(qp, pkt, wqe))
		return false;
	sroce_rtt_heard(qp);
	if (!note_response(qp, pkt, wqe) || place_read(qp, pkt, wqe))
		return false;
	finish_response(qp, pkt, wqe);
	return true;
}
