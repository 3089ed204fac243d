// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory that packets are built in. Each CPU cuts fragments from a few blocks of pages and
 * reuses a block once all its fragments are freed. Packets are freed soon, as they are
 * transmitted or received, so few blocks are enough. New pages would have to be
 * allocated, and on many kernels cleared, only to be overwritten.
 */

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include "drv/net/frag.h"

/* Bytes of a block; a single page is used if so many are not available */
#define BLOCK_BYTES	(32 * 1024)
/* Most blocks that a CPU keeps */
#define MAX_BLOCKS	32

/**
 * struct frag_blocks - blocks of one CPU; used with bottom halves disabled only
 * @block: compound pages; the CPU holds one reference to each
 * @n: number of blocks
 * @cur: index of the current block, the one that fragments are cut from
 * @start: address of the current block
 * @size: bytes of the current block, 0 before the first allocation
 * @off: offset in the current block of the next fragment
 */
struct frag_blocks {
	struct page	*block[MAX_BLOCKS];
	u32		n;
	u32		cur;
	u8		*start;
	u32		size;
	u32		off;
};

static DEFINE_PER_CPU(struct frag_blocks, frag_blocks_pcpu);

static struct page *alloc_block(void)
{
	const gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	struct page *page;

	page = alloc_pages((gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_COMP |
			   __GFP_NORETRY, get_order(BLOCK_BYTES));
	return page ?: alloc_page(gfp);
}

/* Only the CPU's reference is left: users dropped theirs after their last access. */
static bool is_unused(const struct page *page)
{
	return page_ref_count(page) == 1;
}

static bool next_block(struct frag_blocks *fb)
{
	u32 next = fb->cur + 1 < fb->n ? fb->cur + 1 : 0;
	struct page *page;

	if (!fb->n || !is_unused(fb->block[next])) {
		page = alloc_block();
		if (!page)
			return false;
		if (fb->n < MAX_BLOCKS)
			next = fb->n++;
		else
			put_page(fb->block[next]);
		fb->block[next] = page;
	}
	fb->cur = next;
	fb->start = page_address(fb->block[next]);
	fb->size = page_size(fb->block[next]);
	fb->off = 0;
	return true;
}

/**
 * sroce_frag_prepare() - get memory to build a packet in
 * @len: bytes
 * @align: alignment of the address, a power of two; with 1 the memory follows the last
 *	fragment, if possible
 *
 * Nothing is reserved before sroce_frag_commit().
 *
 * Context: bottom halves are disabled, and stay so until sroce_frag_commit(). On a
 * real-time kernel that does not protect data of the CPU, so NULL is returned.
 *
 * Return: the memory, or NULL.
 */
void *sroce_frag_prepare(u32 len, u32 align)
{
	struct frag_blocks *fb = this_cpu_ptr(&frag_blocks_pcpu);
	u32 off = ALIGN(fb->off, align);

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return NULL;
	if (off + len > fb->size) {
		if (!next_block(fb) || len > fb->size)
			return NULL;
		off = 0;
	}
	fb->off = off;
	return fb->start + off;
}

/**
 * sroce_frag_left() - size of the memory that sroce_frag_prepare() returned
 *
 * Return: bytes that may be used, at least as many as were asked for.
 */
u32 sroce_frag_left(void)
{
	const struct frag_blocks *fb = this_cpu_ptr(&frag_blocks_pcpu);

	return fb->size - fb->off;
}

/**
 * sroce_frag_commit() - cut a fragment: the memory that sroce_frag_prepare() returned
 * @len: bytes of the fragment
 * @off: set to the offset of the fragment in the page
 *
 * Return: the page; the caller must take a reference to it.
 */
struct page *sroce_frag_commit(u32 len, u32 *off)
{
	struct frag_blocks *fb = this_cpu_ptr(&frag_blocks_pcpu);

	*off = fb->off;
	fb->off += len;
	return fb->block[fb->cur];
}

/**
 * sroce_frag_alloc_skb() - allocate a linear skb, from a fragment if there is one
 * @len: bytes
 *
 * Context: bottom halves disabled.
 *
 * Return: the skb, or NULL.
 */
struct sk_buff *sroce_frag_alloc_skb(u32 len)
{
	u32 size = SKB_DATA_ALIGN(len) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	void *head = sroce_frag_prepare(size, SMP_CACHE_BYTES);
	struct sk_buff *skb;
	u32 off;

	skb = head ? napi_build_skb(head, size) : NULL;
	if (!skb)
		return alloc_skb(len, GFP_ATOMIC | __GFP_NOWARN);
	get_page(sroce_frag_commit(size, &off));
	return skb;
}

/**
 * sroce_frag_exit() - free all blocks
 *
 * Nothing is cut from them any more. Packets that are still in flight hold references.
 */
void sroce_frag_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct frag_blocks *fb = per_cpu_ptr(&frag_blocks_pcpu, cpu);

		while (fb->n)
			put_page(fb->block[--fb->n]);
	}
}
