/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Samples of a requester's round trip, and the timeouts that follow from them. */
#ifndef SROCE_CORE_RC_RTT_H
#define SROCE_CORE_RC_RTT_H

#include "drv/core/qp.h"

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

u64 sroce_rtt_ack_timeout(const struct sroce_qp *qp);
void sroce_rtt_sent(struct sroce_qp *qp, const struct sroce_pkt *pkt, bool again);
void sroce_rtt_heard(struct sroce_qp *qp);
enum sroce_rtt_sample sroce_rtt_acked(struct sroce_qp *qp, u64 *took);
bool sroce_rtt_too_soon(const struct sroce_qp *qp, u64 ns);
void sroce_rtt_probed(struct sroce_qp *qp);
void sroce_rtt_retransmitted(struct sroce_qp *qp);
void sroce_rtt_read_retried(struct sroce_qp *qp, u64 ns);
u64 sroce_rtt_rto(const struct sroce_qp *qp, u64 timeout);

#endif /* SROCE_CORE_RC_RTT_H */
