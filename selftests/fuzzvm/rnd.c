// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Random numbers, counts of calls, and when each thread has begun its present one. */

#define _GNU_SOURCE
#include <time.h>
#include "fz.h"

struct fz_board *board;

/* splitmix64, also to derive seeds */
uint64_t fz_mix(uint64_t a, uint64_t b)
{
	uint64_t z = a + (b + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

uint32_t fz_rand(struct fz_thread *t)
{
	t->rnd += 0x9e3779b97f4a7c15ULL;
	return fz_mix(t->rnd, 0) >> 32;
}

uint32_t fz_below(struct fz_thread *t, uint32_t n)
{
	return (uint64_t)fz_rand(t) * n >> 32;
}

bool fz_one_in(struct fz_thread *t, uint32_t n)
{
	return !fz_below(t, n);
}

bool fz_mistake(struct fz_thread *t)
{
	return fz_one_in(t, t->proc->wild ? 6 : 400);
}

/* Values that are often at the edge of something */
uint64_t fz_odd(struct fz_thread *t)
{
	switch (fz_below(t, 8)) {
	case 0:
		return fz_below(t, 4);
	case 1:
		return ~0ULL - fz_below(t, 3);
	case 2:
		return 1ULL << fz_below(t, 64);
	case 3:
		return (1ULL << fz_below(t, 64)) - 1;
	case 4:
		return 1ULL << 31 | fz_rand(t);
	case 5:
		return fz_below(t, 65536);
	default:
		return (uint64_t)fz_rand(t) << 32 | fz_rand(t);
	}
}

uint64_t fz_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

void fz_count(enum fz_call call, int err)
{
	atomic_fetch_add(&board->count[call][err < ERRNOS ? err : ERRNOS - 1], 1);
}

void fz_begin(struct fz_thread *t, enum fz_call call)
{
	t->watch->call = call;
	t->watch->since = fz_now_ms();
}

/* Return: 0, or the errno of a call that has returned -1 */
int fz_end(struct fz_thread *t, enum fz_call call, int ret)
{
	int err = ret < 0 ? errno : 0;

	t->watch->since = 0;
	fz_count(call, err);
	if (err == EIO || err == ENODEV)
		t->proc->gone++;
	return err;
}
