/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_LINUX_BITMAP_H
#define STUB_LINUX_BITMAP_H

#include <stdbool.h>
#include <string.h>

#define STUB_LONG_BITS	(8 * sizeof(long))
#define STUB_LONGS(n)	(((n) + STUB_LONG_BITS - 1) / STUB_LONG_BITS)
#define DECLARE_BITMAP(name, n)	unsigned long name[STUB_LONGS(n)]

static inline bool test_bit(unsigned int nr, const unsigned long *map)
{
	return map[nr / STUB_LONG_BITS] >> nr % STUB_LONG_BITS & 1;
}

static inline void __set_bit(unsigned int nr, unsigned long *map)
{
	map[nr / STUB_LONG_BITS] |= 1UL << nr % STUB_LONG_BITS;
}

static inline void __clear_bit(unsigned int nr, unsigned long *map)
{
	map[nr / STUB_LONG_BITS] &= ~(1UL << nr % STUB_LONG_BITS);
}

static inline void bitmap_zero(unsigned long *map, unsigned int n)
{
	memset(map, 0, STUB_LONGS(n) * sizeof(long));
}

#endif
