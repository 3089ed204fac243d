// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory windows; proto/local.c binds and invalidates them. */

#include "drv/dev.h"

/**
 * sroce_mw_alloc() - make a window that is not bound
 * @ibmw: the window; type 2 means 2B
 * @udata: unused
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
 * sroce_mw_dealloc() - end a window, bound or not
 * @ibmw: the window
 */
int sroce_mw_dealloc(struct ib_mw *ibmw)
{
	struct sroce_mr *mw = to_sibmw(ibmw)->mw;

	sroce_region_unpublish(mw);
	sroce_mr_unbind(mw);
	sroce_region_free(mw);
	return 0;
}

/* Bottom halves are off: a softirq may want the window for itself. */
static void forget(const struct sroce_qp *qp, struct sroce_mr *mw)
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
 * sroce_mw_forget() - windows of type 2 end with the QP that bound them
 * @qp: the QP, which binds none any more
 */
void sroce_mw_forget(const struct sroce_qp *qp)
{
	struct sroce_mr *mw;
	unsigned long index;

	if (!qp->has_mw)
		return;
	rcu_read_lock();
	xa_for_each(&qp->dev->mrs, index, mw)
		if (mw->kind == SROCE_MW_2 && READ_ONCE(mw->qpn) == qp->qpn) {
			local_bh_disable();
			forget(qp, mw);
			local_bh_enable();
		}
	rcu_read_unlock();
}
