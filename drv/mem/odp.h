/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Pages on demand. */
#ifndef SROCE_MEM_ODP_H
#define SROCE_MEM_ODP_H

#include <linux/types.h>

struct mm_struct;
struct sroce_dev;
struct sroce_odp;

/* What pages are brought for; or those that the process has, and no others */
enum sroce_fault { SROCE_FAULT_READ, SROCE_FAULT_WRITE, SROCE_FAULT_PRESENT };

/**
 * struct sroce_odp_stat - what has happened to the pages of a region on demand
 * @faults: brought since they were needed
 * @prefetched: brought before that
 * @gone: taken away
 */
struct sroce_odp_stat {
	u64	faults;
	u64	prefetched;
	u64	gone;
};

struct sroce_odp *sroce_odp_new(struct sroce_dev *dev, u64 start, u64 length, u64 iova);
void sroce_odp_free(struct sroce_odp *odp);
struct mm_struct *sroce_odp_mm(const struct sroce_odp *odp, u64 iova, u64 *va);
void sroce_odp_stat(const struct sroce_odp *odp, struct sroce_odp_stat *stat);
int sroce_odp_fault_in(struct sroce_odp *odp, u64 *iova, u32 len, enum sroce_fault how,
		       bool ahead);

#endif /* SROCE_MEM_ODP_H */
