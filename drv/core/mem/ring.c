// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Moving the contents of a ring to one of another size, while the kernel consumes them. */

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "drv/core/mem/ring.h"

/**
 * sroce_ring_move_begin() - begin to move what is in a ring to another
 * @move: initialized here
 * @from: the ring, of which the kernel is the consumer
 * @to: the new ring, empty, with slots of the same size
 *
 * Both rings have the same owner. @from must not be moved twice at the same time.
 */
void sroce_ring_move_begin(struct sroce_ring_move *move, struct sroce_ring *from,
			   struct sroce_ring *to)
{
	*move = (struct sroce_ring_move){ .from = from, .to = to, .own = from->own };
}

static void copy_slots(const struct sroce_ring_move *move, u32 n)
{
	const struct sroce_ring *from = move->from, *to = move->to;
	u32 i;

	for (i = move->copied; i != move->copied + n; i++)
		memcpy(sroce_ring_slot(to, i),
		       sroce_ring_slot(from, from->own + (i - move->taken)),
		       (size_t)1 << to->shift);
}

/* All has been copied: the new ring begins where the old one is now. */
static void move_end(const struct sroce_ring_move *move)
{
	struct sroce_ring *to = move->to;

	sroce_ring_consume(to, move->taken & to->mask);
	/* entries are written before the index that makes them visible */
	smp_store_release(&to->buf->producer_index, move->copied & to->mask);
}

/**
 * sroce_ring_move() - copy more slots
 * @move: the move
 * @batch: most slots to copy
 *
 * Between two calls the kernel may consume slots of the old ring. A producer that adds some
 * makes the move longer, up to as many copies as the ring has slots.
 *
 * Context: the caller serializes consumers. When this has returned 0, the new ring must
 * replace the old one before there are others.
 *
 * Return: 1 if there is more to copy, 0 if not, -EINVAL if it does not fit, -EBUSY if the
 * producer has added so much that the move would not end.
 */
int sroce_ring_move(struct sroce_ring_move *move, u32 batch)
{
	const struct sroce_ring *from = move->from;
	u32 filled = sroce_ring_filled(from), n;

	if (filled > move->to->mask)
		return -EINVAL;
	move->taken += (from->own - move->own) & from->mask;
	move->own = from->own;
	/* what was consumed need not be copied, and a producer may go back */
	move->copied = clamp_t(s32, move->copied - move->taken, 0, filled) + move->taken;
	n = min(batch, move->taken + filled - move->copied);
	copy_slots(move, n);
	move->copied += n;
	move->total += n;
	if (move->total > from->mask + 1)
		return -EBUSY;
	if (move->copied != move->taken + filled)
		return 1;
	move_end(move);
	return 0;
}
