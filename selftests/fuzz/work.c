// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Work requests of regular users, valid or not; and time */

#include "world.h"

/* Every other one is the region with all rights. */
static u32 region_of(u8 sel)
{
	return sel & 8 ? M_ALL : (sel & 7) % MEMS;
}

/**
 * rec_va() - an address in a region, or near it
 * @w: the world
 * @sel: which region
 * @off: bytes from its start
 */
u64 rec_va(struct world *w, u8 sel, u32 off)
{
	const struct sim_buf *b = w->mem[region_of(sel)];

	/* mostly inside */
	if (!(sel & 0x80))
		off %= b->mr.length;
	if (!(sel & 0x40))
		off &= ~7u;
	return b->mr.iova + off;
}

/**
 * rec_key() - the key of a region, or nearly, or of a window
 * @w: the world
 * @sel: which region
 */
u32 rec_key(struct world *w, u8 sel)
{
	u32 key = w->key[region_of(sel)];

	if ((sel & 0x30) == 0x20)
		return w->win[sel & 1]->mr.key;
	return (sel & 0x30) == 0x30 ? key ^ 1 : key;
}

/* Bytes from there to the end of the region */
static u32 room_at(struct world *w, u8 sel, u32 off)
{
	const struct sim_buf *b = w->mem[region_of(sel)];
	u64 at = rec_va(w, sel, off) - b->mr.iova;

	return at < b->mr.length ? b->mr.length - at : 0;
}

/* Opcodes in the order of what is interesting; then some that are none */
static u32 opcode_of(u8 sel)
{
	static const u8 ops[] = {
		IB_WR_SEND, IB_WR_RDMA_WRITE, IB_WR_RDMA_READ,
		IB_WR_ATOMIC_FETCH_AND_ADD, IB_WR_SEND_WITH_IMM,
		IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_ATOMIC_CMP_AND_SWP,
		IB_WR_SEND_WITH_INV, SROCE_WR_ATOMIC_WRITE, IB_WR_BIND_MW,
		IB_WR_LOCAL_INV,
	};

	if (sel >= 0xf4 && sel < 0xf8)
		return SROCE_WR_FLUSH;
	return sel < 0xf8 ? ops[sel % ARRAY_SIZE(ops)] : sel - 0xf0u;
}

static void make_target(struct world *w, struct sroce_kqp *kqp,
			struct sim_wr *wr, const u8 *r)
{
	const struct sroce_kqp *peer = kqp == &w->s->a ? &w->s->b : &w->s->a;

	wr->ex = 0xabc00000 | r[14];
	if (kqp->qp.svc == SROCE_SVC_UD) {
		/* 0 is the way to B, 1 to A */
		wr->ah = r[8] < 0xf0 ? kqp != &w->s->a : r[8];
		wr->remote_qpn = r[9] < 0xf0 ? peer->qp.qpn : r[9];
		wr->remote_qkey = r[14] < 0xc0 ? 0x1234 : 0x80000000u | r[14];
		return;
	}
	wr->remote_addr = rec_va(w, r[8], rec16(r, 10));
	wr->rkey = rec_key(w, r[8]);
	wr->compare_add = r[14];
	wr->swap = fair_byte(r[9]) * 0x0101010101010101ULL;
}

/* A window, onto what may be bound or not; or one that is to go. */
static void make_bind(struct world *w, struct sim_wr *wr, const u8 *r)
{
	struct sroce_bind *b = &wr->bind;
	u32 key = w->win[r[14] & 1]->mr.key;

	if (r[14] < 0xc0 && (wr->opcode == IB_WR_LOCAL_INV ||
			     wr->opcode == IB_WR_SEND_WITH_INV))
		wr->ex = key;
	if (wr->opcode != IB_WR_BIND_MW)
		return;
	b->addr = rec_va(w, r[8], rec16(r, 10));
	b->length = r[3] >= 0xe0 ? rec32(r, 6) :
		    rec16(r, 6) % (room_at(w, r[8], rec16(r, 10)) + 1);
	b->mr_key = rec_key(w, r[8]);
	b->key = r[14] < 0xc0 ? key : r[14];
	b->new_key = r[9];
	b->access = r[13] & 0xe ? IB_ACCESS_REMOTE_WRITE |
		    IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC : r[12];
	if (r[13] & 0x10)
		b->access |= IB_ZERO_BASED;
}

/* Up to all entries that there may be, one after the other in one region */
static u32 make_sges(struct world *w, const struct sroce_qp *qp,
		     struct ib_sge *sge, const u8 *r, u32 len)
{
	u32 n = r[3] % (qp->sq.max_sge + 1), i, off = rec16(r, 12);

	if (!n && len && r[3] < 0xe0)
		n = 1;

	for (i = 0; i < n; i++) {
		u32 part = i + 1 < n ? len / n : len - len / n * (n - 1);

		sge[i].addr = rec_va(w, r[4], off);
		sge[i].length = part;
		sge[i].lkey = rec_key(w, r[4]);
		off += part + (r[5] >= 0xc0 ? r[5] & 0x1f : 0);
	}
	return n;
}

static bool ring_full(const struct sroce_ring *r, u32 prod)
{
	return ((prod + 1) & r->mask) == r->buf->consumer_index;
}

/* As drv/verbs/post.c does it for kernel users */
static bool kernel_send(struct sroce_qp *qp, const struct sim_wr *wr)
{
	struct sroce_wqe *wqe = sroce_sq_wqe(&qp->sq, qp->sq.prod);
	int msg = sroce_wqe_msg_of_wr(qp->svc, wr->opcode);

	if (sroce_sq_full(&qp->sq) || msg < 0 || msg == SROCE_MSG_FLUSH ||
	    wr->data || qp->state < IB_QPS_RTS)
		return false;
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->msg = msg;
	wqe->flags = wr->flags & ~IB_SEND_INLINE;
	wqe->imm = wr->ex;
	wqe->inv_rkey = wr->ex;
	wqe->num_sge = wr->num_sge;
	memcpy(wqe->sge, wr->sge, wr->num_sge * sizeof(*wr->sge));
	if (qp->svc == SROCE_SVC_UD) {
		wqe->remote_qpn = wr->remote_qpn;
		wqe->remote_qkey = wr->remote_qkey;
		wqe->ah = sroce_ah_get(qp, wr->ah);
		if (!wqe->ah)
			return false;
	} else {
		wqe->remote_addr = wr->remote_addr;
		wqe->rkey = wr->rkey;
		wqe->compare_add = wr->compare_add;
		wqe->swap = wr->swap;
		wqe->bind = wr->bind;
	}
	sroce_wqe_check(qp, wqe);
	qp->sq.prod = sroce_sq_next(&qp->sq, qp->sq.prod);
	return true;
}

static bool user_send(struct sroce_kqp *kqp, const struct sim_wr *wr)
{
	if (ring_full(&kqp->qp.sq.ring, kqp->sq_prod))
		return false;
	sim_put_send(kqp, wr);
	return true;
}

/* Mostly what makes sense: it fits, on either side, and is 8 for an atomic. */
static u32 send_len(struct world *w, u32 opcode, const u8 *r)
{
	u32 len = rec16(r, 6), room;

	if (r[3] >= 0xe0)
		return len;
	if (opcode == IB_WR_ATOMIC_FETCH_AND_ADD ||
	    opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	    opcode == SROCE_WR_ATOMIC_WRITE)
		return 8;
	room = min(room_at(w, r[4], rec16(r, 12)), room_at(w, r[8], rec16(r, 10)));
	return len % (room + 1);
}

/* Mostly of a range or a region, to where all see it */
static void make_flush(struct world *w, struct sim_wr *wr, const u8 *r)
{
	if (wr->opcode != SROCE_WR_FLUSH)
		return;
	wr->num_sge = 0;
	wr->length = send_len(w, wr->opcode, r);
	wr->type = r[13] < 0xe0 ? SROCE_FLUSH_GLOBAL : r[13];
	wr->level = r[12] < 0xe0 ? r[12] & 1 : r[12];
}

static bool put_send(struct world *w, struct sroce_kqp *kqp, const u8 *r)
{
	static const u8 data[256] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct log *log = world_sq_log(w, &kqp->qp);
	struct sim_wr wr = {
		.wr_id = log->posted, .opcode = opcode_of(r[1]), .flags = r[2],
	};
	bool ok;

	if (log->posted == POSTS_MAX)
		return false;
	make_target(w, kqp, &wr, r);
	make_bind(w, &wr, r);
	if (wr.flags & IB_SEND_INLINE) {
		wr.data = data;
		wr.data_len = rec16(r, 6) % (kqp->qp.sq.max_inline + 1);
	} else {
		wr.num_sge = make_sges(w, &kqp->qp, wr.sge, r,
				       send_len(w, wr.opcode, r));
	}
	make_flush(w, &wr, r);
	ok = kqp->qp.user ? user_send(kqp, &wr) : kernel_send(&kqp->qp, &wr);
	if (ok)
		log->silent[log->posted++] = !kqp->qp.sig_all &&
					     !(wr.flags & IB_SEND_SIGNALED);
	return ok;
}

/* r: 1 opcode, 2 flags, 3 entries, 4 and 5 local memory, 6 length, 8 remote
 * memory, 10 and 12 offsets there and here, 14 operand, 15 who and how often
 */
void act_send(struct world *w, const u8 *r)
{
	struct sroce_kqp *kqp = kqp_at(w, ~r[15] & 1);
	u32 n = 1 + (r[15] >> 2 & 7);

	while (n-- && put_send(w, kqp, r))
		;
	/* the kernel's own users can't but ring it */
	if (!(r[15] & 2) || !kqp->qp.user)
		world_doorbell(w, kqp);
}

static bool put_recv(struct world *w, struct sroce_kqp *kqp, const u8 *r)
{
	struct log *log = world_rq_log(w, &kqp->qp);
	struct sroce_srq *srq = kqp->qp.srq;
	struct sroce_ring *ring = srq ? &srq->rq.ring : &kqp->qp.rq.ring;
	u32 at = srq ? srq->prod : kqp->rq_prod, n;
	struct sroce_abi_recv_wqe *raw = sroce_ring_slot(ring, at);
	struct ib_sge sge[8];

	if (log->posted == POSTS_MAX || kqp->qp.state == IB_QPS_RESET ||
	    ring_full(ring, at))
		return false;
	n = make_sges(w, &kqp->qp, sge, r, r[3] >= 0xe0 ? rec16(r, 6) :
		      room_at(w, r[4], rec16(r, 12)));
	if (srq)
		sim_put_srq(srq, log->posted++, sge, n);
	else
		sim_put_recv(kqp, log->posted++, sge, n);
	if (r[3] >= 0xf0)
		raw->dma.num_sge = n + r[5] + 1;
	return true;
}

/* r: as act_send(), of which it uses less */
void act_recv(struct world *w, const u8 *r)
{
	u32 n = 1 + (r[15] >> 2 & 15);

	while (n-- && put_recv(w, kqp_at(w, r[15]), r))
		;
}

void act_doorbell(struct world *w, const u8 *r)
{
	world_doorbell(w, kqp_at(w, r[1]));
}

/* Consumers take what is in their CQs. */
void act_poll(struct world *w, const u8 *r)
{
	struct sroce_kqp *kqp = kqp_at(w, r[1]);

	kqp->scq.n = 0;
	kqp->rcq.n = 0;
}

void act_step(struct world *w, const u8 *r)
{
	u32 n = 1 + r[1] % STEPS_MAX;

	while (n-- && sim_step(w->s))
		;
}

/* Let time pass, and what happens meanwhile. */
void act_advance(struct world *w, const u8 *r)
{
	u64 until = w->s->now + (1ULL << r[1] % 36);
	u32 n;

	for (n = 0; n < STEPS_MAX; n++) {
		u64 was = w->s->now;

		if (!sim_step(w->s))
			break;
		if (w->s->now >= until && w->s->now != was)
			return;
	}
	if (n < STEPS_MAX && w->s->now < until)
		w->s->now = until;
}

void act_fails(struct world *w, const u8 *r)
{
	w->s->tx_fails = r[1] & 1;
	w->s->no_memory = r[1] & 2;
	w->s->hold_fails = r[1] & 0x10;
	w->s->copy_fails = (r[1] & 0xc) == 0xc;
}

/* A region is deregistered, or registered again. */
void act_register(struct world *w, const u8 *r)
{
	u32 i = r[1] % MEMS;

	if (w->mem[i]->mr.key)
		sim_buf_revoke(w->mem[i]);
	else
		w->mem[i]->mr.key = w->key[i];
}
