// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The ICRC of frames that others have made */

#include <stdlib.h>
#include <linux/string.h>
#include "drv/core/wire/icrc.h"
#include "drv/core/wire/wire.h"
#include "tests.h"
#include "vectors.h"

/* @cut: where the data is split between two calls */
static bool agrees(const u8 *f, const struct vector *v, u32 cut)
{
	u32 head = v->l3_len + 8 + SROCE_BTH_LEN;
	u32 rest = v->len - head - SROCE_ICRC_LEN;
	__le32 icrc;
	u32 crc;

	if (cut > rest)
		cut = rest;
	crc = sroce_icrc_bth(sroce_icrc_net(f, v->l3_len, f + v->l3_len), f + v->l3_len + 8);
	crc = sroce_icrc_data(crc, f + head, cut);
	crc = sroce_icrc_data(crc, f + head + cut, rest - cut);
	icrc = sroce_icrc_final(crc);
	return !memcmp(&icrc, f + v->len - sizeof(icrc), sizeof(icrc));
}

/* Fields that may change on the way, as byte and bits */
static bool variant(const struct vector *v, u32 byte, u32 bit)
{
	u32 bth = v->l3_len + 8;

	if (byte == bth + 4 || byte == bth - 1 || byte == bth - 2)
		return true;
	if (v->l3_len == 20)
		return byte == 1 || byte == 8 || byte == 10 || byte == 11;
	return (byte == 0 && bit < 4) || (byte >= 1 && byte <= 3) || byte == 7;
}

static u32 be16(const u8 *p)
{
	return p[0] << 8 | p[1];
}

/* The header of a train, and what segmentation makes of it */
static void test_segments(void)
{
	u8 v4[20] = { 0x45, 0, 0xf0, 0x1c, 0xff, 0xfe, 0x40, 0, 64, 17 };
	u8 v6[40] = { 0x60, 0, 0, 0, 0xf0, 0x08, 17, 64 };
	u8 was4[20], was6[40];
	u32 n;

	memcpy(was4, v4, sizeof(v4));
	memcpy(was6, v6, sizeof(v6));
	for (n = 0; n < 4; n++) {
		u32 len = n == 3 ? 20 : 1040;

		t_where("segment %u", n);
		sroce_icrc_segment_header(v4, 20, n, len);
		CHECK_EQ(be16(v4 + 2), 28 + len);
		CHECK_EQ(be16(v4 + 4), (0xfffe + n) & 0xffff);
		CHECK(!memcmp(v4, was4, 2) && !memcmp(v4 + 6, was4 + 6, 14));
		sroce_icrc_segment_header(v6, 40, n, len);
		CHECK_EQ(be16(v6 + 4), 8 + len);
		CHECK(!memcmp(v6, was6, 4) && !memcmp(v6 + 6, was6 + 6, 34));
		memcpy(v4, was4, sizeof(v4));
		memcpy(v6, was6, sizeof(v6));
	}
}

UNIT_TESTS(icrc)
{
	static const char * const family[] = { "IPv4", "IPv6" };
	u32 i, k, bit;

	for (k = 0; k < 2; k++) {
		t_case("icrc: frames of an independent implementation, %s",
		       family[k]);
		for (i = 0; i < vectors_nr; i++) {
			const struct vector *v = &vectors[i];

			t_where("vector %u", i);
			if (v->l3_len == (k ? 40 : 20))
				CHECK(agrees(v->frame, v, v->len / 5));
		}
	}

	t_case("icrc: the whole in one piece or split anywhere");
	for (i = 0; i < vectors[3].len; i++)
		CHECK(agrees(vectors[3].frame, &vectors[3], i));

	t_case("icrc: headers of the segments of a train");
	test_segments();

	t_case("icrc: covers each bit but those that change on the way");
	for (i = 0; i < vectors_nr; i += 9) {
		const struct vector *v = &vectors[i];
		u8 *f = malloc(v->len);

		memcpy(f, v->frame, v->len);
		for (k = 0; k < v->len; k++) {
			for (bit = 0; bit < 8; bit++) {
				t_where("vector %u, byte %u, bit %u", i, k, bit);
				f[k] ^= 1 << bit;
				CHECK_EQ(agrees(f, v, 0), variant(v, k, bit));
				f[k] ^= 1 << bit;
			}
		}
		free(f);
	}
}
