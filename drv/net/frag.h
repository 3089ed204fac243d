/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SROCE_ARENA_H
#define SROCE_ARENA_H

#include <linux/types.h>

struct page;

void *sroce_arena_room(u32 len, u32 align);
u32 sroce_arena_left(void);
struct page *sroce_arena_cut(u32 len, u32 *off);
void sroce_arena_exit(void);

#endif /* SROCE_ARENA_H */
