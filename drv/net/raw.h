/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ethernet frames of raw packet QPs. */
#ifndef SROCE_NET_RAW_H
#define SROCE_NET_RAW_H

#include <linux/types.h>

struct sk_buff;
struct sroce_dev;

int sroce_raw_xmit(struct sroce_dev *dev, struct sk_buff *skb);

#endif /* SROCE_NET_RAW_H */
