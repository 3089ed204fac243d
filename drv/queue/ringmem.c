// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory of rings: pages that are charged to the calling process and mapped into the
 * kernel. User rings are also mapped into user space, at an mmap offset that is returned
 * to the provider.
 *
 * A process may map a ring longer than the ring exists, as the provider does for a moment.
 * Its pages are charged to the user until they are unmapped. The mappings are only counted in
 * the pages: a mapping that called the module at its end would keep it loaded.
 */

#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include "drv/core/mem/ring.h"
#include "drv/lookup/sdev.h"
#include "drv/queue/ringmem.h"

/* How often destroyed rings are looked at that are still mapped, in jiffies, ... */
#define REAP_TIME	HZ
/* ... and how many of a user at a time */
#define REAP_BATCH	256

static void reap_fn(struct work_struct *work);

/* Users who have destroyed rings that are still mapped */
static LIST_HEAD(mappers);
static u32 n_mappers;
static DEFINE_MUTEX(mapped_lock);
static DECLARE_DELAYED_WORK(reap_work, reap_fn);

static struct sroce_ringmem *to_ringmem(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct sroce_ringmem, entry);
}

/*
 * The pages are freed with the mapping by vfree() (VM_MAP_PUT_PAGES). A process that the
 * OOM killer has chosen gets no ring: its allocations may use the last reserves. Nor is
 * another process killed for a ring (__GFP_RETRY_MAYFAIL).
 */
static void *alloc_pages_mapped(size_t size)
{
	u32 i, n = size >> PAGE_SHIFT;
	struct page **pages;
	void *buf;

	pages = kvcalloc(n, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return NULL;
	for (i = 0; i < n; i++) {
		cond_resched();
		if (fatal_signal_pending(current))
			goto err;
		pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO |
				      __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
		if (!pages[i])
			goto err;
	}
	buf = vmap(pages, n, VM_MAP | VM_USERMAP | VM_MAP_PUT_PAGES,
		   PAGE_KERNEL);
	if (buf)
		return buf;
err:
	while (i--)
		__free_page(pages[i]);
	kvfree(pages);
	return NULL;
}

static void free_now(struct sroce_ringmem *mem)
{
	vfree(mem->buf);
	sroce_user_uncharge(mem->owner, mem->size);
	kfree(mem);
}

/*
 * Whether user space maps a page of a destroyed ring. Of one that it does not, nobody can make
 * another mapping, so each page is found unmapped once.
 */
static bool is_mapped(struct sroce_ringmem *mem)
{
	for (; mem->unmapped < mem->size >> PAGE_SHIFT; mem->unmapped++) {
		if (page_ref_count(vmalloc_to_page(mem->buf + mem->unmapped * PAGE_SIZE)) > 1)
			return true;
		cond_resched();
	}
	return false;
}

/* Keep a destroyed ring, and its charge, until it is unmapped. */
static void keep_mapped(struct sroce_ringmem *mem)
{
	struct sroce_user *user = mem->owner;

	mutex_lock(&mapped_lock);
	list_add_tail(&mem->list, &user->mapped);
	if (!user->n_mapped++) {
		list_add_tail(&user->mappers, &mappers);
		n_mappers++;
	}
	mutex_unlock(&mapped_lock);
	queue_delayed_work(system_unbound_wq, &reap_work, REAP_TIME);
}

/* The owner may be gone afterwards. */
static void uncharge(struct sroce_ringmem *mem)
{
	struct sroce_user *user = mem->owner;

	mem->owner = NULL;
	sroce_user_uncharge(user, mem->size);
}

/*
 * Find those of the next few rings of a user that are not mapped any more. They are not charged
 * to it from now on: whoever has had the lock since finds room for other rings. @user may be gone
 * with the last one.
 */
static void find_unmapped(struct sroce_user *user, struct list_head *unmapped)
{
	u32 n = min_t(u32, user->n_mapped, REAP_BATCH);
	struct sroce_ringmem *mem;

	lockdep_assert_held(&mapped_lock);
	while (n--) {
		mem = list_first_entry(&user->mapped, struct sroce_ringmem, list);
		if (is_mapped(mem)) {
			list_move_tail(&mem->list, &user->mapped);
			continue;
		}
		list_move_tail(&mem->list, unmapped);
		if (!--user->n_mapped) {
			list_del(&user->mappers);
			n_mappers--;
		}
		uncharge(mem);
	}
}

static void free_all(struct list_head *rings)
{
	struct sroce_ringmem *mem, *next;

	list_for_each_entry_safe(mem, next, rings, list)
		free_now(mem);
}

/* The user who is next; the one after that is another. NULL if there is none. */
static struct sroce_user *next_mapper(void)
{
	struct sroce_user *user;

	user = list_first_entry_or_null(&mappers, struct sroce_user, mappers);
	if (user)
		list_move_tail(&user->mappers, &mappers);
	return user;
}

/* Free what @user, or NULL for the one who is next, has unmapped. */
static void reap(struct sroce_user *user)
{
	LIST_HEAD(unmapped);

	mutex_lock(&mapped_lock);
	if (!user)
		user = next_mapper();
	if (user)
		find_unmapped(user, &unmapped);
	mutex_unlock(&mapped_lock);
	free_all(&unmapped);
}

/* Who keeps many rings waits longer for what is free again, and nobody else does. */
static void reap_fn(struct work_struct *work)
{
	u32 n;

	for (n = READ_ONCE(n_mappers); n; n--) {
		reap(NULL);
		cond_resched();
	}
	if (READ_ONCE(n_mappers))
		queue_delayed_work(system_unbound_wq, &reap_work, REAP_TIME);
}

/**
 * sroce_ringmem_exit() - free what user space still maps, when the module is unloaded
 *
 * The pages are freed when they are unmapped.
 */
void sroce_ringmem_exit(void)
{
	struct sroce_user *user, *next;
	LIST_HEAD(rings);

	cancel_delayed_work_sync(&reap_work);
	list_for_each_entry_safe(user, next, &mappers, mappers)
		list_splice_tail(&user->mapped, &rings);
	free_all(&rings);
}

static void ringmem_free(struct sroce_ringmem *mem)
{
	sroce_live_dec();
	if (mem->user && is_mapped(mem))
		keep_mapped(mem);
	else
		free_now(mem);
}

/*
 * A user without a share left looks itself for what it has unmapped since, at each of its
 * rings at most once. The lock is taken at least once, as the worker may be about to find all.
 */
static int charge(struct sroce_user *user, size_t bytes)
{
	int ret = sroce_user_charge(user, bytes);
	u32 n;

	if (!ret || !user)
		return ret;
	for (n = READ_ONCE(user->n_mapped) / REAP_BATCH + 1; ret && n; n--) {
		if (fatal_signal_pending(current))
			break;
		reap(user);
		ret = sroce_user_charge(user, bytes);
	}
	return ret;
}

/**
 * sroce_ringmem_create() - allocate memory for a ring
 * @uc: user context that will map the ring, NULL for a kernel ring
 * @ring: private view of the ring, initialized here
 * @slots: number of slots, a power of two
 * @elem: bytes per slot, a power of two
 *
 * Return: the memory, or an error pointer: -ENOMEM also if the user has its share.
 */
struct sroce_ringmem *sroce_ringmem_create(struct ib_ucontext *uc,
					   struct sroce_ring *ring, u32 slots, u32 elem)
{
	struct sroce_ringmem *mem;
	int ret;

	mem = kzalloc(sizeof(*mem), GFP_KERNEL_ACCOUNT);
	if (!mem)
		return ERR_PTR(-ENOMEM);
	mem->size = PAGE_ALIGN(sizeof(struct sroce_abi_ring) +
			       (size_t)slots * elem);
	mem->owner = sroce_uc_user(uc);
	ret = charge(mem->owner, mem->size);
	if (ret)
		goto err_free;
	ret = -ENOMEM;
	mem->buf = alloc_pages_mapped(mem->size);
	if (!mem->buf)
		goto err_uncharge;
	sroce_live_inc();
	if (uc) {
		ret = rdma_user_mmap_entry_insert(uc, &mem->entry, mem->size);
		if (ret) {
			ringmem_free(mem);
			return ERR_PTR(ret);
		}
		mem->user = true;
	}
	ring->buf = mem->buf;
	ring->mask = slots - 1;
	ring->shift = ilog2(elem);
	ring->own = 0;
	ring->buf->log2_elem_size = ring->shift;
	ring->buf->index_mask = ring->mask;
	return mem;

err_uncharge:
	sroce_user_uncharge(mem->owner, mem->size);
err_free:
	kfree(mem);
	return ERR_PTR(ret);
}

/**
 * sroce_ringmem_destroy() - free the memory of a ring
 * @mem: the memory, or NULL; what user space has mapped stays until it unmaps it
 */
void sroce_ringmem_destroy(struct sroce_ringmem *mem)
{
	if (!mem)
		return;
	if (mem->user)
		rdma_user_mmap_entry_remove(&mem->entry);
	else
		ringmem_free(mem);
}

/**
 * sroce_ringmem_describe() - get mmap offset and size of a ring
 * @mem: the memory
 * @mi: filled in
 */
void sroce_ringmem_describe(const struct sroce_ringmem *mem, struct sroce_abi_mmap *mi)
{
	mi->offset = rdma_user_mmap_get_offset(&mem->entry);
	mi->size = mem->size;
	mi->pad = 0;
}

/**
 * sroce_ringmem_mmap() - map a ring into user space (ib_device_ops.mmap)
 * @uc: user context
 * @vma: the mapping; its offset is that of sroce_ringmem_describe()
 *
 * Return: 0, or -EINVAL if no ring has this offset and size.
 */
int sroce_ringmem_mmap(struct ib_ucontext *uc, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	int ret;

	entry = rdma_user_mmap_entry_get(uc, vma);
	if (!entry)
		return -EINVAL;
	ret = remap_vmalloc_range(vma, to_ringmem(entry)->buf, 0);
	rdma_user_mmap_entry_put(entry);
	return ret;
}

/**
 * sroce_ringmem_mmap_free() - free a ring after its last unmap (ib_device_ops.mmap_free)
 * @entry: the mmap entry of the ring
 */
void sroce_ringmem_mmap_free(struct rdma_user_mmap_entry *entry)
{
	ringmem_free(to_ringmem(entry));
}
