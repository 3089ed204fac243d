// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How fast the protocol gets over losses, in the simulation's own time: what is
 * measured on a machine says as much of the machine.
 *
 * Both ends need a while for each packet, as hosts do, and some until they go on after
 * they were idle. A wire lies between them that takes some time and loses packets either
 * way. The table says MB/s and how many packets there were beyond those needed; with -T
 * the bars are test cases.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tap.h"
#include "../unit/sim.h"

#define DEPTH	4		/* work requests under way */
#define MIB	(1U << 20)
#define MTU	1024U
#define PACKET	7000ULL		/* ns to take one in */
/*
 * What a QP has to send it sends a little slower than a fast peer takes it in;
 * before a slow one, a queue grows.
 */
#define KICK	(SROCE_TX_BUDGET * PACKET * 11 / 10)
#define SLOW	2

struct path {
	u64		latency;	/* ns, one way */
	u32		loss;		/* packets in 10000 */
	u32		late;		/* those overtaken by ten others */
	bool		slow;		/* the peer is */
	u64		wakeup;		/* ns, at most, until a host that was idle goes on */
	u64		busy[2];	/* until then with what came before */
	struct rnd	r;
};

static const struct work {
	const char	*name;
	u32		opcode;
	u32		len;
	u32		count;
} works[] = {
	{ "WRITE 1 MiB", IB_WR_RDMA_WRITE, MIB, 64 },
	{ "READ 8 MiB", IB_WR_RDMA_READ, 8 * MIB, 8 },
};

struct result {
	double	mbs;
	double	extra;		/* packets per packet needed, less 1 */
};

static int wire(struct sim *s, struct sim_packet *p)
{
	struct path *path = s->arg;
	u64 *busy = &path->busy[p->from == &s->a];
	u64 take = path->slow && p->from == &s->a ? SLOW * PACKET : PACKET;

	if (rnd_below(&path->r, 10000) < path->loss)
		return 0;
	p->when = s->now + path->latency;
	if (p->when < *busy)
		p->when = *busy;
	else if (path->wakeup)
		p->when += rnd_below(&path->r, path->wakeup);
	p->when += take;
	*busy = p->when;
	if (path->late && rnd_below(&path->r, 10000) < path->late)
		p->when += 10 * PACKET;
	return 1;
}

static void post(struct sim *s, const struct work *wk, u32 nr,
		 const struct sim_buf *from, const struct sim_buf *to)
{
	struct sim_wr wr = {
		.wr_id = nr, .opcode = wk->opcode, .flags = IB_SEND_SIGNALED,
		.num_sge = 1, .sge = { sim_sge(from, 0, wk->len) },
		.remote_addr = to->mr.iova, .rkey = to->mr.key,
	};

	sim_post(&s->a, &wr);
}

static void transfer(struct sim *s, const struct work *wk)
{
	struct sim_buf *from, *to;
	u32 posted = 0;

	from = sim_buf_zeros(s, 0x10000000, wk->len, IB_ACCESS_LOCAL_WRITE);
	to = sim_buf_zeros(s, 0x70000000, wk->len, IB_ACCESS_LOCAL_WRITE |
			   IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ);
	do {
		while (posted < wk->count && posted - s->a.scq.n < DEPTH)
			post(s, wk, posted++, from, to);
	} while (s->a.scq.n < wk->count && sim_step(s));
	CHECK_EQ(s->a.scq.n, wk->count);
	CHECK_EQ(s->a.qp.state, IB_QPS_RTS);
}

static struct result measure(const struct work *wk, const struct path *like,
			     u64 seed)
{
	struct path path = *like;
	double needed = (double)wk->count * wk->len / MTU;
	struct sim_cfg cfg = sim_default;
	struct result res;
	struct sim *s;
	u64 start;

	path.r.s = seed;
	cfg.timeout = 14;
	s = sim_new(&cfg);
	s->wire = wire;
	s->arg = &path;
	s->train = SROCE_TX_BUDGET;
	s->task_delay = KICK;
	start = s->now;
	transfer(s, wk);
	res.mbs = (double)wk->count * wk->len * 1e3 / (s->now - start);
	res.extra = (sim_count(&s->a, SROCE_CNT_TX_PACKETS) +
		     sim_count(&s->b, SROCE_CNT_TX_PACKETS)) / needed - 1;
	sim_end(s);
	return res;
}

/* The mean of some runs */
static struct result mean(const struct work *wk, const struct path *like,
			  u32 runs)
{
	struct result sum = {};
	u32 i;

	for (i = 0; i < runs; i++) {
		struct result one = measure(wk, like, i);

		sum.mbs += one.mbs / runs;
		sum.extra += one.extra / runs;
	}
	return sum;
}

static void table(u32 runs)
{
	static const u32 losses[] = { 0, 10, 100, 500, 1000, 3000 };
	static const struct {
		u32	us;
		bool	slow;
		u32	wakeup;
	} paths[] = {
		{ 20, false, 0 }, { 20, true, 0 }, { 100, false, 0 }, { 100, true, 0 },
		{ 500, false, 0 }, { 500, true, 0 }, { 5000, false, 0 },
		{ 20, false, 50 }, { 20, false, 200 }, { 20, false, 500 }, { 20, true, 500 },
		{ 100, false, 500 },
	};
	u32 w, l, i;

	printf("MB/s (packets beyond those needed, in %%) at a loss of\n%24s", "");
	for (i = 0; i < ARRAY_SIZE(losses); i++)
		printf("%12g %%", losses[i] / 100.0);
	for (w = 0; w < ARRAY_SIZE(works); w++)
		for (l = 0; l < ARRAY_SIZE(paths); l++) {
			printf("\n%-12s %5u us +%3u %s", works[w].name, paths[l].us,
			       paths[l].wakeup, paths[l].slow ? "slow" : "    ");
			for (i = 0; i < ARRAY_SIZE(losses); i++) {
				struct path path = {
					.latency = paths[l].us * 1000,
					.wakeup = paths[l].wakeup * 1000,
					.slow = paths[l].slow,
					.loss = losses[i],
				};
				struct result r = mean(&works[w], &path, runs);

				printf("%8.1f (%3.0f)", r.mbs, 100 * r.extra);
				fflush(stdout);
			}
		}
	printf("\n");
}

/* Over a wire as in a rack, with hosts that take their time */
static void bars(void)
{
	static const struct {
		u32	work, us, loss, late;
		bool	slow;
		u32	percent, wakeup;
	} all[] = {
		{ 0, 20, 100, 0, false, 85, 0 },
		{ 0, 20, 500, 0, false, 55, 0 },
		{ 0, 100, 100, 0, false, 65, 0 },
		{ 0, 100, 500, 0, false, 45, 0 },
		{ 0, 500, 500, 0, false, 18, 0 },
		{ 0, 20, 3000, 0, false, 5, 0 },
		{ 0, 20, 0, 100, false, 80, 0 },
		{ 0, 100, 0, 100, false, 80, 0 },
		{ 0, 100, 10, 100, false, 70, 0 },
		{ 1, 20, 100, 0, false, 65, 0 },
		{ 1, 20, 500, 0, false, 30, 0 },
		{ 1, 100, 100, 0, false, 65, 0 },
		{ 1, 500, 500, 0, false, 15, 0 },
		{ 1, 100, 10, 100, false, 80, 0 },
		{ 0, 20, 100, 0, true, 60, 0 },
		{ 0, 100, 100, 0, true, 60, 0 },
		{ 0, 20, 500, 0, true, 25, 0 },
		{ 0, 20, 10, 0, false, 80, 500 },
		{ 0, 20, 100, 0, false, 60, 200 },
		{ 0, 20, 100, 0, true, 60, 500 },
		{ 0, 20, 500, 0, false, 25, 200 },
		{ 1, 20, 10, 0, false, 65, 500 },
		{ 1, 20, 100, 0, false, 30, 200 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		const struct work *wk = &works[all[i].work];
		struct path path = {
			.latency = all[i].us * 1000, .slow = all[i].slow,
			.wakeup = all[i].wakeup * 1000,
		};
		struct result none = mean(wk, &path, 1), r;

		path.loss = all[i].loss;
		path.late = all[i].late;
		r = mean(wk, &path, 2);

		t_case("goodput: %s, %u us, wakes up in %u, %g %% lost, %g %% late: at least %u %%",
		       wk->name, all[i].us, all[i].wakeup, all[i].loss / 100.0,
		       all[i].late / 100.0, all[i].percent);
		tap_note("%.1f of %.1f MB/s, %.0f %% more packets than needed",
		       r.mbs, none.mbs, 100 * r.extra);
		CHECK(r.mbs * 100 >= none.mbs * all[i].percent);
	}
}

int main(int argc, char **argv)
{
	bool tap = false;
	u32 runs = 2;
	int c;

	while ((c = getopt(argc, argv, "Tn:")) != -1) {
		if (c == 'T') {
			tap = true;
		} else if (c == 'n') {
			runs = atoi(optarg);
		} else {
			fprintf(stderr, "usage: goodput [-T] [-n RUNS]\n");
			return 2;
		}
	}
	if (tap) {
		bars();
		return t_finish();
	}
	table(runs);
	return 0;
}
