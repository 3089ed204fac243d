// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Keys that end: by their owner, by a SEND of the peer, with a READ. */

#include <linux/module.h>
#include <linux/slab.h>
#include "kverbs.h"

/* SEND_WITH_INV of @len bytes; its status */
static int send_inv(struct kv *kv, struct kv_qp *q, void *buf, u32 len, u32 key)
{
	struct ib_sge sge = { (uintptr_t)buf, len, q->pd->local_dma_lkey };
	struct ib_send_wr wr = {
		.wr_id = 0x171,
		.sg_list = &sge,
		.num_sge = len ? 1 : 0,
		.opcode = IB_WR_SEND_WITH_INV,
		.send_flags = IB_SEND_SIGNALED | IB_SEND_SOLICITED,
		.ex.invalidate_rkey = key,
	};

	return kv_do(kv, q, &wr);
}

/* A SEND of kv->arg bytes */
static int by_send(struct kv *kv)
{
	u32 len = kv->arg;
	struct kv_target t;
	struct ib_wc wc;
	u8 *out, *in;

	KV_TRY(kv_target(kv, &t, 2, 0, 0, KV_ALL_RIGHTS));
	KV_GET(out, kv_buf(kv, len + 1));
	KV_GET(in, kv_buf(kv, len + 1));
	kv_fill(out, len, 8);
	KV_TRY(kv_recv(kv, t.b, in, len + 1));
	KV_IS(kv, send_inv(kv, t.a, out, len, t.mr->rkey), IB_WC_SUCCESS);
	KV_TRY(kv_wait(kv, t.b->rcq, &wc));
	KV_IS(kv, wc.status, IB_WC_SUCCESS);
	KV_IS(kv, wc.opcode, IB_WC_RECV);
	KV_IS(kv, wc.byte_len, len);
	KV_EXPECT(kv, wc.wc_flags & IB_WC_WITH_INVALIDATE, "flags 0x%x",
		  wc.wc_flags);
	KV_EXPECT(kv, !(wc.wc_flags & IB_WC_WITH_IMM), "flags 0x%x",
		  wc.wc_flags);
	KV_IS(kv, wc.ex.invalidate_rkey, t.mr->rkey);
	KV_TRY(kv_same(kv, in, len, 8));

	/* it can be registered again without a LOCAL_INV, and is dead now */
	ib_update_fast_reg_key(t.mr, ib_inc_rkey(t.mr->rkey));
	KV_IS(kv, kv_reg(kv, t.b, t.mr, KV_ALL_RIGHTS), IB_WC_SUCCESS);
	KV_IS(kv, kv_rdma(kv, t.a, IB_WR_RDMA_WRITE, out, 1, t.mr->iova, t.mr->rkey),
	      IB_WC_SUCCESS);
	KV_IS(kv, kv_rdma(kv, t.a, IB_WR_RDMA_WRITE, out, 1, t.mr->iova,
			  wc.ex.invalidate_rkey), IB_WC_REM_ACCESS_ERR);
	return 0;
}

/* The SEND fails, and so does the receive that it was to complete. */
static int not_by_send(struct kv *kv, struct kv_qp *a, struct kv_qp *b, u32 key)
{
	struct ib_wc wc;
	void *buf;

	KV_GET(buf, kv_buf(kv, 64));
	KV_TRY(kv_recv(kv, b, buf, 64));
	KV_IS(kv, send_inv(kv, a, buf, 64, key), IB_WC_REM_ACCESS_ERR);
	KV_TRY(kv_wait(kv, b->rcq, &wc));
	KV_EXPECT(kv, wc.status != IB_WC_SUCCESS, "the receive");
	KV_IS(kv, kv_state(b), IB_QPS_ERR);
	return 0;
}

static int unknown_key(struct kv *kv)
{
	struct kv_target t;

	KV_TRY(kv_target(kv, &t, 2, 0, 0, KV_ALL_RIGHTS));
	return not_by_send(kv, t.a, t.b, t.mr->rkey ^ 1);
}

static int invalid_key(struct kv *kv)
{
	struct kv_target t;

	KV_TRY(kv_target(kv, &t, 2, 0, 0, KV_ALL_RIGHTS));
	KV_IS(kv, kv_inval(kv, t.b, t.mr->rkey), IB_WC_SUCCESS);
	return not_by_send(kv, t.a, t.b, t.mr->rkey);
}

static int key_of_local_region(struct kv *kv)
{
	struct kv_target t;

	KV_TRY(kv_target(kv, &t, 2, 0, 0, IB_ACCESS_LOCAL_WRITE));
	return not_by_send(kv, t.a, t.b, t.mr->lkey);
}

static int key_of_dma_region(struct kv *kv)
{
	const struct kv_opts global = { .pd_flags = IB_PD_UNSAFE_GLOBAL_RKEY };
	struct kv_qp *a, *b;

	KV_TRY(kv_pair(kv, &global, &a, &b));
	return not_by_send(kv, a, b, b->pd->unsafe_global_rkey);
}

static int twice(struct kv *kv)
{
	struct kv_target t;

	KV_TRY(kv_target(kv, &t, 2, 0, 0, KV_ALL_RIGHTS));
	KV_IS(kv, kv_inval(kv, t.b, t.mr->rkey), IB_WC_SUCCESS);
	KV_IS(kv, kv_inval(kv, t.b, t.mr->rkey), IB_WC_SUCCESS);
	KV_IS(kv, kv_state(t.b), IB_QPS_RTS);
	return 0;
}

static int local_unknown(struct kv *kv)
{
	struct kv_qp *a, *b;

	KV_TRY(kv_pair(kv, NULL, &a, &b));
	KV_IS(kv, kv_inval(kv, b, 0xffffff01), IB_WC_MW_BIND_ERR);
	KV_IS(kv, kv_state(b), IB_QPS_ERR);
	return 0;
}

static int local_dma(struct kv *kv)
{
	struct kv_qp *a, *b;

	KV_TRY(kv_pair(kv, NULL, &a, &b));
	KV_IS(kv, kv_inval(kv, b, b->pd->local_dma_lkey), IB_WC_MW_BIND_ERR);
	return 0;
}

/* LOCAL_INV behind WRITEs from the region: they have got its bytes by then. */
static int behind_writes(struct kv *kv)
{
	struct ib_sge sge;
	struct ib_rdma_wr wr = {
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.wr.opcode = IB_WR_RDMA_WRITE,
	};
	struct sg_table *from;
	struct kv_target t;
	struct ib_mr *src;
	u32 i, len = 16 * PAGE_SIZE;

	KV_TRY(kv_target(kv, &t, 16, 0, 0, KV_ALL_RIGHTS));
	KV_TRY(kv_region(kv, t.a, 16, 0, 0, 0, &src, &from));
	kv_sg_fill(from, 2);
	for (i = 0; i < 8; i++) {
		sge = (struct ib_sge){ src->iova + i * len / 8, len / 8,
				       src->lkey };
		wr.remote_addr = t.mr->iova + i * len / 8;
		wr.rkey = t.mr->rkey;
		KV_TRY(kv_post(kv, t.a, &wr.wr));
	}
	KV_IS(kv, kv_inval(kv, t.a, src->lkey), IB_WC_SUCCESS);
	KV_TRY(kv_sg_same(kv, t.sgt, 2));
	return 0;
}

/* READ_WITH_INV of all of @src to @to; its status */
static int read_inv(struct kv *kv, struct kv_qp *q, const struct ib_mr *src,
		    struct ib_sge to, u32 key)
{
	struct ib_rdma_wr wr = {
		.wr.wr_id = 7,
		.wr.sg_list = &to,
		.wr.num_sge = 1,
		.wr.opcode = IB_WR_RDMA_READ_WITH_INV,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.ex.invalidate_rkey = key,
		.remote_addr = src->iova,
		.rkey = src->rkey,
	};

	return kv_do(kv, q, &wr.wr);
}

/*
 * READ_WITH_INV ends the key of the region that it reads into. kv->arg: the key is in
 * ex.invalidate_rkey, too; otherwise in the scatter list only, as for an iWARP driver.
 */
static int read_with_inv(struct kv *kv)
{
	struct sg_table *to;
	struct kv_target t;
	struct ib_mr *dst;
	void *buf;

	KV_TRY(kv_target(kv, &t, 8, 0, 0, KV_ALL_RIGHTS));
	KV_TRY(kv_region(kv, t.a, 8, 0, 0, KV_ALL_RIGHTS, &dst, &to));
	kv_sg_fill(t.sgt, 3);
	KV_IS(kv, read_inv(kv, t.a, t.mr, (struct ib_sge){ dst->iova,
			   dst->length, dst->lkey }, kv->arg ? dst->rkey : 0),
	      IB_WC_SUCCESS);
	KV_TRY(kv_sg_same(kv, to, 3));
	/* gone, for the peer as well */
	KV_GET(buf, kv_buf(kv, 64));
	KV_IS(kv, kv_rdma(kv, t.b, IB_WR_RDMA_WRITE, buf, 64, dst->iova,
			  dst->rkey), IB_WC_REM_ACCESS_ERR);
	return 0;
}

/* kv->arg: the key. None can end: the list is of all memory. */
static int read_with_bad_inv(struct kv *kv)
{
	struct ib_sge sge = { .length = 64 };
	struct kv_target t;
	void *buf;

	KV_TRY(kv_target(kv, &t, 1, 0, 0, KV_ALL_RIGHTS));
	KV_GET(buf, kv_buf(kv, 64));
	sge.addr = (uintptr_t)buf;
	sge.lkey = t.a->pd->local_dma_lkey;
	KV_IS(kv, read_inv(kv, t.a, t.mr, sge, kv->arg), IB_WC_MW_BIND_ERR);
	KV_IS(kv, kv_state(t.a), IB_QPS_ERR);
	return 0;
}

KV_CASES(inval) = {
	{ "inval: SEND_WITH_INV ends a key and says which", by_send, 64 },
	{ "inval: SEND_WITH_INV of many packets", by_send, 20000 },
	{ "inval: SEND_WITH_INV of no bytes", by_send, 0 },
	{ "inval: SEND_WITH_INV of an unknown key is refused", unknown_key },
	{ "inval: SEND_WITH_INV of an invalid key is refused", invalid_key },
	{ "inval: SEND_WITH_INV of a region without remote rights is refused",
	  key_of_local_region },
	{ "inval: SEND_WITH_INV of the DMA region is refused",
	  key_of_dma_region },
	{ "inval: LOCAL_INV twice does no harm", twice },
	{ "inval: LOCAL_INV of an unknown key fails", local_unknown },
	{ "inval: LOCAL_INV of the DMA region fails", local_dma },
	{ "inval: LOCAL_INV waits for the WRITEs before it", behind_writes },
	{ "inval: READ_WITH_INV ends the key it read into", read_with_inv, 1 },
	{ "inval: READ_WITH_INV without a key ends that of its list", read_with_inv, 0 },
	{ "inval: READ_WITH_INV without key and region in its list fails",
	  read_with_bad_inv, 0 },
	{ "inval: READ_WITH_INV of an unknown key fails", read_with_bad_inv,
	  0xffffff01 },
	{ }
};
