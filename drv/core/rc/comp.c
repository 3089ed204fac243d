// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Completer: what acknowledges and responses mean for the work requests of an
 * RC send queue (9.7.5.2, 9.7.6).
 */

#include <linux/string.h>
#include "drv/core/wire/credit.h"
#include "drv/core/env.h"
#include "drv/core/trace.h"

/* RNR NAK timer field to ns, table 46 */
static const u32 rnr_us[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960,
	1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960,
	61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

/* What had failed was sent twice, and had better luck the other time: all goes on. */
static void spare(struct sroce_qp *qp)
{
	qp->req.pending_err = 0;
	sroce_retrans_restart(qp);
}

/*
 * The responder has executed all requests before @end, which can't lie within a
 * READ: that is executed as a whole. @gap: it wants @end to be sent again.
 */
static void advance(struct sroce_qp *qp, u32 end, bool gap)
{
	struct sroce_req *req = &qp->req;
	struct sroce_sq *sq = &qp->sq;
	bool spared;
	u32 i;

	for (i = req->acked_idx; i != sq->prod; i = sroce_sq_next(sq, i)) {
		const struct sroce_wqe *wqe = sroce_sq_wqe(sq, i);

		/* what has no PSN is behind us with what came before it */
		if (!wqe->started || sroce_psn_diff(end, wqe->first_psn) <
		    !sroce_wqe_is_local(wqe))
			break;
		if (sroce_psn_diff(end, wqe->last_psn) <= 0) {
			if (sroce_wqe_wants_response(wqe))
				end = wqe->first_psn;
			break;
		}
		if (wqe->msg == SROCE_MSG_READ)
			req->read_psns -= sroce_psn_diff(wqe->last_psn,
							 wqe->first_psn);
	}
	req->acked_idx = i;
	if (sroce_psn_diff(end, req->acked) <= 0)
		return;
	spared = req->pending_err && req->pending_err_psn == req->acked;
	req->acked = end;
	if (req->credit_probe && sroce_psn_diff(end, req->credit_probe_psn) > 0)
		req->credit_probe = false;
	sroce_cwnd_acked(qp);
	sroce_retrans_acked(qp, gap);
	if (spared)
		spare(qp);
}

/* One past the PSNs of a work request from una on that have their responses */
static u32 answered_end(struct sroce_req *req, const struct sroce_wqe *wqe)
{
	u32 psn = req->una, end = sroce_psn_add(wqe->last_psn, 1);

	if (sroce_psn_diff(wqe->first_psn, psn) > 0)
		psn = wqe->first_psn;
	while (psn != end && test_bit(psn % SROCE_READ_AHEAD, req->resp_bitmap)) {
		__clear_bit(psn % SROCE_READ_AHEAD, req->resp_bitmap);
		psn = sroce_psn_add(psn, 1);
	}
	return psn;
}

/* One past the PSNs of a work request that need nothing more */
static u32 done_end(struct sroce_req *req, const struct sroce_wqe *wqe)
{
	if (sroce_wqe_wants_response(wqe))
		return answered_end(req, wqe);
	if (sroce_psn_diff(req->acked, wqe->last_psn) > 0)
		return sroce_psn_add(wqe->last_psn, 1);
	return req->acked;
}

/* The oldest work request has got all that it asked for. */
static void read_over(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	qp->req.reads--;
	if (wqe->inv && sroce_mem_ops_invalidate(qp, wqe->inv_rkey, false)) {
		sroce_count(qp, SROCE_CNT_MEM_OP_ERROR);
		sroce_sq_fail(qp, IB_WC_MW_BIND_ERR);
	}
}

/* A request has failed; its turn has come if it is the oldest, @wqe. */
static void meet_doom(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	struct sroce_req *req = &qp->req;

	if (!wqe || !wqe->started ||
	    sroce_psn_diff(req->pending_err_psn, wqe->first_psn) < 0)
		spare(qp);
	else if (sroce_psn_diff(req->pending_err_psn, wqe->last_psn) <= 0)
		sroce_sq_fail(qp, req->pending_err);
}

/**
 * sroce_comp_settle() - complete what is done, in order, as far as that reaches
 * @qp: the QP, RC
 */
void sroce_comp_settle(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_wqe *wqe;

	while ((wqe = sroce_sq_oldest(qp))) {
		u32 end = done_end(req, wqe);

		if (sroce_psn_diff(end, req->una) > 0) {
			req->una = end;
			sroce_read_retry_trim(qp);
			sroce_retrans_progress(qp);
		}
		if (sroce_psn_diff(end, wqe->last_psn) <= 0)
			break;
		if (sroce_wqe_wants_response(wqe))
			read_over(qp, wqe);
		/* that may have failed */
		if (!sroce_qp_may_send(qp))
			return;
		sroce_sq_complete(qp, IB_WC_SUCCESS);
		/* the CQ may have been lost, and the QP with it */
		if (!sroce_qp_may_send(qp))
			return;
	}
	if (req->pending_err)
		meet_doom(qp, wqe);
}

/* The request with this PSN has failed, or will when its turn comes. */
static void doom(struct sroce_qp *qp, u32 psn, enum ib_wc_status status)
{
	struct sroce_req *req = &qp->req;

	if (req->pending_err && sroce_psn_diff(psn, req->pending_err_psn) > 0)
		return;
	req->pending_err = status;
	req->pending_err_psn = psn;
	sroce_comp_settle(qp);
}

/* 9.7.7.2: as far as the receive work requests of the peer go */
static void take_credits(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u8 code = pkt->syndrome & SROCE_AETH_VALUE;
	struct sroce_req *req = &qp->req;
	u32 limit;

	if (code == SROCE_AETH_NO_CREDITS) {
		req->lsn_valid = false;
		return;
	}
	limit = sroce_psn_add(pkt->msn, sroce_credit_decode(code));
	/* an acknowledge that was overtaken promises less */
	if (req->lsn_valid && sroce_psn_diff(limit, req->lsn) < 0)
		return;
	req->lsn_valid = true;
	req->lsn = limit;
}

/*
 * Whether a PSN can be put off: the next request, or what is to come of a READ after
 * which nothing was executed.
 */
static bool may_be_put_off(struct sroce_qp *qp, u32 psn)
{
	struct sroce_req *req = &qp->req;
	const struct sroce_wqe *wqe;

	if (psn == req->acked)
		return true;
	wqe = sroce_sq_sched_wqe(qp, qp->sq.cons, psn);
	return wqe && wqe->msg == SROCE_MSG_READ && psn != wqe->first_psn &&
	       sroce_psn_diff(req->acked, wqe->last_psn) <= 1 &&
	       sroce_read_retry_missing(req, psn);
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
			doom(qp, psn, IB_WC_RNR_RETRY_EXC_ERR);
			return;
		}
		req->rnr_retries--;
	}
	req->rnr_wait = true;
	sroce_read_retry_postpone(qp, psn);
	sroce_task_set_rnr_timer(qp, rnr_us[timer] * 1000ULL);
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
	doom(qp, psn, status[code]);
}

/* The PSN is the newest one executed. */
static void rx_positive(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u32 end = sroce_psn_add(pkt->psn, 1), before = qp->req.acked;

	if (sroce_psn_diff(end, before) <= 0) {
		sroce_count(qp, SROCE_CNT_ACK_DUP);
		return;
	}
	take_credits(qp, pkt);
	advance(qp, end, false);
	/* within a READ it means nothing */
	if (qp->req.acked == before)
		sroce_count(qp, SROCE_CNT_BAD_RESPONSE);
	sroce_read_retry_until(qp, qp->req.acked);
	sroce_comp_settle(qp);
	if (qp->req.acked != before && sroce_qp_may_send(qp))
		sroce_retrans_passed(qp);
}

/* The PSN is the oldest one not executed; what came before is acknowledged. */
static void rx_negative(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u8 value = pkt->syndrome & SROCE_AETH_VALUE;
	bool rnr = (pkt->syndrome & SROCE_AETH_TYPE) == SROCE_AETH_RNR;
	bool gap = !rnr && value == SROCE_NAK_PSN_SEQ;
	u32 owed;

	/* who puts a packet off has it, as little as it helps */
	advance(qp, pkt->psn, gap || rnr);
	/* a READ may be refused half way: what is owed of it ends there */
	owed = qp->req.acked;
	if (sroce_psn_diff(pkt->psn, owed) < 0)
		owed = pkt->psn;
	sroce_read_retry_until(qp, owed);
	sroce_comp_settle(qp);
	if (!sroce_qp_may_send(qp))
		return;
	if (gap)
		sroce_count(qp, SROCE_CNT_NAK_SEQ_RCVD);
	if ((gap && pkt->psn != qp->req.acked) ||
	    (rnr && !may_be_put_off(qp, pkt->psn)))
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

/* Positive acknowledge in the AETH that READ and atomic responses carry */
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

/* A response is what its request asked for. */
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

static void mark(struct sroce_req *req, u32 psn, u32 end)
{
	for (; psn != end; psn = sroce_psn_add(psn, 1))
		__set_bit(psn % SROCE_READ_AHEAD, req->resp_bitmap);
}

/*
 * An error of a response that came early is left for when its turn comes: it is
 * as if it had not come, and will be asked for again.
 */
static void bad_response(struct sroce_qp *qp, const struct sroce_wqe *wqe,
			 enum ib_wc_status status)
{
	if (status == IB_WC_BAD_RESP_ERR)
		sroce_count(qp, SROCE_CNT_BAD_RESPONSE);
	if (wqe == sroce_sq_oldest(qp))
		sroce_sq_fail(qp, status);
}

/* What it goes to is not in memory. Return: -EAGAIN, or why it can't come. */
static int miss(struct sroce_qp *qp, const struct sroce_pkt *pkt,
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

/* A response is kept until there is a page for it, or counts as lost. */
static void keep(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u32 end = response_end(qp, pkt);
	struct sroce_req *req = &qp->req;

	if (sroce_ofo_defer(qp, pkt)) {
		sroce_read_retry_received(qp, pkt->psn, end);
		return;
	}
	if (!req->resp_dropped || sroce_psn_diff(end, req->resp_dropped_end) > 0)
		req->resp_dropped_end = end;
	req->resp_dropped = true;
}

/* Return: whether the QP is still there after what a response means for others */
static bool note_response(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			  const struct sroce_wqe *wqe)
{
	advance(qp, sroce_psn_add(wqe->last_psn, 1), false);
	sroce_read_retry_until(qp, pkt->psn);
	sroce_comp_settle(qp);
	return sroce_qp_may_send(qp);
}

/* What a response brought is in its place. */
static void response_over(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u32 end = response_end(qp, pkt);

	mark(&qp->req, pkt->psn, end);
	sroce_retrans_alive(qp);
	sroce_read_retry_received(qp, pkt->psn, end);
	if (sroce_qp_may_send(qp))
		sroce_comp_settle(qp);
}

/*
 * The data goes to its place at once; completions wait for what is missing. Return:
 * whether it must wait for its place, all that is to be said of it otherwise is said.
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
		ret = miss(qp, pkt, wqe);
	if (ret == -EAGAIN)
		return true;
	if (ret) {
		bad_response(qp, wqe, IB_WC_LOC_PROT_ERR);
		return false;
	}
	if (pkt->op->flags & SROCE_AETH)
		take_credits(qp, pkt);
	response_over(qp, pkt);
	return false;
}

/* Return: whether it must wait */
static bool rx_response(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_wqe *wqe = sroce_sq_sched_wqe(qp, qp->sq.cons, pkt->psn);
	bool atomic = pkt->op->flags & SROCE_ATOMIC;

	if (!wqe || !sroce_wqe_wants_response(wqe) || !aeth_positive(pkt) ||
	    atomic != sroce_wqe_fetches(wqe))
		sroce_count(qp, SROCE_CNT_BAD_RESPONSE);
	else if (sroce_psn_diff(response_end(qp, pkt), qp->req.una) >
		 SROCE_READ_AHEAD)
		sroce_count(qp, SROCE_CNT_ACK_EARLY);
	else if (test_bit(pkt->psn % SROCE_READ_AHEAD, qp->req.resp_bitmap))
		sroce_count(qp, SROCE_CNT_ACK_DUP);
	else
		return take_response(qp, pkt, wqe);
	return false;
}

/* Whether it could be the response to something that is under way */
static bool is_under_way(const struct sroce_req *req, const struct sroce_pkt *pkt)
{
	return sroce_psn_diff(pkt->psn, req->una) >= 0 &&
	       sroce_psn_diff(pkt->psn, req->max_psn) < 0;
}

/**
 * sroce_comp_paged() - pages have come, perhaps those that responses go to
 * @qp: the QP, RC
 *
 * Those for which they have not go on waiting.
 */
void sroce_comp_paged(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_ofo_pkt *ofo, *next;
	LIST_HEAD(late);

	list_splice_init(&req->deferred, &late);
	req->n_deferred = 0;
	list_for_each_entry_safe(ofo, next, &late, list) {
		/* what came first may have been the end of the QP */
		if (sroce_qp_may_send(qp) && is_under_way(req, &ofo->pkt) &&
		    rx_response(qp, &ofo->pkt))
			sroce_ofo_defer_again(qp, ofo);
		else
			sroce_ofo_free(ofo);
	}
}

/**
 * sroce_comp_rx() - take in a response packet
 * @qp: the QP, RC and ready to send
 * @pkt: the packet
 */
void sroce_comp_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_req *req = &qp->req;

	if (!sroce_qp_may_send(qp)) {
		sroce_count(qp, SROCE_CNT_RX_QP_STATE);
		return;
	}
	/* the newest acknowledge again: credits, or the answer to a probe */
	if (pkt->opcode == SROCE_OP_ACK && aeth_positive(pkt) &&
	    sroce_psn_add(pkt->psn, 1) == req->acked)
		take_credits(qp, pkt);
	if (sroce_psn_diff(pkt->psn, req->una) < 0) {
		sroce_count(qp, SROCE_CNT_ACK_DUP);
		return;
	}
	if (sroce_psn_diff(pkt->psn, req->max_psn) >= 0) {
		sroce_count(qp, SROCE_CNT_ACK_GHOST);
		return;
	}
	sroce_cwnd_heard(qp);
	if (!(pkt->op->flags & SROCE_HAS_RESPONSE))
		rx_ack(qp, pkt);
	else if (rx_response(qp, pkt))
		keep(qp, pkt);
}

/* Whether a run is within one READ, in reach, and nothing of it has come yet */
static bool is_awaited(const struct sroce_qp *qp, const struct sroce_pkt *pkt,
		       const struct sroce_wqe *wqe)
{
	const struct sroce_req *req = &qp->req;
	u32 end = response_end(qp, pkt), psn;

	if (wqe->msg != SROCE_MSG_READ || pkt->seg_len != qp->mtu ||
	    sroce_psn_diff(end, wqe->last_psn) > 0 ||
	    sroce_psn_diff(pkt->psn, req->una) < 0 ||
	    sroce_psn_diff(end, req->max_psn) > 0 ||
	    sroce_psn_diff(end, req->una) > SROCE_READ_AHEAD)
		return false;
	for (psn = pkt->psn; psn != end; psn = sroce_psn_add(psn, 1))
		if (test_bit(psn % SROCE_READ_AHEAD, req->resp_bitmap))
			return false;
	return true;
}

/**
 * sroce_comp_rx_segs() - take in a run of response packets
 * @qp: the QP, RC
 * @pkt: the run
 *
 * Return: false if its packets must be taken in one by one.
 */
bool sroce_comp_rx_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	const struct sroce_wqe *wqe;

	if (!sroce_qp_may_send(qp) || !(pkt->op->flags & SROCE_READING))
		return false;
	wqe = sroce_sq_sched_wqe(qp, qp->sq.cons, pkt->psn);
	if (!wqe || !is_awaited(qp, pkt, wqe))
		return false;
	sroce_cwnd_heard(qp);
	if (!note_response(qp, pkt, wqe) || place_read(qp, pkt, wqe))
		return false;
	response_over(qp, pkt);
	return true;
}
