// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Processes are started, killed and watched here; at the end there is a table of what all
 * calls have come to. What each thread tries follows from the seed; what it meets does not.
 *
 * usage: fuzzvm SECONDS SEED
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdarg.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../lib/tap.h"
#include "fz.h"

/* ms that a call or the end of a process may take, on a slow, busy machine */
#define PATIENCE	40000
/* ms after which a call is so long under way that its process is left alone until it ends */
#define LONG_CALL	3000
/* One of so many calls has to succeed; of those that leave a group one of 30 to 170 does. */
#define RARE		400
#define NOBODY		65534

static const struct {
	const char *name;
	uint32_t want;
} calls[FZ_NUM] = {
#define X(name, want) { #name, want },
	FZ_CALLS(X)
#undef X
};

enum role { TAME, WILD, FORGER, USER };

static const struct {
	enum role role;
	bool nobody;
	const char *netns;	/* of who forges packets */
} slots[] = {
	{ TAME, false, NULL }, { TAME, true, NULL }, { WILD, false, NULL }, { WILD, true, NULL },
	{ FORGER, false, "a" }, { FORGER, false, "b" }, { USER, true, "a" },
};

static struct {
	pid_t pid;
	uint64_t born, killed;
	unsigned int lives;
} procs[ARRAY_SIZE(slots)];

/* A log line says which life a complaint of the kernel belongs to. */
static void kmsg(const char *fmt, ...)
{
	int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	char line[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (fd >= 0 && write(fd, line, strlen(line)) < 0)
		tap_note("%s", line);
	close(fd);
}

/* A ring that is no more, or memory that the fuzzer itself has spoiled */
static void on_fault(int sig)
{
	_exit(sig == SIGSEGV ? 3 : 4);
}

/* Something of everything, so that the first random calls have something to work on */
static void populate(struct fz_thread *t)
{
	static const uint8_t some[T_NUM] = {
		[T_PD] = 2, [T_MR] = 6, [T_MW] = 4, [T_CHAN] = 1, [T_CQ] = 4, [T_SRQ] = 2,
		[T_QP] = 10, [T_AH] = 6,
	};
	static const enum fz_table order[] = {
		T_PD, T_MR, T_MW, T_CHAN, T_CQ, T_SRQ, T_QP, T_AH,
	};
	size_t i;
	int n;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		for (n = 0; n < some[order[i]]; n++)
			fz_create(t, &t->proc->dev[n & 1], order[i]);
}

static void *work(void *arg)
{
	struct fz_thread *t = arg;
	enum role role = slots[t->proc->slot].role;

	t->watch->tid = syscall(SYS_gettid);
	if (role < FORGER)
		populate(t);
	while (!board->stop && t->proc->gone < 60) {
		if (role >= FORGER)
			fz_forge(t, slots[t->proc->slot].netns[0] == 'b', role == USER);
		else if (t->id == THREADS - 1)
			fz_scribble(t, &t->proc->dev[fz_below(t, 2)]);
		else
			fz_act(t, &t->proc->dev[fz_below(t, 2)]);
	}
	return NULL;
}

static void init_proc(struct fz_proc *p, int slot)
{
	pthread_rwlockattr_t attr;
	int i, k;

	p->slot = slot;
	p->wild = slots[slot].role == WILD;
	p->arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&p->maps, &attr);
	for (i = 0; i < T_NUM * OBJS; i++)
		for (k = 0; k < 2; k++)
			pthread_mutex_init(&p->dev[k].obj[0][i].lock, NULL);
	p->dev[1].id = 1;
}

static void enter(const char *netns)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET))
		_exit(5);
	close(fd);
}

static void __attribute__((noreturn)) live(int slot, uint64_t seed)
{
	static struct fz_proc p;
	struct fz_thread t[THREADS] = {};
	pthread_t ids[THREADS];
	int i, n = slots[slot].role == TAME ? 2 : slots[slot].role == WILD ? 3 : 1;

	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	init_proc(&p, slot);
	if (slots[slot].netns)
		enter(slots[slot].netns);
	if (slots[slot].nobody && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
		_exit(5);
	/* a change of the user forgets it */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 0; i < n; i++) {
		t[i].proc = &p;
		t[i].id = i;
		t[i].rnd = fz_mix(seed, i);
		t[i].watch = &board->watch[slot][i];
	}
	if (slots[slot].role < FORGER &&
	    (!fz_open(&t[0], &p.dev[0]) || !fz_open(&t[0], &p.dev[1]))) {
		usleep(100000 * board->slowness);
		_exit(0);
	}
	for (i = 1; i < n; i++)
		pthread_create(&ids[i], NULL, work, &t[i]);
	work(&t[0]);
	for (i = 1; i < n; i++)
		pthread_join(ids[i], NULL);
	exit(0);
}

static void start(int slot, uint64_t seed)
{
	seed = fz_mix(fz_mix(seed, slot), procs[slot].lives++);
	kmsg("fuzzvm: process %d, life %u, seed %#llx\n", slot, procs[slot].lives,
	     (unsigned long long)seed);
	memset(board->watch[slot], 0, sizeof(board->watch[slot]));
	fflush(stdout);
	procs[slot].killed = 0;
	procs[slot].born = fz_now_ms();
	procs[slot].pid = fork();
	if (!procs[slot].pid)
		live(slot, seed);
}

static bool longer_than(uint64_t since, uint64_t ms)
{
	return since && fz_now_ms() > since + ms;
}

static bool slow(uint64_t since)
{
	return longer_than(since, PATIENCE);
}

static void show_stack(pid_t pid, int tid)
{
	char path[64], text[4096];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stack", pid, tid);
	fd = open(path, O_RDONLY);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (len > 0) {
		text[len] = 0;
		tap_note("%s", text);
	}
	if (fd >= 0)
		close(fd);
}

/* Return: whether a call, or the end of a process, takes too long */
static bool hangs(int slot)
{
	struct fz_watch *w = board->watch[slot];
	int i;

	for (i = 0; i < THREADS; i++) {
		if (!slow(w[i].since) && !(slow(procs[slot].killed) && w[i].tid))
			continue;
		tap_note("process %d, life %u, thread %d hangs in %s%s", slot, procs[slot].lives,
			 i, calls[w[i].call].name, procs[slot].killed ? ", killed" : "");
		show_stack(procs[slot].pid, w[i].tid);
		return true;
	}
	return slow(procs[slot].killed);
}

static unsigned int ended[6], by_kill;

static void reap(int slot, uint64_t seed)
{
	int status;

	if (!procs[slot].pid || waitpid(procs[slot].pid, &status, WNOHANG) != procs[slot].pid)
		return;
	if (WIFEXITED(status))
		ended[WEXITSTATUS(status) < 5 ? WEXITSTATUS(status) : 5]++;
	else
		by_kill++;
	procs[slot].pid = 0;
	if (!board->stop)
		start(slot, seed);
}

/* SIGKILL would end many a wait, and nobody would know of it. */
static void end(int slot)
{
	int i;

	if (!procs[slot].pid || procs[slot].killed)
		return;
	for (i = 0; i < THREADS; i++)
		if (longer_than(board->watch[slot][i].since, LONG_CALL))
			return;
	kill(procs[slot].pid, SIGKILL);
	procs[slot].killed = fz_now_ms();
}

/* Return: false if something hangs */
static bool run(uint64_t seconds, uint64_t seed)
{
	struct fz_proc none = {};
	struct fz_thread t = { .proc = &none, .rnd = seed };
	uint64_t now = fz_now_ms(), stop = now + seconds * 1000, next = now + 3000;
	size_t i, left = 1;

	for (i = 0; i < ARRAY_SIZE(slots); i++)
		start(i, seed);
	while (left) {
		usleep(20000);
		now = fz_now_ms();
		board->stop = now >= stop;
		for (i = 0, left = !board->stop; i < ARRAY_SIZE(slots); i++) {
			if (board->stop && now > stop + 2000)
				end(i);		/* who has not ended by itself */
			if (hangs(i))
				return false;
			reap(i, seed);
			left += procs[i].pid != 0;
		}
		if (now < next || board->stop)
			continue;
		end(fz_below(&t, 4));
		next = now + 1000 + fz_below(&t, 4000);
	}
	return true;
}

/* The commonest errors of a call: number, or status of the completion, and how often */
static void print_errors(char *to, size_t size, uint32_t call)
{
	_Atomic uint64_t *n = board->count[call];
	int i, best, k;
	uint64_t shown[ERRNOS] = {};

	*to = 0;
	for (k = 0; k < 5; k++) {
		for (i = 1, best = 0; i < ERRNOS; i++)
			if (n[i] && !shown[i] && (!best || n[i] > n[best]))
				best = i;
		if (!best)
			return;
		shown[best] = 1;
		if (call >= FZ_RC_SEND && call <= FZ_RECV)
			snprintf(to + strlen(to), size - strlen(to), " status %d: %lu", best,
				 n[best]);
		else
			snprintf(to + strlen(to), size - strlen(to), " %s: %lu",
				 strerrorname_np(best) ?: "?", n[best]);
	}
}

/*
 * The least number of successes of a kind of calls. A debug kernel executes fewer calls, in a short
 * run too few for each kind to succeed, and to be refused: 0.
 */
static uint64_t least_of(uint64_t seconds)
{
	return board->slowness > 1 ? seconds / 600 : 1 + seconds / 20;
}

/* The table. Return: how many kinds of calls lack successes or refusals, or have too many */
static int table(uint64_t least)
{
	uint64_t good, bad;
	char errors[200];
	int i, k, wrong = 0;
	const char *why;
	bool few, none;

	tap_note("%-15s %9s %9s %9s  %s", "call", "all", "ok", "refused", "most of them");
	for (i = 0; i < FZ_NUM; i++) {
		good = board->count[i][0];
		for (k = 1, bad = 0; k < ERRNOS; k++)
			bad += board->count[i][k];
		print_errors(errors, sizeof(errors), i);
		few = good < least || good < (good + bad) / RARE;
		none = !bad && (least || good >= RARE);
		why = calls[i].want & OK && few ? "  <- too few succeed" :
		      calls[i].want & NEVER && good ? "  <- may not succeed" :
		      calls[i].want & BAD && none ? "  <- none is refused" : "";
		wrong += *why != 0;
		tap_note("%-15s %9lu %9lu %9lu %s%s", calls[i].name, good + bad, good, bad, errors,
			 why);
	}
	return wrong;
}

int main(int argc, char **argv)
{
	uint64_t seconds = argc > 1 ? strtoull(argv[1], NULL, 0) : 60;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	const char *slowness = getenv("SLOWNESS");
	size_t i;

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (board == MAP_FAILED)
		tap_bail("no memory");
	board->slowness = slowness && atoi(slowness) > 1 ? atoi(slowness) : 1;
	if (!run(seconds, seed)) {
		table(0);
		for (i = 0; i < ARRAY_SIZE(slots); i++)
			if (procs[i].pid > 0)	/* 0 would be all of us */
				kill(procs[i].pid, SIGKILL);
		tap_report("a call hangs", "no call hangs, seed %lu", seed);
		_exit(1);
	}
	tap_note("processes: %u killed, %u ended, %u by SIGSEGV, %u by SIGBUS, %u otherwise",
		 by_kill, ended[0], ended[3], ended[4], ended[1] + ended[2] + ended[5]);
	tap_report(NULL, "no call hangs, seed %lu", seed);
	tap_report(ended[5] ? "namespaces or users cannot be changed" : NULL,
		   "all processes get to work");
	tap_report(table(least_of(seconds)) ? "" : NULL, "calls of each kind succeed and fail");
	return tap_finish();
}
