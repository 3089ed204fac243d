// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * CRC-32 as the kernel has it: by carry-less multiplication where the CPU has that and the
 * data is long, else eight bytes at a time by tables.
 */

#include "core.h"
#ifdef __x86_64__
#include <immintrin.h>
#include "tools/debug/uml/clmul.h"
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
static u32 by_clmul(u32 crc, const u8 *p, u32 len)
{
	u32 tail = len & 15;

	return crc32_by_tables(crc32_by_clmul(crc, p, len), p + len - tail, tail);
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
