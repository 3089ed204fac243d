// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How flows share a link with each other, with TCP, and with receivers slower than they
 * are, in the simulation's own time. The table has all cases; with -T those that have
 * bars are test cases; with -p it prints what to plot.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tap.h"
#include "flows.h"

#define MIB	(1U << 20)
#define US	1000ULL
#define MS	1000000ULL
#define BURST(ns)	((ns) * SROCE_TX_BUDGET)	/* kick of a sender that needs so long */

/* In percent; 0: none. A case without bars is information. */
struct bars {
	double	part;		/* least part of what the link can carry */
	double	dropped;	/* most of the packets sent, or nothing if below 0 */
	double	jain;
	double	cubic;		/* least part of a TCP flow, and most are 100 less that */
	double	of_tcp;		/* least part of what a TCP flow alone gets */
	bool	relative;	/* @part is that of what goes without losses */
	bool	alive;		/* no QP dies */
	bool	all;		/* all work requests succeed */
};

struct kase {
	const char	*name;
	struct flows	flows;
	struct bars	bars;
	u32		seeds;		/* 0: one */
};

#define LANE(ns, limit)	{ .svc = (ns), .queue = (limit) }
#define LINK(us, to, to_queue, back, back_queue)					\
	{ .latency = (us) * US, .lane = { LANE(to, to_queue), LANE(back, back_queue) } }
#define WRITES(n, each)									\
	.pairs = (n), .opcode = IB_WR_RDMA_WRITE, .len = MIB, .count = (each), .depth = 4
#define READS(n, mib, each, deep, rd)							\
	.pairs = (n), .opcode = IB_WR_RDMA_READ, .len = (mib) * MIB, .count = (each),	\
	.depth = (deep), .rd_atomic = (rd)

#define SLOW(ring, drops, part_, dropped_)						\
	FAR_AND_SLOW(10, ring, drops, part_, dropped_)
#define FAR_AND_SLOW(us, ring, drops, part_, dropped_) {				\
	.name = "receiver of 1 us, ring of " #ring ", " #us " us away",			\
	.flows = { WRITES(1, 128), .kick = BURST(250), .back_n = drops,			\
		   .link = LINK(us, 1000, ring, 100, 0) },				\
	.bars = { .part = part_, .dropped = dropped_, .alive = true },			\
}
#define TO_ONE(n, each, limit_, drops)							\
	WRITES(n, each), .kick = BURST(330), .back_n = drops,				\
	.link = LINK(10, 330, limit_, 33, 0)
#define INCAST(n, each, limit_, drops, part_, dropped_, jain_) {			\
	.name = #n " to 1, queue of " #limit_,						\
	.flows = { TO_ONE(n, each, limit_, drops) },					\
	.bars = { .part = part_, .dropped = dropped_, .jain = jain_, .alive = true },	\
}
/* The same, but senders at unlike distances, and hosts that are interrupted late */
#define INCAST_SPREAD(n, each, limit_, us, drops, part_, dropped_, jain_) {		\
	.name = #n " to 1, unlike distances, up to " #us " us late, queue of " #limit_,	\
	.flows = { TO_ONE(n, each, limit_, drops), .spread = 23, .late = (us) * US },	\
	.bars = { .part = part_, .dropped = dropped_, .jain = jain_, .alive = true },	\
	.seeds = 8,									\
}
/*
 * Messages that are waited for: each begins with nothing under way. They take half a second, so that
 * the last one's wait for a probe counts for little.
 */
#define WAITED(n, op, limit_, to_, back_, part_, dropped_) {				\
	.name = #n " to 1, one " #op " of 64 KiB at a time, queue of " #limit_,		\
	.flows = { .pairs = (n), .opcode = IB_WR_RDMA_##op, .len = 65536,		\
		   .count = 25600 / (n), .depth = 1, .rd_atomic = 16, .kick = BURST(250), \
		   .link = LINK(10, to_, limit_, back_, limit_) },			\
	.bars = { .part = part_, .dropped = dropped_, .alive = true },			\
}
#define READING(rd, limit_, part_, dropped_) {						\
	.name = "READ 4 MiB, rd_atomic " #rd ", queue of " #limit_,			\
	.flows = { READS(1, 4, 32, 16, rd), .kick = BURST(250),				\
		   .link = LINK(10, 100, 0, 1000, limit_) },				\
	.bars = { .part = part_, .dropped = dropped_, .alive = true },			\
}
#define SKEW(us, drops) {								\
	.name = "1 burst in 10 by another queue, " #us " us later",			\
	.flows = { WRITES(1, 64), .kick = BURST(330), .back_n = drops,			\
		   .link = { .latency = 10 * US, .lane = { LANE(330, 0), LANE(33, 0) },	\
			     .txqs = { .flip = 10, .skew = (us) * US } } },		\
}
#define MARKED(n, each, jain_) {								\
	.name = #n " to 1 with ECT, marked above 20",					\
	.flows = { WRITES(n, each), .kick = BURST(330), .ect = true,			\
		   .link = { .latency = 10 * US,					\
			     .lane = { { .svc = 330, .queue = 1000, .mark = 20 },	\
				       LANE(33, 0) } } },				\
	.bars = { .part = 90, .dropped = -1, .jain = jain_, .alive = true },		\
}
#define MARKED_READS(n, plain, part_, dropped_) {					\
	.name = "READs by " #n ", ECT, marked above 20" plain,				\
	.flows = { READS(n, 4, 16, 16, 16), .kick = BURST(250), .ect = true,		\
		   .adapter = sizeof(plain) > 1,				\
		   .link = { .latency = 10 * US,					\
			     .lane = { LANE(100, 0),					\
				       { .svc = 1000, .queue = 1000, .mark = 20 } } } },	\
	.bars = { .part = part_, .dropped = dropped_, .alive = true },			\
}
/* 20 Mbit/s: 600 us a packet; 100 Mbit/s: 88 us */
#define US_20	600
#define US_100	88
#define WAN_LINK(mbit, ms, limit_, mark_)						\
	{ .latency = (ms) * 500 * US + 10 * US,						\
	  .lane = { { .svc = US_##mbit * US, .queue = (limit_), .mark = (mark_) },	\
		    LANE(US_##mbit * US / 10, 0) } }
/* CUBIC takes some rounds of growth and loss until the flows have their shares. */
#define WAN_FLOWS(mbit, ms, limit_, mark_, tcp, us)					\
	{ WRITES(1, 1000), .kick = BURST(250), .timeout = 18,				\
	  .limit = (tcp ? 90000 : 60000) * MS, .settle = tcp ? 30000 * MS : 0, .cubic = tcp, \
	  .late = (us) * US, .ect = (mark_) > 0, .link = WAN_LINK(mbit, ms, limit_, mark_) }
/* part_: of what TCP gets alone; tcp_: least part of TCP beside */
#define WAN(mbit, ms, name_, limit_, mark_, dropped_, part_) {				\
	.name = #mbit " Mbit/s, RTT of " #ms " ms, " name_,				\
	.flows = WAN_FLOWS(mbit, ms, limit_, mark_, false, 0),				\
	.bars = { .of_tcp = part_, .dropped = dropped_, .alive = true },		\
}
#define BESIDE_TCP(mbit, ms, name_, limit_, mark_, us_, tcp_) {				\
	.name = #mbit " Mbit/s, RTT of " #ms " ms, " name_ ", beside TCP",		\
	.flows = WAN_FLOWS(mbit, ms, limit_, mark_, true, 0),				\
	.bars = { .part = us_, .cubic = tcp_, .alive = true },				\
}
/*
 * Without any jitter a full queue drops those packets that always come when it is full: in VMs
 * under icount, too, this side has as little as 29 % then. Hosts that are late now and then share.
 */
#define BESIDE_TCP_LATE(mbit, ms) {							\
	.name = #mbit " Mbit/s, RTT of " #ms " ms, queue of 100, hosts up to 300 us late, "	\
		"beside TCP",								\
	.flows = WAN_FLOWS(mbit, ms, 100, 0, true, 300),				\
	.bars = { .part = 45, .cubic = 28, .alive = true },				\
	.seeds = 2,									\
}
#define LOSSY(percent_, part_, drops) {							\
	.name = #percent_ " % lost at random",						\
	.flows = { WRITES(1, 64), .kick = BURST(1100), .back_n = drops,			\
		   .link = { .latency = 20 * US, .loss = (percent_) * 1000,		\
			     .lane = { LANE(1000, 0), LANE(100, 0) } } },		\
	.bars = { .part = part_, .relative = true, .alive = true },			\
	.seeds = 3,									\
}
#define RXE(percent_) {									\
	.name = "READ 1 MiB from rdma_rxe, " #percent_ " % lost",			\
	.flows = { READS(1, 1, 200, 4, 16), .kick = BURST(1000), .rxe = true,		\
		   .limit = 60000 * MS,							\
		   .link = { .latency = 20 * US, .loss = (percent_) * 1000,		\
			     .lane = { LANE(1000, 0), LANE(1000, 0) } } },		\
	.bars = { .alive = true, .all = true },						\
	.seeds = 5,									\
}

#define STANDS_STILL(ring_)								\
	{ .runs = { MS, 10 * MS }, .still = { 40 * MS, 80 * MS }, .ring = (ring_) }
#define STALLS(n, exp, tries_, ring_, part_) {						\
	.name = "CPUs that stand still: " #n " QPs, timeout " #exp ", tries " #tries_	\
		", ring of " #ring_,							\
	.flows = { .pairs = (n), .opcode = IB_WR_RDMA_WRITE, .len = 8 * MIB,		\
		   .count = 4, .depth = 4, .kick = BURST(1000), .timeout = (exp),	\
		   .tries = (tries_), .limit = 60000 * MS,				\
		   .stall = { STANDS_STILL(ring_), STANDS_STILL(ring_) },		\
		   .link = LINK(20, 1000, 0, 100, 0) },					\
	.bars = { .part = part_, .alive = true, .all = true },				\
	.seeds = 4,									\
}
#define STALLED_PEER(exp, tries_) {							\
	.name = "a peer on this host whose CPU stands still: timeout " #exp		\
		", tries " #tries_,							\
	.flows = { .pairs = 4, .opcode = IB_WR_RDMA_WRITE, .len = 8 * MIB,		\
		   .count = 4, .depth = 4, .kick = BURST(1000), .timeout = (exp),	\
		   .tries = (tries_), .one_host = true, .limit = 60000 * MS,		\
		   .stall = { {}, STANDS_STILL(0) },					\
		   .link = LINK(20, 1000, 0, 100, 0) },					\
	.bars = { .alive = true, .all = true },						\
	.seeds = 4,									\
}
/* A peer whose CPU stands still for longer than the timeouts that count take, once */
#define SLOW_PEER(exp, tries_, ms) {							\
	.name = "a peer whose CPU stands still for " #ms " ms: timeout " #exp		\
		", tries " #tries_,							\
	.flows = { .pairs = 1, .opcode = IB_WR_RDMA_WRITE, .len = 8 * MIB,		\
		   .count = 4, .depth = 4, .kick = BURST(1000), .timeout = (exp),	\
		   .tries = (tries_), .limit = 60000 * MS,				\
		   .stall = { {}, { .runs = { 30 * MS, 40 * MS },			\
				    .still = { (ms) * MS, (ms) * MS } } },		\
		   .link = LINK(20, 1000, 0, 100, 0) },					\
	.bars = { .alive = true, .all = true },						\
	.seeds = 4,									\
}

static const struct kase cases[] = {
	SLOW(100, false, 95, 1),
	SLOW(512, false, 95, 1),
	SLOW(1024, false, 95, 1),
	SLOW(100, true, 90, 3),
	SLOW(512, true, 90, 3),
	SLOW(1024, true, 90, 3),
	/* a ring that holds a tenth of what the path does shows no queue before it overflows */
	FAR_AND_SLOW(500, 100, true, 0, 3),
	INCAST(16, 24, 100, false, 90, 2, .95),
	INCAST(16, 24, 1000, false, 90, 2, .95),
	INCAST(16, 24, 100, true, 85, 5, .95),
	INCAST(16, 24, 1000, true, 85, 5, .95),
	INCAST(24, 16, 100, true, 85, 5, .95),
	INCAST(32, 12, 100, true, 85, 5, .95),
	/*
	 * Without delays of hosts a full queue drops the packets of those that are nearest, as
	 * they always arrive first (a phase effect, Floyd & Jacobson 1992).
	 */
	INCAST_SPREAD(16, 48, 100, 3, false, 90, 2, .95),
	INCAST_SPREAD(16, 48, 100, 20, false, 90, 2, .95),
	INCAST_SPREAD(16, 96, 1000, 20, false, 90, 2, .95),
	INCAST_SPREAD(16, 48, 100, 3, true, 85, 5, .95),
	INCAST_SPREAD(16, 96, 1000, 20, true, 85, 5, .95),
	INCAST(64, 6, 100, false, 0, 0, 0),
	INCAST(64, 6, 1000, false, 0, 0, 0),
	INCAST(64, 6, 1000, true, 0, 0, 0),
	INCAST(64, 6, 100, true, 0, 0, 0),
	WAITED(1, WRITE, 100, 330, 33, 45, -1),
	WAITED(1, READ, 100, 33, 330, 45, -1),
	WAITED(4, WRITE, 100, 330, 33, 85, 1),
	WAITED(16, WRITE, 100, 330, 33, 90, 2),
	WAITED(16, WRITE, 1000, 330, 33, 95, -1),
	WAITED(4, READ, 100, 33, 330, 70, 1),
	WAITED(16, READ, 100, 33, 330, 90, 2),
	WAITED(16, READ, 1000, 33, 330, 95, -1),
	READING(16, 100, 90, 2),
	READING(16, 512, 90, 2),
	READING(16, 1024, 90, 2),
	READING(16, 4096, 90, 2),
	/* with one READ at a time nothing but a timer tells that its last response is lost */
	READING(1, 100, 0, 2),
	READING(1, 1024, 0, 2),
	READING(4, 100, 90, 2),
	READING(4, 1024, 90, 2),
	SKEW(5, false), SKEW(20, false), SKEW(100, false),
	SKEW(5, true), SKEW(20, true), SKEW(100, true),
	MARKED(4, 48, .95),
	MARKED(16, 24, .9),
	MARKED_READS(1, "", 90, -1),
	MARKED_READS(4, "", 90, -1),
	MARKED_READS(1, ", by adapters", 40, -1),
	MARKED_READS(4, ", by adapters", 70, 5),
	/* so many packets of TCP in a queue are 1.4 times as many bytes */
	WAN(20, 0, "queue of 100", 100, 0, 1, 95),
	BESIDE_TCP(20, 0, "queue of 100", 100, 0, 30, 30),
	WAN(20, 0, "queue of 400", 400, 0, 1, 95),
	BESIDE_TCP(20, 0, "queue of 400", 400, 0, 25, 30),
	WAN(20, 0, "marked above 20", 400, 20, -1, 95),
	BESIDE_TCP(20, 0, "marked above 20", 400, 20, 30, 30),
	WAN(20, 2, "queue of 100", 100, 0, 1, 95),
	BESIDE_TCP(20, 2, "queue of 100", 100, 0, 30, 30),
	WAN(20, 20, "queue of 100", 100, 0, 1, 95),
	BESIDE_TCP(20, 20, "queue of 100", 100, 0, 30, 30),
	WAN(20, 10, "queue of 100", 100, 0, 1, 95),
	BESIDE_TCP(20, 10, "queue of 100", 100, 0, 30, 30),
	WAN(20, 10, "queue of 400", 400, 0, 1, 95),
	BESIDE_TCP(20, 10, "queue of 400", 400, 0, 30, 30),
	WAN(20, 10, "marked above 20", 400, 20, -1, 95),
	BESIDE_TCP(20, 10, "marked above 20", 400, 20, 30, 30),
	WAN(20, 50, "queue of 100", 100, 0, 1, 95),
	BESIDE_TCP(20, 50, "queue of 100", 100, 0, 30, 30),
	WAN(20, 50, "queue of 400", 400, 0, 1, 90),
	BESIDE_TCP(20, 50, "queue of 400", 400, 0, 30, 30),
	WAN(20, 50, "marked above 20", 400, 20, -1, 95),
	BESIDE_TCP(20, 50, "marked above 20", 400, 20, 30, 30),
	WAN(20, 100, "queue of 100", 100, 0, 1, 90),
	BESIDE_TCP(20, 100, "queue of 100", 100, 0, 27, 30),
	WAN(20, 100, "queue of 400", 400, 0, 1, 85),
	BESIDE_TCP(20, 100, "queue of 400", 400, 0, 30, 30),
	WAN(20, 100, "marked above 20", 400, 20, -1, 95),
	BESIDE_TCP(20, 100, "marked above 20", 400, 20, 30, 30),
	WAN(100, 0, "queue of 100", 100, 0, 1, 95),
	BESIDE_TCP(100, 0, "queue of 100", 100, 0, 30, 30),
	WAN(100, 0, "queue of 400", 400, 0, 1, 95),
	BESIDE_TCP(100, 0, "queue of 400", 400, 0, 30, 30),
	WAN(100, 0, "marked above 20", 400, 20, -1, 95),
	BESIDE_TCP(100, 0, "marked above 20", 400, 20, 30, 12),
	WAN(100, 10, "queue of 100", 100, 0, 1, 95),
	BESIDE_TCP(100, 10, "queue of 100", 100, 0, 30, 30),
	WAN(100, 10, "queue of 400", 400, 0, 1, 95),
	BESIDE_TCP(100, 10, "queue of 400", 400, 0, 30, 30),
	WAN(100, 10, "marked above 20", 400, 20, -1, 88),
	BESIDE_TCP(100, 10, "marked above 20", 400, 20, 30, 30),
	WAN(100, 50, "queue of 100", 100, 0, 1, 95),
	BESIDE_TCP(100, 50, "queue of 100", 100, 0, 22, 30),
	WAN(100, 50, "queue of 400", 400, 0, 1, 95),
	BESIDE_TCP(100, 50, "queue of 400", 400, 0, 20, 30),
	WAN(100, 50, "marked above 20", 400, 20, -1, 83),
	BESIDE_TCP(100, 50, "marked above 20", 400, 20, 30, 20),
	WAN(100, 100, "queue of 100", 100, 0, 1, 95),
	BESIDE_TCP(100, 100, "queue of 100", 100, 0, 30, 30),
	WAN(100, 100, "queue of 400", 400, 0, 1, 90),
	BESIDE_TCP(100, 100, "queue of 400", 400, 0, 24, 30),
	/* marks above 20 packets hold TCP itself to two thirds of such a link */
	WAN(100, 100, "marked above 20", 400, 20, -1, 64),
	BESIDE_TCP(100, 100, "marked above 20", 400, 20, 30, 15),
	BESIDE_TCP_LATE(20, 10),
	BESIDE_TCP_LATE(20, 50),
	BESIDE_TCP_LATE(100, 10),
	BESIDE_TCP_LATE(100, 50),
	BESIDE_TCP_LATE(100, 100),
	LOSSY(1, 60, false),
	LOSSY(5, 25, false),
	LOSSY(1, 35, true),
	LOSSY(5, 7, true),
	RXE(0.1),
	RXE(0.5),
	RXE(1),
	/* each of these CPUs runs for less than a tenth of the time */
	STALLS(4, 14, 8, 0, 2),
	STALLS(4, 14, 2, 64, 0),
	STALLS(4, 10, 8, 64, 0),
	STALLS(4, 10, 2, 0, 2),
	STALLS(4, 8, 8, 0, 0),
	STALLED_PEER(14, 1),
	STALLED_PEER(12, 2),
	STALLED_PEER(10, 8),
	SLOW_PEER(14, 8, 800),
	SLOW_PEER(12, 2, 55),
};

/* Of all seeds: the worst fairness, the mean of parts, the sum of counts */
static struct flows_result run_case(const struct kase *k)
{
	u32 i, n = k->seeds ? k->seeds : 1;
	struct flows_result sum = { .jain = 1 };

	for (i = 0; i < n; i++) {
		struct flows_result r = flows_run(&k->flows, i);

		sum.part += r.part / n;
		sum.cubic += r.cubic / n;
		sum.dropped += r.dropped / n;
		sum.jain = r.jain < sum.jain ? r.jain : sum.jain;
		sum.done += r.done;
		sum.wanted += r.wanted;
		sum.dead += r.dead;
		sum.ns += r.ns;
		sum.timeouts += r.timeouts;
		sum.excused += r.excused;
		sum.probes += r.probes;
		sum.retransmits += r.retransmits;
		sum.marked += r.marked;
		sum.longest = r.longest > sum.longest ? r.longest : sum.longest;
	}
	return sum;
}

static const char *peers(const struct kase *k)
{
	return k->flows.back_n ? ", peers drop what is early" : "";
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void print_result(const struct kase *k, const struct flows_result *r, const char *lead)
{
	printf("%s%.1f %% of the link", lead, 100 * r->part);
	if (k->flows.cubic)
		printf(", TCP %.1f %%", 100 * r->cubic);
	printf(", %.2f %% dropped, queue up to %u, ", 100 * r->dropped, r->longest);
	if (k->flows.pairs > 1)
		printf("Jain's index %.3f, ", r->jain);
	if (r->marked)
		printf("%llu marked, ", r->marked);
	printf("%u of %u done, %u QPs dead, %llu timeouts, %llu excused, %llu probes, %llu sent again, %.1f ms\n",
	       r->done, r->wanted, r->dead, r->timeouts, r->excused, r->probes,
	       r->retransmits, r->ns / 1e6);
	fflush(stdout);
}

static bool wanted(const struct kase *k, const char *filter)
{
	return !filter || strstr(k->name, filter);
}

static void table(const char *filter)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct kase *k = &cases[i];
		double start = seconds();
		struct flows_result r;

		if (!wanted(k, filter))
			continue;
		r = run_case(k);
		printf("%s%s (in %.1f s)\n", k->name, peers(k), seconds() - start);
		print_result(k, &r, "    ");
	}
}

static double without_loss(const struct kase *k)
{
	struct flows f = k->flows;

	f.link.loss = 0;
	return flows_run(&f, 0).part;
}

static double tcp_alone(const struct kase *k)
{
	struct flows f = k->flows;

	f.pairs = 0;
	f.cubic = true;
	return flows_run(&f, 0).cubic;
}

static void check_case(const struct kase *k, const struct flows_result *r)
{
	const struct bars *b = &k->bars;

	if (b->part)
		CHECK(100 * r->part >= b->part * (b->relative ? without_loss(k) : 1));
	if (b->of_tcp) {
		double tcp = tcp_alone(k);

		printf("# TCP alone: %.1f %%\n", 100 * tcp);
		CHECK(100 * r->part >= b->of_tcp * tcp);
	}
	if (b->dropped > 0)
		CHECK(100 * r->dropped <= b->dropped);
	if (b->dropped < 0)
		CHECK(!r->dropped);
	if (b->jain)
		CHECK(r->jain >= b->jain);
	if (b->cubic) {
		CHECK(100 * r->cubic >= b->cubic);
		CHECK(100 * r->part <= 100 - b->cubic);
	}
	if (b->alive)
		CHECK_EQ(r->dead, 0);
	if (b->all)
		CHECK_EQ(r->done, r->wanted);
}

static void test(const char *filter)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct kase *k = &cases[i];
		struct flows_result r;

		if (!k->bars.alive || !wanted(k, filter))
			continue;
		t_case("links: %s%s", k->name, peers(k));
		r = run_case(k);
		print_result(k, &r, "# ");
		check_case(k, &r);
	}
}

#define SHOW(name_, what_, ...)								\
	{ .name = name_, .what = what_, .flows = { .sampled = print_sample, __VA_ARGS__ } }

static void print_sample(struct sim *s, struct lane *lane, const struct cubic *cubic)
{
	u32 i;

	printf("%llu\t%u", s->now / US, lane_waiting(lane, s->now));
	for (i = 0; i < s->kqps; i += 2) {
		const struct sroce_kqp *kqp = s->kqp[i];

		printf("\t%u\t%u", flows_progress(kqp) ? sroce_cwnd(&kqp->qp.req.cwnd) : 0,
		       flows_progress(kqp));
	}
	if (cubic)
		printf("\t%.1f\t%llu", cubic->cwnd, cubic->delivered);
	printf("\n");
}

static const struct {
	const char	*name, *what;
	struct flows	flows;
} shows[] = {
	SHOW("join", "Four flows join one after another: 330 ns a packet, queue of 1000",
	     WRITES(4, 96), .kick = BURST(330), .join = 16 * MS, .sample = 400 * US,
	     .link = LINK(10, 330, 1000, 33, 0)),
	SHOW("marked", "Four flows with ECT: 330 ns a packet, CE above 20 in the queue",
	     WRITES(4, 96), .kick = BURST(330), .join = 16 * MS, .sample = 400 * US, .ect = true,
	     .link = { .latency = 10 * US,
		       .lane = { { .svc = 330, .queue = 1000, .mark = 20 }, LANE(33, 0) } }),
	SHOW("slow", "Receiver slower than the sender: 1 us a packet, ring of 512",
	     WRITES(1, 128), .kick = BURST(250), .sample = 500 * US,
	     .link = LINK(10, 1000, 512, 100, 0)),
	SHOW("wan", "20 Mbit/s, RTT of 20 ms, queue of 100: beside a TCP flow",
	     WRITES(1, 1000), .kick = BURST(250), .timeout = 18, .limit = 60000 * MS,
	     .sample = 80 * MS, .cubic = true, .link = LINK(10000, 600 * US, 100, 60 * US, 0)),
};

/* For plot.py: what it is, ns a packet, flows of ours; then the samples */
static int show(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(shows); i++) {
		const struct flows *f = &shows[i].flows;

		if (strcmp(shows[i].name, name))
			continue;
		printf("%s\n%llu\t%u\n", shows[i].what, f->link.lane[0].svc, f->pairs);
		flows_run(f, 0);
		return 0;
	}
	fprintf(stderr, "nothing to plot with this name: %s\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	const char *filter = NULL;
	bool tap = false;
	int c;

	while ((c = getopt(argc, argv, "Tc:p:")) != -1) {
		if (c == 'T') {
			tap = true;
		} else if (c == 'p') {
			return show(optarg);
		} else if (c == 'c') {
			filter = optarg;
		} else {
			fprintf(stderr, "usage: links [-T] [-c PART_OF_A_NAME] | links -p join|marked|slow|wan\n");
			return 2;
		}
	}
	if (tap) {
		test(filter);
		return t_finish();
	}
	table(filter);
	return 0;
}
