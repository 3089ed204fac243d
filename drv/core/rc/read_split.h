/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How a READ work request is split into READ requests. */
#ifndef SROCE_CORE_RC_READ_SPLIT_H
#define SROCE_CORE_RC_READ_SPLIT_H

#include <linux/types.h>

struct sroce_qp;
struct sroce_wqe;

u32 sroce_read_split_size(struct sroce_qp *qp, u32 psns);
void sroce_read_split_begin(struct sroce_qp *qp, struct sroce_wqe *wqe);
u32 sroce_read_split_start(const struct sroce_wqe *wqe, u32 psn);
u32 sroce_read_split_end(const struct sroce_wqe *wqe, u32 psn);
u32 sroce_read_split_count(const struct sroce_wqe *wqe, u32 from, u32 to);
u32 sroce_read_split_psns(const struct sroce_wqe *wqe, u32 from, u32 to);
void sroce_read_split_sent(struct sroce_qp *qp, const struct sroce_wqe *wqe, u32 psn);
u32 sroce_read_split_next(struct sroce_qp *qp, const struct sroce_wqe *wqe);
void sroce_read_split_resize(struct sroce_qp *qp, struct sroce_wqe *wqe);

#endif /* SROCE_CORE_RC_READ_SPLIT_H */
