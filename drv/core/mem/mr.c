// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory regions and windows: lookup by key, checks of rights and ranges, translation of
 * addresses, and the claim that keeps others off while one changes.
 */

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/mem/mr.h"

/**
 * sroce_mr_put_last() - drop the reference to the region or window used last
 * @qp: the QP, locked
 *
 * Called at the end of a trip, and before the QP claims a region or window: a claim waits
 * for all other references.
 */
void sroce_mr_put_last(struct sroce_qp *qp)
{
	if (!qp->last_mr)
		return;
	sroce_mr_leave(qp->last_mr);
	qp->last_mr = NULL;
}

/*
 * Look up a valid key of a PD. Most packets of a trip use the same one, so the QP keeps a
 * reference to what it used last.
 */
static struct sroce_mr *lookup(struct sroce_qp *qp, const struct ib_pd *pd, u32 key)
{
	struct sroce_mr *mr = qp->last_mr;

	if (!mr || sroce_key_index(READ_ONCE(mr->key)) != sroce_key_index(key)) {
		sroce_mr_put_last(qp);
		mr = sroce_mr_enter(qp, key);
		qp->last_mr = mr;
	}
	/* pairs with the release in sroce_mr_release() */
	if (mr && smp_load_acquire(&mr->state) == SROCE_MR_VALID &&
	    mr->key == key && mr->pd == pd)
		return mr;
	/* unused, so a claim or deregistration need not wait for the end of the trip */
	sroce_mr_put_last(qp);
	return NULL;
}

/**
 * sroce_mr_by_lkey() - look up an L_Key
 * @qp: the QP, locked
 * @pd: the PD that it must be of: that of the work request's queue
 * @lkey: the key; windows have none
 * @access: required rights
 *
 * Return: the region, referenced until the next lookup or sroce_mr_put_last(); or NULL.
 */
struct sroce_mr *sroce_mr_by_lkey(struct sroce_qp *qp, const struct ib_pd *pd, u32 lkey,
				  int access)
{
	struct sroce_mr *mr = lookup(qp, pd, lkey);

	if (mr && (sroce_mr_is_window(mr) || (mr->access & access) != access))
		return NULL;
	return mr;
}

/* A type 2 window gives rights to the QP that bound it only. */
static struct sroce_mr *get_remote(struct sroce_qp *qp, u32 rkey, int access)
{
	struct sroce_mr *mr = lookup(qp, qp->ibqp.pd, rkey);

	if (mr && ((mr->access & access) != access ||
		   (mr->kind == SROCE_MW_2 && mr->qpn != qp->qpn)))
		return NULL;
	return mr;
}

/**
 * sroce_mr_by_rkey_whole() - look up an R_Key for a request on the whole region or window
 * @qp: the QP that received the request, locked
 * @rkey: the key
 * @access: required rights
 *
 * Return: the region, referenced until the next lookup or sroce_mr_put_last(); or NULL.
 */
struct sroce_mr *sroce_mr_by_rkey_whole(struct sroce_qp *qp, u32 rkey, int access)
{
	return get_remote(qp, rkey, access);
}

/**
 * sroce_mr_by_rkey() - look up an R_Key for a range of addresses
 * @qp: the QP that received the request, locked
 * @rkey: the key
 * @va: first byte
 * @len: bytes, all of which must be inside the region
 * @access: required rights
 *
 * Return: the region, referenced until the next lookup or sroce_mr_put_last(); or NULL.
 */
struct sroce_mr *sroce_mr_by_rkey(struct sroce_qp *qp, u32 rkey, u64 va, u64 len,
				  int access)
{
	struct sroce_mr *mr = get_remote(qp, rkey, access);

	return mr && sroce_mr_covers(mr, va, len) ? mr : NULL;
}

/* The least page size of all architectures, and the usual one */
#define SMALL_PAGE 4096

/**
 * sroce_mr_covers() - whether a range of addresses is inside a region
 * @mr: the region or window
 * @iova: first byte
 * @len: bytes, may be 0
 */
bool sroce_mr_covers(const struct sroce_mr *mr, u64 iova, u64 len)
{
	if (mr->dma_all)
		return iova + len >= iova;
	if (iova < mr->iova || len > mr->length)
		return false;
	return iova - mr->iova <= mr->length - len;
}

/* Whether extent @i contains offset @off */
static bool extent_contains(const struct sroce_mr *mr, u64 i, u64 off)
{
	return i < mr->nr && mr->ext[i].off <= off &&
	       (i + 1 == mr->nr || off < mr->ext[i + 1].off);
}

/* Index of the extent that contains @off, which is inside the region */
static u32 extent_at(const struct sroce_mr *mr, u64 off)
{
	/* right if each extent is one page */
	u64 guess = (off + mr->iova % SMALL_PAGE) / SMALL_PAGE;
	u32 lo = 0, hi = mr->nr;

	if (hi == 1)
		return 0;
	if (extent_contains(mr, guess, off))
		return guess;
	while (hi - lo > 1) {
		u32 mid = lo + (hi - lo) / 2;

		if (mr->ext[mid].off <= off)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static u64 extent_end(const struct sroce_mr *mr, u32 i)
{
	return i + 1 < mr->nr ? mr->ext[i + 1].off : mr->length;
}

/* Translate an address inside the region; @left: set to how many bytes are contiguous there. */
static void *extent_span(const struct sroce_mr *mr, u64 iova, u64 *left)
{
	u64 off = iova - mr->iova;
	u32 i = extent_at(mr, off);

	*left = extent_end(mr, i) - off;
	return mr->ext[i].addr + (off - mr->ext[i].off);
}

/**
 * sroce_mr_span() - translate an address into a kernel address
 * @mr: the region or window
 * @iova: address of the first byte, inside the region
 * @len: in: bytes wanted; out: how many of them are contiguous
 *
 * A region on demand has to be walked by sroce_mr_walk() instead, which keeps its
 * pages present.
 *
 * Return: the kernel address.
 */
void *sroce_mr_span(const struct sroce_mr *mr, u64 iova, u32 *len)
{
	u64 left;
	void *p;

	if (mr->parent) {
		iova = iova - mr->iova + mr->base;
		mr = mr->parent;
	}
	if (mr->dma_all)
		return (void *)(uintptr_t)iova;
	if (mr->odp)
		return sroce_odp_span(mr->odp, iova, len);

	p = extent_span(mr, iova, &left);
	*len = min_t(u64, *len, left);
	return p;
}

/**
 * sroce_mr_copy_from() - sroce_span_fn: copy out of the region
 * @span: contiguous memory
 * @len: its length in bytes
 * @arg: u8 ** to the destination, which is advanced by @len
 *
 * Return: 0
 */
int sroce_mr_copy_from(void *span, u32 len, void *arg)
{
	u8 **to = arg;

	sroce_copy(*to, span, len);
	*to += len;
	return 0;
}

/**
 * sroce_mr_copy_to() - sroce_span_fn: copy into the region
 * @span: contiguous memory
 * @len: its length in bytes
 * @arg: u8 ** to the source, which is advanced by @len
 *
 * Return: 0
 */
int sroce_mr_copy_to(void *span, u32 len, void *arg)
{
	u8 **from = arg;

	sroce_copy(span, *from, len);
	*from += len;
	return 0;
}

/* @off and @len are inside the region. */
static int walk_extents(const struct sroce_mr *mr, u64 off, u32 len, sroce_span_fn fn,
			void *arg)
{
	u32 i = extent_at(mr, off);
	u64 n = extent_end(mr, i) - off;
	int ret;

	/* usually one extent contains the whole range */
	for (; n < len; n = extent_end(mr, i) - off) {
		ret = fn(mr->ext[i].addr + (off - mr->ext[i].off), n, arg);
		if (ret)
			return ret;
		len -= n;
		off += n;
		i++;
	}
	return fn(mr->ext[i].addr + (off - mr->ext[i].off), len, arg);
}

static int walk_pages(struct sroce_odp *odp, u64 iova, u32 len, sroce_span_fn fn,
		      void *arg)
{
	int ret = 0;
	u32 n;

	for (; len && !ret; iova += n, len -= n) {
		void *p;

		n = len;
		p = sroce_odp_span(odp, iova, &n);
		ret = fn(p, n, arg);
	}
	return ret;
}

/*
 * All pages must be present before the first is accessed, and stay so. Not inlined: the
 * caller is called for every packet, and needs no stack frame without this.
 */
static noinline int walk_odp(const struct sroce_mr *mr, u64 iova, u32 len, bool write,
			     sroce_span_fn fn, void *arg)
{
	int ret = sroce_odp_enter(mr->odp, iova, len, write);

	if (ret)
		return ret;
	ret = walk_pages(mr->odp, iova, len, fn, arg);
	sroce_odp_leave(mr->odp);
	return ret;
}

/**
 * sroce_mr_walk() - call a function for the memory of a range
 * @mr: the region or window
 * @iova: first byte
 * @len: bytes
 * @write: @fn writes to the memory
 * @fn: called for each contiguous part, in order; a non-zero return ends the walk
 * @arg: passed to @fn
 *
 * Return: 0, -EFAULT if the range is not inside the region, -EAGAIN if some page is not
 * present, see sroce_mr_fault_in(); or what @fn returned.
 */
int sroce_mr_walk(const struct sroce_mr *mr, u64 iova, u32 len, bool write,
		  sroce_span_fn fn, void *arg)
{
	if (!sroce_mr_covers(mr, iova, len))
		return -EFAULT;
	if (!len)
		return 0;
	if (mr->parent) {
		iova = iova - mr->iova + mr->base;
		mr = mr->parent;
	}
	if (mr->dma_all)
		return fn((void *)(uintptr_t)iova, len, arg);
	if (mr->odp)
		return walk_odp(mr, iova, len, write, fn, arg);
	return walk_extents(mr, iova - mr->iova, len, fn, arg);
}

/**
 * sroce_mr_flat() - a range of a region as one piece of memory
 * @mr: the region or window
 * @iova: first byte
 * @len: bytes
 *
 * Most messages are short and lie in one extent.
 *
 * Return: its kernel address, or NULL if it is not in one piece, is on demand, in a window,
 * empty, or not inside the region: sroce_mr_walk() tells.
 */
void *sroce_mr_flat(const struct sroce_mr *mr, u64 iova, u32 len)
{
	u64 left;
	void *p;

	if (mr->odp || mr->parent || mr->dma_all || !len || !sroce_mr_covers(mr, iova, len))
		return NULL;
	p = extent_span(mr, iova, &left);
	return left < len ? NULL : p;
}

/**
 * sroce_mr_fault_in() - request a page fault of a range
 * @qp: the QP that waits for it, locked
 * @mr: the region or window
 * @iova: first byte
 * @need: bytes that are needed now
 * @len: bytes that will be needed, or may be, @need included
 * @write: they will be written to
 *
 * Nothing outside of the region may be faulted in: it would not be told when the page goes.
 *
 * Return: -EAGAIN if the fault was requested: sroce_transport_faulted_in() is called when the
 * first @need bytes are present; -EFAULT if it has failed before, or if they are not inside the
 * region; 0 if the region is not on demand.
 */
int sroce_mr_fault_in(struct sroce_qp *qp, struct sroce_mr *mr, u64 iova, u32 need,
		      u64 len, bool write)
{
	/* what was looked at before may have been another entry of the list */
	if (need && !sroce_mr_covers(mr, iova, need))
		return -EFAULT;
	len = min_t(u64, len, max(need, SROCE_PAGES_AHEAD));
	while (len > need && !sroce_mr_covers(mr, iova, len))
		len = max_t(u64, need, len / 2);
	if (mr->parent) {
		iova = iova - mr->iova + mr->base;
		mr = mr->parent;
	}
	if (!mr->odp || !len)
		return 0;
	sroce_count(qp, SROCE_CNT_ODP_WAIT);
	return sroce_pager_fault_in(qp, mr, iova, need, len, write);
}

/**
 * sroce_mr_claim() - get exclusive use of a region or window, in order to change it
 * @mr: the region or window, referenced
 * @from: the state it must be in
 *
 * Waits for all others who use it, until the end of their trips.
 *
 * Return: false if it is not in state @from.
 */
bool sroce_mr_claim(struct sroce_mr *mr, enum sroce_mr_state from)
{
	/* full barrier: whoever takes a reference after the drain sees that it is busy */
	if (cmpxchg(&mr->state, from, SROCE_MR_BUSY) != from)
		return false;
	sroce_mr_drain(mr);
	return true;
}

/**
 * sroce_mr_release() - end sroce_mr_claim()
 * @mr: the region or window, claimed
 * @to: its new state
 */
void sroce_mr_release(struct sroce_mr *mr, enum sroce_mr_state to)
{
	/* pairs with the acquire in lookup(): the other members precede the state */
	smp_store_release(&mr->state, to);
}

/**
 * sroce_mr_unbind() - unbind a window from its region
 * @mw: the window, claimed; it may be unbound already
 */
void sroce_mr_unbind(struct sroce_mr *mw)
{
	if (mw->parent)
		atomic_dec(&mw->parent->windows);
	mw->parent = NULL;
}
