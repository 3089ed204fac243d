/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Driver attributes of `rdma resource` and `rdma statistic`. */
#ifndef SROCE_DEV_RES_H
#define SROCE_DEV_RES_H

#include <rdma/ib_verbs.h>

struct ib_cq;
struct ib_mr;
struct ib_qp;
struct sk_buff;

int sroce_res_fill_qp(struct sk_buff *msg, struct ib_qp *ibqp);
int sroce_res_fill_cq(struct sk_buff *msg, struct ib_cq *ibcq);
int sroce_res_fill_mr(struct sk_buff *msg, struct ib_mr *ibmr);
int sroce_res_fill_mr_stat(struct sk_buff *msg, struct ib_mr *ibmr);

#endif /* SROCE_DEV_RES_H */
