// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* QPs of all devices by number; numbers are unique in the module. */

#include <linux/xarray.h>
#include "drv/core/qp.h"
#include "drv/lookup/kqp.h"
#include "drv/lookup/qp_tbl.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"

static DEFINE_XARRAY_ALLOC1(qp_tbl);
static u32 next_qpn;

/**
 * sroce_qp_tbl_add() - give a QP its number; packets find it from now on
 * @qp: the QP
 *
 * May sleep.
 *
 * Return: 0, -EBUSY if the device has a QP 1 already, or -ENOMEM.
 */
int sroce_qp_tbl_add(struct sroce_qp *qp)
{
	int ret;

	if (qp->type == IB_QPT_GSI) {
		qp->qpn = SROCE_QPN_GSI;
		if (rcu_access_pointer(qp->dev->gsi))
			return -EBUSY;
		rcu_assign_pointer(qp->dev->gsi, qp->kqp);
		return 0;
	}
	ret = xa_alloc_cyclic(&qp_tbl, &qp->qpn, qp->kqp,
			      XA_LIMIT(SROCE_QPN_MIN, SROCE_QPN_MASK - 1),
			      &next_qpn, GFP_KERNEL);
	return ret < 0 ? ret : 0;
}

/**
 * sroce_qp_tbl_del() - no packet finds the QP any more
 * @qp: the QP, which may still be in use by those that found it
 */
void sroce_qp_tbl_del(struct sroce_qp *qp)
{
	if (qp->type == IB_QPT_GSI)
		RCU_INIT_POINTER(qp->dev->gsi, NULL);
	else
		xa_erase(&qp_tbl, qp->qpn);
}

/**
 * sroce_qp_tbl_peek() - the QP that has a number
 * @qpn: the number
 *
 * Called under RCU, which is all that keeps what is returned.
 *
 * Return: the QP or NULL.
 */
struct sroce_kqp *sroce_qp_tbl_peek(u32 qpn)
{
	return xa_load(&qp_tbl, qpn);
}

/**
 * sroce_qp_tbl_get() - hold a QP that was found under RCU
 * @kqp: the QP or NULL
 * @sn: the namespace that its device must be in
 *
 * Return: @kqp, held until sroce_qp_tbl_put(), or NULL if it is on its way out or
 * in another namespace.
 */
struct sroce_kqp *sroce_qp_tbl_get(struct sroce_kqp *kqp, const struct sroce_snet *sn)
{
	if (!kqp || !refcount_inc_not_zero(&kqp->ref))
		return NULL;
	if (kqp->qp->dev->sn == sn)
		return kqp;
	sroce_qp_tbl_put(kqp);
	return NULL;
}

/**
 * sroce_qp_tbl_put() - let go of a QP found by number
 * @kqp: the QP
 */
void sroce_qp_tbl_put(struct sroce_kqp *kqp)
{
	if (refcount_dec_and_test(&kqp->ref))
		complete(&kqp->unused);
}

/**
 * sroce_qp_tbl_wait() - wait until all that have found a QP have let go of it
 * @kqp: the QP, which can't be found any more
 *
 * May sleep, for as long as a trip into a QP takes.
 */
void sroce_qp_tbl_wait(struct sroce_kqp *kqp)
{
	sroce_qp_tbl_put(kqp);
	wait_for_completion(&kqp->unused);
}
