/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Registration of memory, and lookup by key. */
#ifndef SROCE_MEM_REGION_H
#define SROCE_MEM_REGION_H

#include <rdma/ib_verbs.h>
#include "drv/compat/compat.h"
#include "drv/core/mem/mr.h"

struct ib_udata;
struct scatterlist;
struct sroce_dev;

struct sroce_mr *sroce_region_alloc(struct ib_pd *ibpd, enum sroce_mr_kind kind,
				    int access);
void sroce_region_free(struct sroce_mr *mr);
int sroce_region_publish(struct sroce_mr *mr);
void sroce_region_unpublish(struct sroce_mr *mr);
void sroce_region_retire(struct sroce_mr *mr);
struct ib_mr *sroce_region_reg_user(struct ib_pd *ibpd, u64 start, u64 length, u64 iova,
				    int access, SROCE_REG_DMAH_ARG
				    struct ib_udata *udata);
struct ib_mr *sroce_region_rereg_user(struct ib_mr *ibmr, int flags, u64 start,
				      u64 length, u64 iova, int access,
				      struct ib_pd *ibpd, struct ib_udata *udata);
struct ib_mr *sroce_region_get_dma(struct ib_pd *ibpd, int access);
struct ib_mr *sroce_region_alloc_fast(struct ib_pd *ibpd, enum ib_mr_type type,
				      u32 max_pages);
int sroce_region_map_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
			unsigned int *sg_offset);
int sroce_region_dereg(struct ib_mr *ibmr, struct ib_udata *udata);
bool sroce_region_get(struct sroce_mr *mr);
struct sroce_mr *sroce_region_find(struct sroce_dev *dev, u32 key);

#endif /* SROCE_MEM_REGION_H */
