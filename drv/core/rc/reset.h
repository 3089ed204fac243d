/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reset of a QP, its send queue or its requester. */
#ifndef SROCE_CORE_RC_RESET_H
#define SROCE_CORE_RC_RESET_H

#include <linux/types.h>

struct sroce_qp;

void sroce_reset_sq(struct sroce_qp *qp);
void sroce_reset_qp(struct sroce_qp *qp);
void sroce_reset_req_psn(struct sroce_qp *qp, u32 psn);
void sroce_reset_path(struct sroce_qp *qp);
void sroce_reset_req(struct sroce_qp *qp);

#endif /* SROCE_CORE_RC_RESET_H */
