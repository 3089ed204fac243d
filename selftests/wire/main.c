// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Run scripts, each variant over each family a line of TAP. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tap.h"
#include "wire.h"

static struct wt_dut dut;
static struct wt_peer peer;
static struct wt_frame frame;
static int only_family;
static bool verbose, list;
static const char *only;

static void show_trace(char *trace)
{
	char *line, *save;

	for (line = strtok_r(trace, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		tap_note("%s", line);
}

/* A script that has to fail is right if it does, and for the reason it says. */
static why_t verdict(const struct wt_file *f, const char *why)
{
	if (!f->fails[0])
		return why;
	CHECK(why, "did not fail with \"%s\"", f->fails);
	CHECK(strstr(why, f->fails), "failed for another reason than \"%s\": %s",
	      f->fails, why);
	return NULL;
}

static bool report(const struct wt_file *f, const struct wt_script *s,
		   const struct wt_run *r, const char *why, unsigned int ms)
{
	int family = r->family;
	why_t bad = verdict(f, why);

	tap_report(bad, "%s: %s, IPv%d", s->name, s->title, family);
	wt_record(r, s, bad ? "fail" : "pass", bad);
	if (verbose)
		tap_note("%u ms%s%s", ms, why ? ", " : "", why ? why : "");
	return !bad;
}

/* A host may stop a CPU: what came too late, and failed by that, may be run again. */
#define RUNS	3

static why_t run_once(const struct wt_script *s, struct wt_run *r, char **trace)
{
	size_t size;
	why_t why;

	r->trace = open_memstream(trace, &size);
	why = wt_run(r, s);
	fclose(r->trace);
	return why;
}

static void run_script(const struct wt_file *f, const struct wt_script *s,
		       int family)
{
	const struct wt_run new = {
		.dut = &dut, .peer = &peer, .family = family, .frame = &frame,
		.soft = dut.any ? ~f->checks : 0,
	};
	struct wt_run r = new;
	uint64_t from = wt_now();
	char *trace = NULL;
	why_t why = run_once(s, &r, &trace);

	for (int i = 1; i < RUNS && r.late && !f->fails[0]; i++) {
		tap_note("%s runs again: %s", s->name, why);
		free(trace);
		r = new;
		why = run_once(s, &r, &trace);
	}
	if (!report(f, s, &r, why, (wt_now() - from) / 1000) || verbose)
		show_trace(trace);
	free(trace);
}

static void run_variant(const struct wt_file *f, int family, int variant)
{
	struct wt_run none = { .family = family };
	struct wt_script s;
	why_t why = wt_script_make(f, family, variant, &s);

	if (why)
		report(f, &s, &none, why, 0);
	else if (!only || strstr(s.name, only) || strstr(s.title, only))
		run_script(f, &s, family);
	wt_script_free(&s);
}

static bool has_net(int family, bool vlan)
{
	for (int i = 0; i < dut.nnets; i++) {
		if ((!family || dut.nets[i].family == family) &&
		    (dut.nets[i].vlan >= 0) == vlan)
			return true;
	}
	return false;
}

/* The first word of what a script needs that the device, or its kernel, does not have */
static const char *lacks(const struct wt_file *f)
{
	const struct {
		const char *name;
		bool there;
	} needs[] = {
		{ "no-flush", !dut.flush }, { "flush", dut.flush },
		{ "vlan", has_net(0, true) }, { "srq", dut.srq },
		{ "atomic-write", dut.atomic_write }, { "atomic", dut.atomic },
		{ "mw", dut.mw },
	};
	static char copy[sizeof(f->needs)];
	char *word, *save;

	snprintf(copy, sizeof(copy), "%s", f->needs);
	for (word = strtok_r(copy, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
			if (!strcmp(needs[i].name, word) && !needs[i].there)
				return word;
		}
	}
	return NULL;
}

static void run_file(const char *path)
{
	struct wt_file f;
	why_t why = wt_file_read(path, &f);
	const char *lack = why ? NULL : lacks(&f);
	char text[64];

	if (why)
		tap_report(why, "%s", path);
	if (lack) {
		snprintf(text, sizeof(text), "needs %s", lack);
		tap_skip(text, "%s: %s", f.name, f.title);
		wt_record_skip(f.name, text);
		wt_file_free(&f);
		return;
	}
	for (int i = 0; !why && i < (f.nparams ? f.nparams : 1); i++) {
		for (int family = 4; family <= 6; family += 2) {
			if ((!f.family || f.family == family) &&
			    has_net(family, false) &&
			    (!only_family || only_family == family))
				run_variant(&f, family, i);
		}
	}
	wt_file_free(&f);
}

/* ---- the command line ----------------------------------------------------- */

static void __attribute__((noreturn)) usage(void)
{
	fprintf(stderr,
		"usage: wire --dut DEVICE:NETDEV[@NETNS] --peer NETDEV[@NETNS]\n"
		"	--net VLAN|-,DUT-ADDRESS,PEER-ADDRESS ... [--family 4|6]\n"
		"	[--any] [--patience MS] [--records FILE]\n"
		"	[--only TEXT] [--verbose] SCRIPT...\n"
		"       wire --list SCRIPT...\n");
	exit(2);
}

static void bail(why_t why)
{
	if (why)
		tap_bail("%s", why);
}

static void cut(char *to, size_t size, char **from, char end)
{
	char *at = strchrnul(*from, end);

	snprintf(to, size, "%.*s", (int)(at - *from), *from);
	*from = *at ? at + 1 : at;
}

static why_t parse_ip(const char *text, struct wt_addr *to, int *family)
{
	*family = strchr(text, ':') ? 6 : 4;
	CHECK(inet_pton(*family == 6 ? AF_INET6 : AF_INET, text,
			to->ip + (*family == 6 ? 0 : 12)) == 1,
	      "'%s' is no address", text);
	return NULL;
}

static why_t add_net(char *spec)
{
	struct wt_net *net = &dut.nets[dut.nnets];
	char vlan[16], a[64], b[64];

	CHECK(dut.nnets < WT_NETS, "too many networks");
	cut(vlan, sizeof(vlan), &spec, ',');
	cut(a, sizeof(a), &spec, ',');
	cut(b, sizeof(b), &spec, ',');
	net->vlan = vlan[0] == '-' ? -1 : atoi(vlan);
	TRY(parse_ip(a, &net->dut, &net->family));
	TRY(parse_ip(b, &net->peer, &net->family));
	dut.nnets++;
	return NULL;
}

static void arguments(int argc, char **argv)
{
#define VALUE(name, c) { name, required_argument, NULL, c }
	static const struct option options[] = {
		VALUE("dut", 'd'), VALUE("peer", 'p'), VALUE("net", 'n'),
		VALUE("family", 'f'), VALUE("only", 'o'),
		VALUE("patience", 'w'), VALUE("records", 'r'),
		{ "any", no_argument, NULL, 'a' },
		{ "list", no_argument, NULL, 'l' },
		{ "verbose", no_argument, NULL, 'v' },
		{ }
	};
#undef VALUE
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'd':
			cut(dut.name, sizeof(dut.name), &optarg, ':');
			cut(dut.netdev, sizeof(dut.netdev), &optarg, '@');
			cut(dut.netns, sizeof(dut.netns), &optarg, 0);
			break;
		case 'p':
			cut(peer.netdev, sizeof(peer.netdev), &optarg, '@');
			cut(peer.netns, sizeof(peer.netns), &optarg, 0);
			break;
		case 'n':
			bail(add_net(optarg));
			break;
		case 'f':
			only_family = atoi(optarg);
			break;
		case 'o':
			only = optarg;
			break;
		case 'v':
			verbose = true;
			break;
		case 'a':
			dut.any = true;
			break;
		case 'l':
			list = true;
			break;
		case 'w':
			dut.patience = atoi(optarg) * 1000ull;
			break;
		case 'r':
			bail(wt_record_open(optarg));
			break;
		default:
			usage();
		}
	}
	if (optind == argc || (!list && (!dut.netdev[0] || !peer.netdev[0] ||
					 !dut.nnets)))
		usage();
}

static why_t open_ends(void)
{
	uint8_t mac[6];

	TRY(wt_peer_open(&peer));
	TRY(wt_mac_of(peer.netdev, mac));
	for (int i = 0; i < dut.nnets; i++)
		memcpy(dut.nets[i].peer.mac, mac, 6);
	TRY(wt_netns(dut.netns));
	TRY(wt_mac_of(dut.netdev, mac));
	for (int i = 0; i < dut.nnets; i++)
		memcpy(dut.nets[i].dut.mac, mac, 6);
	return wt_dut_open(&dut);
}

int main(int argc, char **argv)
{
	dut.patience = WT_LONG;
	arguments(argc, argv);
	if (list) {
		why_t why = wt_list(argc - optind, argv + optind);

		if (why)
			fprintf(stderr, "wire: %s\n", why);
		return why ? 1 : 0;
	}
	/* a hung case must not hang its caller: die with a status instead */
	alarm(1200);
	wt_one_cpu();
	bail(open_ends());
	for (int i = optind; i < argc; i++)
		run_file(argv[i]);
	wt_dut_close(&dut);
	close(peer.fd);
	return tap_finish();
}
