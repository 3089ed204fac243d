// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_reg_mr(3) with its relatives, ibv_rereg_mr(3), ibv_advise_mr(3). What a
 * registration allows is seen by the peer's use of it.
 */

#define _GNU_SOURCE
#include <sys/mman.h>
#include "conform.h"

#define ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* Registering */

static why_t reg(struct cf *t, void *addr, size_t len, int access)
{
	t->mr = ibv_reg_mr(t->dev->pd, addr, len, access);
	TRY(cf_got(t, t->mr));
	if (!t->mr)
		return NULL;
	CHECK(t->mr->addr == addr && t->mr->length == len &&
	      t->mr->pd == t->dev->pd, "the MR says something else");
	return NULL;
}

static why_t with_access(struct cf *t)
{
	static char mem[3 * 4096];

	return reg(t, mem + 100, 5000, t->row->arg);
}

static why_t nowhere(struct cf *t)
{
	return reg(t, (void *)64, 64, IBV_ACCESS_LOCAL_WRITE);
}

static why_t wraps(struct cf *t)
{
	return reg(t, (void *)-4096UL, 8192, 0);
}

static why_t no_end(struct cf *t)
{
	static char mem[64];

	return reg(t, mem, 1ULL << 62, 0);
}

/* A page that the process may only read */
static why_t readonly(struct cf *t)
{
	void *page = mmap(NULL, 4096, PROT_READ,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	why_t why;

	CHECK(page != MAP_FAILED, "mmap: %s", strerror(errno));
	why = reg(t, page, 4096, t->row->arg);
	if (t->mr && !ibv_dereg_mr(t->mr))
		t->mr = NULL;
	munmap(page, 4096);
	return why;
}

/* The second of two pages is gone. */
static why_t hole(struct cf *t)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	why_t why;

	CHECK(page != MAP_FAILED, "mmap: %s", strerror(errno));
	munmap(page + 4096, 4096);
	why = reg(t, page, 8192, IBV_ACCESS_LOCAL_WRITE);
	munmap(page, 4096);
	return why;
}

#define HUGE_PAGE	(2UL << 20)

static why_t huge(struct cf *t)
{
	void *mem;
	why_t why;

	TRY(vt_run_cmd("echo 4 >/proc/sys/vm/nr_hugepages"));
	mem = mmap(NULL, HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		   MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	CHECK(mem != MAP_FAILED, "no huge page: %s", strerror(errno));
	why = reg(t, mem, HUGE_PAGE, IBV_ACCESS_LOCAL_WRITE |
		  IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB);
	if (t->mr && ibv_dereg_mr(t->mr))
		why = "ibv_dereg_mr";
	t->mr = NULL;
	munmap(mem, HUGE_PAGE);
	return why ? why : vt_run_cmd("echo 0 >/proc/sys/vm/nr_hugepages");
}

/* Using: the MR is B's, the request A's. */

struct use {
	enum ibv_wr_opcode opcode;
	uint64_t addr;
	uint32_t len;
};

static why_t use(struct cf *t, const struct use *u)
{
	struct ibv_send_wr wr = cf_wr(t, u->opcode, u->len);

	if (u->opcode >= IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.wr.atomic.remote_addr = u->addr;
		wr.wr.atomic.rkey = t->mr->rkey;
	} else {
		wr.wr.rdma.remote_addr = u->addr;
		wr.wr.rdma.rkey = t->mr->rkey;
	}
	return cf_post_send(t, &wr);
}

/* row->arg: rights, and the opcode that tries them */
#define TRIES(access, op)	((long)(access) | (long)IBV_WR_##op << 32)

static why_t rights(struct cf *t)
{
	struct vt_buf *b = &t->p->b.buf;
	struct use u = {
		.opcode = t->row->arg >> 32, .addr = (uintptr_t)b->data,
		.len = CF_LEN,
	};

	if (u.opcode >= IBV_WR_ATOMIC_CMP_AND_SWP)
		u.len = 8;
	cf_fill(t);
	t->mr = ibv_reg_mr(t->p->b.dev->pd, b->data, b->len,
			   (int)t->row->arg);
	CHECK(t->mr, "ibv_reg_mr: %s", strerror(errno));
	return use(t, &u);
}

static why_t implicit(struct cf *t)
{
	struct vt_buf *b = &t->p->b.buf;
	struct use u = { IBV_WR_RDMA_WRITE, (uintptr_t)b->data, CF_LEN };

	cf_fill(t);
	t->mr = ibv_reg_mr(t->p->b.dev->pd, NULL, SIZE_MAX,
			   ALL | IBV_ACCESS_ON_DEMAND);
	CHECK(t->mr, "ibv_reg_mr: %s", strerror(errno));
	return use(t, &u);
}

static why_t at_iova(struct cf *t, uint64_t iova, size_t off, uint64_t addr)
{
	struct vt_buf *b = &t->p->b.buf;
	struct use u = { IBV_WR_RDMA_WRITE, addr, CF_LEN };

	cf_fill(t);
	t->mr = ibv_reg_mr_iova(t->p->b.dev->pd, b->data + off, b->len - off,
				iova, ALL);
	TRY(cf_got(t, t->mr));
	return t->mr ? use(t, &u) : NULL;
}

#define FAR	0xabc000000000ULL

static why_t iova(struct cf *t)
{
	uint64_t at = FAR + ((uintptr_t)t->p->b.buf.data & 4095);

	return at_iova(t, at, 0, at);
}

static why_t iova_by_address(struct cf *t)
{
	uint64_t at = FAR + ((uintptr_t)t->p->b.buf.data & 4095);

	return at_iova(t, at, 0, (uintptr_t)t->p->b.buf.data);
}

static why_t iova_odd(struct cf *t)
{
	uint64_t at = FAR + (((uintptr_t)t->p->b.buf.data + 8) & 4095);

	return at_iova(t, at, 0, at);
}

static why_t optional(struct cf *t)
{
	static char mem[4096] __attribute__((aligned(4096)));

	t->mr = ibv_reg_mr_iova2(t->dev->pd, mem, sizeof(mem), FAR,
				 IBV_ACCESS_LOCAL_WRITE |
				 IBV_ACCESS_OPTIONAL_FIRST);
	return cf_got(t, t->mr);
}

/* The buffer of 8192 bytes begins with a page. */
static why_t iova_zero(struct cf *t)
{
	return at_iova(t, 0, 0, 0);
}

static why_t zero_based(struct cf *t)
{
	struct vt_buf *b = &t->p->b.buf;
	struct use u = { IBV_WR_RDMA_WRITE, t->row->arg, CF_LEN };

	cf_fill(t);
	t->mr = ibv_reg_mr(t->p->b.dev->pd, b->data + 24, b->len - 24,
			   ALL | IBV_ACCESS_ZERO_BASED);
	CHECK(t->mr, "ibv_reg_mr: %s", strerror(errno));
	memcpy(b->shadow + 24 + t->row->arg, t->p->a.buf.data,
	       t->row->wc == CF_IS(IBV_WC_SUCCESS) ? CF_LEN : 0);
	return use(t, &u);
}

/* Local keys count from zero as well (ibv_post_send(3), struct ibv_sge). */
static why_t zero_based_local(struct cf *t)
{
	struct vt_buf *b = &t->p->a.buf;
	struct ibv_send_wr wr;

	cf_fill(t);
	TRY(cf_recv(t));
	t->mr = ibv_reg_mr(t->dev->pd, b->data, b->len,
			   IBV_ACCESS_ZERO_BASED);
	CHECK(t->mr, "ibv_reg_mr: %s", strerror(errno));
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	t->sge[0].addr = 0;
	t->sge[0].lkey = t->mr->lkey;
	return cf_post_send(t, &wr);
}

/* Local reading needs no right. */
static why_t local_read(struct cf *t)
{
	struct vt_buf *b = &t->p->a.buf;
	struct ibv_send_wr wr;

	cf_fill(t);
	TRY(cf_recv(t));
	t->mr = ibv_reg_mr(t->dev->pd, b->data, b->len, 0);
	CHECK(t->mr, "ibv_reg_mr: %s", strerror(errno));
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	t->sge[0].lkey = t->mr->lkey;
	return cf_post_send(t, &wr);
}

/* Two registrations of one buffer with different rights are two. */
static why_t twice(struct cf *t)
{
	struct vt_buf *b = &t->p->b.buf;
	struct use u = { IBV_WR_RDMA_WRITE, (uintptr_t)b->data, CF_LEN };

	cf_fill(t);
	t->mr = ibv_reg_mr(t->p->b.dev->pd, b->data, b->len,
			   IBV_ACCESS_REMOTE_READ);
	CHECK(t->mr, "ibv_reg_mr: %s", strerror(errno));
	CHECK(t->mr->rkey != b->mr->rkey, "one key for both");
	return use(t, &u);
}

/* Deregistering */

static why_t dereg_bound(struct cf *t)
{
	TRY(cf_bind(t, &t->p->a, CF_LEN, IBV_ACCESS_REMOTE_READ));
	t->err = ibv_dereg_mr(t->p->a.buf.mr);
	CHECK(t->err, "an MR with a window bound was deregistered");
	return NULL;
}

static why_t pd_of_mr(struct cf *t)
{
	static char mem[64];
	struct ibv_mr *mr;

	t->pd = ibv_alloc_pd(t->dev->ctx);
	CHECK(t->pd, "ibv_alloc_pd: %s", strerror(errno));
	mr = ibv_reg_mr(t->pd, mem, sizeof(mem), 0);
	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	t->err = ibv_dealloc_pd(t->pd);
	if (!t->err)
		t->pd = NULL;
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr");
	return NULL;
}

/* Re-registering: row->arg is flags, and access from bit 8 on. */
static why_t rereg(struct cf *t)
{
	static char mem[8192];
	int flags = t->row->arg & 255, access = t->row->arg >> 8;
	bool moves = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
	int ret;

	t->mr = ibv_reg_mr(t->dev->pd, mem, 64, 0);
	CHECK(t->mr, "ibv_reg_mr: %s", strerror(errno));
	errno = 0;
	ret = ibv_rereg_mr(t->mr, flags, t->dev->pd, moves ? mem + 4096 : NULL,
			   moves ? 64 : 0, access);
	CHECK(!ret || ret == (t->row->err == EOPNOTSUPP ?
			      IBV_REREG_MR_ERR_CMD : IBV_REREG_MR_ERR_INPUT),
	      "ibv_rereg_mr: %d", ret);
	t->err = ret ? errno : 0;
	return NULL;
}

static why_t rereg_nowhere(struct cf *t)
{
	static char mem[64];
	int ret;

	t->mr = ibv_reg_mr(t->dev->pd, mem, 64, 0);
	CHECK(t->mr, "ibv_reg_mr: %s", strerror(errno));
	errno = 0;
	ret = ibv_rereg_mr(t->mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, NULL,
			   0, 0);
	CHECK(ret == IBV_REREG_MR_ERR_INPUT, "ibv_rereg_mr: %d", ret);
	t->err = errno;
	return NULL;
}

/* The rest, which the stock provider lacks */

static why_t dmabuf(struct cf *t)
{
	t->mr = ibv_reg_dmabuf_mr(t->dev->pd, 0, 4096, 0, -1,
				  IBV_ACCESS_LOCAL_WRITE);
	return cf_got(t, t->mr);
}

static why_t advise(struct cf *t)
{
	static char mem[64];
	struct ibv_sge sge = { .addr = (uintptr_t)mem, .length = 64 };

	t->mr = ibv_reg_mr(t->dev->pd, mem, 64, IBV_ACCESS_LOCAL_WRITE);
	CHECK(t->mr, "ibv_reg_mr: %s", strerror(errno));
	sge.lkey = t->mr->lkey;
	t->err = ibv_advise_mr(t->dev->pd, t->row->arg,
			       IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
	return NULL;
}

#define A(x)	IBV_ACCESS_##x
#define LW	A(LOCAL_WRITE)
#define REG(name_, access, want)					\
	{ "ibv_reg_mr", "the memory protection attributes", name_,	\
	  with_access, access, CF_DEVICE, .err = want }
#define LET(name_, access, op)						\
	{ "ibv_reg_mr", "the memory protection attributes", name_, rights, \
	  TRIES(access, op), .wc = CF_IS(IBV_WC_SUCCESS) }
#define DENY(name_, access, op)						\
	{ "ibv_reg_mr", "the memory protection attributes", name_, rights, \
	  TRIES(access, op), .wc = CF_IS(IBV_WC_REM_ACCESS_ERR),	\
	  .state = CF_IS(IBV_QPS_ERR), .after = cf_sent }
#define ODP "create an on-demand paging MR"

static const struct cf_row rows[] = {
	REG("no access flags", 0, 0), REG("LOCAL_WRITE", LW, 0),
	REG("REMOTE_READ", A(REMOTE_READ), 0),
	REG("REMOTE_WRITE with LOCAL_WRITE", LW | A(REMOTE_WRITE), 0),
	REG("REMOTE_ATOMIC with LOCAL_WRITE", LW | A(REMOTE_ATOMIC), 0),
	REG("MW_BIND", A(MW_BIND), 0), REG("ZERO_BASED", A(ZERO_BASED), 0),
	REG("RELAXED_ORDERING", LW | A(RELAXED_ORDERING), 0),
	{ "ibv_reg_mr", "REMOTE_WRITE needs LOCAL_WRITE",
	  "REMOTE_WRITE without LOCAL_WRITE", with_access, A(REMOTE_WRITE),
	  CF_DEVICE, .err = EINVAL },
	{ "ibv_reg_mr", "REMOTE_ATOMIC needs LOCAL_WRITE",
	  "REMOTE_ATOMIC without LOCAL_WRITE", with_access, A(REMOTE_ATOMIC),
	  CF_DEVICE, .err = EINVAL },
	REG("a bit that is no flag", 1 << 12, EINVAL),
	{ "ibv_reg_mr", "IBTA A19: only what outlives a loss of power",
	  "to be flushed to persistent memory", with_access, 1 << 9, CF_DEVICE,
	  .err = EOPNOTSUPP, .or_err = EINVAL },
	{ "ibv_reg_mr", ODP, "ON_DEMAND", with_access, LW | A(ON_DEMAND),
	  CF_DEVICE, .err = 0 },
	{ "ibv_reg_mr", "huge pages are guaranteed; only with ON_DEMAND",
	  "HUGETLB with ON_DEMAND", huge, .stage = CF_DEVICE },
	{ "ibv_reg_mr", "addr 0 and length SIZE_MAX: the whole address space",
	  "implicit ON_DEMAND", implicit, .wc = CF_IS(IBV_WC_SUCCESS),
	  .after = cf_arrived },
	{ "ibv_reg_mr", "NULL if the request fails", "memory that isn't there",
	  nowhere, .stage = CF_DEVICE, .err = EFAULT, .or_err = ENOMEM },
	{ "ibv_reg_mr", "NULL if the request fails", "a hole in the middle",
	  hole, .stage = CF_DEVICE, .err = EFAULT, .or_err = ENOMEM },
	{ "ibv_reg_mr", "NULL if the request fails",
	  "around the end of the address space", wraps, .stage = CF_DEVICE,
	  .err = EINVAL },
	{ "ibv_reg_mr", "NULL if the request fails", "2^62 bytes", no_end,
	  .stage = CF_DEVICE, .err = ENOMEM, .or_err = EINVAL },
	{ "ibv_reg_mr", "local read access is always enabled",
	  "read-only page", readonly, 0, CF_DEVICE, .err = 0 },
	{ "ibv_reg_mr", "LOCAL_WRITE: enable local write access",
	  "read-only page with LOCAL_WRITE", readonly, LW, CF_DEVICE,
	  .err = EFAULT, .or_err = EACCES },
	{ "ibv_reg_mr", "local read access is always enabled",
	  "SEND from an MR without flags", local_read,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = CF_IS(IBV_WC_SUCCESS),
	  .after = cf_arrived },
	LET("REMOTE_WRITE lets write", LW | A(REMOTE_WRITE), RDMA_WRITE),
	LET("REMOTE_READ lets read", A(REMOTE_READ), RDMA_READ),
	LET("REMOTE_ATOMIC lets swap", LW | A(REMOTE_ATOMIC),
	    ATOMIC_CMP_AND_SWP),
	LET("REMOTE_ATOMIC lets add", LW | A(REMOTE_ATOMIC),
	    ATOMIC_FETCH_AND_ADD),
	LET("ON_DEMAND and REMOTE_WRITE let write", LW | A(REMOTE_WRITE) |
	    A(ON_DEMAND), RDMA_WRITE),
	LET("ON_DEMAND and REMOTE_READ let read", A(REMOTE_READ) |
	    A(ON_DEMAND), RDMA_READ),
	LET("ON_DEMAND and REMOTE_ATOMIC let add", LW | A(REMOTE_ATOMIC) |
	    A(ON_DEMAND), ATOMIC_FETCH_AND_ADD),
	LET("RELAXED_ORDERING lets write", LW | A(REMOTE_WRITE) |
	    A(RELAXED_ORDERING), RDMA_WRITE),
	DENY("LOCAL_WRITE lets nobody write", LW, RDMA_WRITE),
	DENY("ON_DEMAND lets nobody write", LW | A(ON_DEMAND), RDMA_WRITE),
	DENY("REMOTE_READ and REMOTE_ATOMIC let nobody write",
	     LW | A(REMOTE_READ) | A(REMOTE_ATOMIC), RDMA_WRITE),
	DENY("REMOTE_WRITE and REMOTE_ATOMIC let nobody read",
	     LW | A(REMOTE_WRITE) | A(REMOTE_ATOMIC), RDMA_READ),
	DENY("REMOTE_WRITE and REMOTE_READ let nobody swap",
	     LW | A(REMOTE_WRITE) | A(REMOTE_READ), ATOMIC_CMP_AND_SWP),
	DENY("REMOTE_WRITE and REMOTE_READ let nobody add",
	     LW | A(REMOTE_WRITE) | A(REMOTE_READ), ATOMIC_FETCH_AND_ADD),
	DENY("MW_BIND lets nobody read", A(MW_BIND), RDMA_READ),
	{ "ibv_reg_mr", "an MR has rights of its own",
	  "a second MR of the buffer, without REMOTE_WRITE", twice,
	  .wc = CF_IS(IBV_WC_REM_ACCESS_ERR), .state = CF_IS(IBV_QPS_ERR),
	  .after = cf_sent },
	{ "ibv_reg_mr", "ZERO_BASED: byte offset from beginning of MR",
	  "ZERO_BASED, by offset", zero_based, 10,
	  .wc = CF_IS(IBV_WC_SUCCESS), .after = cf_sent },
	{ "ibv_reg_mr", "ZERO_BASED: byte offset from beginning of MR",
	  "ZERO_BASED, beyond its end", zero_based, 8192 - 24 - CF_LEN + 1,
	  .wc = CF_IS(IBV_WC_REM_ACCESS_ERR), .after = cf_sent },
	{ "ibv_reg_mr", "ZERO_BASED: byte offset from beginning of MR",
	  "ZERO_BASED, by a local key", zero_based_local,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = CF_IS(IBV_WC_SUCCESS),
	  .after = cf_arrived },

	{ "ibv_reg_mr_iova", "the virtual base address through a key",
	  "another base", iova, .wc = CF_IS(IBV_WC_SUCCESS),
	  .after = cf_arrived },
	{ "ibv_reg_mr_iova", "the virtual base address through a key",
	  "another base, used by the address", iova_by_address,
	  .wc = CF_IS(IBV_WC_REM_ACCESS_ERR), .state = CF_IS(IBV_QPS_ERR),
	  .after = cf_sent },
	{ "ibv_reg_mr_iova", "0 has the effect of IBV_ACCESS_ZERO_BASED",
	  "base 0", iova_zero, .wc = CF_IS(IBV_WC_SUCCESS),
	  .after = cf_arrived },
	{ "ibv_reg_mr_iova", "addr and hca_va have one page offset",
	  "base with another page offset", iova_odd, .err = EINVAL },
	{ "ibv_reg_mr_iova", "optional access flags are left out if need be",
	  "ibv_reg_mr_iova2 with IBV_ACCESS_OPTIONAL_FIRST", optional,
	  .stage = CF_DEVICE, .err = 0 },
	{ "ibv_reg_dmabuf_mr", "registers a dma-buf", "a dma-buf", dmabuf,
	  .stage = CF_DEVICE, .err = EOPNOTSUPP, .via = CF_LACKING },

	{ "ibv_dereg_mr", "fails if a memory window is still bound",
	  "MR with a window", dereg_bound, .prep = cf_bindable,
	  .err = EBUSY },
	{ "ibv_dealloc_pd", "may fail if another resource is associated with it",
	  "PD of an MR", pd_of_mr, .stage = CF_DEVICE, .err = EBUSY },

	{ "ibv_rereg_mr", "IBV_REREG_MR_ERR_CMD", "CHANGE_TRANSLATION",
	  rereg, IBV_REREG_MR_CHANGE_TRANSLATION, CF_DEVICE,
	  .err = EOPNOTSUPP, .via = CF_LACKING },
	{ "ibv_rereg_mr", "IBV_REREG_MR_ERR_CMD", "CHANGE_PD", rereg,
	  IBV_REREG_MR_CHANGE_PD, CF_DEVICE, .err = EOPNOTSUPP,
	  .via = CF_LACKING },
	{ "ibv_rereg_mr", "IBV_REREG_MR_ERR_CMD", "CHANGE_ACCESS", rereg,
	  IBV_REREG_MR_CHANGE_ACCESS | LW << 8, CF_DEVICE,
	  .err = EOPNOTSUPP, .via = CF_LACKING },
	{ "ibv_rereg_mr", "those that need ibv_fork_init(3) are not seen: "
	  "IBV_REREG_MR_ERR_DONT_FORK_NEW, IBV_REREG_MR_ERR_DO_FORK_OLD, "
	  "IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW", "all flags at once", rereg,
	  IBV_REREG_MR_CHANGE_ACCESS | IBV_REREG_MR_CHANGE_PD |
	  IBV_REREG_MR_CHANGE_TRANSLATION | LW << 8, CF_DEVICE,
	  .err = EOPNOTSUPP, .via = CF_LACKING },
	{ "ibv_rereg_mr", "IBV_REREG_MR_ERR_INPUT", "a bit that is no flag",
	  rereg, 64, CF_DEVICE, .err = EINVAL },
	{ "ibv_rereg_mr", "IBV_REREG_MR_ERR_INPUT",
	  "access without CHANGE_ACCESS", rereg,
	  IBV_REREG_MR_CHANGE_PD | LW << 8, CF_DEVICE, .err = EINVAL },
	{ "ibv_rereg_mr", "IBV_REREG_MR_ERR_INPUT",
	  "CHANGE_TRANSLATION to nowhere", rereg_nowhere, .stage = CF_DEVICE,
	  .err = EINVAL },

	{ "ibv_advise_mr", "EOPNOTSUPP if it isn't supported",
	  "PREFETCH with IBV_ADVISE_MR_FLAG_FLUSH",
	  advise, IBV_ADVISE_MR_ADVICE_PREFETCH, CF_DEVICE,
	  .err = EOPNOTSUPP, .via = CF_LACKING },
	{ "ibv_advise_mr", "EOPNOTSUPP if it isn't supported", "PREFETCH_WRITE",
	  advise, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, CF_DEVICE,
	  .err = EOPNOTSUPP, .via = CF_LACKING },
	{ "ibv_advise_mr", "EOPNOTSUPP if it isn't supported",
	  "PREFETCH_NO_FAULT", advise, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT,
	  CF_DEVICE, .err = EOPNOTSUPP, .via = CF_LACKING },
};

CF_TABLE(110, "Memory regions, on demand as well", rows);
