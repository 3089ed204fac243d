/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Samples of a requester's round trip, and the timeouts that follow from them. */
#ifndef SROCE_CORE_RC_RTT_H
#define SROCE_CORE_RC_RTT_H

#include <linux/time64.h>
#include "drv/core/qp.h"

/* Least and most time for which an ACK is held for an answer, in ns: see rc/answer.c */
#define SROCE_RTT_HOLD_MIN	(400ULL * NSEC_PER_USEC)
#define SROCE_RTT_HOLD_MAX	(700ULL * NSEC_PER_USEC)

/* Trains in which a window leaves: fewest of them, and most on a long path */
#define SROCE_RTT_TRAINS_MIN	4U
#define SROCE_RTT_TRAINS_MAX	256U

/**
 * enum sroce_rtt_sample - what a sample of the round trip says of a retransmission
 * @SROCE_RTT_NONE: nothing
 * @SROCE_RTT_SPURIOUS: the original packet arrived late; it was not lost
 * @SROCE_RTT_RETRANS: the peer answered the retransmission
 */
enum sroce_rtt_sample {
	SROCE_RTT_NONE,
	SROCE_RTT_SPURIOUS,
	SROCE_RTT_RETRANS,
};

/**
 * sroce_rtt_trains() - trains in which a window leaves
 * @qp: the QP, RC
 *
 * Return: four, and more where the round trip is long: a quarter of the window is more than
 * a queue may take at once.
 */
static inline u32 sroce_rtt_trains(const struct sroce_qp *qp)
{
	return max(qp->req.rtt.trains, SROCE_RTT_TRAINS_MIN);
}

/**
 * sroce_rtt_is_long() - whether the path is long, without a queue
 * @qp: the QP, RC
 *
 * A window is that of the path then, however large, and what is reported once in a round
 * trip is reported late.
 */
static inline bool sroce_rtt_is_long(const struct sroce_qp *qp)
{
	return qp->req.rtt.is_long;
}

u64 sroce_rtt_ack_timeout(const struct sroce_qp *qp);
bool sroce_rtt_may_hold(const struct sroce_qp *qp);
bool sroce_rtt_may_be_held(const struct sroce_qp *qp);
void sroce_rtt_sent(struct sroce_qp *qp, const struct sroce_pkt *pkt, bool again);
void sroce_rtt_heard(struct sroce_qp *qp);
enum sroce_rtt_sample sroce_rtt_acked(struct sroce_qp *qp, u64 *took);
u64 sroce_rtt_min(const struct sroce_qp *qp);
bool sroce_rtt_too_soon(const struct sroce_qp *qp, u64 ns);
void sroce_rtt_probed(struct sroce_qp *qp);
void sroce_rtt_retransmitted(struct sroce_qp *qp);
void sroce_rtt_read_retried(struct sroce_qp *qp, u64 ns);
u64 sroce_rtt_rto(const struct sroce_qp *qp, u64 timeout);

#endif /* SROCE_CORE_RC_RTT_H */
