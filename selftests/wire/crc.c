// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* CRC-32, and the invariant CRC of Annex A17: fields that may change are ones. */

#include <string.h>
#include "frame.h"

uint32_t wt_crc32(uint32_t crc, const void *data, size_t len)
{
	static uint32_t table[256];
	const uint8_t *p = data;

	if (!table[1]) {
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t c = i;

			for (int k = 0; k < 8; k++)
				c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
			table[i] = c;
		}
	}
	while (len--)
		crc = table[(crc ^ *p++) & 0xff] ^ crc >> 8;
	return crc;
}

/*
 * @l3: IP header as sent; @udp: UDP header and all that follows it, without
 * the ICRC. The value goes on the wire with its lowest byte first.
 */
uint32_t wt_icrc_value(int family, const uint8_t *l3, size_t l3_len,
		       const uint8_t *udp, size_t udp_len)
{
	uint8_t head[8 + 128 + 20];
	uint8_t *ip = head + 8, *u = ip + l3_len;
	size_t in_head = udp_len < 20 ? udp_len : 20;
	uint32_t crc;

	memset(head, 0xff, 8);		/* stands for LRH */
	memcpy(ip, l3, l3_len);
	if (family == 4) {
		ip[1] = 0xff;		/* ToS */
		ip[8] = 0xff;		/* TTL */
		memset(ip + 10, 0xff, 2);	/* checksum */
	} else {
		ip[0] |= 0x0f;		/* traffic class, flow label */
		memset(ip + 1, 0xff, 3);
		ip[7] = 0xff;		/* hop limit */
	}
	memcpy(u, udp, in_head);
	if (in_head >= 8)
		memset(u + 6, 0xff, 2);	/* UDP checksum */
	if (in_head > 12)
		u[12] = 0xff;		/* BTH: FECN, BECN and reserved */
	crc = wt_crc32(~0u, head, 8 + l3_len + in_head);
	crc = wt_crc32(crc, udp + in_head, udp_len - in_head);
	return ~crc;
}
