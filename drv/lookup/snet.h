/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the module keeps for each network namespace. */
#ifndef SROCE_LOOKUP_SNET_H
#define SROCE_LOOKUP_SNET_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include "drv/core/counter.h"

struct net;
struct socket;
struct sroce_dev;

/**
 * struct sroce_snet - what a network namespace holds for its links
 * @net: the namespace
 * @users: devices that point here; the namespace stays for them
 * @lock: guards @links and the life of the sockets
 * @links: devices in this namespace
 * @sk4: UDP socket on port 4791 for IPv4, while there are links
 * @sk6: the same for IPv6, NULL without IPv6
 * @devs: the devices, RCU
 */
struct sroce_snet {
	struct net		*net;
	atomic_t		users;
	struct mutex		lock;
	u32			links;
	struct socket		*sk4;
	struct socket		*sk6;
	struct list_head	devs;
};

struct sroce_snet *sroce_snet_of(struct net *net);
void sroce_snet_get(struct sroce_dev *dev, struct net *net);
void sroce_snet_put(struct sroce_dev *dev);
void sroce_snet_count(struct sroce_snet *sn, enum sroce_counter c);
int sroce_snet_init(void);
void sroce_snet_exit(void);

#endif /* SROCE_LOOKUP_SNET_H */
