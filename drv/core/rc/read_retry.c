// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requester: responses that are missing are asked for again (9.7.5.2.8).
 *
 * Responses come in order, and what is asked for again comes before all others.
 * So one that comes says that those before it are lost, be it their first time
 * or not: that takes no timer. Where nothing comes any more repair.c asks.
 */

#include "drv/core/env.h"

/**
 * sroce_read_retry_missing() - whether a response has not come
 * @req: the requester
 * @psn: of the response
 *
 * Return: true also for what is too far ahead to be taken in.
 */
bool sroce_read_retry_missing(const struct sroce_req *req, u32 psn)
{
	s32 ahead = sroce_psn_diff(psn, req->una);

	return ahead >= SROCE_READ_AHEAD ||
	       (ahead >= 0 && !test_bit(psn % SROCE_READ_AHEAD, req->resp_bitmap));
}

/* The first PSN in a range that is, or is not, missing; or the end */
static u32 find(const struct sroce_req *req, u32 psn, u32 end, bool is)
{
	while (sroce_psn_diff(end, psn) > 0 && sroce_read_retry_missing(req, psn) != is) {
		/* nothing is taken in from there on */
		if (sroce_psn_diff(psn, req->una) >= SROCE_READ_AHEAD)
			return end;
		psn = sroce_psn_add(psn, 1);
	}
	return psn;
}

static void drop_first(struct sroce_read_retry *rr, u32 n)
{
	rr->n -= n;
	memmove(rr->range, rr->range + n, rr->n * sizeof(*rr->range));
}

/* Ranges that lie before @psn, or have nothing left, are no concern any more. */
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
 * sroce_read_retry_trim() - req.una has moved
 * @qp: the QP
 *
 * What lies before it would look as if it were to come, 2^23 packets later.
 */
void sroce_read_retry_trim(struct sroce_qp *qp)
{
	if (qp->req.read_retry.n)
		drop_empty(&qp->req.read_retry, qp->req.una);
}

/* What is missing in a range of one work request, as far as there is room */
static void ask(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 psn, u32 end)
{
	struct sroce_req *req = &qp->req;
	struct sroce_read_retry *rr = &req->read_retry;
	u32 to;

	if (sroce_psn_diff(req->una, psn) > 0)
		psn = req->una;
	for (;; psn = to) {
		psn = find(req, psn, end, true);
		to = find(req, psn, end, false);
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

/* The same in all work requests */
static void ask_all(struct sroce_qp *qp, u32 from, u32 end)
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
		ask(qp, wqe, sroce_psn_diff(from, wqe->first_psn) < 0 ?
			     wqe->first_psn : from,
		    sroce_psn_diff(past, end) < 0 ? past : end);
	}
}

/**
 * sroce_read_retry_until() - all responses before a PSN should have come
 * @qp: the QP
 * @end: the PSN
 *
 * Those that have not, and were not asked for again before, are now.
 */
void sroce_read_retry_until(struct sroce_qp *qp, u32 end)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;
	u32 from = rr->high, before = rr->n;

	if (sroce_psn_diff(end, from) <= 0)
		return;
	rr->high = end;
	ask_all(qp, from, end);
	for (; before < rr->n; before++)
		sroce_count(qp, SROCE_CNT_IMPLIED_NAK);
}

/**
 * sroce_read_retry_postpone() - responses from a PSN on are not to come for now
 * @qp: the QP
 * @psn: the PSN
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
 * sroce_read_retry_dropped() - responses have come in vain, and would not now
 * @qp: the QP
 * @end: one past the last of them
 */
void sroce_read_retry_dropped(struct sroce_qp *qp, u32 end)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;

	if (sroce_psn_diff(end, rr->high) > 0)
		rr->high = end;
	rr->n = 0;
	rr->full = false;
	ask_all(qp, qp->req.una, rr->high);
}

/**
 * sroce_read_retry_received() - responses have come
 * @qp: the QP
 * @psn: of the first
 * @end: one past the last
 *
 * If it had been asked for again, what was so before has been lost again.
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
	/* the first says how long the round trip is, the others how much was asked for */
	if (rr->range[n].when)
		sroce_cwnd_read_retried(qp, sroce_now() - rr->range[n].when);
	rr->range[n].when = 0;
	for (; n; n--) {
		a = rr->range[0];
		drop_first(rr, 1);
		ask(qp, a.wqe, a.psn, a.end);
		/* it may have been one request too many, and the list is gone */
		if (!sroce_qp_may_send(qp))
			return;
	}
	a = rr->range[0];
	rr->range[0].psn = end;
	if (sroce_psn_diff(a.end, end) <= 0)
		drop_first(rr, 1);
	ask(qp, a.wqe, a.psn, psn);
	if (rr->full && !rr->n) {
		rr->full = false;
		ask_all(qp, qp->req.una, rr->high);
	}
}

/**
 * sroce_read_retry_oldest() - ask for the oldest response that is missing
 * @qp: the QP; it waits for a response
 * @wqe: its oldest work request
 * @n: how many are to be asked for, at most
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
	/* that was in vain, and what was asked for later tells nothing now */
	for (i = 0; i < rr->n; i++)
		if (sroce_psn_diff(rr->range[i].psn, end) < 0)
			rr->range[i].psn = end;
	drop_empty(rr, end);
	if (rr->n == SROCE_READ_RANGES_MAX) {
		drop_first(rr, 1);
		rr->full = true;
	}
	ask(qp, wqe, psn, end);
}
