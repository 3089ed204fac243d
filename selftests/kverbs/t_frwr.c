// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Fast registration: what a region names after REG_MR, and who may use it. */

#include <linux/module.h>
#include <linux/slab.h>
#include "kverbs.h"

#define WRITE_INTO	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE)
#define READ_FROM	IB_ACCESS_REMOTE_READ

/* All of it is written, and read back, by a peer. */
static int write_and_read(struct kv *kv, struct kv_target *t,
			  struct sg_table *sgt, u64 iova)
{
	u32 rkey = t->mr->rkey;
	u32 len = kv_sg_len(sgt);
	void *out, *in;

	KV_GET(out, kv_buf(kv, len));
	KV_GET(in, kv_buf(kv, len));
	kv_fill(out, len, 1);
	KV_IS(kv, kv_rdma(kv, t->a, IB_WR_RDMA_WRITE, out, len, iova, rkey),
	      IB_WC_SUCCESS);
	KV_IS(kv, kv_rdma(kv, t->a, IB_WR_RDMA_READ, in, len, iova, rkey),
	      IB_WC_SUCCESS);
	KV_TRY(kv_same(kv, in, len, 1));
	KV_TRY(kv_sg_same(kv, sgt, 1));
	return kv_sg_margins(kv, sgt);
}

static int whole(struct kv *kv, u32 pages, u32 skip, u32 cut)
{
	struct kv_target t;

	KV_TRY(kv_target(kv, &t, pages, skip, cut, KV_ALL_RIGHTS));
	return write_and_read(kv, &t, t.sgt, t.mr->iova);
}

static int one_page(struct kv *kv)
{
	return whole(kv, 1, 0, 0);
}

static int odd_ends(struct kv *kv)
{
	return whole(kv, 5, 37, 1001);
}

static int odd_within_a_page(struct kv *kv)
{
	return whole(kv, 1, 1233, 777);
}

static int pages_256(struct kv *kv)
{
	KV_EXPECT(kv, kv->dev[1]->attrs.max_fast_reg_page_list_len >= 256,
		  "it is %u", kv->dev[1]->attrs.max_fast_reg_page_list_len);
	return whole(kv, 256, 3, 5);
}

/*
 * As SMC-R registers its largest buffer, of 512 MiB. The peer's own buffer would be too large for
 * one piece of memory.
 */
static int pages_most(struct kv *kv)
{
	u32 n, len, most = kv->dev[1]->attrs.max_fast_reg_page_list_len;
	struct kv_target t;
	void *buf;
	u64 at;

	KV_EXPECT(kv, most >= 512 << (20 - PAGE_SHIFT), "it is %u", most);
	KV_TRY(kv_pair(kv, NULL, &t.a, &t.b));
	KV_GET(t.sgt, kv_pages(kv, t.b, most, 8, 8));
	KV_GET(t.mr, kv_mr(kv, t.b, IB_MR_TYPE_MEM_REG, most));
	KV_TRY(kv_map(kv, t.mr, t.sgt, PAGE_SIZE));
	KV_IS(kv, kv_reg(kv, t.b, t.mr, KV_ALL_RIGHTS), IB_WC_SUCCESS);
	len = kv_sg_len(t.sgt);
	KV_GET(buf, kv_buf(kv, PAGE_SIZE));
	for (n = 0; n < 32; n++) {
		/* across two pages, all over it, and its end */
		at = n == 31 ? len - PAGE_SIZE :
			       (u64)n * (most / 32) * PAGE_SIZE + 4001;
		kv_fill(buf, PAGE_SIZE, n);
		KV_IS(kv, kv_rdma(kv, t.a, IB_WR_RDMA_WRITE, buf, PAGE_SIZE,
				  t.mr->iova + at, t.mr->rkey), IB_WC_SUCCESS);
		memset(buf, 0, PAGE_SIZE);
		sg_pcopy_to_buffer(t.sgt->sgl, t.sgt->orig_nents, buf, PAGE_SIZE,
				   at);
		KV_TRY(kv_same(kv, buf, PAGE_SIZE, n));
	}
	return kv_sg_margins(kv, t.sgt);
}

static int too_many_pages(struct kv *kv)
{
	u32 most = kv->dev[0]->attrs.max_fast_reg_page_list_len;
	const struct kv_opts usual = {};
	struct sg_table *sgt;
	struct kv_qp *a;
	struct ib_mr *mr;

	KV_GET(a, kv_qp(kv, 0, &usual));
	mr = ib_alloc_mr(a->pd, IB_MR_TYPE_MEM_REG, most + 1);
	KV_EXPECT(kv, IS_ERR(mr), "%u pages of %u", most + 1, most);
	/* what does not fit is not taken, and said so */
	KV_GET(mr, kv_mr(kv, a, IB_MR_TYPE_MEM_REG, 3));
	KV_GET(sgt, kv_pages(kv, a, 5, 100, 0));
	KV_IS(kv, ib_map_mr_sg(mr, sgt->sgl, 5, NULL, PAGE_SIZE), 3);
	KV_IS(kv, mr->length, 3 * PAGE_SIZE - 100);
	return 0;
}

static int with_offset(struct kv *kv)
{
	unsigned int off = 2049;
	struct kv_qp *a, *b;
	struct sg_table *sgt;
	struct ib_mr *mr;
	u8 *buf;

	KV_TRY(kv_pair(kv, NULL, &a, &b));
	KV_GET(sgt, kv_pages(kv, b, 3, 11, 0));
	KV_GET(mr, kv_mr(kv, b, IB_MR_TYPE_MEM_REG, 3));
	kv_sg_fill(sgt, 0);
	KV_IS(kv, ib_map_mr_sg(mr, sgt->sgl, 3, &off, PAGE_SIZE), 3);
	KV_IS(kv, mr->iova, sg_dma_address(sgt->sgl) + 2049);
	KV_IS(kv, mr->length, kv_sg_len(sgt) - 2049);
	KV_IS(kv, kv_reg(kv, b, mr, KV_ALL_RIGHTS), IB_WC_SUCCESS);
	KV_GET(buf, kv_buf(kv, 2 * PAGE_SIZE));
	kv_fill(buf, 5000, 9);
	KV_IS(kv, kv_rdma(kv, a, IB_WR_RDMA_WRITE, buf, 5000, mr->iova,
			  mr->rkey), IB_WC_SUCCESS);
	memset(buf, 0, 5000);
	sg_pcopy_to_buffer(sgt->sgl, 3, buf, 5000, 2049);
	return kv_same(kv, buf, 5000, 9);
}

/* As NFS over RDMA does it: the upper half says which request it was. */
static int own_iova(struct kv *kv)
{
	struct kv_target t;

	KV_TRY(kv_target_mapped(kv, &t, 4, 513, 100));
	t.mr->iova = (t.mr->iova & 0xffffffff) | 0xc0ffee42ULL << 32;
	KV_IS(kv, kv_reg(kv, t.b, t.mr, KV_ALL_RIGHTS), IB_WC_SUCCESS);
	return write_and_read(kv, &t, t.sgt, t.mr->iova);
}

/* Pages of the region that are larger than those of the machine */
static int large_pages(struct kv *kv)
{
	const u32 size = 16 * PAGE_SIZE;
	struct scatterlist sg;
	struct kv_qp *a, *b;
	struct ib_mr *mr;
	u8 *buf, *to;

	KV_TRY(kv_pair(kv, NULL, &a, &b));
	KV_GET(to, kv_buf(kv, 2 * size));
	KV_GET(buf, kv_buf(kv, 2 * size));
	KV_GET(mr, kv_mr(kv, b, IB_MR_TYPE_MEM_REG, 3));
	sg_init_one(&sg, to + 100, 2 * size - 300);
	KV_IS(kv, ib_dma_map_sg(b->dev, &sg, 1, DMA_BIDIRECTIONAL), 1);
	KV_IS(kv, ib_map_mr_sg(mr, &sg, 1, NULL, size), 1);
	KV_IS(kv, mr->page_size, size);
	KV_IS(kv, kv_reg(kv, b, mr, KV_ALL_RIGHTS), IB_WC_SUCCESS);
	kv_fill(buf, mr->length, 4);
	KV_IS(kv, kv_rdma(kv, a, IB_WR_RDMA_WRITE, buf, mr->length, mr->iova,
			  mr->rkey), IB_WC_SUCCESS);
	KV_TRY(kv_same(kv, to + 100, mr->length, 4));
	KV_EXPECT(kv, !to[99] && !to[2 * size - 200], "around it");
	return 0;
}

/* The peer is refused, and its QP ends; ours hears of it. */
static int refused(struct kv *kv, struct kv_target *t, enum ib_wr_opcode op,
		   u64 addr, u32 rkey)
{
	void *buf;

	KV_GET(buf, kv_buf(kv, 64));
	KV_IS(kv, kv_rdma(kv, t->a, op, buf, 64, addr, rkey),
	      IB_WC_REM_ACCESS_ERR);
	KV_IS(kv, kv_state(t->a), IB_QPS_ERR);
	KV_TRY(kv_event(kv, t->b, IB_EVENT_QP_ACCESS_ERR));
	KV_IS(kv, kv_state(t->b), IB_QPS_ERR);
	return 0;
}

static int rotated(struct kv *kv)
{
	struct kv_target t;
	u32 old, i;

	KV_TRY(kv_target(kv, &t, 2, 0, 0, KV_ALL_RIGHTS));
	for (i = 0; i < 300; i++) {
		old = t.mr->rkey;
		KV_IS(kv, kv_inval(kv, t.b, old), IB_WC_SUCCESS);
		ib_update_fast_reg_key(t.mr, ib_inc_rkey(old));
		KV_TRY(kv_map(kv, t.mr, t.sgt, PAGE_SIZE));
		KV_IS(kv, kv_reg(kv, t.b, t.mr, KV_ALL_RIGHTS), IB_WC_SUCCESS);
		KV_EXPECT(kv, old != t.mr->rkey && t.mr->lkey == t.mr->rkey,
			  "0x%x, 0x%x", old, t.mr->rkey);
	}
	KV_TRY(write_and_read(kv, &t, t.sgt, t.mr->iova));
	return refused(kv, &t, IB_WR_RDMA_WRITE, t.mr->iova, old);
}

/* kv->arg: what is refused */
static int after_local_inv(struct kv *kv)
{
	struct kv_target t;

	KV_TRY(kv_target(kv, &t, 2, 0, 0, KV_ALL_RIGHTS));
	KV_IS(kv, kv_inval(kv, t.b, t.mr->rkey), IB_WC_SUCCESS);
	KV_TRY(refused(kv, &t, kv->arg, t.mr->iova, t.mr->rkey));
	return kv_sg_same(kv, t.sgt, 0);
}

static int never_registered(struct kv *kv)
{
	struct kv_target t;

	KV_TRY(kv_target_mapped(kv, &t, 2, 0, 0));
	return refused(kv, &t, IB_WR_RDMA_WRITE, t.mr->iova, t.mr->rkey);
}

/* The first @len bytes of a region */
static struct ib_sge sge_of(const struct ib_mr *mr, u32 len)
{
	return (struct ib_sge){ mr->iova, len, mr->lkey };
}

/* Post a receive into the first @len bytes of a region. */
static int recv_into(struct kv *kv, struct kv_qp *q, const struct ib_mr *mr,
		     u32 len)
{
	struct ib_sge sge = sge_of(mr, len);
	struct ib_recv_wr wr = { .wr_id = 3, .sg_list = &sge, .num_sge = 1 };
	const struct ib_recv_wr *bad;

	KV_IS(kv, ib_post_recv(q->qp, &wr, &bad), 0);
	return 0;
}

static int unregistered_lkey(struct kv *kv)
{
	struct kv_qp *a, *b;
	struct sg_table *sgt;
	struct ib_mr *mr;
	void *buf;

	KV_TRY(kv_pair(kv, NULL, &a, &b));
	KV_TRY(kv_mapped(kv, a, 1, 0, 0, &mr, &sgt));
	KV_GET(buf, kv_buf(kv, 64));
	KV_TRY(kv_recv(kv, b, buf, 64));
	KV_IS(kv, kv_send_sge(kv, a, sge_of(mr, 64)), IB_WC_LOC_PROT_ERR);
	KV_IS(kv, kv_state(a), IB_QPS_ERR);
	return 0;
}

static int local_use(struct kv *kv)
{
	struct sg_table *from;
	struct kv_target t;
	struct ib_mr *src;
	struct ib_wc wc;
	void *buf;

	KV_TRY(kv_target(kv, &t, 3, 1, 5, IB_ACCESS_LOCAL_WRITE));
	KV_TRY(kv_region(kv, t.a, 3, 77, 13, 0, &src, &from));
	kv_sg_fill(from, 6);
	KV_TRY(recv_into(kv, t.b, t.mr, t.mr->length));
	KV_IS(kv, kv_send_sge(kv, t.a, sge_of(src, src->length)), IB_WC_SUCCESS);
	KV_TRY(kv_wait(kv, t.b->rcq, &wc));
	KV_IS(kv, wc.status, IB_WC_SUCCESS);
	KV_IS(kv, wc.byte_len, src->length);
	/* what it received lies in another place of its pages */
	KV_GET(buf, kv_buf(kv, 3 * PAGE_SIZE));
	sg_copy_to_buffer(t.sgt->sgl, 3, buf, src->length);
	KV_TRY(kv_same(kv, buf, src->length, 6));
	return kv_sg_margins(kv, t.sgt);
}

static int no_local_write(struct kv *kv)
{
	struct kv_target t;
	struct ib_wc wc;
	void *buf;

	KV_TRY(kv_target(kv, &t, 1, 0, 0, READ_FROM));
	KV_GET(buf, kv_buf(kv, 64));
	KV_TRY(recv_into(kv, t.b, t.mr, 64));
	KV_IS(kv, kv_send(kv, t.a, buf, 64), IB_WC_REM_OP_ERR);
	KV_TRY(kv_wait(kv, t.b->rcq, &wc));
	KV_IS(kv, wc.status, IB_WC_LOC_PROT_ERR);
	return kv_sg_same(kv, t.sgt, 0);
}

/* With @rights, @may is done and @not is refused. */
static int only(struct kv *kv, int rights, enum ib_wr_opcode may,
		enum ib_wr_opcode not)
{
	struct kv_target t;
	void *buf;

	KV_TRY(kv_target(kv, &t, 1, 0, 0, rights));
	KV_GET(buf, kv_buf(kv, 64));
	KV_IS(kv, kv_rdma(kv, t.a, may, buf, 64, t.mr->iova, t.mr->rkey),
	      IB_WC_SUCCESS);
	if (may == IB_WR_RDMA_READ)
		KV_TRY(kv_same(kv, buf, 64, 0));
	return refused(kv, &t, not, t.mr->iova, t.mr->rkey);
}

static int only_to_read(struct kv *kv)
{
	return only(kv, READ_FROM, IB_WR_RDMA_READ, IB_WR_RDMA_WRITE);
}

static int only_to_write(struct kv *kv)
{
	return only(kv, WRITE_INTO, IB_WR_RDMA_WRITE, IB_WR_RDMA_READ);
}

/* 64 bytes at @first from the start of the region or, if @end, from its end */
static int outside(struct kv *kv, bool end, int first)
{
	struct kv_target t;
	u64 at;

	KV_TRY(kv_target(kv, &t, 2, 200, 200, KV_ALL_RIGHTS));
	at = t.mr->iova + (end ? t.mr->length : 0) + first;
	KV_TRY(refused(kv, &t, IB_WR_RDMA_WRITE, at, t.mr->rkey));
	return kv_sg_margins(kv, t.sgt);
}

static int one_byte_before(struct kv *kv)
{
	return outside(kv, false, -1);
}

static int one_byte_after(struct kv *kv)
{
	return outside(kv, true, -63);
}

static int other_pd(struct kv *kv)
{
	const struct kv_opts usual = {};
	struct kv_qp *a, *b, *other;
	struct sg_table *sgt;
	struct ib_mr *mr;

	KV_TRY(kv_pair(kv, NULL, &a, &b));
	KV_GET(other, kv_qp(kv, 1, &usual));
	KV_TRY(kv_mapped(kv, other, 1, 0, 0, &mr, &sgt));
	KV_IS(kv, kv_reg(kv, b, mr, KV_ALL_RIGHTS), IB_WC_MW_BIND_ERR);
	KV_IS(kv, kv_state(b), IB_QPS_ERR);
	return 0;
}

/* REG_MR, unsignaled, with @next behind it */
static struct ib_reg_wr reg_before(struct ib_mr *mr, struct ib_send_wr *next)
{
	return (struct ib_reg_wr){
		.wr.next = next,
		.wr.wr_id = 1,
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = mr->rkey,
		.access = KV_ALL_RIGHTS,
	};
}

/* Consumers that post in a chain rely on the order. */
static int reg_of_valid(struct kv *kv)
{
	struct ib_send_wr next = {
		.wr_id = 2,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_reg_wr reg;
	struct kv_target t;
	struct ib_wc wc;

	KV_TRY(kv_target(kv, &t, 1, 0, 0, KV_ALL_RIGHTS));
	reg = reg_before(t.mr, &next);
	next.ex.invalidate_rkey = t.mr->rkey;
	KV_TRY(kv_post(kv, t.b, &reg.wr));
	KV_TRY(kv_wait(kv, t.b->scq, &wc));
	KV_IS(kv, wc.wr_id, 1);
	KV_IS(kv, wc.status, IB_WC_MW_BIND_ERR);
	KV_TRY(kv_wait(kv, t.b->scq, &wc));
	KV_IS(kv, wc.wr_id, 2);
	KV_IS(kv, wc.status, IB_WC_WR_FLUSH_ERR);
	KV_IS(kv, kv_state(t.b), IB_QPS_ERR);
	return 0;
}

/* What was mapped stays mapped: only a new map changes the pages. */
static int reg_again(struct kv *kv)
{
	struct kv_target t;
	int i;

	KV_TRY(kv_target(kv, &t, 4, 19, 23, KV_ALL_RIGHTS));
	for (i = 0; i < 3; i++) {
		KV_IS(kv, kv_inval(kv, t.b, t.mr->rkey), IB_WC_SUCCESS);
		ib_update_fast_reg_key(t.mr, ib_inc_rkey(t.mr->rkey));
		KV_IS(kv, kv_reg(kv, t.b, t.mr, KV_ALL_RIGHTS), IB_WC_SUCCESS);
		kv_sg_fill(t.sgt, 0);
		KV_TRY(write_and_read(kv, &t, t.sgt, t.mr->iova));
	}
	return 0;
}

/* The next pages are laid down while the present ones are in use. */
static int map_while_valid(struct kv *kv)
{
	struct sg_table *next;
	struct kv_target t;
	u64 iova;

	KV_TRY(kv_target(kv, &t, 4, 0, 0, KV_ALL_RIGHTS));
	iova = t.mr->iova;
	KV_GET(next, kv_pages(kv, t.b, 4, 0, 0));
	kv_sg_fill(next, 0);
	KV_TRY(kv_map(kv, t.mr, next, PAGE_SIZE));
	KV_TRY(write_and_read(kv, &t, t.sgt, iova));
	KV_TRY(kv_sg_same(kv, next, 0));
	KV_IS(kv, kv_inval(kv, t.b, t.mr->rkey), IB_WC_SUCCESS);
	KV_IS(kv, kv_reg(kv, t.b, t.mr, KV_ALL_RIGHTS), IB_WC_SUCCESS);
	return write_and_read(kv, &t, next, t.mr->iova);
}

/* The peer learns of the key by the SEND behind, and it works by then. */
static int reg_then_send(struct kv *kv)
{
	struct ib_sge sge;
	struct ib_send_wr send = kv_send_wr(&sge);
	struct ib_reg_wr reg;
	struct kv_target t;
	struct ib_wc wc;
	void *msg;
	int i;

	KV_TRY(kv_target_mapped(kv, &t, 2, 5, 6));
	KV_GET(msg, kv_buf(kv, 64));
	send.wr_id = 2;
	sge = (struct ib_sge){ (uintptr_t)msg, 64, t.b->pd->local_dma_lkey };
	for (i = 0; i < 20; i++) {
		KV_TRY(kv_map(kv, t.mr, t.sgt, PAGE_SIZE));
		reg = reg_before(t.mr, &send);
		KV_TRY(kv_recv(kv, t.a, msg, 64));
		KV_TRY(kv_post(kv, t.b, &reg.wr));
		KV_TRY(kv_wait(kv, t.a->rcq, &wc));
		KV_IS(kv, wc.status, IB_WC_SUCCESS);
		KV_IS(kv, kv_rdma(kv, t.a, IB_WR_RDMA_WRITE, msg, 64,
				  t.mr->iova + i, t.mr->rkey), IB_WC_SUCCESS);
		/* the registration was not signaled */
		KV_TRY(kv_wait(kv, t.b->scq, &wc));
		KV_IS(kv, wc.wr_id, 2);
		KV_IS(kv, kv_inval(kv, t.b, t.mr->rkey), IB_WC_SUCCESS);
		ib_update_fast_reg_key(t.mr, ib_inc_rkey(t.mr->rkey));
	}
	return kv_sg_margins(kv, t.sgt);
}

static int not_over_ud(struct kv *kv)
{
	const struct kv_opts ud = { .type = IB_QPT_UD };
	const struct ib_send_wr *bad = NULL;
	struct ib_reg_wr reg = { .wr.opcode = IB_WR_REG_MR };
	struct kv_qp *a;

	KV_GET(a, kv_qp(kv, 0, &ud));
	KV_TRY(kv_init(kv, a));
	KV_TRY(kv_rtr(kv, a, a, 7));
	KV_GET(reg.mr, kv_mr(kv, a, IB_MR_TYPE_MEM_REG, 1));
	reg.key = reg.mr->rkey;
	KV_IS(kv, ib_post_send(a->qp, &reg.wr, &bad), -EINVAL);
	KV_EXPECT(kv, bad == &reg.wr, "the bad one");
	return 0;
}

/* Odd lengths with holes between them, as only such a region takes them */
static int with_gaps(struct kv *kv)
{
	struct scatterlist sg[5];
	struct kv_qp *a, *b;
	struct ib_mr *mr;
	u32 i, at, len = 0;
	u8 *to, *buf;

	KV_SKIP_IF(kv, !(kv->dev[1]->attrs.kernel_cap_flags & IBK_SG_GAPS_REG),
		   "SG_GAPS is not offered");
	KV_TRY(kv_pair(kv, NULL, &a, &b));
	KV_GET(to, kv_buf(kv, 5 * PAGE_SIZE));
	KV_GET(buf, kv_buf(kv, 5 * PAGE_SIZE));
	sg_init_table(sg, 5);
	for (i = 0; i < 5; i++) {
		sg_set_buf(&sg[i], to + i * PAGE_SIZE + 11 * i, 100 + 701 * i);
		len += 100 + 701 * i;
	}
	KV_IS(kv, ib_dma_map_sg(b->dev, sg, 5, DMA_BIDIRECTIONAL), 5);
	KV_GET(mr, kv_mr(kv, b, IB_MR_TYPE_SG_GAPS, 5));
	KV_IS(kv, ib_map_mr_sg(mr, sg, 5, NULL, PAGE_SIZE), 5);
	KV_IS(kv, mr->length, len);
	KV_IS(kv, kv_reg(kv, b, mr, KV_ALL_RIGHTS), IB_WC_SUCCESS);
	kv_fill(buf, len, 5);
	KV_IS(kv, kv_rdma(kv, a, IB_WR_RDMA_WRITE, buf, len, mr->iova,
			  mr->rkey), IB_WC_SUCCESS);
	for (i = 0, at = 0; i < 5; i++) {
		KV_EXPECT(kv, !memcmp(sg_virt(&sg[i]), buf + at, sg[i].length),
			  "piece %u", i);
		at += sg[i].length;
		KV_EXPECT(kv, !((u8 *)sg_virt(&sg[i]))[sg[i].length],
			  "behind piece %u", i);
	}
	memset(buf, 0, len);
	KV_IS(kv, kv_rdma(kv, a, IB_WR_RDMA_READ, buf, len, mr->iova,
			  mr->rkey), IB_WC_SUCCESS);
	return kv_same(kv, buf, len, 5);
}

KV_CASES(frwr) = {
	{ "frwr: a page is written and read", one_page },
	{ "frwr: pages from and to odd offsets", odd_ends },
	{ "frwr: a piece of one page", odd_within_a_page },
	{ "frwr: 256 scattered pages", pages_256 },
	{ "frwr: as many pages as the device says", pages_most },
	{ "frwr: more pages than that are refused", too_many_pages },
	{ "frwr: ib_map_mr_sg from an offset", with_offset },
	{ "frwr: an iova of the consumer's", own_iova },
	{ "frwr: pages of 64 KiB", large_pages },
	{ "frwr: the key rotates through all of its values", rotated },
	{ "frwr: no WRITE after LOCAL_INV", after_local_inv,
	  IB_WR_RDMA_WRITE },
	{ "frwr: no READ after LOCAL_INV", after_local_inv, IB_WR_RDMA_READ },
	{ "frwr: no WRITE before REG_MR", never_registered },
	{ "frwr: no SEND from what is not registered", unregistered_lkey },
	{ "frwr: SEND and RECV from region to region", local_use },
	{ "frwr: no RECV into it without LOCAL_WRITE", no_local_write },
	{ "frwr: no WRITE with REMOTE_READ only", only_to_read },
	{ "frwr: no READ with REMOTE_WRITE only", only_to_write },
	{ "frwr: not a byte before it", one_byte_before },
	{ "frwr: not a byte after it", one_byte_after },
	{ "frwr: REG_MR of another PD's region fails", other_pd },
	{ "frwr: REG_MR of a valid region fails, the rest is flushed",
	  reg_of_valid },
	{ "frwr: REG_MR again registers the same pages", reg_again },
	{ "frwr: the next pages are mapped while the region is in use",
	  map_while_valid },
	{ "frwr: a key works before the SEND behind its REG_MR", reg_then_send },
	{ "frwr: no REG_MR on UD", not_over_ud },
	{ "frwr: SG_GAPS takes any list", with_gaps },
	{ }
};
