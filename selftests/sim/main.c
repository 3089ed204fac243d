// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Run seeds, in as many processes as are asked for, and say what they came to:
 * as a figure, or with -T as test cases, one per class of scenarios.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "shrink.h"

#define FAILURES_MAX	10	/* per process, unless -m says so */
#define SECONDS_MAX	20	/* for one seed */

struct options {
	u64	first, n;
	u32	jobs, failures;
	int	class;
	bool	one, trace, shrink, tap;
};

/* Over all seeds that a process has run */
struct tally {
	u64	seeds[SC_CLASS_NUM], failed[SC_CLASS_NUM];
	u64	packets, ops;
	struct sroce_counters counters;
};

static u64 seed_now;

/* Sanitizers have it if they are linked in. */
void __sanitizer_set_death_callback(void (*fn)(void)) __attribute__((weak));

static void say_seed(void)
{
	char line[80];
	int len = snprintf(line, sizeof(line),
			   "# seed %llu: make sim SEED=%llu TRACE=1\n",
			   seed_now, seed_now);

	if (write(STDOUT_FILENO, line, len) != len)
		_exit(3);
}

static void on_signal(int sig)
{
	say_seed();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void tell_death(void)
{
	if (__sanitizer_set_death_callback) {
		__sanitizer_set_death_callback(say_seed);
	} else {
		signal(SIGSEGV, on_signal);
		signal(SIGBUS, on_signal);
		signal(SIGABRT, on_signal);
	}
	signal(SIGVTALRM, on_signal);
}

/* Of the CPU's time: the machine may be busy with other things. */
static void limit_time(u32 seconds)
{
	struct itimerval it = { .it_value.tv_sec = seconds };

	setitimer(ITIMER_VIRTUAL, &it, NULL);
}

static void count(struct tally *t, const struct scenario *sc,
		  const struct outcome *out)
{
	u32 i;

	t->seeds[sc->class]++;
	t->failed[sc->class] += out->failed;
	t->packets += out->packets;
	t->ops += out->ops;
	for (i = 0; i < SROCE_CNT_NUM; i++)
		t->counters.c[i] += out->counters.c[i];
}

static u64 sum(const u64 *n)
{
	u64 all = 0;
	u32 i;

	for (i = 0; i < SC_CLASS_NUM; i++)
		all += n[i];
	return all;
}

static void run_seeds(const struct options *o, u32 job, struct tally *t)
{
	struct scenario *sc = malloc(sizeof(*sc));
	struct outcome *out = malloc(sizeof(*out));
	u64 i;

	for (i = job; i < o->n && sum(t->failed) < o->failures; i += o->jobs) {
		seed_now = o->first + i;
		limit_time(SECONDS_MAX);
		scenario_make(sc, seed_now, o->class);
		world_run(sc, false, out);
		count(t, sc, out);
		if (!out->failed)
			continue;
		printf("# seed %llu (%s): %s\n", seed_now,
		       sc_class_name[sc->class], out->why);
		fflush(stdout);
	}
	limit_time(0);
	free(out);
	free(sc);
}

static void add(struct tally *to, const struct tally *t)
{
	const u64 *from = (const u64 *)t;
	u64 *p = (u64 *)to;
	u32 i;

	for (i = 0; i < sizeof(*t) / sizeof(u64); i++)
		p[i] += from[i];
}

static int start_job(const struct options *o, u32 job)
{
	struct tally t = {};
	int fd[2];

	if (pipe(fd))
		return -1;
	if (!fork()) {
		run_seeds(o, job, &t);
		_exit(write(fd[1], &t, sizeof(t)) != sizeof(t));
	}
	close(fd[1]);
	return fd[0];
}

/* Return: false if a process has died. */
static bool run_jobs(const struct options *o, struct tally *t)
{
	int *fd;
	bool ok = true;
	u32 i;

	if (o->jobs == 1) {
		run_seeds(o, 0, t);
		return true;
	}
	fflush(stdout);
	fd = calloc(o->jobs, sizeof(*fd));
	for (i = 0; i < o->jobs; i++)
		fd[i] = start_job(o, i);
	for (i = 0; i < o->jobs; i++) {
		struct tally one;

		if (read(fd[i], &one, sizeof(one)) == sizeof(one))
			add(t, &one);
		else
			ok = false;
		close(fd[i]);
	}
	while (wait(NULL) > 0)
		;
	free(fd);
	return ok;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void print_counters(const struct tally *t)
{
#define NAME(id, name) name,
	static const char *const names[] = { SROCE_COUNTERS(NAME) };
	u32 i;

	for (i = 0; i < SROCE_CNT_NUM; i++)
		if (t->counters.c[i])
			printf("# %12llu %s\n", t->counters.c[i], names[i]);
}

/* What every long run has met; a scenario that meets nothing proves nothing. */
static void check_met(const struct tally *t)
{
#define ID(id, name) { SROCE_CNT_##id, name },
	static const struct {
		u32		id;
		const char	*name;
	} all[] = { SROCE_COUNTERS(ID) };
	/* counted by the module's glue, or only by forged packets */
	static const u32 never[] = {
		SROCE_CNT_TX_BYTES, SROCE_CNT_RX_PACKETS, SROCE_CNT_RX_BYTES,
		SROCE_CNT_TX_TRAINS, SROCE_CNT_TX_SEGMENTED, SROCE_CNT_RX_TRAINS,
		SROCE_CNT_BACKLOG,
		SROCE_CNT_BACKLOG_FULL, SROCE_CNT_DB_COALESCED,
		SROCE_CNT_STEERED, SROCE_CNT_STEER_FULL,
		SROCE_CNT_TX_MULTICAST, SROCE_CNT_RX_MULTICAST,
		SROCE_CNT_RX_MULTICAST_DROPS,
		SROCE_CNT_FAST_REG, SROCE_CNT_ODP_PAGES_IN, SROCE_CNT_ODP_PAGES_OUT,
		SROCE_CNT_TX_NO_ROUTE, SROCE_CNT_TX_DROPPED,
		SROCE_CNT_TX_CONGESTED, SROCE_CNT_TX_STOPPED, SROCE_CNT_TX_ORDER_WAITS, SROCE_CNT_PROBE_HELD,
		SROCE_CNT_RX_MALFORMED, SROCE_CNT_RX_BAD_OPCODE,
		SROCE_CNT_RX_NO_QP, SROCE_CNT_RX_QP_TYPE,
		SROCE_CNT_RX_ADDRESS, SROCE_CNT_RX_PKEY,
		SROCE_CNT_BAD_RESPONSE, SROCE_CNT_RQ_BAD_WQE,
		SROCE_CNT_ACK_EARLY, SROCE_CNT_OFO_CONFLICT,
		SROCE_CNT_RNR_DELAYED,
		SROCE_CNT_TX_FOREIGN, SROCE_CNT_RX_NETDEV, SROCE_CNT_ODP_DETACHED,
		SROCE_CNT_RX_GRO_TRAINS, SROCE_CNT_RX_GRO_PACKETS, SROCE_CNT_RX_GRO_ENDED,
	};
	u32 i, k;

	t_case("every decision of the protocol was met");
	for (i = 0; i < SROCE_CNT_NUM; i++) {
		for (k = 0; k < ARRAY_SIZE(never) && never[k] != all[i].id; k++)
			;
		if (k == ARRAY_SIZE(never) && !t->counters.c[all[i].id])
			t_fail("main", 1, "%s is still 0", all[i].name);
	}
}

static int report_tap(const struct options *o, const struct tally *t, bool ok)
{
	u32 i;

	for (i = 0; i < SC_CLASS_NUM; i++) {
		if (o->class >= 0 && (int)i != o->class)
			continue;
		t_case("%s: %s (%llu seeds)", sc_class_name[i],
		       sc_class_what[i], t->seeds[i]);
		CHECK_EQ(t->failed[i], 0);
		CHECK(t->seeds[i]);
	}
	t_case("no process died");
	CHECK(ok);
	if (o->class < 0)
		check_met(t);
	return t_finish();
}

static int run_many(const struct options *o)
{
	double start = seconds(), took;
	struct tally t = {};
	bool ok = run_jobs(o, &t);

	took = seconds() - start;
	if (!o->tap)
		print_counters(&t);
	printf("# %llu seeds in %.1f s with %u job%s: %.0f seeds/s, %.0f packets/s, %llu work requests; %llu failed\n",
	       sum(t.seeds), took, o->jobs, o->jobs == 1 ? "" : "s",
	       sum(t.seeds) / took, t.packets / took, t.ops, sum(t.failed));
	if (o->tap)
		return report_tap(o, &t, ok);
	return !ok || sum(t.failed) || sum(t.seeds) != o->n;
}

static int run_one(const struct options *o)
{
	struct scenario *sc = malloc(sizeof(*sc));
	struct outcome *out = malloc(sizeof(*out));
	int ret;

	seed_now = o->first;
	scenario_make(sc, o->first, o->class);
	world_run(sc, o->trace && !o->shrink, out);
	if (out->failed && o->shrink) {
		printf("shrunk in %u runs\n", shrink(sc, out));
		world_run(sc, o->trace, out);
	}
	scenario_print(sc);
	printf("%s\n", out->failed ? out->why : "nothing is wrong with it");
	ret = out->failed;
	free(out);
	free(sc);
	return ret;
}

static int class_of(const char *name)
{
	int i;

	for (i = 0; i < SC_CLASS_NUM; i++)
		if (!strcmp(name, sc_class_name[i]))
			return i;
	fprintf(stderr, "no such class: %s\n", name);
	exit(2);
}

static void usage(void)
{
	u32 i;

	fprintf(stderr, "usage: sim [-n SEEDS] [-f FIRST] [-j JOBS] [-m FAILURES] [-c CLASS] [-T] | sim -s SEED [-c CLASS] [-t] [-k]\n");
	for (i = 0; i < SC_CLASS_NUM; i++)
		fprintf(stderr, "  %-6s %s\n", sc_class_name[i],
			sc_class_what[i]);
	exit(2);
}

int main(int argc, char **argv)
{
	struct options o = {
		.n = 1000, .jobs = 1, .failures = FAILURES_MAX, .class = -1,
	};
	int c;

	while ((c = getopt(argc, argv, "n:f:j:m:c:s:Ttk")) != -1) {
		if (c == 'n')
			o.n = strtoull(optarg, NULL, 0);
		else if (c == 'f' || c == 's')
			o.first = strtoull(optarg, NULL, 0);
		else if (c == 'j')
			o.jobs = atoi(optarg);
		else if (c == 'm')
			o.failures = atoi(optarg);
		else if (c == 'c')
			o.class = class_of(optarg);
		else if (c == 'T')
			o.tap = true;
		else if (c == 't')
			o.trace = true;
		else if (c == 'k')
			o.shrink = true;
		else
			usage();
		o.one |= c == 's';
	}
	if (optind != argc || !o.jobs)
		usage();
	tell_death();
	return o.one ? run_one(&o) : run_many(&o);
}
