/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory windows. */
#ifndef SROCE_MEM_MW_H
#define SROCE_MEM_MW_H

#include <rdma/ib_verbs.h>

struct sroce_mr;
struct sroce_qp;

/**
 * struct sroce_ibmw - a memory window as the RDMA core allocates it
 * @ibmw: the RDMA core's part
 * @mw: the window; freed after an RCU grace period, unlike @ibmw
 */
struct sroce_ibmw {
	struct ib_mw		ibmw;
	struct sroce_mr		*mw;
};

static inline struct sroce_ibmw *to_sibmw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct sroce_ibmw, ibmw);
}

int sroce_mw_alloc(struct ib_mw *ibmw, struct ib_udata *udata);
int sroce_mw_dealloc(struct ib_mw *ibmw);
void sroce_mw_unbind_qp(const struct sroce_qp *qp);

#endif /* SROCE_MEM_MW_H */
