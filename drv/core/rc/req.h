/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requester: sends request packets. */
#ifndef SROCE_CORE_RC_REQ_H
#define SROCE_CORE_RC_REQ_H

#include <linux/types.h>

struct sroce_qp;

bool sroce_req_is_idle(const struct sroce_qp *qp);
bool sroce_req_is_done(const struct sroce_qp *qp);
bool sroce_req_run(struct sroce_qp *qp, u32 budget);
void sroce_req_faulted_in(struct sroce_qp *qp);

#endif /* SROCE_CORE_RC_REQ_H */
