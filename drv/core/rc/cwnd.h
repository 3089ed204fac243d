/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The congestion window of a requester, and samples of the round trip. */
#ifndef SROCE_CORE_RC_CWND_H
#define SROCE_CORE_RC_CWND_H

#include "drv/core/qp.h"

/**
 * enum sroce_cwnd_sample - what a sample of the round trip says of a retransmission
 * @SROCE_CWND_NO_SAMPLE: nothing
 * @SROCE_CWND_SPURIOUS: the original packet arrived late; it was not lost
 * @SROCE_CWND_RETRANS: the peer answered the retransmission
 */
enum sroce_cwnd_sample {
	SROCE_CWND_NO_SAMPLE,
	SROCE_CWND_SPURIOUS,
	SROCE_CWND_RETRANS,
};

/**
 * sroce_in_flight() - request packets that are not acknowledged
 * @qp: the QP, RC
 *
 * A READ counts as one packet, however many PSNs its responses take.
 */
static inline s32 sroce_in_flight(const struct sroce_qp *qp)
{
	return sroce_psn_diff(qp->req.psn, qp->req.acked) -
	       (s32)qp->req.read_psns;
}

/**
 * sroce_cwnd() - the congestion window
 * @qp: the QP, RC
 *
 * Return: request packets that may be in flight.
 */
static inline u32 sroce_cwnd(const struct sroce_qp *qp)
{
	return qp->req.rtt.cwnd ?: SROCE_CWND_INIT;
}

/**
 * sroce_cwnd_free() - request packets that the window allows now
 * @qp: the QP, RC
 */
static inline u32 sroce_cwnd_free(const struct sroce_qp *qp)
{
	return max((s32)sroce_cwnd(qp) - sroce_in_flight(qp), 0);
}

u64 sroce_cwnd_ack_timeout(const struct sroce_qp *qp);
void sroce_cwnd_sent(struct sroce_qp *qp, u32 psn, bool asks);
void sroce_cwnd_heard(struct sroce_qp *qp);
enum sroce_cwnd_sample sroce_cwnd_acked(struct sroce_qp *qp, u64 *took);
void sroce_cwnd_probed(struct sroce_qp *qp);
void sroce_cwnd_timeout(struct sroce_qp *qp);
void sroce_cwnd_retransmitted(struct sroce_qp *qp);
void sroce_cwnd_read_retried(struct sroce_qp *qp, u64 ns);
u64 sroce_cwnd_rto(const struct sroce_qp *qp, u64 timeout);

#endif /* SROCE_CORE_RC_CWND_H */
