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

/**
 * sroce_icrc_head() - CRC of all that stands before the extended headers
 * @l3: IPv4 header without options, or IPv6 header without extensions
 * @l3_len: 20 or 40
 * @udp: UDP header
 * @bth: BTH
 *
 * Fields that change on the way count as ones, and so do the eight bytes of
 * an LRH that RoCE has not got.
 *
 * Return: the CRC to go on with.
 */
u32 sroce_icrc_head(const u8 *l3, u32 l3_len, const u8 *udp, const u8 *bth)
{
	u8 buf[8 + 40 + UDP_LEN + SROCE_BTH_LEN];
	u8 *p = buf;

	memset(p, 0xff, 8);
	p += 8;
	memcpy(p, l3, l3_len);
	if (l3_len == 20)
		mask_ipv4(p);
	else
		mask_ipv6(p);
	p += l3_len;
	memcpy(p, udp, UDP_LEN);
	p[6] = 0xff;		/* checksum */
	p[7] = 0xff;
	p += UDP_LEN;
	memcpy(p, bth, SROCE_BTH_LEN);
	p[4] = 0xff;		/* FECN, BECN, resv8a */
	p += SROCE_BTH_LEN;

	return sroce_crc32(~0U, buf, p - buf);
}

/**
 * sroce_icrc_data() - go on with the extended headers, payload and pad
 * @crc: from sroce_icrc_head() or an earlier call
 * @data: bytes
 * @len: how many
 */
u32 sroce_icrc_data(u32 crc, const void *data, u32 len)
{
	return sroce_crc32(crc, data, len);
}
