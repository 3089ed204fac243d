// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The congestion window: growth, decreases, and what is learned of the path */

#include "tests.h"
#include "core.h"

#define US	1000ULL
#define MS	(1000 * US)
#define SEC	(1000 * MS)
/* Losses far apart: random ones */
#define APART	SROCE_GAP_DIST_MAX

static u64 now;

/* A new window on a path with this round trip */
static struct sroce_cwnd begin(u64 rtt)
{
	struct sroce_cwnd c = {};

	now = 100 * SEC;
	sroce_cwnd_sample(&c, rtt, now);
	sroce_cwnd_sample(&c, rtt, now);
	return c;
}

/* The queue adds @queue to the round trip, for a while. */
static void queue_up(struct sroce_cwnd *c, u64 queue)
{
	now += c->rtt + 1;
	sroce_cwnd_sample(c, c->min_rtt + queue, now);
	sroce_cwnd_sample(c, c->min_rtt + queue, now);
}

/* The same in congestion avoidance, with @cwnd packets, as many as before the decrease */
static struct sroce_cwnd begin_avoidance(u32 cwnd, u64 rtt, u64 queue)
{
	struct sroce_cwnd c = begin(rtt);

	c.cwnd = cwnd;
	c.ssthresh = cwnd;
	c.w_max = cwnd;
	c.cut_at = now;
	queue_up(&c, queue);
	now += 10 * c.rtt;
	return c;
}

/* All of the window is acknowledged, a round trip later. */
static u32 round_trip(struct sroce_cwnd *c)
{
	now += c->rtt;
	sroce_cwnd_sample(c, c->rtt, now);
	sroce_cwnd_acked(c, sroce_cwnd(c), now);
	return sroce_cwnd(c);
}

static u32 after(struct sroce_cwnd *c, u32 round_trips)
{
	while (round_trips--)
		round_trip(c);
	return sroce_cwnd(c);
}

static void slow_start(void)
{
	struct sroce_cwnd c = begin(100 * US);
	u32 n;

	t_case("cwnd: slow start doubles each round trip, up to the bound");
	CHECK_EQ(sroce_cwnd(&c), SROCE_CWND_INIT);
	for (n = 2 * SROCE_CWND_INIT; n <= SROCE_CWND_MAX; n *= 2)
		CHECK_EQ(round_trip(&c), n);
	CHECK_EQ(round_trip(&c), SROCE_CWND_MAX);

	t_case("cwnd: an ACK of a part of it adds as much");
	c = begin(100 * US);
	sroce_cwnd_acked(&c, 3, now);
	CHECK_EQ(sroce_cwnd(&c), SROCE_CWND_INIT + 3);

	t_case("cwnd: slower past a queue of a round trip, by a sixth");
	c = begin(100 * US);
	c.cwnd = 80;
	queue_up(&c, 100 * US);
	CHECK_EQ(round_trip(&c), 160);
	queue_up(&c, 101 * US);
	CHECK_EQ(round_trip(&c), 160 + 160 / 6 + 1);
	CHECK_EQ(c.ssthresh, 0);
	sroce_cwnd_acked(&c, 1, now);
	CHECK_EQ(sroce_cwnd(&c), 187);

	t_case("cwnd: by an eighth past a queue that is long on any path");
	c = begin(50 * MS);
	c.cwnd = 80;
	queue_up(&c, 4 * MS);
	CHECK_EQ(round_trip(&c), 160);
	queue_up(&c, 4 * MS + 1);
	CHECK_EQ(round_trip(&c), 160 + 160 / 8 + 1);
	CHECK_EQ(round_trip(&c), 181 + 181 / 8 + 1);

	t_case("cwnd: slow start goes on as the queue is gone, until the first decrease");
	CHECK_EQ(c.ssthresh, 0);
	queue_up(&c, 0);
	CHECK_EQ(round_trip(&c), 2 * 204);
	queue_up(&c, 5 * MS);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(c.ssthresh, 408 * 7 / 10);
	queue_up(&c, 0);
	CHECK(round_trip(&c) < 408);
}

static void losses(void)
{
	struct sroce_cwnd c = begin(1 * MS);

	t_case("cwnd: a loss without a queue may be random");
	c.cwnd = 100;
	CHECK(!sroce_cwnd_congested(&c));
	CHECK(!sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 100);

	t_case("cwnd: one late answer is no queue, two are");
	sroce_cwnd_sample(&c, 10 * MS, now);
	CHECK(!sroce_cwnd_congested(&c));
	sroce_cwnd_sample(&c, 10 * MS, now);
	CHECK(sroce_cwnd_congested(&c));

	t_case("cwnd: congested past a round trip of queue at first, then past a quarter");
	c = begin(1 * MS);
	queue_up(&c, 1 * MS);
	CHECK(!sroce_cwnd_congested(&c));
	queue_up(&c, 1 * MS + 1);
	CHECK(sroce_cwnd_congested(&c));
	c = begin(1 * MS);
	c.ssthresh = 50;
	queue_up(&c, 250 * US);
	CHECK(!sroce_cwnd_congested(&c));
	queue_up(&c, 250 * US + 1);
	CHECK(sroce_cwnd_congested(&c));

	t_case("cwnd: or past 4 ms on a long path");
	c = begin(100 * MS);
	queue_up(&c, 4 * MS);
	CHECK(!sroce_cwnd_congested(&c));
	queue_up(&c, 4 * MS + 1);
	CHECK(sroce_cwnd_congested(&c));
}

/* Round trips that alternate between two lengths, for long */
static struct sroce_cwnd begin_jitter(u64 min_rtt, u64 shorter, u64 longer)
{
	struct sroce_cwnd c = begin_avoidance(100, min_rtt, 0);
	u32 i;

	for (i = 0; i < 100; i++) {
		sroce_cwnd_sample(&c, i & 1 ? longer : shorter, now);
		now += longer;
	}
	return c;
}

static void jitter(void)
{
	struct sroce_cwnd c;
	u32 i;

	t_case("cwnd: a loss is none of a queue where round trips vary as much");
	c = begin_jitter(40 * US, 200 * US, 400 * US);
	CHECK(!sroce_cwnd_congested(&c));
	CHECK(sroce_cwnd_jitters(&c));
	CHECK(!sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 100);

	t_case("cwnd: but one where they are always long");
	for (i = 0; i < 20; i++)
		sroce_cwnd_sample(&c, 400 * US, now);
	CHECK(!sroce_cwnd_jitters(&c));
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));

	t_case("cwnd: or vary little, as a short queue does");
	c = begin_jitter(40 * US, 60 * US, 68 * US);
	CHECK(!sroce_cwnd_jitters(&c));
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));

	t_case("cwnd: or are above 4 ms");
	c = begin_jitter(40 * US, 4 * MS + 41 * US, 8 * MS);
	CHECK(!sroce_cwnd_jitters(&c));
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));

	t_case("cwnd: or become longer each time, as a queue that grows");
	c = begin_avoidance(100, 40 * US, 0);
	for (i = 0; i < 20; i++)
		sroce_cwnd_sample(&c, (40 + 20 * i) * US, now);
	CHECK(!sroce_cwnd_jitters(&c));
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));

	t_case("cwnd: much of a window lost is an overflow all the same");
	c = begin_jitter(40 * US, 200 * US, 400 * US);
	CHECK(sroce_cwnd_lost(&c, 40, APART, now));

	t_case("cwnd: round trips vary no more, long after an outlier");
	c = begin_avoidance(100, 40 * US, 60 * US);
	sroce_cwnd_sample(&c, SEC, now);
	for (i = 0; i < 120; i++)
		sroce_cwnd_sample(&c, 100 * US, now);
	CHECK(!sroce_cwnd_jitters(&c));
}

static void decreases(void)
{
	struct sroce_cwnd c = begin_avoidance(100, 1 * MS, 300 * US);

	t_case("cwnd: a loss with a queue leaves what the path holds without");
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 76);
	CHECK_EQ(c.ssthresh, 76);
	CHECK_EQ(c.w_max, 100);

	t_case("cwnd: but at least 0.7 of the window");
	c = begin_avoidance(100, 1 * MS, 900 * US);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 70);
	c = begin_avoidance(100, 100 * MS, 5 * MS);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 70);

	t_case("cwnd: and at most 7/8 if the peer drops what follows, without a queue, too");
	c = begin_avoidance(160, MS, 0);
	CHECK(sroce_cwnd_lost(&c, 1, 0, now));
	CHECK_EQ(sroce_cwnd(&c), 139);

	t_case("cwnd: once per round trip, and not before a sample shows the effect");
	c = begin_avoidance(100, 1 * MS, 1 * MS);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK(!sroce_cwnd_lost(&c, 1, APART, now + 2 * MS + 1));
	CHECK(!sroce_cwnd_lost(&c, 1, APART, now + 8 * MS));
	CHECK_EQ(sroce_cwnd(&c), 70);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now + 8 * MS + 1));
	CHECK_EQ(sroce_cwnd(&c), 49);
	now += 8 * MS + 1;
	sroce_cwnd_sample(&c, 2 * MS, now);
	CHECK(!sroce_cwnd_lost(&c, 1, APART, now + 2 * MS));
	CHECK(sroce_cwnd_lost(&c, 1, APART, now + 2 * MS + 1));

	t_case("cwnd: a second decrease leaves more to flows that are new");
	c = begin_avoidance(100, 1 * MS, 1 * MS);
	c.w_max = 200;
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(c.w_max, 85);
}

/* What is left of a window after losses @apart packets from each other, where no queue shows */
static u32 left_of(u32 cwnd, u32 apart)
{
	struct sroce_cwnd c = begin_avoidance(cwnd, 1 * MS, 0);

	CHECK(sroce_cwnd_lost(&c, 1, apart, now));
	return sroce_cwnd(&c);
}

static void overflows(void)
{
	struct sroce_cwnd c = begin_avoidance(30, 1 * MS, 0);

	t_case("cwnd: a third of a window lost is an overflow, without a queue, too");
	CHECK(!sroce_cwnd_lost(&c, 9, APART, now));
	CHECK(sroce_cwnd_lost(&c, 1, APART, now + 2 * MS));
	CHECK_EQ(sroce_cwnd(&c), 21);

	t_case("cwnd: but not over more than two round trips");
	c = begin_avoidance(30, 1 * MS, 0);
	CHECK(!sroce_cwnd_lost(&c, 9, APART, now));
	CHECK(!sroce_cwnd_lost(&c, 9, APART, now + 2 * MS + 1));
	CHECK_EQ(sroce_cwnd(&c), 30);

	t_case("cwnd: two of a few packets lost are no overflow, three are");
	c = begin_avoidance(4, 1 * MS, 0);
	CHECK(!sroce_cwnd_lost(&c, 2, APART, now));
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 2);

	t_case("cwnd: neither are two losses per window, more are");
	c = begin_avoidance(100, 1 * MS, 0);
	CHECK(!sroce_cwnd_lost(&c, 1, 50, now));
	CHECK_EQ(left_of(100, 49), 100);

	t_case("cwnd: more than four per window leave at most 7/8 of it");
	CHECK_EQ(left_of(100, 25), 100);
	CHECK_EQ(left_of(100, 24), 87);

	t_case("cwnd: but not of a small one");
	CHECK_EQ(left_of(32, 2), 32);
	CHECK_EQ(left_of(33, 2), 28);

	t_case("cwnd: a peer that drops what follows must not be sent so much again");
	c = begin_avoidance(100, 1 * MS, 1 * MS);
	CHECK(sroce_cwnd_lost(&c, 1, 0, now));
	CHECK_EQ(sroce_cwnd(&c), 70);
	CHECK(!sroce_cwnd_lost(&c, 1, 0, now + 2 * MS));
	/* a loss is rare there, so no sample is needed */
	CHECK(sroce_cwnd_lost(&c, 1, 0, now + 2 * MS + 1));
	c = begin_avoidance(100, 1 * MS, 0);
	CHECK(sroce_cwnd_lost(&c, 1, 0, now));
}

static void no_sample(void)
{
	struct sroce_cwnd c = {};

	t_case("cwnd: decreases before the first sample");
	now = 100 * SEC;
	CHECK(sroce_cwnd_local_drop(&c, now));
	CHECK_EQ(sroce_cwnd(&c), 11);
	sroce_cwnd_timeout(&c, ++now);
	CHECK_EQ(sroce_cwnd(&c), 5);
	CHECK(sroce_cwnd_lost(&c, 3, 0, ++now));
	CHECK_EQ(sroce_cwnd(&c), 3);
	c = (struct sroce_cwnd){};
	CHECK(sroce_cwnd_cnp(&c, now));
	sroce_cwnd_acked(&c, 4, ++now);
	CHECK(sroce_cwnd(&c) <= SROCE_CWND_INIT);
}

static void undo(void)
{
	struct sroce_cwnd c = begin_avoidance(100, 1 * MS, 1 * MS);

	t_case("cwnd: a decrease for a packet that was just late is taken back, once");
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	sroce_cwnd_undo(&c, now + 1 * MS, 0);
	CHECK_EQ(sroce_cwnd(&c), 100);
	CHECK_EQ(c.ssthresh, 100);
	c.cwnd = 50;
	sroce_cwnd_undo(&c, now + 1 * MS, 0);
	CHECK_EQ(sroce_cwnd(&c), 50);

	t_case("cwnd: in slow start that goes on then");
	c = begin(1 * MS);
	c.cwnd = 100;
	CHECK(sroce_cwnd_lost(&c, 50, APART, now));
	CHECK_EQ(c.ssthresh, 70);
	sroce_cwnd_undo(&c, now + 1 * MS, 0);
	CHECK_EQ(round_trip(&c), 200);

	t_case("cwnd: nothing is taken back from a window that has grown since");
	c = begin_avoidance(100, 1 * MS, 1 * MS);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	c.cwnd = 120;
	sroce_cwnd_undo(&c, now + 1 * MS, 0);
	CHECK_EQ(sroce_cwnd(&c), 120);

	t_case("cwnd: a decrease of long ago was for other losses, and stays");
	c = begin_avoidance(100, 1 * MS, 1 * MS);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	sroce_cwnd_undo(&c, now + 4 * MS + 1, 0);
	CHECK_EQ(sroce_cwnd(&c), 70);

	t_case("cwnd: but for as long as is known that it was for what was not lost");
	c = begin_avoidance(100, 1 * MS, 1 * MS);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	sroce_cwnd_undo(&c, now + 10 * MS, 10 * MS);
	CHECK_EQ(sroce_cwnd(&c), 100);
	c = begin_avoidance(100, 1 * MS, 1 * MS);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	sroce_cwnd_undo(&c, now + 10 * MS + 1, 10 * MS);
	CHECK_EQ(sroce_cwnd(&c), 70);

	t_case("cwnd: as does one for a CNP");
	c = begin_avoidance(100, 1 * MS, 1 * MS);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	now += 2 * MS;
	c.alpha = 1024;
	c.rise_at = now;
	CHECK(sroce_cwnd_cnp(&c, now));
	CHECK_EQ(sroce_cwnd(&c), 35);
	sroce_cwnd_undo(&c, now, 0);
	CHECK_EQ(sroce_cwnd(&c), 35);
	c = begin_avoidance(100, 10 * MS, 0);
	CHECK(sroce_cwnd_cnp(&c, now));
	sroce_cwnd_undo(&c, now, 0);
	CHECK_EQ(sroce_cwnd(&c), 70);

	t_case("cwnd: as do those for a full queue of this host and for a timeout");
	c = begin_avoidance(100, 1 * MS, 100 * US);
	CHECK(sroce_cwnd_local_drop(&c, now));
	sroce_cwnd_undo(&c, now, 0);
	CHECK_EQ(sroce_cwnd(&c), 87);
	sroce_cwnd_timeout(&c, now);
	sroce_cwnd_undo(&c, now, 0);
	CHECK_EQ(sroce_cwnd(&c), 43);

	t_case("cwnd: and with them what was decreased before");
	c = begin_avoidance(100, 1 * MS, 1 * MS);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	now += c.rtt + 1;
	CHECK(sroce_cwnd_local_drop(&c, now));
	sroce_cwnd_undo(&c, now, 0);
	CHECK_EQ(sroce_cwnd(&c), 49);
	c = begin_avoidance(100, 1 * MS, 1 * MS);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	sroce_cwnd_timeout(&c, now);
	sroce_cwnd_undo(&c, now, 0);
	CHECK_EQ(sroce_cwnd(&c), 35);

	t_case("cwnd: a recovery after a CNP does not go on when a decrease is taken back");
	c = begin_avoidance(100, 1 * MS, 1 * MS);
	CHECK(sroce_cwnd_cnp(&c, now));
	CHECK_EQ(sroce_cwnd(&c), 97);
	now += c.rtt + 1;
	sroce_cwnd_sample(&c, c.rtt, now);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	sroce_cwnd_undo(&c, now, 0);
	CHECK_EQ(sroce_cwnd(&c), 97);
	CHECK_EQ(c.target, 0);
}

/* A window of 1000 is decreased to 700, on a long path that keeps a short queue. */
static struct sroce_cwnd begin_cubic(void)
{
	struct sroce_cwnd c = begin_avoidance(1000, 100 * MS, 4 * MS + 1);

	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 700);
	queue_up(&c, 2 * MS);
	return c;
}

/* (300 / 0.4)^(1/3) s is 9086 ms; the window follows the curve by a round trip. */
static void cubic(void)
{
	struct sroce_cwnd c = begin_cubic();
	u32 early, half, late;

	t_case("cwnd: CUBIC returns to the window before the decrease after k ms");
	early = after(&c, 1);
	CHECK_EQ(c.k, 9085);
	half = after(&c, 4500 / 102);
	late = after(&c, 4500 / 102);
	CHECK(early >= 700 && early <= 712);
	CHECK(half > 950 && half < 970);
	CHECK(late >= 995 && late <= 1000);

	t_case("cwnd: and grows past it, slowly at first");
	half = after(&c, 3000 / 102);
	CHECK(half >= 1005 && half <= 1015);
	late = after(&c, 3000 / 102);
	CHECK(late >= 1065 && late <= 1095);

	t_case("cwnd: by at most a half in a round trip, after a long pause, too");
	now += 1000 * SEC;
	half = sroce_cwnd(&c);
	CHECK(round_trip(&c) <= half + half / 2 + 1);
}

static void fair(void)
{
	struct sroce_cwnd c = begin_avoidance(100, 1 * MS, 1 * MS);

	t_case("cwnd: as fast as TCP on a short path: 9/17 packets per round trip");
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	queue_up(&c, 200 * US);
	after(&c, 17);
	CHECK(sroce_cwnd(&c) >= 78 && sroce_cwnd(&c) <= 79);
	after(&c, 17);
	CHECK(sroce_cwnd(&c) >= 87 && sroce_cwnd(&c) <= 88);

	t_case("cwnd: a packet per round trip past the window before the decrease");
	after(&c, 23);
	CHECK_EQ(sroce_cwnd(&c), 100);
	CHECK_EQ(after(&c, 10), 110);

	t_case("cwnd: not where the queue makes round trips long, beside TCP");
	c = begin_avoidance(100, 1 * MS, 3 * MS);
	CHECK(!sroce_cwnd_is_slow(&c));
	CHECK_EQ(after(&c, 17), 117);
	c = begin_avoidance(100, 1 * MS, 3 * MS + 1);
	CHECK(sroce_cwnd_is_slow(&c));
	CHECK_EQ(after(&c, 17), 108);
	c = begin_avoidance(100, 5 * MS, 5 * MS);
	CHECK(sroce_cwnd_is_slow(&c));
	CHECK_EQ(after(&c, 17), 117);

	t_case("cwnd: a third of that while a small window keeps a short queue full");
	c = begin_avoidance(20, 1 * MS, 1 * MS);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 14);
	queue_up(&c, 1 * MS);
	CHECK_EQ(after(&c, 17), 17);
	queue_up(&c, 200 * US);
	CHECK_EQ(after(&c, 4), 19);
}

/* A window of 2000 is decreased to 1400, on a path with a queue of @queue. */
static struct sroce_cwnd begin_regrow(u64 rtt, u64 queue)
{
	struct sroce_cwnd c = begin_avoidance(1400, rtt, queue);

	c.w_max = 2000;
	return c;
}

static void regrow(void)
{
	struct sroce_cwnd c = begin_regrow(500 * US, 400 * US);
	u32 n;

	t_case("cwnd: a decrease is made up for in 48 short round trips");
	n = after(&c, 24);
	CHECK(n > 1650 && n < 1750);
	CHECK(after(&c, 24) >= 1950);
	n = c.cwnd;
	CHECK(after(&c, 24) <= max(n, 2000U) + 24);

	t_case("cwnd: not where they are long, so that TCP keeps its share");
	c = begin_regrow(500 * US, 4 * MS);
	CHECK(after(&c, 48) < 1450);
}

static void idle(void)
{
	struct sroce_cwnd c = begin_avoidance(1000, 1 * MS, 1 * MS);

	t_case("cwnd: by an eighth without a queue, until near the former window");
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 700);
	queue_up(&c, 0);
	CHECK_EQ(round_trip(&c), 700 + 700 / 8 + 1);
	CHECK_EQ(round_trip(&c), 788 + 788 / 8 + 1);
	CHECK_EQ(round_trip(&c), 887 + 887 / 32 + 1);

	t_case("cwnd: each ACK adds its part of that");
	c = begin_avoidance(320, 1 * MS, 0);
	sroce_cwnd_acked(&c, 160, now);
	CHECK_EQ(sroce_cwnd(&c), 325);
	sroce_cwnd_acked(&c, 160, now);
	CHECK_EQ(sroce_cwnd(&c), 330);
}

static void timeouts(void)
{
	struct sroce_cwnd c = begin_avoidance(100, 1 * MS, 0);
	u32 i;

	t_case("cwnd: halved by each timeout, down to the bound");
	sroce_cwnd_timeout(&c, now);
	CHECK_EQ(sroce_cwnd(&c), 50);
	CHECK_EQ(c.ssthresh, 50);
	for (i = 0; i < 10; i++)
		sroce_cwnd_timeout(&c, now);
	CHECK_EQ(sroce_cwnd(&c), SROCE_CWND_MIN);
	CHECK(!sroce_cwnd_lost(&c, 2, APART, now + 5 * MS));
	CHECK(sroce_cwnd_lost(&c, 1, APART, now + 5 * MS));
	CHECK_EQ(sroce_cwnd(&c), SROCE_CWND_MIN);
	CHECK(after(&c, 20) > SROCE_CWND_MIN);
}

static void local_drops(void)
{
	struct sroce_cwnd c = begin_avoidance(100, 1 * MS, 100 * US);
	u32 cwnd;

	t_case("cwnd: a full queue of this host decreases it, once per round trip");
	CHECK(sroce_cwnd_local_drop(&c, now));
	CHECK_EQ(sroce_cwnd(&c), 87);
	CHECK(!sroce_cwnd_local_drop(&c, now + c.rtt));
	CHECK(sroce_cwnd_local_drop(&c, now + c.rtt + 1));
	CHECK_EQ(sroce_cwnd(&c), 76);

	t_case("cwnd: or per ms before the first sample");
	sroce_cwnd_init(&c, 1024);
	CHECK(sroce_cwnd_local_drop(&c, now));
	cwnd = sroce_cwnd(&c);
	CHECK(!sroce_cwnd_local_drop(&c, now + 1 * MS));
	CHECK_EQ(sroce_cwnd(&c), cwnd);
	CHECK(sroce_cwnd_local_drop(&c, now + 1 * MS + 1));
}

static void unused_for_long(void)
{
	struct sroce_cwnd c;

	t_case("cwnd: it is halved for each 200 ms without use, down to that of a new path");
	c = begin_avoidance(1000, 100 * US, 0);
	c.ssthresh = 500;
	CHECK(!sroce_cwnd_idle(&c, 200 * MS - 1));
	CHECK_EQ(sroce_cwnd(&c), 1000);
	CHECK(sroce_cwnd_idle(&c, 200 * MS));
	CHECK_EQ(sroce_cwnd(&c), 500);
	/* it may grow fast up to where it was */
	CHECK_EQ(c.ssthresh, 750);
	CHECK(sroce_cwnd_idle(&c, 450 * MS));
	CHECK_EQ(sroce_cwnd(&c), 125);
	CHECK(sroce_cwnd_idle(&c, 3600 * SEC));
	CHECK_EQ(sroce_cwnd(&c), SROCE_CWND_INIT);
	CHECK(!sroce_cwnd_idle(&c, 3600 * SEC));
	c.cwnd = 10;
	CHECK(!sroce_cwnd_idle(&c, 3600 * SEC));
	CHECK_EQ(sroce_cwnd(&c), 10);

	t_case("cwnd: for each two round trips if these are longer");
	c = begin_avoidance(1000, 150 * MS, 0);
	CHECK(!sroce_cwnd_idle(&c, 300 * MS - 1));
	CHECK(sroce_cwnd_idle(&c, 300 * MS));
	CHECK_EQ(sroce_cwnd(&c), 500);

	t_case("cwnd: before the first loss it goes on to double");
	c = begin_avoidance(1000, 100 * US, 0);
	c.ssthresh = 0;
	CHECK(sroce_cwnd_idle(&c, 200 * MS));
	CHECK_EQ(c.ssthresh, 0);
}

static void cnps(void)
{
	struct sroce_cwnd c = begin_avoidance(1000, 100 * US, 0);
	u32 i, cwnd;

	t_case("cwnd: a CNP decreases it by half of alpha, once per round trip");
	CHECK(sroce_cwnd_cnp(&c, now));
	CHECK_EQ(c.alpha, 64);
	CHECK_EQ(sroce_cwnd(&c), 969);
	CHECK(!sroce_cwnd_cnp(&c, now + 99 * US));
	CHECK(sroce_cwnd_cnp(&c, now + 100 * US));
	/* a step of 55 us has passed: 64 decays to 60 first */
	CHECK_EQ(c.alpha, 120);
	CHECK_EQ(sroce_cwnd(&c), 969 - 969 * 120 / 2048);

	t_case("cwnd: alpha decays with time, until nothing is left");
	c = begin_avoidance(1000, 5 * US, 0);
	c.alpha = 512;
	c.rise_at = now;
	CHECK(sroce_cwnd_cnp(&c, now + 110 * US - 1));
	CHECK_EQ(c.alpha, 480 + (1024 - 480) / 16);
	c = begin_avoidance(1000, 5 * US, 0);
	c.alpha = 512;
	c.rise_at = now;
	CHECK(sroce_cwnd_cnp(&c, now + 110 * US));
	CHECK_EQ(c.alpha, 450 + (1024 - 450) / 16);
	c.alpha = 1024;
	CHECK(sroce_cwnd_cnp(&c, now + 10 * SEC));
	CHECK_EQ(c.alpha, 64);

	t_case("cwnd: a CNP in each round trip raises alpha, however long that is");
	c = begin_avoidance(1000, 1 * MS, 0);
	for (i = 0; i < 100; i++)
		sroce_cwnd_cnp(&c, now += 1 * MS);
	CHECK(c.alpha > 500 && c.alpha < 560);
	CHECK(sroce_cwnd(&c) <= 5);

	t_case("cwnd: past 4 ms of round trip a CNP counts as a loss");
	c = begin_avoidance(1000, 4 * MS, 0);
	CHECK(sroce_cwnd_cnp(&c, now));
	CHECK_EQ(sroce_cwnd(&c), 969);
	c = begin_avoidance(1000, 4 * MS + 1, 0);
	CHECK(sroce_cwnd_cnp(&c, now));
	CHECK_EQ(sroce_cwnd(&c), 700);
	CHECK_EQ(c.ssthresh, 700);
	CHECK_EQ(c.w_max, 1000);
	CHECK_EQ(c.target, 0);
	CHECK_EQ(c.alpha, 0);
	CHECK(!sroce_cwnd_cnp(&c, now + 4 * MS));
	CHECK(sroce_cwnd_cnp(&c, now + 4 * MS + 1));
	CHECK_EQ(sroce_cwnd(&c), 490);
	c = begin_avoidance(1000, 1 * MS, 3 * MS + 1);
	CHECK(sroce_cwnd_cnp(&c, now));
	CHECK_EQ(sroce_cwnd(&c), 700);

	t_case("cwnd: and per 50 us on a short path");
	c = begin_avoidance(1000, 5 * US, 0);
	CHECK(sroce_cwnd_cnp(&c, now));
	CHECK(!sroce_cwnd_cnp(&c, now + 49 * US));
	CHECK(sroce_cwnd_cnp(&c, now + 50 * US));

	t_case("cwnd: many CNPs decrease it to nearly a half each, down to the bound");
	c = begin_avoidance(1000, 5 * US, 0);
	for (i = 0; i < 100; i++)
		sroce_cwnd_cnp(&c, now += 50 * US);
	CHECK(c.alpha > 1000 && c.alpha <= 1024);
	CHECK(sroce_cwnd(&c) <= 3);
	c.cwnd = 1000;
	sroce_cwnd_cnp(&c, now += 50 * US);
	CHECK(sroce_cwnd(&c) >= 500 && sroce_cwnd(&c) < 515);

	t_case("cwnd: fast recovery goes halfway back five times");
	c = begin_avoidance(1024, 5 * US, 0);
	c.alpha = 1024;
	c.rise_at = now;
	CHECK(sroce_cwnd_cnp(&c, now));
	CHECK_EQ(sroce_cwnd(&c), 512);
	sroce_cwnd_acked(&c, 100, now + 54 * US);
	CHECK_EQ(sroce_cwnd(&c), 512);
	for (i = 0, cwnd = 512; i < 5; i++) {
		CHECK_EQ(c.target, 1024);
		sroce_cwnd_acked(&c, 1, now += 55 * US);
		cwnd = (cwnd + 1024 + 1) / 2;
		CHECK_EQ(sroce_cwnd(&c), cwnd);
	}
	CHECK_EQ(cwnd, 1008);
	CHECK(c.alpha < 800);

	t_case("cwnd: and grows as before then");
	CHECK_EQ(c.target, 0);
	CHECK_EQ(round_trip(&c), 1008 + 1008 / 32 + 1);

	t_case("cwnd: a loss ends the recovery");
	c = begin_avoidance(1000, 100 * US, 100 * US);
	CHECK(sroce_cwnd_cnp(&c, now));
	now += 1 * MS;
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(c.target, 0);
	CHECK_EQ(sroce_cwnd(&c), 678);
}

static void min_rtt(void)
{
	struct sroce_cwnd c = begin(1000 * US);

	t_case("cwnd: a shorter round trip replaces the shortest at once");
	sroce_cwnd_sample(&c, 900 * US, now);
	CHECK_EQ(c.min_rtt, 900 * US);
	sroce_cwnd_sample(&c, 1700 * US, now + 10 * SEC);
	CHECK_EQ(c.min_rtt, 900 * US);

	t_case("cwnd: one that is old rises by a sixteenth of the difference only");
	sroce_cwnd_sample(&c, 1700 * US, now + 10 * SEC + 1);
	CHECK_EQ(c.min_rtt, 950 * US);
	sroce_cwnd_sample(&c, 1750 * US, now + 20 * SEC);
	CHECK_EQ(c.min_rtt, 950 * US);
	sroce_cwnd_sample(&c, 1750 * US, now + 20 * SEC + 2);
	CHECK_EQ(c.min_rtt, 1000 * US);
	sroce_cwnd_sample(&c, 400 * US, now + 60 * SEC);
	CHECK_EQ(c.min_rtt, 400 * US);
}

/* Mostly small, sometimes large: up to a quarter of an hour in ns */
static u64 some_ns(struct rnd *r)
{
	return 1 + (rnd64(r) >> (24 + rnd_below(r, 40)));
}

static void event(struct sroce_cwnd *c, struct rnd *r)
{
	switch (rnd_below(r, 12)) {
	case 0:
		sroce_cwnd_lost(c, 1 + rnd_below(r, SROCE_CWND_MAX), rnd_below(r, 1024), now);
		break;
	case 1:
		sroce_cwnd_undo(c, now, 0);
		break;
	case 2:
		sroce_cwnd_local_drop(c, now);
		break;
	case 3:
		sroce_cwnd_cnp(c, now);
		break;
	case 4:
		sroce_cwnd_timeout(c, now);
		break;
	case 5:
		sroce_cwnd_sample(c, some_ns(r), now);
		break;
	default:
		sroce_cwnd_acked(c, 1 + rnd_below(r, sroce_cwnd(c)), now);
	}
}

/* Whatever happens, the window is within its bounds, and no arithmetic overflows. */
static void anything(void)
{
	struct rnd r = { 1 };
	struct sroce_cwnd c;
	u32 i, k;

	t_case("cwnd: within its bounds after random events");
	for (i = 0; i < 1000 && t_ok(); i++) {
		c = (struct sroce_cwnd){};
		now = 1;
		for (k = 0; k < 300; k++) {
			now += some_ns(&r);
			event(&c, &r);
			CHECK(sroce_cwnd(&c) >= SROCE_CWND_MIN);
			CHECK(sroce_cwnd(&c) <= SROCE_CWND_MAX);
		}
	}
}

static struct sroce_cwnd begin_with_mtu(u32 mtu, u64 queue)
{
	struct sroce_cwnd was = begin_avoidance(200, 10 * MS, queue), c;

	sroce_cwnd_init(&c, mtu);
	was.tcp_mss = c.tcp_mss;
	return was;
}

/* Packets that the window of 200 grows by in @round_trips, for a path MTU of @mtu */
static u32 growth(u32 mtu, u64 queue, u32 round_trips)
{
	struct sroce_cwnd c = begin_with_mtu(mtu, queue);

	return after(&c, round_trips) - 200;
}

/* A window of 200 that was 201 at the loss before, and @ssthresh after it, loses another packet. */
static struct sroce_cwnd lost_again(u32 mtu, u32 ssthresh)
{
	struct sroce_cwnd c = begin_with_mtu(mtu, 20 * MS);

	c.w_max = 201;
	c.ssthresh = ssthresh;
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	return c;
}

static void small_packets(void)
{
	struct sroce_cwnd c = begin_with_mtu(1024, 20 * MS);

	t_case("cwnd: small packets grow by as many bytes as those of TCP");
	/* 22/16 packets for one */
	CHECK_EQ(growth(1024, 20 * MS, 30), growth(2048, 20 * MS, 30) * 22 / 16);
	CHECK_EQ(growth(4096, 20 * MS, 30), growth(2048, 20 * MS, 30));

	t_case("cwnd: the loss of a small packet is that of few bytes");
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 200 - 60 * 16 / 22);
	CHECK_EQ(c.w_max, 200);

	t_case("cwnd: and of fewer, if TCP has taken what the last decrease has left");
	c = lost_again(1024, 193);
	CHECK_EQ(sroce_cwnd(&c), 200 - 60 * 16 / 40);
	CHECK_EQ(c.w_max, 200);
	c = lost_again(256, 193);
	CHECK_EQ(sroce_cwnd(&c), 200 - 60 * 16 / 90);

	t_case("cwnd: but not if the window has not grown since");
	c = lost_again(1024, 194);
	CHECK_EQ(sroce_cwnd(&c), 200 - 60 * 16 / 22);
	CHECK_EQ(c.w_max, (17 * 200 + 19) / 20);

	t_case("cwnd: packets as large as those of TCP leave more to flows that are new");
	c = begin_with_mtu(2048, 20 * MS);
	c.w_max = 201;
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 140);
	CHECK_EQ(c.w_max, (17 * 200 + 19) / 20);
	c = begin_with_mtu(2048, 20 * MS);
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 140);

	t_case("cwnd: but not if much of a window of small packets is lost");
	c = begin_with_mtu(256, 20 * MS);
	CHECK(sroce_cwnd_lost(&c, 100, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 140);

	t_case("cwnd: one that is marked counts for as much as one that is lost");
	c = begin_with_mtu(256, 20 * MS);
	CHECK(sroce_cwnd_cnp(&c, now));
	CHECK_EQ(sroce_cwnd(&c), 200 - 60 * 16 / 90);

	t_case("cwnd: nor where only the queue makes round trips long");
	c = begin_avoidance(200, 4 * MS, 20 * MS);
	c.tcp_mss = 22;
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 140);
	c = begin_avoidance(200, 4 * MS + 1, 20 * MS);
	c.tcp_mss = 22;
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 200 - 60 * 16 / 22);

	t_case("cwnd: the size of packets does not count where round trips are short");
	c = begin_avoidance(200, 100 * US, 200 * US);
	c.tcp_mss = 5 * SROCE_MSS_ONE;
	CHECK(sroce_cwnd_lost(&c, 1, APART, now));
	CHECK_EQ(sroce_cwnd(&c), 140);
}

UNIT_TESTS(cwnd)
{
	slow_start();
	losses();
	jitter();
	decreases();
	overflows();
	no_sample();
	undo();
	cubic();
	fair();
	small_packets();
	regrow();
	idle();
	timeouts();
	local_drops();
	unused_for_long();
	cnps();
	min_rtt();
	anything();
}
