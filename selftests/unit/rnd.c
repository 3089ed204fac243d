// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Repeatable randomness */

#include "check.h"

/* splitmix64 */
uint64_t rnd64(struct rnd *r)
{
	uint64_t z = r->s += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

uint32_t rnd32(struct rnd *r)
{
	return rnd64(r) >> 32;
}

uint32_t rnd_below(struct rnd *r, uint32_t n)
{
	return rnd64(r) % n;
}

void rnd_fill(struct rnd *r, void *p, uint32_t len)
{
	uint8_t *to = p;

	while (len--)
		*to++ = rnd64(r) >> 56;
}
