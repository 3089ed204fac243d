// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: paged A B --family 4 +6 */
/* run: paged A A --family 4 */
/*
 * Memory whose pages come on demand: never touched before, taken away, moved,
 * copied on write, protected, gone, of files, secret, prefetched. (The other
 * programs use such memory with --on-demand.)
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vt.h"

#define SIZE	(256 * 4096UL)
#define ALL	(VT_ALL_ACCESS | IBV_ACCESS_ON_DEMAND)

struct mem {
	uint8_t *p;
	struct ibv_mr *mr;
};

static why_t mem_open(struct mem *m, struct ibv_pd *pd, int access)
{
	m->p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(m->p != MAP_FAILED, "mmap: %s", strerror(errno));
	m->mr = ibv_reg_mr(pd, m->p, SIZE, access);
	CHECK(m->mr, "ibv_reg_mr(ON_DEMAND): %s", strerror(errno));
	return NULL;
}

static why_t mem_close(struct mem *m)
{
	CHECK(!ibv_dereg_mr(m->mr), "ibv_dereg_mr: %s", strerror(errno));
	munmap(m->p, SIZE);
	return NULL;
}

static why_t rdma(struct vt_pair *p, enum ibv_wr_opcode op, void *mine,
		  uint32_t lkey, void *theirs, uint32_t rkey, uint32_t len,
		  enum ibv_wc_status status)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)mine, .length = len, .lkey = lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = 7, .opcode = op, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)theirs, .rkey = rkey },
	};

	TRY(vt_post_send(&p->a, &wr));
	return vt_poll_status(p->a.scq, 7, status, "A");
}

static why_t put(struct vt_pair *p, void *at, uint32_t rkey, uint32_t len,
		 enum ibv_wc_status status)
{
	return rdma(p, IBV_WR_RDMA_WRITE, p->a.buf.data, p->a.buf.mr->lkey, at,
		    rkey, len, status);
}

static why_t is(struct vt_pair *p, const uint8_t *at, uint32_t len)
{
	CHECK(!memcmp(at, p->a.buf.data, len), "the bytes are not there");
	return NULL;
}

/* Memory of B's, of which all was written by A */
static why_t mem_open_put(struct vt_pair *p, struct mem *m)
{
	TRY(mem_open(m, p->b.dev->pd, ALL));
	return put(p, m->p, m->mr->rkey, SIZE, IBV_WC_SUCCESS);
}

/* Nothing was ever there; each byte of a page is somebody's first. */
static why_t untouched(struct vt_pair *p, const void *arg)
{
	static const uint32_t offs[] = { 0, 1, 4000, 4095, 4096, 20001 };
	struct mem m;
	size_t i;

	(void)arg;
	vt_fill(p->a.buf.data, SIZE / 2, 1);
	for (i = 0; i < ARRAY_SIZE(offs); i++) {
		TRY(mem_open(&m, p->b.dev->pd, ALL));
		TRY(put(p, m.p + offs[i], m.mr->rkey, SIZE / 2, IBV_WC_SUCCESS));
		TRY(is(p, m.p + offs[i], SIZE / 2));
		TRY(mem_close(&m));
	}
	return NULL;
}

/* READ from zeros that nobody has written, to memory that nobody has touched */
static why_t both_ends(struct vt_pair *p, const void *arg)
{
	struct mem from, to;
	size_t i;

	(void)arg;
	TRY(mem_open(&from, p->b.dev->pd, ALL));
	TRY(mem_open(&to, p->a.dev->pd, ALL));
	TRY(rdma(p, IBV_WR_RDMA_READ, to.p + 8192, to.mr->lkey, from.p + 100,
		 from.mr->rkey, SIZE / 2, IBV_WC_SUCCESS));
	for (i = 0; i < SIZE; i++)
		CHECK(!to.p[i], "byte %zu is %02x", i, to.p[i]);
	vt_fill(from.p, SIZE, 2);
	TRY(rdma(p, IBV_WR_RDMA_READ, to.p + 8192, to.mr->lkey, from.p + 100,
		 from.mr->rkey, SIZE / 2, IBV_WC_SUCCESS));
	CHECK(!memcmp(to.p + 8192, from.p + 100, SIZE / 2), "not what was read");
	TRY(mem_close(&from));
	return mem_close(&to);
}

/* What the process gives back is zeros again, for both. */
static why_t given_back(struct vt_pair *p, const void *arg)
{
	struct mem m;

	(void)arg;
	vt_fill(p->a.buf.data, SIZE, 3);
	TRY(mem_open_put(p, &m));
	TRY(is(p, m.p, SIZE));
	CHECK(!madvise(m.p, SIZE / 2, MADV_DONTNEED), "madvise: %s",
	      strerror(errno));
	TRY(put(p, m.p + 4096, m.mr->rkey, 4096, IBV_WC_SUCCESS));
	CHECK(!m.p[0] && !m.p[4095] && !m.p[8192], "what was given back is there");
	TRY(is(p, m.p + 4096, 4096));
	return mem_close(&m);
}

/* The child's copy is not written; the parent's is. */
static why_t forked(struct vt_pair *p, const void *arg)
{
	struct mem m;
	int status = 0, pipes[2];
	pid_t child;
	char go = 1;

	(void)arg;
	vt_fill(p->a.buf.data, SIZE, 4);
	TRY(mem_open_put(p, &m));
	CHECK(!pipe(pipes), "pipe: %s", strerror(errno));
	/* what the child should still see later on */
	memcpy(p->a.buf.shadow, p->a.buf.data, SIZE);
	child = fork();
	if (!child)
		_exit(read(pipes[0], &go, 1) != 1 ||
		      memcmp(m.p, p->a.buf.shadow, SIZE));
	vt_fill(p->a.buf.data, SIZE, 5);
	TRY(put(p, m.p, m.mr->rkey, SIZE, IBV_WC_SUCCESS));
	CHECK(write(pipes[1], &go, 1) == 1, "write: %s", strerror(errno));
	CHECK(waitpid(child, &status, 0) == child, "waitpid");
	close(pipes[0]);
	close(pipes[1]);
	TRY(is(p, m.p, SIZE));
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status),
	      "the child sees what came after it was born");
	return mem_close(&m);
}

/* Memory that is not there any more, or not to be written, is no memory. */
static why_t unmapped(struct vt_pair *p, const void *arg)
{
	struct mem m;

	(void)arg;
	TRY(mem_open_put(p, &m));
	munmap(m.p + SIZE / 2, SIZE / 2);
	TRY(put(p, m.p, m.mr->rkey, SIZE / 2, IBV_WC_SUCCESS));
	TRY(put(p, m.p, m.mr->rkey, SIZE / 2 + 1, IBV_WC_REM_ACCESS_ERR));
	return mem_close(&m);
}

static why_t protected(struct vt_pair *p, const void *arg)
{
	struct mem m;

	(void)arg;
	TRY(mem_open_put(p, &m));
	CHECK(!mprotect(m.p, SIZE, PROT_READ), "mprotect: %s", strerror(errno));
	TRY(put(p, m.p, m.mr->rkey, 1, IBV_WC_REM_ACCESS_ERR));
	return mem_close(&m);
}

static why_t no_source(struct vt_pair *p, const void *arg)
{
	struct mem m;

	(void)arg;
	TRY(mem_open(&m, p->a.dev->pd, ALL));
	munmap(m.p, SIZE);
	TRY(rdma(p, IBV_WR_RDMA_WRITE, m.p, m.mr->lkey, p->b.buf.data,
		 p->b.buf.mr->rkey, 5000, IBV_WC_LOC_PROT_ERR));
	CHECK(!ibv_dereg_mr(m.mr), "ibv_dereg_mr: %s", strerror(errno));
	return NULL;
}

/* Moved elsewhere, the memory is registered where it was: there is none. */
static why_t moved(struct vt_pair *p, const void *arg)
{
	struct mem m;
	uint8_t *to;

	(void)arg;
	vt_fill(p->a.buf.data, SIZE, 6);
	TRY(mem_open_put(p, &m));
	to = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mremap(m.p, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to,
	      "mremap: %s", strerror(errno));
	TRY(is(p, to, SIZE));
	/* and back, with what was written to it meanwhile */
	vt_fill(to, SIZE, 7);
	CHECK(mremap(to, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, m.p) == m.p,
	      "mremap: %s", strerror(errno));
	TRY(rdma(p, IBV_WR_RDMA_READ, p->a.buf.data, p->a.buf.mr->lkey, m.p,
		 m.mr->rkey, SIZE, IBV_WC_SUCCESS));
	TRY(is(p, m.p, SIZE));
	CHECK(mremap(m.p, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to,
	      "mremap: %s", strerror(errno));
	TRY(put(p, m.p, m.mr->rkey, 100, IBV_WC_REM_ACCESS_ERR));
	m.p = to;
	return mem_close(&m);
}

/* All of the process's memory by one key, what is mapped later as well */
static why_t implicit(struct vt_pair *p, const void *arg)
{
	struct ibv_mr *mr = ibv_reg_mr(p->b.dev->pd, NULL, SIZE_MAX, ALL);
	uint8_t *at;

	(void)arg;
	CHECK(mr, "ibv_reg_mr(implicit): %s", strerror(errno));
	vt_fill(p->a.buf.data, SIZE, 8);
	at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	TRY(put(p, at, mr->rkey, SIZE, IBV_WC_SUCCESS));
	TRY(is(p, at, SIZE));
	munmap(at, SIZE);
	TRY(put(p, at, mr->rkey, 1, IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	return NULL;
}

static uint64_t both(const char *what)
{
	/* the core keeps what it was told for 10 ms */
	vt_sleep_ms(20);
	if (!strcmp(vt_devs[0].name, vt_devs[1].name))
		return vt_counted(&vt_devs[0], what);
	return vt_counted(&vt_devs[0], what) + vt_counted(&vt_devs[1], what);
}

/* All of a message that nobody has touched comes by a few faults. */
static why_t cold(struct vt_pair *p, const void *arg)
{
	enum ibv_wr_opcode op = *(const enum ibv_wr_opcode *)arg;
	uint64_t waits, misses, again;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct mem from, to;

	TRY(mem_open(&from, p->a.dev->pd, ALL));
	TRY(mem_open(&to, p->b.dev->pd, ALL));
	vt_fill(op == IBV_WR_RDMA_READ ? to.p : from.p, SIZE, 9);
	waits = both("odp_waits");
	misses = both("odp_misses");
	again = both("retransmitted_pkts");
	sge = (struct ibv_sge){ (uintptr_t)to.p, SIZE, to.mr->lkey };
	if (op == IBV_WR_SEND)
		TRY(vt_post_recv(&p->b, 8, &sge, 1));
	TRY(rdma(p, op, from.p, from.mr->lkey, to.p, to.mr->rkey, SIZE,
		 IBV_WC_SUCCESS));
	if (op == IBV_WR_SEND)
		TRY(vt_poll_ok(p->b.rcq, &wc, 8));
	CHECK(!memcmp(from.p, to.p, SIZE), "the bytes are not there");
	waits = both("odp_waits") - waits;
	misses = both("odp_misses") - misses;
	again = both("retransmitted_pkts") - again;
	tap_note("%llu waits, %llu responses in vain, %llu packets again",
		 (unsigned long long)waits, (unsigned long long)misses,
		 (unsigned long long)again);
	CHECK(waits && waits < 25, "%llu waits", (unsigned long long)waits);
	CHECK(!misses, "%llu responses found no page",
	      (unsigned long long)misses);
	TRY(mem_close(&from));
	return mem_close(&to);
}

/* The value before, the operation, and no wait for what is there */
static why_t atomic(struct vt_pair *p, const void *arg)
{
	struct mem from, to;
	uint64_t i, *word, *was;

	(void)arg;
	TRY(mem_open(&from, p->a.dev->pd, ALL));
	TRY(mem_open(&to, p->b.dev->pd, ALL));
	word = (uint64_t *)(to.p + 12288 - 8);
	was = (uint64_t *)(from.p + 4096);
	for (i = 0; i < 20; i++) {
		struct ibv_sge sge = { (uintptr_t)was, 8, from.mr->lkey };
		struct ibv_send_wr wr = {
			.wr_id = i, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
			.sg_list = &sge, .num_sge = 1,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.atomic = { (uintptr_t)word, 5, 0, to.mr->rkey },
		};

		if (i % 4 == 3)
			madvise(from.p, SIZE, MADV_DONTNEED);
		TRY(vt_post_send(&p->a, &wr));
		TRY(vt_poll_status(p->a.scq, i, IBV_WC_SUCCESS, "A"));
		CHECK(*was == 5 * i && *word == 5 * (i + 1),
		      "%llu and %llu after %llu",
		      (unsigned long long)*was, (unsigned long long)*word,
		      (unsigned long long)i);
	}
	TRY(mem_close(&from));
	return mem_close(&to);
}

/* Messages into memory that nobody has touched, a page each; @arg: bytes before */
static why_t received(struct vt_pair *p, const void *arg)
{
	uint32_t grh = *(const uint32_t *)arg, len = 1000, i;
	struct mem to;

	TRY(mem_open(&to, p->b.dev->pd, ALL));
	for (i = 0; i < 16; i++) {
		struct ibv_sge sge = { (uintptr_t)(to.p + 8192 * i + 3500),
				       len + grh, to.mr->lkey };

		TRY(vt_post_recv(&p->b, i, &sge, 1));
	}
	for (i = 0; i < 16; i++) {
		struct ibv_sge sge = vt_sge(&p->a.buf, 100 * i, len);
		struct ibv_send_wr wr = {
			.wr_id = i, .opcode = IBV_WR_SEND, .sg_list = &sge,
			.num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		};

		vt_fill(p->a.buf.data + 100 * i, 100, i);
		vt_aim(&p->a, &p->b, &wr);
		TRY(vt_post_send(&p->a, &wr));
		TRY(vt_poll_status(p->a.scq, i, IBV_WC_SUCCESS, "A"));
	}
	for (i = 0; i < 16; i++) {
		struct ibv_wc wc;

		TRY(vt_poll_ok(p->b.rcq, &wc, i));
		CHECK(!memcmp(to.p + 8192 * i + 3500 + grh,
			      p->a.buf.data + 100 * i, 100),
		      "message %u: wrong bytes", i);
	}
	return mem_close(&to);
}

/* Memory of A's that keeps its contents when its pages are taken away */
static why_t mem_shared(struct vt_pair *p, struct mem *m, uint64_t seed)
{
	m->p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(m->p != MAP_FAILED, "mmap: %s", strerror(errno));
	vt_fill(m->p, SIZE, seed);
	m->mr = ibv_reg_mr(p->a.dev->pd, m->p, SIZE, ALL);
	CHECK(m->mr, "ibv_reg_mr: %s", strerror(errno));
	return NULL;
}

/* SEND message number @i from A to B, out of pages of its own. */
static why_t send_piece(struct vt_pair *p, struct mem *m, int i, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)(m->p + 8192 * i + 3500), len,
			       m->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = i, .opcode = IBV_WR_SEND, .sg_list = &sge,
		.num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
	};

	vt_aim(&p->a, &p->b, &wr);
	return vt_post_send(&p->a, &wr);
}

/*
 * Messages out of memory that has its contents, but no page that anybody has
 * touched: datagrams and those of UC can't be asked for again. @arg: bytes before
 */
static why_t sent(struct vt_pair *p, const void *arg)
{
	uint32_t grh = *(const uint32_t *)arg, len = 1000, i;
	struct mem m;
	uint64_t waits;

	TRY(mem_shared(p, &m, 12));
	waits = both("odp_waits");
	for (i = 0; i < 16; i++) {
		struct ibv_wc wc;

		CHECK(!madvise(m.p, SIZE, MADV_DONTNEED), "madvise: %s",
		      strerror(errno));
		TRY(vt_post_recv_at(&p->b, i, 0, len + grh));
		TRY(send_piece(p, &m, i, len));
		TRY(vt_poll_status(p->a.scq, i, IBV_WC_SUCCESS, "A"));
		TRY(vt_poll_ok(p->b.rcq, &wc, i));
		CHECK(wc.byte_len == len + grh, "%u bytes", wc.byte_len);
		CHECK(!memcmp(p->b.buf.data + grh, m.p + 8192 * i + 3500, len),
		      "message %u: wrong bytes", i);
	}
	waits = both("odp_waits") - waits;
	CHECK(waits >= 16, "%llu waits: the pages were there",
	      (unsigned long long)waits);
	return mem_close(&m);
}

/* Several at a time, and the pages of each go before it was sent */
static why_t sent_apace(struct vt_pair *p, const void *arg)
{
	uint32_t grh = *(const uint32_t *)arg, len = 1000, i, n = 32;
	struct ibv_wc wc;
	struct mem m;

	TRY(mem_shared(p, &m, 13));
	for (i = 0; i < n; i++)
		TRY(vt_post_recv_at(&p->b, i, i * 2048, len + grh));
	for (i = 0; i < n; i++) {
		madvise(m.p, SIZE, MADV_DONTNEED);
		TRY(send_piece(p, &m, i, len));
	}
	for (i = 0; i < n; i++) {
		TRY(vt_poll_ok(p->a.scq, &wc, i));
		TRY(vt_poll_ok(p->b.rcq, &wc, i));
		CHECK(!memcmp(p->b.buf.data + i * 2048 + grh,
			      m.p + 8192 * i + 3500, len),
		      "message %u: wrong bytes", i);
	}
	return mem_close(&m);
}

/* A WRITE of UC, out of such memory: what is lost of it nobody asks for again */
static why_t written(struct vt_pair *p, const void *arg)
{
	struct mem m;

	(void)arg;
	TRY(mem_shared(p, &m, 14));
	memcpy(p->b.buf.shadow, m.p + 100, SIZE - 100);
	memset(p->b.buf.shadow + SIZE - 100, 0, 100);
	CHECK(!madvise(m.p, SIZE, MADV_DONTNEED), "madvise: %s",
	      strerror(errno));
	TRY(rdma(p, IBV_WR_RDMA_WRITE, m.p + 100, m.mr->lkey, p->b.buf.data,
		 p->b.buf.mr->rkey, SIZE - 100, IBV_WC_SUCCESS));
	TRY(vt_buf_wait(&p->b.buf, VT_LONG));
	return mem_close(&m);
}

#define HUGE_LEN	(96UL << 30)
#define SPOT		10000U

/* Bytes across pages, and across each kind of boundary that a length may have */
static why_t touch_some(struct vt_pair *p, uint8_t *at, uint32_t rkey)
{
	static const uint64_t spots[] = {
		0, (1UL << 21) - 5000, (1UL << 30) - 1, (2UL << 30) - 5000,
		(4UL << 30) - 5000, (4UL << 30) + 12345, (17UL << 30) + 4095,
		(32UL << 30) - 1, (64UL << 30) - 5000, (95UL << 30) + 77,
		HUGE_LEN - SPOT,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(spots); i++) {
		vt_fill(p->a.buf.data, SPOT, 100 + i);
		TRY(put(p, at + spots[i], rkey, SPOT, IBV_WC_SUCCESS));
	}
	for (i = 0; i < ARRAY_SIZE(spots); i++) {
		vt_fill(p->a.buf.data, SPOT, 100 + i);
		TRY(is(p, at + spots[i], SPOT));
		memset(p->a.buf.data, 0, SPOT);
		TRY(rdma(p, IBV_WR_RDMA_READ, p->a.buf.data, p->a.buf.mr->lkey,
			 at + spots[i], rkey, SPOT, IBV_WC_SUCCESS));
		TRY(is(p, at + spots[i], SPOT));
	}
	return NULL;
}

/*
 * More than there is of memory, of which a little is used: nothing may depend on
 * the length. @arg: not NULL for all of the process's memory by one key
 */
static why_t sparse(struct vt_pair *p, const void *arg)
{
	uint8_t *at = mmap(NULL, HUGE_LEN, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t in = both("odp_pages_in"), out = both("odp_pages_out"), took;
	struct ibv_mr *mr;

	CHECK(at != MAP_FAILED, "mmap of 96 GiB: %s", strerror(errno));
	madvise(at, HUGE_LEN, MADV_NOHUGEPAGE);
	took = vt_now_us();
	mr = arg ? ibv_reg_mr(p->b.dev->pd, NULL, SIZE_MAX, ALL) :
		   ibv_reg_mr(p->b.dev->pd, at, HUGE_LEN, ALL);
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	TRY(touch_some(p, at, mr->rkey));
	in = both("odp_pages_in") - in;
	CHECK(in >= 33 && in < 33 * 64, "%llu pages came in",
	      (unsigned long long)in);
	/* gone at a stroke, and back as zeros */
	CHECK(!madvise(at, HUGE_LEN, MADV_DONTNEED), "madvise: %s",
	      strerror(errno));
	out = both("odp_pages_out") - out;
	CHECK(out == in, "%llu pages of %llu went", (unsigned long long)out,
	      (unsigned long long)in);
	TRY(touch_some(p, at, mr->rkey));
	if (!arg) {
		TRY(put(p, at + HUGE_LEN - SPOT + 1, mr->rkey, SPOT,
			IBV_WC_REM_ACCESS_ERR));
	}
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	munmap(at, HUGE_LEN);
	took = vt_now_us() - took;
	tap_note("%llu pages, %llu ms", (unsigned long long)in,
		 (unsigned long long)took / 1000);
	return NULL;
}

static why_t shared_queue(struct vt_pair *p, const void *arg)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 32, .max_sge = 1 },
	};
	struct vt_conf c = p->conf;
	why_t why;

	c.srq[1] = ibv_create_srq(vt_devs[1].pd, &init);
	CHECK(c.srq[1], "ibv_create_srq: %s", strerror(errno));
	why = vt_attempt(&c, received, arg, true);
	ibv_destroy_srq(c.srq[1]);
	return why;
}

/* What is written to a file's memory is in the file. */
static why_t of_file(struct vt_pair *p, const void *arg)
{
	const char *dir = getenv("VT_DIR");
	uint8_t *back = malloc(SIZE);
	char path[256];
	struct mem m;
	int fd;

	(void)arg;
	snprintf(path, sizeof(path), "%s/odp.%d", dir ? dir : "/tmp", getpid());
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0 && !unlink(path) && !ftruncate(fd, SIZE), "%s: %s", path,
	      strerror(errno));
	m.p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(m.p != MAP_FAILED, "mmap: %s", strerror(errno));
	m.mr = ibv_reg_mr(p->b.dev->pd, m.p, SIZE, ALL);
	CHECK(m.mr, "ibv_reg_mr: %s", strerror(errno));
	vt_fill(p->a.buf.data, SIZE, 10);
	/* clean, and written again by what the page tables know nothing of */
	TRY(put(p, m.p, m.mr->rkey, SIZE, IBV_WC_SUCCESS));
	CHECK(!fsync(fd), "fsync: %s", strerror(errno));
	vt_fill(p->a.buf.data, SIZE, 11);
	TRY(put(p, m.p, m.mr->rkey, SIZE, IBV_WC_SUCCESS));
	TRY(mem_close(&m));
	CHECK(!fsync(fd), "fsync: %s", strerror(errno));
	posix_fadvise(fd, 0, SIZE, POSIX_FADV_DONTNEED);
	CHECK(pread(fd, back, SIZE, 0) == (ssize_t)SIZE, "pread");
	TRY(is(p, back, SIZE));
	free(back);
	close(fd);
	return NULL;
}

/* Memory that the kernel itself can't read is nobody's to read. */
static why_t secret(struct vt_pair *p, const void *arg)
{
	int fd = syscall(447 /* memfd_secret */, 0);
	struct mem m;

	(void)arg;
	if (fd < 0 || ftruncate(fd, SIZE)) {
		tap_note("there is none");
		return NULL;
	}
	m.p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(m.p != MAP_FAILED, "mmap: %s", strerror(errno));
	m.p[0] = 1;
	m.mr = ibv_reg_mr(p->b.dev->pd, m.p, SIZE, ALL);
	CHECK(m.mr, "ibv_reg_mr: %s", strerror(errno));
	TRY(put(p, m.p, m.mr->rkey, 100, IBV_WC_REM_ACCESS_ERR));
	close(fd);
	return mem_close(&m);
}

/* What ibv_advise_mr() would do if the provider had it; returns an errno. */
static int advise(struct vt_pair *p, uint32_t advice, uint32_t flags,
		  const struct mem *m, uint32_t lkey, size_t off, uint32_t len)
{
	return vt_advise(p->b.dev->pd, advice, flags, m->p + off, len, lkey);
}

#define READS	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH
#define WRITES	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE
#define HAS	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT
#define FLUSH	IB_UVERBS_ADVISE_MR_FLAG_FLUSH

/* What was brought beforehand is not waited for. */
static why_t prefetched(struct vt_pair *p, const void *arg)
{
	uint64_t waits, in;
	struct mem m;
	int i, ret;

	(void)arg;
	TRY(mem_open(&m, p->b.dev->pd, ALL));
	ret = advise(p, WRITES, FLUSH, &m, m.mr->lkey, 0, SIZE);
	CHECK(!ret, "ibv_advise_mr(WRITE): %s", strerror(ret));
	waits = both("odp_waits");
	TRY(put(p, m.p, m.mr->rkey, SIZE, IBV_WC_SUCCESS));
	CHECK(both("odp_waits") == waits, "a WRITE waits for pages");
	TRY(mem_close(&m));

	/* for reading, and whenever that may be */
	TRY(mem_open(&m, p->b.dev->pd, ALL));
	in = both("odp_pages_in");
	ret = advise(p, READS, 0, &m, m.mr->lkey, 0, SIZE);
	CHECK(!ret, "ibv_advise_mr(0): %s", strerror(ret));
	for (i = 0; both("odp_pages_in") < in + SIZE / 4096; i++) {
		CHECK(i < 500, "the pages don't come");
		vt_sleep_ms(10);
	}
	TRY(rdma(p, IBV_WR_RDMA_READ, p->a.buf.data, p->a.buf.mr->lkey, m.p,
		 m.mr->rkey, SIZE, IBV_WC_SUCCESS));
	CHECK(both("odp_waits") == waits, "a READ waits for pages");
	return mem_close(&m);
}

/* A thread that gives advice while the region is changed, both without a pause */
struct adviser {
	struct vt_pair *p;
	struct mem *m;
	volatile bool on;
	uint64_t turns, taken;
	pthread_t thread;
};

static void *keep_advising(void *arg)
{
	struct adviser *a = arg;

	for (; a->on; a->turns++)
		a->taken += !advise(a->p, READS, a->turns & 1 ? FLUSH : 0, a->m,
				    a->m->mr->lkey, 0, SIZE / 64);
	return NULL;
}

/* It is for what the region was before, or is then; never for both. */
static why_t advised_amid_change(struct vt_pair *p, const void *arg)
{
	struct mem m;
	struct adviser a = { .p = p, .m = &m, .on = true };
	uint64_t end = vt_now_us() + 3000000;
	int n, err = 0;

	(void)arg;
	TRY(mem_open(&m, p->b.dev->pd, ALL));
	CHECK(!pthread_create(&a.thread, NULL, keep_advising, &a),
	      "pthread_create");
	for (n = 0; !err && (vt_now_us() < end || !a.taken); n++)
		err = vt_rereg(m.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, NULL,
			       n & 1 ? ALL : VT_ALL_ACCESS);
	a.on = false;
	pthread_join(a.thread, NULL);
	CHECK(!err, "change %d: %s", n, strerror(err));
	tap_note("%d changes, %llu times advice, %llu of it taken", n,
		 (unsigned long long)a.turns, (unsigned long long)a.taken);
	return mem_close(&m);
}

/* Just what the process has */
static why_t no_fault(struct vt_pair *p, const void *arg)
{
	unsigned char there[2] = {};
	uint64_t in;
	struct mem m;
	int ret;

	(void)arg;
	TRY(mem_open(&m, p->b.dev->pd, ALL));
	m.p[8192] = 7;
	m.p[40960] = 7;
	in = both("odp_pages_in");
	ret = advise(p, HAS, FLUSH, &m, m.mr->lkey, 0, SIZE);
	CHECK(!ret, "ibv_advise_mr: %s", strerror(ret));
	CHECK(both("odp_pages_in") == in + 2, "%llu pages came in",
	      (unsigned long long)(both("odp_pages_in") - in));
	CHECK(!mincore(m.p, 8192, there) && !(there[0] & 1) && !(there[1] & 1),
	      "memory that nobody has touched is there");
	return mem_close(&m);
}

static uint64_t advice_took(struct vt_pair *p, const struct ibv_mr *mr, uint32_t len, int *ret)
{
	uint64_t since = vt_now_us();

	/* far from all that is mapped */
	*ret = vt_advise(p->b.dev->pd, HAS, FLUSH, (void *)(1UL << 40), len, mr->lkey);
	return vt_now_us() - since;
}

/* Pages that are not there are looked at for a while only: it is work of the kernel's own. */
static why_t endless_advice(struct vt_pair *p, const void *arg)
{
	struct ibv_mr *mr = ibv_reg_mr(p->b.dev->pd, NULL, SIZE_MAX, ALL);
	uint64_t few, many;
	int ret[2];

	(void)arg;
	CHECK(mr, "ibv_reg_mr(implicit): %s", strerror(errno));
	/* 8,192 pages, and a million */
	few = advice_took(p, mr, 32 << 20, &ret[0]);
	many = advice_took(p, mr, 0xfffff000, &ret[1]);
	CHECK(!ret[0] && !ret[1], "ibv_advise_mr: %s, %s", strerror(ret[0]), strerror(ret[1]));
	CHECK(many < 32 * few, "advice of 32 MiB took %llu us, of 4 GiB %llu us",
	      (unsigned long long)few, (unsigned long long)many);
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	return NULL;
}

static why_t no_bytes(struct vt_pair *p, const void *arg)
{
	static char byte;

	(void)arg;
	errno = 0;
	CHECK(!ibv_reg_mr(p->b.dev->pd, &byte, 0, ALL), "there is a region of no bytes");
	CHECK(errno == EINVAL, "ibv_reg_mr: %s", strerror(errno));
	return NULL;
}

static why_t wrong_advice(struct vt_pair *p, const void *arg)
{
	struct ibv_pd *other = ibv_alloc_pd(p->b.dev->ctx);
	struct mem m, ro;
	int ret;

	(void)arg;
	TRY(mem_open(&m, p->b.dev->pd, ALL));
	TRY(mem_open(&ro, p->b.dev->pd, IBV_ACCESS_ON_DEMAND));
#define ERR(err, ...)							\
	ret = advise(p, __VA_ARGS__);					\
	CHECK(ret == (err), "ibv_advise_mr(" #__VA_ARGS__ "): %s, not %s", \
	      strerror(ret), strerror(err))
	ERR(ENOENT, READS, FLUSH, &m, m.mr->lkey ^ 1, 0, SIZE);
	ERR(EINVAL, READS, FLUSH, &m, p->b.buf.mr->lkey, 0, SIZE);
	ERR(EPERM, WRITES, 0, &ro, ro.mr->lkey, 0, SIZE);
	ERR(0, READS, 0, &ro, ro.mr->lkey, 0, SIZE);
	ERR(EFAULT, READS, 0, &m, m.mr->lkey, 1, SIZE);
	ERR(EOPNOTSUPP, 77, 0, &m, m.mr->lkey, 0, SIZE);
	ERR(EINVAL, READS, 8, &m, m.mr->lkey, 0, SIZE);
	munmap(m.p + SIZE / 2, SIZE / 2);
	ERR(EFAULT, READS, FLUSH, &m, m.mr->lkey, 0, SIZE);
	ERR(0, HAS, FLUSH, &m, m.mr->lkey, 0, SIZE);
	ERR(0, READS, 0, &m, m.mr->lkey, 0, SIZE);
	CHECK(!ibv_dereg_mr(ro.mr), "ibv_dereg_mr");
	ro.mr = ibv_reg_mr(other, ro.p, SIZE, ALL);
	CHECK(ro.mr, "ibv_reg_mr: %s", strerror(errno));
	ERR(EPERM, READS, FLUSH, &ro, ro.mr->lkey, 0, SIZE);
	TRY(mem_close(&m));
	TRY(mem_close(&ro));
	ibv_dealloc_pd(other);
	return NULL;
}

/* Bits of newer kernels' <rdma/ib_user_verbs.h> that libibverbs has no names for */
#define CAP_FLUSH_GLOBAL	(1ULL << 38)
#define CAP_ATOMIC_WRITE	(1ULL << 40)
#define ODP_FLUSH		(1 << 6)
#define ODP_ATOMIC_WRITE	(1 << 7)

static why_t capable(struct vt_pair *p, const void *arg)
{
	struct ibv_device_attr_ex attr;
	uint32_t rc = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
		      IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
		      IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV;

	(void)arg;
	CHECK(!ibv_query_device_ex(p->a.dev->ctx, NULL, &attr),
	      "ibv_query_device_ex: %s", strerror(errno));
	CHECK(attr.odp_caps.general_caps ==
	      (IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT),
	      "general capabilities are %llx",
	      (unsigned long long)attr.odp_caps.general_caps);
	/* on kernels that know these requests */
	if (attr.device_cap_flags_ex & CAP_FLUSH_GLOBAL)
		rc |= ODP_FLUSH;
	if (attr.device_cap_flags_ex & CAP_ATOMIC_WRITE)
		rc |= ODP_ATOMIC_WRITE;
	CHECK(attr.odp_caps.per_transport_caps.rc_odp_caps == rc,
	      "those of RC are %x",
	      attr.odp_caps.per_transport_caps.rc_odp_caps);
	return NULL;
}

int main(int argc, char **argv)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND,
	};
	static const char *const names[] = { "WRITE", "READ", "SEND" };
	static const uint32_t none, grh = VT_GRH;
	struct vt_conf c;
	size_t i;

	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_RC);
	c.buf = SIZE;
	vt_run("ODP: capabilities", &c, capable, NULL);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		vt_runf(&c, cold, &ops[i], "ODP: 1 MiB, cold at both ends, %s",
			names[i]);
	}
	vt_run("ODP: atomics", &c, atomic, NULL);
	vt_run("ODP: receives", &c, received, &none);
	vt_run("ODP: receives, shared", &c, shared_queue, &none);
	vt_run("ODP: memory of a file", &c, of_file, NULL);
	vt_run("ODP: secret memory", &c, secret, NULL);
	vt_run("ODP: prefetch", &c, prefetched, NULL);
	vt_run("ODP: prefetch of what is there", &c, no_fault, NULL);
	vt_run("ODP: advice of much that is not there", &c, endless_advice, NULL);
	vt_run("ODP: no bytes", &c, no_bytes, NULL);
	vt_run("ODP: wrong advice", &c, wrong_advice, NULL);
	vt_run("ODP: advice amid change", &c, advised_amid_change, NULL);
	vt_run("ODP: memory never touched", &c, untouched, NULL);
	vt_run("ODP: READ, both ends on demand", &c, both_ends, NULL);
	vt_run("ODP: memory given back", &c, given_back, NULL);
	vt_run("ODP: fork, then write", &c, forked, NULL);
	vt_run("ODP: memory moved", &c, moved, NULL);
	vt_run("ODP: memory unmapped", &c, unmapped, NULL);
	vt_run("ODP: memory write-protected", &c, protected, NULL);
	vt_run("ODP: no memory to send from", &c, no_source, NULL);
	vt_run("ODP: implicit", &c, implicit, NULL);
	vt_run("ODP: 96 GiB, some of it used", &c, sparse, NULL);
	vt_run("ODP: implicit, 96 GiB, some of it used", &c, sparse, &none);
	vt_run("ODP: sent from cold memory", &c, sent, &none);
	c = vt_conf(IBV_QPT_UC);
	c.buf = SIZE;
	vt_run("ODP: receives, UC", &c, received, &none);
	vt_run("ODP: sent from cold memory, UC", &c, sent, &none);
	vt_run("ODP: sent apace from cold memory, UC", &c, sent_apace, &none);
	vt_run("ODP: WRITE from cold memory, UC", &c, written, NULL);
	c = vt_conf(IBV_QPT_UD);
	c.buf = SIZE;
	vt_run("ODP: receives, UD", &c, received, &grh);
	vt_run("ODP: sent from cold memory, UD", &c, sent, &grh);
	vt_run("ODP: sent apace from cold memory, UD", &c, sent_apace, &grh);
	return tap_finish();
}
