// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Congestion control of a QP: its windows, of requests and of READ responses, and the
 * pacing of what leaves.
 *
 * Trains of about a quarter of the window leave, each when an ACK has made room for it,
 * or, where none is expected, a quarter of a round trip after the last. Where round trips
 * are long, by the path or a queue, trains are more and smaller: see sroce_rtt_trains().
 */

#include "drv/core/env.h"
#include "drv/core/rc/cc.h"
#include "drv/core/rc/resp_rate.h"
#include "drv/core/rc/rtt.h"
#include "drv/core/trace.h"

/* The traffic class has ECN in its low bits (RFC 3168). */
#define ECN_MASK		3
/* Packets that may leave at once in any case */
#define QUOTA_MIN		SROCE_CWND_INIT
/* Window of which a quarter is the longest train that is common, in packets */
#define CWND_LONG_TRAINS	256U

/* @c: window of requests or of READ responses. @why: the counter. Returns @smaller. */
static bool count_smaller(struct sroce_qp *qp, const struct sroce_cwnd *c,
			  enum sroce_counter why, bool smaller)
{
	if (!smaller)
		return false;
	sroce_count(qp, why);
	trace_sroce_cwnd(qp, c);
	return true;
}

static bool count_decrease(struct sroce_qp *qp, const struct sroce_cwnd *c, bool decreased)
{
	return count_smaller(qp, c, SROCE_CNT_CWND_DECREASE, decreased);
}

/*
 * Heed losses, see sroce_cwnd_lost(). @c: the window that they are of. Returns whether it was
 * decreased.
 */
static bool heed_loss(struct sroce_qp *qp, struct sroce_cwnd *c, u32 n, u32 apart)
{
	bool decreased = sroce_cwnd_lost(c, n, apart, sroce_now());

	if (!decreased && sroce_cwnd_jitters(c))
		sroce_count(qp, SROCE_CNT_JITTER_LOSS);
	return count_decrease(qp, c, decreased);
}

/* The most that may leave at once */
static u32 quarter(const struct sroce_qp *qp)
{
	return max(sroce_cwnd(&qp->req.cwnd) / sroce_rtt_trains(qp), 1U);
}

/*
 * A peer that takes long, compared to the timeout, must not get more: what it does not
 * execute in time is sent again.
 */
static bool is_slow(const struct sroce_qp *qp, const struct sroce_cwnd *c)
{
	u64 timeout = sroce_rtt_ack_timeout(qp);

	return timeout && c->rtt > timeout;
}

/* Two trains of a short path are due, but no CPU had time to send one, while ACKs have come. */
static bool is_overdue(const struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;

	return req->pace_at && !req->rtt.trains &&
	       sroce_now() >= req->pace_at + sroce_cc_pace(qp);
}

/*
 * Whether the pacing alone keeps the window from being used: ACKs come before the next train
 * leaves, and let no more leave than they acknowledge. That is so where both ends share a CPU,
 * for which longer trains are less work.
 */
static bool is_held_by_pacing(const struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;

	return !req->quota && !req->cwnd.ssthresh && req->next_idx != qp->sq.prod &&
	       sroce_cwnd(&req->cwnd) < CWND_LONG_TRAINS &&
	       (sroce_cc_unacked(qp) <= 0 || is_overdue(qp));
}

/* All of a kind was answered. A window of a new path needs no clock. */
static void note_idle(struct sroce_req *req, const struct sroce_cwnd *c)
{
	if (sroce_cwnd(c) > SROCE_CWND_INIT)
		req->idle_since = sroce_now();
}

/**
 * sroce_cc_acked() - update the window and the pacing after req.acked has moved
 * @qp: the QP, RC, locked
 * @before: sroce_cc_in_flight() before
 *
 * The window grows only if it was in use, or the pacing has kept it from that.
 */
void sroce_cc_acked(struct sroce_qp *qp, s32 before)
{
	struct sroce_req *req = &qp->req;
	u32 cwnd = sroce_cwnd(&req->cwnd), n;
	s32 left = max(sroce_cc_in_flight(qp), 0);

	n = max(before - left, 0);
	if (!is_slow(qp, &req->cwnd) &&
	    (before >= (s32)(cwnd - cwnd / 4) || is_held_by_pacing(qp)))
		sroce_cwnd_acked(&req->cwnd, n, sroce_now());
	/* the window's growth may leave, too */
	n += sroce_cwnd(&req->cwnd) - min(cwnd, sroce_cwnd(&req->cwnd));
	if (req->rtt.trains)
		n = min(n, quarter(qp));
	req->quota = min(req->quota + n, n + quarter(qp));
	if (!left) {
		n = min(n + quarter(qp), sroce_cwnd(&req->cwnd));
		req->quota = max3(req->quota, n, QUOTA_MIN);
		note_idle(req, &req->cwnd);
		/* CUBIC's clock stands still while there is nothing to send */
		if (req->next_idx == qp->sq.prod)
			req->cwnd.epoch = 0;
	}
}

/* A window was of no use. */
static bool count_unused(struct sroce_qp *qp, const struct sroce_cwnd *c, bool smaller)
{
	return count_smaller(qp, c, SROCE_CNT_CWND_IDLE, smaller);
}

/**
 * sroce_cc_start() - look at the windows before the first request after a pause
 * @qp: the QP, RC, locked; nothing is under way
 */
void sroce_cc_start(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	u64 ns;

	if (!qp->cc || !req->idle_since)
		return;
	ns = sroce_now() - req->idle_since;
	req->idle_since = 0;
	if (count_unused(qp, &req->cwnd, sroce_cwnd_idle(&req->cwnd, ns)))
		req->quota = min(req->quota, sroce_cwnd(&req->cwnd));
	count_unused(qp, &req->read_cwnd, sroce_cwnd_idle(&req->read_cwnd, ns));
}

/**
 * sroce_cc_in_vain() - make the window smaller, as little of what was sent is acknowledged
 * @qp: the QP, RC, locked
 *
 * A peer could have all of it sent again for each packet that it takes.
 */
void sroce_cc_in_vain(struct sroce_qp *qp)
{
	struct sroce_cwnd *c = &qp->req.cwnd;

	count_unused(qp, c, sroce_cwnd_in_vain(c, max(sroce_cc_unacked(qp), 0)));
}

/**
 * sroce_cc_lost() - note that request packets were lost
 * @qp: the QP, RC, locked
 * @n: how many
 *
 * Where round trips are long, the gaps of a window are reported over many of them: there is
 * one decrease for all. Where they are short, a queue that has overflowed may be shared by
 * many, and one decrease may not be enough.
 */
void sroce_cc_lost(struct sroce_qp *qp, u32 n)
{
	struct sroce_retrans *rp = &qp->req.retrans;
	bool drops = rp->gap_policy == SROCE_GAP_DROPS;
	bool once = sroce_rtt_is_long(qp) || sroce_cwnd_is_slow(&qp->req.cwnd);

	if (!qp->cc || sroce_psn_diff(qp->req.acked, rp->cut_psn) < 0)
		return;
	if (!heed_loss(qp, &qp->req.cwnd, n, drops ? 0 : rp->gap_dist))
		return;
	rp->cut_psn = once ? qp->req.max_psn : qp->req.acked;
	rp->gaps = 0;
}

/**
 * sroce_cc_read_received() - update the window of READ responses after some have come
 * @qp: the QP, RC, locked
 * @n: how many
 *
 * The window grows only if it was in use.
 */
void sroce_cc_read_received(struct sroce_qp *qp, u32 n)
{
	struct sroce_req *req = &qp->req;
	struct sroce_cwnd *c = &req->read_cwnd;
	u32 cwnd = sroce_cwnd(c);
	bool full = req->reading + sroce_cc_read_part(cwnd, 4) > cwnd;

	req->reading -= min(n, req->reading);
	if (!qp->cc)
		return;
	if (full && !is_slow(qp, c))
		sroce_cwnd_acked(c, n, sroce_now());
	if (req->reading)
		return;
	/* CUBIC's clock stands still while nothing is read */
	c->epoch = 0;
	note_idle(req, c);
}

/**
 * sroce_cc_read_lost() - note that READ responses were lost
 * @qp: the QP, RC, locked
 * @n: how many
 * @apart: mean distance of losses, in packets
 *
 * Return: whether the window was decreased.
 */
bool sroce_cc_read_lost(struct sroce_qp *qp, u32 n, u32 apart)
{
	return qp->cc && heed_loss(qp, &qp->req.read_cwnd, n, apart);
}

/**
 * sroce_cc_read_marked() - note that a READ response was marked
 * @qp: the QP, RC, locked
 */
void sroce_cc_read_marked(struct sroce_qp *qp)
{
	if (qp->cc)
		count_decrease(qp, &qp->req.read_cwnd,
			       sroce_cwnd_cnp(&qp->req.read_cwnd, sroce_now()));
}

/**
 * sroce_cc_timeout() - note that the ACK timer has expired
 * @qp: the QP, RC, locked
 */
void sroce_cc_timeout(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;
	struct sroce_cwnd *c = req->una == req->acked ? &req->cwnd : &req->read_cwnd;

	sroce_cwnd_timeout(c, sroce_now());
	count_decrease(qp, c, true);
}

/**
 * sroce_cc_local_drop() - note that a queue of this host has dropped packets
 * @qp: the QP, RC, locked
 * @response: they were responses; ACKs are too few to matter
 */
void sroce_cc_local_drop(struct sroce_qp *qp, bool response)
{
	if (!qp->cc)
		return;
	if (!response)
		count_decrease(qp, &qp->req.cwnd,
			       sroce_cwnd_local_drop(&qp->req.cwnd, sroce_now()));
	else if (sroce_resp_rate_active(qp))
		count_decrease(qp, &qp->resp.rate.cwnd, sroce_resp_rate_decrease(qp));
}

/* The last request was acknowledged less than a round trip ago; not of a small window */
static bool was_sending(const struct sroce_req *req)
{
	return req->idle_since && sroce_now() - req->idle_since <= req->rtt.srtt;
}

/**
 * sroce_cc_cnp() - heed a CNP, which is for requests or READ responses that are under way
 * @qp: the QP, locked
 *
 * Otherwise an ACK was marked, and no window is to blame; or it is forged: nobody marks what is not
 * ECT.
 */
void sroce_cc_cnp(struct sroce_qp *qp)
{
	struct sroce_cwnd *c = &qp->req.cwnd;
	bool responding, sending;

	/* it does not say which packets were marked */
	responding = sroce_is_rc(qp) && sroce_resp_rate_active(qp);
	sending = sroce_cc_in_flight(qp) > 0 || (!responding && was_sending(&qp->req));
	if (!qp->cc || !sroce_is_rc(qp) || !(qp->av.tclass & ECN_MASK) ||
	    (!responding && !sending)) {
		sroce_count(qp, SROCE_CNT_CNP_IGNORED);
		return;
	}
	sroce_count(qp, SROCE_CNT_CNP_RCVD);
	if (responding)
		count_decrease(qp, &qp->resp.rate.cwnd, sroce_resp_rate_decrease(qp));
	if (sending)
		count_decrease(qp, c, sroce_cwnd_cnp(c, sroce_now()));
}

/**
 * sroce_cc_wait() - see to it that sending goes on if the pacing has stopped it
 * @qp: the QP, RC, locked; it has more to send
 */
void sroce_cc_wait(struct sroce_qp *qp)
{
	struct sroce_req *req = &qp->req;

	if (req->quota || req->pace_at || !sroce_cc_is_paced(qp) ||
	    sroce_cc_in_flight(qp) >= (s32)sroce_cwnd(&req->cwnd))
		return;
	req->pace_at = sroce_now() + sroce_cc_pace(qp) + 1;
	sroce_count(qp, SROCE_CNT_PACED);
}

/**
 * sroce_cc_go_on() - send another train, as its time has come
 * @qp: the QP, RC, locked
 */
void sroce_cc_go_on(struct sroce_qp *qp)
{
	qp->req.pace_at = 0;
	qp->req.quota = max(qp->req.quota, quarter(qp));
}
