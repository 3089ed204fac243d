// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * QPs of all devices by number. Numbers are unique in the module, not per device, so that
 * a packet's QP is found before its device. QP 1 exists once per device.
 */

#include <linux/random.h>
#include <linux/xarray.h>
#include "drv/core/qp.h"
#include "drv/lookup/kqp.h"
#include "drv/lookup/qp_tbl.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/snet.h"

/* Random numbers that are tried before a free one is searched for */
#define TRIES	8

static DEFINE_XARRAY_FLAGS(qp_tbl, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);

static u32 random_qpn(void)
{
	return SROCE_QPN_MIN + get_random_u32() % (SROCE_QPN_MASK - SROCE_QPN_MIN);
}

/*
 * Numbers are random: who sends forged packets must guess them, and one that a peer may still
 * send to is hardly ever used again soon.
 */
static int add_random(struct sroce_qp *qp)
{
	int ret, i;

	for (i = 0; i < TRIES; i++) {
		qp->qpn = random_qpn();
		ret = xa_insert(&qp_tbl, qp->qpn, qp->kqp, GFP_KERNEL);
		if (ret != -EBUSY)
			return ret;
	}
	/* more than half of all are in use: take the next free one */
	ret = xa_alloc(&qp_tbl, &qp->qpn, qp->kqp, XA_LIMIT(random_qpn(), SROCE_QPN_MASK - 1),
		       GFP_KERNEL);
	if (ret == -EBUSY)
		ret = xa_alloc(&qp_tbl, &qp->qpn, qp->kqp,
			       XA_LIMIT(SROCE_QPN_MIN, SROCE_QPN_MASK - 1), GFP_KERNEL);
	return ret;
}

/**
 * sroce_qp_tbl_add() - assign a number to a QP and make it visible to packets
 * @qp: the QP
 *
 * Context: process, may sleep.
 *
 * Return: 0, -EBUSY if the device has a QP 1 already or all numbers are in use, or -ENOMEM.
 */
int sroce_qp_tbl_add(struct sroce_qp *qp)
{
	if (qp->type == IB_QPT_GSI) {
		qp->qpn = SROCE_QPN_GSI;
		if (rcu_access_pointer(qp->dev->gsi))
			return -EBUSY;
		rcu_assign_pointer(qp->dev->gsi, qp->kqp);
		return 0;
	}
	return add_random(qp);
}

/**
 * sroce_qp_tbl_del() - remove a QP from the table
 * @qp: the QP
 *
 * Users that found the QP before may still hold it: see sroce_qp_tbl_wait().
 */
void sroce_qp_tbl_del(struct sroce_qp *qp)
{
	if (qp->type == IB_QPT_GSI)
		RCU_INIT_POINTER(qp->dev->gsi, NULL);
	else
		xa_erase(&qp_tbl, qp->qpn);
}

/**
 * sroce_qp_tbl_peek() - find a QP by number, without a reference
 * @qpn: the number; QP 1 is not found
 *
 * Context: RCU read lock.
 *
 * Return: the kernel's part of the QP, valid until rcu_read_unlock(), or NULL.
 */
struct sroce_kqp *sroce_qp_tbl_peek(u32 qpn)
{
	return xa_load(&qp_tbl, qpn);
}

/**
 * sroce_qp_tbl_get() - take a reference to a QP that was found under RCU
 * @kqp: the QP or NULL
 * @sn: the namespace that its device must be in
 *
 * Context: RCU read lock.
 *
 * Return: @kqp, held until sroce_qp_tbl_put(); NULL if it is NULL, is being destroyed
 * or belongs to another namespace.
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
 * sroce_qp_tbl_put() - drop a reference to a QP
 * @kqp: the QP
 */
void sroce_qp_tbl_put(struct sroce_kqp *kqp)
{
	if (refcount_dec_and_test(&kqp->ref))
		complete(&kqp->unused);
}

/**
 * sroce_qp_tbl_wait() - drop the QP's own reference and wait for all others
 * @kqp: the QP, which was removed by sroce_qp_tbl_del()
 *
 * Context: process; sleeps for about as long as a trip into a QP takes.
 */
void sroce_qp_tbl_wait(struct sroce_kqp *kqp)
{
	sroce_qp_tbl_put(kqp);
	wait_for_completion(&kqp->unused);
}
