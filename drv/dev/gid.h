/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* GIDs of netdevs whose addresses the core does not follow. */
#ifndef SROCE_DEV_GID_H
#define SROCE_DEV_GID_H

#include <linux/workqueue.h>

struct work_struct;

void sroce_gid_rescan(struct work_struct *work);
int sroce_gid_init(void);
void sroce_gid_exit(void);

#endif /* SROCE_DEV_GID_H */
