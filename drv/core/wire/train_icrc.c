// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ICRCs of the segments of a train. The headers of segments of full length differ in a few
 * bits: the IPv4 identification, which counts up, the PSN and AckReq. A CRC is linear. So
 * the CRC of the headers is computed for one segment, and those of the others are derived
 * from it by tables, for the bits that differ.
 */

#include <linux/string.h>
#include "drv/compat/unaligned.h"
#include "drv/core/wire/icrc.h"
#include "drv/core/wire/train_icrc.h"

#define IPV4_LEN	20
#define IPV4_ID		4

/*
 * How bits of the IPv4 identification change the CRC of the headers up to the end of UDP:
 * CRC-32 of these bits followed by 22 zero bytes. One table for four bits each, the highest
 * first.
 */
static const u32 id_crc[4][16] = {
	{
		0x00000000, 0x7f6b7f3d, 0xfed6fe7a, 0x81bd8147,
		0x26dcfab5, 0x59b78588, 0xd80a04cf, 0xa7617bf2,
		0x4db9f56a, 0x32d28a57, 0xb36f0b10, 0xcc04742d,
		0x6b650fdf, 0x140e70e2, 0x95b3f1a5, 0xead88e98,
	},
	{
		0x00000000, 0x81256527, 0xd93bcc0f, 0x581ea928,
		0x69069e5f, 0xe823fb78, 0xb03d5250, 0x31183777,
		0xd20d3cbe, 0x53285999, 0x0b36f0b1, 0x8a139596,
		0xbb0ba2e1, 0x3a2ec7c6, 0x62306eee, 0xe3150bc9,
	},
	{
		0x00000000, 0x0172864c, 0x02e50c98, 0x03978ad4,
		0x05ca1930, 0x04b89f7c, 0x072f15a8, 0x065d93e4,
		0x0b943260, 0x0ae6b42c, 0x09713ef8, 0x0803b8b4,
		0x0e5e2b50, 0x0f2cad1c, 0x0cbb27c8, 0x0dc9a184,
	},
	{
		0x00000000, 0x9b73ead4, 0xed96d3e9, 0x76e5393d,
		0x005ca193, 0x9b2f4b47, 0xedca727a, 0x76b998ae,
		0x00b94326, 0x9bcaa9f2, 0xed2f90cf, 0x765c7a1b,
		0x00e5e2b5, 0x9b960861, 0xed73315c, 0x7600db88,
	},
};

/**
 * sroce_train_icrc_step_id() - derive a sroce_icrc_net() for another IPv4 identification
 * @crc: from sroce_icrc_net()
 * @flip: bits of the identification that differ
 *
 * Return: the CRC up to the end of UDP, of the other packet.
 */
u32 sroce_train_icrc_step_id(u32 crc, u16 flip)
{
	return crc ^ id_crc[0][flip >> 12] ^ id_crc[1][flip >> 8 & 15] ^
	       id_crc[2][flip >> 4 & 15] ^ id_crc[3][flip & 15];
}

/* As id_crc, for the CRC up to the end of BTH */
static const u32 id_bth_crc[4][16] = {
	{
		0x00000000, 0xe141625c, 0x19f3c2f9, 0xf8b2a0a5,
		0x33e785f2, 0xd2a6e7ae, 0x2a14470b, 0xcb552557,
		0x67cf0be4, 0x868e69b8, 0x7e3cc91d, 0x9f7dab41,
		0x54288e16, 0xb569ec4a, 0x4ddb4cef, 0xac9a2eb3,
	},
	{
		0x00000000, 0x9570d495, 0xf190af6b, 0x64e07bfe,
		0x38505897, 0xad208c02, 0xc9c0f7fc, 0x5cb02369,
		0x70a0b12e, 0xe5d065bb, 0x81301e45, 0x1440cad0,
		0x48f0e9b9, 0xdd803d2c, 0xb96046d2, 0x2c109247,
	},
	{
		0x00000000, 0x4ffa444b, 0x9ff48896, 0xd00eccdd,
		0xe498176d, 0xab625326, 0x7b6c9ffb, 0x3496dbb0,
		0x1241289b, 0x5dbb6cd0, 0x8db5a00d, 0xc24fe446,
		0xf6d93ff6, 0xb9237bbd, 0x692db760, 0x26d7f32b,
	},
	{
		0x00000000, 0xcf9e17c8, 0x444d29d1, 0x8bd33e19,
		0x889a53a2, 0x4704446a, 0xccd77a73, 0x03496dbb,
		0xca45a105, 0x05dbb6cd, 0x8e0888d4, 0x41969f1c,
		0x42dff2a7, 0x8d41e56f, 0x0692db76, 0xc90cccbe,
	},
};

/* The same for bits of the PSN, the last field of BTH */
static const u32 psn_crc[6][16] = {
	{
		0x00000000, 0x1c26a370, 0x384d46e0, 0x246be590,
		0x709a8dc0, 0x6cbc2eb0, 0x48d7cb20, 0x54f16850,
		0xe1351b80, 0xfd13b8f0, 0xd9785d60, 0xc55efe10,
		0x91af9640, 0x8d893530, 0xa9e2d0a0, 0xb5c473d0,
	},
	{
		0x00000000, 0x01c26a37, 0x0384d46e, 0x0246be59,
		0x0709a8dc, 0x06cbc2eb, 0x048d7cb2, 0x054f1685,
		0x0e1351b8, 0x0fd13b8f, 0x0d9785d6, 0x0c55efe1,
		0x091af964, 0x08d89353, 0x0a9e2d0a, 0x0b5c473d,
	},
	{
		0x00000000, 0x4ac21251, 0x958424a2, 0xdf4636f3,
		0xf0794f05, 0xbabb5d54, 0x65fd6ba7, 0x2f3f79f6,
		0x3b83984b, 0x71418a1a, 0xae07bce9, 0xe4c5aeb8,
		0xcbfad74e, 0x8138c51f, 0x5e7ef3ec, 0x14bce1bd,
	},
	{
		0x00000000, 0x191b3141, 0x32366282, 0x2b2d53c3,
		0x646cc504, 0x7d77f445, 0x565aa786, 0x4f4196c7,
		0xc8d98a08, 0xd1c2bb49, 0xfaefe88a, 0xe3f4d9cb,
		0xacb54f0c, 0xb5ae7e4d, 0x9e832d8e, 0x87981ccf,
	},
	{
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
		0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	},
	{
		0x00000000, 0x77073096, 0xee0e612c, 0x990951ba,
		0x076dc419, 0x706af48f, 0xe963a535, 0x9e6495a3,
		0x0edb8832, 0x79dcb8a4, 0xe0d5e91e, 0x97d2d988,
		0x09b64c2b, 0x7eb17cbd, 0xe7b82d07, 0x90bf1d91,
	},
};

/* Whether two BTHs differ in the PSN only */
static bool can_step(const u8 *was, const u8 *bth)
{
	u64 a, b;

	memcpy(&a, was, sizeof(a));
	memcpy(&b, bth, sizeof(b));
	return a == b && was[offsetof(struct sroce_bth, apsn)] ==
			 bth[offsetof(struct sroce_bth, apsn)];
}

/**
 * sroce_train_icrc_step() - derive a sroce_icrc_bth() for another PSN and identification
 * @crc: from sroce_icrc_bth()
 * @id: bits of the IPv4 identification that differ
 * @was: BTH of the packet that @crc is of
 * @bth: BTH of the other packet
 *
 * Return: the CRC up to the end of BTH, of the other packet.
 */
u32 sroce_train_icrc_step(u32 crc, u16 id, const u8 *was, const u8 *bth)
{
	const u32 at = offsetof(struct sroce_bth, apsn);
	u32 psn = get_unaligned_be32(was + at) ^ get_unaligned_be32(bth + at);

	/* within a train usually only the low bits differ */
	if (unlikely(id >> 8))
		crc ^= id_bth_crc[0][id >> 12] ^ id_bth_crc[1][id >> 8 & 15];
	if (unlikely(psn >> 8))
		crc ^= psn_crc[0][psn >> 20 & 15] ^ psn_crc[1][psn >> 16 & 15] ^
		       psn_crc[2][psn >> 12 & 15] ^ psn_crc[3][psn >> 8 & 15];
	return crc ^ id_bth_crc[2][id >> 4 & 15] ^ id_bth_crc[3][id & 15] ^
	       psn_crc[4][psn >> 4 & 15] ^ psn_crc[5][psn & 15];
}

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
	if (can_step(t->bth, bth))
		return sroce_train_icrc_step(t->crc, id_flip(t, t->ref, n), t->bth, bth);
	t->crc = sroce_icrc_bth(sroce_train_icrc_step_id(t->net, id_flip(t, 0, n)), bth);
	t->ref = n;
	memcpy(t->bth, bth, SROCE_BTH_LEN);
	return t->crc;
}
