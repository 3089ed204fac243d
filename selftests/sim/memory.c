// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Regions whose every byte is accounted for. */

#include <stdlib.h>
#include "world.h"

#define SCRAMBLED	0xee
#define SPAN		512	/* bytes looked at in one go */

void region_new(struct world *w, struct region *r, u64 iova, u64 len,
		int access)
{
	r->buf = sim_buf_new(w->s, iova, len, w->sc->chunk, access);
	r->mark = calloc(1, len + 1);
}

/* The buffer itself belongs to the simulation. */
void region_free(struct region *r)
{
	free(r->mark);
	free(r->frozen);
}

/* From now on nobody touches it, not even the oracle. */
void region_revoke(struct region *r)
{
	u64 i, n, len = r->buf->mr.length;

	if (r->frozen)
		return;
	sim_buf_revoke(r->buf);
	r->frozen = malloc(len + 1);
	for (i = 0; i < len; i += n) {
		const u8 *p;

		n = len - i;
		p = sim_span(r->buf, i, &n);
		memcpy(r->frozen + i, p, n);
	}
}

/* @n bytes of what @what says, from the one that stands at @at in it */
static void make_bytes(u8 *to, u32 n, u64 at, u32 what)
{
	u32 i, k;

	if (what == BYTES_ZERO || what == BYTES_SCRAMBLED) {
		memset(to, what == BYTES_ZERO ? 0 : SCRAMBLED, n);
		return;
	}
	/* as sim_pattern() says, 256 at a time */
	for (i = 0; i < n; i += k) {
		u32 room = 256 - (at + i) % 256;
		u8 high = ((at + i) >> 8) * 13 + what * 31 + 1;

		for (k = 0; k < room && i + k < n; k++)
			to[i + k] = (u8)((u8)(at + i + k) * 167 + high) ^
				    (u8)(what >> 8);
	}
}

static bool span_is(const u8 *p, u32 n, u64 at, u32 a, u32 c)
{
	u8 one[SPAN], other[SPAN], wrong = 0;
	u32 k;

	make_bytes(one, n, at, a);
	if (a == c)
		return !memcmp(p, one, n);
	make_bytes(other, n, at, c);
	for (k = 0; k < n; k++)
		wrong |= (p[k] != one[k]) & (p[k] != other[k]);
	return !wrong;
}

/*
 * Whether each of @len bytes from @off on is what @a or @c says; @at is where
 * in the pattern the first of them stands.
 */
bool bytes_are(const struct sim_buf *b, u64 off, u64 len, u64 at, u32 a, u32 c)
{
	u64 i, n;

	for (i = 0; i < len; i += n) {
		const u8 *p;

		n = len - i < SPAN ? len - i : SPAN;
		p = sim_span(b, off + i, &n);
		if (!span_is(p, n, at + i, a, c))
			return false;
	}
	return true;
}

/* @at: where in the pattern the first byte stands */
void bytes_set(struct region *r, u64 off, u64 len, u64 at, u32 what)
{
	u64 i, n;

	if (r->frozen)
		return;
	for (i = 0; i < len; i += n) {
		u8 *p;

		n = len - i;
		p = sim_span(r->buf, off + i, &n);
		make_bytes(p, n, at + i, what);
	}
}

void region_mark(struct region *r, u64 off, u64 len)
{
	memset(r->mark + off, 0xff, len);
}

/* Index of the first byte that isn't 0 and not marked, or @n */
static u64 unmarked(const u8 *p, const u8 *mark, u64 n)
{
	u8 bad = 0;
	u64 k;

	for (k = 0; k < n; k++)
		bad |= p[k] & ~mark[k];
	if (!bad)
		return n;
	for (k = 0; !(p[k] & ~mark[k]); k++)
		;
	return k;
}

/* What nobody marked is as it was at first; what is frozen, as it was then. */
void region_check_rest(const struct region *r, const char *what)
{
	u64 i, k, n, len = r->buf->mr.length;

	for (i = 0; i < len; i += n) {
		const u8 *p;

		n = len - i;
		p = sim_span(r->buf, i, &n);
		k = unmarked(p, r->mark + i, n);
		if (k < n) {
			t_fail("memory", 1, "%s memory written out of range at %llu of %llu",
			       what, i + k, len);
			return;
		}
		if (r->frozen && memcmp(p, r->frozen + i, n)) {
			t_fail("memory", 0, "%s memory written after it was deregistered, near %llu",
			       what, i);
			return;
		}
	}
}
