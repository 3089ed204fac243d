// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The congestion window of a requester: twice the product of the rate of the ACKs
 * and the shortest round trip. A loss does not shrink it, as the loss may be random;
 * a queue that grows shows in the samples of the round trip.
 */

#include <linux/math64.h>
#include <linux/time64.h>
#include "drv/core/env.h"
#include "drv/core/rc/cwnd.h"

/* How long the shortest round trip is remembered, in ns */
#define MIN_RTT_LIFETIME	(10ULL * NSEC_PER_SEC)
/* Samples after a probe in which a fast answer to a retransmission is not spurious */
#define ASSUME_LOST_SAMPLES	8
/* Bounds of the retransmission timeout, in ns, and its value before the first sample */
#define RTO_INIT	(10ULL * NSEC_PER_MSEC)
#define RTO_MIN		(200ULL * NSEC_PER_USEC)
#define RTO_MAX		(500ULL * NSEC_PER_MSEC)

/**
 * sroce_cwnd_ack_timeout() - the interval of the ACK timer (9.7.6.1.3)
 * @qp: the QP, RC
 *
 * Return: ns, or 0 for no limit.
 */
u64 sroce_cwnd_ack_timeout(const struct sroce_qp *qp)
{
	return qp->attr.timeout ? 4096ULL << qp->attr.timeout : 0;
}

/**
 * sroce_cwnd_sent() - note that a new packet was sent, and perhaps start a sample
 * @qp: the QP, RC
 * @psn: PSN of the packet
 * @asks: the peer answers the packet at once
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
 * sroce_cwnd_heard() - note that the peer has answered something
 * @qp: the QP, RC
 *
 * Until there is a sample, the first answer of all is taken as the shortest round
 * trip. On a path that loses many packets there may never be another sample.
 */
void sroce_cwnd_heard(struct sroce_qp *qp)
{
	struct sroce_rtt *rtt = &qp->req.rtt;

	if (rtt->first && !rtt->min_rtt) {
		rtt->min_rtt_at = sroce_now();
		rtt->min_rtt = max_t(u64, rtt->min_rtt_at - rtt->first, 1);
	}
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

static void update_min_rtt(struct sroce_rtt *rtt, u64 ns, u64 now)
{
	if (rtt->min_rtt && rtt->min_rtt <= ns && now - rtt->min_rtt_at < MIN_RTT_LIFETIME)
		return;
	rtt->min_rtt = ns;
	rtt->min_rtt_at = now;
}

/* The answer is to the original packet: it took less than a round trip since. */
static bool is_too_soon(const struct sroce_rtt *rtt, u64 ns)
{
	return ns < rtt->min_rtt - rtt->min_rtt / 4;
}

/*
 * Without queues @delivered packets would have been acknowledged in the shortest round
 * trip instead of @ns. The window grows at once and shrinks slowly, since one late ACK
 * says little.
 */
static void resize_cwnd(struct sroce_rtt *rtt, u32 delivered, u64 ns)
{
	u64 want = div64_u64(2 * (u64)delivered * rtt->min_rtt, ns);
	u32 floor = max(rtt->cwnd - rtt->cwnd / 8, SROCE_CWND_MIN);

	rtt->cwnd = clamp_t(u64, want, floor, SROCE_CWND_MAX);
}

/*
 * The peer is new, or was too slow. Its window grows as long as the peer answers well
 * before the timeout.
 */
static void grow_small_cwnd(struct sroce_qp *qp, u64 ns)
{
	u64 timeout = sroce_cwnd_ack_timeout(qp);

	if (!timeout || ns < timeout / 8)
		qp->req.rtt.cwnd = min(2 * sroce_cwnd(qp), SROCE_CWND_MIN);
}

/*
 * The sender is slower than the path: the answer came before more than a budget of
 * packets was sent after the sampled one, or, within a message, a quarter of the window.
 * A larger window then asks for fewer ACKs.
 */
static bool sender_limited(const struct sroce_qp *qp, u32 delivered)
{
	bool sending = qp->req.next_idx != qp->sq.prod;
	s32 few = sending ? sroce_cwnd(qp) / 4 : SROCE_TX_BUDGET;
	s32 left = sroce_in_flight(qp);

	return left >= 0 && left <= few &&
	       delivered >= sroce_cwnd(qp) / SROCE_ACKS_PER_CWND;
}

/*
 * Either the retransmission was answered or the original packet arrived late. After a
 * probe the former is assumed, and min_rtt is left alone: it may stem from the first
 * answer of all, which need not have been a round trip (see sroce_cwnd_heard()).
 */
static enum sroce_cwnd_sample retrans_answered(struct sroce_rtt *rtt, u64 ns, u64 now)
{
	if (!rtt->assume_lost && is_too_soon(rtt, ns))
		return SROCE_CWND_SPURIOUS;
	update_srtt(rtt, ns);
	if (rtt->assume_lost) {
		rtt->assume_lost--;
		return SROCE_CWND_NO_SAMPLE;
	}
	update_min_rtt(rtt, ns, now);
	return SROCE_CWND_RETRANS;
}

/**
 * sroce_cwnd_acked() - end the sample of the round trip, if req.acked has passed it
 * @qp: the QP, RC
 * @took: set to the time from a retransmission to its answer, in ns, unless the
 *	return value is SROCE_CWND_NO_SAMPLE
 *
 * Return: what the sample says of a retransmission.
 */
enum sroce_cwnd_sample sroce_cwnd_acked(struct sroce_qp *qp, u64 *took)
{
	struct sroce_rtt *rtt = &qp->req.rtt;
	u32 acked = qp->req.acked, delivered;
	u64 now, ns;

	if (!rtt->sampling || sroce_psn_diff(acked, rtt->psn) <= 0)
		return SROCE_CWND_NO_SAMPLE;
	rtt->sampling = false;
	now = sroce_now();
	ns = max_t(u64, now - rtt->start, 1);
	if (rtt->retrans) {
		*took = ns;
		return retrans_answered(rtt, ns, now);
	}
	update_srtt(rtt, ns);
	update_min_rtt(rtt, ns, now);
	delivered = sroce_psn_diff(acked, rtt->acked);
	if (sroce_cwnd(qp) < SROCE_CWND_MIN)
		grow_small_cwnd(qp, ns);
	else if (sender_limited(qp, delivered))
		rtt->cwnd = min(2 * sroce_cwnd(qp), SROCE_CWND_MAX);
	else
		resize_cwnd(rtt, delivered, ns);
	return SROCE_CWND_NO_SAMPLE;
}

/**
 * sroce_cwnd_probed() - note that a probe is sent, since something was probably lost
 * @qp: the QP, RC
 */
void sroce_cwnd_probed(struct sroce_qp *qp)
{
	qp->req.rtt.assume_lost = ASSUME_LOST_SAMPLES;
}

/**
 * sroce_cwnd_timeout() - halve the window, as the ACK timer has expired
 * @qp: the QP, RC
 *
 * Single losses are retransmitted long before. Either many packets are lost or the peer
 * has become slower: it must not get more than it can execute within the timeout.
 */
void sroce_cwnd_timeout(struct sroce_qp *qp)
{
	qp->req.rtt.cwnd = max(sroce_cwnd(qp) / 2, SROCE_CWND_SLOW);
}

/**
 * sroce_cwnd_retransmitted() - start a sample with the retransmission of req.acked
 * @qp: the QP, RC
 *
 * The peer has reported that the packet is missing, so its next answer is to the
 * retransmission.
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
 * sroce_cwnd_read_retried() - take a sample from responses that were requested again
 * @qp: the QP, RC
 * @ns: time from the request to the first response, in ns
 */
void sroce_cwnd_read_retried(struct sroce_qp *qp, u64 ns)
{
	update_srtt(&qp->req.rtt, max_t(u64, ns, 1));
}

/**
 * sroce_cwnd_rto() - the retransmission timeout: when to send the first probe
 * @qp: the QP, RC
 * @timeout: interval of the ACK timer in ns, 0 for none
 *
 * Return: ns.
 */
u64 sroce_cwnd_rto(const struct sroce_qp *qp, u64 timeout)
{
	const struct sroce_rtt *rtt = &qp->req.rtt;
	u64 ns = rtt->srtt ? rtt->srtt + max(4 * rtt->rttvar, rtt->srtt / 2) : RTO_INIT;

	if (timeout)
		ns = min(ns, timeout / 4);
	return clamp_t(u64, ns, RTO_MIN, RTO_MAX);
}
