/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Address handles. */
#ifndef SROCE_VERBS_AH_H
#define SROCE_VERBS_AH_H

#include <rdma/ib_verbs.h>
#include "drv/core/qp.h"

struct rdma_ah_init_attr;

/**
 * struct sroce_ah - the address behind an address handle
 * @ref: references: the handle, and each work request that uses it
 * @pd: PD of the handle
 * @num: number of the handle
 * @attr: attributes as they were set, for query
 * @av: address vector of the packets
 * @rcu: frees this after the last lookup
 */
struct sroce_ah {
	refcount_t		ref;
	struct ib_pd		*pd;
	u32			num;
	struct rdma_ah_attr	attr;
	struct sroce_av		av;
	struct rcu_head		rcu;
};

/**
 * struct sroce_ibah - an address handle
 * @ibah: the core's part
 * @ah: the current address; sroce_ah_modify() replaces it
 */
struct sroce_ibah {
	struct ib_ah		ibah;
	struct sroce_ah		*ah;
};

static inline struct sroce_ibah *to_sibah(struct ib_ah *ibah)
{
	return container_of(ibah, struct sroce_ibah, ibah);
}

int sroce_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata);
int sroce_ah_modify(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int sroce_ah_query(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int sroce_ah_destroy(struct ib_ah *ibah, u32 flags);

#endif /* SROCE_VERBS_AH_H */
