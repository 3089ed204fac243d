// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CRC-32 as the kernel has it: by carry-less multiplication where the CPU has that and the
 * data is long (Gopal et al., "Fast CRC Computation Using PCLMULQDQ", Intel 2009, with the
 * constants of the reflected polynomial), else eight bytes at a time by tables.
 */

#include "core.h"
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* As in drv/net/crc.c */
#define CLMUL_MIN	256

bool without_crc;

static bool has_clmul;

static __attribute__((constructor)) void crc_init(void)
{
#ifdef __x86_64__
	has_clmul = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
#endif
}

#ifdef __x86_64__
#define CLMUL	__attribute__((target("pclmul,sse4.1")))

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

/* 64 bytes at a time, then 16; what they leave has the same CRC as they have. */
static CLMUL u32 by_clmul(u32 crc, const u8 *p, u32 len)
{
	const __m128i by64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
	const __m128i by16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
	__m128i a = _mm_xor_si128(load(p), _mm_cvtsi32_si128(crc));
	__m128i b = load(p + 16), c = load(p + 32), d = load(p + 48);
	u8 left[16];

	for (p += 64, len -= 64; len >= 64; p += 64, len -= 64) {
		a = fold(a, by64, load(p));
		b = fold(b, by64, load(p + 16));
		c = fold(c, by64, load(p + 32));
		d = fold(d, by64, load(p + 48));
	}
	a = fold(fold(fold(a, by16, b), by16, c), by16, d);
	for (; len >= 16; p += 16, len -= 16)
		a = fold(a, by16, load(p));
	_mm_storeu_si128((__m128i *)left, a);
	return crc32_by_tables(crc32_by_tables(0, left, sizeof(left)), p, len);
}
#else
static u32 by_clmul(u32 crc, const u8 *p, u32 len)
{
	return crc32_by_tables(crc, p, len);
}
#endif

u32 sroce_crc32(u32 crc, const void *data, u32 len)
{
	if (without_crc)
		return 0;
	return has_clmul && len >= CLMUL_MIN ? by_clmul(crc, data, len) :
					       crc32_by_tables(crc, data, len);
}

const char *crc_name(void)
{
	return has_clmul ? "carry-less multiplication" : "tables";
}

/* Against one bit at a time, at all lengths up to a packet's */
bool crc_is_right(void)
{
	u8 data[4400];
	u32 i, k, len, crc = ~0U;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 167 + (i >> 8) * 13;
	for (len = 0; len < sizeof(data); len++) {
		if (sroce_crc32(~0U, data, len) != crc)
			return false;
		for (crc ^= data[len], k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~sroce_crc32(~0U, "123456789", 9) == 0xcbf43926;
}
