/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The rate of READ responses, which CNPs limit. */
#ifndef SROCE_CORE_RC_RESP_RATE_H
#define SROCE_CORE_RC_RESP_RATE_H

#include "drv/core/qp.h"

bool sroce_resp_rate_active(const struct sroce_qp *qp);
bool sroce_resp_rate_decrease(struct sroce_qp *qp);
u32 sroce_resp_rate_free(struct sroce_qp *qp, u32 most);
void sroce_resp_rate_sent(struct sroce_qp *qp, u32 n);
void sroce_resp_rate_wait(struct sroce_qp *qp);
void sroce_resp_rate_timer(struct sroce_qp *qp, u64 now);

#endif /* SROCE_CORE_RC_RESP_RATE_H */
