// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Scatter/gather lists: find the memory that a part of a payload is read from or written
 * to, by way of the L_Keys of the list. Regions are of the PD of the queue that the list was
 * posted to, and for an SRQ that need not be the PD of the QP.
 */

#include "drv/core/env.h"
#include "drv/core/mem/mr.h"
#include "drv/core/mem/sge.h"

/**
 * struct sge_list - a scatter/gather list
 * @pd: PD of its regions
 * @sge: the entries
 * @num: their number
 */
struct sge_list {
	const struct ib_pd	*pd;
	const struct ib_sge	*sge;
	u32			num;
};

/* The list of the receive work request in use */
static struct sge_list recv_list(const struct sroce_qp *qp)
{
	return (struct sge_list) {
		.pd = qp->recv_pd, .sge = qp->resp.wqe.sge, .num = qp->resp.wqe.num_sge,
	};
}

/* The list of a send work request */
static struct sge_list send_list(const struct sroce_qp *qp, const struct ib_sge *sge, u32 num)
{
	return (struct sge_list) { .pd = qp->ibqp.pd, .sge = sge, .num = num };
}

static int walk_sge(struct sroce_qp *qp, const struct ib_pd *pd, const struct ib_sge *sge,
		    u32 skip, u32 len, int access, sroce_span_fn fn, void *arg)
{
	struct sroce_mr *mr = sroce_mr_by_lkey(qp, pd, sge->lkey, access);

	if (!mr)
		return -EFAULT;
	return sroce_mr_walk(mr, sge->addr + skip, len,
			     access & IB_ACCESS_LOCAL_WRITE, fn, arg);
}

/* A part of a payload, if one region has it in one piece */
static void *flat(struct sroce_qp *qp, struct sge_list list, u32 off, u32 len, int access)
{
	struct sroce_mr *mr;

	if (!list.num || !len || (u64)off + len > list.sge->length)
		return NULL;
	mr = sroce_mr_by_lkey(qp, list.pd, list.sge->lkey, access);
	return mr ? sroce_mr_flat(mr, list.sge->addr + off, len) : NULL;
}

static int walk(struct sroce_qp *qp, struct sge_list list, u32 off, u32 len, int access,
		sroce_span_fn fn, void *arg)
{
	int ret;

	for (; list.num && len; list.num--, list.sge++) {
		u32 n;

		if (off >= list.sge->length) {
			off -= list.sge->length;
			continue;
		}
		n = min(len, list.sge->length - off);
		ret = walk_sge(qp, list.pd, list.sge, off, n, access, fn, arg);
		if (ret)
			return ret;
		len -= n;
		off = 0;
	}
	return len ? -ENOSPC : 0;
}

/**
 * sroce_sge_walk() - call a function for the memory of a part of a payload that is sent
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
	return walk(qp, send_list(qp, sge, num), off, len, access, fn, arg);
}

/**
 * sroce_sge_flat() - a part of a payload that is sent, as one piece of memory
 * @qp: the QP, locked
 * @sge: the list
 * @num: its length
 * @off: offset of the part in the payload
 * @len: bytes of the part
 *
 * Return: its kernel address, to be read only, or NULL: sroce_sge_walk() has it, or tells why
 * not.
 */
void *sroce_sge_flat(struct sroce_qp *qp, const struct ib_sge *sge, u32 num, u32 off, u32 len)
{
	return flat(qp, send_list(qp, sge, num), off, len, 0);
}

static int fault_in_sge(struct sroce_qp *qp, const struct ib_pd *pd, const struct ib_sge *sge,
			u32 skip, u32 need, u32 len, int access)
{
	struct sroce_mr *mr = sroce_mr_by_lkey(qp, pd, sge->lkey, access);

	if (!mr)
		return -EFAULT;
	return sroce_mr_fault_in(qp, mr, sge->addr + skip, need, len,
				 access & IB_ACCESS_LOCAL_WRITE);
}

static int fault_in(struct sroce_qp *qp, struct sge_list list, u32 off, u32 need, u32 len,
		    int access)
{
	int ret = 0;

	len = min(len, max(need, SROCE_PAGES_AHEAD));
	for (; list.num && len; list.num--, list.sge++) {
		u32 n, now;
		int err;

		if (off >= list.sge->length) {
			off -= list.sge->length;
			continue;
		}
		n = min(len, list.sge->length - off);
		now = min(n, need);
		err = fault_in_sge(qp, list.pd, list.sge, off, now, n, access);
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
 * sroce_sge_fault_in() - request page faults for a part of the payload of a send work request
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
	return fault_in(qp, send_list(qp, sge, num), off, need, len, access);
}

/**
 * sroce_sge_scatter() - sroce_sge_walk() of memory that a response is written to
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

/**
 * sroce_sge_recv() - call a function for memory of the receive work request in use
 * @qp: the QP, locked
 * @off: offset in the memory
 * @len: bytes
 * @fn: called for each contiguous part of the memory, in order; it writes
 * @arg: passed to @fn
 *
 * Return: as sroce_sge_walk().
 */
int sroce_sge_recv(struct sroce_qp *qp, u32 off, u32 len, sroce_span_fn fn, void *arg)
{
	return walk(qp, recv_list(qp), off, len, IB_ACCESS_LOCAL_WRITE, fn, arg);
}

/**
 * sroce_sge_recv_flat() - memory of the receive work request in use, in one piece
 * @qp: the QP, locked
 * @off: offset in the memory
 * @len: bytes
 *
 * Return: its kernel address, or NULL: sroce_sge_recv() has it, or tells why not.
 */
void *sroce_sge_recv_flat(struct sroce_qp *qp, u32 off, u32 len)
{
	return flat(qp, recv_list(qp), off, len, IB_ACCESS_LOCAL_WRITE);
}

/**
 * sroce_sge_recv_fault_in() - request page faults for memory of the receive work request in use
 * @qp: the QP that waits for them, locked
 * @off: offset in the memory
 * @need: bytes that are needed now
 * @len: bytes that will be needed, @need included
 *
 * Return: as sroce_sge_fault_in().
 */
int sroce_sge_recv_fault_in(struct sroce_qp *qp, u32 off, u32 need, u32 len)
{
	return fault_in(qp, recv_list(qp), off, need, len, IB_ACCESS_LOCAL_WRITE);
}
