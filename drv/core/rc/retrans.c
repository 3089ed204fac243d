// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requester: retransmission of requests (9.7.5.2.8, 9.7.6).
 *
 * A request is lost when the peer reports a gap. A peer that keeps the packets after a
 * gap needs only the missing ones (selective retransmission). A peer that drops them
 * needs all packets from the gap on (going back). The peer's answer to the first
 * retransmission shows its policy; until then one packet is retransmitted, and nothing
 * new is sent.
 *
 * A peer that keeps packets reports one gap at a time. When it acknowledges a
 * retransmission, all packets sent before that should have arrived, too. If its ACK
 * stops short of them the next one is lost, with or without a NAK. Where gaps are dense
 * each retransmission is sent twice, together with the packets that follow it.
 *
 * When the peer is silent, a probe of one packet is sent long before the ACK timer
 * expires. It is a duplicate or the missing packet, and either makes the peer report
 * the PSN that it expects.
 */

#include "drv/core/env.h"
#include "drv/core/rc/answer.h"
#include "drv/core/rc/cc.h"
#include "drv/core/rc/flush.h"
#include "drv/core/rc/read_retry.h"
#include "drv/core/rc/read_split.h"
#include "drv/core/rc/req_pkt.h"
#include "drv/core/rc/resp_rate.h"
#include "drv/core/rc/retrans.h"
#include "drv/core/rc/rtt.h"
#include "drv/core/rc/sq_sched.h"
#include "drv/core/rc/timeout.h"

/* With more gaps than this in a window, on a long path, all of it is sent again. */
#define GAPS_MAX	3
/* Round trips for which gaps in a window that was sent again are no news */
#define RESEND_RTTS	3
/* If more packets than this are missing in a row, going back is no worse. */
#define SELECTIVE_MAX	8
/* Gaps are dense if their mean distance is less than so many batches. */
#define DENSE_BATCHES	8
/* Retransmissions are sent twice if the mean distance of gaps is less, in packets. */
#define COPY_DIST	256
/*
 * Packets that may be sent again for each that is acknowledged, on average. Where it were more the
 * window is too large for the path, or the peer is hostile.
 */
#define RESENDS_PER_PACKET	16U
/* The gap policy of a peer is learned anew after so many gaps that contradict it. */
#define DOUBT_MAX	8
/*
 * With a peer that answers in microseconds the timer would fire as often, without need.
 * Each time that happens the slack of the timer doubles, up to this many times, until
 * the timer fires with the next tick at no extra cost.
 */
#define TIMER_BACKOFF_MAX	6
/* Probes until the ACK timer expires; the interval doubles each time. */
#define PROBES_MAX	10
/*
 * Most time that a READ without an answer gets before a probe, in ns, and the parts of the
 * ACK timeout that it gets before its first response, and after that
 */
#define PATIENCE_MAX	(500ULL * NSEC_PER_MSEC)
#define PATIENCE_FIRST	4
#define PATIENCE_NEXT	16
/* What has come while a timer was late is received first, for so long, in ns */
#define LATE_GRACE	(1ULL * NSEC_PER_MSEC)

static void cancel_retrans(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;

	rp->from = rp->to;
	rp->copies = 0;
	rp->gap_reported = false;
	rp->sent_once = false;
	rp->hold_new = false;
	/* an ACK could be for either transmission */
	qp->req.rtt.sampling = false;
	qp->req.rtt.marks = 0;
}

static void go_back(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	cancel_retrans(qp);
	req->retrans.n = 0;
	req->retrans.last = req->psn;
	/* the first packet carries AckReq */
	req->since_ackreq = SROCE_CWND_MAX;
	sroce_sq_sched_seek(qp, req->acked);
}

/* Go back, as the peer has caused it: a window of which most is sent in vain becomes smaller. */
static void go_back_again(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;
	u32 n = max(sroce_cc_unacked(qp), 0);

	if (n > rp->allowed)
		sroce_cc_in_vain(qp);
	rp->allowed -= min(n, rp->allowed);
	go_back(qp);
}

/* The oldest request that is not acknowledged is a READ or atomic. */
static bool next_has_response(struct sroce_qp *qp)
{
	const struct sroce_wqe *wqe = sroce_sq_sched_wqe(qp, qp->req.acked_idx,
							 qp->req.acked);

	return wqe && sroce_wqe_wants_response(wqe);
}

/*
 * Retransmit @n packets from req.acked on. If the peer keeps the packets after a gap, the
 * first of them is sent last, @copies times: the ACK that it triggers then covers all.
 */
static void queue_retrans(struct sroce_qp *qp, u32 n, u32 copies)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;
	u32 sent = sroce_psn_diff(req->psn, req->acked);

	cancel_retrans(qp);
	rp->n = min(n, sent);
	rp->from = req->acked;
	rp->to = sroce_psn_add(rp->from, rp->n);
	rp->last = rp->to;
	if (rp->n && rp->gap_policy == SROCE_GAP_KEEPS) {
		rp->from = sroce_req_pkt_psn_after(qp, req->acked);
		if (sroce_psn_diff(rp->from, rp->to) > 0)
			rp->to = rp->from;
		/* a peer may count a READ that comes twice as two */
		rp->copies = next_has_response(qp) && !req->read_retry.selective ? 1 : copies;
	}
}

/* Update the mean distance of gaps. Packets lost in a row are one gap. */
static void update_gap_dist(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;
	s32 d = sroce_psn_diff(qp->req.acked, rp->gap);

	rp->gap = qp->req.acked;
	if (d > 0 && !(rp->n && rp->last == qp->req.acked))
		rp->gap_dist = sroce_gap_dist_add(rp->gap_dist, d);
}

/*
 * How many packets to retransmit: twice as many as before if the gap is right behind
 * the packets that were retransmitted last, otherwise one.
 */
static u32 retrans_size(struct sroce_qp *qp)
{
	const struct sroce_retrans *rp = &qp->req.retrans;

	return rp->n && rp->last == qp->req.acked ? 2 * rp->n : 1;
}

/* Where gaps are frequent, retransmissions are lost, too. */
static u32 retrans_copies(const struct sroce_retrans *rp)
{
	return rp->gap_dist < COPY_DIST ? 2 : 1;
}

/*
 * How many packets a gap of @n counts for. If it took a probe to hear of it again, its
 * retransmission was lost, and then so was much else.
 */
static u32 lost_at_gap(const struct sroce_qp *qp, u32 n)
{
	return qp->req.retrans.probes ? max3(sroce_cwnd(&qp->req.cwnd) / 2, n, 3U) : n;
}

/*
 * Fill a gap for a peer that keeps the packets after it. Where gaps are dense the next
 * one is near, and needless retransmissions cost less than to wait for the peer's next
 * NAK, as long as they don't make the round trip longer.
 * @lost: by the network; else the peer has refused the packet, which says nothing of gaps
 */
static void fill_gap(struct sroce_qp *qp, bool lost)
{
	struct sroce_retrans *rp = &qp->req.retrans;
	s32 dense = min_t(u32, DENSE_BATCHES * rp->batch, SROCE_GAP_DIST_MAX / 2);
	/* a queue that is full is not helped by more than it lacks */
	bool more = lost && !(qp->cc && sroce_cwnd_congested(&qp->req.cwnd));
	u32 allowed = max(rp->allowed, 1U), n = min(retrans_size(qp), allowed), batch;

	if (lost)
		update_gap_dist(qp);
	batch = more && rp->gap_dist < dense ? rp->batch : 1;
	batch = min3(batch, max(sroce_cwnd(&qp->req.cwnd) / 2, 1U), allowed);
	rp->allowed -= min(max(n, batch), rp->allowed);
	queue_retrans(qp, max(n, batch), more ? retrans_copies(rp) : 1);
	if (lost)
		sroce_cc_lost(qp, lost_at_gap(qp, n));
	rp->sent_once = lost && rp->copies == 1 && rp->n == 1;
	rp->gap_reported = true;
	rp->tries_batch = batch > 1 && rp->n == rp->batch;
	rp->n = n;
	sroce_rtt_retransmitted(qp);
}

/* Grow the batch unless it made the round trip, @ns, longer; otherwise shrink it. */
static void resize_batch(struct sroce_req *req, u64 ns)
{
	struct sroce_retrans *rp = &req->retrans;
	u64 min = req->cwnd.min_rtt;

	if (!rp->tries_batch)
		return;
	if (ns < min + min / 2)
		rp->batch = min(2 * rp->batch, SROCE_CWND_MAX);
	else if (rp->batch > SROCE_RETRANS_BATCH_MIN)
		rp->batch /= 2;
}

/*
 * The packet was late, not lost, and the ACK is for the original: it doesn't imply that
 * packets sent before the retransmission are lost.
 */
static void note_spurious(struct sroce_req *req)
{
	struct sroce_retrans *rp = &req->retrans;

	/* several gaps are no packets that were late */
	if (!rp->gaps)
		sroce_cwnd_undo(&req->cwnd, sroce_now(), 0);
	rp->recover_psn = req->acked;
	rp->batch = SROCE_RETRANS_BATCH_MIN;
	rp->gap_dist = sroce_gap_dist_add(rp->gap_dist, SROCE_GAP_DIST_MAX);
}

/**
 * sroce_retrans_duplicate() - the newest ACK has come again
 * @qp: the QP, RC, locked
 *
 * The peer has got a packet twice. If a gap was filled by one packet, sent once, that was
 * not lost but late.
 */
void sroce_retrans_duplicate(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;

	if (!rp->sent_once)
		return;
	rp->sent_once = false;
	note_spurious(&qp->req);
}

/* So many packets are as well sent by going back, if the peer may drop what follows. */
static bool prefers_going_back(const struct sroce_retrans *rp, u32 n)
{
	return n > SELECTIVE_MAX && rp->gap_policy != SROCE_GAP_KEEPS;
}

/*
 * Gaps one PSN apart, again and again: the peer doesn't keep what follows any more, or
 * never did. Selective retransmission would send one packet a round trip.
 */
static bool forget_stale_policy(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;

	if (sroce_psn_diff(qp->req.acked, rp->gap) == 1)
		rp->doubt++;
	else
		rp->doubt = 0;
	if (rp->doubt < DOUBT_MAX)
		return false;
	rp->gap_policy = SROCE_GAP_UNKNOWN;
	rp->doubt = 0;
	return true;
}

/* What is missing has just been sent again with all of the window, or is about to be. */
static bool resends_window(const struct sroce_qp *qp)
{
	const struct sroce_retrans *rp = &qp->req.retrans;

	return sroce_psn_diff(qp->req.acked, rp->back_psn) < 0 &&
	       sroce_now() - rp->back_at < RESEND_RTTS * qp->req.rtt.srtt;
}

/*
 * Whether a window that overflowed a queue has lost many packets, on a long path. The peer
 * reports one gap in a round trip.
 */
static bool has_many_gaps(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;

	return qp->cc && sroce_rtt_is_long(qp) &&
	       sroce_psn_diff(qp->req.acked, rp->cut_psn) < 0 && ++rp->gaps > GAPS_MAX;
}

/* Send all again that may be lost, at the pace of the window: that takes a round trip. */
static void resend_window(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;

	rp->back_psn = qp->req.max_psn;
	rp->back_at = sroce_now();
	sroce_count(qp, SROCE_CNT_WINDOW_RESENT);
	go_back_again(qp);
}

/*
 * Retransmit from req.acked on, which the network has lost or, unless @lost, the peer has
 * refused.
 */
static void retransmit(struct sroce_qp *qp, bool lost)
{
	struct sroce_retrans *rp = &qp->req.retrans;
	u32 n;

	rp->timer_backoff = 0;
	/* a loopback peer reports a gap twice only if its pages are missing again */
	if (rp->tried && !sroce_loopback_usable(qp))
		return;
	rp->tried = true;
	/* what was refused is sent again by nothing else */
	if (lost && rp->gap_policy == SROCE_GAP_KEEPS && resends_window(qp))
		return;
	/* what was refused says nothing of what the peer does behind a gap */
	if (rp->gap_policy == SROCE_GAP_KEEPS && !(lost && forget_stale_policy(qp))) {
		if (lost && has_many_gaps(qp))
			resend_window(qp);
		else
			fill_gap(qp, lost);
		return;
	}
	/* the policy may have been learned from the loss of an ACK */
	if (lost && rp->gap_policy == SROCE_GAP_DROPS && ++rp->doubt == DOUBT_MAX) {
		rp->gap_policy = SROCE_GAP_UNKNOWN;
		rp->doubt = 0;
	}
	n = retrans_size(qp);
	if (lost)
		sroce_cc_lost(qp, lost_at_gap(qp, n));
	if (rp->gap_policy == SROCE_GAP_DROPS || prefers_going_back(rp, n)) {
		go_back_again(qp);
		rp->rewound = true;
		return;
	}
	queue_retrans(qp, n, 1);
	rp->sent_once = lost && rp->n == 1;
	rp->hold_new = rp->gap_policy == SROCE_GAP_UNKNOWN && rp->from != rp->to;
}

/**
 * sroce_retrans_gap() - retransmit after the peer has reported a gap at req.acked
 * @qp: the QP, RC, locked
 */
void sroce_retrans_gap(struct sroce_qp *qp)
{
	retransmit(qp, true);
}

/**
 * sroce_retrans_implied_gap() - retransmit if a positive ACK implies a gap at req.acked
 * @qp: the QP, RC, locked
 *
 * Packets sent before a retransmission that was acknowledged are lost if the ACK stops
 * short of them. Then the NAK that reported them was lost as well.
 */
void sroce_retrans_implied_gap(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;

	if (rp->gap_policy == SROCE_GAP_KEEPS &&
	    sroce_psn_diff(req->acked, rp->recover_psn) < 0)
		sroce_retrans_gap(qp);
}

/* The newest request that is acknowledged is a READ or atomic. */
static bool acked_by_response(const struct sroce_qp *qp)
{
	u32 i = qp->req.acked_idx, acked = qp->req.acked;
	const struct sroce_wqe *wqe = sroce_sq_wqe(&qp->sq, i);

	/* a READ may be acknowledged in part */
	if (i != qp->sq.prod && wqe->started && sroce_psn_diff(acked, wqe->first_psn) > 0)
		return sroce_wqe_wants_response(wqe);
	do {
		i = (i - 1) & qp->sq.mask;
		wqe = sroce_sq_wqe(&qp->sq, i);
	} while (sroce_wqe_is_mem_op(wqe) && i != qp->sq.cons);
	return sroce_wqe_wants_response(wqe) &&
	       sroce_psn_add(wqe->last_psn, 1) == acked;
}

/* Once the gap is filled the peer's answer shows what it did with the packets after it. */
static void learn_gap_policy(struct sroce_qp *qp, bool gap)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;
	s32 ahead = sroce_psn_diff(req->acked, req->psn);
	bool just_that = !gap && req->acked == rp->last;

	/* an ACK of a part of what was sent again tells nothing yet */
	if (rp->hold_new && !gap && sroce_psn_diff(req->acked, rp->last) < 0)
		return;
	if (rp->hold_new && just_that && ahead < 0 &&
	    (acked_by_response(qp) || next_has_response(qp))) {
		/* each response acknowledges its own request only: retry with the next */
		queue_retrans(qp, 1, 1);
		rp->hold_new = true;
		return;
	}
	if (rp->hold_new && just_that && ahead < 0) {
		rp->gap_policy = SROCE_GAP_DROPS;
		go_back_again(qp);
	} else if ((rp->hold_new && !just_that) || (rp->rewound && ahead > 0)) {
		rp->gap_policy = SROCE_GAP_KEEPS;
	}
	rp->hold_new = false;
	rp->rewound = false;
}

/* Drop retransmissions of packets that the peer has acknowledged meanwhile. */
static void skip_acked(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;

	rp->copies = 0;
	if (rp->from != rp->to && sroce_psn_diff(req->acked, rp->from) > 0)
		rp->from = sroce_psn_diff(req->acked, rp->to) < 0 ?
			   req->acked : rp->to;
	if (sroce_psn_diff(req->acked, rp->recover_psn) > 0)
		rp->recover_psn = req->acked;
	if (sroce_psn_diff(req->acked, rp->cut_psn) > 0)
		rp->cut_psn = req->acked;
	if (sroce_psn_diff(req->acked, rp->back_psn) > 0)
		rp->back_psn = req->acked;
	if (sroce_psn_diff(req->acked, rp->last) > 0) {
		rp->last = req->acked;
		rp->n = 0;
	}
	if (sroce_psn_diff(req->acked, req->psn) > 0)
		sroce_sq_sched_seek(qp, req->acked);
}

/*
 * A retransmission was answered: a round trip has passed since, so all that was sent before
 * it has arrived or is lost. After going back it is sent once more.
 */
static void note_left(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;

	if (rp->gap_reported && sroce_psn_diff(rp->recover_psn, rp->left_psn) > 0 &&
	    sroce_psn_diff(req->psn, rp->recover_psn) >= 0) {
		rp->left_psn = rp->recover_psn;
		rp->left_read_psns = sroce_sq_sched_read_psns(qp, rp->left_psn);
	}
	if (sroce_psn_diff(req->acked, rp->left_psn) > 0)
		rp->left_psn = req->acked;
}

/**
 * sroce_retrans_acked() - update the state of retransmission after req.acked has moved
 * @qp: the QP, RC, locked
 * @n: packets that it has passed
 * @gap: the new value is from an RNR NAK or a NAK of a gap
 */
void sroce_retrans_acked(struct sroce_qp *qp, u32 n, bool gap)
{
	struct sroce_retrans *rp = &qp->req.retrans;
	u64 took;

	rp->allowed = min(rp->allowed + RESENDS_PER_PACKET * n, SROCE_RESENDS_MAX);
	switch (sroce_rtt_acked(qp, &took)) {
	case SROCE_RTT_SPURIOUS:
		note_spurious(&qp->req);
		break;
	case SROCE_RTT_RETRANS:
		resize_batch(&qp->req, took);
		break;
	case SROCE_RTT_NONE:
		break;
	}
	note_left(qp);
	learn_gap_policy(qp, gap);
	skip_acked(qp);
	sroce_retrans_progress(qp);
}

/*
 * How many responses are missing for sure: those up to one that has arrived. 0 if none
 * has, since all may be late.
 */
static u32 hole_size(const struct sroce_req *req, const struct sroce_wqe *wqe)
{
	u32 n, left = sroce_psn_diff(wqe->last_psn, req->una);

	for (n = 1; n <= left && n < SROCE_READ_AHEAD; n++) {
		u32 psn = sroce_psn_add(req->una, n);

		if (test_bit(psn % SROCE_READ_AHEAD, req->read_buf->bitmap))
			return n;
	}
	return 0;
}

/*
 * Request the oldest missing responses again. Return: false if no acknowledged request
 * waits for a response.
 */
static bool retry_oldest_read(struct sroce_qp *qp)
{
	struct sroce_wqe *wqe = sroce_sq_oldest(qp);
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;
	u32 n;

	if (!wqe || !sroce_wqe_wants_response(wqe) || req->una == req->acked)
		return false;
	/* an earlier probe had no effect: ask for less */
	n = rp->probes > 1 ? 1 : hole_size(req, wqe);
	if (!n)
		n = rp->probe_reads && rp->probe_end == req->una ? 2 * rp->probe_reads : 1;
	rp->probe_reads = n;
	rp->probe_end = sroce_psn_add(req->una, n);
	sroce_read_retry_oldest(qp, wqe, n);
	return true;
}

/**
 * sroce_retrans_progress() - restart timers and retry counters after req.una has moved
 * @qp: the QP, RC, locked
 */
void sroce_retrans_progress(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	req->deadline = 0;
	req->retries = qp->attr.retry_cnt;
	req->excused = 0;
	req->rnr_retries = qp->attr.rnr_retry;
	req->rnr_waits = 0;
	req->retrans.tried = false;
	req->retrans.probes = 0;
	req->retrans.probe_at = 0;
	req->retrans.postponed = false;
}

/**
 * sroce_retrans_alive() - restart the ACK timer after a new response has arrived
 * @qp: the QP, RC, locked
 *
 * The peer is alive, even if older responses are missing: those may be queued behind
 * many others. The number of new responses is finite, so the timer expires in the end.
 */
void sroce_retrans_alive(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	req->deadline = 0;
	req->retries = qp->attr.retry_cnt;
	req->excused = 0;
}

static u64 earlier(u64 a, u64 b)
{
	return !a || (b && b < a) ? b : a;
}

/*
 * The least time until a probe, in ns, if that might repeat a READ which the peer is still
 * executing. That may take it long, and it may count repeated READs against max_rd_atomic.
 * On a path whose round trip is longer than that, the answer may still be under way. If the
 * oldest request wants only an ACK, no READ is executed before that.
 */
static u64 patience(struct sroce_qp *qp, u64 timeout)
{
	const struct sroce_wqe *wqe = sroce_sq_oldest(qp);
	const struct sroce_req *req = &qp->req;
	u32 part = PATIENCE_FIRST;
	u64 rtt;

	if (!wqe || !sroce_wqe_wants_response(wqe) || req->read_retry.selective)
		return 0;
	/* 0 is for ever */
	timeout = timeout ?: ~0ULL;
	rtt = sroce_rtt_min(qp);
	if (req->una != sroce_read_split_start(wqe, req->una))
		part = PATIENCE_NEXT;
	return max(min(timeout / part, PATIENCE_MAX), min(rtt + rtt / 4, timeout / 2));
}

/*
 * The least time until the first probe, in ns, if a request of one packet is all that is under
 * way: the peer may hold its ACK for an answer.
 */
static u64 answer_time(struct sroce_qp *qp)
{
	const struct sroce_wqe *wqe = sroce_sq_oldest(qp);
	const struct sroce_req *req = &qp->req;

	if (!sroce_rtt_may_be_held(qp) || !wqe || req->reads ||
	    wqe->first_psn != wqe->last_psn || req->retrans.probes ||
	    sroce_psn_diff(req->max_psn, req->una) > 1)
		return 0;
	return SROCE_RTT_HOLD_MAX + req->rtt.srtt;
}

/*
 * Schedule the next probe. Until a packet with AckReq is sent the peer owes no answer,
 * and the timeout counts from the newest packet: to send all packets between two AckReqs
 * can take longer than the round trip. Once a packet follows a lone one the peer holds no ACK.
 */
static void schedule_probe(struct sroce_qp *qp, u64 timeout, u64 rto)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;
	bool sending = req->max_psn != rp->timer_psn && !rp->ack_owed;
	u64 hold = answer_time(qp);

	rp->timer_psn = req->max_psn;
	rp->ack_owed = req->rtt.sampling;
	rto = max3(rto, patience(qp, timeout), hold);
	if (rp->copies || rp->probes >= PROBES_MAX || !qp->attr.retry_cnt)
		return;
	if (!rp->probe_at || (sending && !rp->probes))
		rp->probe_at = sroce_now() + (rto << rp->probes);
	else if (rp->patient && !hold)
		rp->probe_at = min(rp->probe_at, sroce_now() + rto);
	rp->patient = hold;
}

/* How late the timer may fire, in ns */
static u64 timer_slack(const struct sroce_retrans *rp, u64 rto, u64 timeout)
{
	u64 ns = min(rto << rp->timer_backoff >> 1, SROCE_SLACK_MAX);

	return timeout ? min(ns, timeout / 4) : ns;
}

/* While the oldest request, or the answer to it, waits for pages here, the peer is not late. */
static bool oldest_waits_here(struct sroce_req *req)
{
	const struct sroce_ofo_pkt *ofo = list_first_entry_or_null(&req->ofo_resps,
								   struct sroce_ofo_pkt, list);

	return (ofo && sroce_psn_diff(ofo->pkt.psn, req->una) <= 0) || req->resp_dropped ||
	       (req->paging && req->paging_psn == req->una);
}

/**
 * sroce_retrans_set_timer() - set the timer after requests were sent or answered
 * @qp: the QP, RC, locked
 *
 * The deadline is that of the oldest packet: new work does not postpone it. There are no
 * probes if the user allows no retries.
 */
void sroce_retrans_set_timer(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;
	u64 timeout, rto, when;

	if (req->pace_at)
		sroce_task_set_ack_timer(qp, req->pace_at,
					 min(sroce_cc_pace(qp) / 2, SROCE_SLACK_MAX));
	if (req->rnr_wait || oldest_waits_here(req) || req->max_psn == req->una) {
		req->deadline = 0;
		rp->probe_at = 0;
		return;
	}
	timeout = sroce_rtt_ack_timeout(qp);
	rto = sroce_rtt_rto(qp, timeout);
	if (!req->deadline && timeout)
		req->deadline = sroce_now() + timeout;
	schedule_probe(qp, timeout, rto);
	when = earlier(req->deadline, rp->probe_at);
	if (when)
		sroce_task_set_ack_timer(qp, when, timer_slack(rp, rto, timeout));
}

/*
 * Send a packet that makes the peer report the PSN that it expects. An ACK of it would
 * say nothing about the packets sent before: they may be late. So one packet is sent for
 * each silence, and more after each probe that filled a gap.
 */
static void send_probe(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;
	u32 n = retrans_size(qp);
	bool hold = rp->hold_new, sampling = req->rtt.sampling;

	if (retry_oldest_read(qp) || req->psn == req->acked)
		return;
	if (prefers_going_back(rp, n)) {
		go_back_again(qp);
		return;
	}
	/* an earlier probe had no effect: where gaps are frequent it was lost as well */
	queue_retrans(qp, n, rp->probes > 1 ? retrans_copies(rp) : 1);
	rp->hold_new = hold;
	/* the sample is that of a later packet, unless all are sent again */
	req->rtt.sampling = sampling && sroce_psn_diff(req->rtt.psn, rp->to) >= 0;
}

/*
 * A copy behind what is in a queue of this host would only come later, and take the time of a CPU
 * that has too little of it, or the room of a queue. TCP sends none either.
 */
static bool is_held(struct sroce_qp *qp)
{
	bool held = sroce_tx_pending(qp);

	if (held)
		sroce_count(qp, SROCE_CNT_PROBE_HELD);
	return held;
}

/*
 * A timer that fires much later than its slack shows that this machine stood still: it is
 * overloaded, or a VM that did not get its CPUs.
 */
static bool is_late(const struct sroce_qp *qp, u64 late)
{
	u64 allowed = min(sroce_rtt_ack_timeout(qp) / 4, SROCE_SLACK_MAX);

	return late > allowed + allowed / 4;
}

/* Receive what has come while this machine stood still, and probe after that. */
static void postpone_probe(struct sroce_qp *qp, u64 now)
{
	struct sroce_retrans *rp = &qp->req.retrans;
	u64 rto = sroce_rtt_rto(qp, sroce_rtt_ack_timeout(qp));

	rp->postponed = true;
	rp->probe_at = qp->attr.retry_cnt ? now + min(rto, LATE_GRACE) : 0;
}

/* The ACK timer has expired. @late: later than it may be */
static void timeout(struct sroce_qp *qp, u64 now, bool late)
{
	struct sroce_req *req = &qp->req;

	/* the slack of the timer must not add up */
	req->deadline = late ? 0 : req->deadline + sroce_rtt_ack_timeout(qp);
	if (!sroce_timeout_counted(qp, now) || !qp->attr.retry_cnt)
		return;
	req->retrans.probes = 0;
	req->retrans.probe_at = 0;
	req->retrans.tried = false;
	req->retrans.rewound = false;
	if (late && !req->retrans.postponed) {
		postpone_probe(qp, now);
		return;
	}
	if (is_held(qp))
		return;
	if (req->retrans.gap_policy == SROCE_GAP_DROPS && req->una == req->acked)
		go_back(qp);
	else
		send_probe(qp);
}

static void probe_due(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;

	rp->probes++;
	rp->probe_at = 0;
	rp->timer_backoff = 0;
	if (is_held(qp))
		return;
	sroce_rtt_probed(qp);
	sroce_count(qp, SROCE_CNT_PROBE);
	send_probe(qp);
}

/**
 * sroce_retrans_timer() - handle the timer set by sroce_task_set_ack_timer()
 * @qp: the QP, locked; with UC nothing is due
 *
 * The caller then calls sroce_transport_run(), which sends what this queues, and sets
 * the timer again if it fired early.
 */
void sroce_retrans_timer(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;
	u64 now = sroce_now(), due = earlier(req->deadline, rp->probe_at);
	/* it may have been set for a train, perhaps one that leaves later now, or for the end */
	bool paced = req->pace_at || qp->resp.rate.go_on || qp->resp.answer.timed ||
		     (qp->resp.closing && qp->resp.tx_paging);
	bool late;

	sroce_resp_rate_timer(qp, now);
	sroce_answer_timer(qp, now);
	if (!sroce_qp_may_send(qp))
		return;
	if (req->pace_at && now >= req->pace_at)
		sroce_cc_go_on(qp);
	if (!due || now < due) {
		if (!paced && rp->timer_backoff < TIMER_BACKOFF_MAX)
			rp->timer_backoff++;
		return;
	}
	late = req->deadline && is_late(qp, now - due);
	if (late)
		req->late_at = now;
	if (req->deadline && now >= req->deadline) {
		timeout(qp, now, late);
	} else if (late && !rp->postponed) {
		/* time in which this machine stood still does not count */
		req->deadline += now - due;
		postpone_probe(qp, now);
	} else {
		probe_due(qp);
	}
	if (!late)
		rp->postponed = false;
}

/**
 * sroce_retrans_restart() - retransmit from req.acked on after an RNR NAK or a NAK
 * @qp: the QP, RC, locked
 */
void sroce_retrans_restart(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;

	/* earlier retransmissions were refused as well */
	rp->tried = false;
	rp->hold_new = false;
	rp->last = req->acked;
	rp->n = 0;
	/* what the peer has refused was not lost: the path has room for as much as before */
	if (req->psn != req->acked)
		retransmit(qp, false);
	/* the next NAK is about this retransmission: all before was answered */
	rp->tried = false;
}

/**
 * sroce_retrans_rnr_timer() - end the RNR wait, as the RNR timer has fired
 * @qp: the QP, RC, locked
 */
void sroce_retrans_rnr_timer(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	if (!req->rnr_wait)
		return;
	req->rnr_wait = false;
	/* what was under way before the wait is not any more */
	sroce_cc_go_on(qp);
	/* the RNR NAK may have been for the rest of a READ and what follows it */
	sroce_read_retry_refused(qp, req->acked);
	if (sroce_qp_may_send(qp))
		sroce_retrans_restart(qp);
}
