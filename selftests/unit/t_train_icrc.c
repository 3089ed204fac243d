// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* CRCs of the headers of a train's segments, against the same without stepping */

#include <linux/string.h>
#include "drv/compat/unaligned.h"
#include "drv/core/wire/icrc.h"
#include "drv/core/wire/train_icrc.h"
#include "tests.h"

#define SEG	1040	/* bytes of a segment from BTH on */

struct train {
	u8	l3[40];
	u32	l3_len;
	u8	udp[8];
	u8	bth[SROCE_BTH_LEN];
};

static void train_v4(struct train *t, u16 id)
{
	memset(t, 0, sizeof(*t));
	t->l3_len = 20;
	t->l3[0] = 0x45;
	put_unaligned_be16(20 + 8 + SEG, t->l3 + 2);
	put_unaligned_be16(id, t->l3 + 4);
	memcpy(t->l3 + 12, "\x0a\x07\x00\x01\x0a\x07\x00\x02", 8);
}

static void train_v6(struct train *t)
{
	memset(t, 0, sizeof(*t));
	t->l3_len = 40;
	t->l3[0] = 0x60;
	put_unaligned_be16(8 + SEG, t->l3 + 4);
	memcpy(t->l3 + 8, "\xfd\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", 16);
	memcpy(t->l3 + 24, "\xfd\x07\0\0\0\0\0\0\0\0\0\0\0\0\0\x02", 16);
}

static void set_bth(struct train *t, u8 opcode, u32 apsn)
{
	put_unaligned_be16(0xc0de, t->udp);
	put_unaligned_be16(SROCE_UDP_PORT, t->udp + 2);
	put_unaligned_be16(8 + SEG, t->udp + 4);
	t->bth[0] = opcode;
	put_unaligned_be16(SROCE_PKEY_FULL, t->bth + 2);
	put_unaligned_be32(0x123456, t->bth + 4);
	put_unaligned_be32(apsn, t->bth + 8);
}

/* The CRC of segment @n up to the end of BTH, computed from all its bytes */
static u32 whole(const struct train *t, u32 n)
{
	u8 l3[40];

	memcpy(l3, t->l3, t->l3_len);
	sroce_icrc_segment_header(l3, t->l3_len, n, SEG);
	return sroce_icrc_bth(sroce_icrc_net(l3, t->l3_len, t->udp), t->bth);
}

static void start(struct sroce_train_icrc *icrc, struct train *t)
{
	set_bth(t, 0x07, 0);
	sroce_train_icrc_init(icrc, t->l3, t->l3_len, t->udp);
}

/* Segments in order, with PSNs from @psn on */
static void check_segments(struct train *t, u32 psn)
{
	struct sroce_train_icrc icrc;
	u32 n;

	start(&icrc, t);
	for (n = 0; n < 300; n++) {
		set_bth(t, 0x07, (psn + n) & SROCE_PSN_MASK);
		t_where("segment %u", n);
		CHECK_EQ(sroce_train_icrc_headers(&icrc, n, t->bth), whole(t, n));
	}
}

static void check_changes(void)
{
	struct sroce_train_icrc icrc;
	struct train t;
	u32 n;

	train_v4(&t, 77);
	start(&icrc, &t);
	for (n = 0; n < 64; n++) {
		/* opcode and AckReq change now and then, segments are left out */
		set_bth(&t, n % 5 ? 0x07 : 0x06, (n % 7 ? 0 : SROCE_BTH_ACKREQ) | n);
		CHECK_EQ(sroce_train_icrc_headers(&icrc, 3 * n, t.bth), whole(&t, 3 * n));
	}
}

static void check_step_id(void)
{
	u8 l3[20] = { 0x45, 0, 4, 44, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2 };
	u8 udp[8] = { 0xc0, 1, 0x12, 0xb7, 4, 24 };
	u32 first = sroce_icrc_net(l3, sizeof(l3), udp);
	u32 id;

	for (id = 0; id < 0x10000; id += 0xff) {
		t_where("id %x", id);
		l3[4] = id >> 8;
		l3[5] = id;
		CHECK_EQ(sroce_train_icrc_step_id(first, id), sroce_icrc_net(l3, sizeof(l3), udp));
	}
}

static void check_step(void)
{
	u8 l3[20] = { 0x45, 0, 4, 44, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2 };
	u8 udp[8] = { 0xc0, 1, 0x12, 0xb7, 4, 24 };
	u8 bth[12] = { 7, 0, 0xff, 0xff, 0, 1, 2, 3, 0, 0xab, 0xcd, 0xef }, other[12];
	u32 first = sroce_icrc_bth(sroce_icrc_net(l3, sizeof(l3), udp), bth);
	u32 i;

	for (i = 0; i < 3 * 0xffff; i++) {
		u32 psn = i < 0xffff ? i : i * 0x9e3779b1u >> 8;
		u16 id = i < 0xffff ? i : i * 0x85ebca6bu >> 16;

		t_where("id %x, PSN %x", id, psn);
		l3[4] = id >> 8;
		l3[5] = id;
		memcpy(other, bth, 9);
		other[9] = psn >> 16;
		other[10] = psn >> 8;
		other[11] = psn;
		CHECK_EQ(sroce_train_icrc_step(first, id, bth, other),
			 sroce_icrc_bth(sroce_icrc_net(l3, sizeof(l3), udp), other));
	}
}

UNIT_TESTS(train_icrc)
{
	struct train t;

	t_case("train_icrc: of the network headers, with another identification");
	check_step_id();

	t_case("train_icrc: of the BTH as well, with another PSN");
	check_step();

	t_case("train_icrc: IPv4, the identification counts up");
	train_v4(&t, 0x1234);
	check_segments(&t, 0x1000);

	t_case("train_icrc: the identification wraps within the train");
	train_v4(&t, 0xff80);
	check_segments(&t, 0x1000);

	t_case("train_icrc: the PSN wraps within the train");
	train_v4(&t, 9);
	check_segments(&t, SROCE_PSN_MASK - 100);

	t_case("train_icrc: IPv6 has no identification");
	train_v6(&t);
	check_segments(&t, 0x1000);

	t_case("train_icrc: segments that can't be stepped to, and those after them");
	check_changes();
}
