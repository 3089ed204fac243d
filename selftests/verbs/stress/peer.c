// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: by netem.test.sh, interop.test.sh and the benchmark */
/*
 * Verified transfers between two processes, in two machines or two network
 * namespaces: each has one device, and they talk about it on a stream socket.
 *
 * A step is OP:SIZE:COUNT[:DIR[:MS]]. OP is write, write_imm, read, send,
 * send_imm, fadd, cswap or mix (of all these, in random lengths) on RC, or uc
 * or ud (sends). DIR says who requests: out, the client; in, the server;
 * or both at once. With MS, requests are made for that long at most; with --until, until
 * there is that file.
 */

#include <getopt.h>
#include <unistd.h>
#include "stream.h"

#define MAX_STEPS	64

static const struct {
	const char *name;
	enum ibv_qp_type type;
	enum stream_op op;
} ops[] = {
	{ "write", IBV_QPT_RC, STREAM_WRITE },
	{ "write_imm", IBV_QPT_RC, STREAM_WRITE_IMM },
	{ "read", IBV_QPT_RC, STREAM_READ },
	{ "send", IBV_QPT_RC, STREAM_SEND },
	{ "send_imm", IBV_QPT_RC, STREAM_SEND_IMM },
	{ "fadd", IBV_QPT_RC, STREAM_FADD },
	{ "cswap", IBV_QPT_RC, STREAM_CSWAP },
	{ "mix", IBV_QPT_RC, STREAM_MIX },
	{ "uc", IBV_QPT_UC, STREAM_SEND_IMM },
	{ "ud", IBV_QPT_UD, STREAM_SEND_IMM },
};

static const char * const dirs[] = {
	[STREAM_OUT] = "out", [STREAM_IN] = "in",
	[STREAM_OUT | STREAM_IN] = "both",
};

/* What the server has to know before it opens its device. */
struct plan {
	uint32_t family, steps;
	uint64_t room;
};

static struct step steps[MAX_STEPS];
static struct plan plan = { .family = 4 };
static struct step defaults = {
	.depth = 16, .limit = 30000, .timeout = 14, .retry = 7,
	.mtu = IBV_MTU_4096, .seed = 1,
};

static const struct option options[] = {
	VT_OPTION("family", 'f'), VT_OPTION("depth", 'd'),
	VT_OPTION("limit", 'l'), VT_OPTION("timeout", 't'),
	VT_OPTION("retry", 'r'), VT_OPTION("seed", 's'), VT_FLAG("lossy", 'y'),
	VT_OPTION("until", 'u'), { }
};

static void __attribute__((noreturn)) usage(void)
{
	fprintf(stderr,
		"usage: peer DEV[@NETNS] listen PATH|HOST:PORT\n"
		"       peer DEV[@NETNS] connect PATH|HOST:PORT [--family 4|6] [--depth N]\n"
		"	[--limit SECONDS] [--timeout N] [--retry N] [--seed N] [--lossy]\n"
		"	[--until FILE]\n"
		"	OP:SIZE:COUNT[:out|in|both[:MS]]...\n");
	exit(2);
}

static void bail_if(why_t why, const char *what)
{
	if (why)
		tap_bail("%s: %s", what, why);
}

static uint32_t direction(const char *name)
{
	uint32_t d;

	for (d = STREAM_OUT; d < ARRAY_SIZE(dirs); d++)
		if (!strcmp(name, dirs[d]))
			return d;
	usage();
}

static void parse_step(struct step *s, const char *text)
{
	char op[16], dir[8] = "out";
	size_t i;
	int n;

	*s = defaults;
	n = sscanf(text, "%15[a-z_]:%u:%u:%7[a-z]:%u", op, &s->size, &s->count,
		   dir, &s->ms);
	if (n < 3)
		usage();
	s->dirs = direction(dir);
	for (i = 0; i < ARRAY_SIZE(ops) && strcmp(op, ops[i].name); i++)
		;
	if (i == ARRAY_SIZE(ops))
		usage();
	memcpy(s->name, op, sizeof(op));
	s->type = ops[i].type;
	s->op = ops[i].op;
	s->depth = MIN(s->depth, stream_slots(s));
	/* each message needs a receive, and none is given back */
	if (s->type != IBV_QPT_RC)
		s->count = s->depth = MIN(s->count, stream_slots(s));
}

static void parse_options(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'f':
			plan.family = atoi(optarg);
			break;
		case 'd':
			defaults.depth = atoi(optarg);
			break;
		case 'l':
			defaults.limit = atoi(optarg) * 1000;
			break;
		case 't':
			defaults.timeout = atoi(optarg);
			break;
		case 'r':
			defaults.retry = atoi(optarg);
			break;
		case 's':
			defaults.seed = strtoull(optarg, NULL, 0);
			break;
		case 'y':
			defaults.lossy = true;
			break;
		case 'u':
			snprintf(defaults.until, sizeof(defaults.until), "%s", optarg);
			break;
		default:
			usage();
		}
	}
}

static void parse_steps(int argc, char **argv)
{
	int i;

	if (argc > MAX_STEPS)
		usage();
	for (i = 0; i < argc; i++) {
		parse_step(&steps[i], argv[i]);
		steps[i].seed += 1000 * i;
		plan.room = plan.room > stream_room(&steps[i]) ? plan.room :
			    stream_room(&steps[i]);
	}
	plan.steps = argc;
}

/* The device, and an MTU that both ports can take. */
static void open_device(int fd, const char *spec, struct vt_buf *mem)
{
	uint32_t mine, theirs, i;

	vt_opts.family = plan.family;
	vt_dev_open(&vt_devs[0], spec);
	bail_if(vt_buf_open(mem, vt_devs[0].pd, plan.room, VT_ALL_ACCESS),
		"memory");
	mine = vt_devs[0].port.active_mtu;
	bail_if(side_swap(fd, &mine, &theirs, sizeof(mine)), "path MTU");
	for (i = 0; i < plan.steps; i++)
		steps[i].mtu = MIN(steps[i].mtu, MIN(mine, theirs));
}

static void one_rate(const struct step *s, const char *dir,
		     const struct report *r)
{
	double us = r->us ? r->us : 1;

	tap_note("result %s %u %s: %llu done, %.0f ms, %.2f MB/s, %.0f /s, QP closed in %.1f ms",
		 s->name, s->size, dir, (unsigned long long)r->done, us / 1000,
		 r->bytes / us, r->done * 1e6 / us, r->closed_us / 1000.0);
}

static void judge(const struct step *s, const struct report *mine,
		  const struct report *theirs)
{
	const struct report *bad = mine->failed ? mine : theirs;

	tap_report(bad->failed ? bad->why : NULL, "%s %u x %u %s", s->name,
		   s->size, s->count, dirs[s->dirs]);
	if (s->dirs & STREAM_OUT)
		one_rate(s, "out", mine);
	if (s->dirs & STREAM_IN)
		one_rate(s, "in", theirs);
}

static int client(const char *dev, const char *addr)
{
	struct report mine, theirs;
	struct vt_buf mem;
	int fd = side_connect(addr);
	uint32_t i;

	if (fd < 0)
		tap_bail("can't connect to: %s", addr);
	bail_if(side_put(fd, &plan, sizeof(plan)), "plan");
	open_device(fd, dev, &mem);
	for (i = 0; i < plan.steps; i++) {
		bail_if(side_put(fd, &steps[i], sizeof(steps[i])), "step");
		alarm(steps[i].limit / 1000 + 120);
		stream_run(&steps[i], fd, false, &mem, &mine, &theirs);
		judge(&steps[i], &mine, &theirs);
	}
	vt_buf_close(&mem);
	return tap_finish();
}

static int server(const char *dev, const char *addr)
{
	struct report mine, theirs;
	struct vt_buf mem;
	int fd = side_listen(addr);
	bool failed = false;
	uint32_t i;

	if (fd < 0)
		tap_bail("can't listen on: %s", addr);
	fd = side_accept(fd);
	if (fd < 0)
		tap_bail("nobody connects to: %s", addr);
	bail_if(side_get(fd, &plan, sizeof(plan), SIDE_WAIT), "plan");
	plan.steps = MIN(plan.steps, (uint32_t)MAX_STEPS);
	open_device(fd, dev, &mem);
	for (i = 0; i < plan.steps; i++) {
		bail_if(side_get(fd, &steps[i], sizeof(steps[i]), SIDE_WAIT),
			"step");
		alarm(steps[i].limit / 1000 + 120);
		stream_run(&steps[i], fd, true, &mem, &mine, &theirs);
		failed |= mine.failed || theirs.failed;
	}
	vt_buf_close(&mem);
	return failed;
}

int main(int argc, char **argv)
{
	const char *dev, *role, *addr;

	parse_options(argc, argv);
	if (argc - optind < 3)
		usage();
	dev = argv[optind];
	role = argv[optind + 1];
	addr = argv[optind + 2];
	argc -= optind + 3;
	argv += optind + 3;
	/* a peer that dies must not leave this one behind */
	alarm(120);
	if (!strcmp(role, "listen") && !argc)
		return server(dev, addr);
	if (strcmp(role, "connect") || !argc)
		usage();
	parse_steps(argc, argv);
	return client(dev, addr);
}
