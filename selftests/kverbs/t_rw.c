// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* rdma_rw: whole lists read and written by contexts, as targets do it. */

#include <linux/completion.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/rw.h>
#include "kverbs.h"

struct waiter {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
	enum ib_wc_opcode opcode;
};

static void done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct waiter *w = container_of(wc->wr_cqe, struct waiter, cqe);

	w->status = wc->status;
	w->opcode = wc->opcode;
	complete(&w->done);
}

static struct waiter *waiter(struct kv *kv)
{
	struct waiter *w = kv_buf(kv, sizeof(*w));

	if (!w)
		return NULL;
	w->cqe.done = done;
	init_completion(&w->done);
	return w;
}

static int wait_for(struct kv *kv, struct waiter *w)
{
	unsigned long limit = msecs_to_jiffies(KV_WAIT_MS);

	KV_EXPECT(kv, wait_for_completion_timeout(&w->done, limit),
		  "no completion");
	return w->status;
}

/* B is the target: the list is its own; A's region is one piece. */
static int pair(struct kv *kv, struct kv_qp **a, struct kv_qp **b)
{
	struct kv_opts plain = { .pd_flags = IB_PD_UNSAFE_GLOBAL_RKEY };
	struct kv_opts target = { .rdma_ctxs = 4 };

	KV_GET(*a, kv_qp(kv, 0, &plain));
	KV_GET(target.cq, kv_api_cq(kv, 1, 512, IB_POLL_WORKQUEUE));
	KV_GET(*b, kv_qp(kv, 1, &target));
	return kv_connect(kv, *a, *b);
}

/* Entries of many lengths, none of them a page */
static u32 cut_up(struct scatterlist *sg, u32 n, u8 *buf)
{
	u32 i, at = 0;

	sg_init_table(sg, n);
	for (i = 0; i < n; i++) {
		u32 len = 8 * (i % 7 + 1) * 31;

		sg_set_buf(&sg[i], buf + at, len);
		at += len;
	}
	return at;
}

#define MOST	40

/**
 * struct move - what a context moves
 * @a: the QP of the peer
 * @b: the QP of the context
 * @w: waits for it
 * @ctx: the context
 * @sg: pieces of @mine
 * @n: how many
 * @len: bytes in them
 * @mine: the context's end
 * @theirs: the peer's
 * @dir: which way
 */
struct move {
	struct kv_qp *a, *b;
	struct waiter *w;
	struct rdma_rw_ctx ctx;
	struct scatterlist sg[MOST];
	u32 n;
	u32 len;
	u8 *mine;
	u8 *theirs;
	enum dma_data_direction dir;
};

static int prepare(struct kv *kv, struct move *m, u32 n,
		   enum dma_data_direction dir)
{
	KV_TRY(pair(kv, &m->a, &m->b));
	KV_GET(m->w, waiter(kv));
	KV_GET(m->mine, kv_buf(kv, 65536));
	KV_GET(m->theirs, kv_buf(kv, 65536));
	m->n = n;
	m->len = cut_up(m->sg, n, m->mine);
	m->dir = dir;
	return 0;
}

static int ctx_init(struct kv *kv, struct move *m, u32 skip, void *theirs,
		    u32 rkey)
{
	int ret = rdma_rw_ctx_init(&m->ctx, m->b->qp, 1, m->sg, m->n, skip,
				   (uintptr_t)theirs, rkey, m->dir);

	KV_EXPECT(kv, ret > 0, "rdma_rw_ctx_init: %d", ret);
	return 0;
}

/* Post it, and wait for it; its status */
static int ctx_do(struct kv *kv, struct move *m)
{
	int ret = rdma_rw_ctx_post(&m->ctx, m->b->qp, 1, &m->w->cqe, NULL);

	return ret ? KV_FAIL(kv, "rdma_rw_ctx_post: %d", ret) :
		     wait_for(kv, m->w);
}

static void ctx_destroy(struct move *m)
{
	rdma_rw_ctx_destroy(&m->ctx, m->b->qp, 1, m->sg, m->n, m->dir);
}

static int move_list(struct kv *kv, u32 n, u32 skip,
		     enum dma_data_direction dir)
{
	struct move m;
	u32 len;
	int ret;

	KV_TRY(prepare(kv, &m, n, dir));
	len = m.len - skip;
	if (dir == DMA_TO_DEVICE)
		kv_fill(m.mine + skip, len, 5);
	else
		kv_fill(m.theirs, len, 5);
	KV_TRY(ctx_init(kv, &m, skip, m.theirs, m.a->pd->unsafe_global_rkey));
	ret = ctx_do(kv, &m);
	ctx_destroy(&m);
	KV_IS(kv, ret, IB_WC_SUCCESS);
	KV_IS(kv, m.w->opcode, dir == DMA_TO_DEVICE ? IB_WC_RDMA_WRITE :
						      IB_WC_RDMA_READ);
	KV_TRY(kv_same(kv, dir == DMA_TO_DEVICE ? m.theirs : m.mine + skip, len,
		       5));
	KV_EXPECT(kv, !m.theirs[len] && !m.mine[m.len], "behind it");
	KV_EXPECT(kv, !skip || !m.mine[skip - 1], "before it");
	return 0;
}

static int read_one(struct kv *kv)
{
	return move_list(kv, 1, 0, DMA_FROM_DEVICE);
}

static int write_one(struct kv *kv)
{
	return move_list(kv, 1, 0, DMA_TO_DEVICE);
}

static int read_many(struct kv *kv)
{
	return move_list(kv, MOST, 0, DMA_FROM_DEVICE);
}

static int write_many(struct kv *kv)
{
	return move_list(kv, MOST, 0, DMA_TO_DEVICE);
}

static int read_offset(struct kv *kv)
{
	return move_list(kv, 20, 131, DMA_FROM_DEVICE);
}

static int write_offset(struct kv *kv)
{
	return move_list(kv, 20, 131, DMA_TO_DEVICE);
}

/* The answer follows the data in one chain, and comes after it. */
static int with_answer(struct kv *kv)
{
	struct ib_sge sge = { .length = 16 };
	struct ib_send_wr send = kv_send_wr(&sge);
	struct move m;
	struct ib_wc wc;
	int ret;

	KV_TRY(prepare(kv, &m, 8, DMA_TO_DEVICE));
	kv_fill(m.mine, m.len, 3);
	sge.addr = (uintptr_t)m.mine;
	sge.lkey = m.b->pd->local_dma_lkey;
	send.wr_cqe = &m.w->cqe;
	KV_TRY(kv_recv(kv, m.a, m.theirs + 60000, 64));
	KV_TRY(ctx_init(kv, &m, 0, m.theirs, m.a->pd->unsafe_global_rkey));
	ret = rdma_rw_ctx_post(&m.ctx, m.b->qp, 1, NULL, &send);
	if (!ret) {
		ret = kv_wait(kv, m.a->rcq, &wc);
		/* no more waiting: it is all there */
		if (!ret)
			ret = kv_same(kv, m.theirs, m.len, 3);
		if (!ret)
			ret = wait_for(kv, m.w);
	}
	ctx_destroy(&m);
	KV_IS(kv, ret, IB_WC_SUCCESS);
	return 0;
}

static int bad_rkey(struct kv *kv)
{
	struct move m;
	int ret;

	KV_TRY(prepare(kv, &m, 4, DMA_FROM_DEVICE));
	KV_TRY(ctx_init(kv, &m, 0, m.mine, m.a->pd->unsafe_global_rkey ^ 1));
	ret = ctx_do(kv, &m);
	ib_drain_qp(m.b->qp);
	ctx_destroy(&m);
	KV_IS(kv, ret, IB_WC_REM_ACCESS_ERR);
	return 0;
}

/* Nothing of integrity is offered, and what is asked of it is refused. */
static int no_integrity(struct kv *kv)
{
	struct ib_sig_attrs sig = {};
	struct scatterlist sg[1];
	struct rdma_rw_ctx ctx;
	struct kv_qp *a, *b;
	struct ib_mr *mr;
	u8 *mine;
	int ret;

	KV_EXPECT(kv, !(kv->dev[1]->attrs.kernel_cap_flags &
			IBK_INTEGRITY_HANDOVER), "it is offered");
	KV_TRY(pair(kv, &a, &b));
	KV_GET(mine, kv_buf(kv, 4096));
	sg_init_one(sg, mine, 4096);
	ret = rdma_rw_ctx_signature_init(&ctx, b->qp, 1, sg, 1, NULL, 0, &sig,
					 0, 0, DMA_FROM_DEVICE);
	KV_EXPECT(kv, ret < 0, "rdma_rw_ctx_signature_init: %d", ret);
	mr = ib_alloc_mr_integrity(b->pd, 16, 16);
	KV_EXPECT(kv, IS_ERR(mr), "ib_alloc_mr_integrity");
	return 0;
}

static int no_integrity_qp(struct kv *kv)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC,
		.cap.max_send_wr = 16,
		.cap.max_recv_wr = 16,
		.cap.max_send_sge = 1,
		.cap.max_recv_sge = 1,
		.create_flags = IB_QP_CREATE_INTEGRITY_EN,
	};
	struct ib_pd *pd;
	struct ib_qp *qp;

	KV_GET(pd, kv_pd(kv, 0, 0));
	KV_GET(init.send_cq, kv_cq(kv, 0, 64, NULL, NULL));
	init.recv_cq = init.send_cq;
	qp = ib_create_qp(pd, &init);
	KV_EXPECT(kv, IS_ERR(qp), "ib_create_qp");
	return 0;
}

KV_CASES(rw) = {
	{ "rw: READ into one entry", read_one },
	{ "rw: WRITE from one entry", write_one },
	{ "rw: READ into 40 entries", read_many },
	{ "rw: WRITE from 40 entries", write_many },
	{ "rw: READ from an offset on", read_offset },
	{ "rw: WRITE from an offset on", write_offset },
	{ "rw: the answer comes after the data before it", with_answer },
	{ "rw: a bad key fails the context", bad_rkey },
	{ "rw: no contexts and no regions with signatures", no_integrity },
	{ "rw: no QP with signatures", no_integrity_qp },
	{ }
};
