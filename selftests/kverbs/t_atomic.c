// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Atomics, and what else a kernel consumer posts. */

#include <linux/module.h>
#include <linux/slab.h>
#include "kverbs.h"

static int pair(struct kv *kv, struct kv_qp **a, struct kv_qp **b, u64 **to,
		u64 **back)
{
	const struct kv_opts global = { .pd_flags = IB_PD_UNSAFE_GLOBAL_RKEY };
	struct kv_qp *q;

	KV_TRY(kv_pair(kv, &global, a, b));
	KV_GET(*to, kv_buf(kv, 64));
	KV_GET(*back, kv_buf(kv, 64));
	q = *b;
	KV_EXPECT(kv, q->pd->unsafe_global_rkey, "no global R_Key");
	return 0;
}

/* On 8 bytes at @addr, whose value before goes to @back; the status */
static int operate(struct kv *kv, struct kv_qp *q, struct ib_atomic_wr *wr,
		   u64 addr, u32 rkey, u64 *back, struct ib_wc *wc)
{
	struct ib_sge sge = { (uintptr_t)back, 8, q->pd->local_dma_lkey };

	wr->wr.sg_list = &sge;
	wr->wr.num_sge = 1;
	wr->wr.send_flags = IB_SEND_SIGNALED;
	wr->remote_addr = addr;
	wr->rkey = rkey;
	KV_TRY(kv_post(kv, q, &wr->wr));
	KV_TRY(kv_wait(kv, q->scq, wc));
	return wc->status;
}

static int plain(struct kv *kv)
{
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP,
		.compare_add = 5,
		.swap = 0x1122334455667788,
	};
	struct kv_qp *a, *b;
	u64 *to, *back;
	struct ib_wc wc;

	/* the DMA region has no right to atomics: mlx5's neither */
	KV_SKIP_IF(kv, kv->dev[1]->attrs.atomic_cap == IB_ATOMIC_NONE,
		   "no atomics");
	KV_TRY(pair(kv, &a, &b, &to, &back));
	*to = 5;
	KV_IS(kv, operate(kv, a, &wr, (uintptr_t)to, b->pd->unsafe_global_rkey,
			  back, &wc), IB_WC_REM_ACCESS_ERR);
	KV_IS(kv, *to, 5);
	return 0;
}

struct region {
	struct kv_target t;
	u64 *to;
	u64 *back;
};

static int region(struct kv *kv, struct region *r)
{
	KV_TRY(kv_target(kv, &r->t, 1, 0, 0, KV_ALL_RIGHTS));
	KV_GET(r->back, kv_buf(kv, 64));
	r->to = sg_virt(r->t.sgt->sgl) + 64;
	return 0;
}

/* On the region's 64th byte, whose value is @was before and @is afterwards */
static int on_region(struct kv *kv, struct region *r, struct ib_atomic_wr *wr,
		     enum ib_wc_opcode want, u64 was, u64 is)
{
	struct ib_wc wc;

	KV_IS(kv, operate(kv, r->t.a, wr, r->t.mr->iova + 64, r->t.mr->rkey,
			  r->back, &wc), IB_WC_SUCCESS);
	KV_IS(kv, wc.opcode, want);
	KV_IS(kv, wc.byte_len, 8);
	KV_IS(kv, *r->back, was);
	KV_IS(kv, *r->to, is);
	return 0;
}

static int cmp_swp(struct kv *kv)
{
	const u64 new = 0x1122334455667788;
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP,
		.compare_add = 5,
		.swap = new,
	};
	struct region r;

	KV_TRY(region(kv, &r));
	*r.to = 5;
	KV_TRY(on_region(kv, &r, &wr, IB_WC_COMP_SWAP, 5, new));
	return on_region(kv, &r, &wr, IB_WC_COMP_SWAP, new, new);
}

static int fetch_add(struct kv *kv)
{
	const u64 by = 0x100000001;
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD,
		.compare_add = by,
	};
	struct region r;
	u64 i;

	KV_TRY(region(kv, &r));
	*r.to = 0;
	for (i = 0; i < 40; i++)
		KV_TRY(on_region(kv, &r, &wr, IB_WC_FETCH_ADD, i * by,
				 (i + 1) * by));
	return 0;
}

/* Masks that change nothing, as RDS has them */
static int plainly_masked(struct kv *kv)
{
	struct ib_atomic_wr cas = {
		.wr.opcode = IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
		.compare_add = 5,
		.compare_add_mask = U64_MAX,
		.swap = 0x11,
		.swap_mask = U64_MAX,
	};
	struct ib_atomic_wr add = {
		.wr.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
		.compare_add = 0x100,
	};
	struct region r;

	KV_TRY(region(kv, &r));
	*r.to = 5;
	KV_TRY(on_region(kv, &r, &cas, IB_WC_MASKED_COMP_SWAP, 5, 0x11));
	return on_region(kv, &r, &add, IB_WC_MASKED_FETCH_ADD, 0x11, 0x111);
}

/*
 * No packet of IBTA's carries masks; what ConnectX sends is its own. So nothing
 * is offered, and what needs a mask is refused.
 */
static int masked(struct kv *kv)
{
	struct ib_atomic_wr wr = {
		.wr.opcode = IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
		.compare_add = 5,
		.compare_add_mask = 0xff,
		.swap = 0x11,
		.swap_mask = 0xff00,
	};
	const struct ib_send_wr *bad = NULL;
	struct region r;

	KV_SKIP_IF(kv, kv->dev[0]->attrs.masked_atomic_cap != IB_ATOMIC_NONE,
		   "masks are offered");
	KV_TRY(region(kv, &r));
	wr.remote_addr = r.t.mr->iova;
	wr.rkey = r.t.mr->rkey;
	KV_IS(kv, ib_post_send(r.t.a->qp, &wr.wr, &bad), -EINVAL);
	KV_EXPECT(kv, bad == &wr.wr, "the bad one");
	wr.wr.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD;
	wr.compare_add_mask = 0x80;
	KV_IS(kv, ib_post_send(r.t.a->qp, &wr.wr, &bad), -EINVAL);
	KV_IS(kv, kv_state(r.t.a), IB_QPS_RTS);
	return 0;
}

static int global_rkey(struct kv *kv)
{
	struct kv_qp *a, *b;
	u64 *to, *back;
	u8 *buf;

	KV_TRY(pair(kv, &a, &b, &to, &back));
	KV_GET(buf, kv_buf(kv, 100000));
	KV_GET(to, kv_buf(kv, 100000));
	kv_fill(buf, 100000, 1);
	KV_IS(kv, kv_rdma(kv, a, IB_WR_RDMA_WRITE, buf, 100000, (uintptr_t)to,
			  b->pd->unsafe_global_rkey), IB_WC_SUCCESS);
	KV_TRY(kv_same(kv, to, 100000, 1));
	memset(buf, 0, 100000);
	KV_IS(kv, kv_rdma(kv, a, IB_WR_RDMA_READ, buf, 100000, (uintptr_t)to,
			  b->pd->unsafe_global_rkey), IB_WC_SUCCESS);
	return kv_same(kv, buf, 100000, 1);
}

/* The usual DMA region is for its owner only. */
static int local_key_only(struct kv *kv)
{
	struct kv_qp *a, *b;
	void *buf;

	KV_TRY(kv_pair(kv, NULL, &a, &b));
	KV_IS(kv, b->pd->unsafe_global_rkey, 0);
	KV_GET(buf, kv_buf(kv, 64));
	KV_IS(kv, kv_rdma(kv, a, IB_WR_RDMA_WRITE, buf, 64, (uintptr_t)buf,
			  b->pd->local_dma_lkey), IB_WC_REM_ACCESS_ERR);
	return 0;
}

static int inlined(struct kv *kv)
{
	struct ib_sge sge = { .length = 40 };
	struct ib_send_wr wr = {
		.wr_id = 4,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND_WITH_IMM,
		.send_flags = IB_SEND_SIGNALED | IB_SEND_INLINE,
		.ex.imm_data = cpu_to_be32(0x12345678),
	};
	struct kv_qp *a, *b;
	struct ib_wc wc;
	u8 *from, *to;

	KV_TRY(kv_pair(kv, NULL, &a, &b));
	KV_GET(from, kv_buf(kv, 64));
	KV_GET(to, kv_buf(kv, 64));
	kv_fill(from, 40, 9);
	sge.addr = (uintptr_t)from;
	KV_TRY(kv_recv(kv, b, to, 64));
	KV_TRY(kv_post(kv, a, &wr));
	/* it was copied already */
	memset(from, 0, 40);
	KV_TRY(kv_wait(kv, b->rcq, &wc));
	KV_EXPECT(kv, wc.wc_flags & IB_WC_WITH_IMM &&
		  wc.ex.imm_data == cpu_to_be32(0x12345678), "flags 0x%x",
		  wc.wc_flags);
	KV_TRY(kv_same(kv, to, 40, 9));
	KV_EXPECT(kv, wc.qp == b->qp, "the receiver's QP");
	return 0;
}

/* What fetches has no data that could be inline. */
static int inline_fetch(struct kv *kv)
{
	struct ib_sge sge = { .length = 8 };
	struct ib_rdma_wr read = {
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.wr.opcode = IB_WR_RDMA_READ,
		.wr.send_flags = IB_SEND_INLINE,
	};
	struct kv_qp *a, *b;
	void *buf;

	KV_TRY(kv_pair(kv, NULL, &a, &b));
	KV_GET(buf, kv_buf(kv, 64));
	sge.addr = (uintptr_t)buf;
	sge.lkey = a->pd->local_dma_lkey;
	KV_IS(kv, ib_post_send(a->qp, &read.wr, NULL), -EINVAL);
	KV_IS(kv, kv_state(a), IB_QPS_RTS);
	return 0;
}

/* What is refused names the first bad one; those before it are done. */
static int bad_in_a_chain(struct kv *kv)
{
	struct ib_sge sge[40] = {};
	struct ib_send_wr third = { .opcode = IB_WR_RDMA_WRITE };
	struct ib_send_wr second = {
		.next = &third,
		.sg_list = sge,
		.num_sge = 40,
		.opcode = IB_WR_SEND,
	};
	struct ib_send_wr first = {
		.next = &second,
		.wr_id = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	const struct ib_send_wr *bad = NULL;
	struct kv_qp *a, *b;
	struct ib_wc wc;
	void *buf;

	KV_TRY(kv_pair(kv, NULL, &a, &b));
	KV_GET(buf, kv_buf(kv, 64));
	KV_TRY(kv_recv(kv, b, buf, 64));
	KV_IS(kv, ib_post_send(a->qp, &first, &bad), -EINVAL);
	KV_EXPECT(kv, bad == &second, "the bad one");
	KV_TRY(kv_wait(kv, a->scq, &wc));
	KV_IS(kv, wc.status, IB_WC_SUCCESS);
	KV_IS(kv, wc.wr_id, 1);
	return 0;
}

static int full_queues(struct kv *kv)
{
	const struct kv_opts small = { .wr = 4 };
	struct ib_recv_wr rwr = {};
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };
	struct kv_qp *a, *b;
	int i, ret = 0;

	KV_TRY(kv_pair(kv, &small, &a, &b));
	/* no receive is there, so nothing completes */
	for (i = 0; i < 100 && !ret; i++)
		ret = ib_post_send(a->qp, &wr, NULL);
	KV_IS(kv, ret, -ENOMEM);
	KV_EXPECT(kv, i > 4, "%d fitted", i - 1);
	ret = 0;
	for (i = 0; i < 100 && !ret; i++)
		ret = ib_post_recv(a->qp, &rwr, NULL);
	KV_IS(kv, ret, -ENOMEM);
	KV_EXPECT(kv, i > 4, "%d fitted", i - 1);
	return 0;
}

static int wrong_states(struct kv *kv)
{
	const struct kv_opts usual = {};
	struct ib_send_wr wr = { .opcode = IB_WR_SEND };
	struct ib_recv_wr rwr = {};
	struct kv_qp *a;

	KV_GET(a, kv_qp(kv, 0, &usual));
	KV_EXPECT(kv, ib_post_send(a->qp, &wr, NULL) < 0, "in RESET");
	KV_EXPECT(kv, ib_post_recv(a->qp, &rwr, NULL) < 0, "in RESET");
	KV_TRY(kv_init(kv, a));
	KV_EXPECT(kv, ib_post_send(a->qp, &wr, NULL) < 0, "in INIT");
	KV_IS(kv, ib_post_recv(a->qp, &rwr, NULL), 0);
	return 0;
}

KV_CASES(atomic) = {
	{ "post: CMP_SWP", cmp_swp },
	{ "post: FETCH_ADD", fetch_add },
	{ "post: no atomics on the DMA region", plain },
	{ "post: masked atomics are not offered, and refused", masked },
	{ "post: masks that change nothing leave plain atomics",
	  plainly_masked },
	{ "post: WRITE and READ by the unsafe global R_Key", global_rkey },
	{ "post: the local DMA L_Key is no R_Key", local_key_only },
	{ "post: inline data is copied at once", inlined },
	{ "post: a READ with inline data is refused", inline_fetch },
	{ "post: a bad one in a chain is named", bad_in_a_chain },
	{ "post: full queues refuse", full_queues },
	{ "post: states that take no work", wrong_states },
	{ }
};
