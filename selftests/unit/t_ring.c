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

static struct rnd rnd = { 1 };

#define SLOTS_MAX	64

/* A ring of receives: a process fills it with numbers, and the kernel takes them */
struct recvs {
	struct {
		struct sroce_abi_ring	head;
		u64			slots[SLOTS_MAX];
	} mem;
	struct sroce_ring r;
	u64 next;
};

static void recvs_init(struct recvs *q, u32 slots)
{
	memset(q, 0, sizeof(*q));
	q->r = (struct sroce_ring){ .buf = &q->mem.head, .mask = slots - 1, .shift = 3 };
}

static bool recvs_post(struct recvs *q)
{
	u32 prod = q->mem.head.producer_index;

	if (sroce_ring_filled(&q->r) == q->r.mask)
		return false;
	*(u64 *)sroce_ring_slot(&q->r, prod) = q->next++;
	q->mem.head.producer_index = (prod + 1) & q->r.mask;
	return true;
}

static u64 recvs_take(struct recvs *q)
{
	u64 n = *(u64 *)sroce_ring_slot(&q->r, q->r.own);

	sroce_ring_consume(&q->r, 1);
	return n;
}

/* All from @first to the newest of @from is in @to, and can be taken in order. */
static void moved(struct recvs *from, struct recvs *to, u64 first)
{
	CHECK_EQ(sroce_ring_filled(&to->r), from->next - first);
	while (first < from->next)
		CHECK_EQ(recvs_take(to), first++);
	CHECK_EQ(sroce_ring_filled(&to->r), 0);
	CHECK_EQ(to->mem.head.consumer_index, to->mem.head.producer_index);
}

static void move_quiet(void)
{
	struct sroce_ring_move move;
	struct recvs from, to;
	u32 i, calls = 1;

	t_case("ring: a move in batches");
	recvs_init(&from, 32);
	recvs_init(&to, 32);
	for (i = 0; i < 50; i++) {
		recvs_post(&from);
		if (i < 20)
			recvs_take(&from);
	}
	sroce_ring_move_begin(&move, &from.r, &to.r);
	while (sroce_ring_move(&move, 4) > 0)
		calls++;
	CHECK_EQ(calls, 8);
	moved(&from, &to, 20);

	t_case("ring: more than fits is not moved");
	recvs_init(&to, 16);
	sroce_ring_move_begin(&move, &from.r, &to.r);
	CHECK_EQ(sroce_ring_move(&move, 4), -EINVAL);

	t_case("ring: what was taken meanwhile need not fit");
	while (sroce_ring_filled(&from.r) > 15)
		recvs_take(&from);
	CHECK_EQ(sroce_ring_move(&move, 100), 0);
	moved(&from, &to, 35);
}

/* Between two batches some are taken and some are posted. */
static void move_busy(u32 from_slots, u32 to_slots, u32 batch)
{
	struct sroce_ring_move move;
	struct recvs from, to;
	u64 first = 0;
	u32 i, added = 0;
	int ret;

	recvs_init(&from, from_slots);
	recvs_init(&to, to_slots);
	for (i = rnd_below(&rnd, 3 * from_slots); i--; first++) {
		recvs_post(&from);
		recvs_take(&from);
	}
	for (i = rnd_below(&rnd, min(from_slots, to_slots)); i--;)
		recvs_post(&from);
	sroce_ring_move_begin(&move, &from.r, &to.r);
	while ((ret = sroce_ring_move(&move, batch)) > 0) {
		for (i = rnd_below(&rnd, batch + 2); i-- && sroce_ring_filled(&from.r); first++)
			CHECK_EQ(recvs_take(&from), first);
		for (i = rnd_below(&rnd, batch); i-- && sroce_ring_filled(&from.r) < to.r.mask;)
			added += recvs_post(&from);
	}
	if (ret == -EBUSY) {
		CHECK(added);
		/* the old ring is in use still */
		moved(&from, &from, first);
		return;
	}
	CHECK_EQ(ret, 0);
	moved(&from, &to, first);
}

/* As many are taken as are copied, and as many posted: without a limit it never ends. */
static void move_endless(void)
{
	struct sroce_ring_move move;
	struct recvs from, to;
	u32 i, calls = 0;
	int ret;

	t_case("ring: a move ends, though its producer goes on");
	recvs_init(&from, 64);
	recvs_init(&to, 64);
	while (recvs_post(&from))
		;
	sroce_ring_move_begin(&move, &from.r, &to.r);
	while ((ret = sroce_ring_move(&move, 4)) > 0 && calls++ < 100) {
		for (i = 0; i < 8; i++) {
			recvs_take(&from);
			recvs_post(&from);
		}
	}
	CHECK_EQ(ret, -EBUSY);
	CHECK(calls <= 16);
}

/* A process may write anything to its index; slots beyond the ring are never touched. */
static void move_hostile(void)
{
	struct sroce_ring_move move;
	struct recvs from, to;
	u32 i, calls;

	t_case("ring: a move while the producer index is anything");
	for (i = 0; i < 1000; i++) {
		recvs_init(&from, 32);
		recvs_init(&to, 1U << (2 + rnd_below(&rnd, 4)));
		sroce_ring_move_begin(&move, &from.r, &to.r);
		for (calls = 0; calls < 20; calls++) {
			from.mem.head.producer_index = rnd_below(&rnd, 64);
			if (sroce_ring_move(&move, 3) <= 0)
				break;
		}
		CHECK(calls < 20);
		CHECK(to.mem.head.producer_index <= to.r.mask);
		CHECK(to.r.own <= to.r.mask);
	}
}

static void move_all(void)
{
	u32 i;

	move_quiet();
	t_case("ring: a move while receives are taken and posted");
	for (i = 0; i < 3000; i++)
		move_busy(1U << (2 + rnd_below(&rnd, 5)), 1U << (2 + rnd_below(&rnd, 5)),
			  1 + rnd_below(&rnd, 6));
	move_endless();
	move_hostile();
}

UNIT_TESTS(ring)
{
	producer();
	move_all();
}
