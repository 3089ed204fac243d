// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory management by work requests (10.6.7): bind a window, register a fast region,
 * invalidate either, by a local invalidate or by a SEND with invalidate.
 *
 * Other QPs may be using the region or window. So it is claimed first, which waits until
 * all others have dropped their references. Then it is changed and released.
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/mem/mem_ops.h"
#include "drv/core/mem/mr.h"

#define REMOTE_RIGHTS	(IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_ATOMIC)

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
 * sroce_mem_ops_invalidate() - invalidate a key
 * @qp: the QP, locked
 * @key: key of a fast region, or of a type 2 window that @qp has bound
 * @remote: the request came from the peer
 *
 * Return: 0, or -EINVAL if the key is not valid or @qp may not invalidate it.
 */
int sroce_mem_ops_invalidate(struct sroce_qp *qp, u32 key, bool remote)
{
	struct sroce_mr *mr;
	int ret = -EINVAL;

	sroce_mr_put_last(qp);
	mr = sroce_mr_find(qp, key);
	if (!mr)
		return ret;
	/* a local invalidate of a key that is invalid already is no error */
	if (!remote && READ_ONCE(mr->state) == SROCE_MR_FREE &&
	    may_invalidate(qp, mr, key, remote))
		ret = 0;
	if (may_invalidate(qp, mr, key, remote) &&
	    sroce_mr_claim(mr, SROCE_MR_VALID)) {
		/* it may have been bound or registered anew before it was claimed */
		if (may_invalidate(qp, mr, key, remote)) {
			sroce_mr_unbind(mr);
			qp->windows -= mr->kind == SROCE_MW_2;
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

/* 10.6.7.2.1: whether a window may be bound to a region */
static bool may_bind(const struct sroce_mr *mw, const struct sroce_mr *mr,
		     const struct sroce_bind *b)
{
	/* IB_ACCESS_LOCAL_WRITE has no meaning for a window, so it is ignored */
	u32 allowed = REMOTE_RIGHTS | IB_ACCESS_LOCAL_WRITE |
		      (mr->access & SROCE_ACCESS_FLUSH_GLOBAL);

	/* o10-36.2.2 */
	if (mw->kind == SROCE_MW_2)
		allowed |= IB_ZERO_BASED;

	if (mr->kind != SROCE_MR_PLAIN || mr->dma_all ||
	    !(mr->access & IB_ACCESS_MW_BIND) || !sroce_mr_is_committed(mr))
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

/* @mw is claimed. @mr is referenced, or NULL to leave the window unbound. */
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
		qp->windows += mw->kind == SROCE_MW_2;
	}
	sroce_mr_release(mw, mr ? SROCE_MR_VALID : SROCE_MR_FREE);
}

static bool bind(struct sroce_qp *qp, struct sroce_mr *mw,
		 const struct sroce_bind *b)
{
	bool type_1 = mw->kind == SROCE_MW_1, ok;
	enum sroce_mr_state from = SROCE_MR_FREE;
	struct sroce_mr *mr = NULL;

	if (!sroce_mr_is_window(mw) || READ_ONCE(mw->key) != b->key ||
	    mw->pd != qp->ibqp.pd)
		return false;
	/* length 0 unbinds a type 1 window; a type 2 window has to be invalidated */
	if (b->length || !type_1) {
		mr = sroce_mr_by_lkey(qp, qp->ibqp.pd, b->mr_key, 0);
		if (!mr)
			return false;
		if (!may_bind(mw, mr, b) || !b->length)
			return false;
	}
	if (!sroce_mr_claim(mw, from)) {
		from = SROCE_MR_VALID;
		if (!type_1 || !sroce_mr_claim(mw, from))
			return false;
	}
	/* another QP may have bound it before it was claimed, which changes the key */
	ok = mw->key == b->key;
	if (ok)
		rebind(qp, mw, mr, b);
	else
		sroce_mr_release(mw, from);
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
 * The consumer has set mr->next by ib_map_mr_sg(). The work request copies it to mr->ext:
 * mr->next stays, and may be registered again.
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
	     /* no memory is persistent */
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
 * sroce_mem_ops_run() - execute a work request that sends no packet
 * @qp: the QP, locked
 * @wqe: the work request; sroce_wqe_is_mem_op() is true
 *
 * Return: its completion status.
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
