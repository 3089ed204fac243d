// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Invariant CRC (ICRC) of RoCEv2 packets, Annex A17.3.3. Fields that routers may change
 * are replaced by ones.
 */

#include <linux/compiler.h>
#include <linux/string.h>
#include "drv/compat/unaligned.h"
#include "drv/core/wire/icrc.h"
#include "drv/core/wire/wire.h"

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
 * sroce_icrc_segment_header() - convert a train's network header to that of a segment
 * @l3: network header of the train; becomes that of the segment
 * @l3_len: 20 for IPv4, 40 for IPv6
 * @n: number of the segment, from 0
 * @len: bytes of UDP payload of the segment
 *
 * Segmentation increments the IPv4 identification. The header checksum stays as it is,
 * since the ICRC masks it.
 */
void sroce_icrc_segment_header(u8 *l3, u32 l3_len, u32 n, u32 len)
{
	if (l3_len == 20) {
		put_unaligned_be16(20 + UDP_LEN + len, l3 + 2);
		put_unaligned_be16(get_unaligned_be16(l3 + 4) + n, l3 + 4);
	} else {
		put_unaligned_be16(UDP_LEN + len, l3 + 4);
	}
}

/**
 * sroce_icrc_net() - start a CRC with all headers before BTH
 * @l3: IPv4 header without options, or IPv6 header without extensions
 * @l3_len: 20 or 40
 * @udp: UDP header
 *
 * Variant fields are replaced by ones. Eight bytes of ones stand for the LRH, which RoCE
 * does not have.
 *
 * Return: the CRC up to the end of UDP.
 */
u32 sroce_icrc_net(const u8 *l3, u32 l3_len, const u8 *udp)
{
	u8 buf[8 + 40 + UDP_LEN];
	u8 *p = buf + 8;

	memset(buf, 0xff, 8);
	/* with a constant length memcpy() is inlined */
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
 * sroce_icrc_bth() - add BTH
 * @crc: from sroce_icrc_net()
 * @bth: BTH
 *
 * Return: the CRC up to the end of BTH.
 */
u32 sroce_icrc_bth(u32 crc, const u8 *bth)
{
	u8 buf[SROCE_BTH_LEN];

	memcpy(buf, bth, SROCE_BTH_LEN);
	buf[4] = 0xff;		/* FECN, BECN, resv8a */
	return sroce_crc32(crc, buf, SROCE_BTH_LEN);
}
