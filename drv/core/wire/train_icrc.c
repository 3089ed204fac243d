// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ICRCs of the segments of a train. The headers of segments of full length differ in a few
 * bits: the IPv4 identification, which counts up, the PSN and AckReq. So the CRC of the
 * headers is computed for one segment, and those of the others are derived from it.
 */

#include <linux/string.h>
#include "drv/compat/unaligned.h"
#include "drv/core/wire/icrc.h"
#include "drv/core/wire/train_icrc.h"

#define IPV4_LEN	20
#define IPV4_ID		4

/**
 * sroce_train_icrc_init() - start with the first segment of a train
 * @t: filled in
 * @l3: network header of the segment: IPv4 without options or IPv6 without extensions
 * @l3_len: 20 or 40
 * @udp: its UDP header
 */
void sroce_train_icrc_init(struct sroce_train_icrc *t, const u8 *l3, u32 l3_len,
			   const u8 *udp)
{
	t->net = sroce_icrc_net(l3, l3_len, udp);
	t->is_v4 = l3_len == IPV4_LEN;
	t->id = t->is_v4 ? get_unaligned_be16(l3 + IPV4_ID) : 0;
	t->ref = 0;
	memset(t->bth, 0xff, SROCE_BTH_LEN);
}

/* Bits that differ between the IPv4 identifications of two segments */
static u16 id_flip(const struct sroce_train_icrc *t, u32 a, u32 b)
{
	return t->is_v4 ? (t->id + a) ^ (t->id + b) : 0;
}

/**
 * sroce_train_icrc_headers() - CRC of the headers of a segment of full length
 * @t: the train
 * @n: number of the segment, from 0
 * @bth: its BTH
 *
 * Return: the CRC up to the end of BTH, to continue with sroce_icrc_data().
 */
u32 sroce_train_icrc_headers(struct sroce_train_icrc *t, u32 n, const u8 *bth)
{
	if (sroce_icrc_can_step(t->bth, bth))
		return sroce_icrc_step(t->crc, id_flip(t, t->ref, n), t->bth, bth);
	t->crc = sroce_icrc_bth(sroce_icrc_step_id(t->net, id_flip(t, 0, n)), bth);
	t->ref = n;
	memcpy(t->bth, bth, SROCE_BTH_LEN);
	return t->crc;
}
