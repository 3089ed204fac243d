// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Rings: used as a provider does, with work requests that make sense, and scribbled on. */

#define _GNU_SOURCE
#include <sched.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "fz.h"

enum { QPT_RC = 2, QPT_UC, QPT_UD, QPT_RAW = 8 };

#define SIGNALED	2
#define FENCE		1
#define SOLICITED	4
#define INLINE		8

/*
 * The upper half of our IDs of work requests. Of the lower, the first byte is the number of a
 * window, two are the life of the QP, and the last is what it counts as.
 */
#define MAGIC	0x5afe5afeULL

static void *slot_of(const struct fz_ring *r, uint32_t i)
{
	return r->buf->data + ((size_t)(i & r->mask) << r->shift);
}

static uint32_t index_of(uint32_t *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* The next slot to fill, or NULL if the ring is full, or is no more */
static void *next_free(const struct fz_ring *r, uint32_t *prod)
{
	if (!r->buf)
		return NULL;
	*prod = index_of(&r->buf->producer_index) & r->mask;
	if (((*prod + 1) & r->mask) == (index_of(&r->buf->consumer_index) & r->mask))
		return NULL;
	return slot_of(r, *prod);
}

static void filled(const struct fz_ring *r, uint32_t prod)
{
	__atomic_store_n(&r->buf->producer_index, (prod + 1) & r->mask, __ATOMIC_RELEASE);
}

static struct sroce_abi_sge part_of(struct fz_thread *t, const struct fz_obj *mr, uint32_t len)
{
	uint32_t off = fz_below(t, mr->len > len ? mr->len - len : 1) & ~7U;

	return (struct sroce_abi_sge){ (uintptr_t)mr->at + off, len, mr->lkey };
}

/* Post some receives to an RQ or SRQ. Its lock is held. */
static void post_recvs(struct fz_thread *t, struct fz_dev *d, struct fz_obj *o,
		       const struct fz_ring *r)
{
	struct fz_obj *mr = fz_of_pd(t, d, T_MR, o->pd);
	struct sroce_abi_recv_wqe *wqe;
	uint32_t n, prod;

	for (n = 1 + fz_below(t, 12); n && mr; n--) {
		wqe = next_free(r, &prod);
		if (!wqe)
			break;
		memset(wqe, 0, sizeof(*wqe));
		wqe->wr_id = MAGIC << 32 | (o->life & 0xffff) << 8 | FZ_RECV;
		wqe->dma.num_sge = 1;
		wqe->sge[0] = part_of(t, mr, fz_one_in(t, 30) ? 64 : 16000);
		wqe->dma.length = wqe->sge[0].length;
		filled(r, prod);
	}
}

static void feed(struct fz_thread *t, struct fz_dev *d, struct fz_obj *qp)
{
	struct fz_obj *o = qp->srq >= 0 ? &d->obj[T_SRQ][qp->srq] : qp;

	if (pthread_mutex_trylock(&o->lock))
		return;
	post_recvs(t, d, o, &o->ring[o == qp]);
	pthread_mutex_unlock(&o->lock);
}

/* What to do to the peer of a connected QP, and what it counts as */
static enum fz_call rc_or_uc(struct fz_thread *t, uint32_t type, struct sroce_abi_send_wr *wr)
{
	static const struct {
		uint8_t op, call, uc;
	} ops[] = {
		{ IB_UVERBS_WR_SEND, FZ_RC_SEND, FZ_UC_SEND },
		{ IB_UVERBS_WR_SEND_WITH_IMM, FZ_RC_SEND, FZ_UC_SEND },
		{ IB_UVERBS_WR_RDMA_WRITE, FZ_RC_WRITE, FZ_UC_WRITE },
		{ IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, FZ_RC_WRITE, FZ_UC_WRITE },
		{ IB_UVERBS_WR_BIND_MW, FZ_BIND_MW, FZ_BIND_MW },
		{ IB_UVERBS_WR_RDMA_READ, FZ_RC_READ, 0 },
		{ IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, FZ_RC_ATOMIC, 0 },
		{ IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, FZ_RC_ATOMIC, 0 },
	};
	uint32_t i = fz_below(t, type == QPT_RC ? ARRAY_SIZE(ops) : 5);

	/* binds meet others of their window, and fail, which ends the connection */
	if (ops[i].op == IB_UVERBS_WR_BIND_MW && !fz_one_in(t, 3))
		i = 0;
	wr->opcode = ops[i].op;
	return type == QPT_RC ? ops[i].call : ops[i].uc;
}

static bool is_bound(const struct fz_obj *mw)
{
	return mw->type == 2 && mw->access;
}

/* A window that this QP has bound, or NULL */
static struct fz_obj *bound_by(struct fz_dev *d, const struct fz_obj *qp)
{
	struct fz_obj *mw = d->obj[T_MW];
	int i;

	for (i = 0; i < OBJS; i++)
		if (mw[i].state == LIVE && mw[i].pd == qp->pd && is_bound(&mw[i]) &&
		    mw[i].num == qp->num)
			return &mw[i];
	return NULL;
}

/* The ID says of which window the work request is, beside what it counts as. */
static void of_window(const struct fz_dev *d, const struct fz_obj *mw,
		      struct sroce_abi_send_wr *wr)
{
	wr->wr_id |= (uint64_t)(mw - d->obj[T_MW]) << 24;
}

/* mw->access says that a window is bound. */
static bool invalidate(const struct fz_dev *d, struct fz_obj *mw, struct sroce_abi_send_wr *wr)
{
	of_window(d, mw, wr);
	wr->opcode = IB_UVERBS_WR_LOCAL_INV;
	wr->ex = mw->rkey;
	mw->access = 0;
	return true;
}

/*
 * Bind a window of this QP's PD. One of type 2 that is bound is invalidated first, mostly by the QP
 * that has bound it: for others it is an error, which ends the connection.
 */
static bool window(struct fz_thread *t, struct fz_dev *d, const struct fz_obj *qp,
		   struct sroce_abi_send_wr *wr)
{
	struct fz_obj *mw = fz_of_pd(t, d, T_MW, qp->pd), *mr = fz_of_pd(t, d, T_MR, qp->pd);

	if (!mw || !mr)
		return false;
	if (is_bound(mw)) {
		if (mw->num != qp->num && !fz_one_in(t, 8))
			return false;
		wr->wr_id += FZ_LOCAL_INV - FZ_BIND_MW;
		return invalidate(d, mw, wr);
	}
	of_window(d, mw, wr);
	wr->mw.addr = (uintptr_t)mr->at;
	wr->mw.length = fz_one_in(t, 30) ? fz_odd(t) : 64 + fz_below(t, mr->len - 64);
	wr->mw.mr_lkey = mr->lkey;
	wr->mw.mw_rkey = mw->rkey;
	wr->mw.rkey = (mw->rkey & ~255U) | ((mw->rkey + 1) & 255);
	wr->mw.access = fz_one_in(t, 30) ? fz_below(t, 32) : 14;
	mw->rkey = wr->mw.rkey;
	mw->access = wr->mw.access;
	mw->num = qp->num;
	return true;
}

static bool remote(struct fz_thread *t, const struct fz_obj *qp, struct sroce_abi_send_wr *wr,
		   uint32_t len)
{
	struct fz_dev *to = &t->proc->dev[qp->to];
	struct fz_obj *peer = qp->peer, *mr, *mw;
	struct sroce_abi_sge at;

	mr = peer ? fz_of_pd(t, to, T_MR, peer->pd) : NULL;
	if (!mr)
		return false;
	mw = fz_one_in(t, 6) ? fz_of_pd(t, to, T_MW, peer->pd) : NULL;
	at = part_of(t, mr, len);
	wr->rdma.remote_addr = at.addr;
	if (wr->opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP ||
	    wr->opcode == IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD)
		wr->atomic.rkey = mw ? mw->rkey : mr->rkey;
	else
		wr->rdma.rkey = mw ? mw->rkey : mr->rkey;
	return true;
}

static enum fz_call datagram(struct fz_thread *t, struct fz_dev *d, const struct fz_obj *qp,
			     struct sroce_abi_send_wr *wr)
{
	struct fz_obj *ah = fz_of_pd(t, d, T_AH, qp->pd);

	wr->opcode = IB_UVERBS_WR_SEND;
	wr->ud.remote_qpn = qp->peer ? qp->peer->num : 0;
	if (fz_one_in(t, 6))
		wr->ud.remote_qpn = 0xffffff;
	wr->ud.remote_qkey = fz_one_in(t, 10) ? 1 : QKEY;
	wr->ud.ah_num = ah ? ah->num : fz_below(t, 20);
	return FZ_UD_SEND;
}

static bool one_send(struct fz_thread *t, struct fz_dev *d, const struct fz_obj *qp,
		     struct sroce_abi_send_wqe *wqe)
{
	struct fz_obj *mr = fz_of_pd(t, d, T_MR, qp->pd);
	struct sroce_abi_sge *sge = (struct sroce_abi_sge *)wqe->payload;
	struct fz_obj *own = fz_one_in(t, 2) ? bound_by(d, qp) : NULL;
	uint32_t len = fz_one_in(t, 3) ? fz_below(t, 16000) : fz_below(t, 200);
	enum fz_call call;

	if (!mr)
		return false;
	memset(wqe, 0, sizeof(*wqe));
	if (own)	/* few QPs live until they invalidate one by chance */
		call = FZ_LOCAL_INV;
	else if (qp->type == QPT_RC || qp->type == QPT_UC)
		call = rc_or_uc(t, qp->type, &wqe->wr);
	else
		call = datagram(t, d, qp, &wqe->wr);
	if (call == FZ_UD_SEND)
		len &= 255;
	else if (call == FZ_RC_ATOMIC)
		len = 8;
	wqe->wr.wr_id = MAGIC << 32 | (qp->life & 0xffff) << 8 | call;
	wqe->wr.send_flags = fz_below(t, 8) & (SIGNALED | FENCE | SOLICITED);
	if (call == FZ_LOCAL_INV)
		return invalidate(d, own, &wqe->wr);
	if (call == FZ_BIND_MW)
		return window(t, d, qp, &wqe->wr);
	if (call != FZ_RC_SEND && call != FZ_UC_SEND && call != FZ_UD_SEND &&
	    !remote(t, qp, &wqe->wr, len))
		return false;
	wqe->dma.num_sge = 1;
	sge[0] = part_of(t, mr, len);
	if (call != FZ_RC_READ && call != FZ_RC_ATOMIC && len <= 16 && fz_one_in(t, 2)) {
		wqe->wr.send_flags |= INLINE;
		wqe->dma.num_sge = 0;
	}
	wqe->dma.length = len;
	return true;
}

static void post_sends(struct fz_thread *t, struct fz_dev *d, struct fz_obj *qp)
{
	uint32_t n, prod;
	void *wqe;

	for (n = 1 + fz_below(t, 8); n; n--) {
		wqe = next_free(&qp->ring[0], &prod);
		if (!wqe || !one_send(t, d, qp, wqe))
			break;
		filled(&qp->ring[0], prod);
	}
}

/* Receives for a QP and its peer, work requests, and the doorbell */
void fz_traffic(struct fz_thread *t, struct fz_dev *d)
{
	struct fz_obj *qp = fz_pick(t, d, T_QP), *peer;
	union fz_resp resp;
	struct fz_cmd cmd = {};

	if (!qp || (!qp->rts && !fz_one_in(t, 20)) || pthread_mutex_trylock(&qp->lock))
		return;
	pthread_rwlock_rdlock(&t->proc->maps);
	peer = qp->peer;
	post_sends(t, d, qp);
	pthread_mutex_unlock(&qp->lock);
	if (peer)
		feed(t, &t->proc->dev[qp->to], peer);
	pthread_rwlock_unlock(&t->proc->maps);
	cmd.post_send.qp_handle = qp->handle;
	cmd.post_send.wqe_size = sizeof(struct ib_uverbs_send_wr);
	if (t->proc->wild && fz_one_in(t, 5))
		cmd.post_send.wr_count = fz_below(t, 3);
	fz_cmd(t, d, FZ_DOORBELL, IB_USER_VERBS_CMD_POST_SEND, &cmd, sizeof(cmd.post_send) +
	       cmd.post_send.wr_count * sizeof(struct ib_uverbs_send_wr), &resp, 4);
}

/* A window is as it was: it has the key before, and is bound if it was not invalidated. */
static void not_bound(struct fz_obj *mw, uint32_t call)
{
	mw->access = call == FZ_LOCAL_INV;
	if (call == FZ_BIND_MW)
		mw->rkey = (mw->rkey & ~255U) | ((mw->rkey - 1) & 255);
}

/* A work request has ended; the rings of wild processes say nothing. */
static void completed(const struct fz_thread *t, struct fz_dev *d,
		      const struct ib_uverbs_wc *wc)
{
	uint32_t call = wc->wr_id & 255, life = wc->wr_id >> 8 & 0xffff, mw = wc->wr_id >> 24 & 255;
	int i;

	if (t->proc->wild || wc->wr_id >> 32 != MAGIC || call < FZ_RC_SEND || call > FZ_RECV)
		return;
	fz_count(call, wc->status);
	if (!wc->status)
		return;
	if ((call == FZ_BIND_MW || call == FZ_LOCAL_INV) && mw < OBJS)
		not_bound(&d->obj[T_MW][mw], call);
	for (i = 0; i < OBJS; i++)	/* its QP has to be connected again */
		if (d->obj[T_QP][i].num == wc->qp_num &&
		    (d->obj[T_QP][i].life & 0xffff) == life)
			d->obj[T_QP][i].rts = false;
}

void fz_poll(struct fz_thread *t, struct fz_dev *d)
{
	struct fz_obj *cq = fz_pick(t, d, T_CQ);
	uint32_t cons, n = 100;
	struct fz_ring *r;

	if (!cq || pthread_mutex_trylock(&cq->lock))
		return;
	pthread_rwlock_rdlock(&t->proc->maps);
	r = &cq->ring[0];
	while (r->buf && n--) {
		cons = r->buf->consumer_index & r->mask;
		if (cons == (index_of(&r->buf->producer_index) & r->mask))
			break;
		completed(t, d, slot_of(r, cons));
		__atomic_store_n(&r->buf->consumer_index, (cons + 1) & r->mask, __ATOMIC_RELEASE);
	}
	pthread_rwlock_unlock(&t->proc->maps);
	pthread_mutex_unlock(&cq->lock);
}

/* A word of a ring: mostly of the head, or of what the next work requests are about */
static uint32_t *a_word(struct fz_thread *t, const struct fz_ring *r)
{
	uint32_t *slot;

	switch (fz_below(t, 8)) {
	case 0:
		return &r->buf->consumer_index;
	case 1:
		return &r->buf->producer_index;
	case 2:
		return (uint32_t *)r->buf + fz_below(t, 96);
	case 3:
		return (uint32_t *)r->buf + fz_below(t, r->size / 4);
	default:
		slot = slot_of(r, r->buf->producer_index - fz_below(t, 3));
		return slot + fz_below(t, (1U << r->shift) / 4);
	}
}

/* Write to the rings of a wild process while the kernel reads them. */
void fz_scribble(struct fz_thread *t, struct fz_dev *d)
{
	static const enum fz_table tables[] = { T_QP, T_QP, T_CQ, T_SRQ };
	struct fz_obj *o;
	const struct fz_ring *r;
	int n;

	pthread_rwlock_rdlock(&t->proc->maps);
	o = fz_pick(t, d, tables[fz_below(t, ARRAY_SIZE(tables))]);
	r = o ? &o->ring[fz_below(t, 2)] : NULL;
	for (n = 0; r && r->buf && n < 40; n++) {
		volatile uint32_t *word = a_word(t, r);

		*word = fz_one_in(t, 3) ? *word + 1 : fz_one_in(t, 2) ? fz_odd(t) : fz_below(t, 70);
	}
	pthread_rwlock_unlock(&t->proc->maps);
	sched_yield();
}
