/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the core leaves out of the GID table. */
#ifndef SROCE_DEV_GID_H
#define SROCE_DEV_GID_H

#include <linux/workqueue.h>

struct work_struct;

void sroce_gid_rescan(struct work_struct *work);
int sroce_gid_init(void);
void sroce_gid_exit(void);

#endif /* SROCE_DEV_GID_H */
