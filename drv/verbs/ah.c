// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Address handles of UD. The address behind a handle has a reference count of its own:
 * posted work requests keep it after the handle was destroyed or modified.
 */

#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>
#include "drv/core/env.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/user.h"
#include "drv/net/av.h"
#include "drv/verbs/ah.h"

/**
 * sroce_ah_put() - drop a reference to an address
 * @ah: the address
 *
 * With the last reference the route is released at once, not after a grace period: it
 * must not outlive its namespace.
 *
 * Context: any.
 */
void sroce_ah_put(struct sroce_ah *ah)
{
	if (!refcount_dec_and_test(&ah->ref))
		return;
	dst_cache_destroy(&ah->av.dst);
	kfree_rcu(ah, rcu);
	sroce_live_dec();
}

/**
 * sroce_ah_get() - find the address of a handle by number
 * @qp: the QP that sends; its PD must be that of the handle
 * @ah_num: number of the handle
 *
 * Return: the address, held until sroce_ah_put(), or NULL.
 */
struct sroce_ah *sroce_ah_get(struct sroce_qp *qp, u32 ah_num)
{
	struct sroce_ah *ah;

	rcu_read_lock();
	ah = ah_num ? xa_load(&qp->dev->ahs, ah_num) : NULL;
	if (ah && (ah->pd != qp->ibqp.pd || !refcount_inc_not_zero(&ah->ref)))
		ah = NULL;
	rcu_read_unlock();
	return ah;
}

/**
 * sroce_ah_av() - address vector of an address
 * @ah: the address, held
 */
struct sroce_av *sroce_ah_av(struct sroce_ah *ah)
{
	return &ah->av;
}

static struct sroce_ah *ah_build(struct sroce_dev *dev, struct ib_pd *pd,
				 const struct rdma_ah_attr *attr, gfp_t gfp)
{
	struct sroce_ah *ah = kzalloc(sizeof(*ah), gfp);
	int ret = -ENOMEM;

	if (!ah)
		return ERR_PTR(ret);
	refcount_set(&ah->ref, 1);
	ah->pd = pd;
	/* the reference to the GID entry is the core's; only values are copied */
	ah->attr = *attr;
	ah->attr.grh.sgid_attr = NULL;
	/* not made of an address: whoever sees packets would learn of it */
	ret = sroce_av_from_attr(dev, &ah->av, attr, get_random_u32());
	if (!ret)
		ret = dst_cache_init(&ah->av.dst, gfp);
	if (ret) {
		kfree(ah);
		return ERR_PTR(ret);
	}
	sroce_live_inc();
	return ah;
}

/**
 * sroce_ah_create() - create an address handle
 * @ibah: the handle
 * @init: attributes
 * @udata: returns the handle's number to user space; NULL for a kernel user
 *
 * Context: atomic, unless @init->flags has RDMA_CREATE_AH_SLEEPABLE.
 *
 * Return: 0; -ENOMEM, also if the user has its share; -EBUSY if all numbers are in use; or an
 * error of sroce_av_from_attr().
 */
int sroce_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata)
{
	bool may_sleep = init->flags & RDMA_CREATE_AH_SLEEPABLE;
	struct sroce_dev *dev = to_sdev(ibah->device);
	gfp_t gfp = may_sleep ? GFP_KERNEL_ACCOUNT : GFP_ATOMIC;
	struct sroce_user *owner = sroce_pd_owner(ibah->pd);
	struct sroce_abi_create_ah_resp resp = {};
	struct sroce_ah *ah;
	unsigned long flags;
	int ret;

	ret = sroce_user_add(dev, owner, SROCE_OBJ_AH);
	if (ret)
		return ret;
	ah = ah_build(dev, ibah->pd, init->ah_attr, gfp);
	if (IS_ERR(ah)) {
		sroce_user_del(dev, owner, SROCE_OBJ_AH);
		return PTR_ERR(ah);
	}
	xa_lock_irqsave(&dev->ahs, flags);
	ret = __xa_alloc_cyclic(&dev->ahs, &ah->num, ah,
				XA_LIMIT(1, SROCE_AH_NUM_MAX), &dev->next_ah, gfp);
	xa_unlock_irqrestore(&dev->ahs, flags);
	if (ret < 0)
		goto err;
	if (udata) {
		resp.ah_num = ah->num;
		ret = ib_copy_to_udata(udata, &resp,
				       min(sizeof(resp), udata->outlen));
		if (ret) {
			xa_erase_irq(&dev->ahs, ah->num);
			goto err;
		}
	}
	to_sibah(ibah)->ah = ah;
	return 0;
err:
	sroce_ah_put(ah);
	sroce_user_del(dev, owner, SROCE_OBJ_AH);
	return ret;
}

/**
 * sroce_ah_modify() - change the address of a handle
 * @ibah: the handle
 * @attr: new attributes
 *
 * Work requests that were posted before keep the old address.
 *
 * Return: 0, -ENOMEM, or an error of sroce_av_from_attr().
 */
int sroce_ah_modify(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	struct sroce_dev *dev = to_sdev(ibah->device);
	struct sroce_ah *old = to_sibah(ibah)->ah, *ah;
	unsigned long flags;

	ah = ah_build(dev, ibah->pd, attr, GFP_ATOMIC);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	ah->num = old->num;
	xa_lock_irqsave(&dev->ahs, flags);
	__xa_store(&dev->ahs, ah->num, ah, GFP_ATOMIC);
	to_sibah(ibah)->ah = ah;
	xa_unlock_irqrestore(&dev->ahs, flags);
	sroce_ah_put(old);
	return 0;
}

/**
 * sroce_ah_query() - attributes of a handle, as they were set
 * @ibah: the handle
 * @attr: filled in
 *
 * Return: 0.
 */
int sroce_ah_query(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = to_sibah(ibah)->ah->attr;
	return 0;
}

/**
 * sroce_ah_destroy() - destroy a handle
 * @ibah: the handle
 * @flags: ignored: this never sleeps
 *
 * Work requests that use the handle are still executed.
 *
 * Return: 0.
 */
int sroce_ah_destroy(struct ib_ah *ibah, u32 flags)
{
	struct sroce_dev *dev = to_sdev(ibah->device);
	struct sroce_ah *ah = to_sibah(ibah)->ah;
	unsigned long irq;

	xa_lock_irqsave(&dev->ahs, irq);
	__xa_erase(&dev->ahs, ah->num);
	xa_unlock_irqrestore(&dev->ahs, irq);
	sroce_ah_put(ah);
	sroce_user_del(dev, sroce_pd_owner(ibah->pd), SROCE_OBJ_AH);
	return 0;
}
