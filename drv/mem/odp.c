// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Regions whose pages come when they are needed and go when the kernel wants
 * them back. A burst that finds all its pages uses them under a lock that holds
 * off their removal; for one that doesn't drv/pager.c has them brought.
 */

#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "drv/dev.h"

/* Pages brought in at once */
#define BATCH		64
/* An entry: page frame number, and whether it may be written */
#define WRITABLE	1UL
/* Who takes pages away as fast as they come is not waited for any longer. */
#define PATIENCE	HZ

/**
 * struct sroce_odp - the pages of a region that are there
 * @notifier: tells of those that go
 * @dev: whose region it is
 * @va_offset: what to add to an address of the region to have the process's
 * @pages: entries by page of the process
 * @lock: taken for writing by who changes @pages
 * @inval_lock: held by who takes pages away, until they are marked
 * @faults: pages brought since they were needed
 * @prefetched: pages brought before that
 * @invalidated: pages taken away
 */
struct sroce_odp {
	struct mmu_interval_notifier	notifier;
	struct sroce_dev		*dev;
	u64				va_offset;
	struct xarray			pages;
	rwlock_t			lock;
	struct mutex			inval_lock;
	atomic64_t			faults;
	atomic64_t			prefetched;
	atomic64_t			invalidated;
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

/* The page of an entry that is no more, held, if it may have been written */
static struct page *erase(struct sroce_odp *odp, unsigned long index)
{
	struct page *page = NULL;
	void *entry;

	write_lock_bh(&odp->lock);
	entry = xa_erase(&odp->pages, index);
	/* it lives as long as its entry, which who takes it away erases first */
	if (entry && xa_to_value(entry) & WRITABLE) {
		page = page_of(xa_to_value(entry));
		get_page(page);
	}
	write_unlock_bh(&odp->lock);
	return page;
}

/*
 * What we wrote no page table knows of. Marking a page takes locks that must not
 * be waited for under ours, which softirqs wait for. But whoever else wants the page gone
 * waits until it is marked: it may be written back then, or its file go.
 */
static void forget(struct sroce_odp *odp, unsigned long first,
		   unsigned long last)
{
	unsigned long index;
	struct page *page;
	void *entry;

	mutex_lock(&odp->inval_lock);
	xa_for_each_range(&odp->pages, index, entry, first, last) {
		page = erase(odp, index);
		if (page) {
			folio_mark_dirty(page_folio(page));
			put_page(page);
		}
		this_cpu_inc(odp->dev->counters->c[SROCE_CNT_ODP_PAGES_OUT]);
		atomic64_inc(&odp->invalidated);
		cond_resched();
	}
	mutex_unlock(&odp->inval_lock);
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
 * @dev: whose region it is
 * @start: first byte in the process
 * @length: bytes
 * @iova: how users of the region name the first byte
 *
 * Return: what sroce_odp_free() ends, or an error pointer.
 */
struct sroce_odp *sroce_odp_new(struct sroce_dev *dev, u64 start, u64 length,
				u64 iova)
{
	struct sroce_odp *odp = kzalloc(sizeof(*odp), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!odp)
		return ERR_PTR(-ENOMEM);
	odp->dev = dev;
	odp->va_offset = start - iova;
	/* its lock is taken under ours as well */
	xa_init_flags(&odp->pages, XA_FLAGS_LOCK_BH | XA_FLAGS_ACCOUNT);
	rwlock_init(&odp->lock);
	mutex_init(&odp->inval_lock);
	ret = mmu_interval_notifier_insert(&odp->notifier, current->mm, start,
					   length, &notifier_ops);
	if (ret) {
		kfree(odp);
		return ERR_PTR(ret);
	}
	atomic_inc(&dev->odps);
	return odp;
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
	atomic_dec(&odp->dev->odps);
	kfree(odp);
}

/**
 * sroce_odp_mm() - where the memory of a region is
 * @odp: its pages
 * @iova: a byte of the region, as its users name it
 * @va: its address in the process
 *
 * Return: the memory of that process.
 */
struct mm_struct *sroce_odp_mm(const struct sroce_odp *odp, u64 iova,
				  u64 *va)
{
	*va = iova + odp->va_offset;
	return odp->notifier.mm;
}

/**
 * sroce_odp_stat() - what has happened to the pages of a region
 * @odp: the pages
 * @stat: filled in
 */
void sroce_odp_stat(const struct sroce_odp *odp, struct sroce_odp_stat *stat)
{
	stat->faults = atomic64_read(&odp->faults);
	stat->prefetched = atomic64_read(&odp->prefetched);
	stat->gone = atomic64_read(&odp->invalidated);
}

/**
 * sroce_odp_used() - whether there are regions on demand
 * @qp: for this QP
 */
bool sroce_odp_used(const struct sroce_qp *qp)
{
	return atomic_read(&qp->dev->odps);
}

static bool is_there(struct sroce_odp *odp, unsigned long va,
		     unsigned long last, bool write)
{
	unsigned long index;

	for (index = va >> PAGE_SHIFT; index <= last >> PAGE_SHIFT; index++) {
		unsigned long entry = entry_of(odp, index);

		if (!entry || (write && !(entry & WRITABLE)))
			return false;
	}
	return true;
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
	unsigned long va = iova + odp->va_offset;

	read_lock(&odp->lock);
	if (is_there(odp, va, va + len - 1, write)) {
		/* for sparse: who enters leaves */
		__release(&odp->lock);
		return 0;
	}
	read_unlock(&odp->lock);
	return -EAGAIN;
}

/**
 * sroce_odp_leave() - the pages may go
 * @odp: the pages
 */
void sroce_odp_leave(struct sroce_odp *odp)
{
	__acquire(&odp->lock);
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
	unsigned long va = iova + odp->va_offset;
	u8 *page = page_address(page_of(entry_of(odp, va >> PAGE_SHIFT)));

	*len = min_t(u32, *len, PAGE_SIZE - offset_in_page(va));
	return page + offset_in_page(va);
}

/* What was found at @va, unless it may be gone by now: -EBUSY */
static int insert(struct sroce_odp *odp, unsigned long va, struct page **page,
		  unsigned long n, bool write, unsigned long seq)
{
	unsigned long first = va >> PAGE_SHIFT, i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = xa_reserve_bh(&odp->pages, first + i, GFP_KERNEL);
	if (ret)
		return ret;
	write_lock_bh(&odp->lock);
	if (mmu_interval_read_retry(&odp->notifier, seq)) {
		ret = -EBUSY;
		goto out;
	}
	for (i = 0; i < n; i++) {
		unsigned long was = entry_of(odp, first + i) & WRITABLE;

		/* room was made before, so that nothing can fail */
		xa_store(&odp->pages, first + i,
			 xa_mk_value(page_to_pfn(page[i]) << 1 |
				     (write ? WRITABLE : was)), GFP_ATOMIC);
	}
	this_cpu_add(odp->dev->counters->c[SROCE_CNT_ODP_PAGES_IN], n);
out:
	write_unlock_bh(&odp->lock);
	return ret;
}

static unsigned int flags_of(enum sroce_fault how)
{
	static const unsigned int flags[] = {
		[SROCE_FAULT_READ] = 0,
		[SROCE_FAULT_WRITE] = FOLL_WRITE,
		[SROCE_FAULT_PRESENT] = FOLL_NOFAULT,
	};

	return flags[how];
}

/*
 * Return: how many pages were brought of those wanted, or why not even the first.
 * They are held only until their entries are made: those go when they do.
 */
static long bring_batch(struct sroce_odp *odp, unsigned long va,
			unsigned long end, enum sroce_fault how)
{
	struct mm_struct *mm = odp->notifier.mm;
	struct page *page[BATCH];
	unsigned long seq, i;
	long n, ret;

	seq = mmu_interval_read_begin(&odp->notifier);
	mmap_read_lock(mm);
	n = sroce_gup_remote(mm, va, (end - va) >> PAGE_SHIFT, flags_of(how),
			     page);
	mmap_read_unlock(mm);
	if (n <= 0)
		return n ?: -EFAULT;
	ret = insert(odp, va, page, n, how == SROCE_FAULT_WRITE, seq);
	for (i = 0; i < n; i++)
		put_page(page[i]);
	return ret ?: n;
}

/*
 * The same, again and again, if they go as fast as they come. Return: also 0, if
 * the first is one that is passed over
 */
static long insist(struct sroce_odp *odp, unsigned long va, unsigned long end,
		   enum sroce_fault how)
{
	unsigned long limit = jiffies + PATIENCE;
	long ret;

	do {
		ret = bring_batch(odp, va, end, how);
		cond_resched();
	} while (ret == -EBUSY && time_before(jiffies, limit));
	/* only those that the process has are wanted */
	return ret < 0 && ret != -EBUSY && how == SROCE_FAULT_PRESENT ? 0 : ret;
}

static bool was_there(struct sroce_odp *odp, unsigned long va,
		      unsigned long end, enum sroce_fault how)
{
	bool there;

	read_lock_bh(&odp->lock);
	there = is_there(odp, va, end - 1, how == SROCE_FAULT_WRITE);
	read_unlock_bh(&odp->lock);
	return there;
}

static int bring(struct sroce_odp *odp, unsigned long *va, unsigned long end,
		 enum sroce_fault how, atomic64_t *count)
{
	while (*va < end) {
		unsigned long to = min(end, *va + BATCH * PAGE_SIZE);
		long n;

		if (fatal_signal_pending(current))
			return -EINTR;
		if (was_there(odp, *va, to, how)) {
			*va = to;
			cond_resched();
			continue;
		}
		n = insist(odp, *va, to, how);
		if (n < 0)
			return n;
		atomic64_add(n, count);
		*va += max(n, 1L) * PAGE_SIZE;
	}
	return 0;
}

/**
 * sroce_odp_fault_in() - have pages of a region there
 * @odp: the pages
 * @iova: first byte, as users of the region name it; out: the first byte that
 *	isn't there, if there was an error
 * @len: bytes, at least one
 * @how: for what
 * @ahead: nobody waits for them
 *
 * May sleep, for as long as the pages take to come. They may go at any time.
 *
 * Return: 0, -EBUSY if they go as fast as they come, -EFAULT and others if they
 * can't be.
 */
int sroce_odp_fault_in(struct sroce_odp *odp, u64 *iova, u32 len,
		    enum sroce_fault how, bool ahead)
{
	struct mm_struct *mm = odp->notifier.mm;
	unsigned long va = (*iova + odp->va_offset) & PAGE_MASK;
	unsigned long end = PAGE_ALIGN(*iova + odp->va_offset + len);
	struct mem_cgroup *memcg, *before;
	int ret;

	/* a tag would be ignored there, but not by who takes the page away */
	if (end <= va || end > mm->task_size || !mmget_not_zero(mm))
		return -EFAULT;
	/* entries are memory of the process, whoever makes them */
	memcg = get_mem_cgroup_from_mm(mm);
	before = set_active_memcg(memcg);
	ret = bring(odp, &va, end, how,
		    ahead ? &odp->prefetched : &odp->faults);
	set_active_memcg(before);
	mem_cgroup_put(memcg);
	mmput(mm);
	if (va - odp->va_offset > *iova)
		*iova = va - odp->va_offset;
	return ret;
}
