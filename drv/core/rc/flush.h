/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Completion of send work requests, errors and flushes. */
#ifndef SROCE_CORE_RC_FLUSH_H
#define SROCE_CORE_RC_FLUSH_H

#include <rdma/ib_verbs.h>

struct sroce_qp;

void sroce_sq_complete(struct sroce_qp *qp, enum ib_wc_status status);
void sroce_flush_sq(struct sroce_qp *qp);
bool sroce_flush_go_on(struct sroce_qp *qp);
/* Most work requests of a queue that are flushed at a time */
#define SROCE_FLUSH_BATCH	256

void sroce_flush_rq(struct sroce_qp *qp);
void sroce_flush_qp_error(struct sroce_qp *qp);
void sroce_flush_qp_fatal(struct sroce_qp *qp, enum ib_event_type event);
void sroce_sq_fail(struct sroce_qp *qp, enum ib_wc_status status);

#endif /* SROCE_CORE_RC_FLUSH_H */
