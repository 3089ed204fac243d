// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions whose pages come when they are needed and go when the kernel wants
 * them back. A burst that finds all its pages uses them under a lock that holds
 * off their removal; one that doesn't leaves it to a work item to bring them,
 * which may sleep, and is called again then.
 */

#include <linux/hmm.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "dev.h"

/* Pages brought in at once */
#define BATCH		64
/* An entry: page frame number, and whether it may be written */
#define WRITABLE	1UL

/**
 * struct sroce_odp - the pages of a region that are there
 * @notifier: tells of those that go
 * @shift: what to add to an address of the region to have the process's
 * @pages: entries by page of the process
 * @lock: taken for writing by who changes @pages
 */
struct sroce_odp {
	struct mmu_interval_notifier	notifier;
	u64				shift;
	struct xarray			pages;
	rwlock_t			lock;
};

static unsigned long entry_of(struct sroce_odp *odp, unsigned long index)
{
	void *entry = xa_load(&odp->pages, index);

	return entry ? xa_to_value(entry) : 0;
}

static struct page *page_of(unsigned long entry)
{
	return pfn_to_page(entry >> 1);
}

/*
 * A page whose entry is there is alive while the lock is held, since who takes it
 * away has to erase the entry first. Marking it dirty doesn't sleep.
 */
static void forget(struct sroce_odp *odp, unsigned long first,
		   unsigned long last)
{
	unsigned long index;
	void *entry;

	xa_for_each_range(&odp->pages, index, entry, first, last) {
		write_lock_bh(&odp->lock);
		entry = xa_erase(&odp->pages, index);
		/* what we wrote no page table knows of */
		if (entry && xa_to_value(entry) & WRITABLE)
			folio_mark_dirty(page_folio(page_of(xa_to_value(entry))));
		write_unlock_bh(&odp->lock);
	}
}

static bool invalidate(struct mmu_interval_notifier *notifier,
		       const struct mmu_notifier_range *range,
		       unsigned long seq)
{
	struct sroce_odp *odp = container_of(notifier, struct sroce_odp,
					     notifier);

	if (!mmu_notifier_range_blockable(range))
		return false;
	write_lock_bh(&odp->lock);
	mmu_interval_set_seq(notifier, seq);
	write_unlock_bh(&odp->lock);
	forget(odp, range->start >> PAGE_SHIFT, (range->end - 1) >> PAGE_SHIFT);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = invalidate,
};

/**
 * sroce_odp_new() - pages on demand, of the calling process
 * @start: first byte in the process
 * @length: bytes
 * @iova: how users of the region name the first byte
 *
 * Return: what sroce_odp_free() ends, or an error pointer.
 */
struct sroce_odp *sroce_odp_new(u64 start, u64 length, u64 iova)
{
	struct sroce_odp *odp = kzalloc(sizeof(*odp), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!odp)
		return ERR_PTR(-ENOMEM);
	odp->shift = start - iova;
	xa_init(&odp->pages);
	rwlock_init(&odp->lock);
	ret = mmu_interval_notifier_insert(&odp->notifier, current->mm, start,
					   length, &notifier_ops);
	if (!ret)
		return odp;
	kfree(odp);
	return ERR_PTR(ret);
}

/**
 * sroce_odp_free() - be done with pages on demand
 * @odp: from sroce_odp_new(), used by nobody any more; or NULL
 */
void sroce_odp_free(struct sroce_odp *odp)
{
	if (!odp)
		return;
	forget(odp, 0, ULONG_MAX);
	mmu_interval_notifier_remove(&odp->notifier);
	xa_destroy(&odp->pages);
	kfree(odp);
}

/**
 * sroce_odp_enter() - use a range, if all of its pages are there
 * @odp: the pages
 * @iova: first byte, as users of the region name it
 * @len: bytes, at least one
 * @write: they are to be changed
 *
 * Bottom halves are disabled, until sroce_odp_leave() as well.
 *
 * Return: 0, with the pages there to stay until sroce_odp_leave(); or -EAGAIN.
 */
int sroce_odp_enter(struct sroce_odp *odp, u64 iova, u32 len, bool write)
{
	unsigned long va = iova + odp->shift, index;

	read_lock(&odp->lock);
	for (index = va >> PAGE_SHIFT; index <= (va + len - 1) >> PAGE_SHIFT;
	     index++) {
		unsigned long entry = entry_of(odp, index);

		if (!entry || (write && !(entry & WRITABLE))) {
			read_unlock(&odp->lock);
			return -EAGAIN;
		}
	}
	return 0;
}

/**
 * sroce_odp_leave() - the pages may go
 * @odp: the pages
 */
void sroce_odp_leave(struct sroce_odp *odp)
{
	read_unlock(&odp->lock);
}

/**
 * sroce_odp_span() - kernel address of a byte in a range that is in use
 * @odp: the pages
 * @iova: the byte
 * @len: in: bytes wanted; out: how many of them are contiguous
 */
void *sroce_odp_span(struct sroce_odp *odp, u64 iova, u32 *len)
{
	unsigned long va = iova + odp->shift;
	u8 *page = page_address(page_of(entry_of(odp, va >> PAGE_SHIFT)));

	*len = min_t(u32, *len, PAGE_SIZE - offset_in_page(va));
	return page + offset_in_page(va);
}

/* The pages that @range has found; -EBUSY if they may be gone by now */
static int insert(struct sroce_odp *odp, const struct hmm_range *range,
		  bool write)
{
	unsigned long first = range->start >> PAGE_SHIFT;
	unsigned long n = (range->end - range->start) >> PAGE_SHIFT, i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = xa_reserve(&odp->pages, first + i, GFP_KERNEL);
	if (ret)
		return ret;
	write_lock_bh(&odp->lock);
	if (mmu_interval_read_retry(&odp->notifier, range->notifier_seq)) {
		ret = -EBUSY;
		goto out;
	}
	for (i = 0; i < n; i++) {
		unsigned long pfn = range->hmm_pfns[i] & ~HMM_PFN_FLAGS;
		unsigned long was = entry_of(odp, first + i);

		/* room was made before, so that nothing can fail */
		xa_store(&odp->pages, first + i,
			 xa_mk_value(pfn << 1 | (was & WRITABLE) |
				     (write ? WRITABLE : 0)), GFP_ATOMIC);
	}
out:
	write_unlock_bh(&odp->lock);
	return ret;
}

static int bring_batch(struct sroce_odp *odp, unsigned long start,
		       unsigned long end, bool write)
{
	struct mm_struct *mm = odp->notifier.mm;
	unsigned long pfns[BATCH] = {};
	struct hmm_range range = {
		.notifier = &odp->notifier,
		.start = start,
		.end = end,
		.hmm_pfns = pfns,
		.default_flags = HMM_PFN_REQ_FAULT |
				 (write ? HMM_PFN_REQ_WRITE : 0),
	};
	int ret;

	do {
		range.notifier_seq = mmu_interval_read_begin(&odp->notifier);
		mmap_read_lock(mm);
		ret = hmm_range_fault(&range);
		mmap_read_unlock(mm);
		if (!ret)
			ret = insert(odp, &range, write);
	} while (ret == -EBUSY);
	return ret;
}

/* May sleep, for as long as the pages take to come */
static int bring(struct sroce_odp *odp, u64 iova, u32 len, bool write)
{
	struct mm_struct *mm = odp->notifier.mm;
	unsigned long va = (iova + odp->shift) & PAGE_MASK;
	unsigned long end = PAGE_ALIGN(iova + odp->shift + len);
	int ret = 0;

	if (end <= va || !mmget_not_zero(mm))
		return -EFAULT;
	while (va < end && !ret) {
		unsigned long to = min(end, va + BATCH * PAGE_SIZE);

		ret = bring_batch(odp, va, to, write);
		va = to;
	}
	mmput(mm);
	return ret;
}

/* The work item of a QP: bring what is wanted, and have it go on. */
static void pager_fn(struct work_struct *work)
{
	struct sroce_pager *pg = container_of(work, struct sroce_pager, work);
	struct sroce_qp *qp = pg->qp;
	struct sroce_want want[SROCE_WANTS];
	u32 i, n;

	spin_lock_bh(&qp->lock);
	n = pg->n;
	memcpy(want, pg->want, n * sizeof(*want));
	pg->n = 0;
	spin_unlock_bh(&qp->lock);
	for (i = 0; i < n; i++)
		want[i].ret = bring(want[i].mr->odp, want[i].iova, want[i].len,
				    want[i].write);
	sroce_qp_begin(qp);
	for (i = 0; i < n; i++) {
		want[i].key = want[i].mr->key;
		if (want[i].ret)
			pg->failed = want[i];
	}
	sroce_qp_paged(qp);
	sroce_qp_end(qp);
	for (i = 0; i < n; i++)
		sroce_mr_put(want[i].mr);
}

/**
 * sroce_odp_want() - have pages brought in for a QP
 * @qp: the QP, locked
 * @mr: the region
 * @iova: first byte
 * @len: bytes
 * @write: they are to be changed
 *
 * Return: -EAGAIN: sroce_qp_paged() is called when they are there; -EFAULT: that
 * was tried before, and can't be done.
 */
int sroce_odp_want(struct sroce_qp *qp, struct sroce_mr *mr, u64 iova, u32 len,
		   bool write)
{
	struct sroce_pager *pg = &qp->host->pager;
	struct sroce_want *failed = &pg->failed;

	if (failed->ret && failed->key == mr->key && failed->iova == iova &&
	    failed->len == len && failed->write >= write) {
		failed->ret = 0;
		return -EFAULT;
	}
	if (pg->n < SROCE_WANTS) {
		sroce_mr_hold(mr);
		pg->want[pg->n++] = (struct sroce_want){
			.mr = mr, .iova = iova, .len = len, .write = write,
		};
	}
	queue_work(system_unbound_wq, &pg->work);
	return -EAGAIN;
}

/**
 * sroce_pager_init() - set up what brings pages for a QP
 * @qp: the QP
 */
void sroce_pager_init(struct sroce_qp *qp)
{
	qp->host->pager.qp = qp;
	INIT_WORK(&qp->host->pager.work, pager_fn);
}

/**
 * sroce_pager_stop() - wait until no pages are brought for a QP
 * @qp: the QP, in RESET; nobody uses it
 */
void sroce_pager_stop(struct sroce_qp *qp)
{
	struct sroce_pager *pg = &qp->host->pager;

	cancel_work_sync(&pg->work);
	while (pg->n)
		sroce_mr_put(pg->want[--pg->n].mr);
}

/* The region of a PD that a key names, if its pages come on demand; held */
static struct sroce_mr *find(struct ib_pd *pd, const struct ib_sge *sge)
{
	struct sroce_dev *dev = to_sdev(pd->device);
	struct sroce_mr *mr;

	rcu_read_lock();
	mr = xa_load(&dev->mrs, sroce_key_index(sge->lkey));
	if (mr && !refcount_inc_not_zero(&mr->ref))
		mr = NULL;
	rcu_read_unlock();
	if (!mr)
		return NULL;
	if (mr->key == sge->lkey && mr->pd == pd && mr->odp &&
	    sroce_mr_covers(mr, sge->addr, sge->length))
		return mr;
	sroce_mr_put(mr);
	return NULL;
}

/**
 * sroce_advise_mr() - bring pages before they are needed
 * @pd: protection domain
 * @advice: for reading or writing; those that are not in memory, or no others
 * @flags: whether the caller waits, which it does anyway
 * @sge: where
 * @n: entries of @sge
 * @attrs: unused
 */
int sroce_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sge, u32 n,
		    struct uverbs_attr_bundle *attrs)
{
	int ret = 0;

	if (advice > IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return -EOPNOTSUPP;
	for (; n && !ret; n--, sge++) {
		struct sroce_mr *mr = find(pd, sge);

		if (!mr)
			return -EINVAL;
		if (advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT &&
		    sge->length)
			ret = bring(mr->odp, sge->addr, sge->length, advice ==
				    IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE);
		sroce_mr_put(mr);
	}
	return ret;
}
