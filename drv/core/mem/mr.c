// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Keys, rights, ranges and address arithmetic of memory regions and windows. */

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "drv/core/env.h"

/**
 * sroce_mr_put_last() - let go of the region or window that the QP used last
 * @qp: the QP
 *
 * At the end of a burst, and before it claims one: who claims it waits for all others.
 */
void sroce_mr_put_last(struct sroce_qp *qp)
{
	if (!qp->last_mr)
		return;
	sroce_mr_put(qp->last_mr);
	qp->last_mr = NULL;
}

/*
 * What a key names, if it works. A burst mostly uses the same one again and again: the
 * QP holds what it used last, until it uses another one or sroce_mr_put_last().
 */
static struct sroce_mr *get(struct sroce_qp *qp, u32 key)
{
	struct sroce_mr *mr = qp->last_mr;

	if (!mr || sroce_key_index(READ_ONCE(mr->key)) != sroce_key_index(key)) {
		sroce_mr_put_last(qp);
		mr = sroce_mr_find(qp, key);
		qp->last_mr = mr;
	}
	/* pairs with the release that made it valid */
	if (mr && smp_load_acquire(&mr->state) == SROCE_MR_VALID &&
	    mr->key == key && mr->pd == qp->ibqp.pd)
		return mr;
	/* who claims it, or whose it is, need not wait for those who only ask for it */
	sroce_mr_put_last(qp);
	return NULL;
}

/**
 * sroce_mr_local() - the region that an L_Key names
 * @qp: on whose behalf
 * @lkey: the key; windows have none
 * @access: rights that are needed
 *
 * Return: the region, held until the next is asked for or sroce_mr_put_last(), or NULL.
 */
struct sroce_mr *sroce_mr_local(struct sroce_qp *qp, u32 lkey, int access)
{
	struct sroce_mr *mr = get(qp, lkey);

	if (mr && (sroce_mr_is_window(mr) || (mr->access & access) != access))
		return NULL;
	return mr;
}

/* What an R_Key names, if it gives the rights to this QP */
static struct sroce_mr *get_remote(struct sroce_qp *qp, u32 rkey, int access)
{
	struct sroce_mr *mr = get(qp, rkey);

	if (mr && ((mr->access & access) != access ||
		   (mr->kind == SROCE_MW_2 && mr->qpn != qp->qpn)))
		return NULL;
	return mr;
}

/**
 * sroce_mr_remote_whole() - the region or window that an R_Key names, all of it
 * @qp: by which the request came
 * @rkey: the key
 * @access: rights that are needed
 *
 * Return: the region, held until the next is asked for or sroce_mr_put_last(), or NULL.
 */
struct sroce_mr *sroce_mr_remote_whole(struct sroce_qp *qp, u32 rkey, int access)
{
	return get_remote(qp, rkey, access);
}

/**
 * sroce_mr_remote() - the region or window that an R_Key names
 * @qp: by which the request came
 * @rkey: the key
 * @va: first byte
 * @len: bytes, all of which must lie within
 * @access: rights that are needed
 *
 * Return: the region, held until the next is asked for or sroce_mr_put_last(), or NULL.
 */
struct sroce_mr *sroce_mr_remote(struct sroce_qp *qp, u32 rkey, u64 va, u64 len,
				 int access)
{
	struct sroce_mr *mr = get_remote(qp, rkey, access);

	return mr && sroce_mr_covers(mr, va, len) ? mr : NULL;
}

/* Pages have this size on most machines, and on none a smaller one. */
#define SMALL_PAGE 4096

/**
 * sroce_mr_covers() - whether a region holds a range of addresses
 * @mr: the region
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

static bool holds(const struct sroce_mr *mr, u64 i, u64 off)
{
	return i < mr->nr && mr->ext[i].off <= off &&
	       (i + 1 == mr->nr || off < mr->ext[i + 1].off);
}

/* Index of the extent that holds @off; @off lies inside the region. */
static u32 extent_at(const struct sroce_mr *mr, u64 off)
{
	/* where it is if no two pages are neighbours in memory */
	u64 guess = (off + mr->iova % SMALL_PAGE) / SMALL_PAGE;
	u32 lo = 0, hi = mr->nr;

	if (hi == 1)
		return 0;
	if (holds(mr, guess, off))
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

/**
 * sroce_mr_span() - kernel address of a byte, and how far it goes on
 * @mr: the region
 * @iova: address of the byte; sroce_mr_covers() said yes
 * @len: in: bytes wanted; out: how many of them are contiguous
 *
 * If pages come on demand: within sroce_mr_walk() only.
 */
void *sroce_mr_span(const struct sroce_mr *mr, u64 iova, u32 *len)
{
	u64 off;
	u32 i;

	if (mr->parent) {
		iova = iova - mr->iova + mr->base;
		mr = mr->parent;
	}
	if (mr->dma_all)
		return (void *)(uintptr_t)iova;
	if (mr->odp)
		return sroce_odp_span(mr->odp, iova, len);

	off = iova - mr->iova;
	i = extent_at(mr, off);
	*len = min_t(u64, *len, extent_end(mr, i) - off);
	return mr->ext[i].addr + (off - mr->ext[i].off);
}

/**
 * sroce_mr_copy_from() - for sroce_mr_walk(): copy the bytes out
 * @span: where they are
 * @len: how many
 * @arg: u8 **, where they go; moves on
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
 * sroce_mr_copy_to() - for sroce_mr_walk(): copy bytes in
 * @span: where they go
 * @len: how many
 * @arg: u8 **, where they are; moves on
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

/* Extents; @off lies inside the region */
static int walk(const struct sroce_mr *mr, u64 off, u32 len, sroce_span_fn fn,
		void *arg)
{
	u32 i = extent_at(mr, off);
	u64 n = extent_end(mr, i) - off;
	int ret;

	/* most often the first holds all of it */
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
 * The pages must all be there before the first is touched, and stay. Not a part of its
 * caller, which is called for every packet and needs no stack without it.
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
 * sroce_mr_walk() - visit the contiguous pieces of a range
 * @mr: the region
 * @iova: first byte
 * @len: bytes
 * @write: they will be changed
 * @fn: called for each piece in turn; a non-zero return ends the walk
 * @arg: passed to @fn
 *
 * Return: 0, -EFAULT if the range is not inside the region, -EAGAIN if some of it
 * is not in memory, see sroce_mr_fault_in(); or what @fn said.
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
	return walk(mr, iova - mr->iova, len, fn, arg);
}

/**
 * sroce_mr_fault_in() - have a range brought into memory
 * @qp: on whose behalf
 * @mr: the region, or a window
 * @iova: first byte
 * @need: bytes that are needed, within the region
 * @len: bytes that are of use, those included
 * @write: they will be changed
 *
 * Return: -EAGAIN: it is on its way, sroce_transport_paged() is called when what is needed
 * has come; -EFAULT if that can't be; 0 if nobody has to wait.
 */
int sroce_mr_fault_in(struct sroce_qp *qp, struct sroce_mr *mr, u64 iova, u32 need,
		  u64 len, bool write)
{
	len = min_t(u64, len, max(need, SROCE_PAGES_AHEAD));
	if (!sroce_mr_covers(mr, iova, len))
		len = need;
	if (mr->parent) {
		iova = iova - mr->iova + mr->base;
		mr = mr->parent;
	}
	if (!mr->odp || !len)
		return 0;
	sroce_count(qp, SROCE_CNT_ODP_WAIT);
	return sroce_pager_fault_in(qp, mr, iova, need, len, write);
}
