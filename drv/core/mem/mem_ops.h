/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Work requests that bind, register and invalidate. */
#ifndef SROCE_CORE_MEM_MEM_OPS_H
#define SROCE_CORE_MEM_MEM_OPS_H

#include <rdma/ib_verbs.h>

struct sroce_qp;
struct sroce_wqe;

int sroce_mem_ops_invalidate(struct sroce_qp *qp, u32 key, bool remote);
enum ib_wc_status sroce_mem_ops_run(struct sroce_qp *qp, const struct sroce_wqe *wqe);

#endif /* SROCE_CORE_MEM_MEM_OPS_H */
