// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Reset of a QP, of its send queue, or of the progress of its requester. Entering RESET
 * and the flush of a send queue need it.
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/rc/ofo.h"
#include "drv/core/rc/reset.h"

/**
 * sroce_reset_sq() - drop all send work requests, without completions
 * @qp: the QP, locked
 *
 * A doorbell in a state that refuses work needs this, too: the provider has published
 * the work requests in the ring already, and they must never be executed.
 */
void sroce_reset_sq(struct sroce_qp *qp)
{
	struct sroce_sq *sq = &qp->sq;

	/*
	 * Only datagrams have something to release. Of a user's, few are taken from the ring
	 * at a time, so this is short.
	 */
	for (; qp->svc == SROCE_SVC_UD && sq->cons != sq->prod;
	     sq->cons = sroce_sq_next(sq, sq->cons)) {
		struct sroce_wqe *wqe = sroce_sq_wqe(sq, sq->cons);

		if (wqe->ah)
			sroce_ah_put(wqe->ah);
	}
	if (qp->user && sq->ring.buf)
		sroce_ring_consume(&sq->ring, sroce_ring_filled(&sq->ring));
	sq->db_tail = sq->ring.own;
	sq->cons = sq->ring.own;
	sq->prod = sq->ring.own;
	sq->flushing = false;
	sq->flushed = false;
	qp->req.next_idx = sq->cons;
	qp->req.acked_idx = sq->cons;
}

/* What was allocated for the requester stays. */
static void reset_requester(struct sroce_qp *qp)
{
	struct sroce_read_buf *buf = qp->req.read_buf;

	memset(&qp->req, 0, sizeof(qp->req));
	INIT_LIST_HEAD(&qp->req.ofo_resps);
	qp->req.next_idx = qp->sq.cons;
	qp->req.acked_idx = qp->sq.cons;
	if (!buf)
		return;
	memset(buf, 0, sizeof(*buf));
	sroce_req_set_read_buf(&qp->req, buf);
}

/* Likewise for the responder */
static void reset_responder(struct sroce_qp *qp)
{
	struct sroce_replay *q = qp->resp.replays.q;
	struct sroce_res *res = qp->resp.res;
	u32 nres = qp->resp.nres;

	memset(&qp->resp, 0, sizeof(qp->resp));
	INIT_LIST_HEAD(&qp->resp.ofo_queue);
	qp->resp.ofo_max = SROCE_OFO_MAX;
	qp->resp.replays.q = q;
	if (res)
		memset(res, 0, nres * sizeof(*res));
	qp->resp.res = res;
	qp->resp.nres = nres;
}

/**
 * sroce_reset_qp() - drop all work and all progress, without completions
 * @qp: the QP, locked or new, which enters RESET
 */
void sroce_reset_qp(struct sroce_qp *qp)
{
	sroce_reset_sq(qp);
	if (qp->rq.ring.buf)
		sroce_ring_consume(&qp->rq.ring, sroce_ring_filled(&qp->rq.ring));
	/* the lists of a new QP are not initialized yet */
	if (qp->resp.ofo_queue.next)
		sroce_ofo_purge(qp);
	reset_requester(qp);
	reset_responder(qp);
	qp->state = IB_QPS_RESET;
	qp->cnp_due = false;
	qp->cnp_at = 0;
	qp->drained = false;
	qp->lb_copy_only = false;
	qp->comm_est = false;
	qp->last_wqe = false;
}

/**
 * sroce_reset_req_psn() - set the PSN of the next request packet
 * @qp: the QP, locked, with nothing in flight
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
	req->read_retry.refused = psn;
	req->read_retry.n = 0;
	req->read_retry.full = false;
	req->read_retry.allowed = SROCE_READ_REPEATS_MAX;
	req->read_retry.selective = false;
	req->read_retry.interleaved = false;
	req->read_retry.gap = psn;
	req->read_retry.gap_dist = SROCE_GAP_DIST_MAX;
	req->retrans.from = psn;
	req->retrans.to = psn;
	req->retrans.n = 0;
	req->retrans.gap = psn;
	req->retrans.gap_dist = SROCE_GAP_DIST_MAX;
	req->retrans.copies = 0;
	req->retrans.gap_reported = false;
	req->retrans.batch = SROCE_RETRANS_BATCH_MIN;
	req->retrans.recover_psn = psn;
	req->retrans.left_psn = psn;
	req->retrans.left_read_psns = 0;
	req->retrans.cut_psn = psn;
	req->retrans.allowed = SROCE_RESENDS_MAX;
	req->retrans.back_psn = psn;
	req->retrans.gaps = 0;
	req->retrans.probe_reads = 0;
	req->quota = SROCE_CWND_INIT;
	if (!qp->cc)
		req->cwnd.cwnd = SROCE_CWND_MAX;
	req->pace_at = 0;
	req->idle_since = 0;
}

/**
 * sroce_reset_path() - forget what is known of the path, as the QP gets another
 * @qp: the QP, locked, with nothing in flight; its path MTU is that of the new one
 *
 * The window of a fast path would flood a slow one, and its round trip would cause
 * retransmissions without need. What is known of the peer stays.
 */
void sroce_reset_path(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	sroce_cwnd_init(&req->cwnd, qp->mtu);
	sroce_cwnd_init(&req->read_cwnd, qp->mtu);
	memset(&req->rtt, 0, sizeof(req->rtt));
	if (!qp->cc)
		req->cwnd.cwnd = SROCE_CWND_MAX;
	req->quota = SROCE_CWND_INIT;
	req->pace_at = 0;
	req->idle_since = 0;
	req->retrans.gap_dist = SROCE_GAP_DIST_MAX;
	req->retrans.batch = SROCE_RETRANS_BATCH_MIN;
	req->read_retry.gap_dist = SROCE_GAP_DIST_MAX;
	memset(&qp->resp.rate, 0, sizeof(qp->resp.rate));
}

/**
 * sroce_reset_req() - reset the progress of the requester after a flush
 * @qp: the QP, locked; nothing that is left in its send queue will be executed
 */
void sroce_reset_req(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	sroce_reset_req_psn(qp, req->max_psn);
	req->next_idx = qp->sq.cons;
	req->acked_idx = qp->sq.cons;
	req->reads = 0;
	req->read_psns = 0;
	req->read_ahead = 0;
	req->reading = 0;
	req->rnr_wait = false;
	req->rnr_waits = 0;
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
	req->rtt.marks = 0;
	if (req->read_buf)
		bitmap_zero(req->read_buf->bitmap, SROCE_READ_AHEAD);
}
