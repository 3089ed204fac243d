/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Attributes of a device in sysfs. */
#ifndef SROCE_DEV_ATTR_H
#define SROCE_DEV_ATTR_H

#include <linux/sysfs.h>
#include <rdma/ib_verbs.h>

struct sroce_dev;

extern const struct attribute_group sroce_attr_group;

enum ib_atomic_cap sroce_attr_atomic_cap(struct sroce_dev *dev);

#endif /* SROCE_DEV_ATTR_H */
