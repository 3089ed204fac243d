/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Route lookup for paths. */
#ifndef SROCE_NET_ROUTE_H
#define SROCE_NET_ROUTE_H

#include <linux/types.h>

struct dst_entry;
struct sroce_av;
struct sroce_dev;

struct dst_entry *sroce_route_get(struct sroce_dev *dev, struct sroce_av *av);
bool sroce_route_is_local(struct sroce_dev *dev, struct sroce_av *av);

#endif /* SROCE_NET_ROUTE_H */
