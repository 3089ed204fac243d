// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Invariant CRC of RoCEv2, Annex A17.3.3. */

#include <linux/string.h>
#include "../compat/unaligned.h"
#include "icrc.h"
#include "wire.h"

#define UDP_LEN 8

static void mask_ipv4(u8 *ip)
{
	ip[1] = 0xff;		/* DSCP, ECN */
	ip[8] = 0xff;		/* TTL */
	ip[10] = 0xff;		/* header checksum */
	ip[11] = 0xff;
}

static void mask_ipv6(u8 *ip)
{
	ip[0] |= 0x0f;		/* traffic class, flow label */
	ip[1] = 0xff;
	ip[2] = 0xff;
	ip[3] = 0xff;
	ip[7] = 0xff;		/* hop limit */
}

/**
 * sroce_segment_header() - the network header of a segment of a train
 * @l3: that of the train; becomes that of the segment
 * @l3_len: 20 for IPv4, 40 for IPv6
 * @n: which segment, from 0
 * @len: UDP payload of the segment
 *
 * Segmentation counts the IPv4 identification up. The header checksum is left
 * as it is, since ICRC masks it.
 */
void sroce_segment_header(u8 *l3, u32 l3_len, u32 n, u32 len)
{
	if (l3_len == 20) {
		put_unaligned_be16(20 + UDP_LEN + len, l3 + 2);
		put_unaligned_be16(get_unaligned_be16(l3 + 4) + n, l3 + 4);
	} else {
		put_unaligned_be16(UDP_LEN + len, l3 + 4);
	}
}

/*
 * What a bit of the IPv4 identification changes in the CRC of the headers that end
 * with UDP: CRC-32 of it and the 22 bytes that follow as zeros, by four bits each,
 * the highest first.
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
 * sroce_icrc_net() - CRC of all that stands before BTH
 * @l3: IPv4 header without options, or IPv6 header without extensions
 * @l3_len: 20 or 40
 * @udp: UDP header
 *
 * Fields that change on the way count as ones, and so do the eight bytes of
 * an LRH that RoCE has not got.
 *
 * Return: the CRC to go on with.
 */
u32 sroce_icrc_net(const u8 *l3, u32 l3_len, const u8 *udp)
{
	u8 buf[8 + 40 + UDP_LEN];
	u8 *p = buf + 8;

	memset(buf, 0xff, 8);
	/* lengths that the compiler knows cost no call */
	if (l3_len == 20) {
		memcpy(p, l3, 20);
		mask_ipv4(p);
	} else {
		memcpy(p, l3, 40);
		mask_ipv6(p);
	}
	p += l3_len;
	memcpy(p, udp, UDP_LEN);
	p[6] = 0xff;		/* checksum */
	p[7] = 0xff;

	return sroce_crc32(~0U, buf, p + UDP_LEN - buf);
}

/**
 * sroce_icrc_renumber() - the same with another IPv4 identification
 * @crc: from sroce_icrc_net()
 * @flip: bits of the identification that are different
 *
 * A CRC is linear: what differs changes it alike, whatever the rest is.
 */
u32 sroce_icrc_renumber(u32 crc, u16 flip)
{
	return crc ^ id_crc[0][flip >> 12] ^ id_crc[1][flip >> 8 & 15] ^
	       id_crc[2][flip >> 4 & 15] ^ id_crc[3][flip & 15];
}

/**
 * sroce_icrc_bth() - go on with BTH
 * @crc: from sroce_icrc_net()
 * @bth: BTH
 */
u32 sroce_icrc_bth(u32 crc, const u8 *bth)
{
	u8 buf[SROCE_BTH_LEN];

	memcpy(buf, bth, SROCE_BTH_LEN);
	buf[4] = 0xff;		/* FECN, BECN, resv8a */
	return sroce_crc32(crc, buf, SROCE_BTH_LEN);
}

/**
 * sroce_icrc_data() - go on with the extended headers, payload and pad
 * @crc: from sroce_icrc_bth() or an earlier call
 * @data: bytes
 * @len: how many
 */
u32 sroce_icrc_data(u32 crc, const void *data, u32 len)
{
	return sroce_crc32(crc, data, len);
}
