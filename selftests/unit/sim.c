// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The objects of a simulation: QPs and their rings, memory, work requests. */

#include <stdlib.h>
#include <sys/mman.h>
#include "sim.h"

const struct sim_cfg sim_default = {
	.type = IB_QPT_RC,
	.mtu = IB_MTU_1024,
	.psn = 1000,
	.timeout = 8,		/* 1 ms */
	.retry_cnt = 7,
	.rnr_retry = 7,
	.min_rnr_timer = 1,	/* 10 us */
	.rd_atomic = 4,
	.dest_rd_atomic = 4,
	.slots = 64,
	.max_sge = 8,
	.max_inline = 256,
	.cqe = 256,
};

static u32 pow2(u32 n)
{
	u32 p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

static void ring_init(struct sroce_ring *r, u32 slots, u32 elem)
{
	elem = pow2(elem);
	r->buf = aligned_alloc(64, sizeof(*r->buf) + slots * elem);
	memset(r->buf, 0, sizeof(*r->buf) + slots * elem);
	r->mask = slots - 1;
	r->shift = __builtin_ctz(elem);
	r->own = 0;
	r->buf->log2_elem_size = r->shift;
	r->buf->index_mask = r->mask;
}

static void rq_init(struct sroce_rq *rq, u32 slots, u32 max_sge)
{
	rq->max_wr = slots - 1;
	rq->max_sge = max_sge;
	ring_init(&rq->ring, slots, sizeof(struct sroce_abi_recv_wqe) +
		  max_sge * sizeof(struct sroce_abi_sge));
}

static void init_rings(struct sroce_qp *qp, const struct sim_cfg *c)
{
	u32 room = max_t(u32, c->max_sge * sizeof(struct ib_sge), c->max_inline);
	struct sroce_sq *sq = &qp->sq;

	sq->mask = c->slots - 1;
	sq->max_sge = c->max_sge;
	sq->max_inline = c->max_inline;
	sq->stride = (sizeof(struct sroce_wqe) + room + 63) & ~63u;
	sq->slots = aligned_alloc(64, c->slots * sq->stride);
	/* as kvmalloc() may leave them */
	memset(sq->slots, 0xa5, c->slots * sq->stride);
	ring_init(&sq->ring, c->slots, sizeof(struct sroce_abi_send_wqe) + room);

	rq_init(&qp->rq, c->rq_slots ? c->rq_slots : c->slots, c->max_sge);
}

static void init_av(struct sroce_av *av, bool v6, u8 from, u8 to)
{
	memset(av, 0, sizeof(*av));
	av->v6 = v6;
	av->hop_limit = 64;
	av->sport = 0xc000 + from;
	if (v6) {
		av->sgid.raw[0] = 0xfd;
		av->dgid.raw[0] = 0xfd;
	} else {
		memset(av->sgid.raw + 10, 0xff, 2);
		memset(av->dgid.raw + 10, 0xff, 2);
		av->sgid.raw[12] = 10;
		av->dgid.raw[12] = 10;
	}
	av->sgid.raw[15] = from;
	av->dgid.raw[15] = to;
}

/* The QPs of pair n are number 0x11 + 0x22 * n and 0x22 + 0x22 * n. */
static u32 qpn_of(u32 nr)
{
	return 0x11 * (nr + 1);
}

/* As drv/verbs/qp.c allocates what the attributes need */
void sim_provide(struct sroce_qp *qp)
{
	if (qp->attr.max_rd_atomic && !qp->req.read_buf)
		sroce_req_set_read_buf(&qp->req, calloc(1, sizeof(*qp->req.read_buf)));
	if (qp->resp.nres && !qp->resp.replays.q)
		qp->resp.replays.q = calloc(SROCE_REPLAYS_MAX, sizeof(*qp->resp.replays.q));
}

/* Responses that a requester has kept behind a missing one */
u32 sim_kept_responses(const struct sroce_req *req)
{
	u32 i, n = 0;

	for (i = 0; req->read_buf && i < ARRAY_SIZE(req->read_buf->bitmap); i++)
		n += __builtin_popcountl(req->read_buf->bitmap[i]);
	return n;
}

static void init_attr(struct sroce_qp *qp, const struct sim_cfg *c, u32 nr)
{
	bool is_b = nr & 1;
	struct ib_qp_attr *attr = &qp->attr;

	attr->path_mtu = c->mtu;
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->qkey = 0x1234;
	attr->sq_psn = (c->psn + (is_b ? 100 : 0)) & SROCE_PSN_MASK;
	attr->rq_psn = (c->psn + (is_b ? 0 : 100)) & SROCE_PSN_MASK;
	attr->dest_qp_num = qpn_of(nr ^ 1);
	attr->qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
				IB_ACCESS_REMOTE_ATOMIC |
				SROCE_ACCESS_FLUSH_GLOBAL;
	attr->max_rd_atomic = c->rd_atomic;
	attr->max_dest_rd_atomic = c->dest_rd_atomic;
	attr->min_rnr_timer = c->min_rnr_timer;
	attr->timeout = c->timeout;
	attr->retry_cnt = c->retry_cnt;
	attr->rnr_retry = c->rnr_retry;
	qp->mtu = 128 << c->mtu;
	qp->resp.nres = c->dest_rd_atomic;
	qp->resp.res = calloc(c->dest_rd_atomic + !c->dest_rd_atomic,
			      sizeof(*qp->resp.res));
	sim_provide(qp);
}

static void kqp_init(struct sim *s, struct sroce_kqp *kqp,
		     const struct sim_cfg *c)
{
	struct sroce_qp *qp = &kqp->qp;
	u32 nr = s->kqps++;
	bool is_b = nr & 1;

	s->kqp[nr] = kqp;
	kqp->nr = nr;
	kqp->sim = s;
	kqp->txq_tail = &kqp->txq;
	kqp->scq.max = c->cqe;
	kqp->rcq.max = c->cqe;
	kqp->scq.e = calloc(c->cqe, sizeof(*kqp->scq.e));
	kqp->rcq.e = calloc(c->cqe, sizeof(*kqp->rcq.e));
	qp->kqp = kqp;
	qp->counters = &kqp->counters;
	qp->type = c->type;
	qp->svc = c->type == IB_QPT_RC ? SROCE_SVC_RC :
		  c->type == IB_QPT_UC ? SROCE_SVC_UC :
		  c->type == IB_QPT_RAW_PACKET ? SROCE_SVC_RAW : SROCE_SVC_UD;
	qp->user = true;
	qp->cc = true;
	qp->ack_with_answer = true;
	qp->qpn = qpn_of(nr);
	qp->ibqp.qp_num = qp->qpn;
	qp->scq = &kqp->scq;
	qp->rcq = &kqp->rcq;
	init_av(&qp->av, c->v6, is_b ? 2 : 1, is_b ? 1 : 2);
	init_rings(qp, c);
	init_attr(qp, c, nr);
	sroce_reset_qp(qp);
	sroce_reset_path(qp);
	sim_enter(kqp, IB_QPS_INIT);
	sim_enter(kqp, IB_QPS_RTR);
	sim_enter(kqp, IB_QPS_RTS);
}

/* As drv/verbs/qp.c does it once a modify has been checked */
void sim_enter(struct sroce_kqp *kqp, enum ib_qp_state to)
{
	struct sroce_qp *qp = &kqp->qp;

	if (to == IB_QPS_RTS && qp->state == IB_QPS_RTR)
		sroce_reset_req_psn(qp, qp->attr.sq_psn);
	sroce_state_enter(qp, IB_QPS_INIT, to);
}

struct sim *sim_new(const struct sim_cfg *cfg)
{
	struct sim *s = aligned_alloc(64, (sizeof(*s) + 63) & ~63UL);
	u32 i;

	memset(s, 0, sizeof(*s));
	s->cfg = cfg ? *cfg : sim_default;
	s->now = 1;
	kqp_init(s, &s->a, &s->cfg);
	kqp_init(s, &s->b, &s->cfg);
	for (i = 0; i < SIM_AHS; i++)
		init_av(&s->ahs[i].av, s->cfg.v6, i & 1 ? 2 : 1, i & 1 ? 1 : 2);
	return s;
}

struct sroce_kqp *sim_pair(struct sim *s, const struct sim_cfg *cfg)
{
	struct sroce_kqp *kqp;
	u32 i;

	for (i = 0; i < 2; i++) {
		kqp = aligned_alloc(64, (sizeof(*kqp) + 63) & ~63UL);
		memset(kqp, 0, sizeof(*kqp));
		kqp_init(s, kqp, cfg);
	}
	return s->kqp[s->kqps - 2];
}

void sim_open_cwnd(struct sroce_kqp *kqp)
{
	kqp->qp.req.cwnd.cwnd = SROCE_CWND_MAX;
	kqp->qp.req.read_cwnd.cwnd = SROCE_CWND_MAX;
}

/* As drv/verbs/qp.c destroys a QP */
void sim_destroy(struct sroce_kqp *kqp)
{
	kqp->gone = true;
	sroce_reset_qp(&kqp->qp);
	kqp->ack_when = 0;
	kqp->rnr_when = 0;
	kqp->task_when = 0;
	kqp->paged_when = 0;
}

static void kqp_free(struct sroce_kqp *kqp)
{
	sroce_reset_qp(&kqp->qp);
	free(kqp->qp.sq.slots);
	free(kqp->qp.sq.ring.buf);
	free(kqp->qp.rq.ring.buf);
	free(kqp->qp.resp.res);
	free(kqp->qp.resp.replays.q);
	free(kqp->qp.req.read_buf);
	free(kqp->scq.e);
	free(kqp->rcq.e);
}

static u32 piece_len(const struct sim_buf *b, u32 i)
{
	u64 left = b->mr.length - (u64)i * b->chunk;

	return left < b->chunk ? left : b->chunk;
}

static void buf_free(struct sim_buf *b)
{
	u32 i, k;

	for (i = 0; b->raw && i < b->pieces; i++) {
		u32 len = piece_len(b, i);

		for (k = 0; k < SIM_GUARD; k++) {
			CHECK_EQ(b->raw[i][k], SIM_GUARD_BYTE);
			CHECK_EQ(b->raw[i][SIM_GUARD + len + k], SIM_GUARD_BYTE);
		}
		free(b->raw[i]);
	}
	sim_buf_on_demand_free(b);
	free(b->raw);
	free(b->mr.ext);
	free(b);
}

void sim_end(struct sim *s)
{
	struct sroce_srq *srq;
	struct sim_packet *p;
	u32 i;

	while ((p = sim_wire_take(s)))
		sim_packet_free(p);
	CHECK_EQ(s->mr_refs, 0);
	for (i = 0; i < s->kqps; i++)
		kqp_free(s->kqp[i]);
	for (i = 2; i < s->kqps; i++)
		free(s->kqp[i]);
	while ((srq = s->srqs)) {
		s->srqs = srq->next;
		free(srq->rq.ring.buf);
		free(srq);
	}
	CHECK_EQ(s->held, 0);
	for (i = 0; i < SIM_AHS; i++)
		CHECK_EQ(s->ahs[i].refs, 0);
	for (i = 0; i < SIM_MRS; i++)
		if (s->mrs[i])
			buf_free(s->mrs[i]);
	free(s);
}

static struct sim_buf *key_new(struct sim *s)
{
	struct sim_buf *b = calloc(1, sizeof(*b));
	u32 slot;

	for (slot = 1; s->mrs[slot]; slot++)
		;
	s->mrs[slot] = b;
	b->sim = s;
	b->mr.key = slot << 8 | 0x5a;
	return b;
}

static struct sim_buf *buf_make(struct sim *s, u64 iova, u64 len, u32 chunk,
				int access)
{
	struct sim_buf *b = key_new(s);

	b->chunk = chunk;
	b->pieces = (len + chunk - 1) / chunk;
	b->mr.ibmr.lkey = b->mr.key;
	b->mr.ibmr.rkey = b->mr.key;
	b->mr.iova = iova;
	b->mr.length = len;
	b->mr.access = access;
	b->mr.nr = b->pieces;
	b->mr.ext = calloc(b->pieces + 1, sizeof(*b->mr.ext));
	return b;
}

struct sim_buf *sim_buf_zeros(struct sim *s, u64 iova, u64 len, int access)
{
	struct sim_buf *b = buf_make(s, iova, len, len, access);
	static u8 *zeros;

	/* only what is touched takes memory */
	if (!zeros)
		zeros = mmap(NULL, 1ULL << 31, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(zeros != MAP_FAILED && len <= 1ULL << 31);
	b->mr.ext[0].addr = zeros;
	return b;
}

/* A region of @len bytes in pieces of @chunk, each allocated by itself */
struct sim_buf *sim_buf_new(struct sim *s, u64 iova, u64 len, u32 chunk,
			    int access)
{
	struct sim_buf *b = buf_make(s, iova, len, chunk, access);
	u32 i;

	b->raw = calloc(b->pieces + 1, sizeof(*b->raw));
	for (i = 0; i < b->pieces; i++) {
		u32 n = piece_len(b, i) + 2 * SIM_GUARD;

		b->raw[i] = malloc(n);
		memset(b->raw[i], SIM_GUARD_BYTE, n);
		memset(b->raw[i] + SIM_GUARD, 0, n - 2 * SIM_GUARD);
		b->mr.ext[i].off = (u64)i * chunk;
		b->mr.ext[i].addr = b->raw[i] + SIM_GUARD;
	}
	return b;
}

/* A window that isn't bound yet, or a fast region that isn't registered */
struct sim_buf *sim_window_new(struct sim *s, enum sroce_mr_kind kind)
{
	struct sim_buf *b = key_new(s);

	b->mr.kind = kind;
	b->mr.state = SROCE_MR_FREE;
	return b;
}

/* The key names nothing any more; the memory stays to be looked at. */
void sim_buf_revoke(struct sim_buf *b)
{
	b->mr.key = 0;
}

u8 *sim_byte(const struct sim_buf *b, u64 off)
{
	return b->raw[off / b->chunk] + SIM_GUARD + off % b->chunk;
}

/* The same, and how many of @len bytes lie there in a row */
u8 *sim_span(const struct sim_buf *b, u64 off, u64 *len)
{
	u64 room = b->chunk - off % b->chunk;

	if (*len > room)
		*len = room;
	return sim_byte(b, off);
}

void sim_fill(const struct sim_buf *b, u64 off, u64 len, u32 seed)
{
	u64 i, k, n;

	for (i = 0; i < len; i += n) {
		u8 *p;

		n = len - i;
		p = sim_span(b, off + i, &n);
		for (k = 0; k < n; k++)
			p[k] = sim_pattern(i + k, seed);
	}
}

bool sim_filled(const struct sim_buf *b, u64 off, u64 len, u32 seed)
{
	u64 i, k, n;

	for (i = 0; i < len; i += n) {
		const u8 *p;

		n = len - i;
		p = sim_span(b, off + i, &n);
		for (k = 0; k < n; k++)
			if (p[k] != sim_pattern(i + k, seed))
				return false;
	}
	return true;
}

/* Nothing but zeros stands in these bytes, as at the beginning. */
bool sim_untouched(const struct sim_buf *b, u64 from, u64 to)
{
	for (; from < to; from++)
		if (*sim_byte(b, from))
			return false;
	return true;
}

u64 sim_get64(const struct sim_buf *b, u64 off)
{
	u64 val;

	memcpy(&val, sim_byte(b, off), sizeof(val));
	return val;
}

void sim_put64(const struct sim_buf *b, u64 off, u64 val)
{
	memcpy(sim_byte(b, off), &val, sizeof(val));
}

struct ib_sge sim_sge(const struct sim_buf *b, u64 off, u32 len)
{
	return (struct ib_sge){
		.addr = b->mr.iova + off, .length = len, .lkey = b->mr.key,
	};
}

static void put_target(struct sroce_abi_send_wqe *raw, const struct sim_wr *wr,
		       u8 svc)
{
	if (svc == SROCE_SVC_UD) {
		raw->wr.ud.remote_qpn = wr->remote_qpn;
		raw->wr.ud.remote_qkey = wr->remote_qkey;
		raw->wr.ud.ah_num = wr->ah;
	} else if (wr->opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
		   wr->opcode == IB_WR_ATOMIC_FETCH_AND_ADD) {
		raw->wr.atomic.remote_addr = wr->remote_addr;
		raw->wr.atomic.rkey = wr->rkey;
		raw->wr.atomic.compare_add = wr->compare_add;
		raw->wr.atomic.swap = wr->swap;
	} else if (wr->opcode == SROCE_WR_FLUSH) {
		raw->wr.flush.remote_addr = wr->remote_addr;
		raw->wr.flush.rkey = wr->rkey;
		raw->wr.flush.type = wr->type;
		raw->wr.flush.level = wr->level;
	} else if (wr->opcode == IB_WR_BIND_MW) {
		raw->wr.mw.addr = wr->bind.addr;
		raw->wr.mw.length = wr->bind.length;
		raw->wr.mw.mr_lkey = wr->bind.mr_key;
		raw->wr.mw.mw_rkey = wr->bind.key;
		raw->wr.mw.rkey = wr->bind.new_key;
		raw->wr.mw.access = wr->bind.access;
	} else {
		raw->wr.rdma.remote_addr = wr->remote_addr;
		raw->wr.rdma.rkey = wr->rkey;
	}
}

static void put_sges(struct sroce_abi_sge *to, const struct ib_sge *sge, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		to[i].addr = sge[i].addr;
		to[i].length = sge[i].length;
		to[i].lkey = sge[i].lkey;
	}
}

/* Into the ring, as the stock provider does it; the kernel is not told. */
void sim_put_send(struct sroce_kqp *kqp, const struct sim_wr *wr)
{
	struct sroce_ring *r = &kqp->qp.sq.ring;
	struct sroce_abi_send_wqe *raw = sroce_ring_slot(r, kqp->sq_prod);

	memset(raw, 0x77, 1u << r->shift);
	raw->wr.wr_id = wr->wr_id;
	raw->wr.opcode = wr->opcode;
	raw->wr.send_flags = wr->flags;
	raw->wr.ex = wr->ex;
	put_target(raw, wr, kqp->qp.svc);
	raw->dma.num_sge = wr->num_sge;
	/* the provider's sum; the core does its own if there are entries */
	if (!wr->num_sge)
		raw->dma.length = wr->length;
	if (wr->data) {
		raw->dma.num_sge = 0;
		raw->dma.length = wr->data_len;
		memcpy(raw->payload, wr->data, wr->data_len);
	} else {
		put_sges((void *)raw->payload, wr->sge, wr->num_sge);
	}
	kqp->sq_prod = (kqp->sq_prod + 1) & r->mask;
	CHECK(kqp->sq_prod != r->buf->consumer_index);
	smp_store_release(&r->buf->producer_index, kqp->sq_prod);
}

static u32 put_recv(struct sroce_ring *r, u32 prod, u64 wr_id,
		    const struct ib_sge *sge, u32 num_sge)
{
	struct sroce_abi_recv_wqe *raw = sroce_ring_slot(r, prod);

	memset(raw, 0x77, 1u << r->shift);
	raw->wr_id = wr_id;
	raw->dma.num_sge = num_sge;
	put_sges(raw->sge, sge, num_sge);
	prod = (prod + 1) & r->mask;
	CHECK(prod != r->buf->consumer_index);
	smp_store_release(&r->buf->producer_index, prod);
	return prod;
}

void sim_put_recv(struct sroce_kqp *kqp, u64 wr_id, const struct ib_sge *sge,
		  u32 num_sge)
{
	kqp->rq_prod = put_recv(&kqp->qp.rq.ring, kqp->rq_prod, wr_id, sge, num_sge);
}

/* A queue that QPs share once their qp.srq points to it */
struct sroce_srq *sim_srq_new(struct sim *s, u32 slots, u32 max_sge)
{
	struct sroce_srq *srq = calloc(1, sizeof(*srq));

	rq_init(&srq->rq, slots, max_sge);
	srq->next = s->srqs;
	s->srqs = srq;
	return srq;
}

void sim_put_srq(struct sroce_srq *srq, u64 wr_id, const struct ib_sge *sge,
		 u32 num_sge)
{
	srq->prod = put_recv(&srq->rq.ring, srq->prod, wr_id, sge, num_sge);
}

void sim_post(struct sroce_kqp *kqp, const struct sim_wr *wr)
{
	sim_put_send(kqp, wr);
	sim_doorbell(kqp);
}
