// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* ibv_create_qp(3), ibv_create_qp_ex(3), ibv_destroy_qp(3) */

#define _GNU_SOURCE
#include <sys/wait.h>
#include <unistd.h>
#include "conform.h"

static why_t init_attr(struct cf *t, struct ibv_qp_init_attr *init)
{
	t->cq = ibv_create_cq(t->dev->ctx, 64, NULL, NULL, 0);
	CHECK(t->cq, "ibv_create_cq: %s", strerror(errno));
	*init = (struct ibv_qp_init_attr){
		.send_cq = t->cq, .recv_cq = t->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 10, .max_recv_wr = 11,
			 .max_send_sge = 2, .max_recv_sge = 3,
			 .max_inline_data = 5 },
	};
	return NULL;
}

static why_t create(struct cf *t, struct ibv_qp_init_attr *init)
{
	t->qp = ibv_create_qp(t->dev->pd, init);
	return cf_got(t, t->qp);
}

static why_t of_type(struct cf *t)
{
	struct ibv_qp_init_attr init;

	TRY(init_attr(t, &init));
	init.qp_type = t->row->arg;
	TRY(create(t, &init));
	if (!t->qp)
		return NULL;
	CHECK(t->qp->qp_num > 1 && t->qp->qp_num < 0xffffff, "qp_num %#x",
	      t->qp->qp_num);
	CHECK(t->qp->state == IBV_QPS_RESET, "state %d", t->qp->state);
	CHECK(init.cap.max_send_wr >= 10 && init.cap.max_recv_wr >= 11 &&
	      init.cap.max_send_sge >= 2 && init.cap.max_recv_sge >= 3 &&
	      init.cap.max_inline_data >= 5, "capabilities under the request");
	return NULL;
}

/* In a child, since a process that changes its user loses its open device. */
static why_t ordinary_user(struct cf *t)
{
	struct ibv_qp_init_attr init;
	int status;
	pid_t pid;

	TRY(init_attr(t, &init));
	init.qp_type = IBV_QPT_RAW_PACKET;
	pid = fork();
	if (!pid) {
		if (seteuid(65534))
			_exit(255);
		errno = 0;
		_exit(ibv_create_qp(t->dev->pd, &init) ? 0 : errno);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status),
	      "the child: %#x", status);
	t->err = WEXITSTATUS(status);
	return NULL;
}

#define CAP(fn, field, value)						\
	static why_t fn(struct cf *t)					\
	{								\
		struct ibv_qp_init_attr init;				\
									\
		TRY(init_attr(t, &init));				\
		init.cap.field = value;					\
		return create(t, &init);				\
	}

CAP(send_wr_none, max_send_wr, 0)
CAP(send_wr_max, max_send_wr, t->dev->attr.max_qp_wr)
CAP(send_wr_over, max_send_wr, t->dev->attr.max_qp_wr + 1)
CAP(recv_wr_max, max_recv_wr, t->dev->attr.max_qp_wr)
CAP(recv_wr_over, max_recv_wr, t->dev->attr.max_qp_wr + 1)
CAP(send_sge_max, max_send_sge, t->dev->attr.max_sge)
CAP(send_sge_over, max_send_sge, t->dev->attr.max_sge + 1)
CAP(recv_sge_max, max_recv_sge, t->dev->attr.max_sge)
CAP(recv_sge_over, max_recv_sge, t->dev->attr.max_sge + 1)
CAP(inline_1k, max_inline_data, 1024)
CAP(inline_far, max_inline_data, 1U << 30)

static why_t with_srq(struct cf *t)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_qp_init_attr init;

	t->srq = ibv_create_srq(t->dev->pd, &srq);
	CHECK(t->srq, "ibv_create_srq: %s", strerror(errno));
	TRY(init_attr(t, &init));
	init.srq = t->srq;
	init.qp_type = t->row->arg;
	/* ignored with an SRQ */
	init.cap.max_recv_wr = 0x7fffffff;
	init.cap.max_recv_sge = 0x7fffffff;
	return create(t, &init);
}

/* Extended */

struct ex {
	enum ibv_qp_type type;
	uint64_t ops;
	uint32_t flags, mask;
};

static why_t create_ex(struct cf *t, const struct ex *x)
{
	struct ibv_qp_init_attr_ex ex = {
		.qp_type = x->type, .pd = t->dev->pd,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | x->mask,
		.send_ops_flags = x->ops, .create_flags = x->flags,
		.max_tso_header = 64,
	};

	t->cq = ibv_create_cq(t->dev->ctx, 64, NULL, NULL, 0);
	CHECK(t->cq, "ibv_create_cq: %s", strerror(errno));
	ex.send_cq = t->cq;
	ex.recv_cq = t->cq;
	t->qp = ibv_create_qp_ex(t->dev->ctx, &ex);
	return cf_got(t, t->qp);
}

/* row->arg: the type and the operations */
#define OPS(t, ops)	((long)IBV_QPT_##t << 32 | (long)(ops))

static why_t ops(struct cf *t)
{
	struct ex x = {
		.type = t->row->arg >> 32, .ops = t->row->arg & 0xffffffff,
		.mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	};

	TRY(create_ex(t, &x));
	CHECK(!t->qp || ibv_qp_to_qp_ex(t->qp), "no extended QP");
	return NULL;
}

static why_t flags(struct cf *t)
{
	struct ex x = {
		.type = IBV_QPT_UD, .flags = t->row->arg,
		.mask = IBV_QP_INIT_ATTR_CREATE_FLAGS,
	};

	return create_ex(t, &x);
}

static why_t mask(struct cf *t)
{
	struct ex x = { .type = IBV_QPT_RC, .mask = t->row->arg };

	return create_ex(t, &x);
}

/* Destroying */

static why_t destroy_member(struct cf *t)
{
	static const union ibv_gid v4 = {
		.raw = { [10] = 0xff, 0xff, 239, 7, 1, 1 },
	};
	static const union ibv_gid v6 = {
		.raw = { 0xff, 0x15, [12] = 7, 0, 1, 1 },
	};
	const union ibv_gid *gid = vt_opts.family == 4 ? &v4 : &v6;

	CHECK(!ibv_attach_mcast(t->p->a.qp, gid, 0), "ibv_attach_mcast");
	t->err = ibv_destroy_qp(t->p->a.qp);
	CHECK(t->err, "a QP in a group was destroyed");
	CHECK(!ibv_detach_mcast(t->p->a.qp, gid, 0), "ibv_detach_mcast");
	return NULL;
}

/* With traffic under way and nobody to answer */
static why_t destroy_busy(struct cf *t)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	int i;

	for (i = 0; i < 8; i++)
		TRY(vt_post_send(&t->p->a, &wr));
	t->err = ibv_destroy_qp(t->p->a.qp);
	if (!t->err)
		t->p->a.qp = NULL;
	return vt_quiet(t->p->a.scq, 100);
}

static why_t pd_of_qp(struct cf *t)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp;

	TRY(init_attr(t, &init));
	t->pd = ibv_alloc_pd(t->dev->ctx);
	CHECK(t->pd, "ibv_alloc_pd: %s", strerror(errno));
	qp = ibv_create_qp(t->pd, &init);
	CHECK(qp, "ibv_create_qp: %s", strerror(errno));
	t->err = ibv_dealloc_pd(t->pd);
	if (!t->err)
		t->pd = NULL;
	CHECK(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	return NULL;
}

#define TYPE(name_, type_, want)					\
	{ "ibv_create_qp", "the QP transport service type", name_, of_type, \
	  type_, CF_DEVICE, .err = want }
#define LIMIT(name_, fn, want)						\
	{ "ibv_create_qp", "at least as large as requested, or it fails", \
	  name_, fn, .stage = CF_DEVICE, .err = want }
#define SRQ(name_, type_, want)						\
	{ "ibv_create_qp", "fails with an SRQ for types other than RC or UD", \
	  name_, with_srq, type_, CF_DEVICE, .err = want }
#define WITH(name_, arg_, want)						\
	{ "ibv_create_qp_ex", "IBV_QP_INIT_ATTR_SEND_OPS_FLAGS", name_, ops, \
	  arg_, CF_DEVICE, .err = want }
#define FLAG(what)							\
	{ "ibv_create_qp_ex", "create_flags", #what, flags, what,	\
	  CF_DEVICE, .err = EOPNOTSUPP, .via = CF_LACKING }
#define EX(what)	IBV_QP_EX_WITH_##what

static const struct cf_row rows[] = {
	TYPE("IBV_QPT_RC", IBV_QPT_RC, 0), TYPE("IBV_QPT_UC", IBV_QPT_UC, 0),
	TYPE("IBV_QPT_UD", IBV_QPT_UD, 0),
	TYPE("IBV_QPT_RAW_PACKET", IBV_QPT_RAW_PACKET, 0),
	{ "ibv_create_qp", "NULL if the request fails; it needs CAP_NET_RAW",
	  "IBV_QPT_RAW_PACKET of an ordinary user", ordinary_user,
	  .stage = CF_DEVICE, .err = EPERM },
	TYPE("IBV_QPT_DRIVER", IBV_QPT_DRIVER, EOPNOTSUPP),
	TYPE("IBV_QPT_XRC_SEND without a provider's XRC", IBV_QPT_XRC_SEND,
	     EOPNOTSUPP),
	TYPE("a value that is no type", 77, EINVAL),
	LIMIT("max_send_wr 0", send_wr_none, 0),
	LIMIT("max_send_wr max_qp_wr", send_wr_max, 0),
	LIMIT("max_send_wr over max_qp_wr", send_wr_over, EINVAL),
	LIMIT("max_recv_wr max_qp_wr", recv_wr_max, 0),
	LIMIT("max_recv_wr over max_qp_wr", recv_wr_over, EINVAL),
	LIMIT("max_send_sge max_sge", send_sge_max, 0),
	LIMIT("max_send_sge over max_sge", send_sge_over, EINVAL),
	LIMIT("max_recv_sge max_sge", recv_sge_max, 0),
	LIMIT("max_recv_sge over max_sge", recv_sge_over, EINVAL),
	LIMIT("max_inline_data 1024", inline_1k, 0),
	LIMIT("max_inline_data 1 GiB", inline_far, EINVAL),
	SRQ("RC with an SRQ, receive limits ignored", IBV_QPT_RC, 0),
	SRQ("UD with an SRQ, receive limits ignored", IBV_QPT_UD, 0),
	{ "ibv_create_qp", "fails with an SRQ for types other than RC or UD; "
	  "but IBTA 10.2.9 has no such bound", "UC with an SRQ", with_srq,
	  IBV_QPT_UC, CF_DEVICE, .err = 0 },

	WITH("RC: RDMA_WRITE, RDMA_WRITE_WITH_IMM, SEND, SEND_WITH_IMM, "
	     "RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD, LOCAL_INV, "
	     "BIND_MW, SEND_WITH_INV; ibv_qp_to_qp_ex", OPS(RC, EX(RDMA_WRITE) |
	     EX(RDMA_WRITE_WITH_IMM) | EX(SEND) | EX(SEND_WITH_IMM) |
	     EX(RDMA_READ) | EX(ATOMIC_CMP_AND_SWP) |
	     EX(ATOMIC_FETCH_AND_ADD) | EX(LOCAL_INV) | EX(BIND_MW) |
	     EX(SEND_WITH_INV)), 0),
	WITH("UC: RDMA_WRITE, SEND, with immediate, BIND_MW",
	     OPS(UC, EX(RDMA_WRITE) | EX(RDMA_WRITE_WITH_IMM) | EX(SEND) |
		 EX(SEND_WITH_IMM) | EX(BIND_MW)), 0),
	WITH("UD: SEND, SEND_WITH_IMM", OPS(UD, EX(SEND) | EX(SEND_WITH_IMM)),
	     0),
	WITH("UC has no RDMA_READ", OPS(UC, EX(RDMA_READ)), EOPNOTSUPP),
	WITH("UC has no ATOMIC_CMP_AND_SWP", OPS(UC, EX(ATOMIC_CMP_AND_SWP)),
	     EOPNOTSUPP),
	WITH("UC has no ATOMIC_FETCH_AND_ADD",
	     OPS(UC, EX(ATOMIC_FETCH_AND_ADD)), EOPNOTSUPP),
	WITH("UD has no RDMA_WRITE", OPS(UD, EX(RDMA_WRITE)), EOPNOTSUPP),
	WITH("UD has no RDMA_WRITE_WITH_IMM",
	     OPS(UD, EX(RDMA_WRITE_WITH_IMM)), EOPNOTSUPP),
	WITH("UD has no RDMA_READ", OPS(UD, EX(RDMA_READ)), EOPNOTSUPP),
	WITH("UD has no LOCAL_INV", OPS(UD, EX(LOCAL_INV)), EOPNOTSUPP),
	WITH("UD has no BIND_MW", OPS(UD, EX(BIND_MW)), EOPNOTSUPP),
	WITH("UD has no SEND_WITH_INV", OPS(UD, EX(SEND_WITH_INV)),
	     EOPNOTSUPP),
	{ "ibv_create_qp_ex", "IBV_QP_INIT_ATTR_SEND_OPS_FLAGS",
	  "UC: LOCAL_INV", ops, OPS(UC, EX(LOCAL_INV)), CF_DEVICE,
	  .err = EOPNOTSUPP, .via = CF_LACKING },
	{ "ibv_create_qp_ex", "ibv_wr_send_tso isn't to be had", "UD: TSO",
	  ops, OPS(UD, EX(TSO)), CF_DEVICE, .err = EOPNOTSUPP,
	  .via = CF_LACKING },
	FLAG(IBV_QP_CREATE_BLOCK_SELF_MCAST_LB),
	FLAG(IBV_QP_CREATE_SCATTER_FCS), FLAG(IBV_QP_CREATE_CVLAN_STRIPPING),
	FLAG(IBV_QP_CREATE_SOURCE_QPN),
	FLAG(IBV_QP_CREATE_PCI_WRITE_END_PADDING),
	{ "ibv_create_qp_ex", "max_tso_header", "IBV_QP_INIT_ATTR_MAX_TSO_HEADER",
	  mask, IBV_QP_INIT_ATTR_MAX_TSO_HEADER, CF_DEVICE,
	  .err = EOPNOTSUPP, .via = CF_LACKING },
	{ "ibv_create_qp_ex", "rwq_ind_tbl", "IBV_QP_INIT_ATTR_IND_TABLE",
	  mask, IBV_QP_INIT_ATTR_IND_TABLE, CF_DEVICE, .err = EOPNOTSUPP,
	  .via = CF_LACKING },
	{ "ibv_create_qp_ex", "rx_hash_conf", "IBV_QP_INIT_ATTR_RX_HASH",
	  mask, IBV_QP_INIT_ATTR_RX_HASH, CF_DEVICE, .err = EOPNOTSUPP,
	  .via = CF_LACKING },
	{ "ibv_create_qp_ex", "xrcd, for ibv_wr_set_xrc_srqn",
	  "IBV_QP_INIT_ATTR_XRCD", mask,
	  IBV_QP_INIT_ATTR_XRCD, CF_DEVICE, .err = EOPNOTSUPP,
	  .via = CF_LACKING },

	{ "ibv_destroy_qp", "fails if the QP is in a multicast group",
	  "QP in a group", destroy_member, .type = IBV_QPT_UD, .err = EBUSY,
	  .state = CF_IS(IBV_QPS_RTS) },
	{ "ibv_destroy_qp", "destroys the QP; no completions from then on",
	  "sends outstanding", destroy_busy, .err = 0 },
	{ "ibv_dealloc_pd", "may fail if another resource is associated with it",
	  "PD of a QP", pd_of_qp, .stage = CF_DEVICE, .err = EBUSY },
};

CF_TABLE(30, "Queue pairs", rows);
