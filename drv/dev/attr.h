/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Attributes of a device in sysfs. */
#ifndef SROCE_DEV_ATTR_H
#define SROCE_DEV_ATTR_H

#include <linux/sysfs.h>

extern const struct attribute_group sroce_attr_group;

#endif /* SROCE_DEV_ATTR_H */
