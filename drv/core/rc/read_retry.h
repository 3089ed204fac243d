/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Retry of READs: requesting missing responses again. */
#ifndef SROCE_CORE_RC_READ_RETRY_H
#define SROCE_CORE_RC_READ_RETRY_H

#include <linux/types.h>

struct sroce_qp;
struct sroce_req;
struct sroce_wqe;

bool sroce_read_retry_missing(const struct sroce_req *req, u32 psn);
bool sroce_read_retry_is_asked(const struct sroce_req *req, u32 psn);
void sroce_read_retry_trim(struct sroce_qp *qp);
void sroce_read_retry_until(struct sroce_qp *qp, u32 end);
void sroce_read_retry_refused(struct sroce_qp *qp, u32 end);
void sroce_read_retry_postpone(struct sroce_qp *qp, u32 psn);
void sroce_read_retry_wants_pages(struct sroce_qp *qp, u32 end);
void sroce_read_retry_dropped(struct sroce_qp *qp, u32 end);
void sroce_read_retry_duplicate(struct sroce_qp *qp, u32 psn);
void sroce_read_retry_received(struct sroce_qp *qp, u32 psn, u32 end);
void sroce_read_retry_oldest(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 n);

#endif /* SROCE_CORE_RC_READ_RETRY_H */
