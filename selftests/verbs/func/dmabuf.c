// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/* Regions of memory that another driver exports as a dma-buf. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "share.h"

#define SIZE	(1 << 20)
#define LEN	40000		/* of a transfer */
#define OFF	(5 * 4096 + 24)	/* where it is in the dma-buf */
#define BASE	0x700000000000ULL	/* address of the dma-buf's first byte */

static const struct exporter *by;

struct loan {
	struct share mem;
	struct share_mr mr;
};

/* A dma-buf, and the part of it at @off as a region of B's */
static why_t borrow(struct loan *l, struct vt_pair *p, uint64_t off,
		    uint64_t len, int access)
{
	int err;

	TRY(share_open(&l->mem, by, SIZE));
	l->mr = (struct share_mr){
		.fd = l->mem.fd, .offset = off, .length = len,
		.iova = BASE + off, .access = access,
	};
	err = share_reg(&l->mr, p->b.dev->pd);
	CHECK(!err, "registration: %s", strerror(err));
	CHECK(l->mr.rkey && l->mr.lkey, "without keys");
	return NULL;
}

static why_t give_back(struct loan *l)
{
	int err = share_dereg(&l->mr);

	CHECK(!err, "deregistration: %s", strerror(err));
	share_close(&l->mem);
	return NULL;
}

/* A acts upon the region */
static why_t act(struct vt_pair *p, const struct loan *l,
		 enum ibv_wr_opcode opcode, uint64_t off, uint32_t len,
		 enum ibv_wc_status status)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, len);
	struct ibv_send_wr wr = {
		.wr_id = 0xa, .opcode = opcode, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = BASE + off, .rkey = l->mr.rkey },
	};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = BASE + off;
		wr.wr.atomic.compare_add = 5;
		wr.wr.atomic.rkey = l->mr.rkey;
	}
	TRY(vt_post_send(&p->a, &wr));
	return vt_poll_status(p->a.scq, 0xa, status, "A");
}

static why_t write_there(struct vt_pair *p, const struct loan *l, int seed)
{
	vt_fill(p->a.buf.data, LEN, seed);
	TRY(act(p, l, IBV_WR_RDMA_WRITE, OFF, LEN, IBV_WC_SUCCESS));
	return NULL;
}

static why_t read_back(struct vt_pair *p, const struct loan *l, int seed)
{
	uint8_t want[LEN];

	vt_fill(want, LEN, seed);
	memset(p->a.buf.data, 0, LEN);
	TRY(act(p, l, IBV_WR_RDMA_READ, OFF, LEN, IBV_WC_SUCCESS));
	CHECK(!memcmp(p->a.buf.data, want, LEN), "READ gets other bytes");
	return NULL;
}

static why_t rdma(struct vt_pair *p, const void *arg)
{
	struct loan l;
	int i;

	(void)arg;
	TRY(borrow(&l, p, 0, SIZE, VT_ALL_ACCESS));
	TRY(write_there(p, &l, 1));
	CHECK(!memcmp(l.mem.map + OFF, p->a.buf.data, LEN),
	      "WRITE leaves other bytes");
	for (i = 0; i < SIZE; i++)
		CHECK(!l.mem.map[i] || (i >= OFF && i < OFF + LEN),
		      "WRITE beyond its range, at %d", i);
	vt_fill(l.mem.map + OFF, LEN, 2);
	TRY(read_back(p, &l, 2));
	return give_back(&l);
}

/* Other rights, another PD; pages on demand it can't have; then other memory */
static why_t changed(struct vt_pair *p, const void *arg)
{
	struct ibv_pd *pd = ibv_alloc_pd(p->b.dev->ctx);
	struct ibv_mr mr = { .context = p->b.dev->ctx };
	uint8_t *own = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct loan l;
	int err;

	(void)arg;
	CHECK(pd && own != MAP_FAILED, "%s", strerror(errno));
	TRY(borrow(&l, p, 0, SIZE, IBV_ACCESS_REMOTE_READ));
	mr.handle = l.mr.handle;
	mr.lkey = l.mr.lkey;
	mr.rkey = l.mr.rkey;
	err = vt_rereg(&mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, NULL,
		       VT_ALL_ACCESS);
	CHECK(!err, "rights: %s", strerror(err));
	TRY(write_there(p, &l, 3));
	err = vt_rereg(&mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, NULL,
		       VT_ALL_ACCESS | IBV_ACCESS_ON_DEMAND);
	CHECK(err == EOPNOTSUPP, "on demand: %s", strerror(err));
	err = vt_rereg(&mr, IBV_REREG_MR_CHANGE_PD, NULL, 0, pd, 0);
	CHECK(!err, "PD: %s", strerror(err));
	err = vt_rereg(&mr, IBV_REREG_MR_CHANGE_PD, NULL, 0, p->b.dev->pd, 0);
	CHECK(!err, "PD again: %s", strerror(err));
	TRY(read_back(p, &l, 3));
	err = vt_rereg(&mr, IBV_REREG_MR_CHANGE_TRANSLATION, own, SIZE, NULL,
		       0);
	CHECK(!err, "memory: %s", strerror(err));
	vt_fill(p->a.buf.data, LEN, 4);
	TRY(act(p, &l, IBV_WR_RDMA_WRITE, (uintptr_t)own + OFF - BASE, LEN,
		IBV_WC_SUCCESS));
	CHECK(!memcmp(own + OFF, p->a.buf.data, LEN), "WRITE goes elsewhere");
	CHECK(memcmp(l.mem.map + OFF, p->a.buf.data, LEN),
	      "WRITE goes to the dma-buf still");
	TRY(act(p, &l, IBV_WR_RDMA_WRITE, OFF, LEN, IBV_WC_REM_ACCESS_ERR));
	TRY(give_back(&l));
	CHECK(!ibv_dealloc_pd(pd), "ibv_dealloc_pd: %s", strerror(errno));
	munmap(own, SIZE);
	return NULL;
}

static why_t atomic(struct vt_pair *p, const void *arg)
{
	uint64_t *there, *old = (uint64_t *)p->a.buf.data;
	struct loan l;

	(void)arg;
	TRY(borrow(&l, p, 0, SIZE, VT_ALL_ACCESS));
	there = (uint64_t *)(l.mem.map + OFF);
	*there = 37;
	TRY(act(p, &l, IBV_WR_ATOMIC_FETCH_AND_ADD, OFF, 8, IBV_WC_SUCCESS));
	CHECK(*old == 37 && *there == 42, "37 + 5: %lu, was %lu", *there, *old);
	return give_back(&l);
}

/* As local memory: received into, and sent from */
static why_t local(struct vt_pair *p, const void *arg)
{
	struct ibv_sge sge = { .addr = BASE + OFF, .length = LEN };
	struct ibv_sge far = vt_sge(&p->a.buf, 0, LEN);
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = IBV_WR_SEND, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc;
	struct loan l;

	(void)arg;
	TRY(borrow(&l, p, 0, SIZE, VT_ALL_ACCESS));
	sge.lkey = l.mr.lkey;
	vt_fill(p->a.buf.data, LEN, 3);
	TRY(vt_post_recv(&p->b, 2, &sge, 1));
	wr.sg_list = &far;
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->b.rcq, &wc, 2));
	TRY(vt_poll_ok(p->a.scq, &wc, 1));
	CHECK(!memcmp(l.mem.map + OFF, p->a.buf.data, LEN),
	      "SEND leaves other bytes");

	vt_fill(l.mem.map + OFF, LEN, 4);
	TRY(vt_post_recv(&p->a, 3, &far, 1));
	wr.sg_list = &sge;
	TRY(vt_post_send(&p->b, &wr));
	TRY(vt_poll_ok(p->a.rcq, &wc, 3));
	TRY(vt_poll_ok(p->b.scq, &wc, 1));
	CHECK(!memcmp(l.mem.map + OFF, p->a.buf.data, LEN),
	      "SEND carries other bytes");
	return give_back(&l);
}

/* A region within a dma-buf ends where it ends. */
static why_t bounds(struct vt_pair *p, const void *arg)
{
	struct loan l;

	(void)arg;
	TRY(borrow(&l, p, OFF, LEN, VT_ALL_ACCESS));
	TRY(write_there(p, &l, 5));
	CHECK(!memcmp(l.mem.map + OFF, p->a.buf.data, LEN),
	      "WRITE goes elsewhere");
	l.mem.map[OFF + LEN] = 77;
	TRY(act(p, &l, IBV_WR_RDMA_WRITE, OFF + 1, LEN,
		IBV_WC_REM_ACCESS_ERR));
	CHECK(l.mem.map[OFF + LEN] == 77, "WRITE beyond the end");
	return give_back(&l);
}

static why_t before(struct vt_pair *p, const void *arg)
{
	struct loan l;

	(void)arg;
	TRY(borrow(&l, p, OFF, LEN, VT_ALL_ACCESS));
	TRY(act(p, &l, IBV_WR_RDMA_WRITE, OFF - 1, 10, IBV_WC_REM_ACCESS_ERR));
	CHECK(!l.mem.map[OFF - 1] && !l.mem.map[OFF], "WRITE all the same");
	return give_back(&l);
}

struct deed {
	enum ibv_wr_opcode opcode;
	int access;
};

static why_t forbidden(struct vt_pair *p, const void *arg)
{
	const struct deed *d = arg;
	struct loan l;

	TRY(borrow(&l, p, 0, SIZE, d->access));
	TRY(act(p, &l, d->opcode, OFF, 8, IBV_WC_REM_ACCESS_ERR));
	CHECK(!memcmp(l.mem.map + OFF, "\0\0\0\0\0\0\0", 8), "done all the same");
	return give_back(&l);
}

/* The region holds the memory, whoever else lets go of it. */
static why_t closed(struct vt_pair *p, const void *arg)
{
	struct loan l;

	(void)arg;
	TRY(borrow(&l, p, 0, SIZE, VT_ALL_ACCESS));
	close(l.mem.fd);
	l.mem.fd = -1;
	TRY(write_there(p, &l, 6));
	CHECK(!memcmp(l.mem.map + OFF, p->a.buf.data, LEN),
	      "WRITE goes elsewhere");
	munmap(l.mem.map, SIZE);
	l.mem.map = NULL;
	TRY(write_there(p, &l, 7));
	TRY(read_back(p, &l, 7));
	TRY(give_back(&l));
	return act(p, &l, IBV_WR_RDMA_WRITE, OFF, 10, IBV_WC_REM_ACCESS_ERR);
}

/* Two regions of one dma-buf, with different rights: what one writes the other
 * reads, also after it is gone.
 */
static why_t twice(struct vt_pair *p, const void *arg)
{
	struct loan l, m;
	int err;

	(void)arg;
	TRY(borrow(&l, p, 0, SIZE, VT_ALL_ACCESS));
	m = l;
	m.mr.access = IBV_ACCESS_REMOTE_READ;
	err = share_reg(&m.mr, p->b.dev->pd);
	CHECK(!err, "second registration: %s", strerror(err));
	TRY(write_there(p, &l, 8));
	TRY(give_back(&l));
	TRY(read_back(p, &m, 8));
	m.mem.fd = -1;
	m.mem.map = NULL;
	return give_back(&m);
}

struct misuse {
	const char *what;
	struct share_mr mr;	/* fd: 0 for that of a dma-buf */
	int err;
};

static const struct misuse misuses[] = {
	{ "beyond the end", { .length = SIZE + 1 }, EINVAL },
	{ "beyond the end from within",
	  { .offset = 4096, .length = SIZE - 4095, .iova = 4096 }, EINVAL },
	{ "from beyond the end",
	  { .offset = SIZE, .length = 1 }, EINVAL },
	{ "a range that wraps",
	  { .offset = -4096ULL, .length = 8192 }, EINVAL },
	{ "addresses that wrap",
	  { .iova = -4096ULL, .length = 8192 }, EINVAL },
	{ "no bytes", { .length = 0 }, EINVAL },
	{ "another place within a page",
	  { .iova = 8, .length = 4096 }, EINVAL },
	{ "no file", { .fd = -1, .length = 4096 }, EBADF },
	{ "a file that isn't there", { .fd = 1000, .length = 4096 }, EBADF },
	{ "another kind of file", { .fd = 1, .length = 4096 }, EINVAL },
	{ "remote write without local write",
	  { .length = 4096, .access = IBV_ACCESS_REMOTE_WRITE }, EINVAL },
	{ "on demand",
	  { .length = 4096, .access = IBV_ACCESS_ON_DEMAND }, EINVAL },
};

static why_t misused(struct vt_pair *p, const void *arg)
{
	struct share s;
	size_t i;
	int err;

	(void)arg;
	TRY(share_open(&s, by, SIZE));
	for (i = 0; i < ARRAY_SIZE(misuses); i++) {
		struct share_mr mr = misuses[i].mr;

		if (!mr.fd)
			mr.fd = s.fd;
		err = share_reg(&mr, p->b.dev->pd);
		CHECK(err == misuses[i].err, "%s: %s instead of %s",
		      misuses[i].what, strerror(err),
		      strerror(misuses[i].err));
	}
	share_close(&s);
	return NULL;
}

/* Write until killed: the first bytes count up. */
static why_t scribble(struct vt_pair *p, const struct share *mem, int ready)
{
	struct loan l = { .mem = *mem };
	uint64_t n = 1;
	int err;

	TRY(vt_connect(p));
	l.mr = (struct share_mr){
		.fd = mem->fd, .length = SIZE, .iova = BASE,
		.access = VT_ALL_ACCESS,
	};
	err = share_reg(&l.mr, p->b.dev->pd);
	CHECK(!err, "registration: %s", strerror(err));
	for (;; n++) {
		memcpy(p->a.buf.data, &n, sizeof(n));
		TRY(act(p, &l, IBV_WR_RDMA_WRITE, 0, LEN, IBV_WC_SUCCESS));
		if (n == 3 && write(ready, "r", 1) != 1)
			return because("pipe: %s", strerror(errno));
	}
}

static void child(const struct share *mem, int ready)
{
	struct vt_pair p = { .conf = vt_conf(IBV_QPT_RC) };
	why_t why;

	vt_open();
	why = vt_ep_open(&p.a, &vt_devs[0], &p.conf);
	if (!why)
		why = vt_ep_open(&p.b, &vt_devs[1], &p.conf);
	if (!why)
		why = scribble(&p, mem, ready);
	tap_note("the child: %s", why);
	_exit(1);
}

static why_t killed(struct vt_pair *p, const void *arg)
{
	volatile uint64_t *count;
	int ready[2], status, i;
	struct share mem;
	uint64_t last;
	char c;
	pid_t pid;

	(void)p;
	(void)arg;
	TRY(share_open(&mem, by, SIZE));
	CHECK(!pipe(ready), "pipe: %s", strerror(errno));
	pid = fork();
	CHECK(pid >= 0, "fork: %s", strerror(errno));
	if (!pid)
		child(&mem, ready[1]);
	close(ready[1]);
	CHECK(read(ready[0], &c, 1) == 1, "the child never wrote");
	close(ready[0]);
	vt_sleep_ms(100);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CHECK(WIFSIGNALED(status), "the child ended by itself");
	count = (uint64_t *)mem.map;
	/* the last close of its device runs behind it */
	for (i = 0; i < 50; i++) {
		last = *count;
		vt_sleep_ms(200);
		if (*count == last)
			break;
	}
	CHECK(last >= 3, "the child wrote nothing");
	CHECK(*count == last, "somebody still writes");
	share_close(&mem);
	return NULL;
}

/* What can't be had is given back in full. */
static why_t refused(enum oddbuf_kind kind, int want)
{
	struct share_mr mr = { .fd = share_odd(kind), .length = 4096 };
	int held, err;

	CHECK(mr.fd >= 0, "oddbuf: %s", strerror(errno));
	err = share_reg(&mr, vt_devs[0].pd);
	held = share_held();
	close(mr.fd);
	CHECK(err == want, "%s instead of %s", strerror(err), strerror(want));
	CHECK(!held, "%d things are held", held);
	return NULL;
}

/* Pinned, and pinned once, for as long as the region lives */
static why_t held(void)
{
	struct share_mr mr = {
		.fd = share_odd(ODDBUF_DYNAMIC), .length = 4096,
	};
	int err, n;

	CHECK(mr.fd >= 0, "oddbuf: %s", strerror(errno));
	err = share_reg(&mr, vt_devs[0].pd);
	CHECK(!err, "registration: %s", strerror(err));
	close(mr.fd);
	n = share_held();
	CHECK(n == 5, "%d things are held, not attachment, pin, map, access and vmap",
	      n);
	err = share_dereg(&mr);
	CHECK(!err, "deregistration: %s", strerror(err));
	n = share_held();
	CHECK(!n, "%d things are held", n);
	return NULL;
}

static void run_odd(void)
{
	if (share_held() < 0) {
		tap_skip("no /dev/oddbuf: make oddbuf", "odd dma-bufs");
		return;
	}
	tap_report(held(), "odd dma-buf: held while registered");
	tap_report(refused(ODDBUF_IO, EOPNOTSUPP), "odd dma-buf: device memory");
	tap_report(refused(ODDBUF_NO_VMAP, EOPNOTSUPP),
		   "odd dma-buf: not for the CPU");
	tap_report(refused(ODDBUF_NO_ATTACH, EBUSY),
		   "odd dma-buf: attach fails");
	tap_report(refused(ODDBUF_NO_PIN, ENOSPC), "odd dma-buf: pin fails");
	tap_report(refused(ODDBUF_NO_MAP, EIO), "odd dma-buf: map fails");
	tap_report(refused(ODDBUF_NO_ACCESS, ETIMEDOUT),
		   "odd dma-buf: access fails");
}

static void run_with(void)
{
	static const struct deed no_write = { IBV_WR_RDMA_WRITE,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ };
	static const struct deed no_read = { IBV_WR_RDMA_READ,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE };
	static const struct deed no_atomic = { IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE };
	const struct {
		const char *name;
		vt_case fn;
		const void *arg;
	} cases[] = {
		{ "WRITE and READ", rdma, NULL },
		{ "FETCH_ADD", atomic, NULL },
		{ "registration changed", changed, NULL },
		{ "SEND from it and into it", local, NULL },
		{ "no byte behind the region", bounds, NULL },
		{ "no byte before the region", before, NULL },
		{ "no right to WRITE", forbidden, &no_write },
		{ "no right to READ", forbidden, &no_read },
		{ "no right to FETCH_ADD", forbidden, &no_atomic },
		{ "closed and unmapped meanwhile", closed, NULL },
		{ "two regions", twice, NULL },
		{ "what is refused", misused, NULL },
		{ "its process is killed", killed, NULL },
	};
	struct vt_conf c = vt_conf(IBV_QPT_RC);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		vt_runf(&c, cases[i].fn, cases[i].arg, "dma-buf of %s: %s",
			by->name, cases[i].name);
}

/* At least one exporter has to be there, or nothing has been tested. */
int main(int argc, char **argv)
{
	size_t i, found = 0;
	int fd;

	vt_start(argc, argv);
	for (i = 0; i < num_exporters; i++) {
		by = &exporters[i];
		fd = by->create(SIZE);
		if (fd < 0) {
			tap_skip(strerror(errno), "dma-buf of %s", by->name);
			continue;
		}
		close(fd);
		found++;
		run_with();
	}
	run_odd();
	if (!found)
		tap_report("nobody exports any", "dma-buf");
	return tap_finish();
}
