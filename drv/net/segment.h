/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Segmentation of trains for netdevs that can't do it. */
#ifndef SROCE_NET_SEGMENT_H
#define SROCE_NET_SEGMENT_H

#include <linux/types.h>

struct dst_entry;
struct sk_buff;

void sroce_segment_init(void);
bool sroce_segment_keeps_truesize(void);
bool sroce_segment_is_needed(const struct dst_entry *dst);
u32 sroce_segment_train(struct sk_buff *skb, u32 seg);

#endif /* SROCE_NET_SEGMENT_H */
