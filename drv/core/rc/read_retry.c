// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requester: missing responses of READs and atomics are requested again (9.7.5.2.8).
 *
 * Responses arrive in order, and responses that are requested again arrive before all
 * others. Any response therefore implies that those before it are lost, both first
 * responses and repeated ones, and no timer is needed. If no response arrives any more,
 * the timers in retrans.c request the oldest.
 */

#include "drv/core/env.h"
#include "drv/core/rc/cwnd.h"
#include "drv/core/rc/read_retry.h"
#include "drv/core/rc/req_pkt.h"

/**
 * sroce_read_retry_missing() - whether a response has not arrived
 * @req: the requester
 * @psn: PSN of the response
 *
 * Return: true also for a response that is too far ahead to be accepted.
 */
bool sroce_read_retry_missing(const struct sroce_req *req, u32 psn)
{
	s32 ahead = sroce_psn_diff(psn, req->una);

	return ahead >= SROCE_READ_AHEAD ||
	       (ahead >= 0 && !test_bit(psn % SROCE_READ_AHEAD, req->resp_bitmap));
}

/* The first PSN in a range which is (@missing) or isn't missing; @end if there is none */
static u32 find_psn(const struct sroce_req *req, u32 psn, u32 end, bool missing)
{
	while (sroce_psn_diff(end, psn) > 0 &&
	       sroce_read_retry_missing(req, psn) != missing) {
		/* no response beyond this has been accepted */
		if (sroce_psn_diff(psn, req->una) >= SROCE_READ_AHEAD)
			return end;
		psn = sroce_psn_add(psn, 1);
	}
	return psn;
}

/* Forget the oldest @n ranges. */
static void drop_first(struct sroce_read_retry *rr, u32 n)
{
	rr->n -= n;
	memmove(rr->range, rr->range + n, rr->n * sizeof(*rr->range));
}

/* Forget the ranges that end before @psn or are empty. */
static void drop_empty(struct sroce_read_retry *rr, u32 psn)
{
	u32 i, n = 0;

	for (i = 0; i < rr->n; i++)
		if (sroce_psn_diff(rr->range[i].end, psn) > 0 &&
		    sroce_psn_diff(rr->range[i].end, rr->range[i].psn) > 0)
			rr->range[n++] = rr->range[i];
	rr->n = n;
}

/**
 * sroce_read_retry_trim() - forget the ranges before req.una
 * @qp: the QP, RC, locked
 *
 * Otherwise such a range would seem to lie ahead 2^23 packets later.
 */
void sroce_read_retry_trim(struct sroce_qp *qp)
{
	if (qp->req.read_retry.n)
		drop_empty(&qp->req.read_retry, qp->req.una);
}

/* Request what is missing from @psn to @end, as far as there is room for ranges. */
static void request_range(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 psn, u32 end)
{
	struct sroce_req *req = &qp->req;
	struct sroce_read_retry *rr = &req->read_retry;
	u32 to;

	if (sroce_psn_diff(req->una, psn) > 0)
		psn = req->una;
	for (;; psn = to) {
		psn = find_psn(req, psn, end, true);
		to = find_psn(req, psn, end, false);
		if (psn == to)
			return;
		if (rr->n == SROCE_READ_RANGES_MAX) {
			rr->full = true;
			return;
		}
		rr->range[rr->n++] = (struct sroce_read_range){
			.wqe = wqe, .psn = psn, .end = to, .when = sroce_now(),
		};
		sroce_req_pkt_resend_read(qp, wqe, psn, to);
		if (!sroce_qp_may_send(qp))
			return;
	}
}

/* Likewise, but across work requests */
static void request_missing(struct sroce_qp *qp, u32 from, u32 end)
{
	struct sroce_sq *sq = &qp->sq;
	u32 i;

	if (!qp->req.reads)
		return;
	for (i = sq->cons; i != sq->prod && sroce_qp_may_send(qp);
	     i = sroce_sq_next(sq, i)) {
		struct sroce_wqe *wqe = sroce_sq_wqe(sq, i);
		u32 past = sroce_psn_add(wqe->last_psn, 1);

		if (!wqe->started || sroce_psn_diff(end, wqe->first_psn) <= 0)
			break;
		if (!sroce_wqe_wants_response(wqe) || sroce_psn_diff(past, from) <= 0)
			continue;
		request_range(qp, wqe, sroce_psn_diff(from, wqe->first_psn) < 0 ?
				       wqe->first_psn : from,
			      sroce_psn_diff(past, end) < 0 ? past : end);
	}
}

/**
 * sroce_read_retry_until() - request responses again that are missing before a PSN
 * @qp: the QP, RC, locked
 * @end: the PSN; the peer has sent all responses before it
 *
 * Responses that were requested again before are left out.
 */
void sroce_read_retry_until(struct sroce_qp *qp, u32 end)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;
	u32 from = rr->high, before = rr->n;

	if (sroce_psn_diff(end, from) <= 0)
		return;
	rr->high = end;
	request_missing(qp, from, end);
	for (; before < rr->n; before++)
		sroce_count(qp, SROCE_CNT_IMPLIED_NAK);
}

/**
 * sroce_read_retry_postpone() - expect no responses from a PSN on for now
 * @qp: the QP, RC, locked
 * @psn: the PSN of an RNR NAK
 */
void sroce_read_retry_postpone(struct sroce_qp *qp, u32 psn)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;
	u32 i;

	if (sroce_psn_diff(rr->high, psn) <= 0)
		return;
	rr->high = psn;
	for (i = 0; i < rr->n; i++)
		if (sroce_psn_diff(rr->range[i].end, psn) > 0)
			rr->range[i].end = psn;
	drop_empty(rr, qp->req.una);
}

/**
 * sroce_read_retry_dropped() - request responses again that were dropped for want of pages
 * @qp: the QP, RC, locked; the pages have been faulted in
 * @end: one past the PSN of the last response that was dropped
 */
void sroce_read_retry_dropped(struct sroce_qp *qp, u32 end)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;

	if (sroce_psn_diff(end, rr->high) > 0)
		rr->high = end;
	rr->n = 0;
	rr->full = false;
	request_missing(qp, qp->req.una, rr->high);
}

/**
 * sroce_read_retry_received() - update the ranges after responses have arrived
 * @qp: the QP, RC, locked
 * @psn: PSN of the first response
 * @end: one past the PSN of the last
 *
 * If the responses had been requested again, older ranges are lost once more and are
 * requested anew.
 */
void sroce_read_retry_received(struct sroce_qp *qp, u32 psn, u32 end)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;
	struct sroce_read_range a;
	u32 n;

	if (sroce_psn_diff(end, rr->high) > 0)
		rr->high = end;
	for (n = 0; n < rr->n; n++)
		if (sroce_psn_diff(psn, rr->range[n].psn) >= 0 &&
		    sroce_psn_diff(psn, rr->range[n].end) < 0)
			break;
	if (n == rr->n)
		return;
	/* only the first response of a range measures the round trip */
	if (rr->range[n].when)
		sroce_cwnd_read_retried(qp, sroce_now() - rr->range[n].when);
	rr->range[n].when = 0;
	for (; n; n--) {
		a = rr->range[0];
		drop_first(rr, 1);
		request_range(qp, a.wqe, a.psn, a.end);
		/* on an error the send queue was flushed, and the ranges are gone */
		if (!sroce_qp_may_send(qp))
			return;
	}
	a = rr->range[0];
	rr->range[0].psn = end;
	if (sroce_psn_diff(a.end, end) <= 0)
		drop_first(rr, 1);
	request_range(qp, a.wqe, a.psn, psn);
	if (rr->full && !rr->n) {
		rr->full = false;
		request_missing(qp, qp->req.una, rr->high);
	}
}

/**
 * sroce_read_retry_oldest() - request the oldest missing responses again
 * @qp: the QP, RC, locked; it waits for a response
 * @wqe: its oldest work request
 * @n: number of responses, at most
 */
void sroce_read_retry_oldest(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 n)
{
	u32 psn = qp->req.una, end = sroce_psn_add(psn, n);
	struct sroce_read_retry *rr = &qp->req.read_retry;
	u32 i;

	if (sroce_psn_diff(end, wqe->last_psn) > 0)
		end = sroce_psn_add(wqe->last_psn, 1);
	if (sroce_psn_diff(end, rr->high) > 0)
		rr->high = end;
	/* earlier requests for these responses were lost; the ranges start behind them */
	for (i = 0; i < rr->n; i++)
		if (sroce_psn_diff(rr->range[i].psn, end) < 0)
			rr->range[i].psn = end;
	drop_empty(rr, end);
	if (rr->n == SROCE_READ_RANGES_MAX) {
		drop_first(rr, 1);
		rr->full = true;
	}
	request_range(qp, wqe, psn, end);
}
