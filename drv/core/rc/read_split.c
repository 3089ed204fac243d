// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How a READ work request is split into READ requests.
 *
 * A responder sends the responses to a READ as fast as it can, and hears nothing of those
 * that are lost. What it may send is up to the requester: no more than a window of
 * responses is requested at a time, and a long READ is sent as several requests, each for
 * a part of the window. The peer sees READs like any others.
 *
 * Requests of one READ have the same size, but for the last. The size follows the window
 * once no request of an older size than the last is outstanding, so that the bounds of any
 * request that is outstanding can be computed from its PSN.
 */

#include <linux/kernel.h>
#include "drv/core/env.h"
#include "drv/core/rc/cc.h"
#include "drv/core/rc/read_split.h"

/**
 * sroce_read_split_size() - PSNs of the next request for a READ
 * @qp: the QP, RC, locked
 * @psns: PSNs that the READ has left
 */
u32 sroce_read_split_size(struct sroce_qp *qp, u32 psns)
{
	return sroce_loopback_usable(qp) ? psns : min(psns, sroce_cc_read_size(qp, psns));
}

/**
 * sroce_read_split_begin() - choose the size of the first requests of a READ
 * @qp: the QP, RC, locked
 * @wqe: the READ, with its PSNs
 */
void sroce_read_split_begin(struct sroce_qp *qp, struct sroce_wqe *wqe)
{
	u32 n = sroce_psn_diff(wqe->last_psn, wqe->first_psn) + 1;

	wqe->split.psn = wqe->first_psn;
	wqe->split.psns = sroce_read_split_size(qp, n);
	wqe->split.psns_before = wqe->split.psns;
}

/**
 * sroce_read_split_start() - the first PSN of a request
 * @wqe: a READ, atomic or FLUSH that was started
 * @psn: one of its PSNs, not before req.una
 */
u32 sroce_read_split_start(const struct sroce_wqe *wqe, u32 psn)
{
	const struct sroce_read_split *split = &wqe->split;
	s32 d;

	if (wqe->msg != SROCE_MSG_READ)
		return wqe->first_psn;
	d = sroce_psn_diff(psn, split->psn);
	if (d >= 0)
		return sroce_psn_add(psn, -(d % (s32)split->psns));
	return sroce_psn_add(split->psn,
			     -(s32)roundup((u32)-d, split->psns_before));
}

/**
 * sroce_read_split_end() - one past the last PSN of a request
 * @wqe: a READ, atomic or FLUSH that was started
 * @psn: one of its PSNs, not before req.una
 */
u32 sroce_read_split_end(const struct sroce_wqe *wqe, u32 psn)
{
	const struct sroce_read_split *split = &wqe->split;
	u32 past = sroce_psn_add(wqe->last_psn, 1), end;

	if (wqe->msg != SROCE_MSG_READ)
		return past;
	end = sroce_psn_add(sroce_read_split_start(wqe, psn),
			    sroce_psn_diff(psn, split->psn) < 0 ? split->psns_before :
								  split->psns);
	return sroce_psn_diff(end, past) < 0 ? end : past;
}

/**
 * sroce_read_split_count() - how many requests end within a range of PSNs
 * @wqe: a READ, atomic or FLUSH that was started
 * @from: its first PSN, not before req.una
 * @to: one past its last PSN
 */
u32 sroce_read_split_count(const struct sroce_wqe *wqe, u32 from, u32 to)
{
	u32 n = 0;

	while (sroce_psn_diff(to, from) > 0) {
		from = sroce_read_split_end(wqe, from);
		n += sroce_psn_diff(to, from) >= 0;
	}
	return n;
}

/**
 * sroce_read_split_psns() - PSNs within a range that only READ responses have
 * @wqe: a work request that was started
 * @from: first PSN of the range, not before req.una
 * @to: one past its last PSN, not within a READ request
 *
 * Return: how many of @wqe: all but one for each READ request; 0 if it is no READ.
 */
u32 sroce_read_split_psns(const struct sroce_wqe *wqe, u32 from, u32 to)
{
	u32 past = sroce_psn_add(wqe->last_psn, 1);

	if (wqe->msg != SROCE_MSG_READ)
		return 0;
	if (sroce_psn_diff(wqe->first_psn, from) > 0)
		from = wqe->first_psn;
	if (sroce_psn_diff(to, past) > 0)
		to = past;
	if (sroce_psn_diff(to, from) <= 0)
		return 0;
	return sroce_psn_diff(to, from) - sroce_read_split_count(wqe, from, to);
}

/**
 * sroce_read_split_sent() - note that a request was sent for the first time
 * @qp: the QP, RC, locked
 * @wqe: the READ, atomic or FLUSH
 * @psn: PSN of the request
 */
void sroce_read_split_sent(struct sroce_qp *qp, const struct sroce_wqe *wqe, u32 psn)
{
	u32 n = sroce_psn_diff(sroce_read_split_end(wqe, psn), psn);
	struct sroce_req *req = &qp->req;

	req->reads++;
	req->read_psns += n - 1;
	if (wqe->msg == SROCE_MSG_READ)
		req->reading += n;
	/* the peer counts each request as a message */
	if (psn != wqe->first_psn)
		req->ssn = sroce_psn_add(req->ssn, 1);
}

/* Whether no request of another size than the last is outstanding */
static bool may_resize(const struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	return wqe->split.psn == wqe->first_psn ||
	       sroce_psn_diff(qp->req.una, wqe->split.psn) >= 0;
}

/* The size of requests from req.psn on, where the READ has @left PSNs left */
static u32 next_size(struct sroce_qp *qp, const struct sroce_wqe *wqe, u32 left)
{
	u32 psns = wqe->split.psns, n = sroce_read_split_size(qp, left);

	return (n > psns || (n < psns && n < left)) && may_resize(qp, wqe) ? n : psns;
}

static u32 psns_left(const struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	return sroce_psn_diff(wqe->last_psn, qp->req.psn) + 1;
}

/**
 * sroce_read_split_next() - PSNs of the request that is to be sent next
 * @qp: the QP, RC, locked; the request at req.psn was not sent before
 * @wqe: the READ, atomic or FLUSH that it is for, started
 */
u32 sroce_read_split_next(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	u32 left = psns_left(qp, wqe);

	return wqe->msg == SROCE_MSG_READ ? min(left, next_size(qp, wqe, left)) : left;
}

/**
 * sroce_read_split_resize() - choose the size of requests from req.psn on
 * @qp: the QP, RC, locked; the request at req.psn was not sent before, and is sent now
 * @wqe: the READ, atomic or FLUSH that it is for, started
 */
void sroce_read_split_resize(struct sroce_qp *qp, struct sroce_wqe *wqe)
{
	struct sroce_read_split *split = &wqe->split;
	u32 n;

	if (wqe->msg != SROCE_MSG_READ)
		return;
	n = next_size(qp, wqe, psns_left(qp, wqe));
	if (n == split->psns)
		return;
	split->psns_before = split->psns;
	split->psns = n;
	split->psn = qp->req.psn;
}
