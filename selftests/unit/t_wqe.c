// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Intake of work requests from rings that their owners fill with anything */

#include <stdlib.h>
#include "tests.h"
#include "xfer.h"

static struct sim *sim_of_type(enum ib_qp_type type)
{
	struct sim_cfg cfg = sim_default;

	cfg.type = type;
	return sim_new(&cfg);
}

static struct sroce_abi_send_wqe *next_slot(struct sroce_kqp *kqp)
{
	struct sroce_ring *r = &kqp->qp.sq.ring;
	struct sroce_abi_send_wqe *raw = sroce_ring_slot(r, kqp->sq_prod);

	memset(raw, 0, 1u << r->shift);
	return raw;
}

/* Fetch the next slot; return: the decoded work request */
static const struct sroce_wqe *take(struct sroce_kqp *kqp)
{
	struct sroce_qp *qp = &kqp->qp;
	u32 at = qp->sq.prod;

	kqp->sq_prod = (kqp->sq_prod + 1) & qp->sq.ring.mask;
	qp->sq.ring.buf->producer_index = kqp->sq_prod;
	sroce_wqe_doorbell(qp);
	CHECK(sroce_wqe_fetch(qp));
	return sroce_sq_wqe(&qp->sq, at);
}

static enum ib_wc_status status_of(enum ib_qp_type type, u32 opcode, u32 flags,
				   u32 num_sge, u32 dma_length)
{
	struct sim *s = sim_of_type(type);
	struct sroce_abi_send_wqe *raw = next_slot(&s->a);
	enum ib_wc_status status;

	raw->wr.opcode = opcode;
	raw->wr.send_flags = flags;
	raw->dma.num_sge = num_sge;
	raw->dma.length = dma_length;
	if (opcode == SROCE_WR_FLUSH)
		raw->wr.flush.type = SROCE_FLUSH_GLOBAL;
	status = take(&s->a)->status;
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_SQ_BAD_WQE),
		 status != IB_WC_SUCCESS);
	sim_end(s);
	return status;
}

static void types(void)
{
	/* by opcode: what RC, UC, UD may post */
	static const u8 may[16] = {
		[IB_WR_RDMA_WRITE] = 3, [IB_WR_RDMA_WRITE_WITH_IMM] = 3,
		[IB_WR_SEND] = 7, [IB_WR_SEND_WITH_IMM] = 7,
		[IB_WR_RDMA_READ] = 1, [IB_WR_ATOMIC_CMP_AND_SWP] = 1,
		[IB_WR_ATOMIC_FETCH_AND_ADD] = 1, [IB_WR_SEND_WITH_INV] = 1,
		[SROCE_WR_ATOMIC_WRITE] = 1, [IB_WR_LOCAL_INV] = 3,
		[SROCE_WR_FLUSH] = 1,
		[IB_WR_BIND_MW] = 3,
	};
	u32 opcode, type;

	t_case("wqe: opcodes that a QP type does not have are refused");
	for (type = 0; type < 3; type++) {
		for (opcode = 0; opcode < 300; opcode++) {
			bool ok = opcode < 16 && may[opcode] & 1 << type;
			bool atomic = opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
				      opcode == IB_WR_ATOMIC_FETCH_AND_ADD ||
				      opcode == SROCE_WR_ATOMIC_WRITE;

			t_where("type %u, opcode %u", type, opcode);
			CHECK_EQ(status_of(IB_QPT_RC + type, opcode, 0, 0, 0),
				 !ok ? IB_WC_LOC_QP_OP_ERR : atomic ?
				 IB_WC_LOC_LEN_ERR : IB_WC_SUCCESS);
		}
		CHECK_EQ(status_of(IB_QPT_RC + type, ~0u, 0, 0, 0),
			 IB_WC_LOC_QP_OP_ERR);
		CHECK_EQ(status_of(IB_QPT_RC + type, 0x80000002, 0, 0, 0),
			 IB_WC_LOC_QP_OP_ERR);
	}
}

static void bounds(void)
{
	static const u32 many[] = { 9, 32, 33, 255, 256, 264, 65536, ~0u };
	static const u32 fetching[] = {
		IB_WR_RDMA_READ, IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD,
	};
	static const u32 lengths[] = { 257, 1024, 1 << 20, 1U << 31, ~0u };
	u32 i;

	t_case("wqe: too many entries are refused");
	CHECK_EQ(status_of(IB_QPT_RC, IB_WR_SEND, 0, 8, 0), IB_WC_SUCCESS);
	for (i = 0; i < ARRAY_SIZE(many); i++)
		CHECK_EQ(status_of(IB_QPT_RC, IB_WR_SEND, 0, many[i], 0),
			 IB_WC_LOC_QP_OP_ERR);

	t_case("wqe: inline data is refused where none is sent");
	for (i = 0; i < ARRAY_SIZE(fetching); i++) {
		CHECK_EQ(status_of(IB_QPT_RC, fetching[i], IB_SEND_INLINE, 0, 8),
			 IB_WC_LOC_QP_OP_ERR);
		CHECK_EQ(status_of(IB_QPT_RC, fetching[i], IB_SEND_INLINE, 1, 8),
			 IB_WC_LOC_QP_OP_ERR);
	}
	CHECK_EQ(status_of(IB_QPT_RC, SROCE_WR_ATOMIC_WRITE, IB_SEND_INLINE, 0, 8),
		 IB_WC_SUCCESS);

	t_case("wqe: inline data beyond the limit is refused");
	CHECK_EQ(status_of(IB_QPT_RC, IB_WR_SEND, IB_SEND_INLINE, 0, 256),
		 IB_WC_SUCCESS);
	CHECK_EQ(status_of(IB_QPT_RC, IB_WR_SEND, 0, 0, 256), IB_WC_SUCCESS);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		CHECK_EQ(status_of(IB_QPT_RC, IB_WR_SEND, IB_SEND_INLINE, 0,
				   lengths[i]), IB_WC_LOC_QP_OP_ERR);
		CHECK_EQ(status_of(IB_QPT_UC, IB_WR_RDMA_WRITE, 0, 0,
				   lengths[i]), IB_WC_LOC_QP_OP_ERR);
	}
}

static void lengths(void)
{
	static const struct {
		u32 opcode, len[3];
		enum ib_wc_status status;
	} rows[] = {
		{ IB_WR_SEND, { 1U << 30, 1U << 30 }, IB_WC_SUCCESS },
		{ IB_WR_SEND, { 1U << 30, 1U << 30, 1 }, IB_WC_LOC_LEN_ERR },
		{ IB_WR_SEND, { ~0u, ~0u, 3 }, IB_WC_LOC_LEN_ERR },
		{ IB_WR_SEND, { ~0u, 1, 0 }, IB_WC_LOC_LEN_ERR },
		{ IB_WR_ATOMIC_CMP_AND_SWP, { 8 }, IB_WC_SUCCESS },
		{ IB_WR_ATOMIC_CMP_AND_SWP, { 3, 4, 1 }, IB_WC_SUCCESS },
		{ IB_WR_ATOMIC_FETCH_AND_ADD, { 7 }, IB_WC_LOC_LEN_ERR },
		{ IB_WR_ATOMIC_FETCH_AND_ADD, { 16 }, IB_WC_LOC_LEN_ERR },
		{ IB_WR_ATOMIC_FETCH_AND_ADD, { ~0u, 9 }, IB_WC_LOC_LEN_ERR },
	};
	u32 i, k;

	t_case("wqe: lengths are added up without overflow");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sim *s = sim_of_type(IB_QPT_RC);
		struct sroce_abi_send_wqe *raw = next_slot(&s->a);
		struct sroce_abi_sge *sge = (void *)raw->payload;

		t_where("row %u", i);
		raw->wr.opcode = rows[i].opcode;
		raw->dma.num_sge = 3;
		/* a wrong sum, as the provider may give it */
		raw->dma.length = 12345;
		for (k = 0; k < 3; k++)
			sge[k].length = rows[i].len[k];
		CHECK_EQ(take(&s->a)->status, rows[i].status);
		sim_end(s);
	}
}

static void datagrams(void)
{
	static const struct {
		u32 ah, len;
		enum ib_wc_status status;
	} rows[] = {
		{ 1, 1024, IB_WC_SUCCESS },
		{ 1, 1025, IB_WC_LOC_LEN_ERR },
		{ SIM_AHS, 10, IB_WC_LOC_QP_OP_ERR },
		{ ~0u, 10, IB_WC_LOC_QP_OP_ERR },
	};
	u32 i;

	t_case("wqe: datagrams need an address and fit the port's MTU");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sim *s = sim_of_type(IB_QPT_UD);
		struct sroce_abi_send_wqe *raw = next_slot(&s->a);
		const struct sroce_wqe *wqe;

		t_where("row %u", i);
		/* as the module does: what is received may be longer */
		s->a.qp.mtu = 4096;
		raw->wr.opcode = IB_WR_SEND;
		raw->wr.ud.ah_num = rows[i].ah;
		raw->wr.ud.remote_qpn = 0xff123456;
		raw->dma.num_sge = 1;
		((struct sroce_abi_sge *)raw->payload)->length = rows[i].len;
		wqe = take(&s->a);
		CHECK_EQ(wqe->status, rows[i].status);
		CHECK_EQ(wqe->remote_qpn, 0x123456);
		/* the address handle is released in any case */
		sroce_flush_sq(&s->a.qp);
		sim_end(s);
	}
}

static void fields(void)
{
	struct sim *s = sim_of_type(IB_QPT_RC);
	struct sroce_abi_send_wqe *raw = next_slot(&s->a);
	const struct sroce_wqe *wqe;

	t_case("wqe: a decoded work request is what was posted, flags masked");
	raw->wr.wr_id = 0x123456789abcdefULL;
	raw->wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP;
	raw->wr.send_flags = ~IB_SEND_INLINE;
	raw->wr.ex = 0x11223344;
	raw->wr.atomic.remote_addr = 1;
	raw->wr.atomic.compare_add = 2;
	raw->wr.atomic.swap = 3;
	raw->wr.atomic.rkey = 4;
	raw->dma.num_sge = 1;
	*(struct sroce_abi_sge *)raw->payload =
		(struct sroce_abi_sge){ .addr = 5, .length = 8, .lkey = 6 };
	wqe = take(&s->a);
	/* later writes to the slot have no effect */
	memset(raw, 0xff, 1u << s->a.qp.sq.ring.shift);
	CHECK_EQ(wqe->wr_id, 0x123456789abcdefULL);
	CHECK_EQ(wqe->msg, SROCE_MSG_CMP_SWP);
	CHECK_EQ(wqe->flags, IB_SEND_FENCE | IB_SEND_SIGNALED |
		 IB_SEND_SOLICITED);
	CHECK_EQ((u32)wqe->imm, 0x11223344);
	CHECK_EQ(wqe->remote_addr, 1);
	CHECK_EQ(wqe->compare_add, 2);
	CHECK_EQ(wqe->swap, 3);
	CHECK_EQ(wqe->rkey, 4);
	CHECK_EQ(wqe->num_sge, 1);
	CHECK_EQ(wqe->sge[0].addr, 5);
	CHECK_EQ(wqe->sge[0].length, 8);
	CHECK_EQ(wqe->sge[0].lkey, 6);
	CHECK_EQ(wqe->length, 8);
	CHECK_EQ(wqe->status, IB_WC_SUCCESS);
	sim_end(s);
}

static void receives(void)
{
	static const u32 many[] = { 9, 32, 33, 256, ~0u };
	struct sim *s = sim_of_type(IB_QPT_RC);
	struct sroce_ring *r = &s->b.qp.rq.ring;
	struct sroce_abi_recv_wqe *raw;
	struct ib_sge sge[8];
	struct sroce_rwqe got;
	u32 i;

	t_case("wqe: receives with too many entries are marked, and hold none");
	for (i = 0; i < ARRAY_SIZE(many); i++) {
		raw = sroce_ring_slot(r, s->b.rq_prod);
		sim_put_recv(&s->b, i, NULL, 0);
		raw->dma.num_sge = many[i];
		CHECK(sroce_wqe_fetch_recv(&s->b.qp.rq, &got));
		CHECK(got.bad);
		CHECK_EQ(got.num_sge, 0);
		CHECK_EQ(got.wr_id, i);
	}

	t_case("wqe: the length of a receive is added up without overflow");
	for (i = 0; i < 8; i++)
		sge[i] = (struct ib_sge){ .length = ~0u };
	sim_put_recv(&s->b, 0, sge, 8);
	CHECK(sroce_wqe_fetch_recv(&s->b.qp.rq, &got));
	CHECK(!got.bad);
	CHECK_EQ(got.length, 8 * 0xffffffffULL);
	CHECK(!sroce_wqe_fetch_recv(&s->b.qp.rq, &got));
	sim_end(s);
}

/* Some fields are valid, so that later checks are reached as well. */
static void scribble(struct rnd *r, struct sim *s, struct sroce_kqp *kqp,
		     struct sim_buf *b)
{
	struct sroce_ring *ring = &kqp->qp.sq.ring;
	u32 i, idx = rnd32(r) & ring->mask;
	struct sroce_abi_send_wqe *raw = sroce_ring_slot(ring, idx);
	struct sroce_abi_recv_wqe *rraw = sroce_ring_slot(&kqp->qp.rq.ring, idx);
	struct sroce_abi_sge *sge = (void *)raw->payload;

	(void)s;
	rnd_fill(r, raw, 1u << ring->shift);
	rnd_fill(r, rraw, 1u << kqp->qp.rq.ring.shift);
	if (rnd_below(r, 8))
		raw->wr.opcode = rnd_below(r, 10);
	if (rnd_below(r, 4))
		raw->dma.num_sge = rnd_below(r, 10);
	if (rnd_below(r, 2))
		raw->dma.length = rnd_below(r, 300);
	if (rnd_below(r, 2))
		raw->wr.send_flags &= 7;
	if (rnd_below(r, 2))
		raw->wr.ud.ah_num = rnd_below(r, 5);
	if (rnd_below(r, 2)) {
		raw->wr.rdma.remote_addr = b->mr.iova + rnd_below(r, 5000);
		raw->wr.rdma.rkey = b->mr.key;
	}
	for (i = 0; i < 8 && rnd_below(r, 8); i++) {
		sge[i].addr = b->mr.iova + rnd_below(r, 5000);
		sge[i].length = rnd_below(r, 2000);
		sge[i].lkey = b->mr.key;
	}
	if (rnd_below(r, 4))
		rraw->dma.num_sge = 1;
	if (rnd_below(r, 4))
		rraw->sge[0] = (struct sroce_abi_sge){
			b->mr.iova, 4096, b->mr.key };
}

static void hostile(enum ib_qp_type type, u32 rounds)
{
	struct sim_cfg cfg = sim_default;
	struct rnd r = { type };
	u32 i, k;

	cfg.type = type;
	cfg.slots = 8;
	cfg.cqe = 4096;
	cfg.retry_cnt = 1;
	cfg.rnr_retry = 1;
	for (i = 0; i < rounds && t_ok(); i++) {
		struct sim *s = sim_new(&cfg);
		struct sim_buf *b = sim_buf_new(s, 0x10000, 8000, 1000, 15);

		t_where("type %d, round %u", type, i);
		for (k = 0; k < 12; k++) {
			struct sroce_kqp *kqp = k & 1 ? &s->b : &s->a;

			scribble(&r, s, kqp, b);
			kqp->qp.sq.ring.buf->producer_index = rnd_below(&r, 3) ?
				rnd_below(&r, 8) : rnd32(&r);
			kqp->qp.rq.ring.buf->producer_index = rnd32(&r);
			kqp->qp.sq.ring.buf->consumer_index = rnd32(&r);
			kqp->qp.rq.ring.buf->consumer_index = rnd32(&r);
			kqp->qp.sq.ring.buf->log2_elem_size = rnd32(&r);
			kqp->qp.sq.ring.buf->index_mask = rnd32(&r);
			sim_doorbell(kqp);
			sim_run_until(s, s->now + rnd_below(&r, 20000));
		}
		sim_run(s);
		sim_end(s);
	}
}

UNIT_TESTS(wqe)
{
	types();
	bounds();
	lengths();
	datagrams();
	fields();
	receives();
	t_case("wqe: garbage in rings and indices does no harm beyond its QP");
	hostile(IB_QPT_RC, 1500);
	hostile(IB_QPT_UC, 1500);
	hostile(IB_QPT_UD, 1500);
}
