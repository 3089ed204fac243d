// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: limit=240 A B --family 4 */
/*
 * Registrations of pinned memory whose pages never come. They wait in the system call, but no
 * one else does, and their process can be killed.
 *
 * With STUCK_HOLD set, the program begins such a registration, prints the process IDs of the
 * file's daemon and of itself, and waits to be killed: see pages.test.sh. If it is "uffd", the
 * pages are of memory whose faults this process has asked for, and does not handle; if "uffd-wp",
 * they are there, and may not be written before it says so.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "never.h"

#define REGS	32
#define STEP	(16 * NEVER_PAGE)

/* ---- a registration that waits ---------------------------------------------- */

struct reg {
	struct ibv_pd *pd;
	uint8_t *at;
	pthread_t thread;
	struct ibv_mr *mr;
	int err;
	volatile bool ended;
};

static int reg_access = IBV_ACCESS_REMOTE_READ;

static void *reg_fn(void *arg)
{
	struct reg *r = arg;

	r->mr = ibv_reg_mr(r->pd, r->at, 512, reg_access);
	r->err = r->mr ? 0 : errno;
	r->ended = true;
	return NULL;
}

/* Begin @n registrations, of pages from number @page on; none ends. */
static why_t begin(struct reg *r, int n, struct ibv_pd *pd, uint32_t page)
{
	int i;

	for (i = 0; i < n; i++) {
		r[i] = (struct reg){ .pd = pd, .at = never.mem + page * NEVER_PAGE + i * STEP };
		CHECK(!pthread_create(&r[i].thread, NULL, reg_fn, &r[i]), "pthread_create");
	}
	vt_sleep_ms(VT_SHORT);
	for (i = 0; i < n; i++)
		CHECK(!r[i].ended, "registration %d does not wait: %s", i,
		      strerror(r[i].err));
	return NULL;
}

/* ---- what processes do ------------------------------------------------------- */

static struct never_helper busy, waiting, other;

static why_t say(const void *fd)
{
	CHECK(write(*(const int *)fd, "", 1) == 1, "write");
	return NULL;
}

/* A region of a process's own memory, from which it writes to its peer */
static why_t write_own(struct vt_pair *p)
{
	uint8_t *mem = mmap(NULL, STEP, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(p->a.dev->pd, mem, STEP, VT_ALL_ACCESS);
	struct ibv_sge sge = { .addr = (uintptr_t)mem, .length = 512 };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)p->b.buf.data,
			     .rkey = p->b.buf.mr->rkey },
	};
	struct ibv_wc wc;

	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	sge.lkey = mr->lkey;
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 0));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	CHECK(!munmap(mem, STEP), "munmap: %s", strerror(errno));
	return NULL;
}

/* The other threads of a process of which one waits have objects, and memory, as before. */
static why_t other_threads(struct vt_pair *p, const void *arg)
{
	struct reg r;

	(void)arg;
	TRY(begin(&r, 1, p->a.dev->pd, 0));
	TRY(write_own(p));
	CHECK(!ibv_destroy_qp(p->a.qp), "ibv_destroy_qp: %s", strerror(errno));
	p->a.qp = NULL;
	return NULL;
}

static why_t wait_many(struct vt_pair *p, const void *arg)
{
	static struct reg regs[REGS];

	TRY(begin(regs, REGS, p->a.dev->pd, 1024));
	TRY(say(arg));
	pause();
	return NULL;
}

static why_t own(struct vt_pair *p, const void *arg)
{
	(void)arg;
	return write_own(p);
}

/* ---- cases --------------------------------------------------------------------- */

static why_t get_on(struct vt_pair *p, const void *arg)
{
	(void)p;
	TRY(never_helper_go(arg, VT_LONG));
	return NULL;
}

static int wait_dead(void *pid)
{
	return waitpid(*(pid_t *)pid, NULL, 0) < 0 ? errno : 0;
}

static why_t killed(struct vt_pair *p, const void *arg)
{
	(void)p;
	(void)arg;
	kill(waiting.pid, SIGKILL);
	return never_soon("the end of the process", wait_dead, &waiting.pid);
}

static why_t protect(int fd, uint64_t mode)
{
	struct uffdio_writeprotect protect = {
		.range = { .start = (uintptr_t)never.mem, .len = STEP },
		.mode = mode,
	};

	CHECK(!ioctl(fd, UFFDIO_WRITEPROTECT, &protect), "writeprotect: %s", strerror(errno));
	return NULL;
}

/* Have faults in memory at never.mem, also those of the kernel, wait for this process. */
static why_t ask_for_faults(bool wp, int *fd)
{
	never.mem = mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(never.mem != MAP_FAILED, "mmap: %s", strerror(errno));
	TRY(vt_userfault(fd, never.mem, STEP, O_CLOEXEC,
			 wp ? UFFDIO_REGISTER_MODE_WP : UFFDIO_REGISTER_MODE_MISSING));
	if (!wp)
		return NULL;
	memset(never.mem, 1, STEP);
	return protect(*fd, UFFDIO_WRITEPROTECT_MODE_WP);
}

static int wait_end(void *thread)
{
	return pthread_join(*(pthread_t *)thread, NULL);
}

/*
 * A region that nobody writes is of pages that may not be written either. Some kernels pin them for
 * writing all the same: there it waits.
 */
static why_t read_protected(struct vt_pair *p, const void *arg)
{
	struct reg r = { .pd = p->a.dev->pd };
	uint8_t *file = never.mem;
	int fd;

	(void)arg;
	TRY(ask_for_faults(true, &fd));
	r.at = never.mem;
	CHECK(!pthread_create(&r.thread, NULL, reg_fn, &r), "pthread_create");
	vt_sleep_ms(VT_SHORT);
	TRY(protect(fd, 0));
	TRY(never_soon("a registration", wait_end, &r.thread));
	CHECK(r.mr, "ibv_reg_mr: %s", strerror(r.err));
	CHECK(!ibv_dereg_mr(r.mr), "ibv_dereg_mr: %s", strerror(errno));
	close(fd);
	CHECK(!munmap(never.mem, STEP), "munmap: %s", strerror(errno));
	never.mem = file;
	return NULL;
}

/* @arg: what holds it */
static why_t hold(struct vt_pair *p, const void *arg)
{
	bool wp = !strcmp(arg, "uffd-wp");
	struct reg r;
	int fd;

	if (wp)
		reg_access = IBV_ACCESS_LOCAL_WRITE;
	if (!strncmp(arg, "uffd", 4))
		TRY(ask_for_faults(wp, &fd));
	TRY(begin(&r, 1, p->a.dev->pd, 0));
	never_hold();
}

int main(int argc, char **argv)
{
	const char *holds = getenv("STUCK_HOLD");
	struct vt_conf c;

	never_up();
	if (!holds) {
		busy = never_helper_up(argc, argv, other_threads);
		waiting = never_helper_up(argc, argv, wait_many);
		other = never_helper_up(argc, argv, own);
	}
	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_RC);
	if (holds) {
		fprintf(stderr, "regwait: %s\n", vt_attempt(&c, hold, holds, true));
		return 1;
	}
	vt_run_idle("registrations wait for pages that don't come", &c, get_on, &waiting);
	vt_run_idle("another process registers and writes meanwhile", &c, get_on, &other);
	vt_run_idle("so do other threads of one that waits", &c, get_on, &busy);
	vt_run_idle("a process that waits is killed", &c, killed, NULL);
	vt_run_idle("memory that is protected against writing, for a region that is read", &c,
		    read_protected, NULL);
	never_down();
	return tap_finish();
}
