/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The window of request packets, and samples of the round trip. */
#ifndef SROCE_CORE_RC_CWND_H
#define SROCE_CORE_RC_CWND_H

#include "drv/core/qp.h"

/* What a sample of the round trip says of a retransmission */
enum sroce_cwnd_sample {
	SROCE_CWND_NO_SAMPLE,	/* nothing */
	SROCE_CWND_SPURIOUS,	/* the original packet has come, late */
	SROCE_CWND_RETRANS,	/* it was answered */
};

/* Request packets on their way, not counting the responses of READs */
static inline s32 sroce_in_flight(const struct sroce_qp *qp)
{
	return sroce_psn_diff(qp->req.psn, qp->req.acked) -
	       (s32)qp->req.read_psns;
}

/* Request packets that may be under way */
static inline u32 sroce_cwnd(const struct sroce_qp *qp)
{
	return qp->req.rtt.cwnd ?: SROCE_CWND_INIT;
}

/* Request packets that may be sent before the peer answers */
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
