// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How much may be under way: twice what the path takes in at the rate of the
 * acknowledges, from samples of the round trip. A loss tells nothing here, as
 * it may be random; a queue that grows shows in the round trip.
 */

#include <linux/math64.h>
#include <linux/time64.h>
#include "drv/core/env.h"

/* How long the shortest round trip is remembered */
#define MIN_LIFE	(10ULL * NSEC_PER_SEC)
/* After a silence so many repairs that come soon may have been needed. */
#define LOSSES		8
/* Before the first sample */
#define FIRST_PATIENCE	(10ULL * NSEC_PER_MSEC)
#define LEAST_PATIENCE	(200ULL * NSEC_PER_USEC)
#define MOST_PATIENCE	(500ULL * NSEC_PER_MSEC)

/**
 * sroce_cwnd_ack_timeout() - how long the peer may take to answer (9.7.6.1.3)
 * @qp: the QP, RC
 *
 * Return: ns, 0 for as long as it likes
 */
u64 sroce_cwnd_ack_timeout(const struct sroce_qp *qp)
{
	return qp->attr.timeout ? 4096ULL << qp->attr.timeout : 0;
}

/**
 * sroce_cwnd_sent() - a packet left that was not sent before
 * @qp: the QP, RC
 * @psn: its PSN
 * @asks: the peer answers it at once
 */
void sroce_cwnd_sent(struct sroce_qp *qp, u32 psn, bool asks)
{
	struct sroce_rtt *rtt = &qp->req.rtt;

	if (!rtt->first)
		rtt->first = sroce_now();
	if (!asks || rtt->sampling)
		return;
	rtt->sampling = true;
	rtt->retrans = false;
	rtt->psn = psn;
	rtt->acked = qp->req.acked;
	rtt->start = sroce_now();
}

/**
 * sroce_cwnd_heard() - the peer has answered something
 * @qp: the QP
 *
 * Until there is a sample, the first answer to anything says how long the round
 * trip may be: where much is lost no other sample may ever be taken.
 */
void sroce_cwnd_heard(struct sroce_qp *qp)
{
	struct sroce_rtt *rtt = &qp->req.rtt;

	if (rtt->first && !rtt->min_rtt) {
		rtt->min_rtt_at = sroce_now();
		rtt->min_rtt = max_t(u64, rtt->min_rtt_at - rtt->first, 1);
	}
}

/* RFC 6298 */
static void smooth(struct sroce_rtt *rtt, u64 ns)
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

static void note_min(struct sroce_rtt *rtt, u64 ns, u64 now)
{
	if (rtt->min_rtt && rtt->min_rtt <= ns && now - rtt->min_rtt_at < MIN_LIFE)
		return;
	rtt->min_rtt = ns;
	rtt->min_rtt_at = now;
}

/* Less than a round trip: not that packet has come, but the first one, late. */
static bool too_soon(const struct sroce_rtt *rtt, u64 ns)
{
	return ns < rtt->min_rtt - rtt->min_rtt / 4;
}

/*
 * What was acknowledged in this round trip would have been so in the shortest,
 * had no queue been in the way. The window grows at once and shrinks slowly,
 * since one late acknowledge says little.
 */
static void resize(struct sroce_rtt *rtt, u32 delivered, u64 ns)
{
	u64 want = div64_u64(2 * (u64)delivered * rtt->min_rtt, ns);
	u32 floor = max(rtt->cwnd - rtt->cwnd / 8, SROCE_CWND_MIN);

	rtt->cwnd = clamp_t(u64, want, floor, SROCE_CWND_MAX);
}

/*
 * The peer is new, or was too slow: it is given more as long as what it has is answered
 * well before the timeout.
 */
static void recover(struct sroce_qp *qp, u64 ns)
{
	u64 timeout = sroce_cwnd_ack_timeout(qp);

	if (!timeout || ns < timeout / 8)
		qp->req.rtt.cwnd = min(2 * sroce_cwnd(qp), SROCE_CWND_MIN);
}

/*
 * What was sent was answered before more than the next burst could follow it, or, of a
 * message half sent, a quarter of the window: the path is faster than we are, and may be
 * asked less often.
 */
static bool outran(const struct sroce_qp *qp, u32 delivered)
{
	bool sending = qp->req.next_idx != qp->sq.prod;
	s32 few = sending ? sroce_cwnd(qp) / 4 : SROCE_TX_BUDGET;
	s32 left = sroce_in_flight(qp);

	return left >= 0 && left <= few &&
	       delivered >= sroce_cwnd(qp) / SROCE_ACKS_PER_CWND;
}

/*
 * A repair was answered, or what it repaired has come late. After a silence it is
 * the former, and the shortest round trip so far may have been none: the first
 * answer of all is taken for one.
 */
static void answered(struct sroce_qp *qp, u64 ns, u64 now)
{
	struct sroce_rtt *rtt = &qp->req.rtt;

	if (!rtt->assume_lost && too_soon(rtt, ns)) {
		sroce_retrans_spurious(qp);
		return;
	}
	smooth(rtt, ns);
	if (rtt->assume_lost) {
		rtt->assume_lost--;
		return;
	}
	note_min(rtt, ns, now);
	sroce_retrans_took(qp, ns);
}

/**
 * sroce_cwnd_acked() - req.acked has moved
 * @qp: the QP
 */
void sroce_cwnd_acked(struct sroce_qp *qp)
{
	struct sroce_rtt *rtt = &qp->req.rtt;
	u32 acked = qp->req.acked, delivered;
	u64 now, ns;

	if (!rtt->sampling || sroce_psn_diff(acked, rtt->psn) <= 0)
		return;
	rtt->sampling = false;
	now = sroce_now();
	ns = max_t(u64, now - rtt->start, 1);
	if (rtt->retrans) {
		answered(qp, ns, now);
		return;
	}
	smooth(rtt, ns);
	note_min(rtt, ns, now);
	delivered = sroce_psn_diff(acked, rtt->acked);
	if (sroce_cwnd(qp) < SROCE_CWND_MIN)
		recover(qp, ns);
	else if (outran(qp, delivered))
		rtt->cwnd = min(2 * sroce_cwnd(qp), SROCE_CWND_MAX);
	else
		resize(rtt, delivered, ns);
}

/**
 * sroce_cwnd_probed() - a silence has lasted so long that something was lost
 * @qp: the QP
 */
void sroce_cwnd_probed(struct sroce_qp *qp)
{
	qp->req.rtt.assume_lost = LOSSES;
}

/**
 * sroce_cwnd_timeout() - nothing was heard for as long as the timeout
 * @qp: the QP
 *
 * Single losses are repaired long before. Either much is lost or the peer has become
 * slower: it must not have more to work through than it can in that time.
 */
void sroce_cwnd_timeout(struct sroce_qp *qp)
{
	qp->req.rtt.cwnd = max(sroce_cwnd(qp) / 2, SROCE_CWND_SLOW);
}

/**
 * sroce_cwnd_retransmitted() - the packet that the peer lacks is being sent again
 * @qp: the QP
 *
 * It has said so: what comes now is the answer to the new one.
 */
void sroce_cwnd_retransmitted(struct sroce_qp *qp)
{
	struct sroce_rtt *rtt = &qp->req.rtt;

	rtt->sampling = true;
	rtt->retrans = true;
	rtt->psn = qp->req.acked;
	rtt->acked = qp->req.acked;
	rtt->start = sroce_now();
}

/**
 * sroce_cwnd_read_retried() - responses that were asked for again have come
 * @qp: the QP
 * @ns: after this time
 */
void sroce_cwnd_read_retried(struct sroce_qp *qp, u64 ns)
{
	smooth(&qp->req.rtt, max_t(u64, ns, 1));
}

/**
 * sroce_cwnd_rto() - after which silence a packet is probably lost
 * @qp: the QP
 * @timeout: the acknowledge timeout, 0 for none
 *
 * Return: ns
 */
u64 sroce_cwnd_rto(const struct sroce_qp *qp, u64 timeout)
{
	const struct sroce_rtt *rtt = &qp->req.rtt;
	u64 ns = rtt->srtt ? rtt->srtt + max(4 * rtt->rttvar, rtt->srtt / 2) : FIRST_PATIENCE;

	if (timeout)
		ns = min(ns, timeout / 4);
	return clamp_t(u64, ns, LEAST_PATIENCE, MOST_PATIENCE);
}
