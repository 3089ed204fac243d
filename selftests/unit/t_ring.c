// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Rings between the kernel and a process */

#include "tests.h"
#include "xfer.h"

/* A ring that the kernel fills and a process empties, as of a CQ */
static void producer(void)
{
	struct {
		struct sroce_abi_ring	head;
		u8			slots[8][64];
	} mem = {};
	struct sroce_ring r = { .buf = &mem.head, .mask = 7, .shift = 6 };
	u32 i;

	t_case("ring: a ring of eight takes seven");
	for (i = 0; i < 7; i++) {
		CHECK_EQ(sroce_ring_space(&r), 7 - i);
		CHECK(sroce_ring_slot(&r, r.own) == r.buf->data + 64 * i);
		sroce_ring_produce(&r);
		CHECK_EQ(mem.head.producer_index, i + 1);
	}
	CHECK_EQ(sroce_ring_space(&r), 0);

	t_case("ring: the index wraps");
	mem.head.consumer_index = 5;
	CHECK_EQ(sroce_ring_space(&r), 5);
	sroce_ring_produce(&r);
	CHECK_EQ(mem.head.producer_index, 0);
	CHECK_EQ(sroce_ring_space(&r), 4);

	t_case("ring: an index out of range is masked");
	mem.head.consumer_index = 0xfffffff3;
	CHECK_EQ(sroce_ring_space(&r), 2);
}

UNIT_TESTS(ring)
{
	producer();
}
