/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SROCE_ICRC_H
#define SROCE_ICRC_H

#include <linux/types.h>

/* Plain CRC-32, least significant bit first: from the surroundings */
u32 sroce_crc32(u32 crc, const void *data, u32 len);

void sroce_icrc_segment_header(u8 *l3, u32 l3_len, u32 n, u32 len);
u32 sroce_icrc_net(const u8 *l3, u32 l3_len, const u8 *udp);
u32 sroce_icrc_step_id(u32 crc, u16 flip);
u32 sroce_icrc_bth(u32 crc, const u8 *bth);
bool sroce_icrc_can_step(const u8 *was, const u8 *bth);
u32 sroce_icrc_step(u32 crc, u16 id, const u8 *was, const u8 *bth);

/**
 * sroce_icrc_data() - go on with the extended headers, payload and pad
 * @crc: from sroce_icrc_bth(), sroce_icrc_step() or an earlier call
 * @data: bytes
 * @len: how many
 */
static inline u32 sroce_icrc_data(u32 crc, const void *data, u32 len)
{
	return sroce_crc32(crc, data, len);
}

/**
 * sroce_icrc_final() - the ICRC as it stands on the wire
 * @crc: of everything from the network header to the end of the pad
 */
static inline __le32 sroce_icrc_final(u32 crc)
{
	return cpu_to_le32(~crc);
}

#endif /* SROCE_ICRC_H */
