/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_LINUX_BITMAP_H
#define STUB_LINUX_BITMAP_H

#include <stdbool.h>
#include <string.h>

#define BITS_PER_LONG	(8 * sizeof(long))
#define STUB_LONGS(n)	(((n) + BITS_PER_LONG - 1) / BITS_PER_LONG)
#define DECLARE_BITMAP(name, n)	unsigned long name[STUB_LONGS(n)]

static inline bool test_bit(unsigned int nr, const unsigned long *map)
{
	return map[nr / BITS_PER_LONG] >> nr % BITS_PER_LONG & 1;
}

static inline void __set_bit(unsigned int nr, unsigned long *map)
{
	map[nr / BITS_PER_LONG] |= 1UL << nr % BITS_PER_LONG;
}

static inline void __clear_bit(unsigned int nr, unsigned long *map)
{
	map[nr / BITS_PER_LONG] &= ~(1UL << nr % BITS_PER_LONG);
}

/* The first bit from @i on that differs from those of @inverse, which are all alike */
static inline unsigned long stub_find_bit(const unsigned long *map, unsigned long n,
					  unsigned long i, unsigned long inverse)
{
	while (i < n) {
		unsigned long left = (map[i / BITS_PER_LONG] ^ inverse) >> i % BITS_PER_LONG;

		if (left) {
			i += __builtin_ctzl(left);
			break;
		}
		i += BITS_PER_LONG - i % BITS_PER_LONG;
	}
	return i < n ? i : n;
}

static inline unsigned long find_next_bit(const unsigned long *map, unsigned long n,
					  unsigned long i)
{
	return stub_find_bit(map, n, i, 0);
}

static inline unsigned long find_next_zero_bit(const unsigned long *map, unsigned long n,
					       unsigned long i)
{
	return stub_find_bit(map, n, i, ~0UL);
}

static inline unsigned long __fls(unsigned long w)
{
	return BITS_PER_LONG - 1 - __builtin_clzl(w);
}

static inline unsigned long hweight_long(unsigned long w)
{
	return __builtin_popcountl(w);
}

static inline void bitmap_zero(unsigned long *map, unsigned int n)
{
	memset(map, 0, STUB_LONGS(n) * sizeof(long));
}

#endif
