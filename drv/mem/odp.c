// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Pages of ODP regions (on-demand paging). They are faulted in when they are needed and
 * invalidated when the kernel wants them back. An access that finds all its pages present
 * uses them under a lock that delays their invalidation. Otherwise drv/verbs/pager.c
 * faults them in, and the access is tried again.
 *
 * A fault may take for ever, so the end of a region does not wait for it. A fault has a
 * reference to struct sroce_odp, and what it finds after the end is dropped.
 */

#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "drv/compat/compat.h"
#include "drv/core/env.h"
#include "drv/lookup/sdev.h"
#include "drv/lookup/user.h"
#include "drv/mem/faultq.h"
#include "drv/mem/odp.h"

/* Most pages faulted in at once */
#define FAULT_BATCH	64
/* Bit of an entry; the page frame number is above it */
#define WRITABLE	1UL
/* Bytes of a node, roughly, which has entries of XA_CHUNK_SIZE pages or nodes */
#define NODE_BYTES	600
/* Nodes above each other, where addresses have 48 bits */
#define NODE_LEVELS	DIV_ROUND_UP(48 - PAGE_SHIFT, XA_CHUNK_SHIFT)
/* For how long pages that are invalidated at once are faulted in again, in jiffies */
#define RETRY_TIME	HZ

/* A page that is not to be faulted in takes as long as so many that are present. */
#define ABSENT_COST	256U

/**
 * struct odp_fault - a fault in progress, on the stack
 * @list: entry in sroce_odp.faulting
 * @task: the task, in which SIGKILL ends the fault if anything does
 */
struct odp_fault {
	struct list_head	list;
	struct task_struct	*task;
};

/**
 * struct sroce_odp - the pages of an ODP region that are present
 * @ref: references: the region, and those who fault in pages
 * @ended: the region is gone; no page may be inserted, @notifier and @dev are not valid
 * @faulting: struct odp_fault
 * @faulting_lock: guards @faulting; @ended is set under this lock and @lock
 * @proc: queues of those who fault in pages
 * @notifier: invalidates pages; its mm is that of the process
 * @dev: device of the region
 * @va_offset: added to an address in the region, gives the address in the process
 * @pages: entries of present pages, by page number in the process
 * @lock: held for reading to use pages, for writing to change @pages
 * @inval_lock: serializes invalidations, until the pages are marked dirty
 * @faults: number of pages faulted in by accesses
 * @prefetched: number of pages faulted in by advice
 * @invalidated: number of pages invalidated
 */
struct sroce_odp {
	refcount_t			ref;
	bool				ended;
	struct list_head		faulting;
	spinlock_t			faulting_lock;
	struct sroce_fault_mm		*proc;
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

static unsigned long load_entry(struct sroce_odp *odp, unsigned long index)
{
	void *entry = xa_load(&odp->pages, index);

	return entry ? xa_to_value(entry) : 0;
}

static struct page *entry_page(unsigned long entry)
{
	return pfn_to_page(entry >> 1);
}

static bool has_entries(struct sroce_odp *odp, unsigned long first, unsigned long last)
{
	return xa_find(&odp->pages, &first, last, XA_PRESENT);
}

/* Bytes of the nodes that have a page only, if it is there, or are missing, if it isn't */
static size_t own_nodes(struct sroce_odp *odp, unsigned long index)
{
	u32 n;

	for (n = 0; n < NODE_LEVELS; n++) {
		unsigned long mask = GENMASK((n + 1) * XA_CHUNK_SHIFT - 1, 0);

		if (has_entries(odp, index & ~mask, index | mask))
			break;
	}
	return n * NODE_BYTES;
}

/*
 * Make a reserved entry. Nodes are charged to the user: regions of the same pages, or of the
 * zero page, take no other memory. Another fault of the page may have failed, and have taken
 * back the reservation.
 */
static int store_entry(struct sroce_odp *odp, unsigned long index, struct page *page, bool write)
{
	unsigned long was = load_entry(odp, index);
	size_t bytes = was ? 0 : own_nodes(odp, index);
	void *entry;
	int ret = 0;

	if (bytes)
		ret = sroce_user_charge_again(odp->proc->user, bytes);
	if (ret)
		return ret;
	entry = xa_mk_value(page_to_pfn(page) << 1 | (write ? WRITABLE : was & WRITABLE));
	ret = xa_err(xa_store(&odp->pages, index, entry, GFP_ATOMIC));
	if (ret && bytes)
		sroce_user_uncharge(odp->proc->user, bytes);
	return ret ? -EBUSY : 0;
}

/* Remove an entry. Return: its page, held, if it may have been written, else NULL */
static struct page *erase_entry(struct sroce_odp *odp, unsigned long index)
{
	struct page *page = NULL;
	size_t bytes;
	void *entry;

	write_lock_bh(&odp->lock);
	entry = xa_erase(&odp->pages, index);
	bytes = entry ? own_nodes(odp, index) : 0;
	if (bytes)
		sroce_user_uncharge(odp->proc->user, bytes);
	/* the page is valid as long as its entry: it is freed after its invalidation */
	if (entry && xa_to_value(entry) & WRITABLE) {
		page = entry_page(xa_to_value(entry));
		get_page(page);
	}
	write_unlock_bh(&odp->lock);
	return page;
}

/*
 * Remove the pages of a range. Written pages are marked dirty, as no page table has a dirty
 * bit for our writes. That takes locks which can't be taken under odp->lock, since
 * softirqs spin for it. inval_lock makes other invalidations of the page wait until it is
 * marked: after them it may be written back, or its file may go.
 */
static void drop_pages(struct sroce_odp *odp, unsigned long first,
		       unsigned long last)
{
	unsigned long index;
	struct page *page;
	void *entry;

	mutex_lock(&odp->inval_lock);
	xa_for_each_range(&odp->pages, index, entry, first, last) {
		page = erase_entry(odp, index);
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
	drop_pages(odp, range->start >> PAGE_SHIFT, (range->end - 1) >> PAGE_SHIFT);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = invalidate,
};

static struct sroce_odp *odp_alloc(void)
{
	struct sroce_odp *odp = kzalloc(sizeof(*odp), GFP_KERNEL_ACCOUNT);

	if (!odp)
		return NULL;
	odp->proc = sroce_faultq_get_mm();
	if (!odp->proc) {
		kfree(odp);
		return NULL;
	}
	refcount_set(&odp->ref, 1);
	INIT_LIST_HEAD(&odp->faulting);
	spin_lock_init(&odp->faulting_lock);
	/* XA_FLAGS_LOCK_BH: the array's lock is also taken under odp->lock */
	xa_init_flags(&odp->pages, XA_FLAGS_LOCK_BH | XA_FLAGS_ACCOUNT);
	rwlock_init(&odp->lock);
	mutex_init(&odp->inval_lock);
	return odp;
}

/**
 * sroce_odp_new() - set up on-demand paging for a range of the calling process
 * @dev: device of the region
 * @start: address of the first byte in the process
 * @length: bytes
 * @iova: address of the first byte for users of the region
 *
 * Return: the pages, for sroce_odp_free(), or an error pointer.
 */
struct sroce_odp *sroce_odp_new(struct sroce_dev *dev, u64 start, u64 length,
				u64 iova)
{
	struct sroce_odp *odp = odp_alloc();
	int ret;

	if (!odp)
		return ERR_PTR(-ENOMEM);
	odp->dev = dev;
	odp->va_offset = start - iova;
	ret = sroce_user_add(dev, odp->proc->user, SROCE_OBJ_ODP);
	if (ret)
		goto err;
	ret = mmu_interval_notifier_insert(&odp->notifier, current->mm, start,
					   length, &notifier_ops);
	if (ret)
		goto err_del;
	atomic_inc(&dev->odps);
	return odp;

err_del:
	sroce_user_del(dev, odp->proc->user, SROCE_OBJ_ODP);
err:
	sroce_odp_put(odp);
	return ERR_PTR(ret);
}

/**
 * sroce_odp_get() - take a reference, in order to fault in pages later
 * @odp: the pages, of a region in use
 */
void sroce_odp_get(struct sroce_odp *odp)
{
	refcount_inc(&odp->ref);
}

/**
 * sroce_odp_put() - drop a reference
 * @odp: the pages
 *
 * Context: process or softirq.
 */
void sroce_odp_put(struct sroce_odp *odp)
{
	if (!refcount_dec_and_test(&odp->ref))
		return;
	xa_destroy(&odp->pages);
	sroce_faultq_put_mm(odp->proc);
	kfree(odp);
}

/**
 * sroce_odp_faultq() - queue of those who fault in pages
 * @odp: the pages, held
 * @use: what they are faulted in for
 */
struct sroce_faultq *sroce_odp_faultq(struct sroce_odp *odp, enum sroce_fault_use use)
{
	return &odp->proc->q[use];
}

/* From now on no pages are inserted, and faults end if they can. */
static void end_faults(struct sroce_odp *odp)
{
	struct odp_fault *fault;

	spin_lock(&odp->faulting_lock);
	write_lock_bh(&odp->lock);
	odp->ended = true;
	write_unlock_bh(&odp->lock);
	list_for_each_entry(fault, &odp->faulting, list)
		send_sig(SIGKILL, fault->task, 1);
	spin_unlock(&odp->faulting_lock);
}

/**
 * sroce_odp_free() - end on-demand paging
 * @odp: from sroce_odp_new() and not used any more, or NULL
 *
 * Faults in progress may hold @odp for longer, but do nothing more for it.
 */
void sroce_odp_free(struct sroce_odp *odp)
{
	if (!odp)
		return;
	end_faults(odp);
	drop_pages(odp, 0, ULONG_MAX);
	mmu_interval_notifier_remove(&odp->notifier);
	atomic_dec(&odp->dev->odps);
	sroce_user_del(odp->dev, odp->proc->user, SROCE_OBJ_ODP);
	sroce_odp_put(odp);
}

/**
 * sroce_odp_mm() - process and address of a byte of a region
 * @odp: the pages
 * @iova: address of the byte for users of the region
 * @va: set to the address in the process
 *
 * Return: the process's mm, without a reference.
 */
struct mm_struct *sroce_odp_mm(const struct sroce_odp *odp, u64 iova,
			       u64 *va)
{
	*va = iova + odp->va_offset;
	return odp->notifier.mm;
}

/**
 * sroce_odp_stat() - paging statistics of a region
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
 * sroce_odp_used() - whether there are ODP regions
 * @qp: the QP
 *
 * Return: true if the QP's device has ODP regions.
 */
bool sroce_odp_used(const struct sroce_qp *qp)
{
	return atomic_read(&qp->dev->odps);
}

static bool range_present(struct sroce_odp *odp, unsigned long va,
			  unsigned long last, bool write)
{
	unsigned long index;

	for (index = va >> PAGE_SHIFT; index <= last >> PAGE_SHIFT; index++) {
		unsigned long entry = load_entry(odp, index);

		if (!entry || (write && !(entry & WRITABLE)))
			return false;
	}
	return true;
}

/**
 * sroce_odp_enter() - begin to use a range, if all of its pages are present
 * @odp: the pages
 * @iova: address of the first byte for users of the region
 * @len: bytes, at least one
 * @write: the range is to be written
 *
 * Context: bottom halves are disabled until sroce_odp_leave().
 *
 * Return: 0, and the pages stay present until sroce_odp_leave(); or -EAGAIN.
 */
int sroce_odp_enter(struct sroce_odp *odp, u64 iova, u32 len, bool write)
{
	unsigned long va = iova + odp->va_offset;

	read_lock(&odp->lock);
	if (range_present(odp, va, va + len - 1, write)) {
		/* for sparse: sroce_odp_leave() unlocks */
		__release(&odp->lock);
		return 0;
	}
	read_unlock(&odp->lock);
	return -EAGAIN;
}

/**
 * sroce_odp_leave() - end the use that sroce_odp_enter() began
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
 * @iova: address of the byte for users of the region
 * @len: in: bytes wanted; out: how many of them are contiguous
 *
 * Context: between sroce_odp_enter() and sroce_odp_leave().
 *
 * Return: the kernel address.
 */
void *sroce_odp_span(struct sroce_odp *odp, u64 iova, u32 *len)
{
	unsigned long va = iova + odp->va_offset;
	u8 *page = page_address(entry_page(load_entry(odp, va >> PAGE_SHIFT)));

	*len = min_t(u32, *len, PAGE_SIZE - offset_in_page(va));
	return page + offset_in_page(va);
}

/* Entries that were reserved and not made would take memory until the region ends. */
static void release_entries(struct sroce_odp *odp, unsigned long first, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++)
		xa_cmpxchg_bh(&odp->pages, first + i, XA_ZERO_ENTRY, NULL, 0);
}

/* Make the entries of pages found when the notifier was at @seq. Return: how many, or an error */
static long make_entries(struct sroce_odp *odp, unsigned long first, struct page **page,
			 unsigned long n, bool write, unsigned long seq)
{
	unsigned long i;
	int ret = 0;

	if (odp->ended)
		return -EINTR;
	if (mmu_interval_read_retry(&odp->notifier, seq))
		return -EBUSY;
	for (i = 0; i < n; i++) {
		ret = store_entry(odp, first + i, page[i], write);
		if (ret)
			break;
	}
	this_cpu_add(odp->dev->counters->c[SROCE_CNT_ODP_PAGES_IN], i);
	return ret ?: n;
}

/*
 * Insert the pages found at @va. Return: @n; -EBUSY if they were invalidated since @seq,
 * -EINTR if the region is gone, -ENOMEM also if the user has its share of memory
 */
static long insert_pages(struct sroce_odp *odp, unsigned long va, struct page **page,
			 unsigned long n, bool write, unsigned long seq)
{
	unsigned long first = va >> PAGE_SHIFT, i;
	long ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = xa_reserve_bh(&odp->pages, first + i, GFP_KERNEL);
	if (!ret) {
		write_lock_bh(&odp->lock);
		ret = make_entries(odp, first, page, n, write, seq);
		write_unlock_bh(&odp->lock);
	}
	if (ret < 0)
		release_entries(odp, first, n);
	return ret;
}

static unsigned int gup_flags(enum sroce_fault how)
{
	static const unsigned int flags[] = {
		[SROCE_FAULT_READ] = 0,
		[SROCE_FAULT_WRITE] = FOLL_WRITE,
		[SROCE_FAULT_PRESENT] = FOLL_NOFAULT,
	};

	return flags[how];
}

/*
 * Fault in at most a batch of pages. They are held only until their entries are made;
 * after that, an invalidation removes the entries.
 *
 * Return: number of pages faulted in, or the error of the first page.
 */
static long fault_batch(struct sroce_odp *odp, unsigned long va,
			unsigned long end, enum sroce_fault how)
{
	struct mm_struct *mm = odp->proc->mm;
	struct page *page[FAULT_BATCH];
	unsigned long seq, i;
	int locked = 1;
	long n, ret;

	seq = mmu_interval_read_begin(&odp->notifier);
	if (mmap_read_lock_killable(mm))
		return -EINTR;
	n = sroce_gup_remote(mm, va, (end - va) >> PAGE_SHIFT, gup_flags(how),
			     page, &locked);
	if (locked)
		mmap_read_unlock(mm);
	if (n <= 0)
		return n ?: -EFAULT;
	ret = insert_pages(odp, va, page, n, how == SROCE_FAULT_WRITE, seq);
	for (i = 0; i < n; i++)
		put_page(page[i]);
	return ret;
}

/*
 * fault_batch(), repeated while the pages are invalidated at once. Return: also 0 if the
 * first page is to be skipped, as it is not present in the process.
 */
static long fault_batch_retry(struct sroce_odp *odp, unsigned long va, unsigned long end,
			      enum sroce_fault how)
{
	unsigned long limit = jiffies + RETRY_TIME;
	long ret;

	do {
		ret = fault_batch(odp, va, end, how);
		cond_resched();
	} while (ret == -EBUSY && time_before(jiffies, limit));
	/* only pages that are present in the process are wanted */
	return ret < 0 && ret != -EBUSY && how == SROCE_FAULT_PRESENT ? 0 : ret;
}

static bool range_present_lock(struct sroce_odp *odp, unsigned long va,
			       unsigned long end, enum sroce_fault how)
{
	bool present;

	read_lock_bh(&odp->lock);
	present = range_present(odp, va, end - 1, how == SROCE_FAULT_WRITE);
	read_unlock_bh(&odp->lock);
	return present;
}

/* Take the cost of pages for which there was nothing to do. Return: whether there is some left */
static bool spend(u32 *budget, u32 cost)
{
	if (budget)
		*budget -= min(*budget, cost);
	return !budget || *budget;
}

/* @budget: as of sroce_odp_fault_in() */
static int fault_range(struct sroce_odp *odp, unsigned long *va, unsigned long end,
		       enum sroce_fault how, u32 *budget)
{
	atomic64_t *count = budget ? &odp->prefetched : &odp->faults;

	while (*va < end) {
		unsigned long to = min(end, *va + FAULT_BATCH * PAGE_SIZE);
		long n;

		if (fatal_signal_pending(current) || READ_ONCE(odp->ended))
			return -EINTR;
		if (range_present_lock(odp, *va, to, how)) {
			if (!spend(budget, (to - *va) >> PAGE_SHIFT))
				return 0;
			*va = to;
			cond_resched();
			continue;
		}
		n = fault_batch_retry(odp, *va, to, how);
		if (n < 0)
			return n;
		if (!n && !spend(budget, ABSENT_COST))
			return 0;
		atomic64_add(n, count);
		*va += max(n, 1L) * PAGE_SIZE;
	}
	return 0;
}

/* fault_range(), charged to the process */
static int fault_range_charged(struct sroce_odp *odp, struct mm_struct *mm,
			       unsigned long *va, unsigned long end,
			       enum sroce_fault how, u32 *budget)
{
	struct mem_cgroup *memcg = get_mem_cgroup_from_mm(mm);
	struct mem_cgroup *before = set_active_memcg(memcg);
	int ret = fault_range(odp, va, end, how, budget);

	set_active_memcg(before);
	mem_cgroup_put(memcg);
	/* a page that could not be read may just mean that the wait for it was ended */
	return ret && fatal_signal_pending(current) ? -EINTR : ret;
}

/* Note that a fault begins, unless the region is gone. */
static bool begin_fault(struct sroce_odp *odp, struct odp_fault *fault)
{
	bool ended;

	fault->task = current;
	spin_lock(&odp->faulting_lock);
	ended = odp->ended;
	if (!ended)
		list_add(&fault->list, &odp->faulting);
	spin_unlock(&odp->faulting_lock);
	return !ended;
}

static void end_fault(struct sroce_odp *odp, struct odp_fault *fault)
{
	spin_lock(&odp->faulting_lock);
	list_del(&fault->list);
	spin_unlock(&odp->faulting_lock);
}

/* Whether the pages are the region's, which is told when they go */
static bool is_watched(const struct sroce_odp *odp, unsigned long va, unsigned long end)
{
	const struct interval_tree_node *all = &odp->notifier.interval_tree;

	return va >= (all->start & PAGE_MASK) && end - 1 <= (all->last | ~PAGE_MASK);
}

/**
 * sroce_odp_fault_in() - fault in pages of a region
 * @odp: the pages, held; their region may be gone
 * @iova: in: address of the first byte for users of the region; out: the first byte that
 *	was not faulted in, if there was an error
 * @len: bytes, at least one
 * @how: access to fault in for
 * @budget: NULL for a fault. Of a prefetch: what it may still spend on pages for which there is
 *	nothing to do, as they are present, or absent and not to be faulted in; it ends when that is
 *	spent
 *
 * The pages may be invalidated at any time, even before the return.
 *
 * Context: a job of drv/mem/faultq.c, which may be sent SIGKILL; may sleep for ever.
 *
 * Return: 0; -EBUSY if the pages were invalidated again and again, -EINTR if the caller
 * was sent SIGKILL, or the region is gone; -EFAULT and others if they can't be faulted in, or are
 * not inside the region.
 */
int sroce_odp_fault_in(struct sroce_odp *odp, u64 *iova, u32 len,
		       enum sroce_fault how, u32 *budget)
{
	struct mm_struct *mm = odp->proc->mm;
	unsigned long va = (*iova + odp->va_offset) & PAGE_MASK;
	unsigned long end = PAGE_ALIGN(*iova + odp->va_offset + len);
	struct odp_fault fault;
	int ret = -EFAULT;

	if (!begin_fault(odp, &fault))
		return -EINTR;
	/* no tagged addresses: gup ignores the tag, the notifier does not */
	if (end > va && end <= mm->task_size && is_watched(odp, va, end) && mmget_not_zero(mm)) {
		ret = fault_range_charged(odp, mm, &va, end, how, budget);
		mmput(mm);
	}
	end_fault(odp, &fault);
	if (va - odp->va_offset > *iova)
		*iova = va - odp->va_offset;
	return ret;
}
