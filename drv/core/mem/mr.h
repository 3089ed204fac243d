/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory regions: what a key names, and the checks before a byte moves. */
#ifndef SROCE_MR_H
#define SROCE_MR_H

#include <rdma/ib_verbs.h>
#include <linux/atomic.h>
#include <linux/refcount.h>
#include <linux/completion.h>

struct sroce_dev;
struct sroce_odp;
struct sroce_qp;
struct ib_umem;
struct sroce_dmabuf;

/**
 * struct sroce_extent - contiguous memory within a region
 * @off: where it starts, in bytes from the start of the region
 * @addr: its kernel address
 */
struct sroce_extent {
	u64	off;
	u8	*addr;
};

/* What a key may name */
enum sroce_mr_kind {
	SROCE_MR_PLAIN,		/* a region: a process's memory, or all of it */
	SROCE_MR_FAST,		/* a region that work requests register */
	SROCE_MW_1,		/* a window, for all QPs of its PD */
	SROCE_MW_2,		/* a window, for the QP that bound it (type 2B) */
};

/* Whether the key of a region or window works */
enum sroce_mr_state {
	SROCE_MR_VALID,
	SROCE_MR_FREE,		/* not registered or bound, or not any more */
	SROCE_MR_BUSY,		/* somebody is changing it */
};

/**
 * struct sroce_mr - a memory region, or a window onto one
 * @ibmr: the core's view of a region; lkey and rkey are equal
 * @pd: its protection domain
 * @dev: device it was registered on
 * @ref: the registration, and each burst that is using the region
 * @unused: completed when @ref drops to 0
 * @kind: what it is
 * @state: enum sroce_mr_state; what follows only changes in SROCE_MR_BUSY,
 *	after all that held it before have let go
 * @key: the key that works in SROCE_MR_VALID
 * @iova: address of the first byte, as users name it
 * @length: bytes
 * @access: enum ib_access_flags
 * @windows: bound onto this region, which must stay as it is meanwhile
 * @parent: window: the region it is bound onto
 * @base: window: address of its first byte in @parent
 * @qpn: SROCE_MW_2: number of the QP that bound it
 * @dma_all: a DMA region: all of memory by kernel address
 * @odp: pages that come when they are needed, instead of all that follows
 * @umem: the pinned pages of a process
 * @dmabuf: or the memory of another driver
 * @nr: number of extents
 * @ext: the extents, ascending, without holes
 * @next_nr: SROCE_MR_FAST: number of extents at the next registration
 * @next: SROCE_MR_FAST: those extents, which a registration copies
 * @pages: SROCE_MR_FAST: how many they are made of
 * @max_pages: SROCE_MR_FAST: most of them
 * @rcu: frees the structure after the last lookup
 */
struct sroce_mr {
	struct ib_mr		ibmr;
	struct ib_pd		*pd;
	struct sroce_dev	*dev;
	refcount_t		ref;
	struct completion	unused;
	enum sroce_mr_kind	kind;
	u32			state;
	u32			key;
	u64			iova;
	u64			length;
	int			access;
	atomic_t		windows;
	struct sroce_mr		*parent;
	u64			base;
	u32			qpn;
	bool			dma_all;
	struct sroce_odp	*odp;
	struct ib_umem		*umem;
	struct sroce_dmabuf	*dmabuf;
	u32			nr;
	struct sroce_extent	*ext;
	u32			next_nr;
	struct sroce_extent	*next;
	u32			pages;
	u32			max_pages;
	struct rcu_head		rcu;
};

/* A key is an index (24 bits) and a tag (8 bits) that makes it stale soon. */
static inline u32 sroce_key_index(u32 key)
{
	return key >> 8;
}

static inline bool sroce_mr_is_window(const struct sroce_mr *mr)
{
	return mr->kind >= SROCE_MW_1;
}

/* Rights to FLUSH, which kernels before 6.2 have no names for */
#define SROCE_ACCESS_FLUSH_GLOBAL	BIT(8)
#define SROCE_ACCESS_FLUSH_PERSISTENT	BIT(9)

void sroce_mr_put_last(struct sroce_qp *qp);
struct sroce_mr *sroce_mr_local(struct sroce_qp *qp, u32 lkey, int access);
struct sroce_mr *sroce_mr_remote(struct sroce_qp *qp, u32 rkey, u64 va, u64 len,
				 int access);
struct sroce_mr *sroce_mr_remote_whole(struct sroce_qp *qp, u32 rkey, int access);
bool sroce_mr_covers(const struct sroce_mr *mr, u64 iova, u64 len);
void *sroce_mr_span(const struct sroce_mr *mr, u64 iova, u32 *len);

/* Where the bytes come from or go to on the other side of a copy. */
typedef int (*sroce_span_fn)(void *span, u32 len, void *arg);
int sroce_mr_copy_from(void *span, u32 len, void *arg);
int sroce_mr_copy_to(void *span, u32 len, void *arg);
int sroce_mr_walk(const struct sroce_mr *mr, u64 iova, u32 len, bool write,
		  sroce_span_fn fn, void *arg);

/* Most bytes that are brought since they will be needed soon */
#define SROCE_PAGES_AHEAD	(2U << 20)

int sroce_mr_fault_in(struct sroce_qp *qp, struct sroce_mr *mr, u64 iova, u32 need,
		  u64 len, bool write);

#endif /* SROCE_MR_H */
