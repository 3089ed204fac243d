// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Responder resources (9.7.5.1.4): the READs, atomics and FLUSHes that a responder
 * has executed and can answer again, and the order in which their responses leave.
 *
 * Responses wait in a FIFO, since a READ may take many packets. Replays go before first
 * responses: the requester can complete nothing before it has them.
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/rc/resp_res.h"

static void fifo_add(struct sroce_fifo *f, u8 idx)
{
	f->idx[f->n++] = idx;
}

static void fifo_del(struct sroce_fifo *f, u8 idx)
{
	u32 i;

	for (i = 0; i < f->n && f->idx[i] != idx; i++)
		;
	if (i == f->n)
		return;
	f->n--;
	memmove(f->idx + i, f->idx + i + 1, f->n - i);
}

static u8 idx_of(const struct sroce_resp *resp, const struct sroce_res *res)
{
	return res - resp->res;
}

/**
 * sroce_resp_res_end_first() - note that all responses of an entry were sent once
 * @resp: the responder
 * @res: the entry
 */
void sroce_resp_res_end_first(struct sroce_resp *resp, struct sroce_res *res)
{
	fifo_del(&resp->fifo, idx_of(resp, res));
	res->queued = false;
}

/* Cancel the replays of an entry. If the first of them waits for pages, it does no more. */
static void cancel_replays(struct sroce_resp *resp, u8 idx)
{
	struct sroce_replays *r = &resp->replays;
	u32 i, n = 0;

	if (r->n && r->q[0].idx == idx)
		resp->tx_paging = false;
	for (i = 0; i < r->n; i++)
		if (r->q[i].idx != idx)
			r->q[n++] = r->q[i];
	r->n = n;
}

/**
 * sroce_resp_res_end_replay() - note that the oldest replay was sent
 * @resp: the responder
 *
 * It may have been the first time, see queue_replay().
 */
void sroce_resp_res_end_replay(struct sroce_resp *resp)
{
	struct sroce_replays *r = &resp->replays;
	struct sroce_res *res = &resp->res[r->q[0].idx];

	if (!res->queued && sroce_psn_diff(r->q[0].range.end, res->first.psn) > 0)
		res->first.psn = r->q[0].range.end;
	r->n--;
	memmove(r->q, r->q + 1, r->n * sizeof(*r->q));
}

/**
 * sroce_resp_res_cancel() - cancel all first responses and replays
 * @qp: the QP, RC, locked
 */
void sroce_resp_res_cancel(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;

	while (resp->fifo.n)
		sroce_resp_res_end_first(resp, &resp->res[resp->fifo.idx[0]]);
	resp->replays.n = 0;
}

/**
 * sroce_resp_res_resize() - change the number of responder resources
 * @qp: the QP, RC, locked
 * @res: zeroed entries; the newest of the present ones are copied to them
 * @n: how many; not fewer than before while the QP may receive
 *
 * Return: the former entries, for the caller to free.
 */
struct sroce_res *sroce_resp_res_resize(struct sroce_qp *qp, struct sroce_res *res,
					u32 n)
{
	struct sroce_resp *resp = &qp->resp;
	u32 i, had = resp->nres, keep = min(n, had);
	struct sroce_res *old = resp->res;

	if (keep != had)
		sroce_resp_res_cancel(qp);
	for (i = 0; i < keep; i++)
		res[i] = old[(resp->head + had - keep + i) % had];
	for (i = 0; i < resp->fifo.n; i++)
		resp->fifo.idx[i] = (resp->fifo.idx[i] + had - resp->head) % had;
	for (i = 0; i < resp->replays.n; i++)
		resp->replays.q[i].idx = (resp->replays.q[i].idx + had -
					  resp->head) % had;
	resp->res = res;
	resp->nres = n;
	resp->head = n ? keep % n : 0;
	return old;
}

/**
 * sroce_resp_res_has_room() - whether an entry is free for a READ, atomic or FLUSH
 * @qp: the QP, RC, locked
 */
bool sroce_resp_res_has_room(const struct sroce_qp *qp)
{
	const struct sroce_resp *resp = &qp->resp;

	return resp->nres && !resp->res[resp->head].queued;
}

/**
 * sroce_resp_res_new() - take an entry for a READ, atomic or FLUSH
 * @qp: the QP, RC, locked
 *
 * Return: the entry, or NULL if the requester has more requests outstanding than
 * max_dest_rd_atomic.
 */
struct sroce_res *sroce_resp_res_new(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;
	struct sroce_res *res;

	if (!sroce_resp_res_has_room(qp))
		return NULL;
	res = &resp->res[resp->head];
	/* a new request in this entry implies that the old one is complete at the peer */
	cancel_replays(resp, resp->head);
	resp->head = (resp->head + 1) % resp->nres;
	memset(res, 0, sizeof(*res));
	res->valid = true;
	return res;
}

/**
 * sroce_resp_res_queue() - queue the first responses of an entry
 * @qp: the QP, RC, locked
 * @res: the entry, filled in
 */
void sroce_resp_res_queue(struct sroce_qp *qp, struct sroce_res *res)
{
	res->first.psn = res->first_psn;
	res->first.end = sroce_psn_add(res->last_psn, 1);
	res->queued = true;
	fifo_add(&qp->resp.fifo, idx_of(&qp->resp, res));
}

/*
 * Queue responses from @psn to @end for replay, before those that follow, or extend a range that
 * they touch. If there is no room the requester will ask again.
 */
static void add_replay(struct sroce_resp *resp, u8 idx, u32 psn, u32 end)
{
	struct sroce_replays *r = &resp->replays;
	u32 i;

	for (i = 0; i < r->n; i++) {
		struct sroce_resp_range *a = &r->q[i].range;

		if (r->q[i].idx != idx || sroce_psn_diff(psn, a->end) > 0 ||
		    sroce_psn_diff(a->psn, end) > 0)
			continue;
		if (sroce_psn_diff(end, a->end) > 0)
			a->end = end;
		/* what answers a request begins with a first response */
		if (sroce_psn_diff(psn, a->psn) <= 0) {
			a->psn = psn;
			a->started = false;
		}
		return;
	}
	if (r->n == SROCE_REPLAYS_MAX)
		return;
	for (i = 0; i < r->n && sroce_psn_diff(psn, r->q[i].range.psn) > 0; i++)
		;
	memmove(r->q + i + 1, r->q + i, (r->n - i) * sizeof(*r->q));
	r->q[i].idx = idx;
	r->q[i].range = (struct sroce_resp_range){ .psn = psn, .end = end };
	r->n++;
}

/* Responses that were not sent for the first time yet are not lost: don't replay them. */
static void queue_replay(struct sroce_qp *qp, struct sroce_res *res, u32 psn,
			 u32 end)
{
	struct sroce_resp *resp = &qp->resp;

	if (res->queued) {
		if (sroce_psn_diff(psn, res->first.psn) >= 0) {
			/* but they answer this request now: the next is a first one */
			if (psn == res->first.psn)
				res->first.started = false;
			return;
		}
		if (sroce_psn_diff(end, res->last_psn) > 0)
			sroce_resp_res_end_first(resp, res);
		else if (sroce_psn_diff(end, res->first.psn) > 0)
			end = res->first.psn;
	}
	add_replay(resp, idx_of(resp, res), psn, end);
}

/* The newest is looked at first: an old entry may have the same PSN, 2^24 packets ago. */
static struct sroce_res *find_res(struct sroce_resp *resp, u32 psn)
{
	u32 i;

	for (i = 1; i <= resp->nres; i++) {
		struct sroce_res *res =
			&resp->res[(resp->head + resp->nres - i) % resp->nres];

		if (res->valid && sroce_psn_diff(psn, res->first_psn) >= 0 &&
		    sroce_psn_diff(psn, res->last_psn) <= 0)
			return res;
	}
	return NULL;
}

/* A duplicate READ may only ask for a part of the original one. */
static bool read_matches(const struct sroce_qp *qp, const struct sroce_res *res,
			 const struct sroce_pkt *pkt)
{
	u32 off = sroce_psn_diff(pkt->psn, res->first_psn) * qp->mtu;

	if (pkt->rkey != res->rkey || pkt->va != res->va + off ||
	    off > res->length || pkt->length > res->length - off)
		return false;
	/* up to the end, or whole packets */
	return pkt->length == res->length - off ||
	       (pkt->length && !(pkt->length % qp->mtu));
}

/**
 * sroce_resp_res_replay() - answer a duplicate READ or atomic (9.7.5.1.4)
 * @qp: the QP, RC, locked
 * @pkt: the duplicate request
 *
 * Return: false if no entry holds it, or it differs from the original request.
 */
bool sroce_resp_res_replay(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_res *res = find_res(&qp->resp, pkt->psn);
	bool single = !(pkt->op->flags & SROCE_READING);
	u32 psns = 1;

	if (!res || res->single != single)
		return false;
	if (single) {
		sroce_count(qp, pkt->op->flags & SROCE_ATOMIC ?
			    SROCE_CNT_ATOMIC_REPLAY : SROCE_CNT_FLUSH_REPLAY);
	} else {
		if (!read_matches(qp, res, pkt))
			return false;
		sroce_count(qp, SROCE_CNT_READ_REPLAY);
		psns = sroce_psn_count(pkt->length, qp->mtu);
	}
	queue_replay(qp, res, pkt->psn, sroce_psn_add(pkt->psn, psns));
	return true;
}

/**
 * sroce_resp_res_ack_psn() - the PSN for the ACK of a duplicate SEND or WRITE
 * @qp: the QP, RC, locked
 * @psn: PSN of the duplicate
 *
 * An ACK must not go beyond the next READ, atomic or FLUSH, which has a response of its
 * own. To the requester, an ACK of a later PSN implies that the response is lost
 * (9.7.5.1.2), and a plain ACK with the very PSN is a response without its data.
 *
 * Return: the newest PSN that the ACK may cover.
 */
u32 sroce_resp_res_ack_psn(const struct sroce_qp *qp, u32 psn)
{
	const struct sroce_resp *resp = &qp->resp;
	u32 i, end = resp->psn;

	for (i = 0; i < resp->nres; i++) {
		const struct sroce_res *res = &resp->res[i];

		if (res->valid && sroce_psn_diff(res->first_psn, psn) > 0 &&
		    sroce_psn_diff(res->first_psn, end) < 0)
			end = res->first_psn;
	}
	return sroce_psn_add(end, -1);
}
