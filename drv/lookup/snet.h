/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* State for each network namespace. */
#ifndef SROCE_LOOKUP_SNET_H
#define SROCE_LOOKUP_SNET_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include "drv/core/counter.h"

struct net;
struct socket;
struct sroce_dev;

/**
 * struct sroce_snet - the module's part of a network namespace
 * @net: the namespace
 * @users: devices that refer to this structure; the namespace's end waits for them
 * @lock: guards @links, @sk4, @sk6 and changes of @devs
 * @links: number of @devs; the sockets are open while there are any
 * @sk4: UDP socket on port 4791 for IPv4
 * @sk6: UDP socket on port 4791 for IPv6, NULL without IPv6
 * @devs: devices in this namespace, read under RCU
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
void sroce_snet_count_n(struct sroce_snet *sn, enum sroce_counter c, u32 n);
int sroce_snet_init(void);
void sroce_snet_exit(void);

static inline void sroce_snet_count(struct sroce_snet *sn, enum sroce_counter c)
{
	sroce_snet_count_n(sn, c, 1);
}

#endif /* SROCE_LOOKUP_SNET_H */
