/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory of rings. */
#ifndef SROCE_QUEUE_RINGMEM_H
#define SROCE_QUEUE_RINGMEM_H

#include <rdma/ib_verbs.h>
#include "drv/core/mem/ring.h"
#include "drv/lookup/user.h"

struct sroce_abi_mmap;
struct vm_area_struct;

/**
 * struct sroce_ringmem - memory of a ring
 * @entry: mmap entry of a user ring
 * @buf: kernel address of the memory
 * @size: bytes, whole pages
 * @owner: user that @size is charged to, or NULL
 * @user: it is a user ring, and @entry is in use
 * @list: entry in the owner's list of destroyed rings that user space still maps
 * @unmapped: number of pages at the start of those that it does not map any more
 */
struct sroce_ringmem {
	struct rdma_user_mmap_entry	entry;
	void				*buf;
	size_t				size;
	struct sroce_user		*owner;
	bool				user;
	struct list_head		list;
	u32				unmapped;
};

struct sroce_ringmem *sroce_ringmem_create(struct ib_ucontext *uc,
					   struct sroce_ring *ring, u32 slots,
					   u32 elem);
void sroce_ringmem_destroy(struct sroce_ringmem *mem);
void sroce_ringmem_describe(const struct sroce_ringmem *mem, struct sroce_abi_mmap *mi);
int sroce_ringmem_mmap(struct ib_ucontext *uc, struct vm_area_struct *vma);
void sroce_ringmem_mmap_free(struct rdma_user_mmap_entry *entry);
void sroce_ringmem_exit(void);

#endif /* SROCE_QUEUE_RINGMEM_H */
