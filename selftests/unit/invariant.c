// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * What is true of every QP whenever it is unlocked, whatever packets, rings and
 * callers did before. The simulation checks it each time.
 */

#include "sim.h"
#include "invariant.h"

/* PSNs between una and max_psn: one more message than PSN_SPAN_MAX of req.c */
#define SPAN_MAX ((1 << 22) + (1 << 23))

static u32 slots_after(const struct sroce_sq *sq, u32 from, u32 to)
{
	return (to - from) & sq->mask;
}

static void rings(const struct sroce_qp *qp)
{
	const struct sroce_sq *sq = &qp->sq;

	CHECK(sq->cons <= sq->mask);
	CHECK(sq->prod <= sq->mask);
	CHECK(sq->ring.own <= sq->ring.mask);
	CHECK(qp->rq.ring.own <= qp->rq.ring.mask);
	if (qp->user)
		CHECK_EQ(sq->ring.own, sq->prod);
	CHECK(slots_after(sq, sq->cons, qp->req.next_idx) <=
	      slots_after(sq, sq->cons, sq->prod));
}

/* Bounds of a work request, started or not */
static void wqe_bounds(const struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	CHECK(wqe->msg < SROCE_MSGS);
	CHECK(wqe->num_sge <= qp->sq.max_sge);
	if (wqe->status != IB_WC_SUCCESS)
		return;
	CHECK(wqe->length <= SROCE_MSG_MAX);
	if (wqe->flags & IB_SEND_INLINE)
		CHECK(wqe->length <= qp->sq.max_inline);
	if (qp->svc == SROCE_SVC_UD)
		CHECK(wqe->ah && wqe->length <= qp->mtu);
}

/*
 * How many requests for responses were sent from @psn on; @psns is set to the PSNs that
 * they have.
 */
static u32 requests(const struct sroce_req *req, const struct sroce_wqe *wqe, u32 psn,
		    u32 *psns)
{
	u32 to = sroce_psn_add(wqe->last_psn, 1);

	if (sroce_psn_diff(wqe->first_psn, psn) > 0)
		psn = wqe->first_psn;
	if (sroce_psn_diff(to, req->max_psn) > 0)
		to = req->max_psn;
	*psns = sroce_psn_diff(to, psn) > 0 ? sroce_psn_diff(to, psn) : 0;
	return sroce_read_split_count(wqe, psn, to);
}

/* Started work requests come first, and their PSNs are consecutive. */
static void send_queue(const struct sroce_qp *qp)
{
	const struct sroce_wqe *last = NULL, *wqe;
	const struct sroce_req *req = &qp->req;
	const struct sroce_sq *sq = &qp->sq;
	bool fresh = false;
	u32 i, reads = 0;

	for (i = sq->cons; i != sq->prod; i = sroce_sq_next(sq, i)) {
		wqe = sroce_sq_wqe(sq, i);
		wqe_bounds(qp, wqe);
		if (!wqe->started) {
			fresh = true;
			continue;
		}
		CHECK(!fresh);
		if (sroce_wqe_is_mem_op(wqe)) {
			/* executed, or failed, as soon as it is the oldest */
			CHECK(qp->svc != SROCE_SVC_RC || last || sq->flushing);
			continue;
		}
		CHECK(sroce_psn_diff(wqe->last_psn, wqe->first_psn) >= 0);
		if (last)
			CHECK_EQ(wqe->first_psn,
				 sroce_psn_add(last->last_psn, 1));
		else if (qp->svc == SROCE_SVC_RC && !sq->flushing)
			CHECK(sroce_psn_diff(req->una, wqe->first_psn) >= 0 &&
			      sroce_psn_diff(req->una, wqe->last_psn) <= 0);
		if (qp->svc == SROCE_SVC_RC && sroce_wqe_wants_response(wqe))
			reads += requests(req, wqe, req->una, &(u32){ 0 });
		last = wqe;
	}
	if (qp->svc != SROCE_SVC_RC || !sroce_qp_may_send(qp))
		return;
	CHECK_EQ(req->reads, reads);
	CHECK(reads <= qp->attr.max_rd_atomic);
	if (!last)
		CHECK_EQ(req->una, req->max_psn);
	else
		CHECK(sroce_psn_diff(req->max_psn,
				     sroce_psn_add(last->last_psn, 1)) <= 0);
}

/* The packet that is sent next belongs to the work request that is next. */
static void next_packet(const struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;
	const struct sroce_wqe *wqe = sroce_sq_wqe(&qp->sq, req->next_idx);

	if (!sroce_qp_may_send(qp))
		return;
	if (req->next_idx != qp->sq.prod && wqe->started &&
	    sroce_wqe_is_mem_op(wqe)) {
		/* executed before, and skipped when there is more to send */
		CHECK_EQ(req->psn, wqe->first_psn);
	} else if (req->next_idx != qp->sq.prod && wqe->started) {
		CHECK(sroce_psn_diff(req->psn, wqe->first_psn) >= 0);
		CHECK(sroce_psn_diff(req->psn, wqe->last_psn) <= 0);
	} else {
		CHECK_EQ(req->psn, req->max_psn);
	}
}

static void psns(const struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;
	s32 span = sroce_psn_diff(req->max_psn, req->una);

	CHECK(!(req->una & ~SROCE_PSN_MASK));
	CHECK(!(req->psn & ~SROCE_PSN_MASK));
	CHECK(!(req->max_psn & ~SROCE_PSN_MASK));
	CHECK(!(qp->resp.psn & ~SROCE_PSN_MASK));
	CHECK(!(qp->resp.msn & ~SROCE_PSN_MASK));
	if (qp->svc != SROCE_SVC_RC || !sroce_qp_may_send(qp))
		return;
	CHECK(span >= 0 && span <= SPAN_MAX);
	CHECK(sroce_psn_diff(req->acked, req->una) >= 0);
	CHECK(sroce_psn_diff(req->psn, req->acked) >= 0);
	CHECK(sroce_psn_diff(req->max_psn, req->psn) >= 0);
}

/* READ responses that were requested and have not come */
static u32 reading(const struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;
	const struct sroce_sq *sq = &qp->sq;
	u32 i, psn, end, n = 0;

	for (i = sq->cons; i != sq->prod; i = sroce_sq_next(sq, i)) {
		const struct sroce_wqe *wqe = sroce_sq_wqe(sq, i);

		if (!wqe->started || wqe->msg != SROCE_MSG_READ)
			continue;
		end = sroce_psn_add(wqe->last_psn, 1);
		if (sroce_psn_diff(end, req->max_psn) > 0)
			end = req->max_psn;
		psn = wqe->first_psn;
		if (sroce_psn_diff(req->una, psn) > 0)
			psn = req->una;
		/* none has come from so far ahead */
		for (; sroce_psn_diff(end, psn) > 0 &&
		       sroce_psn_diff(psn, req->una) < SROCE_READ_AHEAD;
		     psn = sroce_psn_add(psn, 1))
			n += sroce_read_retry_missing(req, psn);
		if (sroce_psn_diff(end, psn) > 0)
			n += sroce_psn_diff(end, psn);
	}
	return n;
}

/* Work requests before "passed" are acknowledged; the READs of others count. */
static void passed(const struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;
	const struct sroce_sq *sq = &qp->sq;
	u32 i, psns = 0, ahead = 0;

	CHECK(slots_after(sq, sq->cons, req->acked_idx) <=
	      slots_after(sq, sq->cons, sq->prod));
	for (i = sq->cons; i != req->acked_idx; i = sroce_sq_next(sq, i))
		CHECK(sroce_psn_diff(req->acked,
				     sroce_sq_wqe(sq, i)->last_psn) > 0);
	for (; i != sq->prod; i = sroce_sq_next(sq, i)) {
		const struct sroce_wqe *wqe = sroce_sq_wqe(sq, i);
		u32 n, all;

		if (!wqe->started)
			break;
		CHECK(sroce_psn_diff(req->acked, wqe->last_psn) <= 0);
		if (wqe->msg == SROCE_MSG_READ) {
			n = requests(req, wqe, req->acked, &all);
			psns += all - n;
			n = requests(req, wqe, req->psn, &all);
			ahead += all - n;
		}
	}
	CHECK_EQ(req->read_psns, psns);
	CHECK_EQ(req->read_ahead, ahead);
	CHECK_EQ(req->retrans.left_read_psns,
		 sroce_sq_sched_read_psns(qp, req->retrans.left_psn));
	CHECK(sroce_cc_in_flight(qp) >= 0);
	CHECK_EQ(req->reading, reading(qp));
}

/* Packets to be sent again were sent before and are not acknowledged. */
static void retrans_range(const struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;
	const struct sroce_retrans *rp = &req->retrans;

	CHECK(sroce_psn_diff(rp->recover_psn, req->acked) >= 0);
	CHECK(sroce_psn_diff(req->max_psn, rp->recover_psn) >= 0);
	CHECK(req->read_retry.n <= SROCE_READ_RANGES_MAX);
	CHECK(sroce_psn_diff(req->read_retry.high, req->una) >= 0);
	CHECK(sroce_psn_diff(req->max_psn, req->read_retry.high) >= 0);
	if (rp->from == rp->to)
		return;
	CHECK(sroce_psn_diff(rp->to, rp->from) > 0);
	CHECK(sroce_psn_diff(rp->from, req->acked) >= 0);
	CHECK(sroce_psn_diff(req->max_psn, rp->to) >= 0);
}

/* Received responses lie between the oldest missing and the newest. */
static void responses(const struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;
	u32 i, n = sroce_psn_diff(req->read_retry.high, req->una);
	u32 got = 0, all = sim_kept_responses(req);

	if (!all)
		return;
	for (i = 0; i < n && i < SROCE_READ_AHEAD; i++)
		got += test_bit(sroce_psn_add(req->una, i) % SROCE_READ_AHEAD,
				req->read_buf->bitmap);
	CHECK_EQ(got, all);
	CHECK(!test_bit(req->una % SROCE_READ_AHEAD, req->read_buf->bitmap));
}

/* The oldest request, or its answer, waits for pages on this side. */
static bool oldest_waits_here(const struct sroce_req *req)
{
	return req->n_ofo_resps || req->resp_dropped ||
	       (req->paging && req->paging_psn == req->una);
}

/* Packets without an ACK have a timer. */
static void timers(const struct sroce_kqp *kqp)
{
	const struct sroce_req *req = &kqp->qp.req;

	if (kqp->qp.svc != SROCE_SVC_RC || !sroce_qp_may_send(&kqp->qp))
		return;
	if (req->paging || req->n_ofo_resps || req->resp_dropped)
		CHECK(kqp->paged_when);
	if (req->rnr_wait)
		CHECK(kqp->rnr_when);
	else if (kqp->qp.attr.timeout && req->una != req->max_psn && !oldest_waits_here(req))
		CHECK(req->deadline);
	if (req->retrans.probe_at)
		CHECK(kqp->ack_when && kqp->ack_when <= req->retrans.probe_at + SROCE_SLACK_MAX);
	if (req->deadline)
		CHECK(kqp->ack_when && kqp->ack_when <= req->deadline + SROCE_SLACK_MAX);
}

/* The window is within its bounds. What the pacing holds back has a timer. */
static void window(const struct sroce_kqp *kqp)
{
	const struct sroce_req *req = &kqp->qp.req;
	u32 cwnd = sroce_cwnd(&req->cwnd);

	if (kqp->qp.svc != SROCE_SVC_RC || !sroce_qp_may_send(&kqp->qp))
		return;
	CHECK(cwnd >= SROCE_CWND_MIN && cwnd <= SROCE_CWND_MAX);
	CHECK(sroce_cc_unacked(&kqp->qp) <= (s32)SROCE_CWND_MAX);
	CHECK(sroce_psn_diff(req->max_psn, req->retrans.left_psn) >= 0);
	if (req->pace_at)
		CHECK(kqp->ack_when && kqp->ack_when <= req->pace_at + SROCE_SLACK_MAX);
}

/*
 * A QP that has gone back is sending again, unless something holds it back that comes to
 * an end: the pacing is the only thing that has to see to that itself.
 */
static void pacing(const struct sroce_kqp *kqp)
{
	const struct sroce_req *req = &kqp->qp.req;
	u32 cwnd = sroce_cwnd(&req->cwnd);

	if (kqp->qp.svc != SROCE_SVC_RC || !sroce_qp_may_send(&kqp->qp) ||
	    req->psn == req->max_psn || req->rnr_wait || kqp->task_when || kqp->sim->tx_room ||
	    (req->paging && req->psn == req->paging_psn))
		return;
	if (!req->quota && cwnd < SROCE_CC_LARGE &&
	    sroce_cc_in_flight(&kqp->qp) < (s32)cwnd)
		CHECK(req->pace_at);
}

/* Entries of the FIFO are distinct, and marked as queued. */
static void fifo(const struct sroce_resp *resp, const struct sroce_fifo *f)
{
	u32 i, marked = 0;

	CHECK(f->n <= resp->nres);
	for (i = 0; i < f->n; i++) {
		u32 at = f->idx[i];

		CHECK(at < resp->nres);
		CHECK(resp->res[at].valid);
	}
	for (i = 0; i < resp->nres; i++)
		marked += resp->res[i].queued;
	CHECK_EQ(marked, f->n);
}

/* Responses to be sent again belong to valid resources. */
static void replays(const struct sroce_resp *resp)
{
	const struct sroce_replays *r = &resp->replays;
	u32 i;

	CHECK(r->n <= SROCE_REPLAYS_MAX);
	for (i = 0; i < r->n; i++) {
		const struct sroce_res *res = &resp->res[r->q[i].idx];
		const struct sroce_resp_range *a = &r->q[i].range;

		CHECK(r->q[i].idx < resp->nres && res->valid);
		CHECK(sroce_psn_diff(a->psn, res->first_psn) >= 0);
		CHECK(sroce_psn_diff(a->end, a->psn) > 0);
		CHECK(sroce_psn_diff(a->end, res->last_psn) <= 1);
	}
}

/* Packets kept after a gap lie ahead, in order. */
static void ofo_queue(const struct sroce_resp *resp, bool in_order)
{
	const struct list_head *pos;
	u32 n = 0, psn = resp->psn;

	for (pos = resp->ofo_queue.next; pos != &resp->ofo_queue; pos = pos->next) {
		const struct sroce_ofo_pkt *k =
			list_entry(pos, struct sroce_ofo_pkt, list);

		/* the first may wait for a page fault */
		CHECK(!in_order || sroce_psn_diff(k->pkt.psn, psn) > 0 ||
		      (!n && resp->paging && k->pkt.psn == psn));
		psn = k->pkt.psn;
		n++;
	}
	CHECK_EQ(n, resp->ofo_len);
	CHECK(n <= SROCE_OFO_MAX);
}

/* Deferred responses wait for a page fault that is under way. */
static void deferred(const struct sroce_kqp *kqp)
{
	const struct sroce_req *req = &kqp->qp.req;
	const struct list_head *pos;
	u32 n = 0;

	for (pos = req->ofo_resps.next; pos != &req->ofo_resps; pos = pos->next)
		n++;
	CHECK_EQ(n, req->n_ofo_resps);
	CHECK(n <= SROCE_OFO_MAX);
	CHECK(!n || kqp->paged_when);
	CHECK(!n || sroce_qp_may_send(&kqp->qp));
}

static void responder(const struct sroce_qp *qp)
{
	const struct sroce_resp *resp = &qp->resp;

	CHECK(resp->nres <= SROCE_MAX_RD_ATOMIC);
	CHECK(!resp->nres || resp->head < resp->nres);
	fifo(resp, &resp->fifo);
	replays(resp);
	if (!resp->closing)
		ofo_queue(resp, qp->svc == SROCE_SVC_RC);
	CHECK(resp->remaining <= resp->length);
	if (resp->have_wqe)
		CHECK(resp->wqe.num_sge <= SROCE_MAX_SGE);
	CHECK(!(resp->msg & ~(SROCE_SENDING | SROCE_WRITING)));
}

/* In a state that executes no work nothing is left. */
static void at_rest(const struct sroce_qp *qp)
{
	if (sroce_qp_may_send(qp))
		return;
	CHECK(qp->sq.flushing || qp->sq.cons == qp->sq.prod);
	CHECK_EQ(qp->req.reads, 0);
	if (qp->state == IB_QPS_ERR)
		CHECK(!qp->resp.have_wqe && !qp->resp.fifo.n &&
		      !qp->resp.replays.n && !qp->resp.ofo_len);
}

/**
 * sim_invariants() - check a QP that is unlocked
 * @kqp: the QP
 */
void sim_invariants(const struct sroce_kqp *kqp)
{
	const struct sroce_qp *qp = &kqp->qp;

	rings(qp);
	psns(qp);
	send_queue(qp);
	next_packet(qp);
	if (qp->svc == SROCE_SVC_RC && sroce_qp_may_send(qp)) {
		passed(qp);
		retrans_range(qp);
		responses(qp);
	}
	timers(kqp);
	window(kqp);
	pacing(kqp);
	deferred(kqp);
	responder(qp);
	at_rest(qp);
}
