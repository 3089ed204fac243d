// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/*
 * Registrations that are not plain: at another address, from zero, changed
 * afterwards, relaxed, and large.
 */

#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "vt.h"

#define SIZE	8192
#define ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ)

/* A WRITE of 100 bytes from A to an address of B */
static why_t write_to(struct vt_pair *p, uint64_t addr, uint32_t rkey,
		      enum ibv_wc_status status)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, 100);
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge,
		.num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	};

	TRY(vt_post_send(&p->a, &wr));
	return vt_poll_status(p->a.scq, 1, status, "A");
}

static why_t arrived(struct vt_pair *p, const uint8_t *at)
{
	CHECK(!memcmp(at, p->a.buf.data, 100), "the bytes are not there");
	return NULL;
}

static why_t at_iova(struct vt_pair *p, const void *arg)
{
	uint64_t iova = 0xabc000000000ULL + ((uintptr_t)p->b.buf.data & 4095);
	struct ibv_mr *mr = ibv_reg_mr_iova(p->b.dev->pd, p->b.buf.data, SIZE,
					    iova, ALL);

	(void)arg;
	CHECK(mr, "ibv_reg_mr_iova: %s", strerror(errno));
	vt_fill(p->a.buf.data, 100, 1);
	TRY(write_to(p, iova + SIZE - 100, mr->rkey, IBV_WC_SUCCESS));
	TRY(arrived(p, p->b.buf.data + SIZE - 100));
	TRY(write_to(p, (uintptr_t)p->b.buf.data, mr->rkey,
		     IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	return NULL;
}

static why_t from_zero(struct vt_pair *p, const void *arg)
{
	struct ibv_mr *mr = ibv_reg_mr(p->b.dev->pd, p->b.buf.data + 24,
				       SIZE - 24, ALL | IBV_ACCESS_ZERO_BASED);

	(void)arg;
	CHECK(mr, "ibv_reg_mr(ZERO_BASED): %s", strerror(errno));
	vt_fill(p->a.buf.data, 100, 2);
	TRY(write_to(p, 10, mr->rkey, IBV_WC_SUCCESS));
	TRY(arrived(p, p->b.buf.data + 34));
	TRY(write_to(p, SIZE - 24 - 99, mr->rkey, IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	return NULL;
}

static why_t relaxed(struct vt_pair *p, const void *arg)
{
	struct ibv_mr *mr = ibv_reg_mr(p->b.dev->pd, p->b.buf.data, SIZE,
				       ALL | IBV_ACCESS_RELAXED_ORDERING);

	(void)arg;
	CHECK(mr, "ibv_reg_mr(RELAXED_ORDERING): %s", strerror(errno));
	vt_fill(p->a.buf.data, 100, 3);
	TRY(write_to(p, (uintptr_t)p->b.buf.data, mr->rkey, IBV_WC_SUCCESS));
	TRY(arrived(p, p->b.buf.data));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	return NULL;
}

/* Rights given and taken back; memory pinned to be read becomes writable. */
static why_t new_access(struct vt_pair *p, const void *arg)
{
	uint64_t addr = (uintptr_t)p->b.buf.data;
	struct ibv_mr *mr = ibv_reg_mr(p->b.dev->pd, p->b.buf.data, SIZE,
				       IBV_ACCESS_REMOTE_READ);
	int err;

	(void)arg;
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	err = vt_rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, NULL, ALL);
	CHECK(!err, "access: %s", strerror(err));
	vt_fill(p->a.buf.data, 100, 4);
	TRY(write_to(p, addr, mr->rkey, IBV_WC_SUCCESS));
	TRY(arrived(p, p->b.buf.data));
	err = vt_rereg(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, 0, NULL,
		    IBV_ACCESS_REMOTE_READ);
	CHECK(!err, "access again: %s", strerror(err));
	TRY(write_to(p, addr, mr->rkey, IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	return NULL;
}

static why_t new_memory(struct vt_pair *p, const void *arg)
{
	struct ibv_mr *mr = ibv_reg_mr(p->b.dev->pd, p->b.buf.data, 4096, ALL);
	uint8_t *more = p->b.buf.data + 4096;
	int err;

	(void)arg;
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	err = vt_rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, (void *)64, 4096,
		    NULL, 0);
	CHECK(err == EFAULT || err == ENOMEM, "memory that isn't there: %s",
	      err ? strerror(err) : "succeeds");
	vt_fill(p->a.buf.data, 100, 5);
	TRY(write_to(p, (uintptr_t)p->b.buf.data, mr->rkey, IBV_WC_SUCCESS));
	err = vt_rereg(mr, IBV_REREG_MR_CHANGE_TRANSLATION, more, 4096, NULL, 0);
	CHECK(!err, "translation: %s", strerror(err));
	TRY(write_to(p, (uintptr_t)more, mr->rkey, IBV_WC_SUCCESS));
	TRY(arrived(p, more));
	TRY(write_to(p, (uintptr_t)p->b.buf.data, mr->rkey,
		     IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	return NULL;
}

static why_t new_pd(struct vt_pair *p, const void *arg)
{
	uint64_t addr = (uintptr_t)p->b.buf.data;
	struct ibv_pd *pd = ibv_alloc_pd(p->b.dev->ctx);
	struct ibv_mr *mr;
	int err;

	(void)arg;
	CHECK(pd, "ibv_alloc_pd: %s", strerror(errno));
	mr = ibv_reg_mr(pd, p->b.buf.data, SIZE, ALL);
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	err = vt_rereg(mr, IBV_REREG_MR_CHANGE_PD, NULL, 0, p->b.dev->pd, 0);
	CHECK(!err, "PD: %s", strerror(err));
	TRY(write_to(p, addr, mr->rkey, IBV_WC_SUCCESS));
	err = vt_rereg(mr, IBV_REREG_MR_CHANGE_PD, NULL, 0, pd, 0);
	CHECK(!err, "PD again: %s", strerror(err));
	TRY(write_to(p, addr, mr->rkey, IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	CHECK(!ibv_dealloc_pd(pd), "ibv_dealloc_pd: %s", strerror(errno));
	return NULL;
}

/* One file of 64 MiB, again and again, until it is more than 1 GiB. */
static why_t large(struct vt_pair *p, const void *arg)
{
	const size_t part = 64 << 20, len = 20 * part;
	int fd = memfd_create("large", 0);
	struct ibv_mr *mr;
	uint8_t *map;
	size_t off;

	(void)arg;
	CHECK(fd >= 0 && !ftruncate(fd, part), "memfd: %s", strerror(errno));
	map = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(map != MAP_FAILED, "mmap: %s", strerror(errno));
	for (off = 0; off < len; off += part)
		CHECK(mmap(map + off, part, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED,
		      "mmap: %s", strerror(errno));
	mr = ibv_reg_mr(p->b.dev->pd, map, len, ALL);
	CHECK(mr, "ibv_reg_mr of %zu MiB: %s", len >> 20, strerror(errno));
	vt_fill(p->a.buf.data, 100, 6);
	TRY(write_to(p, (uintptr_t)map + len - 100, mr->rkey, IBV_WC_SUCCESS));
	TRY(arrived(p, map + part - 100));
	TRY(write_to(p, (uintptr_t)map + 17 * part - 50, mr->rkey,
		     IBV_WC_SUCCESS));
	TRY(arrived(p, map + 17 * part - 50));
	TRY(write_to(p, (uintptr_t)map + len - 99, mr->rkey,
		     IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	munmap(map, len);
	close(fd);
	return NULL;
}

/* Pages of 2 MiB, from one into the next */
static why_t huge(struct vt_pair *p, const void *arg)
{
	const size_t page = 2 << 20, len = 4 * page;
	struct ibv_mr *mr;
	uint8_t *map;
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", "w");

	(void)arg;
	CHECK(f && fprintf(f, "8\n") > 0 && !fclose(f), "nr_hugepages: %s",
	      strerror(errno));
	map = mmap(NULL, len, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	CHECK(map != MAP_FAILED, "mmap of huge pages: %s", strerror(errno));
	mr = ibv_reg_mr(p->b.dev->pd, map, len, ALL);
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	vt_fill(p->a.buf.data, 100, 7);
	TRY(write_to(p, (uintptr_t)map + page - 50, mr->rkey, IBV_WC_SUCCESS));
	TRY(arrived(p, map + page - 50));
	TRY(write_to(p, (uintptr_t)map + len - 100, mr->rkey, IBV_WC_SUCCESS));
	TRY(arrived(p, map + len - 100));
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	munmap(map, len);
	return NULL;
}

/* KiB that the process has pinned */
static long pinned(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmPin: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* What is registered counts as pinned, once for each registration. */
static why_t counted(struct vt_pair *p, const void *arg)
{
	uint8_t *map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long before = pinned(), now;
	struct ibv_mr *mr, *more;
	int err;

	(void)arg;
	CHECK(map != MAP_FAILED && before > 0, "VmPin is %ld", before);
	mr = ibv_reg_mr(p->b.dev->pd, map, 1 << 20, ALL);
	more = ibv_reg_mr(p->b.dev->pd, map, 1 << 19, ALL);
	CHECK(mr && more, "ibv_reg_mr: %s", strerror(errno));
	now = pinned();
	CHECK(now == before + 1024 + 512, "%ld KiB pinned for 1536",
	      now - before);
	err = vt_rereg(more, IBV_REREG_MR_CHANGE_TRANSLATION, map, 1 << 18, NULL,
		    0);
	CHECK(!err, "translation: %s", strerror(err));
	now = pinned();
	CHECK(now == before + 1024 + 256, "%ld KiB pinned for 1280 after a change",
	      now - before);
	CHECK(!ibv_dereg_mr(mr) && !ibv_dereg_mr(more), "ibv_dereg_mr: %s",
	      strerror(errno));
	now = pinned();
	CHECK(now == before, "%ld KiB remain pinned", now - before);
	munmap(map, 1 << 20);
	return NULL;
}

/* An ordinary user pins no more than he may lock. */
static why_t limited(struct vt_pair *p, const void *arg)
{
	struct rlimit old, few;
	struct ibv_mr *mr, *fits;
	uint8_t *map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	(void)arg;
	CHECK(map != MAP_FAILED && !getrlimit(RLIMIT_MEMLOCK, &old),
	      "mmap: %s", strerror(errno));
	few = old;
	few.rlim_cur = pinned() * 1024 + (1 << 19);
	CHECK(!setrlimit(RLIMIT_MEMLOCK, &few) && !seteuid(65534),
	      "an ordinary user: %s", strerror(errno));
	mr = ibv_reg_mr(p->b.dev->pd, map, 1 << 20, ALL);
	err = errno;
	fits = ibv_reg_mr(p->b.dev->pd, map, 1 << 18, ALL);
	if (seteuid(0) || setrlimit(RLIMIT_MEMLOCK, &old))
		return because("root again: %s", strerror(errno));
	CHECK(!mr && err == ENOMEM, "twice what may be locked: %s",
	      mr ? "registered" : strerror(err));
	CHECK(fits, "half of what may be locked: %s", strerror(errno));
	CHECK(!ibv_dereg_mr(fits), "ibv_dereg_mr: %s", strerror(errno));
	munmap(map, 1 << 20);
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct vt_test tests[] = {
		{ "MR at another address", at_iova, NULL },
		{ "MR from zero", from_zero, NULL },
		{ "MR with relaxed ordering", relaxed, NULL },
		{ "MR changed: rights", new_access, NULL },
		{ "MR changed: memory", new_memory, NULL },
		{ "MR changed: PD", new_pd, NULL },
		{ "MR of more than 1 GiB", large, NULL },
		{ "MR of huge pages", huge, NULL },
		{ "MR counts as pinned memory", counted, NULL },
		{ "MR beyond RLIMIT_MEMLOCK", limited, NULL },
	};

	return vt_main(argc, argv, SIZE, tests, ARRAY_SIZE(tests));
}
