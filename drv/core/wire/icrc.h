/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Invariant CRC (ICRC) of RoCEv2 packets, Annex A17.3.3. */
#ifndef SROCE_ICRC_H
#define SROCE_ICRC_H

#include <linux/types.h>
#include "drv/core/env.h"

void sroce_icrc_segment_header(u8 *l3, u32 l3_len, u32 n, u32 len);
u32 sroce_icrc_net(const u8 *l3, u32 l3_len, const u8 *udp);
u32 sroce_icrc_bth(u32 crc, const u8 *bth);

/**
 * sroce_icrc_data() - add extended headers, payload or pad
 * @crc: from sroce_icrc_bth(), sroce_train_icrc_step() or an earlier call
 * @data: the bytes
 * @len: number of bytes
 *
 * Return: the CRC including @data.
 */
static inline u32 sroce_icrc_data(u32 crc, const void *data, u32 len)
{
	return sroce_crc32(crc, data, len);
}

/**
 * sroce_icrc_final() - convert a CRC into the ICRC on the wire
 * @crc: CRC from the network header to the end of the pad
 */
static inline __le32 sroce_icrc_final(u32 crc)
{
	return cpu_to_le32(~crc);
}

#endif /* SROCE_ICRC_H */
