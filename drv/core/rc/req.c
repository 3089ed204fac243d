// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requester: turns work requests into request packets (9.7.3, 9.8, 9.9).
 *
 * Progress of a message is a function of its PSNs alone: packet n of a work
 * request has PSN first_psn + n and offset n * mtu. Any packet can therefore be
 * made again at any time; repair.c says which.
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/tx/segs.h"
#include "drv/core/trace.h"

static bool is_multicast(const struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	return qp->svc == SROCE_SVC_UD && sroce_ah_av(wqe->ah)->multicast;
}

static void fill_bth(struct sroce_qp *qp, struct sroce_pkt *pkt,
		     const struct sroce_wqe *wqe, bool last)
{
	pkt->op = &sroce_opcodes[pkt->opcode];
	pkt->pkey = SROCE_PKEY_FULL;
	pkt->migreq = qp->attr.path_mig_state == IB_MIG_MIGRATED;
	pkt->solicited = last && wqe->flags & IB_SEND_SOLICITED &&
			 pkt->op->flags & SROCE_RECV;
	if (qp->svc == SROCE_SVC_UD) {
		pkt->qpn = is_multicast(qp, wqe) ? SROCE_QPN_MULTICAST :
						   wqe->remote_qpn;
		/* 10.2.5: a controlled Q_Key means "the QP's own" */
		pkt->qkey = (s32)wqe->remote_qkey < 0 ? qp->attr.qkey :
							wqe->remote_qkey;
		pkt->sqpn = qp->qpn;
	} else {
		pkt->qpn = qp->attr.dest_qp_num;
		pkt->va = wqe->remote_addr;
		pkt->rkey = wqe->rkey;
		pkt->feth = wqe->feth;
		pkt->swap_add = wqe->msg == SROCE_MSG_CMP_SWP ? wqe->swap :
								wqe->compare_add;
		pkt->compare = wqe->msg == SROCE_MSG_CMP_SWP ?
			       wqe->compare_add : 0;
	}
	pkt->imm = wqe->imm;
	pkt->inv_rkey = wqe->inv_rkey;
}

static u32 offset_of(const struct sroce_qp *qp, const struct sroce_wqe *wqe,
		     u32 psn)
{
	return sroce_psn_diff(psn, wqe->first_psn) * qp->mtu;
}

/* The packet of @wqe at @psn, in @pkt, zeroed; return: whether it is the message's last */
static bool describe(struct sroce_qp *qp, const struct sroce_wqe *wqe, u32 psn,
		     struct sroce_pkt *pkt)
{
	u32 off = offset_of(qp, wqe, psn);
	bool responds = sroce_wqe_wants_response(wqe);
	bool first, last;

	pkt->psn = psn;
	pkt->loopback = sroce_loopback_usable(qp);
	if (sroce_wqe_has_payload(wqe))
		pkt->payload_len = min(sroce_txbuf_max_payload(qp, pkt),
				       wqe->length - off);
	first = responds || !off;
	last = responds || off + pkt->payload_len == wqe->length;
	pkt->opcode = sroce_opcode_of_msg(qp->svc, wqe->msg, first, last);
	fill_bth(qp, pkt, wqe, last);
	if (wqe->msg == SROCE_MSG_READ)
		pkt->va += off;
	pkt->length = wqe->length - off;
	pkt->pad = -pkt->payload_len & 3;
	return last;
}

/*
 * Room for a packet, with the payload in place. -EFAULT: it can't be read; -EAGAIN:
 * not yet; -EXDEV: the packet has to be made anew.
 */
static int lay_out(struct sroce_qp *qp, const struct sroce_wqe *wqe,
		   const struct sroce_pkt *pkt, struct sroce_txbuf *room)
{
	struct sroce_av *av;

	av = qp->svc == SROCE_SVC_UD ? sroce_ah_av(wqe->ah) : &qp->av;
	return sroce_txbuf_fill_wqe(qp, av, pkt, wqe, offset_of(qp, wqe, pkt->psn),
			      room);
}

/* One past the PSNs of a packet; a READ takes those of its responses. */
static u32 psn_after(const struct sroce_qp *qp, const struct sroce_wqe *wqe,
		     const struct sroce_pkt *pkt)
{
	if (wqe->msg == SROCE_MSG_READ)
		return sroce_psn_add(wqe->last_psn, 1);
	return sroce_psn_add(pkt->psn, sroce_pkt_psns(pkt, qp->mtu));
}

/* Advance over the packet just built. */
static void advance(struct sroce_qp *qp, const struct sroce_wqe *wqe,
		    const struct sroce_pkt *pkt, bool last)
{
	struct sroce_req *req = &qp->req;

	req->psn = psn_after(qp, wqe, pkt);
	if (sroce_psn_diff(req->psn, req->max_psn) > 0)
		req->max_psn = req->psn;
	if (last)
		req->next_idx = sroce_sq_next(&qp->sq, req->next_idx);
}

/*
 * An acknowledge is asked for where the flow would otherwise stop, and now and
 * then within it; a READ or atomic answers for itself (9.7.5.1.2). @next: set to the
 * work request that follows, if that was looked for and found.
 */
static bool ask_for_ack(struct sroce_qp *qp, const struct sroce_wqe *wqe,
			struct sroce_wqe **next)
{
	if (!sroce_is_rc(qp) || sroce_wqe_wants_response(wqe))
		return false;
	if (++qp->req.since_ackreq < sroce_cwnd(qp) / SROCE_ACKS_PER_CWND) {
		*next = sroce_sq_sched_peek(qp);
		if (*next)
			return false;
	}
	qp->req.since_ackreq = 0;
	return true;
}

/* Do what @wqe wants done here; it completes after those before it. */
static enum ib_wc_status do_local(struct sroce_qp *qp, struct sroce_wqe *wqe)
{
	enum ib_wc_status status = sroce_mem_ops_run(qp, wqe);
	struct sroce_req *req = &qp->req;

	if (status != IB_WC_SUCCESS) {
		/* nothing of it has happened */
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

/* Send a frame: nothing of what follows for packets applies to it. */
static enum ib_wc_status send_frame(struct sroce_qp *qp, struct sroce_wqe *wqe)
{
	int ret = sroce_raw_tx(qp, wqe);

	/* a region that has been pinned since needs no pages */
	if (ret == -EAGAIN)
		ret = sroce_sge_fault_in(qp, wqe->sge, wqe->num_sge, 0, wqe->length,
				     wqe->length, 0) ?: -EXDEV;
	qp->req.paging = ret == -EAGAIN;
	if (ret == -EAGAIN || ret == -EXDEV)
		return IB_WC_SUCCESS;
	if (ret)
		return IB_WC_LOC_PROT_ERR;
	qp->trip_bytes += wqe->length;
	qp->req.next_idx = sroce_sq_next(&qp->sq, qp->req.next_idx);
	sroce_sq_complete(qp, IB_WC_SUCCESS);
	return IB_WC_SUCCESS;
}

static int do_nothing(void *span, u32 len, void *arg)
{
	return 0;
}

/*
 * What @wqe will fetch needs memory. It is better waited for now than asked for
 * again; but once only, or pages that go as fast as they come would keep it here.
 */
static int make_ready(struct sroce_qp *qp, struct sroce_wqe *wqe)
{
	u32 need = min(wqe->length, SROCE_PAGES_AHEAD);

	if (!sroce_wqe_wants_response(wqe) || wqe->ready ||
	    sroce_wqe_ack_only(wqe) || !sroce_odp_used(qp))
		return 0;
	wqe->ready = true;
	if (sroce_sge_scatter(qp, wqe->sge, wqe->num_sge, 0, need, do_nothing,
			      NULL) != -EAGAIN)
		return 0;
	return sroce_sge_fault_in(qp, wqe->sge, wqe->num_sge, 0, need, need,
			      IB_ACCESS_LOCAL_WRITE);
}

/*
 * Send the packet of @wqe at req.psn. @next: set to the work request that may follow at
 * once, if that is known. Return: why it can't be executed.
 */
static enum ib_wc_status send_next(struct sroce_qp *qp, struct sroce_wqe *wqe,
				   struct sroce_wqe **next)
{
	u32 psn = qp->req.psn;
	bool again = sroce_psn_diff(psn, qp->req.max_psn) < 0;
	struct sroce_txbuf room;
	struct sroce_pkt pkt = {};
	bool last;
	int ret;

	if (sroce_wqe_is_local(wqe))
		return do_local(qp, wqe);
	if (wqe->msg == SROCE_MSG_FRAME)
		return send_frame(qp, wqe);
	if (make_ready(qp, wqe) == -EAGAIN) {
		qp->req.paging = true;
		return IB_WC_SUCCESS;
	}
	last = describe(qp, wqe, psn, &pkt);
	ret = lay_out(qp, wqe, &pkt, &room);
	if (ret == -EAGAIN || ret == -EXDEV) {
		qp->req.paging = ret == -EAGAIN;
		return IB_WC_SUCCESS;
	}
	if (ret)
		return IB_WC_LOC_PROT_ERR;
	advance(qp, wqe, &pkt, last);
	pkt.ackreq = ask_for_ack(qp, wqe, next);
	sroce_txbuf_commit(qp, &pkt, &room);
	if (room.bth && is_multicast(qp, wqe))
		sroce_count(qp, SROCE_CNT_TX_MULTICAST);
	if (again)
		sroce_count(qp, SROCE_CNT_RETRANSMIT);
	else if (sroce_is_rc(qp))
		sroce_cwnd_sent(qp, psn,
				  pkt.ackreq || sroce_wqe_wants_response(wqe));
	/* UC and UD are done with a message once it is sent. */
	if (!sroce_is_rc(qp) && last)
		sroce_sq_complete(qp, IB_WC_SUCCESS);
	return IB_WC_SUCCESS;
}

/*
 * How many packets of @wqe, from req.psn on, are between the first and the last, new
 * to the peer, and need not ask it for an acknowledge
 */
static u32 plain_packets(struct sroce_qp *qp, const struct sroce_wqe *wqe,
			 u32 budget)
{
	const struct sroce_req *req = &qp->req;
	u32 n, asks, room;

	if (wqe->msg > SROCE_MSG_WRITE_IMM || qp->svc == SROCE_SVC_UD ||
	    req->psn != req->max_psn)
		return 0;
	n = min_t(u32, budget, sroce_psn_diff(wqe->last_psn, req->psn));
	if (!sroce_is_rc(qp))
		return n;
	asks = sroce_cwnd(qp) / SROCE_ACKS_PER_CWND;
	room = sroce_cwnd_free(qp);
	if (req->since_ackreq + 1 >= asks || room <= 1)
		return 0;
	return min3(n, asks - 1 - req->since_ackreq, room - 1);
}

/*
 * Whether what may be sent now would be less than a train, though an acknowledge is on
 * its way that makes room for all of it: one trip is better than two.
 */
static bool is_cut_short(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	u32 room;

	if (!sroce_is_rc(qp) || wqe->msg > SROCE_MSG_WRITE_IMM ||
	    qp->req.psn != qp->req.max_psn || sroce_cwnd(qp) < SROCE_CWND_MIN)
		return false;
	room = sroce_cwnd_free(qp);
	return room < SROCE_TX_BUDGET && !sroce_tx_can_append(qp) &&
	       (s32)room <= sroce_psn_diff(wqe->last_psn, qp->req.psn);
}

/* Send what can be sent as one. Return: how many packets that was, or an error. */
static int send_run(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 budget)
{
	struct sroce_req *req = &qp->req;
	u32 most = plain_packets(qp, wqe, budget);
	struct sroce_pkt pkt;
	int n;

	if (most < 2)
		return 0;
	memset(&pkt, 0, sizeof(pkt));
	describe(qp, wqe, req->psn, &pkt);
	if (pkt.loopback)
		return 0;
	n = sroce_segs_tx_wqe(qp, &pkt, wqe, offset_of(qp, wqe, req->psn), most);
	if (n < 0)
		return n;
	req->psn = sroce_psn_add(req->psn, n);
	req->max_psn = req->psn;
	req->since_ackreq += n;
	return n;
}

/* Whether the message is one packet, new to the peer */
static bool is_only(const struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	return wqe->msg <= SROCE_MSG_WRITE_IMM && wqe->length <= qp->mtu &&
	       qp->req.psn == qp->req.max_psn;
}

/* Whether the packets of two such differ only in what put_like() fills in */
static bool is_like(const struct sroce_wqe *wqe, const struct sroce_wqe *other)
{
	return wqe->msg == other->msg && wqe->length == other->length &&
	       !((wqe->flags ^ other->flags) & IB_SEND_SOLICITED);
}

/* The packet of @wqe at @bth; @pkt describes those before it. False if it can't be. */
static bool put_like(struct sroce_qp *qp, struct sroce_wqe *wqe,
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
	pkt->ackreq = ask_for_ack(qp, wqe, next);
	sroce_cwnd_sent(qp, pkt->psn, pkt->ackreq);
	sroce_pkt_build(pkt, bth);
	trace_sroce_tx(qp, pkt);
	return true;
}

/*
 * Messages of one packet, @wqe and those that follow it and are like it, are described
 * once and sent as one. @next: set to the work request that follows, if one may at once.
 * Return: how many were sent; none if they can't be, or not so.
 */
static u32 send_series(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 budget,
		       struct sroce_wqe **next)
{
	struct sroce_pkt pkt;
	u32 n = budget, done = 0, len;
	u8 *bth;

	memset(&pkt, 0, sizeof(pkt));
	describe(qp, wqe, qp->req.psn, &pkt);
	if (n < 2 || pkt.loopback)
		return 0;
	len = pkt.op->hdr_len + pkt.payload_len + pkt.pad;
	bth = sroce_tx_begin_segs(qp, &qp->av, len, false, &n);
	if (!bth)
		return 0;
	while (put_like(qp, wqe, &pkt, bth, next)) {
		bth += len + SROCE_ICRC_LEN;
		if (++done == n || !*next || !is_only(qp, *next) || !is_like(*next, wqe))
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

/**
 * sroce_req_pkt_psn_after() - one past the PSNs of a packet that was sent
 * @qp: the QP
 * @psn: its first
 */
u32 sroce_req_pkt_psn_after(struct sroce_qp *qp, u32 psn)
{
	const struct sroce_wqe *wqe = sroce_sq_sched_wqe(qp, qp->req.acked_idx, psn);

	return sroce_psn_add(wqe && wqe->msg == SROCE_MSG_READ ?
			     wqe->last_psn : psn, 1);
}

/* Send the next packet that the peer lacks, out of turn. */
static void send_repair(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;
	bool copy = rp->from == rp->to;
	u32 psn = copy ? qp->req.acked : rp->from;
	struct sroce_wqe *wqe = sroce_sq_sched_wqe(qp, qp->req.acked_idx, psn);
	struct sroce_txbuf room;
	struct sroce_pkt pkt = {};
	int ret;

	if (!wqe || sroce_sq_sched_blocked(&qp->req, psn)) {
		rp->from = rp->to;
		if (copy)
			rp->copies = 0;
		return;
	}
	describe(qp, wqe, psn, &pkt);
	ret = lay_out(qp, wqe, &pkt, &room);
	if (ret == -EAGAIN || ret == -EXDEV) {
		qp->req.paging = ret == -EAGAIN;
		return;
	}
	if (ret) {
		/* in turn, it ends with an error */
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
		rp->from = psn_after(qp, wqe, &pkt);
		if (sroce_psn_diff(rp->from, rp->to) >= 0) {
			copy = !rp->copies;
			rp->to = rp->from;
			rp->last = rp->from;
		}
	}
	pkt.ackreq = copy && !sroce_wqe_wants_response(wqe);
	sroce_count(qp, SROCE_CNT_RETRANSMIT);
	sroce_txbuf_commit(qp, &pkt, &room);
}

/**
 * sroce_req_pkt_resend_read() - ask for responses again
 * @qp: the QP
 * @wqe: a READ or atomic that was executed
 * @from: PSN of the first response, or before those of @wqe
 * @end: one past that of the last, or past those of @wqe
 *
 * An ATOMIC WRITE brings bytes, which may be gone: that ends the connection.
 */
void sroce_req_pkt_resend_read(struct sroce_qp *qp, struct sroce_wqe *wqe,
			   u32 from, u32 end)
{
	struct sroce_txbuf room;
	struct sroce_pkt pkt = {};
	u32 len;
	int ret;

	if (sroce_psn_diff(from, wqe->first_psn) < 0)
		from = wqe->first_psn;
	describe(qp, wqe, from, &pkt);
	len = sroce_psn_diff(end, from) * qp->mtu;
	if (sroce_psn_diff(end, wqe->last_psn) <= 0)
		pkt.length = min(pkt.length, len);
	ret = lay_out(qp, wqe, &pkt, &room);
	/* who waits for the answer will ask again */
	if (ret == -EAGAIN || ret == -EXDEV)
		return;
	if (ret) {
		/* if it is not its turn, it will be asked for again */
		if (wqe == sroce_sq_oldest(qp))
			sroce_sq_fail(qp, IB_WC_LOC_PROT_ERR);
		return;
	}
	sroce_count(qp, SROCE_CNT_READ_RETRY);
	sroce_count(qp, SROCE_CNT_RETRANSMIT);
	sroce_txbuf_commit(qp, &pkt, &room);
}

static void check_drained(struct sroce_qp *qp)
{
	if (qp->state != IB_QPS_SQD || qp->drained || !sroce_sq_sched_idle(qp))
		return;
	qp->drained = true;
	if (qp->attr.en_sqd_async_notify)
		sroce_qp_event(qp, IB_EVENT_SQ_DRAINED);
}

/* Nothing follows in SQD: what was sent last, and did not ask, asks by a duplicate. */
static void ask_in_sqd(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	u32 prev = sroce_psn_add(req->psn, -1);
	const struct sroce_wqe *before;

	if (!sroce_is_rc(qp) || !req->since_ackreq || req->psn != req->max_psn ||
	    req->retrans.from != req->retrans.to ||
	    sroce_psn_diff(prev, req->acked) < 0 ||
	    sroce_sq_sched_wqe(qp, req->acked_idx, req->psn))
		return;
	req->since_ackreq = 0;
	before = sroce_sq_sched_wqe(qp, req->acked_idx, prev);
	if (!before || sroce_wqe_wants_response(before))
		return;
	req->retrans.from = prev;
	req->retrans.to = req->psn;
}

/**
 * sroce_req_run() - send what may be sent
 * @qp: the QP
 * @budget: most packets to send
 *
 * Return: whether the budget ran out with more to send.
 */
bool sroce_req_run(struct sroce_qp *qp, u32 budget)
{
	struct sroce_req *req = &qp->req;
	struct sroce_wqe *next = NULL, *prev = NULL;
	bool repaired = false, runs = true;

	if (qp->state == IB_QPS_SQD)
		ask_in_sqd(qp);
	for (; budget && sroce_qp_may_send(qp) && !req->rnr_wait && !req->paging;
	     budget--) {
		enum ib_wc_status status;
		struct sroce_wqe *wqe;
		bool follows;
		int n;

		if (qp->trip_bytes >= SROCE_TX_BUDGET_BYTES) {
			budget = 0;
			break;
		}
		if (req->retrans.from != req->retrans.to || req->retrans.copies) {
			send_repair(qp);
			repaired = true;
			continue;
		}
		if (repaired) {
			/* nothing that is long in the making delays it */
			qp->deferred |= SROCE_DEFER_SEND_NOW;
			budget = 0;
			break;
		}
		wqe = sroce_sq_sched_next(qp, next);
		if (!wqe || is_cut_short(qp, wqe))
			break;
		follows = next;
		next = NULL;
		n = 0;
		/* a first packet goes by itself, and most messages have no other */
		if (runs && req->psn != wqe->first_psn)
			n = send_run(qp, wqe, budget);
		else if (follows && is_only(qp, wqe) && is_like(wqe, prev))
			n = send_series(qp, wqe, budget, &next);
		prev = wqe;
		if (n > 0) {
			budget -= n - 1;
			continue;
		}
		/* or each would be tried, and copied in part, for every packet before */
		if (n < 0)
			runs = false;
		status = send_next(qp, wqe, &next);
		if (status != IB_WC_SUCCESS)
			sroce_sq_sched_give_up(qp, wqe, status);
	}
	if (sroce_is_rc(qp) && sroce_qp_may_send(qp))
		sroce_retrans_set_timer(qp);
	check_drained(qp);
	return !budget;
}

/**
 * sroce_reset_req_psn() - nothing is under way, and the next packet has this PSN
 * @qp: the QP
 * @psn: the PSN
 */
void sroce_reset_req_psn(struct sroce_qp *qp, u32 psn)
{
	struct sroce_req *req = &qp->req;

	req->psn = psn;
	req->max_psn = psn;
	req->acked = psn;
	req->una = psn;
	req->read_retry.high = psn;
	req->read_retry.n = 0;
	req->read_retry.full = false;
	req->retrans.from = psn;
	req->retrans.to = psn;
	req->retrans.n = 0;
	req->retrans.gap = psn;
	req->retrans.gap_dist = SROCE_GAP_DIST_MAX;
	req->retrans.copies = 0;
	req->retrans.gap_reported = false;
	req->retrans.batch = SROCE_RETRANS_BATCH_MIN;
	req->retrans.recover_psn = psn;
	req->retrans.probe_reads = 0;
}

/**
 * sroce_reset_req() - no work request is under way any more
 * @qp: the QP; its send queue is empty
 */
void sroce_reset_req(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	sroce_reset_req_psn(qp, req->max_psn);
	req->next_idx = qp->sq.cons;
	req->acked_idx = qp->sq.cons;
	req->reads = 0;
	req->read_psns = 0;
	req->rnr_wait = false;
	req->paging = false;
	req->resp_dropped = false;
	req->credit_probe = false;
	req->pending_err = 0;
	req->deadline = 0;
	req->retrans.hold_new = false;
	req->retrans.tried = false;
	req->retrans.rewound = false;
	req->retrans.probes = 0;
	req->retrans.probe_at = 0;
	req->rtt.sampling = false;
	bitmap_zero(req->resp_bitmap, SROCE_READ_AHEAD);
}

/**
 * sroce_req_paged() - pages have come, perhaps those that the requester waits for
 * @qp: the QP
 */
void sroce_req_paged(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	bool missed = req->resp_dropped;

	req->paging = false;
	req->resp_dropped = false;
	if (req->n_deferred)
		sroce_comp_paged(qp);
	if (missed && sroce_qp_may_send(qp))
		sroce_read_retry_dropped(qp, req->resp_dropped_end);
}
