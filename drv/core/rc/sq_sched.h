/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The scheduler of a send queue: which work request is sent next. */
#ifndef SROCE_CORE_RC_SQ_SCHED_H
#define SROCE_CORE_RC_SQ_SCHED_H

#include <rdma/ib_verbs.h>

struct sroce_qp;
struct sroce_req;
struct sroce_wqe;

/*
 * Most work requests that are started and not complete. They complete together when the
 * response that the oldest waits for arrives, in one trip with bottom halves off.
 */
#define SROCE_STARTED_MAX 0x2000

bool sroce_sq_sched_idle(const struct sroce_qp *qp);
bool sroce_sq_sched_empty(const struct sroce_qp *qp);
bool sroce_sq_sched_pending(struct sroce_qp *qp);
bool sroce_sq_sched_blocked(const struct sroce_req *req, u32 psn);
u32 sroce_sq_sched_idx(const struct sroce_qp *qp, u32 psn);
struct sroce_wqe *sroce_sq_sched_wqe(struct sroce_qp *qp, u32 from, u32 psn);
void sroce_sq_sched_fail(struct sroce_qp *qp, struct sroce_wqe *wqe,
			 enum ib_wc_status status);
struct sroce_wqe *sroce_sq_sched_peek(struct sroce_qp *qp);
struct sroce_wqe *sroce_sq_sched_next(struct sroce_qp *qp, struct sroce_wqe *next);
u32 sroce_sq_sched_read_psns(const struct sroce_qp *qp, u32 end);
void sroce_sq_sched_seek(struct sroce_qp *qp, u32 psn);

#endif /* SROCE_CORE_RC_SQ_SCHED_H */
