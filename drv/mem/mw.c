// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Allocation and deallocation of memory windows. Work requests bind and invalidate
 * them: see drv/core/mem/mem_ops.c.
 */

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

	sroce_region_unpublish(mw);
	sroce_mr_unbind(mw);
	sroce_region_free(mw);
	return 0;
}

/* Bottom halves are disabled: a softirq on this CPU might wait for the claim to end. */
static void unbind_from_qp(const struct sroce_qp *qp, struct sroce_mr *mw)
{
	if (!refcount_inc_not_zero(&mw->ref))
		return;
	if (sroce_mr_claim(mw, SROCE_MR_VALID)) {
		bool bound = mw->qpn == qp->qpn;

		if (bound)
			sroce_mr_unbind(mw);
		sroce_mr_release(mw, bound ? SROCE_MR_FREE : SROCE_MR_VALID);
	}
	sroce_mr_put(mw);
}

/**
 * sroce_mw_unbind_qp() - unbind the type 2 windows that a QP has bound
 * @qp: the QP, which is being destroyed and binds no more windows
 */
void sroce_mw_unbind_qp(const struct sroce_qp *qp)
{
	struct sroce_mr *mw;
	unsigned long index;

	if (!qp->has_mw)
		return;
	rcu_read_lock();
	xa_for_each(&qp->dev->mrs, index, mw)
		if (mw->kind == SROCE_MW_2 && READ_ONCE(mw->qpn) == qp->qpn) {
			local_bh_disable();
			unbind_from_qp(qp, mw);
			local_bh_enable();
		}
	rcu_read_unlock();
}
