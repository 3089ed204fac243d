// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Registration of memory, and finding it by key. */

#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include "dev.h"

/* A key is an index (24 bits) and a tag (8 bits) that makes it stale soon. */
static u32 key_index(u32 key)
{
	return key >> 8;
}

static struct sroce_mr *mr_alloc(struct ib_pd *ibpd, int access)
{
	struct sroce_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);

	if (!mr)
		return NULL;
	mr->dev = to_sdev(ibpd->device);
	mr->ibmr.pd = ibpd;
	mr->access = access;
	refcount_set(&mr->ref, 1);
	init_completion(&mr->unused);
	sroce_born();
	return mr;
}

static void mr_free(struct sroce_mr *mr)
{
	kvfree(mr->ext);
	ib_umem_release(mr->umem);
	kfree_rcu(mr, rcu);
	sroce_gone();
}

/* From here on the key works. */
static int mr_publish(struct sroce_mr *mr)
{
	struct sroce_dev *dev = mr->dev;
	u32 index, key;
	int ret;

	ret = xa_alloc_cyclic(&dev->mrs, &index, NULL,
			      XA_LIMIT(1, SROCE_MAX_MR), &dev->next_mr,
			      GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return ret;
	key = index << 8 | (get_random_u32() & 0xff);
	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	xa_store(&dev->mrs, index, mr, GFP_KERNEL);
	return 0;
}

/* Extents from the pinned pages; neighbours in memory become one. */
static int mr_map(struct sroce_mr *mr)
{
	struct sg_table *sgt = &mr->umem->sgt_append.sgt;
	u64 skip = ib_umem_offset(mr->umem), off = 0;
	struct scatterlist *sg;
	u32 i, n = 0;
	u8 *next = NULL;

	mr->ext = kvcalloc(sgt->orig_nents, sizeof(*mr->ext),
			   GFP_KERNEL_ACCOUNT);
	if (!mr->ext)
		return -ENOMEM;
	for_each_sgtable_sg(sgt, sg, i) {
		u8 *addr = page_address(sg_page(sg)) + sg->offset + skip;
		u64 len = sg->length - skip;

		skip = 0;
		if (addr != next) {
			mr->ext[n].off = off;
			mr->ext[n].addr = addr;
			n++;
		}
		next = addr + len;
		off += len;
	}
	mr->nr = n;
	return 0;
}

/**
 * sroce_reg_user_mr() - pin and register user memory
 * @ibpd: protection domain
 * @start: first byte in the process
 * @length: bytes
 * @iova: how remote and local users will name the first byte
 * @access: rights
 * @udata: unused
 */
struct ib_mr *sroce_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
				u64 iova, int access, struct ib_udata *udata)
{
	struct sroce_mr *mr;
	int ret;

	if (access & IB_ACCESS_ON_DEMAND)
		return ERR_PTR(-EOPNOTSUPP);
	if (iova + length < iova)
		return ERR_PTR(-EINVAL);
	mr = mr_alloc(ibpd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = ib_umem_get(ibpd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		ret = PTR_ERR(mr->umem);
		mr->umem = NULL;
		goto err;
	}
	mr->iova = iova;
	mr->length = length;
	mr->ibmr.length = length;
	ret = mr_map(mr);
	if (!ret)
		ret = mr_publish(mr);
	if (ret)
		goto err;
	return &mr->ibmr;
err:
	mr_free(mr);
	return ERR_PTR(ret);
}

/**
 * sroce_get_dma_mr() - all of memory by kernel address, for kernel users
 * @ibpd: protection domain
 * @access: rights
 */
struct ib_mr *sroce_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct sroce_mr *mr = mr_alloc(ibpd, access);
	int ret;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->all = true;
	ret = mr_publish(mr);
	if (ret) {
		mr_free(mr);
		return ERR_PTR(ret);
	}
	return &mr->ibmr;
}

/**
 * sroce_dereg_mr() - end a registration
 * @ibmr: the region; nobody touches it after the return
 * @udata: unused
 *
 * Waits for bursts in progress, which is microseconds, not for peers.
 */
int sroce_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct sroce_mr *mr = to_smr(ibmr);

	xa_erase(&mr->dev->mrs, key_index(ibmr->lkey));
	sroce_mr_put(mr);
	wait_for_completion(&mr->unused);
	mr_free(mr);
	return 0;
}

/**
 * sroce_mr_get() - the region that a key names
 * @qp: on whose behalf; its PD must be the region's
 * @key: L_Key or R_Key
 *
 * Return: the region, held until sroce_mr_put(), or NULL.
 */
struct sroce_mr *sroce_mr_get(struct sroce_qp *qp, u32 key)
{
	struct sroce_mr *mr;

	rcu_read_lock();
	mr = xa_load(&qp->dev->mrs, key_index(key));
	if (mr && (mr->ibmr.lkey != key || mr->ibmr.pd != qp->ibqp.pd ||
		   !refcount_inc_not_zero(&mr->ref)))
		mr = NULL;
	rcu_read_unlock();
	return mr;
}

/**
 * sroce_mr_put() - let go of a region
 * @mr: the region
 */
void sroce_mr_put(struct sroce_mr *mr)
{
	if (refcount_dec_and_test(&mr->ref))
		complete(&mr->unused);
}
