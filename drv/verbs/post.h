/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Posting of work requests. */
#ifndef SROCE_VERBS_POST_H
#define SROCE_VERBS_POST_H

#include <rdma/ib_verbs.h>

struct ib_recv_wr;
struct ib_send_wr;

int sroce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad);
int sroce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad);
int sroce_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad);

#endif /* SROCE_VERBS_POST_H */
