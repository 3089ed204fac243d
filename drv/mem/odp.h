/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* On-demand paging (ODP). What the protocol calls is declared in drv/core/env.h. */
#ifndef SROCE_MEM_ODP_H
#define SROCE_MEM_ODP_H

#include <linux/types.h>
#include "drv/mem/faultq.h"

struct mm_struct;
struct sroce_dev;
struct sroce_odp;

/**
 * enum sroce_fault - access that pages are faulted in for
 * @SROCE_FAULT_READ: reads
 * @SROCE_FAULT_WRITE: reads and writes
 * @SROCE_FAULT_PRESENT: reads, of pages that are present in the process; skip others
 */
enum sroce_fault { SROCE_FAULT_READ, SROCE_FAULT_WRITE, SROCE_FAULT_PRESENT };

/**
 * struct sroce_odp_stat - paging statistics of an ODP region
 * @faults: number of pages faulted in by accesses
 * @prefetched: number of pages faulted in by advice
 * @gone: number of pages invalidated
 */
struct sroce_odp_stat {
	u64	faults;
	u64	prefetched;
	u64	gone;
};

struct sroce_odp *sroce_odp_new(struct sroce_dev *dev, u64 start, u64 length, u64 iova);
void sroce_odp_free(struct sroce_odp *odp);
void sroce_odp_get(struct sroce_odp *odp);
void sroce_odp_put(struct sroce_odp *odp);
struct sroce_faultq *sroce_odp_faultq(struct sroce_odp *odp, enum sroce_fault_use use);
struct mm_struct *sroce_odp_mm(const struct sroce_odp *odp, u64 iova, u64 *va);
void sroce_odp_stat(const struct sroce_odp *odp, struct sroce_odp_stat *stat);
int sroce_odp_fault_in(struct sroce_odp *odp, u64 *iova, u32 len, enum sroce_fault how,
		       u32 *budget);

#endif /* SROCE_MEM_ODP_H */
