// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Rings whose owners write anything there, at any time, even during a read */

#include "world.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len);

static struct sroce_ring *ring_at(struct world *w, u32 sel)
{
	switch (sel % 5) {
	case 0:
	case 1:
		return &w->s->a.qp.sq.ring;
	case 2:
		return &w->s->b.qp.sq.ring;
	case 3:
		return &w->s->a.qp.rq.ring;
	default:
		return w->s->b.qp.srq ? &w->s->b.qp.srq->rq.ring :
					&w->s->b.qp.rq.ring;
	}
}

/* Four bytes anywhere in the ring, head and all. r: 1 ring, 2 slot, 3 where */
static void act_poke(struct world *w, const u8 *r)
{
	struct sroce_ring *ring = ring_at(w, r[1]);
	u32 size = 1u << ring->shift;
	u8 *at = sroce_ring_slot(ring, r[2]);
	u32 i;

	for (i = 0; i < 2; i++) {
		u32 off = (r[3 + i] * 4u) % size;
		u32 val = rec32(r, 6 + 4 * i);

		memcpy(at + off, &val, sizeof(val));
	}
}

/* An index, or what the provider thinks the geometry is. r: 1 ring, 2 which */
static void act_index(struct world *w, const u8 *r)
{
	struct sroce_ring *ring = ring_at(w, r[1]);
	u32 val = r[3] & 1 ? rec32(r, 4) : r[4];

	switch (r[2] % 8) {
	case 0:
		ring->buf->consumer_index = val;
		break;
	case 1:
		ring->buf->index_mask = val;
		break;
	case 2:
		ring->buf->log2_elem_size = val;
		break;
	case 3:
	case 4:
		ring->buf->producer_index = ring->own + r[4] % 8;
		break;
	default:
		ring->buf->producer_index = val;
	}
}

/* A good work request, spoiled in one place. r: as act_send(), 5 where */
static void act_spoiled(struct world *w, const u8 *r)
{
	struct sroce_kqp *kqp = kqp_at(w, ~r[15] & 1);
	struct sroce_ring *ring = &kqp->qp.sq.ring;
	u8 good[REC_LEN];
	u8 *slot;

	memcpy(good, r, sizeof(good));
	good[15] |= 2;		/* no doorbell yet */
	kqp->sq_prod = ring->own;
	ring->buf->consumer_index = (ring->own - 1) & ring->mask;
	ring->buf->consumer_index = ring->own;
	act_send(w, good);
	slot = sroce_ring_slot(ring, ring->own);
	slot[r[5] * 4u % (1u << ring->shift)] ^= r[9];
	if (!(r[15] & 2))
		world_doorbell(w, kqp);
}

/* The n'th index that the core reads is another just after. */
static void act_race(struct world *w, const u8 *r)
{
	(void)w;
	race_arm(1 + r[1] % 32, r[2] & 1 ? rec32(r, 4) : r[4]);
}

static const struct action actions[] = {
	ACTION(poke, 70),
	ACTION(index, 40),
	ACTION(spoiled, 30),
	ACTION(doorbell, 30),
	ACTION(race, 16),
	ACTION(step, 20),
	ACTION(forge, 24),
	ACTION(modify, 8),
	ACTION(connect, 10),
	ACTION(advance, 4),
	ACTION(fails, 2),
	ACTION(register, 0),
	{}
};

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	return world_run(data, len, actions, true);
}
