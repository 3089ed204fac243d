// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory, what is in it, and its registration by work requests. */

#include <linux/module.h>
#include <linux/slab.h>
#include "kverbs.h"

/* What is around the bytes of a region, and must stay */
#define MARGIN	0xa5

static void undo_buf(void *arg)
{
	kvfree(arg);
}

/**
 * kv_buf() - memory that is one piece, for local_dma_lkey
 * @kv: the run
 * @len: bytes
 */
void *kv_buf(struct kv *kv, u32 len)
{
	void *buf = kzalloc(len, GFP_KERNEL);

	if (!buf) {
		KV_FAIL(kv, "no memory");
		return NULL;
	}
	kv_later_mem(kv, undo_buf, buf);
	return buf;
}

/* Longer lists name the same pages again, and again; a prime, so that no stride meets few. */
#define DISTINCT_MAX	4093

struct pages {
	struct sg_table		sgt;
	struct ib_device	*dev;
	u32			n;
	struct page		*page[];
};

static void undo_pages(void *arg)
{
	struct pages *p = arg;
	u32 i;

	if (p->sgt.sgl) {
		ib_dma_unmap_sg(p->dev, p->sgt.sgl, p->sgt.orig_nents,
				DMA_BIDIRECTIONAL);
		sg_free_table(&p->sgt);
	}
	for (i = 0; i < p->n; i++)
		__free_page(p->page[i]);
	kvfree(p);
}

/* Every other page stays out, so that few are neighbours in memory. */
static struct pages *alloc_apart(u32 n)
{
	struct pages *p = kvzalloc(struct_size(p, page, n), GFP_KERNEL);
	struct page *gap = NULL;

	if (!p)
		return NULL;
	for (; p->n < n; p->n++) {
		p->page[p->n] = alloc_page(GFP_KERNEL);
		if (!p->page[p->n])
			break;
		memset(page_address(p->page[p->n]), MARGIN, PAGE_SIZE);
		if (gap)
			__free_page(gap);
		gap = alloc_page(GFP_KERNEL);
	}
	if (gap)
		__free_page(gap);
	if (p->n == n)
		return p;
	undo_pages(p);
	return NULL;
}

/**
 * kv_pages() - scattered pages, mapped; of more than some thousand not all are distinct
 * @kv: the run
 * @q: for whose device
 * @pages: how many
 * @skip: bytes left out at the beginning of the first
 * @cut: bytes left out at the end of the last
 */
struct sg_table *kv_pages(struct kv *kv, struct kv_qp *q, u32 pages, u32 skip,
			  u32 cut)
{
	struct pages *p = alloc_apart(min_t(u32, pages, DISTINCT_MAX));
	struct scatterlist *sg;
	u32 i;

	if (!p || kv_later_mem(kv, undo_pages, p)) {
		KV_FAIL(kv, "no memory");
		return NULL;
	}
	p->dev = q->dev;
	if (sg_alloc_table(&p->sgt, pages, GFP_KERNEL)) {
		KV_FAIL(kv, "no memory");
		return NULL;
	}
	for_each_sgtable_sg(&p->sgt, sg, i) {
		u32 from = i ? 0 : skip;
		u32 to = PAGE_SIZE - (i + 1 == pages ? cut : 0);

		sg_set_page(sg, p->page[i % p->n], to - from, from);
	}
	p->sgt.nents = ib_dma_map_sg(q->dev, p->sgt.sgl, pages,
				     DMA_BIDIRECTIONAL);
	if (p->sgt.nents != pages) {
		KV_FAIL(kv, "ib_dma_map_sg: %u", p->sgt.nents);
		return NULL;
	}
	return &p->sgt;
}

/**
 * kv_sg_len() - bytes of scattered memory
 * @sgt: the memory
 */
u32 kv_sg_len(const struct sg_table *sgt)
{
	struct scatterlist *sg;
	u32 i, len = 0;

	for_each_sgtable_sg(sgt, sg, i)
		len += sg->length;
	return len;
}

static u8 byte_at(u32 i, u32 seed)
{
	return i * 7 + (i >> 8) * 13 + (i >> 16) + seed * 31;
}

/**
 * kv_fill() - fill memory with what can be told from all else
 * @buf: the memory
 * @len: bytes
 * @seed: what it is to be told from
 */
void kv_fill(void *buf, u32 len, u32 seed)
{
	u8 *b = buf;
	u32 i;

	for (i = 0; i < len; i++)
		b[i] = byte_at(i, seed);
}

/**
 * kv_same() - whether memory is as kv_fill() leaves it
 * @kv: the run
 * @buf: the memory
 * @len: bytes
 * @seed: as it was
 */
int kv_same(struct kv *kv, const void *buf, u32 len, u32 seed)
{
	const u8 *b = buf;
	u32 i;

	for (i = 0; i < len; i++)
		if (b[i] != byte_at(i, seed))
			return KV_FAIL(kv, "byte %u of %u is 0x%02x, not 0x%02x",
				       i, len, b[i], byte_at(i, seed));
	return 0;
}

/**
 * kv_sg_fill() - kv_fill() for scattered memory
 * @sgt: the memory
 * @seed: what it is to be told from
 */
void kv_sg_fill(struct sg_table *sgt, u32 seed)
{
	struct scatterlist *sg;
	u32 i, n, at = 0;

	for_each_sgtable_sg(sgt, sg, i) {
		u8 *b = sg_virt(sg);

		for (n = 0; n < sg->length; n++)
			b[n] = byte_at(at++, seed);
	}
}

/**
 * kv_sg_same() - kv_same() for scattered memory
 * @kv: the run
 * @sgt: the memory
 * @seed: as it was
 */
int kv_sg_same(struct kv *kv, struct sg_table *sgt, u32 seed)
{
	struct scatterlist *sg;
	u32 i, n, at = 0;

	for_each_sgtable_sg(sgt, sg, i) {
		const u8 *b = sg_virt(sg);

		for (n = 0; n < sg->length; n++, at++)
			if (b[n] != byte_at(at, seed))
				return KV_FAIL(kv,
					       "byte %u is 0x%02x, not 0x%02x",
					       at, b[n], byte_at(at, seed));
	}
	return 0;
}

/**
 * kv_sg_margins() - whether what is around the bytes is as it was
 * @kv: the run
 * @sgt: the memory
 */
int kv_sg_margins(struct kv *kv, struct sg_table *sgt)
{
	struct scatterlist *sg;
	u32 i, n;

	for_each_sgtable_sg(sgt, sg, i) {
		const u8 *page = page_address(sg_page(sg));

		for (n = 0; sg->length < PAGE_SIZE && n < PAGE_SIZE; n++) {
			if (n >= sg->offset && n < sg->offset + sg->length)
				continue;
			KV_EXPECT(kv, page[n] == MARGIN,
				  "byte %u of page %u was written", n, i);
		}
	}
	return 0;
}

static void undo_mr(void *arg)
{
	ib_dereg_mr(arg);
}

/**
 * kv_mr() - a region to be registered by work requests
 * @kv: the run
 * @q: for whose protection domain
 * @type: IB_MR_TYPE_MEM_REG or IB_MR_TYPE_SG_GAPS
 * @pages: most of them
 */
struct ib_mr *kv_mr(struct kv *kv, struct kv_qp *q, enum ib_mr_type type,
		    u32 pages)
{
	struct ib_mr *mr = ib_alloc_mr(q->pd, type, pages);

	if (IS_ERR(mr)) {
		KV_FAIL(kv, "ib_alloc_mr: %ld", PTR_ERR(mr));
		return NULL;
	}
	kv_later(kv, undo_mr, mr);
	return mr;
}

/**
 * kv_map() - have a region's next registration name all of some memory
 * @kv: the run
 * @mr: the region
 * @sgt: the memory
 * @page_size: of the region
 */
int kv_map(struct kv *kv, struct ib_mr *mr, struct sg_table *sgt, u32 page_size)
{
	KV_IS(kv, ib_map_mr_sg(mr, sgt->sgl, sgt->nents, NULL, page_size),
	      sgt->nents);
	KV_IS(kv, mr->length, kv_sg_len(sgt));
	KV_IS(kv, mr->iova, sg_dma_address(sgt->sgl));
	return 0;
}

/**
 * kv_reg() - register a region by a work request, and wait for it
 * @kv: the run
 * @q: the QP
 * @mr: the region, mapped
 * @access: its rights
 *
 * Return: the status, or a negative error.
 */
int kv_reg(struct kv *kv, struct kv_qp *q, struct ib_mr *mr, int access)
{
	struct ib_reg_wr wr = {
		.wr.wr_id = 0x4e9,
		.wr.opcode = IB_WR_REG_MR,
		.wr.send_flags = IB_SEND_SIGNALED,
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};

	return kv_do(kv, q, &wr.wr);
}

/**
 * kv_inval() - invalidate a key by a work request, and wait for it
 * @kv: the run
 * @q: the QP
 * @key: the key
 *
 * Return: the status, or a negative error.
 */
int kv_inval(struct kv *kv, struct kv_qp *q, u32 key)
{
	struct ib_send_wr wr = {
		.wr_id = 0x10c,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = key,
	};

	return kv_do(kv, q, &wr);
}

/**
 * kv_mapped() - pages, and a region that is ready to be registered
 * @kv: the run
 * @q: the QP
 * @pages: how many
 * @skip: bytes left out at the beginning of the first
 * @cut: bytes left out at the end of the last
 * @mr: set to the region
 * @sgt: set to the pages, which are filled with seed 0
 */
int kv_mapped(struct kv *kv, struct kv_qp *q, u32 pages, u32 skip, u32 cut,
	      struct ib_mr **mr, struct sg_table **sgt)
{
	KV_GET(*sgt, kv_pages(kv, q, pages, skip, cut));
	KV_GET(*mr, kv_mr(kv, q, IB_MR_TYPE_MEM_REG, pages));
	kv_sg_fill(*sgt, 0);
	return kv_map(kv, *mr, *sgt, PAGE_SIZE);
}

/**
 * kv_region() - pages, registered by a work request
 * @kv: the run
 * @q: the QP
 * @pages: how many
 * @skip: bytes left out at the beginning of the first
 * @cut: bytes left out at the end of the last
 * @access: the region's rights
 * @mr: set to the region
 * @sgt: set to the pages, which are filled with seed 0
 */
int kv_region(struct kv *kv, struct kv_qp *q, u32 pages, u32 skip, u32 cut,
	      int access, struct ib_mr **mr, struct sg_table **sgt)
{
	KV_TRY(kv_mapped(kv, q, pages, skip, cut, mr, sgt));
	KV_IS(kv, kv_reg(kv, q, *mr, access), IB_WC_SUCCESS);
	return 0;
}

/**
 * kv_target_mapped() - two connected QPs, and a region of the second, not yet
 * registered
 * @kv: the run
 * @t: filled in
 * @pages: how many
 * @skip: bytes left out at the beginning of the first
 * @cut: bytes left out at the end of the last
 */
int kv_target_mapped(struct kv *kv, struct kv_target *t, u32 pages, u32 skip,
		     u32 cut)
{
	KV_TRY(kv_pair(kv, NULL, &t->a, &t->b));
	return kv_mapped(kv, t->b, pages, skip, cut, &t->mr, &t->sgt);
}

/**
 * kv_target() - two connected QPs, and a registered region of the second
 * @kv: the run
 * @t: filled in
 * @pages: how many
 * @skip: bytes left out at the beginning of the first
 * @cut: bytes left out at the end of the last
 * @access: the region's rights
 */
int kv_target(struct kv *kv, struct kv_target *t, u32 pages, u32 skip, u32 cut,
	      int access)
{
	KV_TRY(kv_target_mapped(kv, t, pages, skip, cut));
	KV_IS(kv, kv_reg(kv, t->b, t->mr, access), IB_WC_SUCCESS);
	return 0;
}
