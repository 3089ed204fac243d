/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A ring shared with user space. The other side is never trusted: its index
 * is read once and masked, and our own index and the geometry are private.
 */
#ifndef SROCE_RING_H
#define SROCE_RING_H

#include <linux/compiler.h>
#include <asm/barrier.h>
#include "uapi/sroce_abi.h"

/**
 * struct sroce_ring - private view of a ring
 * @buf: the shared memory
 * @mask: slots - 1
 * @shift: log2 of the bytes per slot
 * @own: our own index, masked; the copy in @buf is only for the other side
 */
struct sroce_ring {
	struct sroce_abi_ring	*buf;
	u32			mask;
	u32			shift;
	u32			own;
};

static inline void *sroce_ring_slot(const struct sroce_ring *r, u32 idx)
{
	return r->buf->data + ((size_t)(idx & r->mask) << r->shift);
}

/* Slots filled by the producer, for us as the consumer. */
static inline u32 sroce_ring_filled(const struct sroce_ring *r)
{
	/* what is in the slots is read after the index */
	u32 prod = smp_load_acquire(&r->buf->producer_index);

	return (prod - r->own) & r->mask;
}

/* Slots free for us as the producer. */
static inline u32 sroce_ring_room(const struct sroce_ring *r)
{
	/* slots are written after the other side is done with them */
	u32 cons = smp_load_acquire(&r->buf->consumer_index);

	return (cons - r->own - 1) & r->mask;
}

static inline void sroce_ring_consume(struct sroce_ring *r, u32 n)
{
	r->own = (r->own + n) & r->mask;
	/* done with the slots */
	smp_store_release(&r->buf->consumer_index, r->own);
}

static inline void sroce_ring_produce(struct sroce_ring *r)
{
	r->own = (r->own + 1) & r->mask;
	/* the slot is filled */
	smp_store_release(&r->buf->producer_index, r->own);
}

#endif /* SROCE_RING_H */
