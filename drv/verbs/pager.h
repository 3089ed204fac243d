/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Faults in pages of on-demand regions for QPs. */
#ifndef SROCE_VERBS_PAGER_H
#define SROCE_VERBS_PAGER_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

struct sroce_qp;

int sroce_pager_attach(struct sroce_qp *qp);
void sroce_pager_detach(struct sroce_qp *qp);
void sroce_pager_reset(struct sroce_qp *qp);
int sroce_pager_advise(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		       u32 flags, struct ib_sge *sge, u32 n,
		       struct uverbs_attr_bundle *attrs);

#endif /* SROCE_VERBS_PAGER_H */
