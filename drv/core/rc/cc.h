/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Congestion control of a QP: what may be under way, and how fast it may leave. */
#ifndef SROCE_CORE_RC_CC_H
#define SROCE_CORE_RC_CC_H

#include <linux/math64.h>
#include "drv/core/qp.h"
#include "drv/core/rc/rtt.h"

/*
 * A window this large is not that of a short path, which is faster than we are: it is not
 * paced, and needs fewer ACKs.
 */
#define SROCE_CC_LARGE	1024U

/* A READ is split into requests of fewer responses only if the window is smaller, too. */
#define SROCE_CC_READ_MIN	4U

/**
 * sroce_cc_is_paced() - whether the window leaves in trains
 * @qp: the QP, RC
 */
static inline bool sroce_cc_is_paced(const struct sroce_qp *qp)
{
	return sroce_cwnd(&qp->req.cwnd) < SROCE_CC_LARGE ||
	       (qp->cc && sroce_rtt_is_long(qp));
}

/**
 * sroce_cc_unacked() - request packets that are not acknowledged
 * @qp: the QP, RC
 *
 * A READ request counts as one packet, however many PSNs its responses take. After going back
 * the requests from req.psn on do not count, as they will be sent again.
 */
static inline s32 sroce_cc_unacked(const struct sroce_qp *qp)
{
	const struct sroce_req *req = &qp->req;

	return sroce_psn_diff(req->psn, req->acked) - (s32)(req->read_psns - req->read_ahead);
}

/**
 * sroce_cc_in_flight() - request packets that may be in the network
 * @qp: the QP, RC
 *
 * A peer that keeps what follows a gap does not acknowledge it before the gap is filled.
 */
static inline s32 sroce_cc_in_flight(const struct sroce_qp *qp)
{
	const struct sroce_retrans *rp = &qp->req.retrans;
	s32 left = sroce_psn_diff(rp->left_psn, qp->req.acked);

	return sroce_cc_unacked(qp) - (left > 0 ? left - (s32)rp->left_read_psns : 0);
}

/**
 * sroce_cc_free() - request packets that may be sent now
 * @qp: the QP, RC
 */
static inline u32 sroce_cc_free(const struct sroce_qp *qp)
{
	u32 cwnd = sroce_cwnd(&qp->req.cwnd);
	s32 most = SROCE_CWND_MAX - sroce_cc_unacked(qp);
	u32 room = max(min((s32)cwnd - sroce_cc_in_flight(qp), most), 0);

	return sroce_cc_is_paced(qp) ? min(room, qp->req.quota) : room;
}

/**
 * sroce_cc_ack_interval() - packets from one that requests an ACK to the next
 * @qp: the QP, RC
 */
static inline u32 sroce_cc_ack_interval(const struct sroce_qp *qp)
{
	u32 cwnd = sroce_cwnd(&qp->req.cwnd);

	return sroce_cc_is_paced(qp) ? max(cwnd / sroce_rtt_trains(qp), 1U) : cwnd / 2;
}

/**
 * sroce_cc_pace() - how long after a train the next one is due
 * @qp: the QP, RC
 *
 * Return: a part of the round trip, in ns.
 */
static inline u64 sroce_cc_pace(const struct sroce_qp *qp)
{
	return div_u64(qp->req.rtt.srtt, sroce_rtt_trains(qp));
}

/**
 * sroce_cc_sent() - note that packets were sent
 * @qp: the QP, RC
 * @n: how many
 */
static inline void sroce_cc_sent(struct sroce_qp *qp, u32 n)
{
	qp->req.quota -= min(n, qp->req.quota);
}

/**
 * sroce_cc_read_part() - a part of a window of READ responses, as a request is for
 * @cwnd: the window
 * @n: which part of it: a quarter is 4
 */
static inline u32 sroce_cc_read_part(u32 cwnd, u32 n)
{
	return max(cwnd / n, min(cwnd, SROCE_CC_READ_MIN));
}

/**
 * sroce_cc_read_size() - responses to request at once
 * @qp: the QP, RC
 * @left: how many the READ has left
 *
 * Return: a quarter of the window; more if so many requests can't be outstanding. A large
 * window is requested at once, as each request costs trips; so is the rest of a READ if
 * nothing is under way, the window has room for it, and nothing was lost on this path yet.
 */
static inline u32 sroce_cc_read_size(const struct sroce_qp *qp, u32 left)
{
	u32 cwnd = sroce_cwnd(&qp->req.read_cwnd);
	u32 n = clamp_t(u32, qp->attr.max_rd_atomic, 1, 4);

	if (!qp->cc)
		return ~0U;
	if (!qp->req.reading && left <= cwnd && !qp->req.read_cwnd.ssthresh)
		return left;
	if (cwnd >= SROCE_CC_LARGE && n > 1)
		return cwnd;
	return sroce_cc_read_part(cwnd, n);
}

/**
 * sroce_cc_may_read() - whether responses may be requested now
 * @qp: the QP, RC
 * @n: how many
 */
static inline bool sroce_cc_may_read(const struct sroce_qp *qp, u32 n)
{
	u32 reading = qp->req.reading, cwnd = sroce_cwnd(&qp->req.read_cwnd);

	if (!qp->cc || !reading)
		return true;
	/* the window of a READ that is under way, and another one behind it */
	return reading + n <= (cwnd < SROCE_CC_LARGE ? cwnd : 2 * cwnd);
}

void sroce_cc_acked(struct sroce_qp *qp, s32 before);
void sroce_cc_start(struct sroce_qp *qp);
void sroce_cc_in_vain(struct sroce_qp *qp);
void sroce_cc_lost(struct sroce_qp *qp, u32 n);
void sroce_cc_read_received(struct sroce_qp *qp, u32 n);
bool sroce_cc_read_lost(struct sroce_qp *qp, u32 n, u32 apart);
void sroce_cc_read_marked(struct sroce_qp *qp);
void sroce_cc_timeout(struct sroce_qp *qp);
void sroce_cc_local_drop(struct sroce_qp *qp, bool response);
void sroce_cc_cnp(struct sroce_qp *qp);
void sroce_cc_wait(struct sroce_qp *qp);
void sroce_cc_go_on(struct sroce_qp *qp);

#endif /* SROCE_CORE_RC_CC_H */
