// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* PSN arithmetic */

#include "tests.h"
#include "xfer.h"

static void psns(void)
{
	struct rnd r = { 24 };
	u32 i;

	t_case("psn: addition stays within 24 bits");
	CHECK_EQ(sroce_psn_add(0xffffff, 1), 0);
	CHECK_EQ(sroce_psn_add(0, -1), 0xffffff);
	CHECK_EQ(sroce_psn_add(0xfffff0, 0x20), 0x10);
	CHECK_EQ(sroce_psn_add(0x10, -0x20), 0xfffff0);

	t_case("psn: distance across the wrap");
	CHECK(sroce_psn_diff(0, 0xffffff) == 1);
	CHECK(sroce_psn_diff(0xffffff, 0) == -1);
	CHECK(sroce_psn_diff(5, 5) == 0);
	CHECK(sroce_psn_diff(0x7fffff, 0) == 0x7fffff);
	CHECK(sroce_psn_diff(0, 0x7fffff) == -0x7fffff);
	CHECK(sroce_psn_diff(0x800000, 1) == 0x7fffff);
	for (i = 0; i < 10000; i++) {
		u32 psn = rnd32(&r) & SROCE_PSN_MASK;
		s32 n = (s32)rnd_below(&r, 0xffffff) - 0x7fffff;

		CHECK(sroce_psn_diff(sroce_psn_add(psn, n), psn) == n);
	}

	t_case("psn: how many a message takes");
	CHECK_EQ(sroce_psn_count(0, 256), 1);
	CHECK_EQ(sroce_psn_count(1, 256), 1);
	CHECK_EQ(sroce_psn_count(256, 256), 1);
	CHECK_EQ(sroce_psn_count(257, 256), 2);
	CHECK_EQ(sroce_psn_count(SROCE_MSG_MAX, 4096), 1 << 19);
	CHECK_EQ(sroce_psn_count(SROCE_MSG_MAX, 256), 1 << 23);
	CHECK_EQ(sroce_psn_count(0xffffffff, 256), 1 << 24);
}

UNIT_TESTS(psn)
{
	psns();
}
