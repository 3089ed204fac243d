/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Doorbells that are held for a moment, to send small messages as one train. */
#ifndef SROCE_TASK_COALESCE_H
#define SROCE_TASK_COALESCE_H

#include <linux/types.h>

struct sroce_coalesce;
struct sroce_qp;

bool sroce_coalesce_active(const struct sroce_coalesce *co);
int sroce_coalesce_release(struct sroce_coalesce *co);
bool sroce_coalesce_hold(struct sroce_qp *qp);
void sroce_coalesce_sent(struct sroce_qp *qp);
void sroce_coalesce_init(struct sroce_coalesce *co);
void sroce_coalesce_stop(struct sroce_coalesce *co);

#endif /* SROCE_TASK_COALESCE_H */
