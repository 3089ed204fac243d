/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ACKs that leave with the answer to a request. */
#ifndef SROCE_CORE_RC_ANSWER_H
#define SROCE_CORE_RC_ANSWER_H

#include "drv/core/qp.h"

void sroce_answer_next(struct sroce_qp *qp);
void sroce_answer_wait(struct sroce_qp *qp, const struct sroce_pkt *pkt);
void sroce_answer_acked(struct sroce_qp *qp, const struct sroce_pkt *pkt);
bool sroce_answer_sent(struct sroce_qp *qp, bool fits);
void sroce_answer_joined(struct sroce_qp *qp, bool joined);
void sroce_answer_go_on(struct sroce_qp *qp);
void sroce_answer_timer(struct sroce_qp *qp, u64 now);
void sroce_answer_end(struct sroce_qp *qp);

/**
 * sroce_answer_may_end() - whether sroce_answer_end() has something to do
 * @qp: the QP, which need not be locked
 *
 * What is not seen here has come at the same time as the caller.
 */
static inline bool sroce_answer_may_end(const struct sroce_qp *qp)
{
	return READ_ONCE(qp->resp.answer.streak);
}

#endif /* SROCE_CORE_RC_ANSWER_H */
