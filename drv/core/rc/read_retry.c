// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requester: missing responses of READs and atomics are requested again (9.7.5.2.8).
 *
 * Responses arrive in the order of the requests, so a response implies that those before
 * it are lost. If no response arrives any more, the timers in retrans.c request the oldest.
 *
 * Peers differ in which repeated READs they serve. Some refuse one below the newest that
 * they have served, some end the connection if repeated ones and others together exceed
 * max_rd_atomic. So a request is repeated once at a time, from its oldest missing response to
 * the newest, after all responses to it had their turn.
 *
 * A peer that answers a repeated READ while responses to others are on their way, and then
 * goes on with those, has a queue of its own for repeated READs, as sroce has. From such a
 * peer all that is missing is requested at once, and nothing else.
 */

#include "drv/core/env.h"
#include "drv/core/rc/cc.h"
#include "drv/core/rc/read_retry.h"
#include "drv/core/rc/read_split.h"
#include "drv/core/rc/req_pkt.h"
#include "drv/core/rc/rtt.h"
#include "drv/core/rc/sq_sched.h"

/* If so many responses are missing and none follows, they were not lost at random. */
#define TAIL_LOSSES	3
/* For so long after a decrease responses that come twice can take it back, in ns */
#define UNDO_TIME	(1ULL * NSEC_PER_SEC)
/*
 * Requests that may be repeated for each response that has come, on average: what a peer causes
 * is in proportion to what it sends.
 */
#define REPEATS_PER_RESPONSE	4U

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
	       (ahead >= 0 && !test_bit(psn % SROCE_READ_AHEAD, req->read_buf->bitmap));
}

/* The first PSN in a range which is (@missing) or isn't missing; @end if there is none */
static u32 find_psn(const struct sroce_req *req, u32 psn, u32 end, bool missing)
{
	u32 limit = sroce_psn_add(req->una, SROCE_READ_AHEAD), from, to, i;
	const unsigned long *map = req->read_buf->bitmap;

	/* no response beyond this has been accepted */
	if (sroce_psn_diff(end, limit) < 0)
		limit = end;
	while (sroce_psn_diff(limit, psn) > 0) {
		from = psn % SROCE_READ_AHEAD;
		to = min_t(u32, from + sroce_psn_diff(limit, psn), SROCE_READ_AHEAD);
		i = missing ? find_next_zero_bit(map, to, from) : find_next_bit(map, to, from);
		psn = sroce_psn_add(psn, i - from);
		if (i != to)
			return psn;
	}
	return missing && sroce_psn_diff(end, psn) > 0 ? psn : end;
}

/* One past the last PSN in a range which is (@missing) or isn't missing; @psn if there is none */
static u32 find_last(const struct sroce_req *req, u32 psn, u32 end, bool missing)
{
	u32 limit = sroce_psn_add(req->una, SROCE_READ_AHEAD), last, bit;
	unsigned long word;

	if (sroce_psn_diff(end, limit) > 0) {
		if (missing)
			return end;
		end = limit;
	}
	while (sroce_psn_diff(end, psn) > 0) {
		last = sroce_psn_add(end, -1) % SROCE_READ_AHEAD;
		bit = last % BITS_PER_LONG;
		word = req->read_buf->bitmap[last / BITS_PER_LONG];
		word = (missing ? ~word : word) & GENMASK(bit, 0);
		if (word)
			bit -= __fls(word);
		else
			bit++;
		end = sroce_psn_add(end, -(s32)bit);
		if (word)
			break;
	}
	return sroce_psn_diff(end, psn) > 0 ? end : psn;
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
 * sroce_read_retry_trim() - forget what is before req.una
 * @qp: the QP, RC, locked
 *
 * Otherwise it would seem to lie ahead 2^23 packets later.
 */
void sroce_read_retry_trim(struct sroce_qp *qp)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;
	u32 una = qp->req.una;

	if (rr->n)
		drop_empty(rr, una);
	/* a READ that was put off was answered, and what follows it had been executed */
	if (sroce_psn_diff(una, rr->high) > 0)
		rr->high = una;
}

/**
 * sroce_read_retry_wants_pages() - note that a response waits for pages on this side
 * @qp: the QP, RC, locked; a page fault is under way
 * @end: one past its PSN; it was dropped, or can't be requested again without these pages
 *
 * sroce_read_retry_dropped() requests it again.
 */
void sroce_read_retry_wants_pages(struct sroce_qp *qp, u32 end)
{
	struct sroce_req *req = &qp->req;

	if (!req->resp_dropped || sroce_psn_diff(end, req->resp_dropped_end) > 0)
		req->resp_dropped_end = end;
	req->resp_dropped = true;
}

/* The range that responses from @psn on belong to, or @rr->n */
static u32 find_range(const struct sroce_read_retry *rr, u32 psn)
{
	u32 n;

	for (n = 0; n < rr->n; n++)
		if (sroce_psn_diff(psn, rr->range[n].psn) >= 0 &&
		    sroce_psn_diff(psn, rr->range[n].end) < 0)
			break;
	return n;
}

static bool start_range(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 psn, u32 end)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;

	if (rr->n == SROCE_READ_RANGES_MAX || !rr->allowed) {
		rr->full = true;
		return false;
	}
	rr->allowed--;
	rr->range[rr->n++] = (struct sroce_read_range){
		.wqe = wqe, .psn = psn, .end = end, .when = sroce_now(),
		.sent = qp->req.max_psn,
	};
	if (sroce_req_pkt_resend_read(qp, wqe, psn, end) == -EAGAIN)
		sroce_read_retry_wants_pages(qp, end);
	return sroce_qp_may_send(qp);
}

/* Whether a part of these responses was requested again, and has not come */
static bool is_repeated(const struct sroce_read_retry *rr, u32 psn, u32 end)
{
	u32 i;

	for (i = 0; i < rr->n; i++)
		if (sroce_psn_diff(rr->range[i].psn, psn) >= 0 &&
		    sroce_psn_diff(rr->range[i].psn, end) < 0)
			return true;
	return false;
}

/*
 * Repeat the request that a response belongs to, for all that it lacks, unless a response
 * to it may be on its way.
 */
static void repeat_request(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 psn)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;
	u32 end = sroce_read_split_end(wqe, psn);

	psn = sroce_read_split_start(wqe, psn);
	if (is_repeated(rr, psn, end) || sroce_psn_diff(end, rr->high) > 0 || !rr->allowed) {
		rr->full = true;
		return;
	}
	if (sroce_psn_diff(qp->req.una, psn) > 0)
		psn = qp->req.una;
	psn = find_psn(&qp->req, psn, end, true);
	end = find_last(&qp->req, psn, end, true);
	if (psn != end)
		start_range(qp, wqe, psn, end);
}

/*
 * Request what is missing from @psn to @end, which belong to one request, as far as there
 * is room for ranges.
 */
static void request_range(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 psn, u32 end)
{
	struct sroce_req *req = &qp->req;
	u32 to;

	if (sroce_psn_diff(req->una, psn) > 0)
		psn = req->una;
	if (!req->read_retry.selective) {
		if (sroce_psn_diff(end, psn) > 0)
			repeat_request(qp, wqe, psn);
		return;
	}
	for (;; psn = to) {
		psn = find_psn(req, psn, end, true);
		to = find_psn(req, psn, end, false);
		if (psn == to || !start_range(qp, wqe, psn, to))
			return;
	}
}

/* How many responses are missing in a range; of those that are far ahead none was accepted */
static u32 count_missing(const struct sroce_req *req, u32 psn, u32 end)
{
	u32 ahead = sroce_psn_add(req->una, SROCE_READ_AHEAD), n = 0, bit, i;
	const unsigned long *map = req->read_buf->bitmap;

	if (sroce_psn_diff(req->una, psn) > 0)
		psn = req->una;
	if (sroce_psn_diff(ahead, end) > 0)
		ahead = end;
	for (; sroce_psn_diff(ahead, psn) > 0; psn = sroce_psn_add(psn, i)) {
		bit = psn % BITS_PER_LONG;
		i = min_t(u32, BITS_PER_LONG - bit, sroce_psn_diff(ahead, psn));
		n += hweight_long(~map[psn % SROCE_READ_AHEAD / BITS_PER_LONG] &
				  GENMASK(bit + i - 1, bit));
	}
	return n + max(sroce_psn_diff(end, psn), 0);
}

/* Likewise, but across requests of a work request. Return: responses that are missing */
static u32 request_wqe(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 psn, u32 end)
{
	u32 next, n = 0;

	if (sroce_psn_diff(qp->req.una, psn) > 0)
		psn = qp->req.una;
	for (; sroce_psn_diff(end, psn) > 0 && sroce_qp_may_send(qp); psn = next) {
		next = sroce_read_split_end(wqe, psn);
		if (sroce_psn_diff(next, end) > 0)
			next = end;
		n += count_missing(&qp->req, psn, next);
		request_range(qp, wqe, psn, next);
	}
	return n;
}

/*
 * Index of the next work request that may want responses. Behind a READ that a peer does not
 * answer there may be very many of others.
 */
static u32 next_idx(struct sroce_qp *qp, u32 i)
{
	const struct sroce_wqe *wqe = sroce_sq_wqe(&qp->sq, i);

	if (!sroce_wqe_wants_response(wqe))
		return sroce_sq_next(&qp->sq, i);
	return i == qp->req.newest_resp ? qp->sq.prod : wqe->next_resp;
}

/* Likewise, but across work requests */
static u32 request_missing(struct sroce_qp *qp, u32 from, u32 end)
{
	struct sroce_sq *sq = &qp->sq;
	u32 i, lost = 0;

	if (!qp->req.reads)
		return 0;
	for (i = sroce_sq_sched_idx(qp, from); i != sq->prod && sroce_qp_may_send(qp);
	     i = next_idx(qp, i)) {
		struct sroce_wqe *wqe = sroce_sq_wqe(sq, i);
		u32 past = sroce_psn_add(wqe->last_psn, 1);

		if (!wqe->started || sroce_psn_diff(end, wqe->first_psn) <= 0)
			break;
		if (!sroce_wqe_wants_response(wqe))
			continue;
		lost += request_wqe(qp, wqe, sroce_psn_diff(from, wqe->first_psn) < 0 ?
					     wqe->first_psn : from,
				    sroce_psn_diff(past, end) < 0 ? past : end);
	}
	return lost;
}

/* Likewise; that they are missing follows from a response or an ACK. */
static u32 request_implied(struct sroce_qp *qp, u32 from, u32 end)
{
	u32 n = qp->req.read_retry.n, lost;

	lost = request_missing(qp, from, end);
	for (; n < qp->req.read_retry.n; n++)
		sroce_count(qp, SROCE_CNT_IMPLIED_NAK);
	return lost;
}

/* @n responses were lost. Return: whether the window was decreased. */
static bool note_lost(struct sroce_qp *qp, u32 n)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;

	if (!sroce_cc_read_lost(qp, n, rr->gap_dist))
		return false;
	rr->cut_lost = 0;
	return true;
}

/* The window was decreased for @lost of the responses from @from to @end. */
static void note_cut(struct sroce_read_retry *rr, u32 from, u32 lost, u32 end)
{
	rr->cut = from;
	rr->cut_end = end;
	rr->cut_lost = lost;
}

/* @lost of the responses from @from to @end were lost, for the first time. */
static void note_gap(struct sroce_qp *qp, u32 from, u32 lost, u32 end)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;
	s32 d = sroce_psn_diff(end, rr->gap);

	rr->gap = end;
	if (d > 0)
		rr->gap_dist = sroce_gap_dist_add(rr->gap_dist, d);
	if (note_lost(qp, lost))
		note_cut(rr, from, lost, end);
}

/* Responses before @end had their turn. Return: how many of them are missing */
static u32 request_until(struct sroce_qp *qp, u32 end)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;
	u32 from = rr->high;

	if (sroce_psn_diff(end, from) <= 0)
		return 0;
	rr->high = end;
	return request_implied(qp, from, end);
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
	u32 from = qp->req.read_retry.high, lost = request_until(qp, end);

	if (lost)
		note_gap(qp, from, lost, end);
}

/* Of range @n only what follows @rest is left; what is before @end is requested again. */
static void repeat_range(struct sroce_qp *qp, u32 n, u32 end, u32 rest)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;
	struct sroce_read_range a = rr->range[n];

	rr->range[n].psn = rest;
	drop_empty(rr, qp->req.una);
	request_range(qp, a.wqe, a.psn, end);
}

/*
 * The range that the RNR NAK was of: what has come behind it keeps it before @high, where it
 * would not be requested as something new.
 */
static void repeat_refused(struct sroce_qp *qp)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;
	u32 n = find_range(rr, rr->refused), end;

	if (n == rr->n)
		return;
	end = rr->range[n].end;
	repeat_range(qp, n, end, end);
}

/**
 * sroce_read_retry_refused() - request responses again after an RNR wait
 * @qp: the QP, RC, locked
 * @end: one past the PSNs that the peer has executed, or refused to
 */
void sroce_read_retry_refused(struct sroce_qp *qp, u32 end)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;

	/* there is a wait before each */
	rr->allowed = max(rr->allowed, REPEATS_PER_RESPONSE);
	repeat_refused(qp);
	/* an error has flushed the send queue */
	if (sroce_qp_may_send(qp))
		request_until(qp, end);
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

	rr->refused = psn;
	if (sroce_psn_diff(rr->high, psn) <= 0)
		return;
	/* the NAK may be late: what has come after it stays */
	if (qp->req.read_buf)
		psn = find_last(&qp->req, psn, rr->high, false);
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
	/* it is not the peer's doing that they are missing */
	rr->allowed = SROCE_READ_REPEATS_MAX;
	request_missing(qp, qp->req.una, rr->high);
}

/**
 * sroce_read_retry_is_asked() - whether a response was requested again, and has not come
 * @req: the requester
 * @psn: PSN of the response
 */
bool sroce_read_retry_is_asked(const struct sroce_req *req, u32 psn)
{
	return find_range(&req->read_retry, psn) < req->read_retry.n;
}

/* A response that comes so soon is an original that was late. */
static bool is_late(const struct sroce_qp *qp, const struct sroce_read_range *a)
{
	return sroce_rtt_too_soon(qp, sroce_now() - a->when);
}

/* Whether a response of range @n, or of none, was late, and not lost */
static bool is_original(const struct sroce_qp *qp, u32 n)
{
	const struct sroce_read_retry *rr = &qp->req.read_retry;

	return n == rr->n || (!rr->range[n].answered && is_late(qp, &rr->range[n]));
}

/*
 * Learn whether the peer has a queue for repeated READs: after the last response of a range
 * comes the next of the READ that was being answered, whose request is older.
 */
static void learn_selective(struct sroce_qp *qp, const struct sroce_read_range *a,
			    u32 psn, u32 end)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;
	const struct sroce_wqe *wqe;

	if (!a) {
		rr->selective |= rr->interleaved && psn == rr->resume;
		rr->interleaved = false;
		return;
	}
	rr->interleaved = false;
	if (end != a->end || sroce_psn_diff(a->sent, rr->high) <= 0 || is_late(qp, a))
		return;
	wqe = sroce_sq_sched_wqe(qp, qp->sq.cons, rr->high);
	rr->interleaved = wqe && sroce_read_split_start(wqe, rr->high) != rr->high;
	rr->resume = rr->high;
}

/* Forget the ranges whose requests are older than one that @psn answers. */
static bool drop_overtaken(struct sroce_read_retry *rr, u32 psn)
{
	bool dropped = false;

	while (rr->n && sroce_psn_diff(psn, rr->range[0].sent) >= 0) {
		drop_first(rr, 1);
		dropped = true;
	}
	return dropped;
}

/* Whether all responses to a request had their turn, up to @end */
static bool ends_request(struct sroce_qp *qp, u32 end)
{
	u32 prev = sroce_psn_add(end, -1);
	const struct sroce_wqe *wqe = sroce_sq_sched_wqe(qp, qp->sq.cons, prev);

	return wqe && sroce_read_split_end(wqe, prev) == end;
}

/* Responses of range @n have come: older ranges are lost once more. */
static void retry_older(struct sroce_qp *qp, u32 n, u32 psn, u32 end)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;
	struct sroce_read_range a;

	for (; n && rr->allowed; n--) {
		a = rr->range[0];
		drop_first(rr, 1);
		note_lost(qp, count_missing(&qp->req, a.psn, a.end));
		request_range(qp, a.wqe, a.psn, a.end);
		/* on an error the send queue was flushed, and the ranges are gone */
		if (!sroce_qp_may_send(qp))
			return;
	}
	repeat_range(qp, n, psn, end);
}

/* More responses have come: more may be requested again. */
static void allow_more(struct sroce_read_retry *rr, u32 responses)
{
	u32 room = SROCE_READ_REPEATS_MAX - rr->allowed;

	rr->allowed += min(room, REPEATS_PER_RESPONSE * responses);
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
	u32 n = find_range(rr, psn), had = rr->n;
	bool scan;

	allow_more(rr, sroce_psn_diff(end, psn));
	learn_selective(qp, n < rr->n ? &rr->range[n] : NULL, psn, end);
	if (sroce_psn_diff(psn, rr->high) < 0 && is_original(qp, n))
		sroce_cwnd_undo(&qp->req.read_cwnd, sroce_now(), 0);
	if (sroce_psn_diff(end, rr->high) > 0)
		rr->high = end;
	if (n < rr->n) {
		/* only the first response of a range measures the round trip */
		if (!rr->range[n].answered && !is_late(qp, &rr->range[n]))
			sroce_rtt_read_retried(qp, sroce_now() - rr->range[n].when);
		rr->range[n].answered = true;
		retry_older(qp, n, psn, end);
	} else if (!rr->selective && drop_overtaken(rr, psn)) {
		rr->full = true;
	}
	/* what may be repeated changes when a range or a work request ends */
	scan = rr->selective ? !rr->n : rr->n != had || ends_request(qp, end);
	if (rr->full && scan && sroce_qp_may_send(qp)) {
		rr->full = false;
		request_implied(qp, qp->req.una, rr->high);
	}
}

/**
 * sroce_read_retry_duplicate() - note that a response has come twice
 * @qp: the QP, RC, locked
 * @psn: its PSN
 *
 * If all that was taken for lost has, it was late: another path, or a CPU that stood still,
 * and no queue that was full. Then the window was decreased in vain, as with D-SACK.
 */
void sroce_read_retry_duplicate(struct sroce_qp *qp, u32 psn)
{
	struct sroce_read_retry *rr = &qp->req.read_retry;

	if (!rr->cut_lost || sroce_psn_diff(psn, rr->cut) < 0 ||
	    sroce_psn_diff(psn, rr->cut_end) >= 0)
		return;
	if (!--rr->cut_lost)
		sroce_cwnd_undo(&qp->req.read_cwnd, sroce_now(), UNDO_TIME);
}

/* The range before @end is about to be requested: others start behind it. */
static void trim_ranges(struct sroce_read_retry *rr, u32 end)
{
	u32 i;

	for (i = 0; i < rr->n; i++)
		if (sroce_psn_diff(rr->range[i].psn, end) < 0)
			rr->range[i].psn = end;
	drop_empty(rr, end);
	if (rr->n == SROCE_READ_RANGES_MAX) {
		drop_first(rr, 1);
		rr->full = true;
	}
}

/*
 * Responses from @psn to @end are missing, and none has come for long. If they were asked for
 * before, what comes twice may be two answers to that.
 */
static void note_tail_lost(struct sroce_qp *qp, u32 psn, u32 end)
{
	struct sroce_req *req = &qp->req;
	struct sroce_read_retry *rr = &req->read_retry;
	u32 lost = count_missing(req, psn, end), n = lost;

	if (sroce_read_retry_is_asked(req, psn)) {
		rr->cut_lost = 0;
		lost = 0;
	}
	if (n >= TAIL_LOSSES)
		n = max(n, sroce_cwnd(&req->read_cwnd) / 2);
	if (note_lost(qp, n))
		note_cut(rr, psn, lost, end);
}

/**
 * sroce_read_retry_oldest() - request the oldest missing responses again
 * @qp: the QP, RC, locked; it waits for a response, and nothing has come for long
 * @wqe: its oldest work request
 * @n: number of responses, at most; a peer that may not serve them in any order is asked
 *	for all that are missing
 */
void sroce_read_retry_oldest(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 n)
{
	u32 psn = qp->req.una, past = sroce_read_split_end(wqe, psn);
	struct sroce_read_retry *rr = &qp->req.read_retry;
	u32 end = sroce_psn_add(psn, n);

	if (!rr->selective || sroce_psn_diff(end, past) > 0)
		end = past;
	note_tail_lost(qp, psn, end);
	if (sroce_psn_diff(end, rr->high) > 0)
		rr->high = end;
	rr->allowed = max(rr->allowed, REPEATS_PER_RESPONSE);
	/* earlier requests for these responses were lost */
	if (rr->selective)
		trim_ranges(rr, end);
	else
		rr->n = 0;
	request_range(qp, wqe, psn, end);
}
