// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory regions: bounds at the ends of the address space, and many extents. */

#include <stdlib.h>
#include "sim.h"
#include "tests.h"

static void covers(u64 iova, u64 len)
{
	struct sroce_mr mr = { .iova = iova, .length = len };

	t_where("%llu bytes at %#llx", len, iova);
	CHECK(sroce_mr_covers(&mr, iova, len));
	CHECK(sroce_mr_covers(&mr, iova, 0));
	CHECK(sroce_mr_covers(&mr, iova, 1));
	CHECK(sroce_mr_covers(&mr, iova + len - 1, 1));
	CHECK(sroce_mr_covers(&mr, iova + len / 2, len - len / 2));
	CHECK(!sroce_mr_covers(&mr, iova, len + 1));
	CHECK(!sroce_mr_covers(&mr, iova, ~0ULL));
	CHECK(!sroce_mr_covers(&mr, iova + 1, len));
	CHECK(!sroce_mr_covers(&mr, iova + len, 1));
	CHECK(!sroce_mr_covers(&mr, iova + len - 1, 2));
	CHECK(!sroce_mr_covers(&mr, iova + len + 1, 0));
	CHECK(!sroce_mr_covers(&mr, iova + 1, ~0ULL));
	CHECK(!sroce_mr_covers(&mr, iova + 1, ~0ULL - iova));
	if (iova) {
		CHECK(!sroce_mr_covers(&mr, iova - 1, 1));
		CHECK(!sroce_mr_covers(&mr, iova - 1, 2));
		CHECK(!sroce_mr_covers(&mr, iova - 1, 0));
		CHECK(!sroce_mr_covers(&mr, 0, len));
	}
}

struct trace {
	u8	*bytes;
	u64	n;
	u32	calls;
	u32	fail_at;
};

static int collect(void *span, u32 len, void *arg)
{
	struct trace *t = arg;

	if (++t->calls == t->fail_at)
		return -EIO;
	memcpy(t->bytes + t->n, span, len);
	t->n += len;
	return 0;
}

static void walk_one(struct sim_buf *b, u64 off, u32 len)
{
	struct trace t = { .bytes = malloc(len + !len) };
	u32 i;

	CHECK_EQ(sroce_mr_walk(&b->mr, b->mr.iova + off, len, false,
			       collect, &t), 0);
	CHECK_EQ(t.n, len);
	for (i = 0; i < len && t_ok(); i++)
		CHECK_EQ(t.bytes[i], *sim_byte(b, off + i));
	if (len)
		CHECK_EQ(t.calls, (off + len - 1) / b->chunk - off / b->chunk + 1);
	free(t.bytes);
}

static void walks(u64 iova)
{
	struct sim *s = sim_new(NULL);
	struct sim_buf *b = sim_buf_new(s, iova, 5003, 50, 0);
	struct trace t = { .bytes = NULL };
	struct rnd r = { 77 };
	u32 i;

	t_where("iova %#llx", iova);
	sim_fill(b, 0, 5003, 9);
	walk_one(b, 0, 5003);
	walk_one(b, 0, 0);
	walk_one(b, 5003, 0);
	walk_one(b, 5002, 1);
	walk_one(b, 49, 1);
	walk_one(b, 49, 2);
	walk_one(b, 50, 50);
	for (i = 0; i < 2000; i++) {
		u32 off = rnd_below(&r, 5003);

		walk_one(b, off, rnd_below(&r, 5003 - off + 1));
	}
	CHECK_EQ(sroce_mr_walk(&b->mr, iova, 5004, false,
			       collect, &t), -EFAULT);
	CHECK_EQ(sroce_mr_walk(&b->mr, iova + 5002, 2, false,
			       collect, &t), -EFAULT);
	CHECK_EQ(sroce_mr_walk(&b->mr, iova + 5004, 0, false,
			       collect, &t), -EFAULT);
	CHECK_EQ(t.calls, 0);
	sim_end(s);
}

static void stops(void)
{
	u8 bytes[256];
	struct trace t = { .bytes = bytes, .fail_at = 3 };
	struct sim *s = sim_new(NULL);
	struct sim_buf *b = sim_buf_new(s, 4096, 200, 50, 0);

	t_case("mr: a walk ends where its function says so");
	CHECK_EQ(sroce_mr_walk(&b->mr, 4096, 200, false,
			       collect, &t), -EIO);
	CHECK_EQ(t.calls, 3);
	CHECK_EQ(t.n, 100);
	sim_end(s);
}

static void all_of_memory(void)
{
	struct sroce_mr mr = { .dma_all = true };
	u8 from[32] = "all of memory", to[32];
	struct trace t = { .bytes = to };

	t_case("mr: a DMA region is all of memory and no more");
	CHECK(sroce_mr_covers(&mr, 0, 0));
	CHECK(sroce_mr_covers(&mr, 1, 100));
	CHECK(sroce_mr_covers(&mr, ~0ULL - 99, 99));
	CHECK(!sroce_mr_covers(&mr, ~0ULL, 2));
	CHECK(!sroce_mr_covers(&mr, 2, ~0ULL));
	CHECK_EQ(sroce_mr_walk(&mr, (uintptr_t)from, sizeof(from),
			       false, collect, &t), 0);
	CHECK_EQ(t.calls, 1);
	CHECK(!memcmp(from, to, sizeof(to)));
}

UNIT_TESTS(mr)
{
	t_case("mr: covers exactly its bytes");
	covers(0x1000, 0x1000);
	covers(1, 1);
	covers(0x7fff12345678, 0x123456789);

	t_case("mr: covers exactly its bytes at the ends of the address space");
	covers(0, 4096);
	covers(~0ULL - 4096, 4096);
	covers(0x8000000000000000ULL - 5, 10);

	t_case("mr: walks visit each byte once, extent by extent");
	walks(0);
	walks(0x12345);
	walks(~0ULL - 5003);
	stops();
	all_of_memory();
}
