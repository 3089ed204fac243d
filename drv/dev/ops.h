/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Operations and attributes of a device. */
#ifndef SROCE_DEV_OPS_H
#define SROCE_DEV_OPS_H

#include <rdma/ib_verbs.h>

struct sroce_dev;

void sroce_ops_set(struct sroce_dev *dev);

#endif /* SROCE_DEV_OPS_H */
