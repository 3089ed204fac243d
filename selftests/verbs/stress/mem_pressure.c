// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: paged limit=1800 A B --family 4 --seconds 1 */
/* run: paged limit=1800 A A --family 4 --seconds 1 */
/*
 * Memory on demand under traffic: while messages go to and fro between two
 * regions its pages are dropped, swapped out, moved, joined, split and copied.
 * Each message is looked at when it has come.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vt.h"

#define SIZE	(4UL << 20)	/* of each region */
#define HUGE	(2UL << 20)
#define LONGEST	(300 * 1024)
#define ALL	(VT_ALL_ACCESS | IBV_ACCESS_ON_DEMAND)

#define PAGES	(SIZE / 4096)
#define PATIENCE (240 * 1000000ULL)	/* of a busy machine: us for two turns */

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif
#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE 101
#endif

struct pressure {
	uint8_t		*from, *to;	/* A's memory and B's */
	struct ibv_mr	*mr[2];
	pthread_t	thread;
	volatile bool	on;
	uint64_t	turns, moved;	/* moved: pages */
	bool		sure;		/* that pages move in each turn */
};

/* What happens to the memory; false: not on this machine */
struct kind {
	const char	*name;
	bool		shared;		/* what is dropped is not lost */
	bool		(*turn)(struct pressure *t, uint64_t *rnd);
};

/* Some pages of one of the two */
static uint8_t *some(struct pressure *t, uint64_t *rnd, size_t *len)
{
	size_t at = vt_below(rnd, SIZE / 4096) * 4096UL;

	*len = (1 + vt_below(rnd, 64)) * 4096UL;
	*len = MIN(*len, SIZE - at);
	return (vt_below(rnd, 2) ? t->from : t->to) + at;
}

static bool advise(struct pressure *t, uint64_t *rnd, int advice)
{
	size_t len;
	uint8_t *at = some(t, rnd, &len);

	return !madvise(at, len, advice) || errno == EAGAIN || errno == EBUSY;
}

static bool drop(struct pressure *t, uint64_t *rnd)
{
	return advise(t, rnd, MADV_DONTNEED);
}

static bool swap(struct pressure *t, uint64_t *rnd)
{
	return advise(t, rnd, MADV_PAGEOUT);
}

static bool put(const char *path, const char *what)
{
	int fd = open(path, O_WRONLY);
	bool ok = fd >= 0 && write(fd, what, strlen(what)) > 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* Which physical page each page is; 0: none */
static bool places(const uint8_t *at, uint64_t *pfn)
{
	off_t off = (uintptr_t)at / 4096 * sizeof(*pfn);
	int fd = open("/proc/self/pagemap", O_RDONLY);
	bool ok = fd >= 0 && pread(fd, pfn, PAGES * sizeof(*pfn), off) ==
			     (ssize_t)(PAGES * sizeof(*pfn));
	size_t i;

	for (i = 0; i < PAGES; i++)	/* present, and its number */
		pfn[i] = ok && pfn[i] >> 63 ? pfn[i] & ((1ULL << 55) - 1) : 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

/* Holes to be filled by what is moved, then the moving */
static void compact(void)
{
	uint8_t *p = mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	size_t i;

	for (i = 0; p != MAP_FAILED && i < 8 << 20; i += 8192)
		madvise(p + i, 4096, MADV_DONTNEED);
	put("/proc/sys/vm/compact_memory", "1");
	if (p != MAP_FAILED)
		munmap(p, 8 << 20);
}

/*
 * Who has no more use for a physical page has what is in it moved, at once. Only
 * kernels that know of failing memory can be told so: others compact, which takes
 * its time and may leave ours where it is.
 */
static bool migrate(struct pressure *t, uint64_t *rnd)
{
	uint8_t *all = vt_below(rnd, 2) ? t->from : t->to;
	uint64_t before[PAGES], after[PAGES];
	size_t at = vt_below(rnd, PAGES - 8), i;

	if (!places(all, before))
		return false;
	for (i = at; i < at + 8; i++)
		if (madvise(all + i * 4096, 4096, MADV_SOFT_OFFLINE) &&
		    (errno == EINVAL || errno == EPERM))
			break;
	t->sure = i == at + 8;
	if (!t->sure)
		compact();
	places(all, after);
	for (i = 0; i < PAGES; i++)
		t->moved += before[i] && after[i] && before[i] != after[i];
	usleep(50000);
	return true;
}

/* Large pages are made, and split again by what befalls a part of them. */
static bool fold(struct pressure *t, uint64_t *rnd)
{
	uint8_t *at = vt_below(rnd, 2) ? t->from : t->to;
	size_t len;

	at += vt_below(rnd, SIZE / HUGE) * HUGE;
	if (madvise(at, HUGE, MADV_COLLAPSE) && errno == EINVAL)
		return false;
	usleep(2000);
	at = some(t, rnd, &len);
	mprotect(at, len, PROT_READ | PROT_WRITE | PROT_EXEC);
	mprotect(at, len, PROT_READ | PROT_WRITE);
	advise(t, rnd, MADV_PAGEOUT);
	return true;
}

/* The copies are the child's; what is written meanwhile must be the parent's. */
static bool spawn(struct pressure *t, uint64_t *rnd)
{
	pid_t pid = fork();

	(void)t;
	(void)rnd;
	if (!pid) {
		usleep(5000);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

static void *ebb(void *arg)
{
	struct pressure *t = ((void **)arg)[0];
	const struct kind *k = ((void **)arg)[1];
	uint64_t rnd = 7;

	for (; t->on; t->turns++) {
		k->turn(t, &rnd);
		usleep(200);
	}
	return NULL;
}

static why_t one(struct vt_pair *p, struct pressure *t, uint64_t *rnd)
{
	uint32_t len = 1 + vt_below(rnd, LONGEST);
	size_t from = vt_below(rnd, SIZE - len), to = vt_below(rnd, SIZE - len);
	bool read = vt_below(rnd, 2);
	struct ibv_sge sge = {
		.addr = (uintptr_t)(t->from + from), .length = len,
		.lkey = t->mr[0]->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = 3, .sg_list = &sge, .num_sge = 1,
		.opcode = read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)(t->to + to),
			     .rkey = t->mr[1]->rkey },
	};
	struct ibv_wc wc;

	vt_fill(read ? t->to + to : t->from + from, len, vt_rand(rnd));
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 3));
	CHECK(!memcmp(t->from + from, t->to + to, len),
	      "%s of %u bytes from %zu to %zu: wrong bytes",
	      read ? "READ" : "WRITE", len, from, to);
	return NULL;
}

/* Enough has befallen the memory */
static bool enough(const struct pressure *t)
{
	return t->turns >= 2 && (!t->sure || t->moved);
}

static why_t traffic(struct vt_pair *p, struct pressure *t)
{
	uint64_t rnd = vt_opts.seed, n = 0;
	uint64_t start = vt_now_us(), took = 0;

	/* on a slow machine a turn may take seconds */
	for (; took < vt_opts.seconds * 1000000ULL ||
	     (!enough(t) && took < PATIENCE); took = vt_now_us() - start, n++)
		TRY(one(p, t, &rnd));
	tap_note("%llu messages, %llu turns", (unsigned long long)n,
		 (unsigned long long)t->turns);
	if (t->moved)
		tap_note("%llu pages moved", (unsigned long long)t->moved);
	CHECK(n && t->turns && (!t->sure || t->moved), "nothing has happened");
	return NULL;
}

static why_t open_mem(uint8_t **at, struct ibv_mr **mr, struct ibv_pd *pd,
		      bool shared)
{
	uint8_t *p = mmap(NULL, SIZE + HUGE, PROT_READ | PROT_WRITE,
			  MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE),
			  -1, 0);

	CHECK(p != MAP_FAILED, "mmap: %s", strerror(errno));
	*at = (uint8_t *)(((uintptr_t)p + HUGE - 1) & ~(HUGE - 1));
	*mr = ibv_reg_mr(pd, *at, SIZE, ALL);
	CHECK(*mr, "ibv_reg_mr: %s", strerror(errno));
	return NULL;
}

static why_t run(struct vt_pair *p, const void *arg)
{
	const struct kind *k = arg;
	struct pressure t = { .on = true };
	const void *args[2] = { &t, k };
	uint64_t rnd = 5;
	why_t why;

	TRY(open_mem(&t.from, &t.mr[0], p->a.dev->pd, k->shared));
	TRY(open_mem(&t.to, &t.mr[1], p->b.dev->pd, k->shared));
	memset(t.from, 1, SIZE);
	memset(t.to, 2, SIZE);
	if (!k->turn(&t, &rnd)) {
		tap_note("not on this kernel");
		return NULL;
	}
	t.moved = 0;	/* under traffic is what counts */
	CHECK(!pthread_create(&t.thread, NULL, ebb, args), "pthread_create");
	why = traffic(p, &t);
	t.on = false;
	pthread_join(t.thread, NULL);
	ibv_dereg_mr(t.mr[0]);
	ibv_dereg_mr(t.mr[1]);
	return why;
}

/* Work is under way to pages that nobody has touched, when the key goes. */
static why_t taken_away(struct vt_pair *p, const void *arg)
{
	struct ibv_wc wc;
	uint64_t rnd = 11;
	uint8_t *at;
	struct ibv_mr *mr;
	int i;

	(void)arg;
	for (i = 0; i < 20; i++) {
		struct ibv_sge sge = vt_sge(&p->a.buf, 0, LONGEST);
		struct ibv_send_wr wr = {
			.wr_id = i, .sg_list = &sge, .num_sge = 1,
			.opcode = i & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
		};

		TRY(open_mem(&at, &mr, p->b.dev->pd, false));
		wr.wr.rdma.remote_addr = (uintptr_t)at;
		wr.wr.rdma.rkey = mr->rkey;
		TRY(vt_post_send(&p->a, &wr));
		usleep(vt_below(&rnd, 4000));
		CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
		TRY(vt_poll(p->a.scq, &wc, VT_LONG));
		if (wc.status == IBV_WC_SUCCESS)
			continue;
		CHECK(wc.status == IBV_WC_REM_ACCESS_ERR ||
		      wc.status == IBV_WC_RETRY_EXC_ERR, "%s",
		      ibv_wc_status_str(wc.status));
		TRY(vt_ep_state(&p->a, IBV_QPS_RESET));
		TRY(vt_ep_state(&p->b, IBV_QPS_RESET));
		vt_drop_events();
		TRY(vt_connect(p));
	}
	return NULL;
}

/* A child with QPs and memory of its own, as busy as can be, until it is killed */
static void busy(void)
{
	struct vt_conf c = vt_conf(IBV_QPT_RC);
	static const struct kind k = { "drop", true, drop };

	vt_open();
	vt_opts.seconds = 60;
	vt_attempt(&c, run, &k, true);
	_exit(1);
}

static why_t killed(struct vt_pair *p, const void *arg)
{
	int i, status;

	(void)arg;
	for (i = 0; i < 4; i++) {
		pid_t pid = fork();

		if (!pid)
			busy();
		usleep(700000 + 150000 * i);
		kill(pid, SIGKILL);
		CHECK(waitpid(pid, &status, 0) == pid, "waitpid");
		CHECK(WIFSIGNALED(status), "it ended by itself, with %#x",
		      status);
		TRY(vt_ping(p));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct kind kinds[] = {
		{ "dropped", true, drop },
		{ "swapped out", false, swap },
		{ "moved", false, migrate },
		{ "joined and split", false, fold },
		{ "copied for children", false, spawn },
	};
	struct vt_conf c;
	size_t i;

	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_RC);
	c.buf = LONGEST;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		vt_runf(&c, run, &kinds[i], "memory under traffic is %s",
			kinds[i].name);
	}
	vt_run("memory goes while work to it is under way", &c, taken_away,
	       NULL);
	vt_run("a process dies in the midst of it", &c, killed, NULL);
	return tap_finish();
}
