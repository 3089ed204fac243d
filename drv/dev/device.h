/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Devices, from `rdma link add` to `rdma link delete`. */
#ifndef SROCE_DEV_DEVICE_H
#define SROCE_DEV_DEVICE_H

#include <rdma/ib_verbs.h>

struct ib_device;
struct net_device;
struct sroce_dev;

void sroce_device_dealloc(struct ib_device *ibdev);
int sroce_device_enable(struct ib_device *ibdev);
int sroce_device_add(const char *name, struct net_device *ndev);
int sroce_device_init(void (*set)(struct sroce_dev *dev));
void sroce_device_exit(void);

#endif /* SROCE_DEV_DEVICE_H */
