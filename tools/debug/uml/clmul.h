/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * CRC-32 by carry-less multiplication (Gopal et al., "Fast CRC Computation Using PCLMULQDQ",
 * Intel 2009, with the constants of the reflected polynomial), for programs and for User Mode
 * Linux, which have no other. Included after immintrin.h.
 */
#ifndef CLMUL_H
#define CLMUL_H

#define CLMUL	__attribute__((target("pclmul,sse4.1")))

/* The least bytes that crc32_by_clmul() takes */
#define CLMUL_BYTES	64U

/* Move what @x stands for on by as much as @by says, to where @next is. */
static inline CLMUL __m128i fold(__m128i x, __m128i by, __m128i next)
{
	return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(x, by, 0x00),
					   _mm_clmulepi64_si128(x, by, 0x11)), next);
}

static inline CLMUL __m128i load(const u8 *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

/* The CRC of 16 bytes, from 0: 128 bits become 96, then 64, and Barrett's reduction 32 of them. */
static inline CLMUL u32 reduce(__m128i x, __m128i by16)
{
	const __m128i low = _mm_set_epi32(0, ~0, 0, ~0);
	const __m128i by8 = _mm_set_epi64x(0, 0x163cd6124);
	const __m128i poly = _mm_set_epi64x(0x1f7011641, 0x1db710641);
	__m128i y;

	x = _mm_xor_si128(_mm_srli_si128(x, 8), _mm_clmulepi64_si128(x, by16, 0x10));
	y = _mm_clmulepi64_si128(_mm_and_si128(x, low), by8, 0x00);
	x = _mm_xor_si128(_mm_srli_si128(x, 4), y);
	y = _mm_clmulepi64_si128(_mm_and_si128(x, low), poly, 0x10);
	y = _mm_clmulepi64_si128(_mm_and_si128(y, low), poly, 0x00);
	return _mm_extract_epi32(_mm_xor_si128(x, y), 1);
}

/* 64 bytes at a time, then 16; the last @len % 16 bytes are left out. */
static CLMUL u32 crc32_by_clmul(u32 crc, const u8 *p, u32 len)
{
	const __m128i by64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
	const __m128i by16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
	__m128i a = _mm_xor_si128(load(p), _mm_cvtsi32_si128(crc));
	__m128i b = load(p + 16), c = load(p + 32), d = load(p + 48);

	for (p += 64, len -= 64; len >= 64; p += 64, len -= 64) {
		a = fold(a, by64, load(p));
		b = fold(b, by64, load(p + 16));
		c = fold(c, by64, load(p + 32));
		d = fold(d, by64, load(p + 48));
	}
	a = fold(fold(fold(a, by16, b), by16, c), by16, d);
	for (; len >= 16; p += 16, len -= 16)
		a = fold(a, by16, load(p));
	return reduce(a, by16);
}

#endif /* CLMUL_H */
