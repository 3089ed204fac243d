/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The verbs on queue pairs. */
#ifndef SROCE_VERBS_QP_H
#define SROCE_VERBS_QP_H

#include <rdma/ib_verbs.h>

int sroce_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata);
int sroce_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int sroce_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);
int sroce_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata);

#endif /* SROCE_VERBS_QP_H */
