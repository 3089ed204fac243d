// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory that packets are built in. Each CPU cuts it from a few blocks, and takes
 * a block again once all that was cut from it has been let go of: what is sent
 * is soon received or transmitted, and new pages would have to be found, and on
 * many kernels cleared, only to be overwritten.
 */

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include "drv/net/frag.h"

/* Bytes of a block, if such are to be had */
#define BLOCK_BYTES	(32 * 1024)
/* Most blocks that are kept for a CPU */
#define BLOCKS		32

/**
 * struct arena - blocks of one CPU; touched with bottom halves off only
 * @block: compound pages; one reference to each is ours
 * @n: how many there are
 * @now: the one that is cut from
 * @start: its address
 * @size: its bytes, 0 as long as there is none
 * @off: bytes cut from it
 */
struct arena {
	struct page	*block[BLOCKS];
	u32		n;
	u32		now;
	u8		*start;
	u32		size;
	u32		off;
};

static DEFINE_PER_CPU(struct arena, arenas);

static struct page *new_block(void)
{
	const gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	struct page *page;

	page = alloc_pages((gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_COMP |
			   __GFP_NORETRY, get_order(BLOCK_BYTES));
	return page ?: alloc_page(gfp);
}

/* Those who let go of the block did so after they used it. */
static bool is_unused(const struct page *page)
{
	return page_ref_count(page) == 1;
}

static bool next_block(struct arena *a)
{
	u32 next = a->now + 1 < a->n ? a->now + 1 : 0;
	struct page *page;

	if (!a->n || !is_unused(a->block[next])) {
		page = new_block();
		if (!page)
			return false;
		if (a->n < BLOCKS)
			next = a->n++;
		else
			put_page(a->block[next]);
		a->block[next] = page;
	}
	a->now = next;
	a->start = page_address(a->block[next]);
	a->size = page_size(a->block[next]);
	a->off = 0;
	return true;
}

/**
 * sroce_frag_prepare() - memory to build in
 * @len: bytes
 * @align: of its address, a power of two; 1: right behind what was cut last,
 *	if possible
 *
 * Bottom halves are off, and stay off until it is cut. Where that keeps nobody else off
 * the CPU, on a real-time kernel, there is none.
 *
 * Return: the memory, or NULL.
 */
void *sroce_frag_prepare(u32 len, u32 align)
{
	struct arena *a = this_cpu_ptr(&arenas);
	u32 off = ALIGN(a->off, align);

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return NULL;
	if (off + len > a->size) {
		if (!next_block(a) || len > a->size)
			return NULL;
		off = 0;
	}
	a->off = off;
	return a->start + off;
}

/**
 * sroce_frag_left() - how far the memory goes that sroce_frag_prepare() returned
 *
 * Return: bytes, at least as many as were asked for.
 */
u32 sroce_frag_left(void)
{
	const struct arena *a = this_cpu_ptr(&arenas);

	return a->size - a->off;
}

/**
 * sroce_frag_commit() - take the memory that sroce_frag_prepare() returned
 * @len: bytes of it that are wanted
 * @off: set to where it starts in the page
 *
 * Return: the page. The caller needs a reference of its own to it.
 */
struct page *sroce_frag_commit(u32 len, u32 *off)
{
	struct arena *a = this_cpu_ptr(&arenas);

	*off = a->off;
	a->off += len;
	return a->block[a->now];
}

/**
 * sroce_frag_exit() - let go of all blocks; nobody cuts from them any more
 */
void sroce_frag_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct arena *a = per_cpu_ptr(&arenas, cpu);

		while (a->n)
			put_page(a->block[--a->n]);
	}
}
