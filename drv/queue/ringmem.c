// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory of rings: pages charged to the process that asked, mapped into the
 * kernel, and into user space at an offset that the provider is told.
 */

#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>
#include "drv/dev.h"

static struct sroce_ringmem *to_map(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct sroce_ringmem, entry);
}

/*
 * vfree() gives back the pages and their array (VM_MAP_PUT_PAGES). A process
 * that the OOM killer has chosen may use the last reserves: it gets no ring.
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
				      __GFP_NOWARN);
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

static void map_free(struct sroce_ringmem *map)
{
	vfree(map->buf);
	kfree(map);
	sroce_live_dec();
}

/**
 * sroce_ringmem_create() - memory for a ring
 * @uc: user context to map it in, NULL for a kernel ring
 * @ring: its private view, set up here
 * @slots: number of slots, a power of two
 * @elem: bytes per slot, a power of two
 *
 * Return: the memory or an ERR_PTR().
 */
struct sroce_ringmem *sroce_ringmem_create(struct ib_ucontext *uc,
				   struct sroce_ring *ring, u32 slots, u32 elem)
{
	struct sroce_ringmem *map;
	int ret;

	map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);
	if (!map)
		return ERR_PTR(-ENOMEM);
	map->size = PAGE_ALIGN(sizeof(struct sroce_abi_ring) +
			       (size_t)slots * elem);
	map->buf = alloc_pages_mapped(map->size);
	if (!map->buf) {
		kfree(map);
		return ERR_PTR(-ENOMEM);
	}
	sroce_live_inc();
	if (uc) {
		ret = rdma_user_mmap_entry_insert(uc, &map->entry, map->size);
		if (ret) {
			map_free(map);
			return ERR_PTR(ret);
		}
		map->user = true;
	}
	ring->buf = map->buf;
	ring->mask = slots - 1;
	ring->shift = ilog2(elem);
	ring->own = 0;
	ring->buf->log2_elem_size = ring->shift;
	ring->buf->index_mask = ring->mask;
	return map;
}

/**
 * sroce_ringmem_destroy() - give up the memory of a ring
 * @map: the memory, or NULL; what user space has mapped lives on
 */
void sroce_ringmem_destroy(struct sroce_ringmem *map)
{
	if (!map)
		return;
	if (map->user)
		rdma_user_mmap_entry_remove(&map->entry);
	else
		map_free(map);
}

/**
 * sroce_ringmem_describe() - tell the provider where to map a ring
 * @map: the memory
 * @mi: filled in
 */
void sroce_ringmem_describe(const struct sroce_ringmem *map, struct sroce_abi_mmap *mi)
{
	mi->offset = rdma_user_mmap_get_offset(&map->entry);
	mi->size = map->size;
	mi->pad = 0;
}

/**
 * sroce_ringmem_mmap() - map a ring into user space
 * @uc: the user's context
 * @vma: where
 */
int sroce_ringmem_mmap(struct ib_ucontext *uc, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry;
	int ret;

	entry = rdma_user_mmap_entry_get(uc, vma);
	if (!entry)
		return -EINVAL;
	ret = remap_vmalloc_range(vma, to_map(entry)->buf, 0);
	rdma_user_mmap_entry_put(entry);
	return ret;
}

/**
 * sroce_ringmem_mmap_free() - the last user of an mmap entry is gone
 * @entry: the entry
 */
void sroce_ringmem_mmap_free(struct rdma_user_mmap_entry *entry)
{
	map_free(to_map(entry));
}
