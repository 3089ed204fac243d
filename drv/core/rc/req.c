// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requester: sends the request packets of work requests (9.7.3, 9.8, 9.9), one by one,
 * or several of one or more messages as a train.
 *
 * Any packet can be built again at any time (see req_pkt.c); retrans.c decides which
 * packets are retransmitted.
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/mem/mem_ops.h"
#include "drv/core/mem/mr.h"
#include "drv/core/mem/sge.h"
#include "drv/core/mem/wqe.h"
#include "drv/core/rc/cc.h"
#include "drv/core/rc/comp.h"
#include "drv/core/rc/flush.h"
#include "drv/core/rc/read_retry.h"
#include "drv/core/rc/read_split.h"
#include "drv/core/rc/req.h"
#include "drv/core/rc/req_pkt.h"
#include "drv/core/rc/retrans.h"
#include "drv/core/rc/rtt.h"
#include "drv/core/rc/sq_sched.h"
#include "drv/core/trace.h"
#include "drv/core/tx/segs.h"
#include "drv/core/tx/txbuf.h"

/* Advance past the packet just built. */
static void advance(struct sroce_qp *qp, const struct sroce_wqe *wqe,
		    const struct sroce_pkt *pkt, bool last)
{
	struct sroce_req *req = &qp->req;

	req->psn = sroce_req_pkt_end(qp, wqe, pkt);
	if (sroce_psn_diff(req->psn, req->max_psn) > 0) {
		req->max_psn = req->psn;
		if (sroce_is_rc(qp) && sroce_wqe_wants_response(wqe))
			sroce_read_split_sent(qp, wqe, pkt->psn);
	} else if (wqe->msg == SROCE_MSG_READ) {
		/* sent again after going back: one packet under way again */
		req->read_ahead -= sroce_psn_diff(req->psn, pkt->psn) - 1;
	}
	if (last)
		req->next_idx = sroce_sq_next(&qp->sq, req->next_idx);
}

/*
 * Whether to set AckReq: where no packet can follow, and at intervals. A READ or atomic
 * needs none, as its response acknowledges it (9.7.5.1.2). @next: set to the work request
 * that follows, if that was looked for and found.
 */
static bool ask_for_ack(struct sroce_qp *qp, const struct sroce_wqe *wqe,
			struct sroce_wqe **next)
{
	if (!sroce_is_rc(qp) || sroce_wqe_wants_response(wqe))
		return false;
	if (++qp->req.since_ackreq < sroce_cc_ack_interval(qp)) {
		*next = sroce_sq_sched_peek(qp);
		if (*next)
			return false;
	}
	qp->req.since_ackreq = 0;
	return true;
}

/* Execute a local operation; it completes after the work requests before it. */
static enum ib_wc_status do_local(struct sroce_qp *qp, struct sroce_wqe *wqe)
{
	enum ib_wc_status status = sroce_mem_ops_run(qp, wqe);
	struct sroce_req *req = &qp->req;

	if (status != IB_WC_SUCCESS) {
		/* the operation had no effect */
		wqe->started = false;
		return status;
	}
	if (req->acked_idx == req->next_idx)
		req->acked_idx = sroce_sq_next(&qp->sq, req->next_idx);
	req->next_idx = sroce_sq_next(&qp->sq, req->next_idx);
	if (sroce_is_rc(qp))
		sroce_comp_settle(qp);
	else
		sroce_sq_complete(qp, IB_WC_SUCCESS);
	return IB_WC_SUCCESS;
}

/* Sending waits at @psn until pages are faulted in, unless @ret is another error. */
static void set_paging(struct sroce_req *req, u32 psn, int ret)
{
	req->paging = ret == -EAGAIN;
	req->paging_psn = psn;
}

/* Send an Ethernet frame of a raw packet QP. */
static enum ib_wc_status send_frame(struct sroce_qp *qp, struct sroce_wqe *wqe)
{
	int ret = sroce_raw_tx(qp, wqe);

	/* a region that has been pinned since needs no pages */
	if (ret == -EAGAIN)
		ret = sroce_sge_fault_in(qp, wqe->sge, wqe->num_sge, 0, wqe->length,
					 wqe->length, 0) ?: -EXDEV;
	set_paging(&qp->req, qp->req.psn, ret);
	if (ret == -EAGAIN || ret == -EXDEV)
		return IB_WC_SUCCESS;
	if (ret)
		return ret == -EMSGSIZE ? IB_WC_LOC_LEN_ERR : IB_WC_LOC_PROT_ERR;
	qp->trip_bytes += wqe->length;
	qp->req.next_idx = sroce_sq_next(&qp->sq, qp->req.next_idx);
	sroce_sq_complete(qp, IB_WC_SUCCESS);
	return IB_WC_SUCCESS;
}

static int skip_span(void *span, u32 len, void *arg)
{
	return 0;
}

/*
 * Fault in the memory that the responses of @wqe go to. To wait before the request is
 * sent is cheaper than to request responses again. It is done only once: pages that are
 * evicted at once must not block @wqe.
 */
static int prefault_response(struct sroce_qp *qp, struct sroce_wqe *wqe)
{
	u32 need = min(wqe->length, SROCE_PAGES_AHEAD);

	if (!sroce_wqe_wants_response(wqe) || wqe->ready ||
	    sroce_wqe_ack_only(wqe) || !sroce_odp_used(qp))
		return 0;
	wqe->ready = true;
	if (sroce_sge_scatter(qp, wqe->sge, wqe->num_sge, 0, need, skip_span,
			      NULL) != -EAGAIN)
		return 0;
	return sroce_sge_fault_in(qp, wqe->sge, wqe->num_sge, 0, need, need,
				  IB_ACCESS_LOCAL_WRITE);
}

/*
 * Send the packet of @wqe at req.psn. @next: set to the work request that may follow at
 * once, if that is known. Return: IB_WC_SUCCESS, also if @wqe has to wait for pages, or
 * the error that @wqe ends with.
 */
static enum ib_wc_status send_next(struct sroce_qp *qp, struct sroce_wqe *wqe,
				   struct sroce_wqe **next)
{
	u32 psn = qp->req.psn;
	bool retransmit = sroce_psn_diff(psn, qp->req.max_psn) < 0;
	struct sroce_txbuf txbuf;
	struct sroce_pkt pkt = {};
	bool last;
	int ret;

	if (sroce_wqe_is_mem_op(wqe))
		return do_local(qp, wqe);
	if (wqe->msg == SROCE_MSG_FRAME)
		return send_frame(qp, wqe);
	if (prefault_response(qp, wqe) == -EAGAIN) {
		set_paging(&qp->req, psn, -EAGAIN);
		return IB_WC_SUCCESS;
	}
	last = sroce_req_pkt_describe(qp, wqe, psn, &pkt);
	ret = sroce_req_pkt_alloc(qp, wqe, &pkt, &txbuf);
	if (ret == -EAGAIN || ret == -EXDEV) {
		set_paging(&qp->req, psn, ret);
		return IB_WC_SUCCESS;
	}
	if (ret)
		return IB_WC_LOC_PROT_ERR;
	advance(qp, wqe, &pkt, last);
	sroce_cc_sent(qp, 1);
	pkt.ackreq = ask_for_ack(qp, wqe, next);
	sroce_txbuf_commit(qp, &pkt, &txbuf);
	if (txbuf.bth && sroce_req_pkt_is_multicast(qp, wqe))
		sroce_count(qp, SROCE_CNT_TX_MULTICAST);
	if (retransmit)
		sroce_count(qp, SROCE_CNT_RETRANSMIT);
	if (sroce_is_rc(qp))
		sroce_rtt_sent(qp, &pkt, retransmit);
	/* with UC and UD a message completes when it is sent */
	if (!sroce_is_rc(qp) && last)
		sroce_sq_complete(qp, IB_WC_SUCCESS);
	return IB_WC_SUCCESS;
}

/*
 * How many packets of @wqe, from req.psn on, can be sent as middle packets without
 * AckReq: they are not retransmissions, and the last packet is not among them.
 */
static u32 middle_packets(struct sroce_qp *qp, const struct sroce_wqe *wqe,
			  u32 budget)
{
	const struct sroce_req *req = &qp->req;
	u32 n, interval, room;

	if (wqe->msg > SROCE_MSG_WRITE_IMM || qp->svc == SROCE_SVC_UD ||
	    req->psn != req->max_psn)
		return 0;
	n = min_t(u32, budget, sroce_psn_diff(wqe->last_psn, req->psn));
	if (!sroce_is_rc(qp))
		return n;
	interval = sroce_cc_ack_interval(qp);
	room = sroce_cc_free(qp);
	if (req->since_ackreq + 1 >= interval || room <= 1)
		return 0;
	return min3(n, interval - 1 - req->since_ackreq, room - 1);
}

/* Whether the peer owes an ACK, or a response, that opens the cwnd */
static bool is_answer_owed(const struct sroce_req *req)
{
	return sroce_psn_diff(req->psn, req->acked) > (s32)req->since_ackreq;
}

/*
 * Whether the cwnd allows less than a train now, though the message has more to send, and an
 * ACK that opens the cwnd is on its way: one trip is cheaper than two.
 */
static bool is_cut_short(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	u32 room;

	if (!sroce_is_rc(qp) || wqe->msg > SROCE_MSG_WRITE_IMM ||
	    qp->req.psn != qp->req.max_psn || sroce_cc_is_paced(qp) ||
	    !is_answer_owed(&qp->req))
		return false;
	room = sroce_cc_free(qp);
	return room < SROCE_TX_BUDGET && !sroce_tx_can_append(qp) &&
	       (s32)room <= sroce_psn_diff(wqe->last_psn, qp->req.psn);
}

/* Send middle packets of @wqe as a train. Return: how many, or an error. */
static int send_segs(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 budget)
{
	struct sroce_req *req = &qp->req;
	u32 limit = middle_packets(qp, wqe, budget);
	struct sroce_pkt pkt;
	int n;

	if (limit < 2)
		return 0;
	memset(&pkt, 0, sizeof(pkt));
	sroce_req_pkt_describe(qp, wqe, req->psn, &pkt);
	if (pkt.loopback)
		return 0;
	n = sroce_segs_tx_wqe(qp, &pkt, wqe, sroce_req_pkt_offset(qp, wqe, req->psn),
			      limit);
	if (n < 0)
		return n;
	req->psn = sroce_psn_add(req->psn, n);
	req->max_psn = req->psn;
	req->since_ackreq += n;
	sroce_cc_sent(qp, n);
	return n;
}

/* Whether the message is a single packet that was not sent before */
static bool is_only(const struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	return wqe->msg <= SROCE_MSG_WRITE_IMM && wqe->length <= qp->mtu &&
	       qp->req.psn == qp->req.max_psn;
}

/* Whether the packets of two such messages differ only in what append_msg() fills in */
static bool is_similar(const struct sroce_wqe *wqe, const struct sroce_wqe *other)
{
	return wqe->msg == other->msg && wqe->length == other->length &&
	       !((wqe->flags ^ other->flags) & IB_SEND_SOLICITED);
}

/*
 * Build the packet of @wqe at @bth. @pkt describes the packet before it and is updated.
 * Return: false if the payload can't be read.
 */
static bool append_msg(struct sroce_qp *qp, struct sroce_wqe *wqe,
		       struct sroce_pkt *pkt, u8 *bth, struct sroce_wqe **next)
{
	struct sroce_req *req = &qp->req;
	u8 *to = bth + pkt->op->hdr_len;

	if (sroce_wqe_gather(qp, wqe, 0, to, pkt->payload_len))
		return false;
	memset(to + pkt->payload_len, 0, pkt->pad);
	pkt->psn = req->psn;
	pkt->va = wqe->remote_addr;
	pkt->rkey = wqe->rkey;
	pkt->imm = wqe->imm;
	pkt->inv_rkey = wqe->inv_rkey;
	req->psn = sroce_psn_add(req->psn, 1);
	req->max_psn = req->psn;
	req->next_idx = sroce_sq_next(&qp->sq, req->next_idx);
	*next = NULL;
	sroce_cc_sent(qp, 1);
	pkt->ackreq = ask_for_ack(qp, wqe, next);
	sroce_rtt_sent(qp, pkt, false);
	sroce_pkt_build(pkt, bth);
	trace_sroce_tx(qp, pkt);
	return true;
}

/*
 * Send messages of one packet as a train: @wqe and similar ones that follow it. The
 * fields that they share are filled in once. @next: set to the work request that may
 * follow at once, if any. Return: how many were sent; 0 if that is not possible.
 */
static u32 send_msgs(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 budget,
		     struct sroce_wqe **next)
{
	struct sroce_pkt pkt;
	u32 n = budget, done = 0, len;
	u8 *bth;

	memset(&pkt, 0, sizeof(pkt));
	sroce_req_pkt_describe(qp, wqe, qp->req.psn, &pkt);
	if (n < 2 || pkt.loopback)
		return 0;
	len = pkt.op->hdr_len + pkt.payload_len + pkt.pad;
	bth = sroce_tx_begin_segs(qp, &qp->av, len, false, &n);
	if (!bth)
		return 0;
	while (append_msg(qp, wqe, &pkt, bth, next)) {
		bth += len + SROCE_ICRC_LEN;
		if (++done == n || !*next || !is_only(qp, *next) ||
		    !is_similar(*next, wqe))
			break;
		wqe = sroce_sq_sched_next(qp, *next);
	}
	if (!done) {
		sroce_tx_abort(qp);
		return 0;
	}
	sroce_count(qp, SROCE_CNT_TX_MSG_BATCHES);
	sroce_tx_commit(qp, done);
	return done;
}

/* Send the next packet that is queued for retransmission. */
static void send_retrans(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;
	bool copy = rp->from == rp->to;
	u32 psn = copy ? qp->req.acked : rp->from;
	struct sroce_wqe *wqe = sroce_sq_sched_wqe(qp, qp->req.acked_idx, psn);
	struct sroce_txbuf txbuf;
	struct sroce_pkt pkt = {};
	int ret;

	if (!wqe || sroce_sq_sched_blocked(&qp->req, psn)) {
		rp->from = rp->to;
		if (copy)
			rp->copies = 0;
		return;
	}
	sroce_req_pkt_describe(qp, wqe, psn, &pkt);
	ret = sroce_req_pkt_alloc(qp, wqe, &pkt, &txbuf);
	if (ret == -EAGAIN || ret == -EXDEV) {
		set_paging(&qp->req, psn, ret);
		return;
	}
	if (ret) {
		/* sent in order instead, so that the work request ends with the error */
		rp->hold_new = false;
		rp->copies = 0;
		sroce_sq_sched_seek(qp, psn);
		rp->from = rp->to;
		return;
	}
	if (copy) {
		if (!--rp->copies && rp->gap_reported)
			rp->recover_psn = qp->req.max_psn;
	} else {
		rp->from = sroce_req_pkt_end(qp, wqe, &pkt);
		if (sroce_psn_diff(rp->from, rp->to) >= 0) {
			copy = !rp->copies;
			rp->to = rp->from;
			rp->last = rp->from;
		}
	}
	pkt.ackreq = copy && !sroce_wqe_wants_response(wqe);
	sroce_count(qp, SROCE_CNT_RETRANSMIT);
	sroce_txbuf_commit(qp, &pkt, &txbuf);
}

static void check_drained(struct sroce_qp *qp)
{
	if (qp->state != IB_QPS_SQD || qp->drained || !sroce_sq_sched_idle(qp))
		return;
	qp->drained = true;
	if (qp->attr.en_sqd_async_notify)
		sroce_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

/*
 * Nothing follows the newest packet, in SQD, since the window has become smaller, or since the
 * next waits for pages. If that packet was sent without AckReq, a duplicate asks for the ACK. What
 * was sent again to learn whether the peer keeps what follows a gap asks for one itself.
 */
static void request_missing_ack(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	u32 prev = sroce_psn_add(req->psn, -1);
	const struct sroce_wqe *newest;

	if (!sroce_is_rc(qp) || !req->since_ackreq || req->retrans.hold_new ||
	    req->retrans.from != req->retrans.to ||
	    sroce_psn_diff(prev, req->acked) < 0)
		return;
	req->since_ackreq = 0;
	newest = sroce_sq_sched_wqe(qp, req->acked_idx, prev);
	if (!newest || sroce_wqe_wants_response(newest))
		return;
	req->retrans.from = prev;
	req->retrans.to = req->psn;
}

/* The window allows no more for now: see to it that sending goes on. */
static void wait_for_window(struct sroce_qp *qp)
{
	if (!sroce_is_rc(qp) || !sroce_sq_sched_pending(qp))
		return;
	sroce_cc_wait(qp);
	/* a sample is being taken: the peer owes an answer */
	if (!qp->req.rtt.sampling &&
	    sroce_cc_in_flight(qp) >= (s32)sroce_cwnd(&qp->req.cwnd))
		request_missing_ack(qp);
}

/* Whether retransmissions are queued */
static bool has_retrans(const struct sroce_req *req)
{
	return req->retrans.from != req->retrans.to || req->retrans.copies;
}

/* To build new packets must not delay it. */
static void retransmit_now(struct sroce_qp *qp)
{
	send_retrans(qp);
	qp->deferred |= SROCE_DEFER_SEND_NOW;
}

/* Whether the packet that is next, a retransmission or not, waits for pages */
static bool waits_for_pages(const struct sroce_req *req)
{
	const struct sroce_retrans *rp = &req->retrans;
	u32 psn = req->psn;

	if (has_retrans(req))
		psn = rp->from == rp->to ? req->acked : rp->from;
	return req->paging && psn == req->paging_psn;
}

/* Whether there is something that more budget would send */
static bool has_more(struct sroce_qp *qp)
{
	return sroce_qp_may_send(qp) && !waits_for_pages(&qp->req) &&
	       (has_retrans(&qp->req) || sroce_sq_sched_pending(qp));
}

/**
 * sroce_req_is_idle() - whether there is nothing to send, and nothing to send again
 * @qp: the QP, locked
 */
bool sroce_req_is_idle(const struct sroce_qp *qp)
{
	return !has_retrans(&qp->req) && sroce_sq_sched_empty(qp);
}

/**
 * sroce_req_is_done() - whether an idle requester awaits no answer and no timer either
 * @qp: the QP, locked; sroce_req_is_idle()
 *
 * Return: true if sroce_req_run() would change nothing.
 */
bool sroce_req_is_done(const struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;

	return req->max_psn == req->una && !req->deadline && !req->retrans.probe_at &&
	       !req->pace_at && qp->state != IB_QPS_SQD;
}

/* What has to be seen to before the first packet of a trip */
static void begin_trip(struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;

	if (qp->state == IB_QPS_SQD && !sroce_sq_sched_wqe(qp, req->acked_idx, req->psn))
		request_missing_ack(qp);
	if (sroce_is_rc(qp) && qp->state == IB_QPS_RTS && req->max_psn == req->una &&
	    !sroce_sq_sched_empty(qp))
		sroce_cc_start(qp);
}

/**
 * sroce_req_run() - send retransmissions and new request packets
 * @qp: the QP, locked
 * @budget: most packets to send
 *
 * Return: whether the budget ran out with more to send.
 */
bool sroce_req_run(struct sroce_qp *qp, u32 budget)
{
	struct sroce_req *req = &qp->req;
	struct sroce_wqe *next = NULL, *prev = NULL;
	bool retransmitted = false, try_segs = true;

	begin_trip(qp);
	for (; budget && sroce_qp_may_send(qp) && !req->rnr_wait && !waits_for_pages(req);
	     budget--) {
		enum ib_wc_status status;
		struct sroce_wqe *wqe;
		bool follows;
		int n;

		if (qp->trip_bytes >= SROCE_TX_BUDGET_BYTES ||
		    (retransmitted && !has_retrans(req))) {
			budget = 0;
			break;
		}
		if (has_retrans(req)) {
			retransmit_now(qp);
			retransmitted = true;
			continue;
		}
		if (!next && sroce_sq_sched_empty(qp))
			break;
		wqe = sroce_sq_sched_next(qp, next);
		if (!wqe || is_cut_short(qp, wqe)) {
			wait_for_window(qp);
			if (req->retrans.from == req->retrans.to)
				break;
			continue;
		}
		follows = next;
		next = NULL;
		n = 0;
		/* a first packet is sent by itself; most messages have no other */
		if (try_segs && req->psn != wqe->first_psn)
			n = send_segs(qp, wqe, budget);
		else if (follows && is_only(qp, wqe) && is_similar(wqe, prev))
			n = send_msgs(qp, wqe, budget, &next);
		prev = wqe;
		if (n > 0) {
			budget -= n - 1;
			continue;
		}
		/* don't copy in vain for each packet before the one with the error */
		if (n < 0)
			try_segs = false;
		status = send_next(qp, wqe, &next);
		if (status != IB_WC_SUCCESS)
			sroce_sq_sched_fail(qp, wqe, status);
		else if (waits_for_pages(req))
			request_missing_ack(qp);
	}
	if (sroce_is_rc(qp) && sroce_qp_may_send(qp))
		sroce_retrans_set_timer(qp);
	check_drained(qp);
	return !budget && has_more(qp);
}

/**
 * sroce_req_faulted_in() - resume the requester after pages were faulted in
 * @qp: the QP, locked
 */
void sroce_req_faulted_in(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	u32 dropped_end = req->resp_dropped_end;
	bool dropped = req->resp_dropped;

	req->paging = false;
	req->resp_dropped = false;
	if (req->n_ofo_resps)
		sroce_comp_faulted_in(qp);
	if (dropped && sroce_qp_may_send(qp))
		sroce_read_retry_dropped(qp, dropped_end);
}
