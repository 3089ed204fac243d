/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Flushes receives that a process posts in the error state. */
#ifndef SROCE_TASK_FLUSHER_H
#define SROCE_TASK_FLUSHER_H

#include "drv/lookup/kqp.h"

void sroce_flusher_init(struct sroce_flusher *fl);
void sroce_flusher_settle(struct sroce_flusher *fl);
void sroce_flusher_add(struct sroce_kqp *kqp);
void sroce_flusher_del(struct sroce_kqp *kqp);

#endif /* SROCE_TASK_FLUSHER_H */
