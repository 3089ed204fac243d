// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Scatter/gather lists: find the memory that a part of a payload is read from or written
 * to, by way of the L_Keys of the list.
 */

#include "drv/core/env.h"
#include "drv/core/mem/mr.h"
#include "drv/core/mem/sge.h"

static int walk_sge(struct sroce_qp *qp, const struct ib_sge *sge, u32 skip,
		    u32 len, int access, sroce_span_fn fn, void *arg)
{
	struct sroce_mr *mr = sroce_mr_by_lkey(qp, sge->lkey, access);

	if (!mr)
		return -EFAULT;
	return sroce_mr_walk(mr, sge->addr + skip, len,
			     access & IB_ACCESS_LOCAL_WRITE, fn, arg);
}

/**
 * sroce_sge_walk() - call a function for the memory of a part of a payload
 * @qp: the QP, locked
 * @sge: the list
 * @num: its length
 * @off: offset of the part in the payload
 * @len: bytes of the part
 * @access: rights that each region must give; IB_ACCESS_LOCAL_WRITE if @fn writes
 * @fn: called for each contiguous part of the memory, in order
 * @arg: passed to @fn
 *
 * Return: 0, -EFAULT if a key, right or range is wrong, -ENOSPC if the list is too short,
 * -EAGAIN if some page is not present, or what @fn returned.
 */
int sroce_sge_walk(struct sroce_qp *qp, const struct ib_sge *sge, u32 num,
		   u32 off, u32 len, int access, sroce_span_fn fn, void *arg)
{
	int ret;

	for (; num && len; num--, sge++) {
		u32 n;

		if (off >= sge->length) {
			off -= sge->length;
			continue;
		}
		n = min(len, sge->length - off);
		ret = walk_sge(qp, sge, off, n, access, fn, arg);
		if (ret)
			return ret;
		len -= n;
		off = 0;
	}
	return len ? -ENOSPC : 0;
}

static int fault_in_sge(struct sroce_qp *qp, const struct ib_sge *sge, u32 skip,
			u32 need, u32 len, int access)
{
	struct sroce_mr *mr = sroce_mr_by_lkey(qp, sge->lkey, access);

	if (!mr)
		return -EFAULT;
	return sroce_mr_fault_in(qp, mr, sge->addr + skip, need, len,
				 access & IB_ACCESS_LOCAL_WRITE);
}

/**
 * sroce_sge_fault_in() - request page faults for a part of a payload
 * @qp: the QP that waits for them, locked
 * @sge: the list
 * @num: its length
 * @off: offset of the part in the payload
 * @need: bytes that are needed now
 * @len: bytes that will be needed, @need included
 * @access: rights that each region must give
 *
 * Return: -EAGAIN if a fault was requested: sroce_transport_faulted_in() is called when the
 * first @need bytes are present; -EFAULT if a key or right is wrong or a fault has failed
 * before; 0 if no region is on demand.
 */
int sroce_sge_fault_in(struct sroce_qp *qp, const struct ib_sge *sge, u32 num,
		       u32 off, u32 need, u32 len, int access)
{
	int ret = 0;

	len = min(len, max(need, SROCE_PAGES_AHEAD));
	for (; num && len; num--, sge++) {
		u32 n, now;
		int err;

		if (off >= sge->length) {
			off -= sge->length;
			continue;
		}
		n = min(len, sge->length - off);
		now = min(n, need);
		err = fault_in_sge(qp, sge, off, now, n, access);
		/* an error in what is not needed yet is found when it is needed */
		if (err && err != -EAGAIN)
			return now ? err : ret;
		if (err)
			ret = err;
		len -= n;
		need -= now;
		off = 0;
	}
	return ret;
}

/**
 * sroce_sge_scatter() - sroce_sge_walk() of memory that a payload is written to
 * @qp: the QP, locked
 * @sge: the list
 * @num: its length
 * @off: offset of the part in the payload
 * @len: bytes of the part
 * @fn: called for each contiguous part of the memory, in order
 * @arg: passed to @fn
 *
 * Return: as sroce_sge_walk().
 */
int sroce_sge_scatter(struct sroce_qp *qp, const struct ib_sge *sge, u32 num,
		      u32 off, u32 len, sroce_span_fn fn, void *arg)
{
	return sroce_sge_walk(qp, sge, num, off, len, IB_ACCESS_LOCAL_WRITE, fn, arg);
}
