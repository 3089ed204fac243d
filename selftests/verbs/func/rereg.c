// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/*
 * Registrations on demand that are changed: to other memory, other rights,
 * another PD; what is pinned comes on demand from now on, and the other way
 * round. (What stays pinned is in regs.c.)
 */

#define _GNU_SOURCE
#include <sched.h>
#include <sys/mman.h>
#include "vt.h"

#define SIZE	(16 * 4096UL)
#define OFF	100UL		/* where the region begins in its first page */
#define LEN	(SIZE - OFF)
#define RIGHTS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ)
#define DEMAND	(RIGHTS | IBV_ACCESS_ON_DEMAND)
#define CHANGE(what)	IBV_REREG_MR_CHANGE_##what

static uint8_t *fresh(void)
{
	uint8_t *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p + OFF;
}

/* A WRITE from A to all of a region of B */
static why_t put(struct vt_pair *p, uint8_t *at, const struct ibv_mr *mr,
		 int seed, enum ibv_wc_status status)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, LEN);
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge,
		.num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)at, mr->rkey },
	};

	vt_fill(p->a.buf.data, LEN, seed);
	TRY(vt_post_send(&p->a, &wr));
	return vt_poll_status(p->a.scq, 1, status, "A");
}

/* What is given back comes again if it is on demand; pinned, it is elsewhere. */
static why_t comes_again(struct vt_pair *p, uint8_t *at,
			 const struct ibv_mr *mr, bool on_demand)
{
	CHECK(!madvise(at - OFF, SIZE, MADV_DONTNEED), "madvise: %s",
	      strerror(errno));
	TRY(put(p, at, mr, 77, IBV_WC_SUCCESS));
	if (on_demand)
		CHECK(!memcmp(at, p->a.buf.data, LEN),
		      "the pages don't come on demand");
	else
		CHECK(!at[0] && !at[LEN - 1], "the pages aren't pinned");
	return NULL;
}

static why_t arrives(struct vt_pair *p, uint8_t *at, const struct ibv_mr *mr,
		     int seed)
{
	TRY(put(p, at, mr, seed, IBV_WC_SUCCESS));
	CHECK(!memcmp(at, p->a.buf.data, LEN), "the bytes are not there");
	return NULL;
}

static why_t there_and_back(struct vt_pair *p, const void *arg)
{
	uint8_t *at = fresh();
	struct ibv_mr *mr;
	int err, i;

	(void)arg;
	CHECK(at, "mmap: %s", strerror(errno));
	mr = ibv_reg_mr(p->b.dev->pd, at, LEN, RIGHTS);
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	for (i = 0; i < 3; i++) {
		err = vt_rereg(mr, CHANGE(ACCESS), NULL, 0, NULL, DEMAND);
		CHECK(!err, "pinned to on demand: %s", strerror(err));
		TRY(arrives(p, at, mr, i));
		TRY(comes_again(p, at, mr, true));
		err = vt_rereg(mr, CHANGE(ACCESS), NULL, 0, NULL, RIGHTS);
		CHECK(!err, "on demand to pinned: %s", strerror(err));
		/* what was there before is there now */
		CHECK(!memcmp(at, p->a.buf.data, LEN), "the memory has changed");
		TRY(arrives(p, at, mr, 10 + i));
		TRY(comes_again(p, at, mr, false));
	}
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	munmap(at - OFF, SIZE);
	return NULL;
}

static why_t other_memory(struct vt_pair *p, const void *arg)
{
	uint8_t *one = fresh(), *two = fresh(), *three = fresh();
	struct ibv_mr *mr;
	int err;

	(void)arg;
	CHECK(one && two && three, "mmap: %s", strerror(errno));
	mr = ibv_reg_mr(p->b.dev->pd, one, LEN, DEMAND);
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	TRY(arrives(p, one, mr, 1));
	/* rights that are not named stay: it is on demand still */
	err = vt_rereg(mr, CHANGE(TRANSLATION), two, LEN, NULL, 0);
	CHECK(!err, "on demand to on demand: %s", strerror(err));
	TRY(arrives(p, two, mr, 2));
	TRY(comes_again(p, two, mr, true));
	err = vt_rereg(mr, CHANGE(TRANSLATION) | CHANGE(ACCESS), three, LEN,
		       NULL, RIGHTS);
	CHECK(!err, "on demand to pinned: %s", strerror(err));
	TRY(arrives(p, three, mr, 3));
	TRY(comes_again(p, three, mr, false));
	err = vt_rereg(mr, CHANGE(TRANSLATION) | CHANGE(ACCESS), one, LEN,
		       NULL, DEMAND);
	CHECK(!err, "pinned to on demand: %s", strerror(err));
	TRY(comes_again(p, one, mr, true));
	/* the others are none of its memory */
	TRY(put(p, two, mr, 4, IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	munmap(one - OFF, SIZE);
	munmap(two - OFF, SIZE);
	munmap(three - OFF, SIZE);
	return NULL;
}

static why_t other_rights(struct vt_pair *p, const void *arg)
{
	uint8_t *at = fresh();
	struct ibv_mr *mr;
	int err;

	(void)arg;
	CHECK(at, "mmap: %s", strerror(errno));
	mr = ibv_reg_mr(p->b.dev->pd, at, LEN,
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	err = vt_rereg(mr, CHANGE(ACCESS), NULL, 0, NULL, DEMAND);
	CHECK(!err, "rights given: %s", strerror(err));
	TRY(arrives(p, at, mr, 1));
	TRY(comes_again(p, at, mr, true));
	err = vt_rereg(mr, CHANGE(ACCESS), NULL, 0, NULL,
		       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	CHECK(!err, "rights taken: %s", strerror(err));
	TRY(put(p, at, mr, 2, IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	munmap(at - OFF, SIZE);
	return NULL;
}

static why_t other_pd(struct vt_pair *p, const void *arg)
{
	struct ibv_pd *pd = ibv_alloc_pd(p->b.dev->ctx);
	uint8_t *at = fresh();
	struct ibv_mr *mr;
	int err;

	(void)arg;
	CHECK(pd && at, "ibv_alloc_pd: %s", strerror(errno));
	mr = ibv_reg_mr(pd, at, LEN, DEMAND);
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	err = vt_rereg(mr, CHANGE(PD), NULL, 0, p->b.dev->pd, 0);
	CHECK(!err, "PD: %s", strerror(err));
	TRY(arrives(p, at, mr, 1));
	err = vt_rereg(mr, CHANGE(PD), NULL, 0, pd, 0);
	CHECK(!err, "PD again: %s", strerror(err));
	TRY(put(p, at, mr, 2, IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	CHECK(!ibv_dealloc_pd(pd), "ibv_dealloc_pd: %s", strerror(errno));
	munmap(at - OFF, SIZE);
	return NULL;
}

/* All of a process's memory becomes a part, and a part all of it. */
static why_t implicit(struct vt_pair *p, const void *arg)
{
	struct ibv_mr *mr = ibv_reg_mr(p->b.dev->pd, NULL, SIZE_MAX, DEMAND);
	uint8_t *one = fresh(), *two = fresh();
	int err;

	(void)arg;
	CHECK(mr && one && two, "ibv_reg_mr(implicit): %s", strerror(errno));
	TRY(arrives(p, one, mr, 1));
	err = vt_rereg(mr, CHANGE(ACCESS), NULL, 0, NULL, RIGHTS);
	CHECK(err == EOPNOTSUPP, "pin all there is: %s", strerror(err));
	TRY(arrives(p, two, mr, 2));
	err = vt_rereg(mr, CHANGE(TRANSLATION) | CHANGE(ACCESS), two, LEN,
		       NULL, RIGHTS);
	CHECK(!err, "all to a part: %s", strerror(err));
	TRY(comes_again(p, two, mr, false));
	err = vt_rereg(mr, CHANGE(TRANSLATION) | CHANGE(ACCESS), NULL, SIZE_MAX,
		       NULL, DEMAND);
	CHECK(!err, "a part to all: %s", strerror(err));
	TRY(comes_again(p, two, mr, true));
	TRY(arrives(p, one, mr, 3));
	err = vt_rereg(mr, CHANGE(TRANSLATION), one, LEN, NULL, 0);
	CHECK(!err, "all to a part on demand: %s", strerror(err));
	TRY(comes_again(p, one, mr, true));
	TRY(put(p, two, mr, 4, IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	munmap(one - OFF, SIZE);
	munmap(two - OFF, SIZE);
	return NULL;
}

/* What fails leaves all as it was. */
static why_t failed(struct vt_pair *p, const void *arg)
{
	uint8_t *at = fresh(), *gone = fresh();
	struct ibv_mr *mr;
	int err;

	(void)arg;
	CHECK(at && gone, "mmap: %s", strerror(errno));
	munmap(gone - OFF, SIZE);
	mr = ibv_reg_mr(p->b.dev->pd, at, LEN, DEMAND);
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	err = vt_rereg(mr, CHANGE(TRANSLATION) | CHANGE(ACCESS), gone, LEN,
		       NULL, RIGHTS);
	CHECK(err == EFAULT || err == ENOMEM, "memory that isn't there: %s",
	      strerror(err));
	err = vt_rereg(mr, CHANGE(TRANSLATION), (void *)-4096UL, 8192, NULL, 0);
	CHECK(err == EINVAL || err == EOVERFLOW, "beyond all memory: %s",
	      strerror(err));
	err = vt_rereg(mr, CHANGE(ACCESS), NULL, 0, NULL,
		       IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ON_DEMAND);
	CHECK(err == EINVAL, "to be written from afar, but not here: %s", strerror(err));
	TRY(comes_again(p, at, mr, true));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	munmap(at - OFF, SIZE);
	return NULL;
}

/* On one CPU, with nobody else's turn until we sleep */
static why_t alone(bool on)
{
	struct sched_param prio = { .sched_priority = on ? 50 : 0 };
	cpu_set_t cpus;
	int i;

	CPU_ZERO(&cpus);
	for (i = on ? sched_getcpu() : 0; i < CPU_SETSIZE; i++) {
		CPU_SET(i, &cpus);
		if (on)
			break;
	}
	CHECK(!sched_setaffinity(0, sizeof(cpus), &cpus) &&
	      !sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &prio),
	      "one CPU: %s", strerror(errno));
	return NULL;
}

/*
 * A region ends while its pages are brought, by this CPU: that is waited for
 * asleep, or they would never come.
 */
static why_t ended(struct vt_pair *p, const void *arg)
{
	uint64_t began, shortest = UINT64_MAX;
	int i;

	(void)arg;
	for (i = 0; i < 10; i++) {
		uint8_t *at = fresh();
		struct ibv_mr *mr = ibv_reg_mr(p->a.dev->pd, at, LEN, DEMAND);
		struct ibv_sge sge = { (uintptr_t)at, LEN, mr ? mr->lkey : 0 };
		struct ibv_send_wr wr = {
			.wr_id = i, .opcode = IBV_WR_RDMA_WRITE,
			.sg_list = &sge, .num_sge = 1,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { (uintptr_t)p->b.buf.data,
				     p->b.buf.mr->rkey },
		};
		struct ibv_wc wc;
		why_t why;
		int err;

		CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
		TRY(alone(true));
		why = vt_post_send(&p->a, &wr);
		began = vt_now_us();
		err = ibv_dereg_mr(mr);
		began = vt_now_us() - began;
		TRY(alone(false));
		TRY(why);
		CHECK(!err, "ibv_dereg_mr: %s", strerror(err));
		shortest = MIN(began, shortest);
		/* it was in time, or it wasn't */
		TRY(vt_poll(p->a.scq, &wc, VT_LONG));
		munmap(at - OFF, SIZE);
		if (wc.status != IBV_WC_SUCCESS)
			break;
	}
	/* a busy machine may stand still now and then, but not each time */
	tap_note("%d times, at least %llu us", i, (unsigned long long)shortest);
	CHECK(shortest < 300000, "ibv_dereg_mr takes %llu us",
	      (unsigned long long)shortest);
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct vt_test tests[] = {
		{ "MR changed: pinned, on demand, pinned", there_and_back, NULL },
		{ "MR on demand changed: memory", other_memory, NULL },
		{ "MR on demand changed: rights", other_rights, NULL },
		{ "MR on demand changed: PD", other_pd, NULL },
		{ "MR on demand changed: implicit", implicit, NULL },
		{ "MR on demand changed: in vain", failed, NULL },
		{ "MR on demand ends while its pages come", ended, NULL },
	};

	return vt_main(argc, argv, SIZE, tests, ARRAY_SIZE(tests));
}
