// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory management by work requests: windows are bound, fast regions are
 * registered, and either is invalidated, by its owner or by a SEND (10.6.7).
 *
 * Other QPs may be using what changes here. So it is claimed first, then all
 * that held it have to let go, and only then it is changed and works again.
 */

#include <linux/string.h>
#include "drv/core/env.h"

#define REMOTE_RIGHTS	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_ATOMIC)

/**
 * sroce_mr_claim() - have a region or window for oneself, to change it
 * @mr: held by the caller
 * @from: the state it must be in
 *
 * Return: false if it is in another one.
 */
bool sroce_mr_claim(struct sroce_mr *mr, enum sroce_mr_state from)
{
	/* full barrier: who holds it later sees that it is busy */
	if (cmpxchg(&mr->state, from, SROCE_MR_BUSY) != from)
		return false;
	sroce_mr_drain(mr);
	return true;
}

/**
 * sroce_mr_release() - let others have it again
 * @mr: claimed
 * @to: the state it has now
 */
void sroce_mr_release(struct sroce_mr *mr, enum sroce_mr_state to)
{
	/* who sees the state sees all that goes with it */
	smp_store_release(&mr->state, to);
}

/**
 * sroce_mr_unbind() - a window leads nowhere any more
 * @mw: the window, claimed
 */
void sroce_mr_unbind(struct sroce_mr *mw)
{
	if (mw->parent)
		atomic_dec(&mw->parent->windows);
	mw->parent = NULL;
}

static bool may_invalidate(const struct sroce_qp *qp, const struct sroce_mr *mr,
			   u32 key, bool remote)
{
	if (READ_ONCE(mr->key) != key || mr->pd != qp->ibqp.pd)
		return false;
	if (mr->kind == SROCE_MW_2)
		return mr->qpn == qp->qpn;
	return mr->kind == SROCE_MR_FAST &&
	       (!remote || mr->access & REMOTE_RIGHTS);
}

/**
 * sroce_mem_ops_invalidate() - have a key work no longer
 * @qp: on whose behalf, or by which the request came
 * @key: of a fast region, or of a window of type 2 that @qp has bound
 * @remote: the peer asks for it
 *
 * Return: 0, or -EINVAL if it may not be or is not valid.
 */
int sroce_mem_ops_invalidate(struct sroce_qp *qp, u32 key, bool remote)
{
	struct sroce_mr *mr;
	int ret = -EINVAL;

	sroce_mr_put_last(qp);
	mr = sroce_mr_find(qp, key);
	if (!mr)
		return ret;
	/* whose it is may be careful and do it twice */
	if (!remote && READ_ONCE(mr->state) == SROCE_MR_FREE &&
	    may_invalidate(qp, mr, key, remote))
		ret = 0;
	if (may_invalidate(qp, mr, key, remote) &&
	    sroce_mr_claim(mr, SROCE_MR_VALID)) {
		/* it may have become another one before it was claimed */
		if (may_invalidate(qp, mr, key, remote)) {
			sroce_mr_unbind(mr);
			sroce_mr_release(mr, SROCE_MR_FREE);
			sroce_count(qp, SROCE_CNT_INVALIDATE);
			ret = 0;
		} else {
			sroce_mr_release(mr, SROCE_MR_VALID);
		}
	}
	sroce_mr_put(mr);
	return ret;
}

/* 10.6.7.2.1: what a window may be bound onto */
static bool may_bind(const struct sroce_mr *mr, const struct sroce_bind *b)
{
	/* the right to write locally says nothing of a window: it is no matter */
	u32 allowed = REMOTE_RIGHTS | IB_ZERO_BASED | IB_ACCESS_LOCAL_WRITE |
		      (mr->access & SROCE_ACCESS_FLUSH_GLOBAL);

	if (mr->kind != SROCE_MR_PLAIN || mr->dma_all ||
	    !(mr->access & IB_ACCESS_MW_BIND))
		return false;
	if (b->access & ~allowed)
		return false;
	if (b->access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC) &&
	    !(mr->access & IB_ACCESS_LOCAL_WRITE))
		return false;
	return sroce_mr_covers(mr, b->addr, b->length);
}

static u32 with_tag(u32 key, u32 tag)
{
	return (key & ~0xffU) | (tag & 0xff);
}

/* The window is claimed; @mr is held, or NULL to leave the window unbound. */
static void rebind(struct sroce_qp *qp, struct sroce_mr *mw,
		   struct sroce_mr *mr, const struct sroce_bind *b)
{
	sroce_mr_unbind(mw);
	mw->key = with_tag(mw->key, b->new_key);
	if (mr) {
		atomic_inc(&mr->windows);
		mw->parent = mr;
		mw->base = b->addr;
		mw->iova = b->access & IB_ZERO_BASED ? 0 : b->addr;
		mw->length = b->length;
		mw->access = b->access;
		mw->qpn = qp->qpn;
		qp->has_mw |= mw->kind == SROCE_MW_2;
	}
	sroce_mr_release(mw, mr ? SROCE_MR_VALID : SROCE_MR_FREE);
}

static bool bind(struct sroce_qp *qp, struct sroce_mr *mw,
		 const struct sroce_bind *b)
{
	bool one = mw->kind == SROCE_MW_1, ok;
	enum sroce_mr_state was = SROCE_MR_FREE;
	struct sroce_mr *mr = NULL;

	if (!sroce_mr_is_window(mw) || READ_ONCE(mw->key) != b->key ||
	    mw->pd != qp->ibqp.pd)
		return false;
	/* a type 1 window of no bytes is none; type 2 has to be invalidated */
	if (b->length || !one) {
		mr = sroce_mr_local(qp, b->mr_key, 0);
		if (!mr)
			return false;
		if (!may_bind(mr, b) || !b->length)
			return false;
	}
	if (!sroce_mr_claim(mw, was)) {
		was = SROCE_MR_VALID;
		if (!one || !sroce_mr_claim(mw, was))
			return false;
	}
	/* another QP may have been faster, and the key is a new one */
	ok = mw->key == b->key;
	if (ok)
		rebind(qp, mw, mr, b);
	else
		sroce_mr_release(mw, was);
	return ok;
}

static bool do_bind(struct sroce_qp *qp, const struct sroce_bind *b)
{
	struct sroce_mr *mw = sroce_mr_find(qp, b->key);
	bool ok;

	if (!mw)
		return false;
	ok = bind(qp, mw, b);
	sroce_mr_put(mw);
	if (ok)
		sroce_count(qp, SROCE_CNT_MW_BIND);
	return ok;
}

/*
 * The extents were laid down by the user; his work request makes them count.
 * They stay with him: he may register them again.
 */
static void register_fast(struct sroce_mr *mr, const struct sroce_bind *b)
{
	memcpy(mr->ext, mr->next, mr->next_nr * sizeof(*mr->ext));
	mr->nr = mr->next_nr;
	mr->key = b->new_key;
	mr->iova = b->addr;
	mr->length = b->length;
	mr->access = b->access;
}

static bool do_register(struct sroce_qp *qp, const struct sroce_bind *b)
{
	struct sroce_mr *mr = sroce_mr_find(qp, b->new_key);
	bool ok;

	if (!mr)
		return false;
	ok = mr->kind == SROCE_MR_FAST && mr->next_nr &&
	     mr->pd == qp->ibqp.pd &&
	     /* its memory is not persistent, and must not be said to be */
	     !(b->access & SROCE_ACCESS_FLUSH_PERSISTENT) &&
	     sroce_mr_claim(mr, SROCE_MR_FREE);
	if (ok) {
		register_fast(mr, b);
		sroce_mr_release(mr, SROCE_MR_VALID);
		sroce_count(qp, SROCE_CNT_FAST_REG);
	}
	sroce_mr_put(mr);
	return ok;
}

/**
 * sroce_mem_ops_run() - execute a work request that sends nothing
 * @qp: the QP
 * @wqe: the work request
 *
 * Return: how it ended.
 */
enum ib_wc_status sroce_mem_ops_run(struct sroce_qp *qp,
				  const struct sroce_wqe *wqe)
{
	bool ok;

	sroce_mr_put_last(qp);
	if (wqe->msg == SROCE_MSG_LOCAL_INV)
		ok = !sroce_mem_ops_invalidate(qp, wqe->inv_rkey, false);
	else if (wqe->msg == SROCE_MSG_BIND_MW)
		ok = do_bind(qp, &wqe->bind);
	else
		ok = do_register(qp, &wqe->bind);
	if (ok)
		return IB_WC_SUCCESS;
	sroce_count(qp, SROCE_CNT_MEM_OP_ERROR);
	return IB_WC_MW_BIND_ERR;
}
