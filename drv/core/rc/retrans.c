// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requester: getting over losses (9.7.5.2.8, 9.7.6).
 *
 * A request is lost when the peer reports a gap. A peer that keeps what follows
 * a gap needs no more than what is missing; one that drops it needs all from
 * the gap on. Which of the two it is shows in its first answer: until then one
 * packet is sent again, and nothing new.
 *
 * A peer that keeps tells of one gap at a time. What was sent before a packet
 * that it has by now should be there, too: if not, it is lost, NAK or no NAK.
 * Where there are many gaps each repair is sent twice, and so is what follows
 * if the next gap is nearer than a round trip.
 *
 * When all is silent, a probe of one packet goes out long before the
 * acknowledge timer ends: it is a duplicate or the missing packet, and either
 * way makes the peer say where it stands.
 */

#include "drv/core/env.h"

/* More packets than this in a row are as well sent by going back. */
#define REPAIR_MAX	8
/* Gaps are dense that are less than so many bursts from each other. */
#define DENSE		8
/* Gaps this near to each other on average: repairs will be lost, too. */
#define OFTEN		256
/* A peer's habit is put to the test again after so many gaps. */
#define DOUBT		8
/*
 * Who answers in microseconds would have us set a timer as often, each time in vain;
 * where all is well it may be later, the more so the longer that lasts, until it
 * waits for the next tick, which costs nothing.
 */
#define CALM_MAX	6
/* Probes until the acknowledge timer fires, ever less often */
#define PROBES_MAX	10
/* So many timeouts may be this host's fault for one that isn't. */
#define EXCUSED_MAX	3

static void cancel(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;

	rp->from = rp->to;
	rp->copies = 0;
	rp->gap_reported = false;
	rp->hold_new = false;
	/* an acknowledge could be that of either transmission */
	qp->req.rtt.sampling = false;
}

static void go_back(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	cancel(qp);
	req->retrans.n = 0;
	req->retrans.last = req->psn;
	/* and ask at once */
	req->since_ackreq = SROCE_CWND_MAX;
	sroce_sq_sched_seek(qp, req->acked);
}

/*
 * Send @n packets from req.acked on again. If the peer keeps what follows a gap
 * the first of them goes last: when it comes, all have had their chance, and
 * what the peer says then is the whole truth.
 */
static void resend(struct sroce_qp *qp, u32 n, u32 copies)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;
	u32 sent = sroce_psn_diff(req->psn, req->acked);

	cancel(qp);
	rp->n = min(n, sent);
	rp->from = req->acked;
	rp->to = sroce_psn_add(rp->from, rp->n);
	rp->last = rp->to;
	if (rp->n && rp->gap_policy == SROCE_GAP_KEEPS) {
		rp->from = sroce_req_pkt_psn_after(qp, req->acked);
		if (sroce_psn_diff(rp->from, rp->to) > 0)
			rp->to = rp->from;
		rp->copies = copies;
	}
}

/* Mean distance of gaps; what is lost in a row is one. */
static void note_gap(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;
	s32 d = sroce_psn_diff(qp->req.acked, rp->gap);

	rp->gap = qp->req.acked;
	if (d > 0 && !(rp->n && rp->last == qp->req.acked))
		rp->gap_dist += (min(d, SROCE_GAP_DIST_MAX) - rp->gap_dist) / 4;
}

/*
 * How many packets to send again: one more, right behind those that were sent
 * again and came, says that there will be others.
 */
static u32 repair_size(struct sroce_qp *qp)
{
	const struct sroce_retrans *rp = &qp->req.retrans;

	return rp->n && rp->last == qp->req.acked ? 2 * rp->n : 1;
}

/* Where much is lost, what is sent again will be. */
static u32 copies(const struct sroce_retrans *rp)
{
	return rp->gap_dist < OFTEN ? 2 : 1;
}

/*
 * Fill a gap of a peer that keeps what follows. Where gaps are dense the next is
 * near, too, and what is sent in vain costs less than to wait for the peer to
 * tell of it, as long as it doesn't make the round trip longer.
 */
static void fill(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;
	s32 dense = min_t(u32, DENSE * rp->batch, SROCE_GAP_DIST_MAX / 2);
	u32 n = repair_size(qp), burst;

	note_gap(qp);
	burst = rp->gap_dist < dense ? rp->batch : 1;
	resend(qp, max(n, burst), copies(rp));
	rp->gap_reported = true;
	rp->tries_batch = rp->n == rp->batch;
	rp->n = n;
	sroce_cwnd_retransmitted(qp);
}

/**
 * sroce_retrans_took() - the newest repair has come
 * @qp: the QP
 * @ns: after this time
 */
void sroce_retrans_took(struct sroce_qp *qp, u64 ns)
{
	struct sroce_retrans *rp = &qp->req.retrans;
	u64 min = qp->req.rtt.min_rtt;

	if (!rp->tries_batch)
		return;
	if (ns < min + min / 2)
		rp->batch = min(2 * rp->batch, SROCE_CWND_MAX);
	else if (rp->batch > SROCE_RETRANS_BATCH_MIN)
		rp->batch /= 2;
}

/**
 * sroce_retrans_spurious() - what was sent again was late, and not lost
 * @qp: the QP
 *
 * So an acknowledge says nothing of what was sent before the repair.
 */
void sroce_retrans_spurious(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;

	rp->recover_psn = qp->req.acked;
	rp->batch = SROCE_RETRANS_BATCH_MIN;
	rp->gap_dist += (SROCE_GAP_DIST_MAX - rp->gap_dist) / 4;
}

/* A peer that keeps what follows has no use for more than the hole. */
static bool too_many(const struct sroce_retrans *rp, u32 n)
{
	return n > REPAIR_MAX && rp->gap_policy != SROCE_GAP_KEEPS;
}

/*
 * A gap right behind the one before, again and again: the peer has no room to
 * keep what follows, or never did. It would get a packet for each round trip.
 */
static bool keeps_no_more(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;

	if (sroce_psn_diff(qp->req.acked, rp->gap) == 1)
		rp->doubt++;
	else
		rp->doubt = 0;
	if (rp->doubt < DOUBT)
		return false;
	rp->gap_policy = SROCE_GAP_UNKNOWN;
	rp->doubt = 0;
	return true;
}

/**
 * sroce_retrans_gap() - the peer lacks the request packet at req.acked
 * @qp: the QP
 */
void sroce_retrans_gap(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;
	u32 n;

	rp->timer_backoff = 0;
	/* on one host nothing is said twice: it has found no page again */
	if (rp->tried && !sroce_loopback_usable(qp))
		return;
	rp->tried = true;
	if (rp->gap_policy == SROCE_GAP_KEEPS && !keeps_no_more(qp)) {
		fill(qp);
		return;
	}
	/* what told so may have been the loss of an acknowledge */
	if (rp->gap_policy == SROCE_GAP_DROPS && ++rp->doubt == DOUBT) {
		rp->gap_policy = SROCE_GAP_UNKNOWN;
		rp->doubt = 0;
	}
	n = repair_size(qp);
	if (rp->gap_policy == SROCE_GAP_DROPS || too_many(rp, n)) {
		go_back(qp);
		rp->rewound = true;
		return;
	}
	resend(qp, n, 1);
	rp->hold_new = rp->gap_policy == SROCE_GAP_UNKNOWN && rp->from != rp->to;
}

/**
 * sroce_retrans_passed() - the peer acknowledged up to req.acked, and no gap
 * @qp: the QP
 *
 * What was sent before a repair that has come should have come as well, had it
 * not been lost: a NAK that said so was.
 */
void sroce_retrans_passed(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;

	if (rp->gap_policy == SROCE_GAP_KEEPS &&
	    sroce_psn_diff(req->acked, rp->recover_psn) < 0)
		sroce_retrans_gap(qp);
}

/* The newest request acknowledged is a READ or atomic. */
static bool by_answer(const struct sroce_qp *qp)
{
	const struct sroce_wqe *wqe;
	u32 i = qp->req.acked_idx;

	do {
		i = (i - 1) & qp->sq.mask;
		wqe = sroce_sq_wqe(&qp->sq, i);
	} while (sroce_wqe_is_local(wqe) && i != qp->sq.cons);
	return sroce_wqe_wants_response(wqe) &&
	       sroce_psn_add(wqe->last_psn, 1) == qp->req.acked;
}

/* What the peer lacks next, or has not told of, is a READ or atomic. */
static bool before_answer(struct sroce_qp *qp)
{
	const struct sroce_wqe *wqe = sroce_sq_sched_wqe(qp, qp->req.acked_idx,
						    qp->req.acked);

	return wqe && sroce_wqe_wants_response(wqe);
}

/* What the peer does with packets after a gap shows when the gap is filled. */
static void learn(struct sroce_qp *qp, bool gap)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;
	s32 ahead = sroce_psn_diff(req->acked, req->psn);
	bool just_that = !gap && req->acked == rp->last;

	if (rp->hold_new && just_that && ahead < 0 &&
	    (by_answer(qp) || before_answer(qp))) {
		/* answers come one by one: those to what follows may be next */
		resend(qp, 1, 1);
		rp->hold_new = true;
		return;
	}
	if (rp->hold_new && just_that && ahead < 0) {
		rp->gap_policy = SROCE_GAP_DROPS;
		go_back(qp);
	} else if ((rp->hold_new && !just_that) || (rp->rewound && ahead > 0)) {
		rp->gap_policy = SROCE_GAP_KEEPS;
	}
	rp->hold_new = false;
	rp->rewound = false;
}

/* Packets that the peer has meanwhile need not be sent again. */
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
	if (sroce_psn_diff(req->acked, rp->last) > 0) {
		rp->last = req->acked;
		rp->n = 0;
	}
	if (sroce_psn_diff(req->acked, req->psn) > 0)
		sroce_sq_sched_seek(qp, req->acked);
}

/**
 * sroce_retrans_acked() - req.acked has moved
 * @qp: the QP
 * @gap: the peer reports a gap there, or puts off what it has
 */
void sroce_retrans_acked(struct sroce_qp *qp, bool gap)
{
	learn(qp, gap);
	skip_acked(qp);
	sroce_retrans_progress(qp);
}

/*
 * Responses that surely are missing: up to one that has come. 0: none has, and
 * all may be late.
 */
static u32 hole_size(const struct sroce_req *req, const struct sroce_wqe *wqe)
{
	u32 n, left = sroce_psn_diff(wqe->last_psn, req->una);

	for (n = 1; n <= left && n < SROCE_READ_AHEAD; n++) {
		u32 psn = sroce_psn_add(req->una, n);

		if (test_bit(psn % SROCE_READ_AHEAD, req->resp_bitmap))
			return n;
	}
	return 0;
}

/* The first responses that are missing, if requests were acknowledged since */
static bool resend_hole(struct sroce_qp *qp)
{
	struct sroce_wqe *wqe = sroce_sq_oldest(qp);
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;
	u32 n;

	if (!wqe || !sroce_wqe_wants_response(wqe) || req->una == req->acked)
		return false;
	/* in vain before: not so much again */
	n = rp->probes > 1 ? 1 : hole_size(req, wqe);
	if (!n)
		n = rp->probe_reads && rp->probe_end == req->una ? 2 * rp->probe_reads : 1;
	rp->probe_reads = n;
	rp->probe_end = sroce_psn_add(req->una, n);
	sroce_read_retry_oldest(qp, wqe, n);
	return true;
}

/**
 * sroce_retrans_progress() - the oldest PSN has moved: all is well for now
 * @qp: the QP
 */
void sroce_retrans_progress(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	req->deadline = 0;
	req->retries = qp->attr.retry_cnt;
	req->excused = 0;
	req->rnr_retries = qp->attr.rnr_retry;
	req->retrans.tried = false;
	req->retrans.probes = 0;
	req->retrans.probe_at = 0;
}

/**
 * sroce_retrans_alive() - a response has come that was not there before
 * @qp: the QP
 *
 * The peer has not gone, whatever may still be lacking: an answer to that may
 * stand in a long queue behind others. There is an end to new ones.
 */
void sroce_retrans_alive(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	req->deadline = 0;
	req->retries = qp->attr.retry_cnt;
	req->excused = 0;
}

static u64 sooner(u64 a, u64 b)
{
	return !a || (b && b < a) ? b : a;
}

/*
 * When the next probe is due. The peer owes no answer before it is asked for one: until
 * then silence counts from the newest packet, since what may go unasked can take
 * longer to send than it takes to be answered.
 */
static void expect(struct sroce_qp *qp, u64 patience)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;
	bool goes_on = req->max_psn != rp->timer_psn && !rp->ack_owed;

	rp->timer_psn = req->max_psn;
	rp->ack_owed = req->rtt.sampling;
	if (rp->copies || rp->probes >= PROBES_MAX || !qp->attr.retry_cnt)
		return;
	if (!rp->probe_at || (goes_on && !rp->probes))
		rp->probe_at = sroce_now() + (patience << rp->probes);
}

static u64 slack(const struct sroce_retrans *rp, u64 patience, u64 timeout)
{
	u64 ns = min(patience << rp->timer_backoff >> 1, SROCE_SLACK_MAX);

	return timeout ? min(ns, timeout / 4) : ns;
}

/**
 * sroce_retrans_set_timer() - see to the timer after requests were sent or answered
 * @qp: the QP, RC
 *
 * The deadline belongs to the oldest packet: new work does not postpone it. Who
 * wants no retries gets no probes either.
 */
void sroce_retrans_set_timer(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;
	u64 timeout = sroce_cwnd_ack_timeout(qp), when;
	u64 patience = sroce_cwnd_rto(qp, timeout);

	/* pages are awaited here: the peer may not have been asked yet, or has answered */
	if (req->rnr_wait || req->paging || req->n_deferred || req->max_psn == req->una) {
		req->deadline = 0;
		rp->probe_at = 0;
		return;
	}
	if (!req->deadline && timeout)
		req->deadline = sroce_now() + timeout;
	expect(qp, patience);
	when = sooner(req->deadline, rp->probe_at);
	if (when)
		sroce_task_set_ack_timer(qp, when, slack(rp, patience, timeout));
}

/*
 * Make the peer say where it stands. That a packet sent again comes says
 * nothing of what was sent before it: that may be late, and overtaken. So it is
 * one packet for each silence, and after each that was the very packet that
 * lacked, more.
 */
static void nudge(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;
	u32 n = repair_size(qp);
	bool hold = rp->hold_new;

	if (resend_hole(qp) || req->psn == req->acked)
		return;
	if (too_many(rp, n)) {
		go_back(qp);
		return;
	}
	/* in vain before, where much is lost: that was lost as well */
	resend(qp, n, rp->probes > 1 ? copies(rp) : 1);
	rp->hold_new = hold;
}

/*
 * Where a timer is late by more than was allowed for, this host has no time for its
 * packets: the answer may be here. For that it isn't the peer who is given up: an
 * interval may be four times as long as was asked for (9.7.6.1.3).
 */
static bool is_excused(struct sroce_qp *qp, u64 late)
{
	u64 allowed = min(sroce_cwnd_ack_timeout(qp) / 4, SROCE_SLACK_MAX);

	if (late <= allowed + allowed / 4 || qp->req.excused == EXCUSED_MAX)
		return false;
	qp->req.excused++;
	return true;
}

static void timeout(struct sroce_qp *qp, u64 late)
{
	struct sroce_req *req = &qp->req;

	req->deadline = 0;
	sroce_count(qp, SROCE_CNT_TIMEOUT);
	sroce_cwnd_timeout(qp);
	if (!is_excused(qp, late)) {
		if (!req->retries) {
			sroce_count(qp, SROCE_CNT_RETRY_EXC);
			sroce_sq_fail(qp, IB_WC_RETRY_EXC_ERR);
			return;
		}
		req->retries--;
		req->excused = 0;
	} else if (!qp->attr.retry_cnt) {
		return;
	}
	req->retrans.probes = 0;
	req->retrans.probe_at = 0;
	req->retrans.tried = false;
	req->retrans.rewound = false;
	if (req->retrans.gap_policy == SROCE_GAP_DROPS && req->una == req->acked)
		go_back(qp);
	else
		nudge(qp);
}

static void probe(struct sroce_qp *qp)
{
	struct sroce_retrans *rp = &qp->req.retrans;

	rp->probes++;
	rp->probe_at = 0;
	rp->timer_backoff = 0;
	sroce_cwnd_probed(qp);
	sroce_count(qp, SROCE_CNT_PROBE);
	nudge(qp);
}

/**
 * sroce_retrans_timer() - the timer set by sroce_task_set_ack_timer() fired
 * @qp: the QP
 *
 * sroce_transport_run() is to follow: it sends what this asks for, and sets the timer
 * again if this was too early.
 */
void sroce_retrans_timer(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	u64 now = sroce_now();

	if (!sroce_qp_may_send(qp))
		return;
	if (req->deadline && now >= req->deadline)
		timeout(qp, now - req->deadline);
	else if (req->retrans.probe_at && now >= req->retrans.probe_at)
		probe(qp);
	else if (req->retrans.timer_backoff < CALM_MAX)
		req->retrans.timer_backoff++;
}

/**
 * sroce_retrans_restart() - what the peer has put off, or refused, is sent after all
 * @qp: the QP
 */
void sroce_retrans_restart(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_retrans *rp = &req->retrans;

	/* what was sent again before was refused as well */
	rp->tried = false;
	rp->hold_new = false;
	rp->last = req->acked;
	rp->n = 0;
	if (req->psn != req->acked)
		sroce_retrans_gap(qp);
	/* who says that it lacks means what is sent now: all else was answered */
	rp->tried = false;
}

/**
 * sroce_retrans_rnr_timer() - the RNR timer fired
 * @qp: the QP
 */
void sroce_retrans_rnr_timer(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	if (!req->rnr_wait)
		return;
	req->rnr_wait = false;
	/* it may have been the rest of a READ, and what follows that */
	sroce_read_retry_until(qp, req->acked);
	if (sroce_qp_may_send(qp))
		sroce_retrans_restart(qp);
}
