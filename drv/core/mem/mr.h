/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory regions and windows. A lookup by key takes a reference, which lasts for a trip.
 * A region or window changes in state SROCE_MR_BUSY only, when no such reference is left.
 */
#ifndef SROCE_MR_H
#define SROCE_MR_H

#include <rdma/ib_verbs.h>
#include <linux/atomic.h>
#include <linux/refcount.h>
#include <linux/completion.h>

struct sroce_dev;
struct sroce_odp;
struct sroce_user;
struct sroce_qp;
struct ib_umem;
struct sroce_dmabuf;

/**
 * struct sroce_extent - contiguous memory within a region
 * @off: offset in the region, in bytes
 * @addr: kernel address
 */
struct sroce_extent {
	u64	off;
	u8	*addr;
};

/**
 * enum sroce_mr_kind - what a key refers to
 * @SROCE_MR_PLAIN: a region registered by a verb: memory of a process, or all memory
 * @SROCE_MR_FAST: a fast region, registered by work requests
 * @SROCE_MW_1: a type 1 window, for all QPs of its PD
 * @SROCE_MW_2: a type 2B window, for the QP that bound it
 */
enum sroce_mr_kind {
	SROCE_MR_PLAIN,
	SROCE_MR_FAST,
	SROCE_MW_1,
	SROCE_MW_2,
};

/**
 * enum sroce_mr_state - whether the key of a region or window is valid
 * @SROCE_MR_VALID: it is
 * @SROCE_MR_FREE: not registered or bound, or invalidated
 * @SROCE_MR_BUSY: claimed, see sroce_mr_claim()
 */
enum sroce_mr_state {
	SROCE_MR_VALID,
	SROCE_MR_FREE,
	SROCE_MR_BUSY,
};

/**
 * struct sroce_mr - a memory region, or a memory window
 * @ibmr: the RDMA core's view of a region; lkey and rkey are equal
 * @pd: protection domain
 * @dev: device it was registered on
 * @owner: user that it is counted for, NULL for a kernel user
 * @ref: one reference for the registration and one for each trip that uses the region
 * @unused: completed when @ref drops to 0
 * @users: on real-time kernels, held for reading by those who use a window or fast region
 * @kind: kind of region or window
 * @state: enum sroce_mr_state; the members below change in SROCE_MR_BUSY only, after all
 *	users have left
 * @key: the L_Key and R_Key, valid in SROCE_MR_VALID
 * @iova: address of the first byte, as consumers see it
 * @length: bytes
 * @access: enum ib_access_flags
 * @windows: number of windows bound to this region, which must not change or go meanwhile
 * @parent: window: the region it is bound to
 * @base: window: address of its first byte in @parent
 * @qpn: SROCE_MW_2: number of the QP that bound it
 * @dma_all: a DMA region: all memory, by kernel address
 * @odp: region on demand: its pages, instead of the members below
 * @umem: pinned pages of a process
 * @dmabuf: or memory of another driver
 * @dmabuf_free: releases @dmabuf
 * @nr: length of @ext
 * @ext: the extents, ascending, without holes
 * @next_nr: SROCE_MR_FAST: length of @next
 * @next: SROCE_MR_FAST: extents that the next registration copies to @ext
 * @pages: SROCE_MR_FAST: number of pages that @next consists of
 * @max_pages: SROCE_MR_FAST: upper bound of @pages
 * @rcu: frees the structure after the last lookup
 */
struct sroce_mr {
	struct ib_mr		ibmr;
	struct ib_pd		*pd;
	struct sroce_dev	*dev;
	struct sroce_user	*owner;
	refcount_t		ref;
	struct completion	unused;
#ifdef CONFIG_PREEMPT_RT
	rwlock_t		users;
#endif
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
	void			(*dmabuf_free)(struct sroce_dmabuf *dmabuf);
	u32			nr;
	struct sroce_extent	*ext;
	u32			next_nr;
	struct sroce_extent	*next;
	u32			pages;
	u32			max_pages;
	struct rcu_head		rcu;
};

/* A key consists of an index (24 bits) and a tag (8 bits), which changes on reuse. */
static inline u32 sroce_key_index(u32 key)
{
	return key >> 8;
}

static inline struct sroce_mr *to_smr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct sroce_mr, ibmr);
}

static inline bool sroce_mr_is_window(const struct sroce_mr *mr)
{
	return mr->kind >= SROCE_MW_1;
}

/* Access flags of FLUSH, which kernels before 6.2 do not define */
#define SROCE_ACCESS_FLUSH_GLOBAL	BIT(8)
#define SROCE_ACCESS_FLUSH_PERSISTENT	BIT(9)

/* Called for contiguous memory; a non-zero return ends the walk. */
typedef int (*sroce_span_fn)(void *span, u32 len, void *arg);

/* Most bytes that a fault request includes because they will be needed soon */
#define SROCE_PAGES_AHEAD	(2U << 20)

void sroce_mr_put_last(struct sroce_qp *qp);
struct sroce_mr *sroce_mr_by_lkey(struct sroce_qp *qp, const struct ib_pd *pd, u32 lkey,
				  int access);
struct sroce_mr *sroce_mr_by_rkey_whole(struct sroce_qp *qp, u32 rkey, int access);
struct sroce_mr *sroce_mr_by_rkey(struct sroce_qp *qp, u32 rkey, u64 va, u64 len,
				  int access);
bool sroce_mr_covers(const struct sroce_mr *mr, u64 iova, u64 len);
void *sroce_mr_span(const struct sroce_mr *mr, u64 iova, u32 *len);
int sroce_mr_copy_from(void *span, u32 len, void *arg);
int sroce_mr_copy_to(void *span, u32 len, void *arg);
void *sroce_mr_flat(const struct sroce_mr *mr, u64 iova, u32 len);
int sroce_mr_walk(const struct sroce_mr *mr, u64 iova, u32 len, bool write,
		  sroce_span_fn fn, void *arg);
int sroce_mr_fault_in(struct sroce_qp *qp, struct sroce_mr *mr, u64 iova, u32 need,
		      u64 len, bool write);
bool sroce_mr_claim(struct sroce_mr *mr, enum sroce_mr_state from);
void sroce_mr_release(struct sroce_mr *mr, enum sroce_mr_state to);
void sroce_mr_unbind(struct sroce_mr *mw);

#endif /* SROCE_MR_H */
