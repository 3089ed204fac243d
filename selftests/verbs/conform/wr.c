// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The ibv_wr_* interface, ibv_wr_post(3): each builder and each setter. A's QP
 * is made anew with all the operations that its type has.
 */

#include <arpa/inet.h>
#include "conform.h"
#include "../../../uapi/sroce_abi.h"

#define EX(what)	IBV_QP_EX_WITH_##what

static uint64_t all_ops(enum ibv_qp_type type)
{
	uint64_t ops = EX(SEND) | EX(SEND_WITH_IMM);

	if (type == IBV_QPT_UD)
		return ops;
	ops |= EX(RDMA_WRITE) | EX(RDMA_WRITE_WITH_IMM) | EX(BIND_MW);
	if (type == IBV_QPT_UC)
		return ops;
	return ops | EX(RDMA_READ) | EX(ATOMIC_CMP_AND_SWP) |
	       EX(ATOMIC_FETCH_AND_ADD) | EX(LOCAL_INV) | EX(SEND_WITH_INV) |
	       EX(ATOMIC_WRITE);
}

static why_t renew(struct cf *t)
{
	struct vt_ep *a = &t->p->a;
	struct ibv_qp_init_attr_ex ex = {
		.send_cq = a->scq, .recv_cq = a->rcq,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16,
			 .max_send_sge = 4, .max_recv_sge = 4,
			 .max_inline_data = 64 },
		.qp_type = t->p->conf.type, .pd = t->dev->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = all_ops(t->p->conf.type),
	};

	CHECK(!ibv_destroy_qp(a->qp), "ibv_destroy_qp");
	a->qp = ibv_create_qp_ex(t->dev->ctx, &ex);
	CHECK(a->qp, "ibv_create_qp_ex: %s", strerror(errno));
	a->cap = ex.cap;
	return vt_connect(t->p);
}

/* Ready to build a request, and a receive is posted. */
static why_t start(struct cf *t, struct ibv_qp_ex **qpx)
{
	TRY(renew(t));
	cf_fill(t);
	TRY(cf_recv(t));
	*qpx = ibv_qp_to_qp_ex(t->p->a.qp);
	CHECK(*qpx, "no extended QP");
	ibv_wr_start(*qpx);
	(*qpx)->wr_id = CF_WR;
	(*qpx)->wr_flags = IBV_SEND_SIGNALED;
	return NULL;
}

static uint64_t there(struct cf *t)
{
	return (uintptr_t)t->p->b.buf.data;
}

static uint32_t rkey(struct cf *t)
{
	return t->p->b.buf.mr->rkey;
}

static void address(struct cf *t, struct ibv_qp_ex *qpx)
{
	if (t->p->conf.type == IBV_QPT_UD)
		ibv_wr_set_ud_addr(qpx, t->p->a.ah, t->p->b.qp->qp_num,
				   VT_QKEY);
}

static void build(struct cf *t, struct ibv_qp_ex *qpx)
{
	switch (t->row->arg) {
	case IBV_WR_SEND:
		ibv_wr_send(qpx);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qpx, htonl(CF_IMM));
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qpx, rkey(t), there(t));
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qpx, rkey(t), there(t), htonl(CF_IMM));
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qpx, rkey(t), there(t));
		break;
	}
	address(t, qpx);
}

/* The builder of row->arg, with one piece */
static why_t one(struct cf *t)
{
	struct ibv_qp_ex *qpx;

	TRY(start(t, &qpx));
	build(t, qpx);
	ibv_wr_set_sge(qpx, t->p->a.buf.mr->lkey,
		       (uintptr_t)t->p->a.buf.data, CF_LEN);
	t->err = ibv_wr_complete(qpx);
	return NULL;
}

/* With three pieces, one after the other in memory */
static why_t pieces(struct cf *t)
{
	struct ibv_qp_ex *qpx;

	TRY(start(t, &qpx));
	build(t, qpx);
	t->sge[0] = vt_sge(&t->p->a.buf, 0, 100);
	t->sge[1] = vt_sge(&t->p->a.buf, 100, 300);
	t->sge[2] = vt_sge(&t->p->a.buf, 400, CF_LEN - 400);
	ibv_wr_set_sge_list(qpx, 3, t->sge);
	t->err = ibv_wr_complete(qpx);
	return NULL;
}

static void expect_inline(struct cf *t, uint32_t len)
{
	uint32_t grh = t->p->conf.type == IBV_QPT_UD ? VT_GRH : 0;

	memcpy(t->p->b.buf.shadow + grh, t->p->a.buf.data, len);
	/* the setter has copied it */
	memset(t->p->a.buf.data, 0x77, len);
	memset(t->p->a.buf.shadow, 0x77, len);
}

static why_t inlined(struct cf *t)
{
	struct ibv_qp_ex *qpx;

	TRY(start(t, &qpx));
	build(t, qpx);
	ibv_wr_set_inline_data(qpx, t->p->a.buf.data, 60);
	expect_inline(t, 60);
	t->err = ibv_wr_complete(qpx);
	return NULL;
}

static why_t inlined_list(struct cf *t)
{
	struct ibv_data_buf bufs[2] = {
		{ .addr = t->p->a.buf.data, .length = 20 },
		{ .addr = t->p->a.buf.data + 20, .length = 40 },
	};
	struct ibv_qp_ex *qpx;

	TRY(start(t, &qpx));
	build(t, qpx);
	ibv_wr_set_inline_data_list(qpx, 2, bufs);
	expect_inline(t, 60);
	t->err = ibv_wr_complete(qpx);
	return NULL;
}

/* The provider up to 65 at least says that it is 0, which can't be helped. */
static why_t list_or_nothing(struct cf *t)
{
	CHECK(!t->rwc.byte_len || t->rwc.byte_len == 60, "byte_len %u",
	      t->rwc.byte_len);
	if (!t->rwc.byte_len)	/* what came before is still there */
		vt_fill(t->p->b.buf.shadow, t->p->b.buf.len, 2);
	return cf_sent(t);
}

static why_t inline_long(struct cf *t)
{
	struct ibv_qp_ex *qpx;

	TRY(start(t, &qpx));
	build(t, qpx);
	ibv_wr_set_inline_data(qpx, t->p->a.buf.data,
			       t->p->a.cap.max_inline_data + 1);
	t->err = ibv_wr_complete(qpx);
	return vt_quiet(t->p->a.scq, 100);
}

static why_t has_sent(struct cf *t)
{
	bool imm = t->row->arg == IBV_WR_SEND_WITH_IMM ||
		   t->row->arg == IBV_WR_RDMA_WRITE_WITH_IMM;

	if (t->row->recv)
		CHECK(!!(t->rwc.wc_flags & IBV_WC_WITH_IMM) == imm &&
		      (!imm || ntohl(t->rwc.imm_data) == CF_IMM),
		      "wc_flags %#x imm_data %#x", t->rwc.wc_flags,
		      ntohl(t->rwc.imm_data));
	return cf_arrived(t);
}

static why_t has_read(struct cf *t)
{
	memcpy(t->p->a.buf.shadow, t->p->b.buf.data, CF_LEN);
	return vt_buf_check(&t->p->a.buf);
}

static why_t atomic(struct cf *t)
{
	bool cas = t->row->arg == IBV_WR_ATOMIC_CMP_AND_SWP;
	uint64_t before = 41;
	struct ibv_qp_ex *qpx;

	TRY(start(t, &qpx));
	memcpy(t->p->b.buf.data, &before, 8);
	if (cas)
		ibv_wr_atomic_cmp_swp(qpx, rkey(t), there(t), 41, 99);
	else
		ibv_wr_atomic_fetch_add(qpx, rkey(t), there(t), 58);
	ibv_wr_set_sge(qpx, t->p->a.buf.mr->lkey,
		       (uintptr_t)t->p->a.buf.data, 8);
	t->err = ibv_wr_complete(qpx);
	return NULL;
}

static why_t has_fetched(struct cf *t)
{
	CHECK(cf_word(&t->p->a.buf, 0) == 41 && cf_word(&t->p->b.buf, 0) == 99,
	      "fetched %llu, left %llu",
	      (unsigned long long)cf_word(&t->p->a.buf, 0),
	      (unsigned long long)cf_word(&t->p->b.buf, 0));
	return NULL;
}

/* Not in the manual of 44, though its header and its provider have it */
static why_t atomic_write(struct cf *t)
{
	uint64_t value = 0x0123456789abcdefULL;
	struct ibv_qp_ex *qpx;

	TRY(start(t, &qpx));
	memcpy(t->p->b.buf.shadow + t->row->arg, &value, 8);
	ibv_wr_atomic_write(qpx, rkey(t), there(t) + t->row->arg, &value);
	t->err = ibv_wr_complete(qpx);
	return NULL;
}

static why_t has_atomic_written(struct cf *t)
{
	CHECK(t->wc.opcode == IBV_WC_ATOMIC_WRITE, "opcode %d", t->wc.opcode);
	return cf_sent(t);
}

/* rdma-core 44 has no names for these */
#define FLUSH_CAP	(1ULL << 38)
#define FLUSH_GLOBAL	(1 << 8)
#define FLUSH_LASTING	(1 << 9)
#define WR_FLUSH	14
#define WC_FLUSH	8
#define WHOLE		0x100	/* beside the type: of all of the region */

/* A slot of a ring that has just been filled, among all that is mapped */
static struct sroce_abi_send_wqe *slot_of(uint64_t remote_addr)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct sroce_abi_send_wqe *found = NULL;
	unsigned long from, to;
	char line[512];

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "uverbs") ||
		    sscanf(line, "%lx-%lx rw", &from, &to) != 2)
			continue;
		for (; from + sizeof(*found) <= to; from += 8) {
			struct sroce_abi_send_wqe *s = (void *)from;

			if (s->wr.wr_id == CF_WR &&
			    s->wr.opcode == IBV_WR_RDMA_READ &&
			    s->wr.rdma.remote_addr == remote_addr) {
				found = s;
				break;
			}
		}
	}
	if (maps)
		fclose(maps);
	return found;
}

/* What ibv_wr_flush() of rdma-core 56 leaves there; 44 has a READ's instead. */
static why_t flush(struct cf *t)
{
	struct sroce_abi_send_wqe *slot;
	struct ibv_qp_ex *qpx;
	uint64_t at = there(t) + 8;

	TRY(start(t, &qpx));
	ibv_wr_rdma_read(qpx, rkey(t), at);
	slot = slot_of(at);
	if (!slot)
		ibv_wr_abort(qpx);
	CHECK(slot, "the ring is nowhere to be found");
	slot->wr.opcode = WR_FLUSH;
	slot->wr.flush.remote_addr = at;
	slot->wr.flush.stale_length = 0;
	slot->wr.flush.rkey = rkey(t);
	slot->wr.flush.type = t->row->arg;
	slot->wr.flush.level = !!(t->row->arg & WHOLE);
	slot->dma.num_sge = 0;
	slot->dma.length = t->row->arg2;
	slot->dma.resid = t->row->arg2;
	t->err = ibv_wr_complete(qpx);
	return NULL;
}

static void flushable(struct vt_conf *c)
{
	c->mr_access |= FLUSH_GLOBAL;
	c->qp_access |= FLUSH_GLOBAL | FLUSH_LASTING;
}

static void on_demand(struct vt_conf *c)
{
	c->mr_access |= IBV_ACCESS_ON_DEMAND;
}

static void flushable_on_demand(struct vt_conf *c)
{
	flushable(c);
	on_demand(c);
}

static void qp_flushable(struct vt_conf *c)
{
	c->qp_access |= FLUSH_GLOBAL | FLUSH_LASTING;
}

static void mr_flushable(struct vt_conf *c)
{
	c->mr_access |= FLUSH_GLOBAL;
}

static why_t has_flushed(struct cf *t)
{
	CHECK(t->wc.opcode == WC_FLUSH, "opcode %d", t->wc.opcode);
	return NULL;
}

static why_t bind_window(struct cf *t)
{
	struct ibv_mw_bind_info info = {
		.mr = t->p->a.buf.mr, .addr = (uintptr_t)t->p->a.buf.data,
		.length = 64, .mw_access_flags = IBV_ACCESS_REMOTE_READ,
	};
	struct ibv_qp_ex *qpx;

	t->mw = ibv_alloc_mw(t->dev->pd, IBV_MW_TYPE_2);
	CHECK(t->mw, "ibv_alloc_mw: %s", strerror(errno));
	TRY(start(t, &qpx));
	ibv_wr_bind_mw(qpx, t->mw, ibv_inc_rkey(t->mw->rkey), &info);
	t->err = ibv_wr_complete(qpx);
	return NULL;
}

static why_t invalidate(struct cf *t)
{
	bool local = t->row->arg == IBV_WR_LOCAL_INV;
	struct ibv_qp_ex *qpx;

	TRY(renew(t));
	TRY(cf_bind(t, local ? &t->p->a : &t->p->b, 64,
		    IBV_ACCESS_REMOTE_WRITE));
	TRY(cf_recv(t));
	qpx = ibv_qp_to_qp_ex(t->p->a.qp);
	CHECK(qpx, "no extended QP");
	ibv_wr_start(qpx);
	qpx->wr_id = CF_WR;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	if (local) {
		ibv_wr_local_inv(qpx, t->key);
	} else {
		ibv_wr_send_inv(qpx, t->key);
		ibv_wr_set_sge(qpx, t->p->a.buf.mr->lkey,
			       (uintptr_t)t->p->a.buf.data, 8);
	}
	t->err = ibv_wr_complete(qpx);
	return NULL;
}

static why_t told_inv(struct cf *t)
{
	CHECK(t->rwc.wc_flags & IBV_WC_WITH_INV &&
	      t->rwc.invalidated_rkey == t->key,
	      "wc_flags %#x invalidated_rkey %#x", t->rwc.wc_flags,
	      t->rwc.invalidated_rkey);
	return NULL;
}

/* Batches */

static why_t batch(struct cf *t)
{
	struct ibv_qp_ex *qpx;
	struct ibv_wc wc;
	int i;

	TRY(start(t, &qpx));
	for (i = 0; i < 4; i++) {
		qpx->wr_id = i < 3 ? 30 + i : CF_WR;
		ibv_wr_rdma_write(qpx, rkey(t), there(t));
		ibv_wr_set_sge(qpx, t->p->a.buf.mr->lkey,
			       (uintptr_t)t->p->a.buf.data, CF_LEN);
	}
	t->err = ibv_wr_complete(qpx);
	for (i = 0; i < 3; i++)
		TRY(vt_poll_ok(t->p->a.scq, &wc, 30 + i));
	return NULL;
}

static why_t aborted(struct cf *t)
{
	struct ibv_qp_ex *qpx;

	TRY(start(t, &qpx));
	ibv_wr_rdma_write(qpx, rkey(t), there(t));
	ibv_wr_set_sge(qpx, t->p->a.buf.mr->lkey,
		       (uintptr_t)t->p->a.buf.data, CF_LEN);
	ibv_wr_abort(qpx);
	TRY(vt_quiet(t->p->a.scq, 100));
	TRY(cf_sent(t));
	/* and the QP may be used after that */
	ibv_wr_start(qpx);
	ibv_wr_rdma_write(qpx, rkey(t), there(t));
	ibv_wr_set_sge(qpx, t->p->a.buf.mr->lkey,
		       (uintptr_t)t->p->a.buf.data, CF_LEN);
	t->err = ibv_wr_complete(qpx);
	return NULL;
}

/* More than fits: none of the batch is executed. */
static why_t too_many(struct cf *t)
{
	struct ibv_qp_ex *qpx;
	uint32_t i;

	TRY(start(t, &qpx));
	for (i = 0; i < 2 * (t->p->a.cap.max_send_wr + 1); i++) {
		ibv_wr_rdma_write(qpx, rkey(t), there(t));
		ibv_wr_set_sge(qpx, t->p->a.buf.mr->lkey,
			       (uintptr_t)t->p->a.buf.data, CF_LEN);
	}
	t->err = ibv_wr_complete(qpx);
	TRY(vt_quiet(t->p->a.scq, 200));
	return cf_sent(t);
}

/* Either way to post may follow the other. */
static why_t mixed(struct cf *t)
{
	struct ibv_qp_ex *qpx;
	struct ibv_send_wr wr;
	struct ibv_wc wc;

	TRY(start(t, &qpx));
	qpx->wr_id = 30;
	ibv_wr_rdma_write(qpx, rkey(t), there(t));
	ibv_wr_set_sge(qpx, t->p->a.buf.mr->lkey,
		       (uintptr_t)t->p->a.buf.data, CF_LEN);
	CHECK(!ibv_wr_complete(qpx), "ibv_wr_complete");
	wr = cf_wr(t, IBV_WR_RDMA_WRITE, CF_LEN);
	TRY(cf_post_send(t, &wr));
	return vt_poll_ok(t->p->a.scq, &wc, 30);
}

static why_t fenced(struct cf *t)
{
	struct ibv_qp_ex *qpx;

	TRY(start(t, &qpx));
	qpx->wr_flags = 0;
	ibv_wr_rdma_read(qpx, rkey(t), there(t) + 4096);
	ibv_wr_set_sge(qpx, t->p->a.buf.mr->lkey,
		       (uintptr_t)t->p->a.buf.data, CF_LEN);
	qpx->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, t->p->a.buf.mr->lkey,
		       (uintptr_t)t->p->a.buf.data, CF_LEN);
	t->err = ibv_wr_complete(qpx);
	return NULL;
}

static why_t fence_held(struct cf *t)
{
	CHECK(!memcmp(t->p->b.buf.data, t->p->b.buf.shadow + 4096, CF_LEN),
	      "the SEND did not wait for the READ");
	return NULL;
}

#define OK	.stage = CF_RESET, .wc = CF_IS(IBV_WC_SUCCESS)
#define GOT	.recv = CF_IS(IBV_WC_SUCCESS)
#define ONE(t, fn, op, rcv, check)					\
	{ "ibv_wr_post", "ibv_wr_start(), this, ibv_wr_set_sge(); on UD "	\
	  "ibv_wr_set_ud_addr()", #t ": " #fn "()", one,			\
	  IBV_WR_##op, .type = IBV_QPT_##t, OK, .recv = rcv,	\
	  .after = check }
#define R	CF_IS(IBV_WC_SUCCESS)
#define FLUSH_NO(what, type, len, prep_, status, ...)		\
	{ "ibv_wr_post", "IBTA A19.2: what isn't allowed is refused",	\
	  "RC: ibv_wr_flush() " what, flush, type, .arg2 = len,		\
	  .stage = CF_RESET, .prep = prep_, .wc = CF_IS(status),	\
	  .state = CF_IS(IBV_QPS_ERR), .cap = FLUSH_CAP, __VA_ARGS__ }
#define AT_PEER(type)							\
	.event = CF_IS(IBV_EVENT_##type), .event_at_peer = true,	\
	.peer = CF_IS(IBV_QPS_ERR)

static const struct cf_row rows[] = {
	ONE(UD, ibv_wr_send, SEND, R, has_sent),
	ONE(UD, ibv_wr_send_imm, SEND_WITH_IMM, R, has_sent),
	ONE(UC, ibv_wr_send, SEND, R, has_sent),
	ONE(UC, ibv_wr_send_imm, SEND_WITH_IMM, R, has_sent),
	ONE(UC, ibv_wr_rdma_write, RDMA_WRITE, 0, has_sent),
	ONE(UC, ibv_wr_rdma_write_imm, RDMA_WRITE_WITH_IMM, R, has_sent),
	ONE(RC, ibv_wr_send, SEND, R, has_sent),
	ONE(RC, ibv_wr_send_imm, SEND_WITH_IMM, R, has_sent),
	ONE(RC, ibv_wr_rdma_write, RDMA_WRITE, 0, has_sent),
	ONE(RC, ibv_wr_rdma_write_imm, RDMA_WRITE_WITH_IMM, R, has_sent),
	ONE(RC, ibv_wr_rdma_read, RDMA_READ, 0, has_read),
	{ "ibv_wr_post", "if it equals compare then set it to swap",
	  "RC: ibv_wr_atomic_cmp_swp()", atomic, IBV_WR_ATOMIC_CMP_AND_SWP,
	  OK, .after = has_fetched },
	{ "ibv_wr_post", "add to the 64 bit memory location",
	  "RC: ibv_wr_atomic_fetch_add()", atomic,
	  IBV_WR_ATOMIC_FETCH_AND_ADD, OK, .after = has_fetched },
	{ "ibv_wr_post", "IBTA A19.4: 8 bytes, aligned",
	  "RC: ibv_wr_atomic_write()", atomic_write, 64, OK,
	  .after = has_atomic_written },
	{ "ibv_wr_post", "IBTA A19.4: 8 bytes, aligned",
	  "RC: ibv_wr_atomic_write() to an MR on demand", atomic_write, 4096,
	  .prep = on_demand, OK, .after = has_atomic_written },
	{ "ibv_wr_post", "IBTA A19.2: globally visible, then answered",
	  "RC: ibv_wr_flush() of an MR on demand", flush, 1, .arg2 = 4096,
	  .prep = flushable_on_demand, OK, .after = has_flushed,
	  .cap = FLUSH_CAP },
	{ "ibv_wr_post", "IBTA A19.2: globally visible, then answered",
	  "RC: ibv_wr_flush() of a range", flush, 1, .arg2 = 64,
	  .prep = flushable, OK, .after = has_flushed, .cap = FLUSH_CAP },
	{ "ibv_wr_post", "IBTA A19.2: of a region the length is ignored",
	  "RC: ibv_wr_flush() of a region", flush, 1 | WHOLE,
	  .arg2 = 0x7fffffff, .prep = flushable, OK, .after = has_flushed,
	  .cap = FLUSH_CAP },
	FLUSH_NO("of more than a region", 1, 1 << 30, flushable,
		 IBV_WC_REM_ACCESS_ERR, AT_PEER(QP_ACCESS_ERR)),
	FLUSH_NO("of a region that doesn't allow it", 1, 64, qp_flushable,
		 IBV_WC_REM_ACCESS_ERR, AT_PEER(QP_ACCESS_ERR)),
	FLUSH_NO("that the QP doesn't allow", 1, 64, mr_flushable,
		 IBV_WC_REM_INV_REQ_ERR, AT_PEER(QP_REQ_ERR)),
	FLUSH_NO("to persistent memory, of which there is none", 2, 64,
		 flushable, IBV_WC_REM_ACCESS_ERR, AT_PEER(QP_ACCESS_ERR)),
	FLUSH_NO("to nowhere", 0, 64, flushable, IBV_WC_LOC_QP_OP_ERR, .event = 0),
	{ "ibv_wr_post", "IBTA 11.6.2: Local QP Operation Error",
	  "RC: ibv_wr_flush() where the kernel has none", flush, 1, .arg2 = 64,
	  .stage = CF_RESET, .wc = CF_IS(IBV_WC_LOC_QP_OP_ERR),
	  .state = CF_IS(IBV_QPS_ERR), .peer = CF_IS(IBV_QPS_RTS),
	  .cap = FLUSH_CAP, .without = true },
	{ "ibv_wr_post", "bind a MW type 2", "RC: ibv_wr_bind_mw()", bind_window,
	  .prep = cf_bindable, OK },
	{ "ibv_wr_post", "bind a MW type 2", "UC: ibv_wr_bind_mw()", bind_window,
	  .type = IBV_QPT_UC, .prep = cf_bindable, OK },
	{ "ibv_wr_post", "invalidate a MW type 2", "RC: ibv_wr_local_inv()",
	  invalidate, IBV_WR_LOCAL_INV, .prep = cf_bindable, OK },
	{ "ibv_wr_post", "the remote side will invalidate",
	  "RC: ibv_wr_send_inv()", invalidate, IBV_WR_SEND_WITH_INV,
	  .prep = cf_bindable, OK, GOT, .after = told_inv },
	{ "ibv_wr_post", "a list of buffers, logically concatenated",
	  "ibv_wr_set_sge_list(): SEND", pieces, IBV_WR_SEND, OK, GOT,
	  .after = has_sent },
	{ "ibv_wr_post", "a list of buffers, logically concatenated",
	  "ibv_wr_set_sge_list(): RDMA_WRITE", pieces, IBV_WR_RDMA_WRITE, OK,
	  .after = has_sent },
	{ "ibv_wr_post", "copies the send data during the setter",
	  "ibv_wr_set_inline_data(): SEND", inlined, IBV_WR_SEND, OK, GOT,
	  .after = cf_sent },
	{ "ibv_wr_post", "copies the send data during the setter",
	  "ibv_wr_set_inline_data(): RDMA_WRITE", inlined, IBV_WR_RDMA_WRITE,
	  OK, .after = cf_sent },
	{ "ibv_wr_post", "copies the send data during the setter",
	  "ibv_wr_set_inline_data_list(): SEND", inlined_list, IBV_WR_SEND,
	  OK, GOT, .after = list_or_nothing,
	  .via = "the stock provider may leave the length out" },
	{ "ibv_wr_post", "the limit is max_inline_data",
	  "ibv_wr_set_inline_data() of more", inline_long, IBV_WR_SEND,
	  CF_RESET, .err = EINVAL, .or_err = ENOSPC },
	{ "ibv_wr_post", "builder and setter can be called multiple times",
	  "four in one batch", batch, OK, .after = cf_arrived },
	{ "ibv_wr_post", "ibv_wr_abort() will discard all work prepared",
	  "ibv_wr_abort()", aborted, OK, .after = cf_arrived },
	{ "ibv_wr_post", "on failure the entire posting will be aborted",
	  "more than the send queue takes", too_many, .stage = CF_RESET,
	  .err = ENOMEM, .or_err = ENOSPC },
	{ "ibv_wr_post", "batches can interleave with ibv_post_send()",
	  "ibv_post_send() after ibv_wr_complete()", mixed, OK,
	  .after = cf_arrived },
	{ "ibv_wr_post", "IBV_SEND_FENCE", "SEND behind a READ", fenced, OK,
	  GOT, .after = fence_held },
};

CF_TABLE(100, "The `ibv_wr_*` calls", rows);
