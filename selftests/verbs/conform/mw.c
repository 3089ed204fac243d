// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_alloc_mw(3), ibv_bind_mw(3), and binding and invalidation by work request
 * (IBTA 10.6.7). In rows about a bind the window is A's.
 */

#include "conform.h"
#include "win.h"

static why_t alloc(struct cf *t)
{
	t->mw = ibv_alloc_mw(t->dev->pd, t->row->arg);
	TRY(cf_got(t, t->mw));
	CHECK(!t->mw || t->mw->type == (enum ibv_mw_type)t->row->arg,
	      "type %d", t->mw ? t->mw->type : 0);
	return NULL;
}

static why_t pd_of_mw(struct cf *t)
{
	struct ibv_mw *mw;

	t->pd = ibv_alloc_pd(t->dev->ctx);
	CHECK(t->pd, "ibv_alloc_pd: %s", strerror(errno));
	mw = ibv_alloc_mw(t->pd, IBV_MW_TYPE_1);
	CHECK(mw, "ibv_alloc_mw: %s", strerror(errno));
	t->err = ibv_dealloc_pd(t->pd);
	if (!t->err)
		t->pd = NULL;
	CHECK(!ibv_dealloc_mw(mw), "ibv_dealloc_mw");
	return NULL;
}

/* ibv_bind_mw(3): type 1 */

static struct ibv_mw_bind bind_of(struct cf *t, int access)
{
	struct ibv_mw_bind b = {
		.wr_id = CF_WR, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = t->p->a.buf.mr, .length = CF_LEN,
			.addr = (uintptr_t)t->p->a.buf.data,
			.mw_access_flags = access,
		},
	};

	return b;
}

static why_t bind1(struct cf *t, struct ibv_mw_bind *b)
{
	uint32_t old;

	if (!t->mw)
		t->mw = ibv_alloc_mw(t->dev->pd, IBV_MW_TYPE_1);
	CHECK(t->mw, "ibv_alloc_mw: %s", strerror(errno));
	old = t->mw->rkey;
	t->err = abs(ibv_bind_mw(t->p->a.qp, t->mw, b));
	t->key = t->mw->rkey;
	CHECK(t->err || t->key != old, "bound under the same key");
	CHECK(!t->err || t->key == old, "another key, though it fails");
	return NULL;
}

/* B uses A's window. */
static why_t use(struct cf *t, enum ibv_wr_opcode opcode, uint64_t addr,
		 uint32_t rkey, uint32_t len, enum ibv_wc_status status)
{
	return win_use(&t->p->b, opcode, addr, rkey, len, status);
}

static uint64_t base(struct cf *t)
{
	return (uintptr_t)t->p->a.buf.data;
}

static why_t with_rights(struct cf *t)
{
	struct ibv_mw_bind b = bind_of(t, t->row->arg);

	return bind1(t, &b);
}

/* It lets do what its rights say, then, one by one, nothing else. */
static why_t can(struct cf *t)
{
	int access = t->row->arg;
	bool allowed;

	allowed = access & IBV_ACCESS_REMOTE_READ;
	if (allowed)
		TRY(use(t, IBV_WR_RDMA_READ, base(t), t->key, 64,
			IBV_WC_SUCCESS));
	allowed = access & IBV_ACCESS_REMOTE_WRITE;
	if (allowed)
		TRY(use(t, IBV_WR_RDMA_WRITE, base(t), t->key, 64,
			IBV_WC_SUCCESS));
	allowed = access & IBV_ACCESS_REMOTE_ATOMIC;
	if (allowed)
		TRY(use(t, IBV_WR_ATOMIC_FETCH_AND_ADD, base(t), t->key, 8,
			IBV_WC_SUCCESS));
	if (!(access & IBV_ACCESS_REMOTE_WRITE))
		return use(t, IBV_WR_RDMA_WRITE, base(t), t->key, 64,
			   IBV_WC_REM_ACCESS_ERR);
	return use(t, IBV_WR_RDMA_READ, base(t), t->key, 64,
		   access & IBV_ACCESS_REMOTE_READ ? IBV_WC_SUCCESS :
						     IBV_WC_REM_ACCESS_ERR);
}

static why_t is_bounded(struct cf *t)
{
	TRY(use(t, IBV_WR_RDMA_WRITE, base(t), t->key, CF_LEN,
		IBV_WC_SUCCESS));
	return use(t, IBV_WR_RDMA_WRITE, base(t), t->key, CF_LEN + 1,
		   IBV_WC_REM_ACCESS_ERR);
}

static why_t rebound(struct cf *t)
{
	struct ibv_mw_bind b = bind_of(t, IBV_ACCESS_REMOTE_WRITE);
	uint32_t old;

	TRY(bind1(t, &b));
	TRY(vt_poll_status(t->p->a.scq, CF_WR, IBV_WC_SUCCESS, "bind"));
	old = t->key;
	b.bind_info.addr += 4096;
	TRY(bind1(t, &b));
	t->sge[1].lkey = old;	/* for the look afterwards */
	return NULL;
}

static why_t is_rebound(struct cf *t)
{
	TRY(use(t, IBV_WR_RDMA_WRITE, base(t) + 4096, t->key, CF_LEN,
		IBV_WC_SUCCESS));
	return use(t, IBV_WR_RDMA_WRITE, base(t), t->sge[1].lkey, 8,
		   IBV_WC_REM_ACCESS_ERR);
}

static why_t unbind(struct cf *t)
{
	struct ibv_mw_bind b = bind_of(t, IBV_ACCESS_REMOTE_WRITE);

	TRY(bind1(t, &b));
	TRY(vt_poll_status(t->p->a.scq, CF_WR, IBV_WC_SUCCESS, "bind"));
	b.bind_info.length = 0;
	return bind1(t, &b);
}

static why_t is_unbound(struct cf *t)
{
	return use(t, IBV_WR_RDMA_WRITE, base(t), t->key, 8,
		   IBV_WC_REM_ACCESS_ERR);
}

static why_t bind_type2(struct cf *t)
{
	struct ibv_mw_bind b = bind_of(t, IBV_ACCESS_REMOTE_READ);

	t->mw = ibv_alloc_mw(t->dev->pd, IBV_MW_TYPE_2);
	return bind1(t, &b);
}

static why_t bind_foreign(struct cf *t)
{
	struct ibv_mw_bind b = bind_of(t, IBV_ACCESS_REMOTE_READ);

	t->pd = ibv_alloc_pd(t->dev->ctx);
	CHECK(t->pd, "ibv_alloc_pd: %s", strerror(errno));
	t->mw = ibv_alloc_mw(t->pd, IBV_MW_TYPE_1);
	return bind1(t, &b);
}

/* The MR is of another PD than the QP's; @window: the window, too */
static why_t foreign_mr(struct cf *t, enum ibv_mw_type type, bool window)
{
	t->pd = ibv_alloc_pd(t->dev->ctx);
	CHECK(t->pd, "ibv_alloc_pd: %s", strerror(errno));
	t->mr = ibv_reg_mr(t->pd, t->p->a.buf.data, t->p->a.buf.len,
			   VT_ALL_ACCESS | IBV_ACCESS_MW_BIND);
	CHECK(t->mr, "ibv_reg_mr: %s", strerror(errno));
	t->mw = ibv_alloc_mw(window ? t->pd : t->dev->pd, type);
	CHECK(t->mw, "ibv_alloc_mw: %s", strerror(errno));
	return NULL;
}

/* row->arg: whether the window is of that PD, too */
static why_t bind_foreign_mr(struct cf *t)
{
	struct ibv_mw_bind b = bind_of(t, IBV_ACCESS_REMOTE_READ);

	TRY(foreign_mr(t, IBV_MW_TYPE_1, t->row->arg));
	b.bind_info.mr = t->mr;
	return bind1(t, &b);
}

static why_t bind_in_err(struct cf *t)
{
	struct ibv_mw_bind b = bind_of(t, IBV_ACCESS_REMOTE_READ);

	TRY(vt_ep_state(&t->p->a, IBV_QPS_ERR));
	return bind1(t, &b);
}

static why_t bind_no_mr(struct cf *t)
{
	struct ibv_mw_bind b = bind_of(t, IBV_ACCESS_REMOTE_READ);

	b.bind_info.mr = NULL;
	return bind1(t, &b);
}

/* row->arg: send_flags */
static why_t bind_beyond(struct cf *t)
{
	struct ibv_mw_bind b = bind_of(t, IBV_ACCESS_REMOTE_READ);

	b.send_flags = t->row->arg;
	b.bind_info.length = t->p->a.buf.len + 1;
	return bind1(t, &b);
}

static why_t bind_before(struct cf *t)
{
	struct ibv_mw_bind b = bind_of(t, IBV_ACCESS_REMOTE_READ);

	b.bind_info.addr--;
	return bind1(t, &b);
}

static why_t is_zero_based(struct cf *t)
{
	TRY(use(t, IBV_WR_RDMA_WRITE, 0, t->key, CF_LEN, IBV_WC_SUCCESS));
	return use(t, IBV_WR_RDMA_WRITE, base(t), t->key, 8,
		   IBV_WC_REM_ACCESS_ERR);
}

/* Type 2 by work request */

static struct ibv_send_wr wr2(struct cf *t, int access)
{
	struct ibv_send_wr wr = {
		.wr_id = CF_WR, .opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.mw = t->mw, .rkey = ibv_inc_rkey(t->mw->rkey),
			.bind_info = bind_of(t, access).bind_info,
		},
	};

	return wr;
}

static why_t window2(struct cf *t)
{
	t->mw = ibv_alloc_mw(t->dev->pd, IBV_MW_TYPE_2);
	CHECK(t->mw, "ibv_alloc_mw: %s", strerror(errno));
	return NULL;
}

static why_t bind2(struct cf *t)
{
	struct ibv_send_wr wr;

	TRY(window2(t));
	wr = wr2(t, t->row->arg);
	t->key = wr.bind_mw.rkey;
	return cf_post_send(t, &wr);
}

/* row->arg: send_flags */
static why_t bind2_beyond(struct cf *t)
{
	struct ibv_send_wr wr;

	TRY(window2(t));
	wr = wr2(t, IBV_ACCESS_REMOTE_READ);
	wr.send_flags = t->row->arg;
	wr.bind_mw.bind_info.length = t->p->a.buf.len + 1;
	return cf_post_send(t, &wr);
}

static why_t bind2_before(struct cf *t)
{
	struct ibv_send_wr wr;

	TRY(window2(t));
	wr = wr2(t, IBV_ACCESS_REMOTE_READ);
	wr.bind_mw.bind_info.addr--;
	return cf_post_send(t, &wr);
}

static why_t bind2_foreign(struct cf *t)
{
	struct ibv_send_wr wr;

	t->pd = ibv_alloc_pd(t->dev->ctx);
	CHECK(t->pd, "ibv_alloc_pd: %s", strerror(errno));
	t->mw = ibv_alloc_mw(t->pd, IBV_MW_TYPE_2);
	CHECK(t->mw, "ibv_alloc_mw: %s", strerror(errno));
	wr = wr2(t, IBV_ACCESS_REMOTE_READ);
	return cf_post_send(t, &wr);
}

static why_t bind2_foreign_mr(struct cf *t)
{
	struct ibv_send_wr wr;

	TRY(foreign_mr(t, IBV_MW_TYPE_2, t->row->arg));
	wr = wr2(t, IBV_ACCESS_REMOTE_READ);
	wr.bind_mw.bind_info.mr = t->mr;
	return cf_post_send(t, &wr);
}

/* Type 2B is bound once, until it is invalidated. */
static why_t bind2_twice(struct cf *t)
{
	struct ibv_send_wr wr;

	TRY(cf_bind(t, &t->p->a, CF_LEN, IBV_ACCESS_REMOTE_READ));
	wr = wr2(t, IBV_ACCESS_REMOTE_READ);
	return cf_post_send(t, &wr);
}

static why_t bind2_again(struct cf *t)
{
	struct ibv_send_wr wr = {
		.wr_id = 8, .opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
	};

	TRY(cf_bind(t, &t->p->a, CF_LEN, IBV_ACCESS_REMOTE_WRITE));
	wr.invalidate_rkey = t->key;
	TRY(cf_post_good(t, &wr));
	wr = wr2(t, IBV_ACCESS_REMOTE_WRITE);
	t->key = wr.bind_mw.rkey;
	return cf_post_send(t, &wr);
}

/* A window of type 2B belongs to the QP that has bound it. */
static why_t other_qp(struct cf *t)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_RDMA_WRITE, 8);
	struct vt_ep other, peer;
	why_t why;

	TRY(cf_bind(t, &t->p->b, CF_LEN, IBV_ACCESS_REMOTE_WRITE));
	TRY(vt_ep_open(&other, &vt_devs[0], &t->p->conf));
	TRY(vt_ep_open(&peer, &vt_devs[1], &t->p->conf));
	TRY(vt_ep_init(&other));
	TRY(vt_ep_init(&peer));
	TRY(vt_ep_rtr(&other, &peer));
	TRY(vt_ep_rtr(&peer, &other));
	TRY(vt_ep_rts(&other));
	TRY(vt_ep_rts(&peer));
	wr.wr.rdma.rkey = t->key;
	t->sge[0] = vt_sge(&other.buf, 0, 8);
	TRY(vt_post_send(&other, &wr));
	why = vt_poll_status(other.scq, CF_WR, IBV_WC_REM_ACCESS_ERR,
			     "who comes by another QP");
	if (why)
		return why;
	TRY(vt_ep_close(&other));
	return vt_ep_close(&peer);
}

/* Invalidation */

/* Invalidate by LOCAL_INV, or by a SEND to B, as the row says. */
static why_t invalidate(struct cf *t, uint32_t local, uint32_t remote)
{
	bool send = t->row->arg == IBV_WR_SEND_WITH_INV;
	struct ibv_send_wr wr;

	if (send)
		TRY(cf_recv(t));
	wr = cf_wr(t, t->row->arg, 0);
	wr.num_sge = 0;
	wr.invalidate_rkey = send ? remote : local;
	return cf_post_send(t, &wr);
}

static why_t inv_mr(struct cf *t)
{
	return invalidate(t, t->p->a.buf.mr->rkey, t->p->b.buf.mr->rkey);
}

static why_t inv_unknown(struct cf *t)
{
	return invalidate(t, 0xfffffff1, 0xfffffff1);
}

static why_t inv_type1(struct cf *t)
{
	t->mw = ibv_alloc_mw(t->p->b.dev->pd, IBV_MW_TYPE_1);
	CHECK(t->mw, "ibv_alloc_mw: %s", strerror(errno));
	return invalidate(t, 0, t->mw->rkey);
}

/* B's window outlives it. */
static why_t inv_no_recv(struct cf *t)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_SEND_WITH_INV, 8);

	TRY(cf_bind(t, &t->p->b, CF_LEN, IBV_ACCESS_REMOTE_WRITE));
	wr.invalidate_rkey = t->key;
	return cf_post_send(t, &wr);
}

static why_t is_alive(struct cf *t)
{
	struct ibv_mw *mw = t->mw;
	struct ibv_mr *mr = t->p->b.buf.mr;

	/* as long as a window is bound its region can't go */
	CHECK(ibv_dereg_mr(mr) == EBUSY, "the window is not bound any more");
	CHECK(!ibv_dealloc_mw(mw), "ibv_dealloc_mw");
	t->mw = NULL;
	return NULL;
}

static void impatient(struct vt_conf *c)
{
	cf_bindable(c);
	c->rnr_retry = 1;
	c->min_rnr = 1;
}

/* The window ends while it is bound. */
static why_t dealloc_bound(struct cf *t)
{
	struct ibv_send_wr wr;

	TRY(cf_bind(t, &t->p->b, CF_LEN, IBV_ACCESS_REMOTE_WRITE));
	CHECK(!ibv_dealloc_mw(t->mw), "ibv_dealloc_mw");
	t->mw = NULL;
	wr = cf_wr(t, IBV_WR_RDMA_WRITE, 8);
	wr.wr.rdma.rkey = t->key;
	return cf_post_send(t, &wr);
}

static void readonly(struct vt_conf *c)
{
	c->mr_access = IBV_ACCESS_MW_BIND | IBV_ACCESS_REMOTE_READ;
}

#define READ	IBV_ACCESS_REMOTE_READ
#define WRITE	IBV_ACCESS_REMOTE_WRITE
#define ATOMIC	IBV_ACCESS_REMOTE_ATOMIC
#define BOUND	.wc = CF_IS(IBV_WC_SUCCESS)
#define ERROR	.wc = CF_IS(IBV_WC_MW_BIND_ERR), .state = CF_IS(IBV_QPS_ERR)

static const struct cf_row rows[] = {
	{ "ibv_alloc_mw", "the MW's type is 1 or 2", "IBV_MW_TYPE_1", alloc,
	  IBV_MW_TYPE_1, CF_DEVICE, .err = 0 },
	{ "ibv_alloc_mw", "the MW's type is 1 or 2", "IBV_MW_TYPE_2", alloc,
	  IBV_MW_TYPE_2, CF_DEVICE, .err = 0 },
	{ "ibv_alloc_mw", "the MW's type is 1 or 2", "type 3", alloc, 3,
	  CF_DEVICE, .err = EINVAL },
	{ "ibv_dealloc_mw", "unbinds in case it was bound", "bound, then used",
	  dealloc_bound, .prep = cf_bindable,
	  .wc = CF_IS(IBV_WC_REM_ACCESS_ERR) },
	{ "ibv_dealloc_pd", "may fail if another resource is associated with it",
	  "PD of an MW", pd_of_mw, .stage = CF_DEVICE, .err = EBUSY },

	{ "ibv_bind_mw", "IBV_ACCESS_REMOTE_READ", "type 1 to read",
	  with_rights, READ, .prep = cf_bindable, BOUND, .after = can },
	{ "ibv_bind_mw", "IBV_ACCESS_REMOTE_WRITE", "type 1 to write",
	  with_rights, WRITE, .prep = cf_bindable, BOUND, .after = can },
	{ "ibv_bind_mw", "IBV_ACCESS_REMOTE_ATOMIC", "type 1 for atomics",
	  with_rights, ATOMIC, .prep = cf_bindable, BOUND, .after = can },
	{ "ibv_bind_mw", "the allowed access", "type 1 with all rights",
	  with_rights, READ | WRITE | ATOMIC, .prep = cf_bindable, BOUND,
	  .after = can },
	{ "ibv_bind_mw", "length: the bytes the MW should span",
	  "a byte beyond the window", with_rights, WRITE,
	  .prep = cf_bindable, BOUND, .after = is_bounded },
	{ "ibv_bind_mw", "QPs may be UC, RC or XRC_SEND", "UC", with_rights,
	  READ, .type = IBV_QPT_UC, .prep = cf_bindable, BOUND },
	{ "ibv_bind_mw", "QPs may be UC, RC or XRC_SEND", "UD", with_rights,
	  READ, .type = IBV_QPT_UD, .prep = cf_bindable, .err = EINVAL,
	  .state = CF_IS(IBV_QPS_RTS) },
	{ "ibv_bind_mw", "the R_key after the bind is in mw->rkey",
	  "bound again: the old key is dead", rebound, .prep = cf_bindable,
	  BOUND, .after = is_rebound },
	{ "ibv_alloc_mw", "type 1 is invalidated by a bind of zero length",
	  "bind of no bytes", unbind, .prep = cf_bindable, BOUND,
	  .after = is_unbound },
	{ "ibv_bind_mw", "ibv_bind_mw() is for type 1", "type 2", bind_type2,
	  .prep = cf_bindable, .err = EINVAL },
	{ "ibv_bind_mw", "IBTA 10.6.7.2: MW and MR are of one PD",
	  "window of another PD", bind_foreign, .prep = cf_bindable,
	  .err = EPERM },
	{ "ibv_bind_mw", "IBTA 10.6.7.2: MW and MR are of one PD",
	  "MR of another PD", bind_foreign_mr, false, .prep = cf_bindable,
	  .err = EPERM },
	{ "ibv_bind_mw", "IBTA 10.6.7.2: MW and QP are of one PD",
	  "MR and window of another PD", bind_foreign_mr, true,
	  .prep = cf_bindable, ERROR },
	{ "ibv_bind_mw", "errors complete, whatever the flags say",
	  "beyond the MR, unsignaled", bind_beyond, 0,
	  .prep = cf_bindable, ERROR },
	{ "ibv_bind_mw", "IBTA 10.3.1: ERR", "of a QP in ERR", bind_in_err,
	  .prep = cf_bindable, .wc = CF_IS(IBV_WC_WR_FLUSH_ERR) },
	{ "ibv_bind_mw", "the MR to bind the MW to", "no MR", bind_no_mr,
	  .prep = cf_bindable, .err = EINVAL },
	{ "ibv_bind_mw", "IBTA 10.6.7.2: within the MR", "beyond the MR",
	  bind_beyond, IBV_SEND_SIGNALED, .prep = cf_bindable, ERROR },
	{ "ibv_bind_mw", "IBTA 10.6.7.2: within the MR", "from before the MR",
	  bind_before, .prep = cf_bindable, ERROR },
	{ "ibv_bind_mw", "IBTA 10.6.7.2: the MR must allow binding",
	  "MR without MW_BIND", with_rights, READ, ERROR },
	{ "ibv_bind_mw", "REMOTE_WRITE requires local write access to the MR",
	  "write onto an MR without LOCAL_WRITE", with_rights, WRITE,
	  .prep = readonly, ERROR },
	{ "ibv_bind_mw", "REMOTE_ATOMIC requires local write access to the MR",
	  "atomics onto an MR without LOCAL_WRITE", with_rights, ATOMIC,
	  .prep = readonly, ERROR },
	{ "ibv_bind_mw", "IBV_ACCESS_ZERO_BASED", "type 1 ZERO_BASED",
	  with_rights, WRITE | IBV_ACCESS_ZERO_BASED, .prep = cf_bindable,
	  .err = EINVAL, .via = CF_LACKING },

	{ "ibv_post_send", "IBV_WR_BIND_MW: type 2", "type 2 to read", bind2,
	  READ, .prep = cf_bindable, BOUND, .after = can },
	{ "ibv_post_send", "IBV_WR_BIND_MW: type 2", "type 2 to write", bind2,
	  WRITE, .prep = cf_bindable, BOUND, .after = can },
	{ "ibv_post_send", "IBV_WR_BIND_MW: type 2", "type 2 for atomics",
	  bind2, ATOMIC, .prep = cf_bindable, BOUND, .after = can },
	{ "ibv_post_send", "length: the bytes the MW should span",
	  "a byte beyond a window of type 2", bind2, WRITE,
	  .prep = cf_bindable, BOUND, .after = is_bounded },
	{ "ibv_post_send", "IBV_ACCESS_ZERO_BASED: offset from the MW's start",
	  "type 2 ZERO_BASED", bind2, WRITE | IBV_ACCESS_ZERO_BASED,
	  .prep = cf_bindable, BOUND, .after = is_zero_based },
	{ "ibv_post_send", "IBTA 10.6.7.2: within the MR",
	  "type 2 beyond the MR", bind2_beyond, IBV_SEND_SIGNALED,
	  .prep = cf_bindable, ERROR },
	{ "ibv_post_send", "IBTA 10.6.7.2: within the MR",
	  "type 2 from before the MR", bind2_before, .prep = cf_bindable, ERROR },
	{ "ibv_post_send", "IBTA 10.6.7.2: the MR must allow binding",
	  "type 2 onto an MR without MW_BIND", bind2, READ, ERROR },
	{ "ibv_post_send", "REMOTE_WRITE requires local write access to the MR",
	  "type 2 to write onto an MR without LOCAL_WRITE", bind2, WRITE,
	  .prep = readonly, ERROR },
	{ "ibv_post_send", "IBTA 10.6.7.2: MW and QP are of one PD",
	  "type 2 window of another PD", bind2_foreign, .prep = cf_bindable,
	  ERROR },
	{ "ibv_post_send", "IBTA 10.6.7.2: MW and MR are of one PD",
	  "type 2 onto an MR of another PD", bind2_foreign_mr, false,
	  .prep = cf_bindable, ERROR },
	{ "ibv_post_send", "IBTA 10.6.7.2: MW and QP are of one PD",
	  "type 2, MR and window of another PD", bind2_foreign_mr, true,
	  .prep = cf_bindable, ERROR },
	{ "ibv_post_send", "errors complete, whatever the flags say",
	  "type 2 beyond the MR, unsignaled", bind2_beyond, 0,
	  .prep = cf_bindable, ERROR },
	{ "ibv_post_send", "IBTA 10.6.7.2.6: bound once until invalidated",
	  "type 2 bound when it is bound", bind2_twice, .prep = cf_bindable,
	  ERROR },
	{ "ibv_post_send", "IBTA 10.6.7.2.6: bound once until invalidated",
	  "type 2 bound after LOCAL_INV", bind2_again, .prep = cf_bindable,
	  BOUND, .after = is_bounded },
	{ "ibv_post_send", "IBTA 10.6.7.2.4: type 2B is of one QP",
	  "type 2 by another QP", other_qp, .prep = cf_bindable },
	{ "ibv_post_send", "IBTA 11.6.2: Memory Management Operation Error",
	  "LOCAL_INV of an MR's key", inv_mr, IBV_WR_LOCAL_INV, ERROR },
	{ "ibv_post_send", "IBTA 11.6.2: Memory Management Operation Error",
	  "LOCAL_INV of an unknown key", inv_unknown, IBV_WR_LOCAL_INV,
	  ERROR },
	{ "ibv_post_send", "IBTA 9.4.1.1.3: an MR of user space is not to be",
	  "SEND_WITH_INV of an MR's key", inv_mr, IBV_WR_SEND_WITH_INV,
	  .wc = CF_IS(IBV_WC_REM_ACCESS_ERR),
	  .recv = CF_IS(IBV_WC_LOC_ACCESS_ERR), .state = CF_IS(IBV_QPS_ERR),
	  .peer = CF_IS(IBV_QPS_ERR) },
	{ "ibv_post_send", "IBTA 9.4.1.1.3: an invalid R_Key",
	  "SEND_WITH_INV of an unknown key", inv_unknown,
	  IBV_WR_SEND_WITH_INV, .wc = CF_IS(IBV_WC_REM_ACCESS_ERR),
	  .recv = CF_IS(IBV_WC_LOC_ACCESS_ERR),
	  .state = CF_IS(IBV_QPS_ERR), .peer = CF_IS(IBV_QPS_ERR) },
	{ "ibv_post_send", "IBTA 9.4.1.1.3: a window of type 1 is not to be",
	  "SEND_WITH_INV of a type 1 window's key", inv_type1,
	  IBV_WR_SEND_WITH_INV, .wc = CF_IS(IBV_WC_REM_ACCESS_ERR),
	  .recv = CF_IS(IBV_WC_LOC_ACCESS_ERR),
	  .state = CF_IS(IBV_QPS_ERR), .peer = CF_IS(IBV_QPS_ERR) },
	{ "ibv_post_send", "IBTA 11.6.2: RNR Retry Counter Exceeded",
	  "SEND_WITH_INV, but no receive", inv_no_recv, .prep = impatient,
	  .wc = CF_IS(IBV_WC_RNR_RETRY_EXC_ERR), .state = CF_IS(IBV_QPS_ERR),
	  .peer = CF_IS(IBV_QPS_RTS), .after = is_alive },
};

CF_TABLE(120, "Memory windows, invalidation", rows);
