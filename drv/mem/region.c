// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Registration of memory, and lookup of regions and windows by key.
 *
 * A region is changed in SROCE_MR_BUSY only, after all its users have dropped their
 * references. A user takes a reference first and checks the state then; a claim sets the
 * state first and checks the references then.
 */

#include <linux/delay.h>
#include <linux/random.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include "drv/core/env.h"
#include "drv/core/mem/mr.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/user.h"
#include "drv/mem/filepages.h"
#include "drv/mem/odp.h"
#include "drv/mem/region.h"

#ifdef CONFIG_PREEMPT_RT
/*
 * Bottom halves that are disabled do not keep a user from being preempted, from 6.18 on. The
 * thread that claims may be the one that has preempted it, so it must sleep. Only windows and
 * fast regions are claimed in a trip; others may be in use beyond that.
 */
static bool may_be_claimed(const struct sroce_mr *mr)
{
	return mr->kind != SROCE_MR_PLAIN;
}

static void users_init(struct sroce_mr *mr)
{
	rwlock_init(&mr->users);
}

/* It fails if the region is being claimed. */
static bool users_enter(struct sroce_mr *mr)
{
	return !may_be_claimed(mr) || read_trylock(&mr->users);
}

static void users_leave(struct sroce_mr *mr)
{
	if (may_be_claimed(mr))
		read_unlock(&mr->users);
}

static void users_drain(struct sroce_mr *mr)
{
	WARN_ON_ONCE(!may_be_claimed(mr));
	write_lock(&mr->users);
	write_unlock(&mr->users);
}
#else
static void users_init(struct sroce_mr *mr)
{
}

static bool users_enter(struct sroce_mr *mr)
{
	return true;
}

static void users_leave(struct sroce_mr *mr)
{
}

/* Others have bottom halves disabled as well, and a reference for the time of a copy. */
static void users_drain(struct sroce_mr *mr)
{
	while (refcount_read(&mr->ref) > 2)
		cpu_relax();
}
#endif

/**
 * sroce_region_alloc() - allocate a region or window, without a key yet
 * @ibpd: protection domain
 * @kind: kind of region or window
 * @access: enum ib_access_flags
 *
 * Return: the region or window, or NULL.
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
	users_init(mr);
	sroce_live_inc();
	return mr;
}

/**
 * sroce_region_free() - free a region or window
 * @mr: the region or window, not published
 */
void sroce_region_free(struct sroce_mr *mr)
{
	sroce_odp_free(mr->odp);
	kvfree(mr->ext);
	kvfree(mr->next);
	ib_umem_release(mr->umem);
	if (mr->dmabuf)
		mr->dmabuf_free(mr->dmabuf);
	kfree_rcu(mr, rcu);
	sroce_live_dec();
}

/**
 * sroce_region_publish() - assign a key, by which the region or window is found
 * @mr: the region or window, ready for use
 *
 * Return: 0, -EBUSY if no key is free; -ENOMEM, also if the user has its share.
 */
int sroce_region_publish(struct sroce_mr *mr)
{
	struct sroce_dev *dev = mr->dev;
	u32 index;
	int ret;

	mr->owner = sroce_pd_owner(mr->pd);
	ret = sroce_user_add(dev, mr->owner, SROCE_OBJ_MR);
	if (ret)
		return ret;
	ret = xa_alloc_cyclic(&dev->mrs, &index, NULL,
			      XA_LIMIT(1, SROCE_KEY_INDEX_MAX), &dev->next_mr,
			      GFP_KERNEL_ACCOUNT);
	if (ret < 0) {
		sroce_user_del(dev, mr->owner, SROCE_OBJ_MR);
		return ret;
	}
	mr->key = index << 8 | (get_random_u32() & 0xff);
	mr->ibmr.lkey = mr->key;
	mr->ibmr.rkey = mr->key;
	xa_store(&dev->mrs, index, mr, GFP_KERNEL);
	return 0;
}

/**
 * sroce_region_unpublish() - remove the key and wait for all users
 * @mr: the region or window; on return nobody else uses it
 *
 * Context: process; waits for trips in progress, not for peers.
 */
void sroce_region_unpublish(struct sroce_mr *mr)
{
	xa_erase(&mr->dev->mrs, sroce_key_index(mr->key));
	sroce_user_del(mr->dev, mr->owner, SROCE_OBJ_MR);
	sroce_mr_put(mr);
	wait_for_completion(&mr->unused);
}

/* Make extents of the pinned pages. Pages that are adjacent in memory share one. */
static int mr_map_umem(struct sroce_mr *mr)
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

static int mr_attach_odp(struct sroce_mr *mr, u64 start, u64 length, u64 iova,
			 int access)
{
	struct sroce_odp *odp;

	if (!length)
		return -EINVAL;
	mr->iova = access & IB_ZERO_BASED ? 0 : iova;
	mr->length = length;
	odp = sroce_odp_new(mr->dev, start, length, mr->iova);
	if (IS_ERR(odp))
		return PTR_ERR(odp);
	mr->odp = odp;
	return 0;
}

static int mr_pin(struct sroce_mr *mr, u64 start, u64 length, int access)
{
	struct ib_umem *umem;
	int ret;

	ret = sroce_filepages_read(mr->dev, start, length, access);
	if (ret)
		return ret;
	umem = sroce_umem_get(mr->pd->device, start, length, access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	mr->umem = umem;
	return 0;
}

/* Give a region memory of the calling process, pinned or on demand. */
static int mr_attach(struct sroce_mr *mr, u64 start, u64 length, u64 iova,
		     int access)
{
	int ret;

	if (iova + length < iova)
		return -EINVAL;
	if (access & IB_ACCESS_ON_DEMAND)
		return mr_attach_odp(mr, start, length, iova, access);
	ret = mr_pin(mr, start, length, access);
	if (ret)
		return ret;
	/* IB_ZERO_BASED: users name bytes by their offset in the region */
	mr->iova = access & IB_ZERO_BASED ? 0 : iova;
	mr->length = length;
	return mr_map_umem(mr);
}

/**
 * sroce_region_reg_user() - register user memory (ib_device_ops.reg_user_mr)
 * @ibpd: protection domain
 * @start: address of the first byte in the calling process
 * @length: bytes
 * @iova: address of the first byte for users of the region
 * @access: enum ib_access_flags; without IB_ACCESS_ON_DEMAND the memory is pinned
 * @udata: unused
 *
 * Return: the region, or an error pointer: -ENODEV if the device goes while pages of a file are
 * read.
 */
struct ib_mr *sroce_region_reg_user(struct ib_pd *ibpd, u64 start, u64 length,
				    u64 iova, int access, SROCE_REG_DMAH_ARG
				    struct ib_udata *udata)
{
	struct sroce_mr *mr;
	int ret;

	mr = sroce_region_alloc(ibpd, SROCE_MR_PLAIN, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	ret = mr_attach(mr, start, length, iova, access);
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
 * sroce_mr_claim() for process context. It sleeps, as loopback packets hold the region until
 * they are delivered, which may need this CPU.
 */
static bool mr_claim_sleep(struct sroce_mr *mr)
{
	/* full barrier, pairs with sroce_region_find(): later users see SROCE_MR_BUSY */
	if (cmpxchg(&mr->state, SROCE_MR_VALID, SROCE_MR_BUSY) !=
	    SROCE_MR_VALID)
		return false;
	while (refcount_read(&mr->ref) > 2)
		usleep_range(20, 200);
	/* accesses of the former users are complete before those of the caller */
	smp_mb();
	return true;
}

/*
 * Claim a region in process context. Return: -EBUSY also if windows are bound onto it. It is not
 * claimed then but for a moment in which one is being bound, as a claim fails those who use it.
 */
static int mr_get_exclusive(struct sroce_mr *mr)
{
	if (atomic_read(&mr->windows))
		return -EBUSY;
	refcount_inc(&mr->ref);
	if (!mr_claim_sleep(mr)) {
		sroce_mr_put(mr);
		return -EBUSY;
	}
	if (!atomic_read(&mr->windows))
		return 0;
	sroce_mr_release(mr, SROCE_MR_VALID);
	sroce_mr_put(mr);
	return -EBUSY;
}

static void mr_put_exclusive(struct sroce_mr *mr)
{
	sroce_mr_release(mr, SROCE_MR_VALID);
	sroce_mr_put(mr);
}

/* Return: mm and first address of the user memory of a region; NULL if it has none */
static struct mm_struct *mr_user_memory(const struct sroce_mr *mr, u64 *start)
{
	if (mr->odp)
		return sroce_odp_mm(mr->odp, mr->iova, start);
	if (!mr->umem)
		return NULL;
	*start = mr->umem->address;
	return mr->umem->owning_mm;
}

/* Whether @access needs a new umem or sroce_odp: pinned or not, or writable */
static bool needs_new_memory(const struct sroce_mr *mr, int access)
{
	if (!(access & IB_ACCESS_ON_DEMAND) != !mr->odp)
		return true;
	return mr->umem && !mr->umem->writable && ib_access_writable(access);
}

/* Give @new the memory of @mr, for other rights */
static int mr_attach_same(struct sroce_mr *mr, struct sroce_mr *new, int access)
{
	struct mm_struct *mm;
	u64 start;

	mm = mr_user_memory(mr, &start);
	/* neither all of a process's memory nor a dma-buf can be attached again */
	if (!mm || (mr->odp && mr->length == U64_MAX))
		return -EOPNOTSUPP;
	if (mm != current->mm)
		return -EINVAL;
	return mr_attach(new, start, mr->length, mr->iova,
			 access & ~IB_ZERO_BASED);
}

static void mr_swap_memory(struct sroce_mr *mr, struct sroce_mr *new)
{
	swap(mr->umem, new->umem);
	swap(mr->odp, new->odp);
	swap(mr->dmabuf, new->dmabuf);
	swap(mr->dmabuf_free, new->dmabuf_free);
	swap(mr->ext, new->ext);
	swap(mr->nr, new->nr);
	mr->iova = new->iova;
	mr->length = new->length;
}

/* Return: a region with the new memory for @mr; NULL if @mr keeps its memory */
static struct sroce_mr *mr_new_memory(struct sroce_mr *mr, int flags, u64 start,
				      u64 length, u64 iova, int access)
{
	struct sroce_mr *new;
	int ret;

	if (!(flags & IB_MR_REREG_TRANS) &&
	    !(flags & IB_MR_REREG_ACCESS && needs_new_memory(mr, access)))
		return NULL;
	new = sroce_region_alloc(mr->pd, SROCE_MR_PLAIN, access);
	if (!new)
		return ERR_PTR(-ENOMEM);
	if (flags & IB_MR_REREG_TRANS)
		ret = mr_attach(new, start, length, iova, access);
	else
		ret = mr_attach_same(mr, new, access);
	if (!ret)
		return new;
	sroce_region_free(new);
	return ERR_PTR(ret);
}

/**
 * sroce_region_rereg_user() - change a registration, its key stays
 * @ibmr: the region
 * @flags: IB_MR_REREG_TRANS, IB_MR_REREG_PD, IB_MR_REREG_ACCESS: what changes
 * @start: address of the first byte in the calling process
 * @length: bytes
 * @iova: address of the first byte for users of the region
 * @access: enum ib_access_flags
 * @ibpd: protection domain
 * @udata: unused
 *
 * A pinned region may become an ODP region, and the other way round.
 *
 * Return: NULL, or an error pointer: -EBUSY if windows are bound onto the region,
 * -EOPNOTSUPP to pin all of a process's memory or to make a dma-buf's region an ODP
 * region, -EINVAL if the region is of another process. After an error the region is
 * unchanged.
 */
struct ib_mr *sroce_region_rereg_user(struct ib_mr *ibmr, int flags, u64 start,
				      u64 length, u64 iova, int access,
				      struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct sroce_mr *mr = to_smr(ibmr), *new;
	int ret;

	if (flags & ~IB_MR_REREG_SUPPORTED)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	new = mr_new_memory(mr, flags, start, length, iova, access);
	if (IS_ERR(new))
		return ERR_CAST(new);
	ret = mr_get_exclusive(mr);
	if (!ret) {
		if (new)
			mr_swap_memory(mr, new);
		mr->access = access;
		if (flags & IB_MR_REREG_PD)
			mr->pd = ibpd;
		mr_put_exclusive(mr);
	}
	if (new)
		sroce_region_free(new);
	return ERR_PTR(ret);
}

/**
 * sroce_region_get_dma() - register all of memory, by kernel address, for kernel users
 * @ibpd: protection domain
 * @access: enum ib_access_flags
 *
 * Return: the region, or an error pointer.
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
 * sroce_region_alloc_fast() - allocate a region that REG_MR work requests register
 * @ibpd: protection domain
 * @type: IB_MR_TYPE_MEM_REG, or IB_MR_TYPE_SG_GAPS for lists with gaps
 * @max_pages: most pages, or entries of a list with gaps
 *
 * Return: the region, not registered, or an error pointer: -EOPNOTSUPP for other types,
 * -EINVAL beyond a limit, -ENOMEM.
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

/* ib_sg_to_pages() callback. @addr is a kernel address, as the device has no DMA. */
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

/* IB_MR_TYPE_SG_GAPS: each entry is an extent; it need not begin or end on a page. */
static int map_sg_gaps(struct sroce_mr *mr, struct scatterlist *sgl, int nents,
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
 * sroce_region_map_sg() - set the memory of the next registration of a fast region
 * @ibmr: the region
 * @sg: scatterlist, DMA-mapped
 * @nents: entries of @sg
 * @sg_offset: in: offset into the first entry; out: offset into the first entry that did
 *	not fit; may be NULL
 *
 * Return: number of entries that fit, or -EINVAL if @ibmr is no fast region.
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
		return map_sg_gaps(mr, sg, nents, sg_offset);
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
 * sroce_region_retire() - claim for good what QPs may claim: a fast region, or a window
 * @mr: the region or window, registered or bound, or not
 *
 * A claim by a QP takes itself for the only user when two references are left, its own and that
 * of the key. So none may begin, or be under way, when the key's is dropped.
 *
 * Context: process
 */
void sroce_region_retire(struct sroce_mr *mr)
{
	while (cmpxchg(&mr->state, SROCE_MR_VALID, SROCE_MR_BUSY) != SROCE_MR_VALID &&
	       cmpxchg(&mr->state, SROCE_MR_FREE, SROCE_MR_BUSY) != SROCE_MR_FREE)
		usleep_range(20, 200);
}

/**
 * sroce_region_dereg() - deregister a region
 * @ibmr: the region; its memory is not accessed after the return
 * @udata: unused
 *
 * Context: process; waits for users of the region, see sroce_region_unpublish().
 *
 * Return: 0, or -EBUSY if windows are bound onto the region.
 */
int sroce_region_dereg(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct sroce_mr *mr = to_smr(ibmr);
	int ret;

	if (mr->kind == SROCE_MR_PLAIN) {
		ret = mr_get_exclusive(mr);
		if (ret)
			return ret;
		/* the region stays busy, so that no window can be bound onto it */
		sroce_mr_put(mr);
	} else {
		sroce_region_retire(mr);
	}
	sroce_region_unpublish(mr);
	sroce_region_free(mr);
	return 0;
}

/**
 * sroce_region_get() - take a reference to a region or window that is still in the table
 * @mr: the region or window, guarded by RCU
 *
 * Context: bottom halves are disabled, as long as the caller holds what a softirq might
 * claim (not SROCE_MR_PLAIN): the claim spins until the reference is dropped.
 *
 * Return: false if it is being freed.
 */
bool sroce_region_get(struct sroce_mr *mr)
{
	lockdep_assert_in_softirq();
	return refcount_inc_not_zero(&mr->ref);
}

/**
 * sroce_region_find() - find a region or window by the index part of a key
 * @dev: the device
 * @key: L_Key or R_Key
 *
 * The caller checks state, key and protection domain.
 *
 * Context: as sroce_region_get()
 *
 * Return: the region or window, held until sroce_mr_put(), or NULL.
 */
struct sroce_mr *sroce_region_find(struct sroce_dev *dev, u32 key)
{
	struct sroce_mr *mr;

	rcu_read_lock();
	mr = xa_load(&dev->mrs, sroce_key_index(key));
	if (mr && !sroce_region_get(mr))
		mr = NULL;
	rcu_read_unlock();
	/* pairs with sroce_mr_claim(): it sees the reference, or the caller sees BUSY */
	smp_mb__after_atomic();
	return mr;
}

/**
 * sroce_mr_find() - sroce_region_find() on the device of a QP
 * @qp: the QP
 * @key: L_Key or R_Key
 *
 * Return: the region or window, held until sroce_mr_put(), or NULL.
 */
struct sroce_mr *sroce_mr_find(struct sroce_qp *qp, u32 key)
{
	return sroce_region_find(qp->dev, key);
}

/**
 * sroce_mr_hold() - take another reference to a region
 * @mr: the region, held by the caller, or the parent of a window that the caller holds
 */
void sroce_mr_hold(struct sroce_mr *mr)
{
	refcount_inc(&mr->ref);
}

/**
 * sroce_mr_put() - drop a reference to a region or window
 * @mr: the region or window
 */
void sroce_mr_put(struct sroce_mr *mr)
{
	if (refcount_dec_and_test(&mr->ref))
		complete(&mr->unused);
}

/**
 * sroce_mr_enter() - begin to use a region or window
 * @qp: the QP, locked
 * @key: L_Key or R_Key
 *
 * Return: the region or window, to be used until sroce_mr_leave() if it is SROCE_MR_VALID now;
 * NULL if there is none, or it is being changed.
 */
struct sroce_mr *sroce_mr_enter(struct sroce_qp *qp, u32 key)
{
	struct sroce_mr *mr = sroce_mr_find(qp, key);

	if (!mr || users_enter(mr))
		return mr;
	sroce_mr_put(mr);
	return NULL;
}

/**
 * sroce_mr_leave() - end the use of a region or window
 * @mr: from sroce_mr_enter() in the same trip
 */
void sroce_mr_leave(struct sroce_mr *mr)
{
	users_leave(mr);
	sroce_mr_put(mr);
}

/**
 * sroce_mr_is_committed() - whether a region's system call has succeeded
 * @mr: the region, referenced
 *
 * Its key may be known before: the core writes the response, and undoes the registration if it
 * can't. It locks the object from its creation until it commits it, and while it changes or
 * destroys it.
 *
 * Return: false also while the region is being changed, and for those of kernel users.
 */
bool sroce_mr_is_committed(const struct sroce_mr *mr)
{
	const struct ib_uobject *uobj = READ_ONCE(mr->ibmr.uobject);

	return uobj && atomic_read(&uobj->usecnt) != -1;
}

/**
 * sroce_mr_drain() - wait until the caller is the only user of a region or window
 * @mr: the fast region or window, held by the caller, and busy, so that there are no new users
 *
 * It spins, or sleeps on real-time kernels as in a spinlock.
 *
 * Context: bottom halves disabled.
 */
void sroce_mr_drain(struct sroce_mr *mr)
{
	lockdep_assert_in_softirq();
	users_drain(mr);
	/* accesses of the former users are complete before those of the caller */
	smp_mb();
}
