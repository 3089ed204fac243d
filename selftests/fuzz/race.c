// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The other side of a ring, while it is being read. Once the head of a slot
 * has been copied it is poisoned, so that reading it a second time is reported;
 * and indices change just after they were read.
 */

#include <sanitizer/asan_interface.h>
#include "world.h"

/* In a field that means nothing: this copy of a slot's head was seen before. */
#define SEEN	0x5ee75ee7

static struct world *world;
static void *loaded;		/* the index read last */
static void *poisoned;
static size_t poisoned_len;
static u32 countdown, change;

void race_init(struct world *w)
{
	u32 i;

	world = w;
	loaded = NULL;
	countdown = 0;
	for (i = 0; i < 2; i++)
		kqp_at(world, i)->qp.sq.posted.wr.reserved = SEEN;
}

/* The @loads'th index read from now on changes to @value just after. */
void race_arm(u32 loads, u32 value)
{
	countdown = loads;
	change = value;
}

/* The owner may write to its slots again. */
void race_end(void)
{
	if (poisoned)
		ASAN_UNPOISON_MEMORY_REGION(poisoned, poisoned_len);
	poisoned = NULL;
}

void fuzz_loaded(void *p)
{
	loaded = p;
	if (countdown && !--countdown)
		*(u32 *)p = change;
}

static void poison(const struct sroce_ring *r, size_t len)
{
	race_end();
	poisoned = sroce_ring_slot(r, r->own);
	poisoned_len = len;
	ASAN_POISON_MEMORY_REGION(poisoned, poisoned_len);
}

/* A send queue's index was read when its doorbell rang: the copy tells. */
static bool poison_sq(struct sroce_sq *sq)
{
	if (sq->posted.wr.reserved == SEEN)
		return false;
	sq->posted.wr.reserved = SEEN;
	poison(&sq->ring, sizeof(struct sroce_abi_send_wqe));
	return true;
}

static bool poison_rq(const struct sroce_ring *r)
{
	if (!r->buf || loaded != &r->buf->producer_index)
		return false;
	poison(r, sizeof(struct sroce_abi_recv_wqe));
	return true;
}

void fuzz_barrier(void)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct sroce_qp *qp = &kqp_at(world, i)->qp;

		if (poison_sq(&qp->sq))
			return;
	}
	for (i = 0; i < 2; i++) {
		struct sroce_qp *qp = &kqp_at(world, i)->qp;

		if (poison_rq(&qp->rq.ring) ||
		    (qp->srq && poison_rq(&qp->srq->rq.ring)))
			return;
	}
}
