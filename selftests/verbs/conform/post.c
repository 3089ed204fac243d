// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ibv_post_send(3): each opcode on each transport, the errors that are found
 * at once, and ibv_post_recv(3), ibv_post_srq_recv(3).
 *
 * The stock provider looks at neither the opcode nor the transport, so an
 * opcode that a transport doesn't have completes with LOC_QP_OP_ERR (IBTA
 * 10.8.3.3 leaves the choice between that and an immediate error).
 */

#include <arpa/inet.h>
#include "conform.h"

/* Each opcode, and what it has to do */

static bool is_atomic(long opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static why_t bind_op(struct cf *t)
{
	struct vt_ep *ep = &t->p->a;
	struct ibv_send_wr wr = {
		.wr_id = CF_WR, .opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = {
			.bind_info = {
				.mr = ep->buf.mr, .length = CF_LEN,
				.addr = (uintptr_t)ep->buf.data,
				.mw_access_flags = IBV_ACCESS_REMOTE_READ,
			},
		},
	};

	t->mw = ibv_alloc_mw(t->dev->pd, IBV_MW_TYPE_2);
	CHECK(t->mw, "ibv_alloc_mw: %s", strerror(errno));
	t->key = ibv_inc_rkey(t->mw->rkey);
	wr.bind_mw.mw = t->mw;
	wr.bind_mw.rkey = t->key;
	return cf_post_send(t, &wr);
}

static why_t inv_op(struct cf *t)
{
	struct ibv_send_wr wr;

	cf_fill(t);
	if (t->row->arg == IBV_WR_LOCAL_INV) {
		TRY(cf_bind(t, &t->p->a, CF_LEN, IBV_ACCESS_REMOTE_WRITE));
		wr = cf_wr(t, IBV_WR_LOCAL_INV, 0);
		wr.num_sge = 0;
	} else {
		TRY(cf_bind(t, &t->p->b, CF_LEN, IBV_ACCESS_REMOTE_WRITE));
		TRY(cf_recv(t));
		wr = cf_wr(t, IBV_WR_SEND_WITH_INV, CF_LEN);
	}
	wr.invalidate_rkey = t->key;
	return cf_post_send(t, &wr);
}

/* The opcode in row->arg, good in all else */
static why_t op(struct cf *t)
{
	enum ibv_wr_opcode opcode = t->row->arg;
	bool ud = t->p->conf.type == IBV_QPT_UD;
	struct ibv_send_wr wr;
	uint64_t before = 41;

	cf_fill(t);
	TRY(cf_recv(t));
	/* on UD an address is needed in any case */
	wr = cf_wr(t, ud && opcode != IBV_WR_SEND_WITH_IMM ? IBV_WR_SEND :
		   opcode, is_atomic(opcode) ? 8 : CF_LEN);
	wr.opcode = opcode;
	if (is_atomic(opcode) && !ud) {
		memcpy(t->p->b.buf.data, &before, 8);
		memcpy(t->p->b.buf.shadow, &before, 8);
		wr.wr.atomic.compare_add = 41;
		wr.wr.atomic.swap = 99;
	}
	return cf_post_send(t, &wr);
}

static why_t check_recv(struct cf *t, enum ibv_wc_opcode opcode,
			unsigned int flags)
{
	uint32_t grh = t->p->conf.type == IBV_QPT_UD ? VT_GRH : 0;
	unsigned int known = IBV_WC_WITH_IMM | IBV_WC_WITH_INV | IBV_WC_GRH;

	if (grh)
		flags |= IBV_WC_GRH;
	else
		known &= ~IBV_WC_GRH;	/* valid on UD only */
	CHECK(t->rwc.opcode == opcode, "receive: opcode %d", t->rwc.opcode);
	CHECK((t->rwc.wc_flags & known) == flags, "receive: wc_flags %#x",
	      t->rwc.wc_flags);
	CHECK(t->rwc.byte_len == CF_LEN + grh, "receive: byte_len %u",
	      t->rwc.byte_len);
	CHECK(!(flags & IBV_WC_WITH_IMM) || ntohl(t->rwc.imm_data) == CF_IMM,
	      "receive: imm_data %#x", ntohl(t->rwc.imm_data));
	CHECK(!(flags & IBV_WC_WITH_INV) || t->rwc.invalidated_rkey == t->key,
	      "receive: invalidated_rkey %#x", t->rwc.invalidated_rkey);
	CHECK(!grh || t->rwc.src_qp == t->p->a.qp->qp_num,
	      "receive: src_qp %u", t->rwc.src_qp);
	return NULL;
}

static why_t wc_is(struct cf *t, enum ibv_wc_opcode opcode)
{
	CHECK(t->wc.opcode == opcode, "send: opcode %d", t->wc.opcode);
	return NULL;
}

static why_t sent(struct cf *t)
{
	TRY(wc_is(t, IBV_WC_SEND));
	TRY(check_recv(t, IBV_WC_RECV, t->row->arg == IBV_WR_SEND_WITH_IMM ?
				       IBV_WC_WITH_IMM : 0));
	return cf_arrived(t);
}

static why_t sent_inv(struct cf *t)
{
	struct ibv_send_wr wr;

	TRY(wc_is(t, IBV_WC_SEND));
	TRY(check_recv(t, IBV_WC_RECV, IBV_WC_WITH_INV));
	TRY(cf_arrived(t));
	wr = cf_wr(t, IBV_WR_RDMA_WRITE, 8);
	wr.wr.rdma.rkey = t->key;
	TRY(vt_post_send(&t->p->a, &wr));
	return vt_poll_status(t->p->a.scq, CF_WR, IBV_WC_REM_ACCESS_ERR,
			      "who uses the key");
}

static why_t written(struct cf *t)
{
	TRY(wc_is(t, IBV_WC_RDMA_WRITE));
	return cf_arrived(t);
}

static why_t written_imm(struct cf *t)
{
	TRY(wc_is(t, IBV_WC_RDMA_WRITE));
	TRY(check_recv(t, IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM));
	return cf_arrived(t);
}

static why_t has_read(struct cf *t)
{
	TRY(wc_is(t, IBV_WC_RDMA_READ));
	CHECK(t->wc.byte_len == CF_LEN, "byte_len %u", t->wc.byte_len);
	memcpy(t->p->a.buf.shadow, t->p->b.buf.shadow, CF_LEN);
	return cf_sent(t);
}

static why_t has_fetched(struct cf *t)
{
	bool cas = t->row->arg == IBV_WR_ATOMIC_CMP_AND_SWP;
	uint64_t after = cas ? 99 : 82;

	TRY(wc_is(t, cas ? IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD));
	CHECK(t->wc.byte_len == 8, "byte_len %u", t->wc.byte_len);
	CHECK(cf_word(&t->p->a.buf, 0) == 41, "fetched %llu",
	      (unsigned long long)cf_word(&t->p->a.buf, 0));
	CHECK(cf_word(&t->p->b.buf, 0) == after, "left %llu there",
	      (unsigned long long)cf_word(&t->p->b.buf, 0));
	memcpy(t->p->a.buf.shadow, t->p->a.buf.data, 8);
	memcpy(t->p->b.buf.shadow, t->p->b.buf.data, 8);
	return cf_sent(t);
}

/* B reads A's window, if that can be. */
static why_t is_bound(struct cf *t)
{
	struct ibv_send_wr wr = {
		.wr_id = 7, .opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = t->sge, .num_sge = 1,
		.wr.rdma = { .remote_addr = (uintptr_t)t->p->a.buf.data,
			     .rkey = t->key },
	};

	TRY(wc_is(t, IBV_WC_BIND_MW));
	if (t->p->conf.type != IBV_QPT_RC)
		return NULL;
	t->sge[0] = vt_sge(&t->p->b.buf, 0, CF_LEN);
	TRY(vt_post_send(&t->p->b, &wr));
	return vt_poll_status(t->p->b.scq, 7, IBV_WC_SUCCESS, "B's READ");
}

/* The key leads nowhere; only a writer on RC is told. */
static why_t is_invalid(struct cf *t)
{
	struct ibv_send_wr wr = {
		.wr_id = 7, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = t->sge, .num_sge = 1,
		.wr.rdma = { .remote_addr = (uintptr_t)t->p->a.buf.data,
			     .rkey = t->key },
	};

	TRY(wc_is(t, IBV_WC_LOCAL_INV));
	t->sge[0] = vt_sge(&t->p->b.buf, 0, CF_LEN);
	TRY(vt_post_send(&t->p->b, &wr));
	TRY(vt_poll_status(t->p->b.scq, 7, t->p->conf.type == IBV_QPT_RC ?
			   IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS,
			   "B's WRITE"));
	vt_sleep_ms(50);
	return cf_sent(t);
}

#define OPCODES "the table of opcodes and transports"
#define GOOD(t, op_, fn, rcv, check)					\
	{ "ibv_post_send", OPCODES, #t ": IBV_WR_" #op_, fn,		\
	  IBV_WR_##op_, .type = IBV_QPT_##t, .prep = cf_bindable,	\
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = rcv,			\
	  .state = CF_IS(IBV_QPS_RTS), .after = check }
#define REFUSED(t, op_, end)						\
	{ "ibv_post_send", OPCODES, #t " has no IBV_WR_" #op_, op,	\
	  IBV_WR_##op_, .type = IBV_QPT_##t,				\
	  .wc = CF_IS(IBV_WC_LOC_QP_OP_ERR),				\
	  .state = CF_IS(IBV_QPS_##end), .peer = CF_IS(IBV_QPS_RTS),	\
	  .after = cf_sent }
#define RECEIVED CF_IS(IBV_WC_SUCCESS)
#define OPCODE(wc_, op_, fn, rcv, check)				\
	{ "ibv_poll_cq", "the opcode of what has completed",		\
	  "IBV_WC_" #wc_ " of IBV_WR_" #op_, fn, IBV_WR_##op_,		\
	  .prep = cf_bindable, .wc = CF_IS(IBV_WC_SUCCESS), .recv = rcv, \
	  .after = check }

/* Errors found while posting */

/* Three in a list; the one in the middle is spoilt by the row. */
static why_t list(struct cf *t, void (*spoil)(struct cf *t,
					      struct ibv_send_wr *wr))
{
	struct ibv_send_wr wr[3], *bad = NULL;
	int i;

	cf_fill(t);
	for (i = 0; i < 64; i++)
		t->sge[i] = vt_sge(&t->p->a.buf, 8 * i, 8);
	for (i = 0; i < 3; i++) {
		wr[i] = cf_wr(t, t->p->conf.type == IBV_QPT_UD ? IBV_WR_SEND :
			      IBV_WR_RDMA_WRITE, 8);
		wr[i].wr_id = i ? 90 + i : CF_WR;
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
	}
	spoil(t, &wr[1]);
	t->err = abs(ibv_post_send(t->p->a.qp, wr, &bad));
	CHECK(bad == &wr[1], "bad_wr is not the one that failed");
	return NULL;
}

/* The first was executed, the third was not looked at. */
static why_t only_first(struct cf *t)
{
	return vt_quiet(t->p->a.scq, 100);
}

static void many_sges(struct cf *t, struct ibv_send_wr *wr)
{
	wr->num_sge = t->p->a.cap.max_send_sge + 1;
}

static void long_inline(struct cf *t, struct ibv_send_wr *wr)
{
	t->sge[1] = vt_sge(&t->p->a.buf, 0, t->p->a.cap.max_inline_data + 1);
	wr->sg_list = &t->sge[1];
	wr->send_flags |= IBV_SEND_INLINE;
}

static void to_atomic(struct cf *t, struct ibv_send_wr *wr, uint32_t len)
{
	uint32_t rkey = wr->wr.rdma.rkey;
	uint64_t addr = wr->wr.rdma.remote_addr;

	t->sge[1] = vt_sge(&t->p->a.buf, 0, len);
	wr->sg_list = &t->sge[1];
	wr->opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr->wr.atomic.remote_addr = addr;
	wr->wr.atomic.rkey = rkey;
}

static void short_atomic(struct cf *t, struct ibv_send_wr *wr)
{
	to_atomic(t, wr, 7);
}

static void odd_atomic(struct cf *t, struct ibv_send_wr *wr)
{
	to_atomic(t, wr, 8);
	wr->wr.atomic.remote_addr += 4;
}

static why_t list_sges(struct cf *t)
{
	return list(t, many_sges);
}

static why_t list_inline(struct cf *t)
{
	return list(t, long_inline);
}

static why_t list_short_atomic(struct cf *t)
{
	return list(t, short_atomic);
}

static why_t list_odd_atomic(struct cf *t)
{
	return list(t, odd_atomic);
}

static why_t max_sges(struct cf *t)
{
	struct ibv_send_wr wr;
	uint32_t i, n = MIN(t->p->a.cap.max_send_sge, 64U);

	cf_fill(t);
	TRY(cf_recv(t));
	wr = cf_wr(t, IBV_WR_SEND, 8);
	for (i = 0; i < n; i++) {
		t->sge[i] = vt_sge(&t->p->a.buf, i * 16, 8);
		memcpy(t->p->b.buf.shadow + i * 8,
		       t->p->a.buf.data + i * 16, 8);
	}
	wr.num_sge = n;
	return cf_post_send(t, &wr);
}

static why_t max_inline(struct cf *t)
{
	struct ibv_send_wr wr;

	cf_fill(t);
	TRY(cf_recv(t));
	wr = cf_wr(t, IBV_WR_SEND, t->p->a.cap.max_inline_data);
	wr.send_flags |= IBV_SEND_INLINE;
	memcpy(t->p->b.buf.shadow, t->p->a.buf.data,
	       t->p->a.cap.max_inline_data);
	return cf_post_send(t, &wr);
}

/* Without receives at the peer, sends stay in the queue. */
static why_t fill_sq(struct cf *t)
{
	struct ibv_send_wr wr = cf_wr(t, IBV_WR_SEND, 8);
	struct ibv_send_wr *bad = NULL;
	uint32_t n, max = t->p->a.cap.max_send_wr;

	for (n = 0; n <= 4 * max && !t->err; n++)
		t->err = abs(ibv_post_send(t->p->a.qp, &wr, &bad));
	CHECK(n > max, "full after %u of %u", n - 1, max);
	CHECK(!t->err || bad == &wr, "bad_wr is something else");
	return NULL;
}

static why_t in_state(struct cf *t)
{
	enum ibv_qp_state to = t->row->arg;
	struct ibv_send_wr wr;

	if (t->p->conf.type == IBV_QPT_UD)
		TRY(vt_ep_ah(&t->p->a, &t->p->b.dev->gid));
	if (to >= IBV_QPS_INIT)
		TRY(vt_ep_init(&t->p->a));
	if (to == IBV_QPS_ERR)
		TRY(vt_ep_state(&t->p->a, IBV_QPS_ERR));
	else if (to >= IBV_QPS_RTR)
		TRY(vt_ep_rtr(&t->p->a, &t->p->b));
	wr = cf_wr(t, IBV_WR_SEND, 8);
	return cf_post_send(t, &wr);
}

static why_t no_completion(struct cf *t)
{
	return vt_quiet(t->p->a.scq, 50);
}

static why_t in_sqd(struct cf *t)
{
	struct ibv_send_wr wr;

	TRY(vt_ep_state(&t->p->a, IBV_QPS_SQD));
	cf_fill(t);
	wr = cf_wr(t, IBV_WR_RDMA_WRITE, CF_LEN);
	TRY(cf_post_send(t, &wr));
	TRY(vt_quiet(t->p->a.scq, 100));
	return vt_ep_state(&t->p->a, IBV_QPS_RTS);
}

static why_t null_list(struct cf *t)
{
	struct ibv_send_wr wr;

	cf_fill(t);
	TRY(cf_recv(t));
	wr = cf_wr(t, IBV_WR_SEND, 8);
	wr.num_sge = 0;
	wr.sg_list = NULL;
	return cf_post_send(t, &wr);
}

static why_t empty_message(struct cf *t)
{
	CHECK(t->rwc.byte_len == 0, "byte_len %u", t->rwc.byte_len);
	return cf_sent(t);
}

/* Receives */

static why_t recv_sges(struct cf *t)
{
	struct ibv_recv_wr wr[2] = {
		{ .wr_id = 1, .sg_list = t->sge, .num_sge = 1, .next = &wr[1] },
		{ .wr_id = 2, .sg_list = t->sge },
	};
	struct ibv_recv_wr *bad = NULL;
	int i;

	for (i = 0; i < 64; i++)
		t->sge[i] = vt_sge(&t->p->b.buf, 16 * i, 8);
	wr[1].num_sge = t->p->b.cap.max_recv_sge + 1;
	t->err = abs(ibv_post_recv(t->p->b.qp, wr, &bad));
	CHECK(bad == &wr[1], "bad_wr is not the one that failed");
	return NULL;
}

static why_t fill_rq(struct cf *t)
{
	struct ibv_recv_wr wr = { .sg_list = t->sge, .num_sge = 1 };
	struct ibv_recv_wr *bad = NULL;
	uint32_t n, max = t->p->b.cap.max_recv_wr;

	t->sge[0] = vt_sge(&t->p->b.buf, 0, 8);
	for (n = 0; n <= 4 * max && !t->err; n++)
		t->err = abs(ibv_post_recv(t->p->b.qp, &wr, &bad));
	CHECK(n > max, "full after %u of %u", n - 1, max);
	CHECK(!t->err || bad == &wr, "bad_wr is something else");
	return NULL;
}

static why_t recv_beside_srq(struct cf *t)
{
	struct ibv_recv_wr wr = { .sg_list = t->sge, .num_sge = 1 };
	struct ibv_recv_wr *bad = NULL;

	CHECK(t->p->b.qp->srq, "no SRQ");
	t->sge[0] = vt_sge(&t->p->b.buf, 0, 8);
	t->err = abs(ibv_post_recv(t->p->b.qp, &wr, &bad));
	return NULL;
}

/* A connected pair whose receiver was in INIT before already */
static why_t recv_early(struct cf *t)
{
	struct vt_pair *p = t->p;

	TRY(vt_ep_init(&p->b));
	cf_fill(t);
	TRY(cf_recv(t));
	TRY(vt_ep_init(&p->a));
	TRY(vt_ep_rtr(&p->a, &p->b));
	TRY(vt_ep_rtr(&p->b, &p->a));
	TRY(vt_ep_rts(&p->a));
	t->sge[0] = vt_sge(&p->a.buf, 0, CF_LEN);
	return cf_post_send(t, &(struct ibv_send_wr){
		.wr_id = CF_WR, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = t->sge, .num_sge = 1 });
}

static why_t scatter(struct cf *t)
{
	struct ibv_send_wr wr;
	uint32_t off = 0, i, n;

	cf_fill(t);
	for (i = 0; i < 3; i++, off += n) {
		n = i < 2 ? 301 + i : CF_LEN;
		t->sge[i] = vt_sge(&t->p->b.buf, 2000 * i + 1, n);
		n = MIN(n, CF_LEN - off);
		memcpy(t->p->b.buf.shadow + 2000 * i + 1,
		       t->p->a.buf.data + off, n);
	}
	TRY(vt_post_recv(&t->p->b, CF_RECV, t->sge, 3));
	wr = cf_wr(t, IBV_WR_SEND, CF_LEN);
	return cf_post_send(t, &wr);
}

static why_t srq_sges(struct cf *t)
{
	struct ibv_recv_wr wr[2] = {
		{ .wr_id = 1, .sg_list = t->sge, .num_sge = 1, .next = &wr[1] },
		{ .wr_id = 2, .sg_list = t->sge },
	};
	struct ibv_recv_wr *bad = NULL;
	struct ibv_srq_attr attr;
	int i;

	CHECK(t->p->b.qp->srq, "no SRQ");
	CHECK(!ibv_query_srq(t->p->b.qp->srq, &attr), "ibv_query_srq");
	for (i = 0; i < 64; i++)
		t->sge[i] = vt_sge(&t->p->b.buf, 16 * i, 8);
	wr[1].num_sge = attr.max_sge + 1;
	t->err = abs(ibv_post_srq_recv(t->p->b.qp->srq, wr, &bad));
	CHECK(bad == &wr[1], "bad_wr is not the one that failed");
	return NULL;
}

static why_t fill_srq(struct cf *t)
{
	struct ibv_recv_wr wr = { .sg_list = t->sge, .num_sge = 1 };
	struct ibv_recv_wr *bad = NULL;
	struct ibv_srq_attr attr;
	uint32_t n;

	CHECK(t->p->b.qp->srq, "no SRQ");
	CHECK(!ibv_query_srq(t->p->b.qp->srq, &attr), "ibv_query_srq");
	t->sge[0] = vt_sge(&t->p->b.buf, 0, 8);
	for (n = 0; n <= 4 * attr.max_wr && !t->err; n++)
		t->err = abs(ibv_post_srq_recv(t->p->b.qp->srq, &wr, &bad));
	CHECK(n > attr.max_wr, "full after %u of %u", n - 1, attr.max_wr);
	CHECK(!t->err || bad == &wr, "bad_wr is something else");
	return NULL;
}

static const struct cf_row rows[] = {
	GOOD(UD, SEND, op, RECEIVED, sent),
	GOOD(UD, SEND_WITH_IMM, op, RECEIVED, sent),
	REFUSED(UD, RDMA_WRITE, SQE),
	REFUSED(UD, RDMA_WRITE_WITH_IMM, SQE),
	REFUSED(UD, RDMA_READ, SQE),
	REFUSED(UD, ATOMIC_CMP_AND_SWP, SQE),
	REFUSED(UD, ATOMIC_FETCH_AND_ADD, SQE),
	REFUSED(UD, LOCAL_INV, SQE),
	{ "ibv_post_send", OPCODES, "UD has no IBV_WR_BIND_MW", bind_op,
	  .type = IBV_QPT_UD, .prep = cf_bindable, .err = EINVAL,
	  .state = CF_IS(IBV_QPS_RTS), .after = no_completion },
	REFUSED(UD, SEND_WITH_INV, SQE),
	{ "ibv_post_send", OPCODES "; tso_caps claims none",
	  "UD: IBV_WR_TSO", op, IBV_WR_TSO, .type = IBV_QPT_UD,
	  .hostile = true, .wc = CF_IS(IBV_WC_LOC_QP_OP_ERR),
	  .state = CF_IS(IBV_QPS_SQE), .after = cf_sent },

	GOOD(UC, SEND, op, RECEIVED, sent),
	GOOD(UC, SEND_WITH_IMM, op, RECEIVED, sent),
	GOOD(UC, RDMA_WRITE, op, 0, written),
	GOOD(UC, RDMA_WRITE_WITH_IMM, op, RECEIVED, written_imm),
	REFUSED(UC, RDMA_READ, SQE),
	REFUSED(UC, ATOMIC_CMP_AND_SWP, SQE),
	REFUSED(UC, ATOMIC_FETCH_AND_ADD, SQE),
	GOOD(UC, LOCAL_INV, inv_op, 0, is_invalid),
	GOOD(UC, BIND_MW, bind_op, 0, is_bound),
	{ "ibv_post_send", OPCODES "; but IBTA table 38: UC has no packet for it",
	  "UC: IBV_WR_SEND_WITH_INV", inv_op, IBV_WR_SEND_WITH_INV,
	  .type = IBV_QPT_UC, .prep = cf_bindable,
	  .wc = CF_IS(IBV_WC_LOC_QP_OP_ERR),
	  .state = CF_IS(IBV_QPS_SQE), .after = cf_sent },
	{ "ibv_post_send", OPCODES, "UC has no IBV_WR_TSO", op, IBV_WR_TSO,
	  .type = IBV_QPT_UC, .hostile = true,
	  .wc = CF_IS(IBV_WC_LOC_QP_OP_ERR),
	  .state = CF_IS(IBV_QPS_SQE), .after = cf_sent },

	GOOD(RC, SEND, op, RECEIVED, sent),
	GOOD(RC, SEND_WITH_IMM, op, RECEIVED, sent),
	GOOD(RC, RDMA_WRITE, op, 0, written),
	GOOD(RC, RDMA_WRITE_WITH_IMM, op, RECEIVED, written_imm),
	GOOD(RC, RDMA_READ, op, 0, has_read),
	GOOD(RC, ATOMIC_CMP_AND_SWP, op, 0, has_fetched),
	GOOD(RC, ATOMIC_FETCH_AND_ADD, op, 0, has_fetched),
	GOOD(RC, LOCAL_INV, inv_op, 0, is_invalid),
	GOOD(RC, BIND_MW, bind_op, 0, is_bound),
	{ "ibv_post_send", OPCODES, "RC: IBV_WR_SEND_WITH_INV", inv_op,
	  IBV_WR_SEND_WITH_INV, .prep = cf_bindable,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = RECEIVED, .after = sent_inv },
	{ "ibv_post_send", OPCODES, "RC has no IBV_WR_TSO", op, IBV_WR_TSO,
	  .hostile = true, .wc = CF_IS(IBV_WC_LOC_QP_OP_ERR),
	  .state = CF_IS(IBV_QPS_ERR), .after = cf_sent },
	{ "ibv_post_send", "a driver's operation; there is none, and so no "
	  "IBV_WC_DRIVER1, IBV_WC_DRIVER2, IBV_WC_DRIVER3", "IBV_WR_DRIVER1",
	   op, IBV_WR_DRIVER1, .hostile = true,
	  .wc = CF_IS(IBV_WC_LOC_QP_OP_ERR), .state = CF_IS(IBV_QPS_ERR),
	  .after = cf_sent },
	{ "ibv_post_send", "a value that is no opcode", "opcode 13", op, 13,
	  .hostile = true, .wc = CF_IS(IBV_WC_LOC_QP_OP_ERR),
	  .state = CF_IS(IBV_QPS_ERR), .after = cf_sent },

	{ "ibv_post_send", "stops at the first failure, returned as bad_wr",
	  "RC: more pieces than max_send_sge", list_sges, .err = EINVAL,
	  .wc = CF_IS(IBV_WC_SUCCESS), .state = CF_IS(IBV_QPS_RTS),
	  .after = only_first },
	{ "ibv_post_send", "stops at the first failure, returned as bad_wr",
	  "UC: more pieces than max_send_sge", list_sges, .err = EINVAL,
	  .type = IBV_QPT_UC, .wc = CF_IS(IBV_WC_SUCCESS),
	  .state = CF_IS(IBV_QPS_RTS), .after = only_first },
	{ "ibv_post_send", "stops at the first failure, returned as bad_wr",
	  "UD: more pieces than max_send_sge", list_sges, .err = EINVAL,
	  .type = IBV_QPT_UD, .wc = CF_IS(IBV_WC_SUCCESS),
	  .state = CF_IS(IBV_QPS_RTS), .after = only_first },
	{ "ibv_post_send", "max_inline_data is what can be posted inline",
	  "inline longer than max_inline_data", list_inline, .err = EINVAL,
	  .wc = CF_IS(IBV_WC_SUCCESS), .state = CF_IS(IBV_QPS_RTS),
	  .after = only_first },
	{ "ibv_post_send", "IBTA 9.4.5: atomics are of 64 bits",
	  "atomic with a list of 7 bytes", list_short_atomic, .err = EINVAL,
	  .wc = CF_IS(IBV_WC_SUCCESS), .state = CF_IS(IBV_QPS_RTS),
	  .after = only_first },
	{ "ibv_post_send", "IBTA 9.4.5: atomics are aligned",
	  "atomic at an odd multiple of 4", list_odd_atomic, .err = EINVAL,
	  .wc = CF_IS(IBV_WC_SUCCESS), .state = CF_IS(IBV_QPS_RTS),
	  .after = only_first },
	{ "ibv_post_send", "num_sge up to max_send_sge", "max_send_sge pieces",
	  max_sges, .wc = CF_IS(IBV_WC_SUCCESS), .recv = RECEIVED,
	  .after = cf_sent },
	{ "ibv_post_send", "max_inline_data is what can be posted inline",
	  "inline of max_inline_data", max_inline,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = RECEIVED, .after = cf_sent },
	{ "ibv_post_send", "num_sge is the size of the array", "no pieces",
	  null_list, .wc = CF_IS(IBV_WC_SUCCESS), .recv = RECEIVED,
	  .after = empty_message },
	{ "ibv_post_send", "max_send_wr outstanding requests",
	  "the send queue is full", fill_sq, .err = ENOMEM,
	  .state = CF_IS(IBV_QPS_RTS) },
	{ "ibv_post_send", "IBTA 10.3.1: no sends in Reset", "RC in RESET",
	  in_state, IBV_QPS_RESET, CF_RESET, .err = EINVAL,
	  .state = CF_IS(IBV_QPS_RESET), .after = no_completion },
	{ "ibv_post_send", "IBTA 10.3.1: no sends in Init", "RC in INIT",
	  in_state, IBV_QPS_INIT, CF_RESET, .err = EINVAL,
	  .state = CF_IS(IBV_QPS_INIT), .after = no_completion },
	{ "ibv_post_send", "IBTA 10.3.1: no sends in RTR", "UD in RTR",
	  in_state, IBV_QPS_RTR, CF_RESET, .type = IBV_QPT_UD, .err = EINVAL,
	  .state = CF_IS(IBV_QPS_RTR), .after = no_completion },
	{ "ibv_post_send", "IBTA 10.3.1.7: flushed", "RC in ERR", in_state,
	  IBV_QPS_ERR, CF_RESET, .wc = CF_IS(IBV_WC_WR_FLUSH_ERR),
	  .state = CF_IS(IBV_QPS_ERR) },
	{ "ibv_post_send", "IBTA 10.3.1.7: flushed", "UD in ERR", in_state,
	  IBV_QPS_ERR, CF_RESET, .type = IBV_QPT_UD,
	  .wc = CF_IS(IBV_WC_WR_FLUSH_ERR), .state = CF_IS(IBV_QPS_ERR) },
	{ "ibv_post_send", "IBTA 10.3.1.5: taken, executed back in RTS",
	  "RC in SQD", in_sqd, .wc = CF_IS(IBV_WC_SUCCESS),
	  .state = CF_IS(IBV_QPS_RTS), .after = cf_arrived },

	{ "ibv_post_recv", "IBTA 10.3.1: receives from Init on",
	  "RC in INIT", recv_early, .stage = CF_RESET,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = RECEIVED,
	  .peer = CF_IS(IBV_QPS_RTR), .after = cf_arrived },
	{ "ibv_post_recv", "the scatter/gather array", "three pieces", scatter,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = RECEIVED, .after = cf_sent },
	{ "ibv_post_recv", "stops at the first failure, returned as bad_wr",
	  "more pieces than max_recv_sge", recv_sges, .err = EINVAL },
	{ "ibv_post_recv", "max_recv_wr outstanding requests",
	  "the receive queue is full", fill_rq, .err = ENOMEM },
	{ "ibv_post_recv", "with an SRQ you must use ibv_post_srq_recv()",
	  "QP with an SRQ", recv_beside_srq, .prep = cf_with_srq,
	  .err = EINVAL },
	{ "ibv_post_recv", "the GRH is in the first 40 bytes", "UD", op,
	  IBV_WR_SEND, .type = IBV_QPT_UD, .wc = CF_IS(IBV_WC_SUCCESS),
	  .recv = RECEIVED, .after = sent },

	OPCODE(SEND, SEND, op, RECEIVED, sent),
	OPCODE(RDMA_WRITE, RDMA_WRITE, op, 0, written),
	OPCODE(RDMA_READ, RDMA_READ, op, 0, has_read),
	OPCODE(COMP_SWAP, ATOMIC_CMP_AND_SWP, op, 0, has_fetched),
	OPCODE(FETCH_ADD, ATOMIC_FETCH_AND_ADD, op, 0, has_fetched),
	OPCODE(BIND_MW, BIND_MW, bind_op, 0, is_bound),
	OPCODE(LOCAL_INV, LOCAL_INV, inv_op, 0, is_invalid),
	{ "ibv_poll_cq", "IBV_WC_WITH_IMM: imm_data is valid",
	  "IBV_WC_RECV of SEND_WITH_IMM", op, IBV_WR_SEND_WITH_IMM,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = RECEIVED, .after = sent },
	{ "ibv_poll_cq", "IBV_WC_WITH_IMM: imm_data is valid",
	  "IBV_WC_RECV_RDMA_WITH_IMM", op, IBV_WR_RDMA_WRITE_WITH_IMM,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = RECEIVED,
	  .after = written_imm },
	{ "ibv_poll_cq", "IBV_WC_WITH_INV: invalidated_rkey is valid",
	  "IBV_WC_RECV of SEND_WITH_INV", inv_op, IBV_WR_SEND_WITH_INV,
	  .prep = cf_bindable, .wc = CF_IS(IBV_WC_SUCCESS), .recv = RECEIVED,
	  .after = sent_inv },
	{ "ibv_poll_cq", "IBV_WC_GRH: the GRH is present (UD)",
	  "IBV_WC_RECV on UD", op, IBV_WR_SEND, .type = IBV_QPT_UD,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = RECEIVED, .after = sent },

	{ "ibv_post_srq_recv", "posts to the SRQ", "RC", op, IBV_WR_SEND,
	  .prep = cf_with_srq, .wc = CF_IS(IBV_WC_SUCCESS), .recv = RECEIVED,
	  .after = sent },
	{ "ibv_post_srq_recv", "posts to the SRQ", "UC", op, IBV_WR_SEND,
	  .type = IBV_QPT_UC, .prep = cf_with_srq,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = RECEIVED, .after = sent },
	{ "ibv_post_srq_recv", "posts to the SRQ", "UC: WRITE_WITH_IMM", op,
	  IBV_WR_RDMA_WRITE_WITH_IMM, .type = IBV_QPT_UC, .prep = cf_with_srq,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = RECEIVED,
	  .after = written_imm },
	{ "ibv_post_srq_recv", "the GRH is in the first 40 bytes", "UD", op,
	  IBV_WR_SEND, .type = IBV_QPT_UD, .prep = cf_with_srq,
	  .wc = CF_IS(IBV_WC_SUCCESS), .recv = RECEIVED, .after = sent },
	{ "ibv_post_srq_recv",
	  "stops at the first failure, returned as bad_wr",
	  "more pieces than max_sge", srq_sges, .prep = cf_with_srq,
	  .err = EINVAL },
	{ "ibv_post_srq_recv", "max_wr outstanding requests", "the SRQ is full",
	  fill_srq, .prep = cf_with_srq, .err = ENOMEM },
};

CF_TABLE(70, "Opcodes, errors of posting, receiving", rows);
