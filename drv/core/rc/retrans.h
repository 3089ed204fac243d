/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Retransmission of requests; its timers and probes. */
#ifndef SROCE_CORE_RC_RETRANS_H
#define SROCE_CORE_RC_RETRANS_H

#include <linux/types.h>

struct sroce_qp;

void sroce_retrans_gap(struct sroce_qp *qp);
void sroce_retrans_duplicate(struct sroce_qp *qp);
void sroce_retrans_implied_gap(struct sroce_qp *qp);
void sroce_retrans_acked(struct sroce_qp *qp, u32 n, bool gap);
void sroce_retrans_progress(struct sroce_qp *qp);
void sroce_retrans_alive(struct sroce_qp *qp);
void sroce_retrans_set_timer(struct sroce_qp *qp);
void sroce_retrans_timer(struct sroce_qp *qp);
void sroce_retrans_restart(struct sroce_qp *qp);
void sroce_retrans_rnr_timer(struct sroce_qp *qp);

#endif /* SROCE_CORE_RC_RETRANS_H */
