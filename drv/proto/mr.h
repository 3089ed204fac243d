/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory regions: what a key names, and the checks before a byte moves. */
#ifndef SROCE_MR_H
#define SROCE_MR_H

#include <rdma/ib_verbs.h>
#include <linux/refcount.h>
#include <linux/completion.h>

struct sroce_dev;
struct sroce_qp;
struct ib_umem;

/**
 * struct sroce_extent - contiguous memory within a region
 * @off: where it starts, in bytes from the start of the region
 * @addr: its kernel address
 */
struct sroce_extent {
	u64	off;
	u8	*addr;
};

/**
 * struct sroce_mr - a memory region
 * @ibmr: the core's view; lkey and rkey are equal
 * @dev: device it was registered on
 * @ref: the registration, and each burst that is using the region
 * @unused: completed when @ref drops to 0
 * @umem: the pinned pages, NULL for a DMA region
 * @iova: address of the first byte, as users name it
 * @length: bytes
 * @access: enum ib_access_flags
 * @all: a DMA region: all of memory by kernel address
 * @nr: number of extents
 * @ext: the extents, ascending, without holes
 * @rcu: frees the structure after the last lookup
 */
struct sroce_mr {
	struct ib_mr		ibmr;
	struct sroce_dev	*dev;
	refcount_t		ref;
	struct completion	unused;
	struct ib_umem		*umem;
	u64			iova;
	u64			length;
	int			access;
	bool			all;
	u32			nr;
	struct sroce_extent	*ext;
	struct rcu_head		rcu;
};

enum sroce_copy_dir {
	SROCE_FROM_MR,
	SROCE_TO_MR,
};

bool sroce_mr_covers(const struct sroce_mr *mr, u64 iova, u64 len);
void *sroce_mr_span(const struct sroce_mr *mr, u64 iova, u32 *len);

/* Where the bytes come from or go to on the other side of a copy. */
typedef int (*sroce_span_fn)(void *span, u32 len, void *arg);
int sroce_mr_walk(const struct sroce_mr *mr, u64 iova, u32 len,
		  sroce_span_fn fn, void *arg);

#endif /* SROCE_MR_H */
