// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Samples of a requester's round trip, and the timeouts that follow from them. */

#include <linux/math64.h>
#include "drv/core/env.h"
#include "drv/core/rc/rtt.h"

/* Samples after a probe in which a fast answer to a retransmission is not spurious */
#define ASSUME_LOST_SAMPLES	8
/* Bounds of the retransmission timeout, in ns, and its value before the first sample */
#define RTO_INIT	(2ULL * NSEC_PER_MSEC)
#define RTO_MIN		(200ULL * NSEC_PER_USEC)
#define RTO_MAX		(500ULL * NSEC_PER_MSEC)
/* A round trip that is long, and what lies between two trains then, in ns */
#define LONG_RTT	(5ULL * NSEC_PER_MSEC)
#define TRAIN_INTERVAL	(250ULL * NSEC_PER_USEC)
/* An ACK is held for at most this part of the ACK timeout */
#define HOLD_PART	8

/**
 * sroce_rtt_ack_timeout() - the interval of the ACK timer (9.7.6.1.3)
 * @qp: the QP, RC
 *
 * Return: ns, or 0 for no limit.
 */
u64 sroce_rtt_ack_timeout(const struct sroce_qp *qp)
{
	return qp->attr.timeout ? 4096ULL << qp->attr.timeout : 0;
}

/**
 * sroce_rtt_may_hold() - whether the ACK timeout leaves time to hold an ACK for an answer
 * @qp: the QP, RC
 *
 * The peer's timeout is not known, but both ends of a connection mostly have the same: by
 * rdma_cm it is one for both.
 */
bool sroce_rtt_may_hold(const struct sroce_qp *qp)
{
	u64 timeout = sroce_rtt_ack_timeout(qp);

	return !timeout || timeout / HOLD_PART >= SROCE_RTT_HOLD_MAX;
}

/**
 * sroce_rtt_may_be_held() - whether the peer may hold an ACK for an answer
 * @qp: the QP, RC
 *
 * Both ends are taken to be set up alike. A peer that has sent no message yet has answered none.
 */
bool sroce_rtt_may_be_held(const struct sroce_qp *qp)
{
	return qp->ack_with_answer && qp->resp.msn && sroce_rtt_may_hold(qp);
}

/* Begin another sample, some time after the last. */
static void add_mark(struct sroce_qp *qp, u32 psn)
{
	struct sroce_rtt *rtt = &qp->req.rtt;
	u32 i = rtt->first_mark + rtt->marks;
	u64 now;

	if (!sroce_rtt_is_long(qp) || rtt->marks == SROCE_RTT_MARKS)
		return;
	now = sroce_now();
	if (rtt->marks && now - rtt->mark[(i - 1) % SROCE_RTT_MARKS].start <
			  rtt->srtt / SROCE_RTT_MARKS)
		return;
	rtt->mark[i % SROCE_RTT_MARKS].psn = psn;
	rtt->mark[i % SROCE_RTT_MARKS].start = now;
	rtt->marks++;
}

/*
 * End the samples of packets that were acknowledged. If several were at once, all but the
 * newest have waited for that.
 */
static void end_marks(struct sroce_qp *qp)
{
	struct sroce_rtt *rtt = &qp->req.rtt;
	u64 start = 0;

	while (rtt->marks && sroce_psn_diff(qp->req.acked,
					    rtt->mark[rtt->first_mark].psn) > 0) {
		start = rtt->mark[rtt->first_mark].start;
		rtt->first_mark = (rtt->first_mark + 1) % SROCE_RTT_MARKS;
		rtt->marks--;
	}
	if (start)
		sroce_cwnd_mark(&qp->req.cwnd, sroce_now() - start);
}

/* Whether the peer may hold the ACK of a packet for an answer: as in answer.c, if it is as we */
static bool is_lone(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	const u32 whole = SROCE_START | SROCE_END;

	return sroce_rtt_may_be_held(qp) &&
	       (pkt->op->flags & (whole | SROCE_HAS_RESPONSE)) == whole &&
	       pkt->psn == qp->req.una && sroce_psn_diff(qp->req.max_psn, pkt->psn) <= 1;
}

/**
 * sroce_rtt_sent() - note that a packet was sent in turn, and perhaps start a sample
 * @qp: the QP, RC
 * @pkt: the packet
 * @again: it was sent before, but the peer is assumed to have dropped it
 */
void sroce_rtt_sent(struct sroce_qp *qp, const struct sroce_pkt *pkt, bool again)
{
	struct sroce_rtt *rtt = &qp->req.rtt;

	if (!rtt->first)
		rtt->first = sroce_now();
	/* the ACK may be for the original, which the peer has kept */
	if (again && sroce_psn_diff(pkt->psn, qp->req.retrans.back_psn) < 0)
		return;
	if (pkt->ackreq && !again)
		add_mark(qp, pkt->psn);
	if (!(pkt->ackreq || pkt->op->flags & SROCE_HAS_RESPONSE))
		return;
	/* the peer holds no ACK of a packet that follows a lone one: a better sample */
	if (rtt->sampling && !(rtt->lone && pkt->psn != rtt->psn))
		return;
	rtt->sampling = true;
	rtt->retrans = again;
	rtt->read = pkt->op->flags & SROCE_READING;
	rtt->lone = !again && is_lone(qp, pkt);
	rtt->psn = pkt->psn;
	rtt->peer_psn = qp->resp.psn;
	rtt->start = sroce_now();
}

/**
 * sroce_rtt_heard() - note that the peer has answered something
 * @qp: the QP, RC
 *
 * Until there is a sample, the first answer of all is taken as the shortest round
 * trip. On a path that loses many packets there may never be another sample. After a probe
 * it may be far too long, as all that was sent before may be lost: then any sample is better.
 */
void sroce_rtt_heard(struct sroce_qp *qp)
{
	struct sroce_rtt *rtt = &qp->req.rtt;
	u64 now;

	if (!rtt->first || qp->req.cwnd.min_rtt)
		return;
	now = sroce_now();
	rtt->unsure = rtt->assume_lost;
	sroce_cwnd_sample(&qp->req.cwnd, max_t(u64, now - rtt->first, 1), now);
}

/* As in RFC 6298 */
static void update_srtt(struct sroce_rtt *rtt, u64 ns)
{
	s64 err = (s64)ns - (s64)rtt->srtt;

	if (!rtt->srtt) {
		rtt->srtt = ns;
		rtt->rttvar = ns / 2;
		return;
	}
	rtt->srtt += err >> 3;
	rtt->rttvar += ((err < 0 ? -err : err) - (s64)rtt->rttvar) >> 2;
}

/**
 * sroce_rtt_min() - the shortest round trip of late
 * @qp: the QP, RC
 *
 * Return: ns, or 0 if nothing was heard from the peer yet.
 */
u64 sroce_rtt_min(const struct sroce_qp *qp)
{
	return min_not_zero(qp->req.cwnd.min_rtt, qp->req.read_cwnd.min_rtt);
}

/**
 * sroce_rtt_too_soon() - whether an answer is to the original, not to the repeated packet
 * @qp: the QP, RC
 * @ns: time since the packet was repeated, in ns
 *
 * Return: true if less than a round trip has passed.
 */
bool sroce_rtt_too_soon(const struct sroce_qp *qp, u64 ns)
{
	u64 min = sroce_rtt_min(qp);

	return ns < min - min / 4;
}

/*
 * Either the retransmission was answered or the original packet arrived late. After a
 * probe the former is assumed, and the window learns nothing: its shortest round trip may
 * stem from the first answer of all, which need not have been one (see sroce_rtt_heard()).
 * If that came after a probe, a shorter answer replaces it: nothing shows that one to be late.
 */
static enum sroce_rtt_sample retrans_answered(struct sroce_qp *qp, u64 ns, u64 now)
{
	struct sroce_rtt *rtt = &qp->req.rtt;

	if (!rtt->assume_lost && sroce_rtt_too_soon(qp, ns)) {
		if (!rtt->unsure)
			return SROCE_RTT_SPURIOUS;
		rtt->unsure = false;
		sroce_cwnd_sample(&qp->req.cwnd, ns, now);
		return SROCE_RTT_NONE;
	}
	update_srtt(rtt, ns);
	if (rtt->assume_lost) {
		rtt->assume_lost--;
		return SROCE_RTT_NONE;
	}
	/* a retransmission that waited for others shows no queue on the path */
	if (qp->req.retrans.tries_batch)
		return SROCE_RTT_RETRANS;
	/* a peer that keeps the original may have answered that */
	if (qp->req.retrans.gap_policy != SROCE_GAP_DROPS)
		ns = max(ns, qp->req.cwnd.min_rtt);
	sroce_cwnd_sample(&qp->req.cwnd, ns, now);
	return SROCE_RTT_RETRANS;
}

/* Whether samples vary little. On a busy host they vary much, and no queue is to blame. */
static bool is_steady(const struct sroce_rtt *rtt)
{
	return rtt->srtt > 3 * rtt->rttvar;
}

/*
 * Packets that come as a train find a queue full that those which come one by one don't, or
 * fill it just before those arrive. A queue makes a round trip long, too.
 */
static void update_trains(struct sroce_qp *qp)
{
	struct sroce_rtt *rtt = &qp->req.rtt;
	u64 ns = sroce_rtt_min(qp);

	rtt->is_long = ns >= LONG_RTT;
	if (!rtt->is_long && is_steady(rtt))
		ns = rtt->srtt;
	rtt->trains = ns < LONG_RTT ? 0 :
		      min_t(u64, div_u64(ns, TRAIN_INTERVAL), SROCE_RTT_TRAINS_MAX);
}

/*
 * Whether a sample may contain the time for which the peer has held the ACK: its answer, or another
 * packet of ours, came before that, or nothing for as long. What is longer than that is all the
 * same a long round trip, and what is shorter than any other is none that holds much.
 */
static bool may_hold_wait(const struct sroce_qp *qp, u64 ns)
{
	const struct sroce_rtt *rtt = &qp->req.rtt;
	u64 min = qp->req.cwnd.min_rtt;

	if (!rtt->lone || !min || ns <= min || ns - min > SROCE_RTT_HOLD_MAX)
		return false;
	return qp->resp.psn != rtt->peer_psn || ns - min >= SROCE_RTT_HOLD_MIN ||
	       sroce_psn_diff(qp->req.max_psn, rtt->psn) > 1;
}

/**
 * sroce_rtt_acked() - end the sample of the round trip, if req.acked has passed it
 * @qp: the QP, RC
 * @took: set to the time from a retransmission to its answer, in ns, unless the
 *	return value is SROCE_RTT_NONE
 *
 * Return: what the sample says of a retransmission.
 */
enum sroce_rtt_sample sroce_rtt_acked(struct sroce_qp *qp, u64 *took)
{
	struct sroce_rtt *rtt = &qp->req.rtt;
	u64 now, ns;

	end_marks(qp);
	if (!rtt->sampling || sroce_psn_diff(qp->req.acked, rtt->psn) <= 0)
		return SROCE_RTT_NONE;
	rtt->sampling = false;
	now = sroce_now();
	ns = max_t(u64, now - rtt->start, 1);
	if (may_hold_wait(qp, ns))
		return SROCE_RTT_NONE;
	if (rtt->retrans) {
		*took = ns;
		return retrans_answered(qp, ns, now);
	}
	rtt->unsure = false;
	update_srtt(rtt, ns);
	sroce_cwnd_sample(rtt->read ? &qp->req.read_cwnd : &qp->req.cwnd, ns, now);
	update_trains(qp);
	return SROCE_RTT_NONE;
}

/**
 * sroce_rtt_probed() - note that a probe is sent, since something was probably lost
 * @qp: the QP, RC
 */
void sroce_rtt_probed(struct sroce_qp *qp)
{
	qp->req.rtt.assume_lost = ASSUME_LOST_SAMPLES;
}

/**
 * sroce_rtt_retransmitted() - start a sample with the retransmission of req.acked
 * @qp: the QP, RC
 *
 * The peer has reported that the packet is missing, so its next answer is to the
 * retransmission.
 */
void sroce_rtt_retransmitted(struct sroce_qp *qp)
{
	struct sroce_rtt *rtt = &qp->req.rtt;

	rtt->sampling = true;
	rtt->retrans = true;
	rtt->read = false;
	rtt->lone = false;
	rtt->psn = qp->req.acked;
	rtt->start = sroce_now();
}

/**
 * sroce_rtt_read_retried() - take a sample from responses that were requested again
 * @qp: the QP, RC
 * @ns: time from the request to the first response, in ns
 */
void sroce_rtt_read_retried(struct sroce_qp *qp, u64 ns)
{
	update_srtt(&qp->req.rtt, max_t(u64, ns, 1));
}

/**
 * sroce_rtt_rto() - the retransmission timeout: when to send the first probe
 * @qp: the QP, RC
 * @timeout: interval of the ACK timer in ns, 0 for none
 *
 * Return: ns.
 */
u64 sroce_rtt_rto(const struct sroce_qp *qp, u64 timeout)
{
	const struct sroce_rtt *rtt = &qp->req.rtt;
	u64 ns = rtt->srtt ? rtt->srtt + max(4 * rtt->rttvar, rtt->srtt / 2) : RTO_INIT;

	/* a probe costs less than to wait for the ACK timer, even if the peer is slow */
	if (timeout)
		ns = min(ns, rtt->srtt < timeout / 4 ? timeout / 4 : timeout / 2);
	return clamp_t(u64, ns, RTO_MIN, RTO_MAX);
}
