/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* QPs by number. */
#ifndef SROCE_LOOKUP_QP_TBL_H
#define SROCE_LOOKUP_QP_TBL_H

#include "drv/lookup/kqp.h"

struct sroce_snet;

int sroce_qp_tbl_add(struct sroce_qp *qp);
void sroce_qp_tbl_del(struct sroce_qp *qp);
struct sroce_kqp *sroce_qp_tbl_peek(u32 qpn);
struct sroce_kqp *sroce_qp_tbl_get(struct sroce_kqp *kqp, const struct sroce_snet *sn);
void sroce_qp_tbl_put(struct sroce_kqp *kqp);
void sroce_qp_tbl_wait(struct sroce_kqp *kqp);

#endif /* SROCE_LOOKUP_QP_TBL_H */
