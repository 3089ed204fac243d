// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Allocation and deallocation of memory windows. Work requests bind and invalidate
 * them: see drv/core/mem/mem_ops.c.
 */

#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/sched.h>
#include "drv/core/env.h"
#include "drv/core/mem/mr.h"
#include "drv/lookup/sdev.h"
#include "drv/mem/mw.h"
#include "drv/mem/region.h"

/**
 * sroce_mw_alloc() - allocate a window, not bound yet
 * @ibmw: the window; type 2 means 2B
 * @udata: unused
 *
 * Return: 0, -ENOMEM, or -EBUSY if no key is free.
 */
int sroce_mw_alloc(struct ib_mw *ibmw, struct ib_udata *udata)
{
	enum sroce_mr_kind kind = ibmw->type == IB_MW_TYPE_1 ? SROCE_MW_1 :
							       SROCE_MW_2;
	struct sroce_mr *mw = sroce_region_alloc(ibmw->pd, kind, 0);
	int ret;

	if (!mw)
		return -ENOMEM;
	ret = sroce_region_publish(mw);
	if (ret) {
		sroce_region_free(mw);
		return ret;
	}
	to_sibmw(ibmw)->mw = mw;
	ibmw->rkey = mw->key;
	return 0;
}

/**
 * sroce_mw_dealloc() - free a window, bound or not
 * @ibmw: the window
 *
 * Context: process; waits for trips that use the window.
 *
 * Return: 0
 */
int sroce_mw_dealloc(struct ib_mw *ibmw)
{
	struct sroce_mr *mw = to_sibmw(ibmw)->mw;

	sroce_region_retire(mw);
	sroce_region_unpublish(mw);
	sroce_mr_unbind(mw);
	sroce_region_free(mw);
	return 0;
}

/* Regions and windows that are looked at before others get the CPU */
#define SCAN_BATCH	256

/* Unbind a window of the QP. Return: whether it was bound by the QP */
static bool unbind_claimed(const struct sroce_qp *qp, struct sroce_mr *mw)
{
	bool bound;

	if (!sroce_mr_claim(mw, SROCE_MR_VALID))
		return false;
	bound = mw->qpn == qp->qpn;
	if (bound)
		sroce_mr_unbind(mw);
	sroce_mr_release(mw, bound ? SROCE_MR_FREE : SROCE_MR_VALID);
	return bound;
}

/*
 * Bottom halves are disabled before the window is referenced: a softirq on this CPU that claims
 * the window spins until the reference is dropped.
 * Return: whether the window was one of the QP's
 */
static bool unbind_from_qp(const struct sroce_qp *qp, struct sroce_mr *mw)
{
	bool bound = false;

	if (mw->kind != SROCE_MW_2 || READ_ONCE(mw->qpn) != qp->qpn)
		return false;
	local_bh_disable();
	if (sroce_region_get(mw)) {
		bound = unbind_claimed(qp, mw);
		sroce_mr_put(mw);
	}
	local_bh_enable();
	return bound;
}

/**
 * sroce_mw_unbind_qp() - unbind the type 2 windows that a QP has bound
 * @qp: the QP, which is being destroyed and binds no more windows
 *
 * A device may have very many regions. The search ends with the last window of the QP, and
 * lets others have the CPU.
 *
 * Context: process, may sleep.
 */
void sroce_mw_unbind_qp(const struct sroce_qp *qp)
{
	u32 left = qp->windows, seen = 0;
	struct sroce_mr *mw;
	unsigned long index;

	if (!left)
		return;
	rcu_read_lock();
	xa_for_each(&qp->dev->mrs, index, mw) {
		left -= unbind_from_qp(qp, mw);
		if (!left)
			break;
		/* the walk goes on by index, and keeps nothing that RCU guards */
		if (!(++seen % SCAN_BATCH))
			cond_resched_rcu();
	}
	rcu_read_unlock();
}
