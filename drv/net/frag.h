/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Per-CPU memory that packets are built in. */
#ifndef SROCE_NET_FRAG_H
#define SROCE_NET_FRAG_H

#include <linux/types.h>

struct page;

void *sroce_frag_prepare(u32 len, u32 align);
u32 sroce_frag_left(void);
struct page *sroce_frag_commit(u32 len, u32 *off);
void sroce_frag_exit(void);

#endif /* SROCE_NET_FRAG_H */
