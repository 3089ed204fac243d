// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* CRC-32, eight bytes at a time; independent of the kernel's tables */

#include <endian.h>
#include "core.h"

static u32 table[8][256];

static __attribute__((constructor)) void crc_init(void)
{
	u32 i, k, crc;

	for (i = 0; i < 256; i++) {
		for (crc = i, k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
		table[0][i] = crc;
	}
	for (k = 1; k < 8; k++)
		for (i = 0; i < 256; i++)
			table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 0xff];
}

u32 crc32_by_tables(u32 crc, const void *data, u32 len)
{
	const u8 *p = data;
	u64 in;

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&in, p, 8);
		in = le64toh(in) ^ crc;
		crc = table[7][in & 255] ^ table[6][in >> 8 & 255] ^
		      table[5][in >> 16 & 255] ^ table[4][in >> 24 & 255] ^
		      table[3][in >> 32 & 255] ^ table[2][in >> 40 & 255] ^
		      table[1][in >> 48 & 255] ^ table[0][in >> 56];
	}
	while (len--)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 255];
	return crc;
}
