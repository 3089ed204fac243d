/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ICRCs of the segments of a train. */
#ifndef SROCE_CORE_WIRE_TRAIN_ICRC_H
#define SROCE_CORE_WIRE_TRAIN_ICRC_H

#include <linux/types.h>
#include "drv/core/wire/wire.h"

/**
 * struct sroce_train_icrc - CRC of the headers of a train's segments
 * @net: CRC of the network headers of the first segment
 * @crc: CRC of the headers of segment @ref, up to the end of its BTH
 * @ref: number of the segment that the CRC of others is derived from
 * @id: IPv4 identification of the first segment
 * @is_v4: the network header is IPv4, so segments have an identification
 * @bth: BTH of segment @ref, or all ones, which no packet has, if there is none yet
 */
struct sroce_train_icrc {
	u32	net;
	u32	crc;
	u32	ref;
	u16	id;
	bool	is_v4;
	u8	bth[SROCE_BTH_LEN];
};

u32 sroce_train_icrc_step_id(u32 crc, u16 flip);
u32 sroce_train_icrc_step(u32 crc, u16 id, const u8 *was, const u8 *bth);
void sroce_train_icrc_init(struct sroce_train_icrc *t, const u8 *l3, u32 l3_len,
			   const u8 *udp);
u32 sroce_train_icrc_headers(struct sroce_train_icrc *t, u32 n, const u8 *bth);

#endif /* SROCE_CORE_WIRE_TRAIN_ICRC_H */
