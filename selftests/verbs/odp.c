// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory whose pages come on demand: never touched before, taken away, moved,
 * copied on write, protected, gone. (The other programs do their work on such
 * memory with --on-demand.)
 */

#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vt.h"

#define SIZE	(64 * 4096UL)
#define ALL	(VT_ALL_ACCESS | IBV_ACCESS_ON_DEMAND)

struct mem {
	uint8_t *p;
	struct ibv_mr *mr;
};

static vt_why mem_open(struct mem *m, struct ibv_pd *pd, int access)
{
	m->p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(m->p != MAP_FAILED, "mmap: %s", strerror(errno));
	m->mr = ibv_reg_mr(pd, m->p, SIZE, access);
	CHECK(m->mr, "ibv_reg_mr(ON_DEMAND): %s", strerror(errno));
	return NULL;
}

static vt_why mem_close(struct mem *m)
{
	CHECK(!ibv_dereg_mr(m->mr), "ibv_dereg_mr: %s", strerror(errno));
	munmap(m->p, SIZE);
	return NULL;
}

static vt_why rdma(struct vt_pair *p, enum ibv_wr_opcode op, void *mine,
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

static vt_why put(struct vt_pair *p, void *at, uint32_t rkey, uint32_t len,
		  enum ibv_wc_status status)
{
	return rdma(p, IBV_WR_RDMA_WRITE, p->a.buf.data, p->a.buf.mr->lkey, at,
		    rkey, len, status);
}

static vt_why is(struct vt_pair *p, const uint8_t *at, uint32_t len)
{
	CHECK(!memcmp(at, p->a.buf.data, len), "the bytes are not there");
	return NULL;
}

/* Nothing was ever there; each byte of a page is somebody's first. */
static vt_why untouched(struct vt_pair *p, const void *arg)
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
static vt_why both_ends(struct vt_pair *p, const void *arg)
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
static vt_why given_back(struct vt_pair *p, const void *arg)
{
	struct mem m;

	(void)arg;
	vt_fill(p->a.buf.data, SIZE, 3);
	TRY(mem_open(&m, p->b.dev->pd, ALL));
	TRY(put(p, m.p, m.mr->rkey, SIZE, IBV_WC_SUCCESS));
	TRY(is(p, m.p, SIZE));
	CHECK(!madvise(m.p, SIZE / 2, MADV_DONTNEED), "madvise: %s",
	      strerror(errno));
	TRY(put(p, m.p + 4096, m.mr->rkey, 4096, IBV_WC_SUCCESS));
	CHECK(!m.p[0] && !m.p[4095] && !m.p[8192], "what was given back is there");
	TRY(is(p, m.p + 4096, 4096));
	return mem_close(&m);
}

/* The child's copy is not written; the parent's is. */
static vt_why forked(struct vt_pair *p, const void *arg)
{
	struct mem m;
	int status = 0, pipes[2];
	pid_t child;
	char go = 1;

	(void)arg;
	vt_fill(p->a.buf.data, SIZE, 4);
	TRY(mem_open(&m, p->b.dev->pd, ALL));
	TRY(put(p, m.p, m.mr->rkey, SIZE, IBV_WC_SUCCESS));
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
static vt_why unmapped(struct vt_pair *p, const void *arg)
{
	struct mem m;

	(void)arg;
	TRY(mem_open(&m, p->b.dev->pd, ALL));
	TRY(put(p, m.p, m.mr->rkey, SIZE, IBV_WC_SUCCESS));
	munmap(m.p + SIZE / 2, SIZE / 2);
	TRY(put(p, m.p, m.mr->rkey, SIZE / 2, IBV_WC_SUCCESS));
	TRY(put(p, m.p, m.mr->rkey, SIZE / 2 + 1, IBV_WC_REM_ACCESS_ERR));
	return mem_close(&m);
}

static vt_why protected(struct vt_pair *p, const void *arg)
{
	struct mem m;

	(void)arg;
	TRY(mem_open(&m, p->b.dev->pd, ALL));
	TRY(put(p, m.p, m.mr->rkey, SIZE, IBV_WC_SUCCESS));
	CHECK(!mprotect(m.p, SIZE, PROT_READ), "mprotect: %s", strerror(errno));
	TRY(put(p, m.p, m.mr->rkey, 1, IBV_WC_REM_ACCESS_ERR));
	return mem_close(&m);
}

static vt_why no_source(struct vt_pair *p, const void *arg)
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
static vt_why moved(struct vt_pair *p, const void *arg)
{
	struct mem m;
	uint8_t *to;

	(void)arg;
	vt_fill(p->a.buf.data, SIZE, 6);
	TRY(mem_open(&m, p->b.dev->pd, ALL));
	TRY(put(p, m.p, m.mr->rkey, SIZE, IBV_WC_SUCCESS));
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
static vt_why implicit(struct vt_pair *p, const void *arg)
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

static vt_why capable(struct vt_pair *p, const void *arg)
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
	CHECK(attr.odp_caps.per_transport_caps.rc_odp_caps == rc,
	      "those of RC are %x",
	      attr.odp_caps.per_transport_caps.rc_odp_caps);
	return NULL;
}

int main(int argc, char **argv)
{
	struct vt_conf c;

	vt_start(argc, argv);
	c = vt_conf(IBV_QPT_RC);
	c.buf = SIZE;
	vt_run("ODP: capabilities", &c, capable, NULL);
	vt_run("ODP: memory never touched", &c, untouched, NULL);
	vt_run("ODP: READ, both ends on demand", &c, both_ends, NULL);
	vt_run("ODP: memory given back", &c, given_back, NULL);
	vt_run("ODP: fork, then write", &c, forked, NULL);
	vt_run("ODP: memory moved", &c, moved, NULL);
	vt_run("ODP: memory unmapped", &c, unmapped, NULL);
	vt_run("ODP: memory write-protected", &c, protected, NULL);
	vt_run("ODP: no memory to send from", &c, no_source, NULL);
	vt_run("ODP: implicit", &c, implicit, NULL);
	return vt_finish();
}
