/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A ring shared with user space, which is not trusted: its index is read once and masked.
 * The kernel's own index and the geometry are private.
 */
#ifndef SROCE_RING_H
#define SROCE_RING_H

#include <linux/compiler.h>
#include <asm/barrier.h>
#include "uapi/sroce_abi.h"

/**
 * struct sroce_ring - the kernel's side of a ring
 * @buf: the shared memory
 * @mask: number of slots - 1
 * @shift: log2 of the bytes per slot
 * @own: the kernel's index, masked; the copy in @buf is never read
 */
struct sroce_ring {
	struct sroce_abi_ring	*buf;
	u32			mask;
	u32			shift;
	u32			own;
};

/**
 * struct sroce_ring_move - a move of what is in a ring to another, in batches
 * @from: the ring
 * @to: the new ring; what was the oldest entry when the move began is its first
 * @own: the kernel's index of @from when slots were copied last
 * @taken: slots that the kernel has consumed since the move began
 * @copied: slots that were copied or consumed since then
 * @total: copies made; more than the ring has slots, if the producer goes on meanwhile
 */
struct sroce_ring_move {
	struct sroce_ring	*from;
	struct sroce_ring	*to;
	u32			own;
	u32			taken;
	u32			copied;
	u32			total;
};

void sroce_ring_move_begin(struct sroce_ring_move *move, struct sroce_ring *from,
			   struct sroce_ring *to);
int sroce_ring_move(struct sroce_ring_move *move, u32 batch);

static inline void *sroce_ring_slot(const struct sroce_ring *r, u32 idx)
{
	return r->buf->data + ((size_t)(idx & r->mask) << r->shift);
}

/* Number of filled slots; the kernel is the consumer. */
static inline u32 sroce_ring_filled(const struct sroce_ring *r)
{
	/* pairs with user space: the slots were filled before the index moved */
	u32 prod = smp_load_acquire(&r->buf->producer_index);

	return (prod - r->own) & r->mask;
}

/* Number of free slots; the kernel is the producer. */
static inline u32 sroce_ring_space(const struct sroce_ring *r)
{
	/* pairs with user space: the slots were read before the index moved */
	u32 cons = smp_load_acquire(&r->buf->consumer_index);

	return (cons - r->own - 1) & r->mask;
}

static inline void sroce_ring_consume(struct sroce_ring *r, u32 n)
{
	r->own = (r->own + n) & r->mask;
	/* the slots were read; user space may fill them again */
	smp_store_release(&r->buf->consumer_index, r->own);
}

static inline void sroce_ring_produce(struct sroce_ring *r)
{
	r->own = (r->own + 1) & r->mask;
	/* the slot is filled before user space sees the index */
	smp_store_release(&r->buf->producer_index, r->own);
}

#endif /* SROCE_RING_H */
