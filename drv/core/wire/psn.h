/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Packet sequence numbers (PSNs): 24 bits, compared modulo 2^24 (9.7.1). */
#ifndef SROCE_PSN_H
#define SROCE_PSN_H

#include "drv/core/wire/wire.h"

/* A message of so many PSNs is invalid: the oldest and the newest can't be compared (9.7.1). */
#define SROCE_PSN_HALF	0x800000U

/**
 * sroce_psn_add() - add a number to a PSN, modulo 2^24
 * @psn: the PSN
 * @n: the number, may be negative
 */
static inline u32 sroce_psn_add(u32 psn, s32 n)
{
	return (psn + n) & SROCE_PSN_MASK;
}

/**
 * sroce_psn_diff() - signed distance of two PSNs that are less than 2^23 apart
 * @a: a PSN
 * @b: a PSN
 *
 * Return: @a - @b, negative if @a is older.
 */
static inline s32 sroce_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

/**
 * sroce_psn_count() - number of PSNs that a message takes
 * @len: bytes of payload
 * @mtu: path MTU in bytes, a power of two
 *
 * Return: at least 1: an empty message is one packet.
 */
static inline u32 sroce_psn_count(u32 len, u32 mtu)
{
	/* a division is slow, and most messages don't need it */
	return len > mtu ? (len - 1) / mtu + 1 : 1;
}

#endif /* SROCE_PSN_H */
