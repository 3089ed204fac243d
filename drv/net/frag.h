/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Per-CPU memory that packets are built in. */
#ifndef SROCE_NET_FRAG_H
#define SROCE_NET_FRAG_H

#include <linux/types.h>

struct page;
struct sk_buff;

void *sroce_frag_prepare(u32 len, u32 align);
u32 sroce_frag_left(void);
struct page *sroce_frag_commit(u32 len, u32 *off);
struct sk_buff *sroce_frag_alloc_skb(u32 len);
void sroce_frag_exit(void);

#endif /* SROCE_NET_FRAG_H */
