// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CPUs that stand still now and then, as those of a VM on a busy host. When one goes on,
 * the timers that were due meanwhile fire before it receives what has come: the worst order.
 */

#include <stdlib.h>
#include "stall.h"

/* From when a CPU goes on until it receives packets, in ns */
#define LAG	(100 * 1000ULL)

static u64 between(struct rnd *r, const u64 *range)
{
	return range[0] + rnd_below(r, range[1] - range[0] + 1);
}

/**
 * stall_init() - a CPU that runs, and will stand still
 * @st: the CPU
 * @cfg: how long
 * @seed: of what is left to chance
 */
void stall_init(struct stall *st, const struct stall_cfg *cfg, u64 seed)
{
	*st = (struct stall){ .cfg = cfg, .r.s = seed * 104729 + 17 };
}

static void add_pause(struct stall *st)
{
	u64 stops = between(&st->r, st->cfg->runs);

	if (st->n)
		stops += st->pause[st->n - 1].end;
	st->pause = realloc(st->pause, (st->n + 1) * sizeof(*st->pause));
	st->pause[st->n].waiting = 0;
	st->pause[st->n].start = stops;
	st->pause[st->n++].end = stops + between(&st->r, st->cfg->still);
}

/* The first pause that ends after @when */
static struct pause *find_pause(struct stall *st, u64 when)
{
	u32 low = 0, high;

	while (!st->n || st->pause[st->n - 1].end <= when)
		add_pause(st);
	for (high = st->n - 1; low < high;) {
		u32 mid = (low + high) / 2;

		if (st->pause[mid].end <= when)
			low = mid + 1;
		else
			high = mid;
	}
	return &st->pause[low];
}

/**
 * stall_runs_at() - when a CPU does what is due
 * @st: the CPU
 * @when: the time at which it is due, in ns
 */
u64 stall_runs_at(struct stall *st, u64 when)
{
	const struct pause *p;

	if (!st->cfg->still[1])
		return when;
	p = find_pause(st, when);
	return when < p->start ? when : p->end;
}

/**
 * stall_receives_at() - when a CPU receives a packet
 * @st: the CPU
 * @when: the time at which the packet arrives, in ns
 *
 * Return: 0 if too many wait already.
 */
u64 stall_receives_at(struct stall *st, u64 when)
{
	struct pause *p;
	u64 at = stall_runs_at(st, when);

	if (!st->cfg->still[1] || at < LAG)
		return at;
	/* it may be one that has gone on just now */
	p = find_pause(st, at - LAG);
	if (p->end > at)
		return at;
	return ++p->waiting > st->cfg->ring && st->cfg->ring ? 0 : p->end + LAG;
}

void stall_end(struct stall *st)
{
	free(st->pause);
}
