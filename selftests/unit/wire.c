// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The wire of a simulation: packets in the order in which they arrive. */

#include "sim.h"

/* Where to begin to look for the place of a packet */
static struct sim_packet **start_of(struct sim *s, const struct sim_packet *p, u32 side)
{
	struct sim_packet *newest = s->wire_newest[side];

	if (s->wire_head && s->wire_last->when <= p->when)
		return &s->wire_last->next;
	/* those of a side mostly arrive in the order in which they were sent */
	return newest && newest->when <= p->when ? &newest->next : &s->wire_head;
}

/* Behind all that arrive no later than it */
void sim_wire_put(struct sim *s, struct sim_packet *p)
{
	u32 side = p->from->nr & 1;
	struct sim_packet **at = start_of(s, p, side);

	while (*at && (*at)->when <= p->when)
		at = &(*at)->next;
	p->next = *at;
	*at = p;
	if (!p->next)
		s->wire_last = p;
	s->wire_newest[side] = p;
	s->wire_len++;
}

struct sim_packet *sim_wire_take(struct sim *s)
{
	struct sim_packet *p = s->wire_head;
	u32 i;

	if (!p)
		return NULL;
	s->wire_head = p->next;
	s->wire_len--;
	for (i = 0; i < ARRAY_SIZE(s->wire_newest); i++)
		if (s->wire_newest[i] == p)
			s->wire_newest[i] = NULL;
	return p;
}

/* Put a packet on the wire, as often as the hook wants it to arrive. */
void sim_send(struct sim *s, struct sim_packet *p)
{
	int copies = 1;

	p->when = p->lbpkt ? s->now : s->now + SIM_LATENCY;
	if (s->wire && !p->lbpkt)
		copies = s->wire(s, p);
	s->sent++;
	for (; copies > 1; copies--)
		sim_wire_put(s, sim_packet_copy(p));
	if (copies == 1)
		sim_wire_put(s, p);
	else
		sim_packet_free(p);
}

/* For the wire hook: another copy, which arrives later */
void sim_copy_later(struct sim *s, const struct sim_packet *p, u64 delay)
{
	struct sim_packet *q = sim_packet_copy(p);

	q->when = s->now + delay;
	sim_wire_put(s, q);
}
