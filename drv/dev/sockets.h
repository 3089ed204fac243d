/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The sockets of UDP port 4791 in a network namespace. */
#ifndef SROCE_DEV_SOCKETS_H
#define SROCE_DEV_SOCKETS_H

#include <linux/types.h>

struct sroce_dev;

int sroce_sockets_join(struct sroce_dev *dev);
void sroce_sockets_leave(struct sroce_dev *dev);

#endif /* SROCE_DEV_SOCKETS_H */
