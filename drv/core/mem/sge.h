/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Scatter/gather lists. */
#ifndef SROCE_CORE_MEM_SGE_H
#define SROCE_CORE_MEM_SGE_H

#include "drv/core/mem/mr.h"

struct ib_sge;
struct sroce_qp;

int sroce_sge_walk(struct sroce_qp *qp, const struct ib_sge *sge, u32 num, u32 off,
		   u32 len, int access, sroce_span_fn fn, void *arg);
int sroce_sge_fault_in(struct sroce_qp *qp, const struct ib_sge *sge, u32 num, u32 off,
		       u32 need, u32 len, int access);
int sroce_sge_scatter(struct sroce_qp *qp, const struct ib_sge *sge, u32 num, u32 off,
		      u32 len, sroce_span_fn fn, void *arg);
void *sroce_sge_flat(struct sroce_qp *qp, const struct ib_sge *sge, u32 num, u32 off, u32 len);
void *sroce_sge_recv_flat(struct sroce_qp *qp, u32 off, u32 len);
int sroce_sge_recv(struct sroce_qp *qp, u32 off, u32 len, sroce_span_fn fn, void *arg);
int sroce_sge_recv_fault_in(struct sroce_qp *qp, u32 off, u32 need, u32 len);

#endif /* SROCE_CORE_MEM_SGE_H */
