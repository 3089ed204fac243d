// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Regions whose every byte is accounted for. */

#include <stdlib.h>
#include "world.h"

#define SCRAMBLED 0xee

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

static u8 byte_of(u32 what, u64 i)
{
	if (what == BYTES_ZERO)
		return 0;
	return what == BYTES_SCRAMBLED ? SCRAMBLED : sim_pattern(i, what);
}

/*
 * Whether each of @len bytes from @off on is what @a or @c says; @at is where
 * in the pattern the first of them stands.
 */
bool bytes_are(const struct sim_buf *b, u64 off, u64 len, u64 at, u32 a, u32 c)
{
	u64 i, k, n;

	for (i = 0; i < len; i += n) {
		const u8 *p;

		n = len - i;
		p = sim_span(b, off + i, &n);
		for (k = 0; k < n; k++)
			if (p[k] != byte_of(a, at + i + k) &&
			    p[k] != byte_of(c, at + i + k))
				return false;
	}
	return true;
}

/* @at: where in the pattern the first byte stands */
void bytes_set(struct region *r, u64 off, u64 len, u64 at, u32 what)
{
	u64 i, k, n;

	if (r->frozen)
		return;
	for (i = 0; i < len; i += n) {
		u8 *p;

		n = len - i;
		p = sim_span(r->buf, off + i, &n);
		for (k = 0; k < n; k++)
			p[k] = byte_of(what, at + i + k);
	}
}

void region_mark(struct region *r, u64 off, u64 len)
{
	memset(r->mark + off, 1, len);
}

/* What nobody marked is as it was at first; what is frozen, as it was then. */
void region_check_rest(const struct region *r, const char *what)
{
	u64 i, k, n, len = r->buf->mr.length;

	for (i = 0; i < len; i += n) {
		const u8 *p;

		n = len - i;
		p = sim_span(r->buf, i, &n);
		if (r->frozen && memcmp(p, r->frozen + i, n)) {
			t_fail("memory", 0, "%s memory written after it was deregistered, near %llu",
			       what, i);
			return;
		}
		for (k = 0; k < n; k++) {
			if (!r->mark[i + k] && p[k]) {
				t_fail("memory", 1, "%s memory written out of range at %llu of %llu",
				       what, i + k, len);
				return;
			}
		}
	}
}
