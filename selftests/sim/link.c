// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A link that many flows share. A packet waits in a bounded queue, takes as long as its
 * bytes do, and arrives some latency later. What finds the queue full is dropped; what
 * finds it long is marked, if its sender understands that.
 */

#include <stdlib.h>
#include "link.h"

#define RING	(1U << 17)

void link_init(struct link *link, u64 seed)
{
	u32 i;

	link->r.s = seed * 7919 + 1;
	for (i = 0; i < 2; i++) {
		link->lane[i].leaves = calloc(RING, sizeof(u64));
		if (!link->lane[i].queue)
			link->lane[i].queue = RING;
	}
}

void link_end(struct link *link)
{
	free(link->lane[0].leaves);
	free(link->lane[1].leaves);
}

/* Packets that have not left at @now, which never goes back */
u32 lane_waiting(struct lane *lane, u64 now)
{
	while (lane->n && lane->leaves[lane->first % RING] <= now) {
		lane->first++;
		lane->n--;
	}
	return lane->n;
}

/* Return: when the packet has left, or 0 if it is dropped. */
u64 lane_enter(struct lane *lane, u64 now, u32 len)
{
	u64 take = lane->svc * len / LINK_FULL;

	lane->sent++;
	if (lane_waiting(lane, now) >= lane->queue) {
		lane->dropped++;
		return 0;
	}
	if (lane->busy < now)
		lane->busy = now;
	lane->busy += take;
	lane->leaves[(lane->first + lane->n++) % RING] = lane->busy;
	if (lane->n > lane->longest)
		lane->longest = lane->n;
	return lane->busy;
}

/* Whether a packet that has just entered is marked */
bool lane_marks(struct lane *lane)
{
	bool marks = lane->mark && lane->n > lane->mark;

	lane->marked += marks;
	return marks;
}

/* CE in the traffic class; the ICRC does not cover it */
static void mark(struct lane *lane, struct sim_packet *p)
{
	u8 *ecn = &p->data[1], shift = p->l3_len == 40 ? 4 : 0;

	if (*ecn >> shift & 3 && lane_marks(lane))
		*ecn |= 3 << shift;
}

/* Sooner than what went before in the same queue it can't arrive. */
static u64 through_txqs(struct link *link, u64 now, u64 when)
{
	struct txqs *t = &link->txqs;

	if (now != t->last && rnd_below(&link->r, 100) < t->flip)
		t->now ^= 1;
	t->last = now;
	if (t->now)
		when += t->skew;
	if (when < t->newest[t->now])
		when = t->newest[t->now];
	t->newest[t->now] = when;
	return when;
}

/* For sim->wire; sim->arg is the link, or begins with it */
int link_wire(struct sim *s, struct sim_packet *p)
{
	struct link *link = s->arg;
	u32 dir = p->from->nr & 1;
	struct lane *lane = &link->lane[dir];
	u64 left;

	if (link->loss && rnd_below(&link->r, 100000) < link->loss)
		return 0;
	left = lane_enter(lane, s->now, p->len);
	if (!left)
		return 0;
	mark(lane, p);
	p->when = left + link->latency;
	if (link->txqs.flip && !dir)
		p->when = through_txqs(link, s->now, p->when);
	return 1;
}
