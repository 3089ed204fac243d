// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Registration of memory, and finding it by key. */

#include <linux/delay.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include "drv/dev.h"

/**
 * sroce_region_alloc() - a region or window, as yet without a key
 * @ibpd: protection domain
 * @kind: what it is to be
 * @access: rights
 */
struct sroce_mr *sroce_region_alloc(struct ib_pd *ibpd, enum sroce_mr_kind kind,
				int access)
{
	struct sroce_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);

	if (!mr)
		return NULL;
	mr->dev = to_sdev(ibpd->device);
	mr->ibmr.pd = ibpd;
	mr->pd = ibpd;
	mr->kind = kind;
	mr->state = kind == SROCE_MR_PLAIN ? SROCE_MR_VALID : SROCE_MR_FREE;
	mr->access = access;
	refcount_set(&mr->ref, 1);
	init_completion(&mr->unused);
	sroce_live_inc();
	return mr;
}

/**
 * sroce_region_free() - give back what no key names
 * @mr: the region or window
 */
void sroce_region_free(struct sroce_mr *mr)
{
	sroce_odp_free(mr->odp);
	kvfree(mr->ext);
	kvfree(mr->next);
	ib_umem_release(mr->umem);
	sroce_dmabuf_free(mr->dmabuf);
	kfree_rcu(mr, rcu);
	sroce_live_dec();
}

/**
 * sroce_region_publish() - give a region or window its key
 * @mr: the region or window, ready for use
 */
int sroce_region_publish(struct sroce_mr *mr)
{
	struct sroce_dev *dev = mr->dev;
	u32 index;
	int ret;

	ret = xa_alloc_cyclic(&dev->mrs, &index, NULL,
			      XA_LIMIT(1, SROCE_MAX_MR), &dev->next_mr,
			      GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		return ret;
	mr->key = index << 8 | (get_random_u32() & 0xff);
	mr->ibmr.lkey = mr->key;
	mr->ibmr.rkey = mr->key;
	xa_store(&dev->mrs, index, mr, GFP_KERNEL);
	return 0;
}

/**
 * sroce_region_unpublish() - no key names it any more, and nobody uses it
 * @mr: the region or window
 *
 * Waits for bursts in progress, which is microseconds, not for peers.
 */
void sroce_region_unpublish(struct sroce_mr *mr)
{
	xa_erase(&mr->dev->mrs, sroce_key_index(mr->key));
	sroce_mr_put(mr);
	wait_for_completion(&mr->unused);
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

static int mr_on_demand(struct sroce_mr *mr, u64 start, u64 length, u64 iova,
			int access)
{
	struct sroce_odp *odp;

	mr->iova = access & IB_ZERO_BASED ? 0 : iova;
	mr->length = length;
	odp = sroce_odp_new(mr->dev, start, length, mr->iova);
	if (IS_ERR(odp))
		return PTR_ERR(odp);
	mr->odp = odp;
	return 0;
}

static int mr_pin(struct sroce_mr *mr, u64 start, u64 length, u64 iova,
		  int access)
{
	int ret;

	if (iova + length < iova)
		return -EINVAL;
	if (access & IB_ACCESS_ON_DEMAND)
		return mr_on_demand(mr, start, length, iova, access);
	mr->umem = ib_umem_get(mr->pd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		ret = PTR_ERR(mr->umem);
		mr->umem = NULL;
		return ret;
	}
	/* offsets from the start of the region take the place of addresses */
	mr->iova = access & IB_ZERO_BASED ? 0 : iova;
	mr->length = length;
	return mr_map(mr);
}

/**
 * sroce_region_reg_user() - pin and register user memory
 * @ibpd: protection domain
 * @start: first byte in the process
 * @length: bytes
 * @iova: how remote and local users will name the first byte
 * @access: rights
 * @udata: unused
 */
struct ib_mr *sroce_region_reg_user(struct ib_pd *ibpd, u64 start, u64 length,
				u64 iova, int access, struct ib_udata *udata)
{
	struct sroce_mr *mr;
	int ret;

	mr = sroce_region_alloc(ibpd, SROCE_MR_PLAIN, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	ret = mr_pin(mr, start, length, iova, access);
	if (!ret)
		ret = sroce_region_publish(mr);
	if (ret) {
		sroce_region_free(mr);
		return ERR_PTR(ret);
	}
	mr->ibmr.length = length;
	return &mr->ibmr;
}

/*
 * As sroce_mr_claim(), for process context: who brings pages holds the region until they
 * have come, and packets that stay on this host until they are delivered; either may
 * need this CPU for it.
 */
static bool mr_claim(struct sroce_mr *mr)
{
	/* full barrier: who holds it later sees that it is busy */
	if (cmpxchg(&mr->state, SROCE_MR_VALID, SROCE_MR_BUSY) !=
	    SROCE_MR_VALID)
		return false;
	while (refcount_read(&mr->ref) > 2)
		usleep_range(20, 200);
	/* what they did comes before whatever the caller does now */
	smp_mb();
	return true;
}

/* The region for oneself, unless windows lead to it; process context */
static int mr_take(struct sroce_mr *mr)
{
	refcount_inc(&mr->ref);
	if (!mr_claim(mr)) {
		sroce_mr_put(mr);
		return -EBUSY;
	}
	if (!atomic_read(&mr->windows))
		return 0;
	sroce_mr_release(mr, SROCE_MR_VALID);
	sroce_mr_put(mr);
	return -EBUSY;
}

static void mr_give_back(struct sroce_mr *mr)
{
	sroce_mr_release(mr, SROCE_MR_VALID);
	sroce_mr_put(mr);
}

/* Which memory of which process a region is of: NULL if of none */
static struct mm_struct *mr_place(const struct sroce_mr *mr, u64 *start)
{
	if (mr->odp)
		return sroce_odp_mm(mr->odp, mr->iova, start);
	if (!mr->umem)
		return NULL;
	*start = mr->umem->address;
	return mr->umem->owning_mm;
}

/* Whether the same memory is needed in another way: pinned, or to be written */
static bool needs_memory(const struct sroce_mr *mr, int access)
{
	if (!(access & IB_ACCESS_ON_DEMAND) != !mr->odp)
		return true;
	return mr->umem && !mr->umem->writable && ib_access_writable(access);
}

/* The same memory of the same process, for other rights */
static int mr_again(struct sroce_mr *mr, struct sroce_mr *with, int access)
{
	struct mm_struct *mm;
	u64 start;

	mm = mr_place(mr, &start);
	/* all of a process's memory can't be pinned, nor a dma-buf be moved */
	if (!mm || (mr->odp && mr->length == U64_MAX))
		return -EOPNOTSUPP;
	if (mm != current->mm)
		return -EINVAL;
	return mr_pin(with, start, mr->length, mr->iova,
		      access & ~IB_ZERO_BASED);
}

static void mr_exchange(struct sroce_mr *mr, struct sroce_mr *with)
{
	swap(mr->umem, with->umem);
	swap(mr->odp, with->odp);
	swap(mr->dmabuf, with->dmabuf);
	swap(mr->ext, with->ext);
	swap(mr->nr, with->nr);
	mr->iova = with->iova;
	mr->length = with->length;
}

/* A region that gives its memory to @mr, if that needs other than it has */
static struct sroce_mr *mr_other(struct sroce_mr *mr, int flags, u64 start,
				 u64 length, u64 iova, int access)
{
	struct sroce_mr *with;
	int ret;

	if (!(flags & IB_MR_REREG_TRANS) &&
	    !(flags & IB_MR_REREG_ACCESS && needs_memory(mr, access)))
		return NULL;
	with = sroce_region_alloc(mr->pd, SROCE_MR_PLAIN, access);
	if (!with)
		return ERR_PTR(-ENOMEM);
	if (flags & IB_MR_REREG_TRANS)
		ret = mr_pin(with, start, length, iova, access);
	else
		ret = mr_again(mr, with, access);
	if (!ret)
		return with;
	sroce_region_free(with);
	return ERR_PTR(ret);
}

/**
 * sroce_region_rereg_user() - change a registration, its key stays
 * @ibmr: the region
 * @flags: IB_MR_REREG_TRANS, IB_MR_REREG_PD, IB_MR_REREG_ACCESS: what changes
 * @start: first byte in the process
 * @length: bytes
 * @iova: how users will name the first byte
 * @access: rights
 * @ibpd: protection domain
 * @udata: unused
 *
 * What is pinned may come on demand from now on, and the other way round.
 *
 * Return: NULL; -EBUSY if windows are bound onto the region; -EOPNOTSUPP to pin
 * all of a process's memory, or to have a dma-buf's come on demand. After an
 * error the region is what it was.
 */
struct ib_mr *sroce_region_rereg_user(struct ib_mr *ibmr, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct sroce_mr *mr = to_smr(ibmr), *with;
	int ret;

	if (flags & ~IB_MR_REREG_SUPPORTED)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	with = mr_other(mr, flags, start, length, iova, access);
	if (IS_ERR(with))
		return ERR_CAST(with);
	ret = mr_take(mr);
	if (!ret) {
		if (with)
			mr_exchange(mr, with);
		mr->access = access;
		if (flags & IB_MR_REREG_PD)
			mr->pd = ibpd;
		mr_give_back(mr);
	}
	if (with)
		sroce_region_free(with);
	return ERR_PTR(ret);
}

/**
 * sroce_region_get_dma() - all of memory by kernel address, for kernel users
 * @ibpd: protection domain
 * @access: rights
 */
struct ib_mr *sroce_region_get_dma(struct ib_pd *ibpd, int access)
{
	struct sroce_mr *mr = sroce_region_alloc(ibpd, SROCE_MR_PLAIN, access);
	int ret;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->dma_all = true;
	ret = sroce_region_publish(mr);
	if (ret) {
		sroce_region_free(mr);
		return ERR_PTR(ret);
	}
	return &mr->ibmr;
}

/**
 * sroce_region_alloc_fast() - a region that work requests of a kernel user register
 * @ibpd: protection domain
 * @type: IB_MR_TYPE_MEM_REG, or _SG_GAPS for lists of any kind
 * @max_pages: most pages it will have
 */
struct ib_mr *sroce_region_alloc_fast(struct ib_pd *ibpd, enum ib_mr_type type,
			     u32 max_pages)
{
	struct sroce_mr *mr;
	int ret = -ENOMEM;

	if (type != IB_MR_TYPE_MEM_REG && type != IB_MR_TYPE_SG_GAPS)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_pages || max_pages > SROCE_MAX_FAST_PAGES)
		return ERR_PTR(-EINVAL);
	mr = sroce_region_alloc(ibpd, SROCE_MR_FAST, 0);
	if (!mr)
		return ERR_PTR(ret);
	mr->max_pages = max_pages;
	mr->ext = kvcalloc(max_pages, sizeof(*mr->ext), GFP_KERNEL_ACCOUNT);
	mr->next = kvcalloc(max_pages, sizeof(*mr->next), GFP_KERNEL_ACCOUNT);
	if (mr->ext && mr->next)
		ret = sroce_region_publish(mr);
	if (ret) {
		sroce_region_free(mr);
		return ERR_PTR(ret);
	}
	return &mr->ibmr;
}

/* Addresses are those of the CPU: the core maps none for us. */
static int add_page(struct ib_mr *ibmr, u64 addr)
{
	struct sroce_mr *mr = to_smr(ibmr);
	struct sroce_extent *last = mr->next_nr ? &mr->next[mr->next_nr - 1] :
						  NULL;
	u64 off = (u64)mr->pages * ibmr->page_size;
	u8 *at = (u8 *)(uintptr_t)addr;

	if (mr->pages == mr->max_pages)
		return -ENOMEM;
	mr->pages++;
	if (last && last->addr + (off - last->off) == at)
		return 0;
	mr->next[mr->next_nr].off = off;
	mr->next[mr->next_nr].addr = at;
	mr->next_nr++;
	return 0;
}

/* Each entry is an extent, wherever it begins and ends. */
static int map_gaps(struct sroce_mr *mr, struct scatterlist *sgl, int nents,
		    unsigned int *sg_offset)
{
	u32 skip = sg_offset ? *sg_offset : 0;
	struct scatterlist *sg;
	u64 off = 0;
	int i;

	mr->ibmr.iova = sg_dma_address(sgl) + skip;
	for_each_sg(sgl, sg, min_t(u32, nents, mr->max_pages), i) {
		mr->next[i].off = off;
		mr->next[i].addr = (u8 *)(uintptr_t)sg_dma_address(sg) + skip;
		off += sg_dma_len(sg) - skip;
		skip = 0;
	}
	mr->next_nr = i;
	mr->ibmr.length = off;
	if (sg_offset)
		*sg_offset = 0;
	return i;
}

/**
 * sroce_region_map_sg() - what the next registration of a fast region will name
 * @ibmr: the region
 * @sg: mapped memory
 * @nents: entries of @sg
 * @sg_offset: offset into the first; returns that of the first not taken
 *
 * Return: how many entries fit.
 */
int sroce_region_map_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents,
		    unsigned int *sg_offset)
{
	struct sroce_mr *mr = to_smr(ibmr);
	u64 skip;
	int ret;
	u32 i;

	if (mr->kind != SROCE_MR_FAST)
		return -EINVAL;
	if (ibmr->type == IB_MR_TYPE_SG_GAPS)
		return map_gaps(mr, sg, nents, sg_offset);
	mr->pages = 0;
	mr->next_nr = 0;
	ret = ib_sg_to_pages(ibmr, sg, nents, sg_offset, add_page);
	if (ret < 0 || !mr->next_nr)
		return ret;
	/* the region starts within its first page */
	skip = ibmr->iova & (ibmr->page_size - 1);
	mr->next[0].addr += skip;
	for (i = 1; i < mr->next_nr; i++)
		mr->next[i].off -= skip;
	return ret;
}

/**
 * sroce_region_dereg() - end a registration
 * @ibmr: the region; nobody touches it after the return
 * @udata: unused
 *
 * Return: 0, or -EBUSY if windows are bound onto the region.
 */
int sroce_region_dereg(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct sroce_mr *mr = to_smr(ibmr);
	int ret;

	if (mr->kind == SROCE_MR_PLAIN) {
		ret = mr_take(mr);
		if (ret)
			return ret;
		/* it stays busy: nobody may bind a window now */
		sroce_mr_put(mr);
	}
	sroce_region_unpublish(mr);
	sroce_region_free(mr);
	return 0;
}

/**
 * sroce_region_find() - the region or window that a key's index names
 * @dev: the device
 * @key: L_Key or R_Key
 *
 * Bottom halves are off, for as long as it may be one that is claimed.
 *
 * Return: what it names, held until sroce_mr_put(), or NULL.
 */
struct sroce_mr *sroce_region_find(struct sroce_dev *dev, u32 key)
{
	struct sroce_mr *mr;

	lockdep_assert_in_softirq();
	rcu_read_lock();
	mr = xa_load(&dev->mrs, sroce_key_index(key));
	if (mr && !refcount_inc_not_zero(&mr->ref))
		mr = NULL;
	rcu_read_unlock();
	/* whoever claims it either sees us or is seen: sroce_mr_claim() */
	smp_mb__after_atomic();
	return mr;
}

/**
 * sroce_mr_find() - the same, for the protocol
 * @qp: on whose behalf
 * @key: L_Key or R_Key
 */
struct sroce_mr *sroce_mr_find(struct sroce_qp *qp, u32 key)
{
	return sroce_region_find(qp->dev, key);
}

/**
 * sroce_mr_hold() - hold a region once more
 * @mr: held by the caller, or by a window that is
 */
void sroce_mr_hold(struct sroce_mr *mr)
{
	refcount_inc(&mr->ref);
}

/**
 * sroce_mr_put() - let go of a region or window
 * @mr: the region or window
 */
void sroce_mr_put(struct sroce_mr *mr)
{
	if (refcount_dec_and_test(&mr->ref))
		complete(&mr->unused);
}

/**
 * sroce_mr_drain() - wait until all but the caller have let go
 * @mr: held by the caller, and busy, so that nobody else begins to use it
 *
 * Bottom halves are off, and so they are for those who hold it, for as long as a copy
 * takes.
 */
void sroce_mr_drain(struct sroce_mr *mr)
{
	lockdep_assert_in_softirq();
	while (refcount_read(&mr->ref) > 2)
		cpu_relax();
	/* what they did comes before whatever the caller does now */
	smp_mb();
}
