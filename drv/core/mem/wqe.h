/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Work requests fetched from rings, and their payload. */
#ifndef SROCE_CORE_MEM_WQE_H
#define SROCE_CORE_MEM_WQE_H

#include <linux/types.h>
#include "drv/core/mem/mr.h"

struct sroce_qp;
struct sroce_rq;
struct sroce_rwqe;
struct sroce_wqe;

int sroce_wqe_msg_of_wr(u8 svc, u32 opcode);
void sroce_wqe_check(struct sroce_qp *qp, struct sroce_wqe *wqe);
void sroce_wqe_doorbell(struct sroce_qp *qp);
bool sroce_wqe_fetch(struct sroce_qp *qp);
bool sroce_wqe_fetch_recv(struct sroce_rq *rq, struct sroce_rwqe *to);
int sroce_wqe_walk(struct sroce_qp *qp, const struct sroce_wqe *wqe, u32 off, u32 len,
		   sroce_span_fn fn, void *arg);
int sroce_wqe_gather(struct sroce_qp *qp, const struct sroce_wqe *wqe, u32 off, u8 *to,
		     u32 len);

#endif /* SROCE_CORE_MEM_WQE_H */
