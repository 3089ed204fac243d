// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Mutations that keep the records of an input apart (see world.h) */

#include "world.h"

size_t LLVMFuzzerMutate(u8 *data, size_t len, size_t max);
size_t LLVMFuzzerCustomMutator(u8 *data, size_t len, size_t max, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const u8 *a, size_t alen, const u8 *b,
				 size_t blen, u8 *out, size_t max,
				 unsigned int seed);

static u32 records(size_t len)
{
	return len > HEAD_LEN ? (len - HEAD_LEN) / REC_LEN : 0;
}

static u8 *record(u8 *data, u32 i)
{
	return data + HEAD_LEN + (size_t)i * REC_LEN;
}

/* Fields of fixed size: what a mutation makes longer is cut. */
static void change(u8 *p, size_t len, struct rnd *r)
{
	u8 buf[2 * REC_LEN] = {};
	size_t n;

	if (rnd_below(r, 2)) {
		p[rnd_below(r, len)] = rnd32(r);
		return;
	}
	memcpy(buf, p, len);
	n = LLVMFuzzerMutate(buf, len, len);
	memset(buf + n, 0, len - n);
	memcpy(p, buf, len);
}

/* Make room for @n records at @at; returns the new length. */
static size_t open_gap(u8 *data, size_t len, u32 at, u32 n)
{
	memmove(record(data, at + n), record(data, at),
		len - HEAD_LEN - (size_t)at * REC_LEN);
	return len + (size_t)n * REC_LEN;
}

static size_t insert(u8 *data, size_t len, struct rnd *r)
{
	u32 at = rnd_below(r, records(len) + 1);

	len = open_gap(data, len, at, 1);
	rnd_fill(r, record(data, at), REC_LEN);
	return len;
}

static size_t repeat(u8 *data, size_t len, size_t max, struct rnd *r)
{
	u32 n = records(len), from = rnd_below(r, n);
	u32 count = 1 + rnd_below(r, n - from < 4 ? n - from : 4);
	u32 at = rnd_below(r, n + 1);
	u8 copy[4 * REC_LEN];

	if (len + (size_t)count * REC_LEN > max)
		return len;
	memcpy(copy, record(data, from), (size_t)count * REC_LEN);
	len = open_gap(data, len, at, count);
	memcpy(record(data, at), copy, (size_t)count * REC_LEN);
	return len;
}

static size_t drop(u8 *data, size_t len, struct rnd *r)
{
	u32 n = records(len), at = rnd_below(r, n);

	memmove(record(data, at), record(data, at + 1),
		(size_t)(n - at - 1) * REC_LEN);
	return len - REC_LEN;
}

static void exchange(u8 *data, size_t len, struct rnd *r)
{
	u32 n = records(len);
	u8 *a = record(data, rnd_below(r, n)), *b = record(data, rnd_below(r, n));
	u8 tmp[REC_LEN];

	memcpy(tmp, a, REC_LEN);
	memcpy(a, b, REC_LEN);
	memcpy(b, tmp, REC_LEN);
}

static size_t mutate_once(u8 *data, size_t len, size_t max, struct rnd *r)
{
	u32 n = records(len), what = rnd_below(r, 16);

	if (!n || (what < 3 && len + REC_LEN <= max))
		return insert(data, len, r);
	if (what < 5)
		return repeat(data, len, max, r);
	if (what < 7)
		return drop(data, len, r);
	if (what == 7)
		exchange(data, len, r);
	else if (what == 8)
		change(data, HEAD_LEN, r);
	else
		change(record(data, rnd_below(r, n)), REC_LEN, r);
	return len;
}

size_t LLVMFuzzerCustomMutator(u8 *data, size_t len, size_t max,
			       unsigned int seed)
{
	struct rnd r = { seed };
	u32 times;

	if (max < HEAD_LEN + REC_LEN)
		return LLVMFuzzerMutate(data, len, max);
	if (len < HEAD_LEN) {
		memset(data + len, 0, HEAD_LEN - len);
		len = HEAD_LEN;
	}
	len = HEAD_LEN + (size_t)records(len) * REC_LEN;
	for (times = 1 + rnd_below(&r, 3); times; times--)
		len = mutate_once(data, len, max, &r);
	return len;
}

/* The head and the first records of one, the last of the other */
size_t LLVMFuzzerCustomCrossOver(const u8 *a, size_t alen, const u8 *b,
				 size_t blen, u8 *out, size_t max,
				 unsigned int seed)
{
	struct rnd r = { seed };
	u32 na = rnd_below(&r, records(alen) + 1);
	u32 from = rnd_below(&r, records(blen) + 1);
	size_t nb = (size_t)(records(blen) - from) * REC_LEN;
	size_t len = HEAD_LEN + (size_t)na * REC_LEN;

	if (alen < HEAD_LEN || blen < HEAD_LEN || len > max)
		return 0;
	memcpy(out, a, len);
	if (nb > max - len)
		nb = (max - len) / REC_LEN * REC_LEN;
	memcpy(out + len, b + HEAD_LEN + (size_t)from * REC_LEN, nb);
	return len + nb;
}
