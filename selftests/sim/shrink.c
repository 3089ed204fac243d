// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Reduce a scenario as long as it fails in the same way. */

#include <stdio.h>
#include <stdlib.h>
#include "shrink.h"

struct shrinker {
	struct scenario	best;
	struct scenario	cand;
	char		where[64];
	u32		runs;
};

/* Which check has failed: what stands before the second colon */
static void where_of(const struct outcome *out, char *to, u32 size)
{
	const char *p = strchr(out->why, ':');

	p = p ? strchr(p + 1, ':') : NULL;
	snprintf(to, size, "%.*s", p ? (int)(p - out->why) : 0, out->why);
}

static bool still_fails(struct shrinker *sh, struct outcome *out)
{
	char where[sizeof(sh->where)];

	sh->runs++;
	world_run(&sh->cand, false, out);
	where_of(out, where, sizeof(where));
	return out->failed && !strcmp(where, sh->where);
}

/* Keep @cand if it will do. */
static bool try(struct shrinker *sh)
{
	struct outcome *out = malloc(sizeof(*out));
	bool ok = still_fails(sh, out);

	if (ok)
		sh->best = sh->cand;
	free(out);
	sh->cand = sh->best;
	return ok;
}

static bool *skip_flag(struct scenario *sc, u32 i)
{
	u32 k;

	for (k = 0; k < 2 * sc->pairs; k++) {
		if (i < sc->host[k].nops)
			return &sc->host[k].op[i].skip;
		i -= sc->host[k].nops;
	}
	if (i < sc->nacts)
		return &sc->act[i].skip;
	i -= sc->nacts;
	return i < sc->nfates ? &sc->fate[i].skip : NULL;
}

/* Leave out @n things in a row; return: whether any of them can be spared. */
static bool without(struct shrinker *sh, u32 from, u32 n)
{
	bool any = false;
	u32 i;

	for (i = from; i < from + n; i++) {
		bool *skip = skip_flag(&sh->cand, i);

		if (skip && !*skip)
			any = *skip = true;
	}
	return any && try(sh);
}

static bool leave_out(struct shrinker *sh)
{
	u32 total = 0, n, i;
	bool any = false;

	while (skip_flag(&sh->best, total))
		total++;
	for (n = total / 2 + 1; n; n /= 2)
		for (i = 0; i < total; i += n)
			any |= without(sh, i, n);
	return any;
}

static bool zero(struct shrinker *sh, u64 *val)
{
	if (!*val)
		return false;
	*val = 0;
	return try(sh);
}

static bool zero32(struct shrinker *sh, u32 *val)
{
	if (!*val)
		return false;
	*val = 0;
	return try(sh);
}

/* An idle second pair goes. */
static bool one_pair(struct shrinker *sh)
{
	u32 i, k;

	if (sh->cand.pairs == 1)
		return false;
	for (i = 2; i < 2 * sh->cand.pairs; i++)
		for (k = 0; k < sh->cand.host[i].nops; k++)
			if (!sh->cand.host[i].op[k].skip)
				return false;
	sh->cand.pairs = 1;
	return try(sh);
}

/* A foreign requester or responder is not needed. */
static bool ours(struct shrinker *sh, u32 side)
{
	struct foreign_rules *f = &sh->cand.foreign[side];
	bool any = false;

	if (f->back_n) {
		f->back_n = false;
		any |= try(sh);
	}
	if (f->resp) {
		f->resp = FOREIGN_RESP_NONE;
		any |= try(sh);
	}
	return any;
}

/* Both sides have congestion control. */
static bool with_cc(struct shrinker *sh)
{
	if (!sh->cand.cc_off)
		return false;
	sh->cand.cc_off = 0;
	return try(sh);
}

static bool simpler(struct shrinker *sh)
{
	struct scenario *c = &sh->cand;
	bool any = false;
	u32 i;

	any |= zero(sh, &c->jitter);
	any |= zero(sh, &c->task_delay_max);
	any |= zero(sh, &c->timer_late);
	any |= zero32(sh, &c->ns_per_kb);
	any |= zero32(sh, &c->prior_events);
	any |= zero32(sh, &c->train);
	any |= zero32(sh, &c->srq_limit);
	any |= zero32(sh, &c->evict_every);
	any |= zero32(sh, &c->mark);
	any |= with_cc(sh);
	any |= ours(sh, 0);
	any |= ours(sh, 1);
	for (i = 0; i < SC_HOSTS; i++) {
		any |= zero(sh, &c->host[i].rts_late);
		any |= zero(sh, &c->host[i].recv_late);
		any |= zero(sh, &c->host[i].recv_gap);
	}
	any |= one_pair(sh);
	return any;
}

/* From now on impairments are a list, not chance. */
static void write_down(struct shrinker *sh, const struct outcome *out)
{
	if (out->nfates > SC_FATES)
		return;
	sh->cand.scripted = true;
	sh->cand.nfates = out->nfates;
	memcpy(sh->cand.fate, out->fate, sizeof(out->fate));
	try(sh);
}

/**
 * shrink() - make a failing scenario as small as may be
 * @sc: the scenario, replaced
 * @out: what it came to
 *
 * Return: how many runs that took.
 */
u32 shrink(struct scenario *sc, const struct outcome *out)
{
	struct shrinker *sh = calloc(1, sizeof(*sh));
	bool any;
	u32 runs;

	sh->best = *sc;
	sh->cand = *sc;
	where_of(out, sh->where, sizeof(sh->where));
	write_down(sh, out);
	do {
		any = leave_out(sh);
		any |= simpler(sh);
	} while (any);
	*sc = sh->best;
	runs = sh->runs;
	free(sh);
	return runs;
}
