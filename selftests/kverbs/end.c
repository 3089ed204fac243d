// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* QPs and what they stand on: made, connected, posted to, waited for. */

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include "kverbs.h"

static void undo_pd(void *arg)
{
	ib_dealloc_pd(arg);
}

/**
 * kv_pd() - a protection domain
 * @kv: the run
 * @side: on which device
 * @flags: IB_PD_UNSAFE_GLOBAL_RKEY or 0
 */
struct ib_pd *kv_pd(struct kv *kv, int side, int flags)
{
	struct ib_pd *pd = ib_alloc_pd(kv->dev[side], flags);

	if (IS_ERR(pd)) {
		KV_FAIL(kv, "ib_alloc_pd: %ld", PTR_ERR(pd));
		return NULL;
	}
	kv_later(kv, undo_pd, pd);
	return pd;
}

static void undo_cq(void *arg)
{
	ib_destroy_cq(arg);
}

/**
 * kv_cq() - a CQ of the old kind, with a handler or to be polled
 * @kv: the run
 * @side: on which device
 * @cqe: entries
 * @handler: called when it was armed, or NULL
 * @ctx: for @handler
 */
struct ib_cq *kv_cq(struct kv *kv, int side, u32 cqe, ib_comp_handler handler,
		    void *ctx)
{
	struct ib_cq_init_attr attr = { .cqe = cqe };
	struct ib_cq *cq;

	cq = ib_create_cq(kv->dev[side], handler, NULL, ctx, &attr);
	if (IS_ERR(cq)) {
		KV_FAIL(kv, "ib_create_cq: %ld", PTR_ERR(cq));
		return NULL;
	}
	kv_later(kv, undo_cq, cq);
	return cq;
}

static void undo_api_cq(void *arg)
{
	ib_free_cq(arg);
}

/**
 * kv_api_cq() - a CQ that the core polls, and calls struct ib_cqe's done
 * @kv: the run
 * @side: on which device
 * @cqe: entries
 * @poll: from where
 */
struct ib_cq *kv_api_cq(struct kv *kv, int side, u32 cqe,
			enum ib_poll_context poll)
{
	struct ib_cq *cq = ib_alloc_cq(kv->dev[side], NULL, cqe, 0, poll);

	if (IS_ERR(cq)) {
		KV_FAIL(kv, "ib_alloc_cq: %ld", PTR_ERR(cq));
		return NULL;
	}
	kv_later(kv, undo_api_cq, cq);
	return cq;
}

/* The first RoCE v2 GID that is an IPv4 address */
static int find_gid(struct kv_qp *q)
{
	const struct ib_gid_attr *attr;
	bool fits;
	int i;

	for (i = 0; i < 255; i++) {
		attr = rdma_get_gid_attr(q->dev, 1, i);
		if (IS_ERR(attr))
			continue;
		fits = attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		       ipv6_addr_v4mapped((struct in6_addr *)&attr->gid);
		q->gid = attr->gid;
		q->gid_index = i;
		rdma_put_gid_attr(attr);
		if (fits)
			return 0;
	}
	return -ENOENT;
}

static void qp_event(struct ib_event *ev, void *ctx)
{
	struct kv_qp *q = ctx;

	if (in_interrupt() || irqs_disabled())
		WRITE_ONCE(q->event_is_atomic, true);
	set_bit(ev->event, &q->events);
}

static void undo_qp(void *arg)
{
	struct kv_qp *q = arg;

	ib_destroy_qp(q->qp);
	kfree(q);
}

/**
 * kv_qp() - a QP in RESET
 * @kv: the run
 * @side: on which device
 * @opts: what is special about it
 */
struct kv_qp *kv_qp(struct kv *kv, int side, const struct kv_opts *opts)
{
	struct ib_qp_init_attr init = {
		.event_handler = qp_event,
		.qp_type = opts->type ?: IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.srq = opts->srq,
		.port_num = 1,
		.cap.max_send_wr = opts->wr ?: 64,
		.cap.max_recv_wr = opts->srq ? 0 : opts->wr ?: 64,
		.cap.max_send_sge = 4,
		.cap.max_recv_sge = opts->srq ? 0 : 4,
		.cap.max_inline_data = 64,
		.cap.max_rdma_ctxs = opts->rdma_ctxs,
	};
	u32 cqe = 4 * init.cap.max_send_wr + 16;
	struct kv_qp *q = kzalloc(sizeof(*q), GFP_KERNEL);

	if (!q) {
		KV_FAIL(kv, "no memory");
		return NULL;
	}
	q->dev = kv->dev[side];
	q->pd = opts->pd ?: kv_pd(kv, side, opts->pd_flags);
	q->scq = opts->cq ?: kv_cq(kv, side, cqe, NULL, NULL);
	q->rcq = opts->cq ?: kv_cq(kv, side, cqe, NULL, NULL);
	if (!q->pd || !q->scq || !q->rcq)
		goto err;
	if (find_gid(q)) {
		KV_FAIL(kv, "no GID");
		goto err;
	}
	init.qp_context = q;
	init.send_cq = q->scq;
	init.recv_cq = q->rcq;
	q->qp = ib_create_qp(q->pd, &init);
	if (IS_ERR(q->qp)) {
		KV_FAIL(kv, "ib_create_qp: %ld", PTR_ERR(q->qp));
		goto err;
	}
	kv_later(kv, undo_qp, q);
	return q;
err:
	kfree(q);
	return NULL;
}

/**
 * kv_init() - take a QP from RESET to INIT
 * @kv: the run
 * @q: the QP
 */
int kv_init(struct kv *kv, struct kv_qp *q)
{
	int mask = IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qkey = 0x1234,
		.qp_access_flags = KV_ALL_RIGHTS,
	};

	mask |= q->qp->qp_type == IB_QPT_UD ? IB_QP_QKEY : IB_QP_ACCESS_FLAGS;
	KV_IS(kv, ib_modify_qp(q->qp, &attr, mask), 0);
	return 0;
}

static void path(struct rdma_ah_attr *ah, const struct kv_qp *q,
		 const struct kv_qp *peer)
{
	ah->type = rdma_ah_find_type(q->dev, 1);
	rdma_ah_set_port_num(ah, 1);
	rdma_ah_set_grh(ah, (union ib_gid *)&peer->gid, 0, q->gid_index, 64, 0);
}

/**
 * kv_rtr() - take a QP from INIT to RTR, and on to RTS
 * @kv: the run
 * @q: the QP
 * @peer: whom it talks to
 * @rnr_retry: how often it may be put off
 */
int kv_rtr(struct kv *kv, struct kv_qp *q, const struct kv_qp *peer,
	   u8 rnr_retry)
{
	bool rc = q->qp->qp_type == IB_QPT_RC, ud = q->qp->qp_type == IB_QPT_UD;
	int mask = IB_QP_STATE;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = peer->qp->qp_num & 0xffffff,
		.sq_psn = q->qp->qp_num & 0xffffff,
		.max_dest_rd_atomic = 8,
		.max_rd_atomic = 8,
		.min_rnr_timer = 1,
		.timeout = 16,
		.retry_cnt = 7,
		.rnr_retry = rnr_retry,
	};

	path(&attr.ah_attr, q, peer);
	if (!ud)
		mask |= IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
			IB_QP_RQ_PSN;
	if (rc)
		mask |= IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	KV_IS(kv, ib_modify_qp(q->qp, &attr, mask), 0);

	attr.qp_state = IB_QPS_RTS;
	mask = IB_QP_STATE | IB_QP_SQ_PSN;
	if (rc)
		mask |= IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			IB_QP_MAX_QP_RD_ATOMIC;
	KV_IS(kv, ib_modify_qp(q->qp, &attr, mask), 0);
	return 0;
}

/**
 * kv_connect() - take two QPs from RESET to RTS
 * @kv: the run
 * @a: one
 * @b: the other
 */
int kv_connect(struct kv *kv, struct kv_qp *a, struct kv_qp *b)
{
	KV_TRY(kv_init(kv, a));
	KV_TRY(kv_init(kv, b));
	KV_TRY(kv_rtr(kv, a, b, 7));
	return kv_rtr(kv, b, a, 7);
}

/**
 * kv_pair() - two connected QPs, one on each device
 * @kv: the run
 * @opts: what is special about both, or NULL
 * @a: set to the one on the first device
 * @b: set to the other
 */
int kv_pair(struct kv *kv, const struct kv_opts *opts, struct kv_qp **a,
	    struct kv_qp **b)
{
	static const struct kv_opts usual;

	KV_GET(*a, kv_qp(kv, 0, opts ?: &usual));
	KV_GET(*b, kv_qp(kv, 1, opts ?: &usual));
	return kv_connect(kv, *a, *b);
}

/**
 * kv_state() - the state of a QP
 * @q: the QP
 */
int kv_state(struct kv_qp *q)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	int ret = ib_query_qp(q->qp, &attr, IB_QP_STATE, &init);

	return ret ?: attr.qp_state;
}

/**
 * kv_to() - have a QP in another state, with nothing else changed
 * @q: the QP
 * @state: the state
 */
int kv_to(struct kv_qp *q, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return ib_modify_qp(q->qp, &attr, IB_QP_STATE);
}

/**
 * kv_wait() - wait for a completion
 * @kv: the run
 * @cq: where
 * @wc: filled in
 */
int kv_wait(struct kv *kv, struct ib_cq *cq, struct ib_wc *wc)
{
	unsigned long end = jiffies + msecs_to_jiffies(KV_WAIT_MS);
	int n;

	for (;;) {
		n = ib_poll_cq(cq, 1, wc);
		if (n == 1)
			return 0;
		KV_IS(kv, n, 0);
		KV_EXPECT(kv, time_before(jiffies, end), "no completion");
		usleep_range(20, 100);
	}
}

struct event_of {
	struct kv_qp *q;
	enum ib_event_type event;
};

static bool has_event(void *arg)
{
	struct event_of *e = arg;

	return test_bit(e->event, &e->q->events);
}

/**
 * kv_event() - wait for an asynchronous event
 * @kv: the run
 * @q: of which QP
 * @event: the event
 */
int kv_event(struct kv *kv, struct kv_qp *q, enum ib_event_type event)
{
	struct event_of e = { q, event };

	KV_EXPECT(kv, kv_becomes(has_event, &e), "no %s", ib_event_msg(event));
	KV_EXPECT(kv, !READ_ONCE(q->event_is_atomic), "%s comes where nothing may sleep",
		  ib_event_msg(event));
	return 0;
}

/**
 * kv_send_wr() - a signaled SEND
 * @sge: what is sent
 */
struct ib_send_wr kv_send_wr(struct ib_sge *sge)
{
	return (struct ib_send_wr){
		.sg_list = sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
}

/**
 * kv_post() - post sends
 * @kv: the run
 * @q: the QP
 * @wr: list of work requests
 */
int kv_post(struct kv *kv, struct kv_qp *q, const struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad = NULL;

	KV_IS(kv, ib_post_send(q->qp, wr, &bad), 0);
	return 0;
}

/**
 * kv_do() - post a send and wait for it
 * @kv: the run
 * @q: the QP
 * @wr: the work request, signaled
 *
 * Return: its status, or a negative error.
 */
int kv_do(struct kv *kv, struct kv_qp *q, const struct ib_send_wr *wr)
{
	struct ib_wc wc;

	KV_TRY(kv_post(kv, q, wr));
	KV_TRY(kv_wait(kv, q->scq, &wc));
	KV_IS(kv, wc.wr_id, wr->wr_id);
	KV_EXPECT(kv, wc.qp == q->qp, "another QP's completion");
	return wc.status;
}

/**
 * kv_rdma() - WRITE or READ, and wait for it
 * @kv: the run
 * @q: the QP
 * @op: IB_WR_RDMA_WRITE or IB_WR_RDMA_READ
 * @buf: local memory
 * @len: bytes
 * @addr: remote address
 * @rkey: and its key
 *
 * Return: its status, or a negative error.
 */
int kv_rdma(struct kv *kv, struct kv_qp *q, enum ib_wr_opcode op, void *buf,
	    u32 len, u64 addr, u32 rkey)
{
	struct ib_sge sge = { (uintptr_t)buf, len, q->pd->local_dma_lkey };
	struct ib_rdma_wr wr = {
		.wr.wr_id = 0x5eed0000 | op,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.wr.opcode = op,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = addr,
		.rkey = rkey,
	};

	return kv_do(kv, q, &wr.wr);
}

/**
 * kv_post_recv() - post a receive, with a way to tell its completion
 * @kv: the run
 * @q: the QP
 * @cqe: what its completion leads to, or what is to be its id
 * @buf: local memory
 * @len: bytes
 */
int kv_post_recv(struct kv *kv, struct kv_qp *q, struct ib_cqe *cqe, void *buf,
		 u32 len)
{
	struct ib_sge sge = { (uintptr_t)buf, len, q->pd->local_dma_lkey };
	struct ib_recv_wr wr = {
		.wr_cqe = cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	KV_IS(kv, ib_post_recv(q->qp, &wr, NULL), 0);
	return 0;
}

/**
 * kv_post_send() - post a SEND, without waiting for it
 * @kv: the run
 * @q: the QP
 * @cqe: what its completion leads to
 * @buf: local memory
 * @len: bytes
 */
int kv_post_send(struct kv *kv, struct kv_qp *q, struct ib_cqe *cqe, void *buf,
		 u32 len)
{
	struct ib_sge sge = { (uintptr_t)buf, len, q->pd->local_dma_lkey };
	struct ib_send_wr wr = kv_send_wr(&sge);

	wr.wr_cqe = cqe;
	return kv_post(kv, q, &wr);
}

/**
 * kv_recv() - post a receive
 * @kv: the run
 * @q: the QP
 * @buf: local memory; its address is the work request's id
 * @len: bytes
 */
int kv_recv(struct kv *kv, struct kv_qp *q, void *buf, u32 len)
{
	return kv_post_recv(kv, q, buf, buf, len);
}

/**
 * kv_send_sge() - SEND of any memory, and wait for it
 * @kv: the run
 * @q: the QP
 * @sge: the memory
 *
 * Return: its status, or a negative error.
 */
int kv_send_sge(struct kv *kv, struct kv_qp *q, struct ib_sge sge)
{
	struct ib_send_wr wr = kv_send_wr(&sge);

	wr.wr_id = 0x5e4d;
	return kv_do(kv, q, &wr);
}

/**
 * kv_send() - SEND, and wait for it
 * @kv: the run
 * @q: the QP
 * @buf: local memory
 * @len: bytes
 *
 * Return: its status, or a negative error.
 */
int kv_send(struct kv *kv, struct kv_qp *q, void *buf, u32 len)
{
	struct ib_sge sge = { (uintptr_t)buf, len, q->pd->local_dma_lkey };

	return kv_send_sge(kv, q, sge);
}
