// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* run: A B --family 4 6 */
/*
 * Error completions. Statuses are those of chapters 9.9 and 11.6.2 of the
 * InfiniBand specification; every case also sees both queues flushed, once and
 * in order, and both QPs in the states that the error leads to.
 */

#include "vt.h"

#define LEN	3000		/* of every message: several packets */
#define RECVS	3		/* posted on either side */
#define AFTER	3		/* sends behind the one that fails */

enum { BAD_WR = 100, RECV_A = 200, RECV_B = 300 };

/* Both sides have some receives; those of B may not suffice. */
static why_t post_recvs(struct vt_ep *ep, int wr_id, int num, uint32_t len)
{
	int i;

	for (i = 0; i < num; i++)
		TRY(vt_post_recv_at(ep, wr_id + i, 4096 * i, len));
	return NULL;
}

/* The bad one and some behind it that are good, but come too late. */
static why_t post_sends(struct vt_pair *p, struct ibv_send_wr *bad)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, LEN);
	struct ibv_send_wr wr[AFTER];
	int i;

	memset(wr, 0, sizeof(wr));
	for (i = 0; i < AFTER; i++) {
		wr[i].wr_id = BAD_WR + 1 + i;
		wr[i].opcode = p->conf.type == IBV_QPT_UD ? IBV_WR_SEND :
							    IBV_WR_RDMA_WRITE;
		/* an error completes even what isn't signaled */
		wr[i].send_flags = i == 1 ? 0 : IBV_SEND_SIGNALED;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].next = i < AFTER - 1 ? &wr[i + 1] : NULL;
		vt_aim(&p->a, &p->b, &wr[i]);
	}
	bad->wr_id = BAD_WR;
	bad->next = wr;
	return vt_post_send(&p->a, bad);
}

static why_t flushed(struct ibv_cq *cq, int wr_id, int num, const char *who)
{
	while (num--)
		TRY(vt_poll_status(cq, wr_id++, IBV_WC_WR_FLUSH_ERR, who));
	return NULL;
}

/* A send to a QP in ERR is taken and flushed. */
static why_t flush_later(struct vt_pair *p)
{
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, LEN);
	struct ibv_send_wr wr = { .wr_id = 900, .opcode = IBV_WR_RDMA_WRITE,
				  .sg_list = &sge, .num_sge = 1 };

	vt_aim(&p->a, &p->b, &wr);
	TRY(vt_post_send(&p->a, &wr));
	return flushed(p->a.scq, 900, 1, "A's send in ERR");
}

struct bad {
	const char *name;
	enum ibv_wr_opcode opcode;
	enum ibv_wc_status status;	/* of A's send */
	enum ibv_wc_status recv;	/* of B's first receive; 0 is flush */
	bool b_stays;			/* the error is A's alone */
	void (*spoil)(struct vt_pair *p, struct ibv_send_wr *wr);
	void (*prepare)(struct vt_conf *c);
	int recv_len;			/* 0: enough */
	enum ibv_event_type event;	/* at B, or IBV_EVENT_CQ_ERR: none */
};

static why_t both_in_error(struct vt_pair *p, const struct bad *bad)
{
	int first = 0;

	TRY(flushed(p->a.scq, BAD_WR + 1, AFTER, "A's sends"));
	TRY(flushed(p->a.rcq, RECV_A, RECVS, "A's receives"));
	TRY(vt_ep_is(&p->a, IBV_QPS_ERR));
	TRY(flush_later(p));
	if (bad->b_stays) {
		TRY(vt_quiet(p->b.rcq, 50));
		return vt_ep_is(&p->b, IBV_QPS_RTS);
	}
	if (bad->recv) {
		TRY(vt_poll_status(p->b.rcq, RECV_B, bad->recv, "B's receive"));
		first = 1;
	}
	TRY(flushed(p->b.rcq, RECV_B + first, RECVS - first, "B's receives"));
	TRY(vt_ep_is(&p->b, IBV_QPS_ERR));
	if (bad->event != IBV_EVENT_CQ_ERR)
		TRY(vt_event(p->b.dev, bad->event, p->b.qp, 2000));
	TRY(vt_quiet(p->a.scq, 50));
	return vt_quiet(p->b.rcq, 50);
}

static why_t fail(struct vt_pair *p, const void *arg)
{
	const struct bad *bad = arg;
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, LEN);
	struct ibv_send_wr wr = {
		.opcode = bad->opcode, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
	};

	vt_buf_fill(&p->a.buf, 1);
	vt_buf_fill(&p->b.buf, 2);
	if (bad->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    bad->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		sge.length = 8;
	vt_aim(&p->a, &p->b, &wr);
	bad->spoil(p, &wr);
	TRY(post_recvs(&p->a, RECV_A, RECVS, LEN));
	TRY(post_recvs(&p->b, RECV_B, RECVS,
		       bad->recv_len ? bad->recv_len : LEN));
	TRY(post_sends(p, &wr));
	TRY(vt_poll_status(p->a.scq, BAD_WR, bad->status, "A's send"));
	return both_in_error(p, bad);
}

/* Accept whatever is in the first bytes, and look at the others. */
static why_t check_from(struct vt_buf *b, size_t off)
{
	memcpy(b->shadow, b->data, off);
	return vt_buf_check(b);
}

/* The same, and memory outside of the message has not changed. */
static why_t fail_touched(struct vt_pair *p, const void *arg)
{
	const struct bad *bad = arg;

	TRY(fail(p, arg));
	if (bad->opcode == IBV_WR_RDMA_READ)
		/* the list was at the end of A's buffer */
		memcpy(p->a.buf.shadow + p->a.buf.len - LEN,
		       p->a.buf.data + p->a.buf.len - LEN, LEN);
	TRY(vt_buf_check(&p->a.buf));
	return check_from(&p->b.buf, bad->recv_len ? bad->recv_len : LEN);
}

/*
 * The same, and neither side's memory has changed. Only that A can't take a
 * response shows so late that the writes behind the request may be done.
 */
static why_t fail_untouched(struct vt_pair *p, const void *arg)
{
	const struct bad *bad = arg;
	bool late = bad->b_stays && bad->opcode >= IBV_WR_RDMA_READ;

	TRY(fail(p, arg));
	TRY(vt_buf_check(&p->a.buf));
	return check_from(&p->b.buf, late ? LEN : 0);
}

/* Ways to spoil a work request */

static void wrong_lkey(struct vt_pair *p, struct ibv_send_wr *wr)
{
	(void)p;
	wr->sg_list->lkey ^= 0x55;
}

static void unknown_lkey(struct vt_pair *p, struct ibv_send_wr *wr)
{
	(void)p;
	wr->sg_list->lkey = 0xfffffff1;
}

static void local_behind(struct vt_pair *p, struct ibv_send_wr *wr)
{
	wr->sg_list->addr += p->a.buf.len - wr->sg_list->length + 1;
}

static void local_before(struct vt_pair *p, struct ibv_send_wr *wr)
{
	(void)p;
	wr->sg_list->addr -= 1;
}

static void local_wrap(struct vt_pair *p, struct ibv_send_wr *wr)
{
	(void)p;
	wr->sg_list->addr = -100ULL;
}

static struct ibv_mr *other_mr;	/* freed by the case that made it */

static void local_other_pd(struct vt_pair *p, struct ibv_send_wr *wr)
{
	(void)p;
	wr->sg_list->lkey = other_mr->lkey;
}

static void remote_other_pd(struct vt_pair *p, struct ibv_send_wr *wr)
{
	(void)p;
	wr->wr.rdma.rkey = other_mr->rkey;
}

static uint32_t *rkey_of(struct ibv_send_wr *wr)
{
	return wr->opcode >= IBV_WR_ATOMIC_CMP_AND_SWP ? &wr->wr.atomic.rkey :
							 &wr->wr.rdma.rkey;
}

static void wrong_rkey(struct vt_pair *p, struct ibv_send_wr *wr)
{
	(void)p;
	*rkey_of(wr) ^= 0x55;
}

static void unknown_rkey(struct vt_pair *p, struct ibv_send_wr *wr)
{
	(void)p;
	*rkey_of(wr) = 0xfffffff1;
}

static void remote_behind(struct vt_pair *p, struct ibv_send_wr *wr)
{
	/* remote_addr is in the same place for atomics; those stay aligned */
	wr->wr.rdma.remote_addr += p->b.buf.len - wr->sg_list->length + 8;
}

static void remote_before(struct vt_pair *p, struct ibv_send_wr *wr)
{
	(void)p;
	wr->wr.rdma.remote_addr -= 8;
}

static void remote_wrap(struct vt_pair *p, struct ibv_send_wr *wr)
{
	(void)p;
	wr->wr.rdma.remote_addr = -104ULL;
}

static void nothing(struct vt_pair *p, struct ibv_send_wr *wr)
{
	(void)p;
	(void)wr;
}

/* Ways to prepare endpoints */

static void mr_local_only(struct vt_conf *c)
{
	c->mr_access = IBV_ACCESS_LOCAL_WRITE;
}

static void mr_no_access(struct vt_conf *c)
{
	c->mr_access = 0;
}

static void mr_no_write(struct vt_conf *c)
{
	c->mr_access &= ~IBV_ACCESS_REMOTE_WRITE;
}

static void mr_no_read(struct vt_conf *c)
{
	c->mr_access &= ~IBV_ACCESS_REMOTE_READ;
}

static void mr_no_atomic(struct vt_conf *c)
{
	c->mr_access &= ~IBV_ACCESS_REMOTE_ATOMIC;
}

static void qp_no_write(struct vt_conf *c)
{
	c->qp_access &= ~IBV_ACCESS_REMOTE_WRITE;
}

static void qp_no_read(struct vt_conf *c)
{
	c->qp_access &= ~IBV_ACCESS_REMOTE_READ;
}

static void qp_no_atomic(struct vt_conf *c)
{
	c->qp_access &= ~IBV_ACCESS_REMOTE_ATOMIC;
}

static void no_resources(struct vt_conf *c)
{
	c->dest_rd = 0;
}

#define LOCAL(what, op, how, prep)					\
	{ what, IBV_WR_##op, IBV_WC_LOC_PROT_ERR, 0, true, how, prep, 0,	\
	  IBV_EVENT_CQ_ERR }
#define ACCESS(what, op, how, prep)					\
	{ what, IBV_WR_##op, IBV_WC_REM_ACCESS_ERR, 0, false, how, prep, 0, \
	  IBV_EVENT_CQ_ERR }
#define INVALID(what, op, how, prep)					\
	{ what, IBV_WR_##op, IBV_WC_REM_INV_REQ_ERR, 0, false, how, prep, 0, \
	  IBV_EVENT_CQ_ERR }

static const struct bad untouched[] = {
	LOCAL("SEND: wrong lkey", SEND, wrong_lkey, NULL),
	LOCAL("SEND: unknown lkey", SEND, unknown_lkey, NULL),
	LOCAL("SEND: before the MR's start", SEND, local_before, NULL),
	LOCAL("SEND: local address wraps", SEND, local_wrap, NULL),
	LOCAL("WRITE: wrong lkey", RDMA_WRITE, wrong_lkey, NULL),
	LOCAL("READ: wrong lkey", RDMA_READ, wrong_lkey, NULL),
	LOCAL("FETCH_ADD: wrong lkey", ATOMIC_FETCH_AND_ADD, wrong_lkey, NULL),

	ACCESS("WRITE: wrong rkey", RDMA_WRITE, wrong_rkey, NULL),
	ACCESS("WRITE: unknown rkey", RDMA_WRITE, unknown_rkey, NULL),
	ACCESS("WRITE: before the MR's start", RDMA_WRITE, remote_before, NULL),
	ACCESS("WRITE: behind the MR's end", RDMA_WRITE, remote_behind, NULL),
	ACCESS("WRITE: remote address wraps", RDMA_WRITE, remote_wrap, NULL),
	ACCESS("WRITE: MR lacks REMOTE_WRITE", RDMA_WRITE, nothing,
	       mr_no_write),
	ACCESS("WRITE_WITH_IMM: wrong rkey", RDMA_WRITE_WITH_IMM, wrong_rkey,
	       NULL),
	ACCESS("READ: wrong rkey", RDMA_READ, wrong_rkey, NULL),
	ACCESS("READ: behind the MR's end", RDMA_READ, remote_behind, NULL),
	ACCESS("READ: remote address wraps", RDMA_READ, remote_wrap, NULL),
	ACCESS("READ: MR lacks REMOTE_READ", RDMA_READ, nothing, mr_no_read),
	ACCESS("CMP_SWP: wrong rkey", ATOMIC_CMP_AND_SWP, wrong_rkey, NULL),
	ACCESS("CMP_SWP: behind the MR's end", ATOMIC_CMP_AND_SWP,
	       remote_behind, NULL),
	ACCESS("CMP_SWP: MR lacks REMOTE_ATOMIC", ATOMIC_CMP_AND_SWP, nothing,
	       mr_no_atomic),
	ACCESS("FETCH_ADD: MR lacks REMOTE_ATOMIC", ATOMIC_FETCH_AND_ADD,
	       nothing, mr_no_atomic),
	ACCESS("WRITE: MR is local only", RDMA_WRITE, nothing, mr_local_only),

	/* 11.6.2: the operation isn't supported by this receive queue */
	INVALID("WRITE: QP lacks REMOTE_WRITE", RDMA_WRITE, nothing,
		qp_no_write),
	INVALID("READ: QP lacks REMOTE_READ", RDMA_READ, nothing, qp_no_read),
	INVALID("CMP_SWP: QP lacks REMOTE_ATOMIC", ATOMIC_CMP_AND_SWP, nothing,
		qp_no_atomic),
	INVALID("FETCH_ADD: QP lacks REMOTE_ATOMIC", ATOMIC_FETCH_AND_ADD,
		nothing, qp_no_atomic),
	INVALID("READ: responder without resources", RDMA_READ, nothing,
		no_resources),
};

/* These may have written what came before the error showed. */
static const struct bad touched[] = {
	LOCAL("SEND: behind the MR's end", SEND, local_behind, NULL),
	LOCAL("READ: behind the local MR's end", RDMA_READ, local_behind, NULL),
	{ "SEND: receive too small", IBV_WR_SEND, IBV_WC_REM_INV_REQ_ERR,
	  IBV_WC_LOC_LEN_ERR, false, nothing, NULL, LEN - 1, IBV_EVENT_CQ_ERR },
	{ "SEND: receive much too small", IBV_WR_SEND, IBV_WC_REM_INV_REQ_ERR,
	  IBV_WC_LOC_LEN_ERR, false, nothing, NULL, 10, IBV_EVENT_CQ_ERR },
};

/* Async errors of a responder that has no receive to blame (11.6.3.2). */
static const struct bad events[] = {
	{ "WRITE: wrong rkey: QP_ACCESS_ERR at the responder",
	  IBV_WR_RDMA_WRITE, IBV_WC_REM_ACCESS_ERR, 0, false, wrong_rkey, NULL,
	  0, IBV_EVENT_QP_ACCESS_ERR },
	{ "READ: wrong rkey: QP_ACCESS_ERR at the responder",
	  IBV_WR_RDMA_READ, IBV_WC_REM_ACCESS_ERR, 0, false, wrong_rkey, NULL,
	  0, IBV_EVENT_QP_ACCESS_ERR },
	{ "READ: QP lacks REMOTE_READ: QP_REQ_ERR at the responder",
	  IBV_WR_RDMA_READ, IBV_WC_REM_INV_REQ_ERR, 0, false, nothing,
	  qp_no_read, 0, IBV_EVENT_QP_REQ_ERR },
};

static void test_table(const struct bad *bad, size_t num, vt_case fn)
{

	for (; num--; bad++) {
		struct vt_conf c = vt_conf(IBV_QPT_RC);

		if (bad->prepare)
			bad->prepare(&c);
		vt_runf(&c, fn, bad, "RC %s", bad->name);
	}
}

/* A key that is good, but in another protection domain. */
static why_t other_pd(struct vt_pair *p, const void *arg)
{
	const struct bad *bad = arg;
	struct vt_ep *ep = bad->b_stays ? &p->a : &p->b;
	struct ibv_pd *pd = ibv_alloc_pd(ep->dev->ctx);
	why_t why;

	CHECK(pd, "ibv_alloc_pd: %s", strerror(errno));
	other_mr = ibv_reg_mr(pd, ep->buf.data, ep->buf.len, VT_ALL_ACCESS);
	why = other_mr ? fail_untouched(p, bad) :
			 because("ibv_reg_mr: %s", strerror(errno));
	if (other_mr)
		ibv_dereg_mr(other_mr);
	ibv_dealloc_pd(pd);
	return why;
}

static void test_other_pd(void)
{
	static const struct bad bad[] = {
		LOCAL("", SEND, local_other_pd, NULL),
		LOCAL("", RDMA_READ, local_other_pd, NULL),
		ACCESS("", RDMA_WRITE, remote_other_pd, NULL),
		ACCESS("", RDMA_READ, remote_other_pd, NULL),
	};
	struct vt_conf c = vt_conf(IBV_QPT_RC);

	vt_run("RC SEND: local MR of another PD", &c, other_pd, &bad[0]);
	vt_run("RC READ: local MR of another PD", &c, other_pd, &bad[1]);
	vt_run("RC WRITE: remote MR of another PD", &c, other_pd, &bad[2]);
	vt_run("RC READ: remote MR of another PD", &c, other_pd, &bad[3]);
}

/* A key ends with its registration. */
static why_t stale_rkey(struct vt_pair *p, const void *arg)
{
	struct ibv_mr *mr = ibv_reg_mr(p->b.dev->pd, p->b.buf.data,
				       p->b.buf.len, VT_ALL_ACCESS);
	struct ibv_mr copy;

	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	copy = *mr;
	CHECK(!ibv_dereg_mr(mr), "ibv_dereg_mr: %s", strerror(errno));
	other_mr = &copy;
	return fail_untouched(p, arg);
}

/* READ into memory that A may not write. */
static why_t read_to_readonly(struct vt_pair *p, const void *arg)
{
	struct ibv_mr *mr = ibv_reg_mr(p->a.dev->pd, p->a.buf.data,
				       p->a.buf.len, 0);
	why_t why;

	CHECK(mr, "ibv_reg_mr: %s", strerror(errno));
	other_mr = mr;
	why = fail_untouched(p, arg);
	ibv_dereg_mr(mr);
	return why;
}

/* B's receive points to where it may not write: B's error, A is told. */
struct bad_recv {
	uint32_t key_xor;
	uint64_t addr_add;
};

static why_t recv_prot(struct vt_pair *p, const void *arg)
{
	static const struct bad rest = { .opcode = IBV_WR_SEND };
	const struct bad_recv *how = arg;
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, LEN);
	struct ibv_sge to = vt_sge(&p->b.buf, 0, LEN);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge, .num_sge = 1,
	};

	vt_buf_fill(&p->a.buf, 1);
	vt_buf_fill(&p->b.buf, 2);
	TRY(post_recvs(&p->a, RECV_A, RECVS, LEN));
	to.lkey ^= how->key_xor;
	to.addr += how->addr_add;
	TRY(vt_post_recv(&p->b, 299, &to, 1));
	TRY(post_recvs(&p->b, RECV_B, RECVS, LEN));
	TRY(post_sends(p, &wr));
	TRY(vt_poll_status(p->b.rcq, 299, IBV_WC_LOC_PROT_ERR, "B's receive"));
	TRY(vt_poll_status(p->a.scq, BAD_WR, IBV_WC_REM_OP_ERR, "A's send"));
	return both_in_error(p, &rest);
}

static void test_recv_prot(void)
{
	static const struct bad_recv key = { 0x55, 0 }, range = { 0, 65536 - 99 };
	static const struct bad_recv none = { 0, 0 };
	struct vt_conf c = vt_conf(IBV_QPT_RC);

	vt_run("RC SEND: receive with a wrong lkey", &c, recv_prot, &key);
	vt_run("RC SEND: receive behind the MR's end", &c, recv_prot, &range);
	mr_no_access(&c);
	vt_run("RC SEND: receive into memory without LOCAL_WRITE", &c,
	       recv_prot, &none);
}

/* Nothing is moved, so no key matters (C9-88). */
static why_t zero_length(struct vt_pair *p, const void *arg)
{
	const enum ibv_wr_opcode *opcode = arg;
	struct ibv_send_wr wr = { .wr_id = 1, .opcode = *opcode,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_wc wc;

	if (*opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		TRY(vt_post_recv(&p->b, 2, NULL, 0));
	wr.wr.rdma.remote_addr = 12345;
	wr.wr.rdma.rkey = 0xfffffff1;
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_ok(p->a.scq, &wc, 1));
	if (*opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		TRY(vt_poll_ok(p->b.rcq, &wc, 2));
	TRY(vt_ep_is(&p->b, IBV_QPS_RTS));
	return vt_ping(p);
}

static void test_zero_length(void)
{
	static const enum ibv_wr_opcode op[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
	};
	struct vt_conf c = vt_conf(IBV_QPT_RC);

	vt_run("RC WRITE of nothing with a bad rkey works", &c, zero_length,
	       &op[0]);
	vt_run("RC WRITE_WITH_IMM of nothing with a bad rkey works", &c,
	       zero_length, &op[1]);
	vt_run("RC READ of nothing with a bad rkey works", &c, zero_length,
	       &op[2]);
}

/**
 * struct odd - an atomic at an odd multiple of 4
 * @name: of the case
 * @swap: it is a compare and swap, else a fetch and add
 * @lkey: spoils the local key
 * @rkey: spoils the remote key
 */
struct odd {
	const char *name;
	bool swap;
	uint32_t lkey, rkey;
};

/* The provider refuses this in ibv_post_send(), but not here. */
static why_t post_odd(struct vt_pair *p, const struct odd *odd)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(p->a.qp);
	uint64_t at = (uintptr_t)p->b.buf.data + 4;
	uint32_t rkey = p->b.buf.mr->rkey ^ odd->rkey;

	ibv_wr_start(qpx);
	qpx->wr_id = BAD_WR;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	if (odd->swap)
		ibv_wr_atomic_cmp_swp(qpx, rkey, at, 0, 1);
	else
		ibv_wr_atomic_fetch_add(qpx, rkey, at, 1);
	ibv_wr_set_sge(qpx, p->a.buf.mr->lkey ^ odd->lkey, (uintptr_t)p->a.buf.data, 8);
	CHECK(!ibv_wr_complete(qpx), "ibv_wr_complete");
	return NULL;
}

/* The responder looks at the request before it looks at its key; no answer needs the lkey. */
static why_t misaligned_atomic(struct vt_pair *p, const void *arg)
{
	static const struct bad rest = { .event = IBV_EVENT_CQ_ERR };
	const struct odd *odd = arg;
	struct ibv_sge sge = vt_sge(&p->a.buf, 0, LEN);
	struct ibv_send_wr wr = { .wr_id = BAD_WR + 1,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .sg_list = &sge, .num_sge = 1 };
	struct ibv_send_wr more[] = { wr, wr };

	vt_buf_fill(&p->a.buf, 1);
	vt_buf_fill(&p->b.buf, 2);
	TRY(post_recvs(&p->a, RECV_A, RECVS, LEN));
	TRY(post_recvs(&p->b, RECV_B, RECVS, LEN));
	TRY(post_odd(p, odd));
	vt_aim(&p->a, &p->b, &wr);
	more[0].wr = more[1].wr = wr.wr;
	more[0].wr_id = BAD_WR + 2;
	more[1].wr_id = BAD_WR + 3;
	wr.next = &more[0];
	more[0].next = &more[1];
	TRY(vt_post_send(&p->a, &wr));
	TRY(vt_poll_status(p->a.scq, BAD_WR, IBV_WC_REM_INV_REQ_ERR,
			   "A's atomic"));
	TRY(both_in_error(p, &rest));
	TRY(vt_buf_check(&p->a.buf));
	return vt_buf_check(&p->b.buf);
}

static void test_misaligned(void)
{
	static const struct odd odd[] = {
		{ "RC FETCH_ADD: misaligned", false, 0, 0 },
		{ "RC CMP_SWP: misaligned", true, 0, 0 },
		{ "RC FETCH_ADD: misaligned, wrong rkey", false, 0, 0x55 },
		{ "RC CMP_SWP: misaligned, wrong rkey", true, 0, 0x55 },
		{ "RC FETCH_ADD: misaligned, wrong lkey", false, 0x55, 0 },
		{ "RC CMP_SWP: misaligned, wrong lkey", true, 0x55, 0 },
	};
	struct vt_conf c = vt_conf(IBV_QPT_RC);
	size_t i;

	c.extended = true;
	for (i = 0; i < ARRAY_SIZE(odd); i++)
		vt_run(odd[i].name, &c, misaligned_atomic, &odd[i]);
}

static void test_special(void)
{
	static const struct bad stale = ACCESS("", RDMA_WRITE, remote_other_pd,
					       NULL);
	static const struct bad ro = LOCAL("", RDMA_READ, local_other_pd, NULL);
	struct vt_conf c = vt_conf(IBV_QPT_RC);

	vt_run("RC WRITE: MR was deregistered", &c, stale_rkey, &stale);
	vt_run("RC READ: local MR lacks LOCAL_WRITE", &c, read_to_readonly,
	       &ro);
}

int main(int argc, char **argv)
{
	vt_start(argc, argv);
	test_table(untouched, ARRAY_SIZE(untouched), fail_untouched);
	test_table(touched, ARRAY_SIZE(touched), fail_touched);
	test_table(events, ARRAY_SIZE(events), fail);
	test_other_pd();
	test_recv_prot();
	test_zero_length();
	test_special();
	test_misaligned();
	return tap_finish();
}
