// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The scheduler of a send queue: which work request is next, and whether the cwnd,
 * credits, fences, outstanding READs or an error that is pending hold it back.
 */

#include "drv/core/env.h"
#include "drv/core/mem/wqe.h"
#include "drv/core/rc/cc.h"
#include "drv/core/rc/flush.h"
#include "drv/core/rc/read_split.h"
#include "drv/core/rc/sq_sched.h"

/* Most PSNs between una and psn, so that comparisons hold (9.7.1) */
#define PSN_SPAN_MAX 0x400000

static u32 wqe_psns(const struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	if (sroce_wqe_is_mem_op(wqe))
		return 0;
	if (wqe->msg > SROCE_MSG_READ || qp->svc == SROCE_SVC_UD)
		return 1;
	return sroce_psn_count(wqe->length, qp->mtu);
}

/**
 * sroce_sq_sched_idle() - whether nothing is in progress
 * @qp: the QP, locked
 *
 * Return: true if no message is half sent or waits for its response.
 */
bool sroce_sq_sched_idle(const struct sroce_qp *qp)
{
	return qp->sq.cons == qp->sq.prod ||
	       !sroce_sq_wqe(&qp->sq, qp->sq.cons)->started;
}

/* Whether the message consumes a receive work request of the peer */
static bool consumes_recv(const struct sroce_wqe *wqe)
{
	return wqe->msg != SROCE_MSG_WRITE && !sroce_wqe_wants_response(wqe) &&
	       !sroce_wqe_is_mem_op(wqe);
}

/* The newest message is beyond the limit sequence number (9.7.7.2.5). */
static bool beyond_credits(const struct sroce_qp *qp,
			   const struct sroce_wqe *wqe)
{
	const struct sroce_req *req = &qp->req;

	return req->lsn_valid && consumes_recv(wqe) &&
	       sroce_psn_diff(req->ssn, req->lsn) > 0;
}

/* No packet may follow one that was sent without credits. */
static bool awaits_credits(const struct sroce_req *req)
{
	return req->credit_probe && sroce_psn_diff(req->psn, req->credit_probe_psn) > 0;
}

/**
 * sroce_sq_sched_blocked() - whether a pending error forbids to send a PSN
 * @req: the requester
 * @psn: the PSN
 */
bool sroce_sq_sched_blocked(const struct sroce_req *req, u32 psn)
{
	return req->pending_err && sroce_psn_diff(psn, req->pending_err_psn) >= 0;
}

/* Whether the next packet has to wait for the peer */
static bool must_wait(const struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;

	return sroce_is_rc(qp) && (req->retrans.hold_new || awaits_credits(req) ||
				   sroce_sq_sched_blocked(req, req->psn) ||
				   !sroce_cc_free(qp));
}

/* Whether a READ request of so many PSNs, an atomic or a FLUSH may be sent now */
static bool may_read(struct sroce_qp *qp, const struct sroce_wqe *wqe, u32 psns)
{
	const struct sroce_req *req = &qp->req;
	u32 span = sroce_psn_diff(req->psn, req->una);

	if (req->reads >= qp->attr.max_rd_atomic)
		return false;
	/* responses that arrive too far ahead of a hole are dropped */
	if (req->reads && span + psns > SROCE_READ_AHEAD)
		return false;
	return wqe->msg != SROCE_MSG_READ || sroce_loopback_usable(qp) ||
	       sroce_cc_may_read(qp, psns);
}

/* Likewise, for the first request of a work request that is not started */
static bool may_read_first(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	u32 n = wqe_psns(qp, wqe);

	if (wqe->msg == SROCE_MSG_READ)
		n = sroce_read_split_size(qp, n);
	return may_read(qp, wqe, n);
}

/* Whether what is next is a request for responses that was not sent before */
static bool is_new_read(const struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	return sroce_is_rc(qp) && sroce_wqe_wants_response(wqe) &&
	       qp->req.psn == qp->req.max_psn;
}

/* Likewise, for the next request of one that is */
static bool may_go_on(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	return !is_new_read(qp, wqe) ||
	       may_read(qp, wqe, sroce_read_split_next(qp, wqe));
}

/* Send more of a work request that is started, as may_go_on(). */
static void go_on(struct sroce_qp *qp, struct sroce_wqe *wqe)
{
	if (is_new_read(qp, wqe))
		sroce_read_split_resize(qp, wqe);
}

/* Whether one more would complete too many at once, see SROCE_STARTED_MAX */
static bool started_max(const struct sroce_qp *qp)
{
	const struct sroce_sq *sq = &qp->sq;

	return ((qp->req.next_idx - sq->cons) & sq->mask) >= SROCE_STARTED_MAX;
}

static bool may_start(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	const struct sroce_req *req = &qp->req;
	u32 span = sroce_psn_diff(req->psn, req->una);

	if (!sroce_qp_may_start(qp))
		return false;
	if (!sroce_is_rc(qp))
		return true;
	if (started_max(qp))
		return false;
	/* earlier requests may have to be retransmitted from the region */
	if (wqe->msg == SROCE_MSG_LOCAL_INV && req->next_idx != qp->sq.cons)
		return false;
	if (wqe->flags & IB_SEND_FENCE && req->reads)
		return false;
	if (sroce_wqe_wants_response(wqe) && !may_read_first(qp, wqe))
		return false;
	/* the longest messages are sent with nothing else outstanding */
	return !span || span + wqe_psns(qp, wqe) < PSN_SPAN_MAX;
}

/* A READ, atomic or FLUSH starts: it is the next of the one before it. */
static void link_resp(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	if (req->reads)
		sroce_sq_wqe(&qp->sq, req->newest_resp)->next_resp = req->next_idx;
	req->newest_resp = req->next_idx;
}

static void start_wqe(struct sroce_qp *qp, struct sroce_wqe *wqe)
{
	struct sroce_req *req = &qp->req;
	u32 n = wqe_psns(qp, wqe);

	wqe->started = true;
	wqe->first_psn = req->psn;
	wqe->last_psn = sroce_psn_add(req->psn, n - 1);
	if (!n)
		return;
	req->ssn = sroce_psn_add(req->ssn, 1);
	if (beyond_credits(qp, wqe)) {
		sroce_count(qp, SROCE_CNT_CREDIT_WAIT);
		req->credit_probe = true;
		req->credit_probe_psn = wqe->first_psn;
	}
	if (sroce_wqe_wants_response(wqe))
		link_resp(qp);
	if (wqe->msg == SROCE_MSG_READ)
		sroce_read_split_begin(qp, wqe);
}

static bool is_before(const struct sroce_sq *sq, u32 i, u32 psn)
{
	const struct sroce_wqe *wqe = sroce_sq_wqe(sq, i);

	return wqe->started && sroce_psn_diff(psn, wqe->last_psn) > 0;
}

/*
 * Index of the work request that has a PSN, or of the first not started. It is mostly one of
 * the first; but behind a READ that a peer does not answer there may be very many.
 */
static u32 find_idx(const struct sroce_sq *sq, u32 i, u32 psn)
{
	u32 low = 0, high = (sq->prod - i) & sq->mask, step, mid;

	for (step = 1; low + step <= high && is_before(sq, i + low + step - 1, psn); step *= 2)
		low += step;
	high = min(high, low + step - 1);
	while (low < high) {
		mid = (low + high) / 2;
		if (is_before(sq, i + mid, psn))
			low = mid + 1;
		else
			high = mid;
	}
	return (i + low) & sq->mask;
}

/**
 * sroce_sq_sched_idx() - look up the index of the work request that has a PSN
 * @qp: the QP, locked
 * @psn: the PSN
 *
 * Return: the index; if that work request was not started, of the first that was not.
 */
u32 sroce_sq_sched_idx(const struct sroce_qp *qp, u32 psn)
{
	return find_idx(&qp->sq, qp->sq.cons, psn);
}

/**
 * sroce_sq_sched_wqe() - look up the work request that has a PSN
 * @qp: the QP, locked
 * @from: index of the work request to look from
 * @psn: the PSN
 *
 * Return: the work request, or NULL if the one with this PSN was not started.
 */
struct sroce_wqe *sroce_sq_sched_wqe(struct sroce_qp *qp, u32 from, u32 psn)
{
	u32 i = find_idx(&qp->sq, from, psn);
	struct sroce_wqe *wqe;

	if (i == qp->sq.prod)
		return NULL;
	wqe = sroce_sq_wqe(&qp->sq, i);
	return wqe->started ? wqe : NULL;
}

/*
 * The work request before @wqe may have been sent without AckReq, because @wqe was to
 * follow. Now that it doesn't, a duplicate asks for the ACK.
 */
static void request_late_ack(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	struct sroce_req *req = &qp->req;
	u32 prev = sroce_psn_add(wqe->first_psn, -1);
	const struct sroce_wqe *older = sroce_sq_sched_wqe(qp, qp->req.acked_idx, prev);

	if (sroce_psn_diff(prev, req->acked) < 0 || !older ||
	    sroce_wqe_wants_response(older))
		return;
	req->retrans.from = prev;
	req->retrans.to = wqe->first_psn;
}

/**
 * sroce_sq_sched_fail() - give up the next work request, as it can't be executed
 * @qp: the QP, locked
 * @wqe: the work request; it fails once those before it are complete
 * @status: the error
 */
void sroce_sq_sched_fail(struct sroce_qp *qp, struct sroce_wqe *wqe,
			 enum ib_wc_status status)
{
	/* the error was not known before this attempt to send */
	bool late = wqe->status == IB_WC_SUCCESS;

	wqe->status = status;
	if (qp->req.next_idx == qp->sq.cons)
		sroce_sq_fail(qp, status);
	else if (late)
		request_late_ack(qp, wqe);
}

/* Errors for which may_start() would never return true */
static enum ib_wc_status check_executable(struct sroce_qp *qp,
					  const struct sroce_wqe *wqe)
{
	if (!sroce_is_rc(qp))
		return IB_WC_SUCCESS;
	if (sroce_wqe_wants_response(wqe) && !qp->attr.max_rd_atomic)
		return IB_WC_LOC_QP_OP_ERR;
	if (wqe_psns(qp, wqe) >= SROCE_PSN_HALF)
		return IB_WC_LOC_LEN_ERR;
	return IB_WC_SUCCESS;
}

/* The work request that is next, or NULL */
static struct sroce_wqe *next_wqe(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	for (;;) {
		struct sroce_wqe *wqe;

		if (req->next_idx == qp->sq.prod && !sroce_wqe_fetch(qp))
			return NULL;
		wqe = sroce_sq_wqe(&qp->sq, req->next_idx);
		/* after going back: local operations are not executed again */
		if (!sroce_wqe_is_mem_op(wqe) || !wqe->started)
			return wqe;
		req->next_idx = sroce_sq_next(&qp->sq, req->next_idx);
	}
}

/**
 * sroce_sq_sched_empty() - whether all that was posted has been sent once
 * @qp: the QP, locked
 *
 * Most trips into a QP whose messages are single find this: one look is less than those of
 * sroce_sq_sched_next() and sroce_sq_sched_pending(), which would find nothing.
 */
bool sroce_sq_sched_empty(const struct sroce_qp *qp)
{
	const struct sroce_sq *sq = &qp->sq;

	return qp->req.next_idx == sq->prod && !sroce_sq_rung(sq);
}

/**
 * sroce_sq_sched_pending() - whether there is a work request that is not sent entirely
 * @qp: the QP, locked
 */
bool sroce_sq_sched_pending(struct sroce_qp *qp)
{
	return next_wqe(qp);
}

/* The work request to send from, started; NULL if nothing may be sent now */
static struct sroce_wqe *current_wqe(struct sroce_qp *qp)
{
	struct sroce_wqe *wqe = next_wqe(qp);

	if (!wqe)
		return NULL;
	/* in SQD it stays on the queue, even if it has an error */
	if (!wqe->started && !sroce_qp_may_start(qp))
		return NULL;
	if (!wqe->started && wqe->status == IB_WC_SUCCESS)
		wqe->status = check_executable(qp, wqe);
	if (wqe->status != IB_WC_SUCCESS) {
		sroce_sq_sched_fail(qp, wqe, wqe->status);
		return NULL;
	}
	if (!wqe->started) {
		if (!may_start(qp, wqe))
			return NULL;
		start_wqe(qp, wqe);
		return wqe;
	}
	if (!may_go_on(qp, wqe))
		return NULL;
	go_on(qp, wqe);
	return wqe;
}

/**
 * sroce_sq_sched_peek() - look which work request would be sent next
 * @qp: the QP, RC, locked
 *
 * Return: the work request, or NULL if none can be sent at once.
 */
struct sroce_wqe *sroce_sq_sched_peek(struct sroce_qp *qp)
{
	struct sroce_wqe *wqe;

	if (sroce_sq_sched_empty(qp) || must_wait(qp))
		return NULL;
	wqe = next_wqe(qp);
	if (!wqe || wqe->status != IB_WC_SUCCESS || sroce_wqe_is_mem_op(wqe))
		return NULL;
	return (wqe->started ? may_go_on(qp, wqe) : may_start(qp, wqe)) ? wqe : NULL;
}

/**
 * sroce_sq_sched_next() - start the work request that is next
 * @qp: the QP, locked
 * @next: what sroce_sq_sched_peek() has returned just before, or NULL
 *
 * Return: the work request, or NULL if none may be sent now.
 */
struct sroce_wqe *sroce_sq_sched_next(struct sroce_qp *qp, struct sroce_wqe *next)
{
	if (!next)
		return must_wait(qp) ? NULL : current_wqe(qp);
	/* nothing has changed since sroce_sq_sched_peek() checked may_start() */
	if (next->started)
		go_on(qp, next);
	else
		start_wqe(qp, next);
	return next;
}

/**
 * sroce_sq_sched_read_psns() - PSNs from req.acked on that only READ responses have
 * @qp: the QP, RC, locked
 * @end: one past the last PSN, not within a READ request, and not beyond max_psn
 *
 * Return: how many: for each READ request all but one.
 */
u32 sroce_sq_sched_read_psns(const struct sroce_qp *qp, u32 end)
{
	const struct sroce_req *req = &qp->req;
	const struct sroce_sq *sq = &qp->sq;
	u32 i, n = 0;

	for (i = req->acked_idx; req->read_psns && i != sq->prod; i = sroce_sq_next(sq, i)) {
		const struct sroce_wqe *wqe = sroce_sq_wqe(sq, i);

		if (!wqe->started || sroce_psn_diff(end, wqe->first_psn) <= 0)
			break;
		n += sroce_read_split_psns(wqe, req->acked, end);
	}
	return n;
}

/**
 * sroce_sq_sched_seek() - set the PSN to send next
 * @qp: the QP, RC, locked
 * @psn: the PSN, between acked and max_psn
 */
void sroce_sq_sched_seek(struct sroce_qp *qp, u32 psn)
{
	u32 reads = sroce_sq_sched_read_psns(qp, psn);
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;

	req->psn = psn;
	req->read_ahead = req->read_psns - reads;
	if (sroce_psn_diff(rp->left_psn, psn) > 0) {
		rp->left_psn = psn;
		rp->left_read_psns = reads;
	}
	req->next_idx = find_idx(&qp->sq, req->acked_idx, psn);
}
