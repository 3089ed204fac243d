// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Address handles, shared receive queues, QPs: their attributes and events. */

#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include "kverbs.h"

static void path(struct rdma_ah_attr *ah, const struct kv_qp *q,
		 const struct kv_qp *peer)
{
	memset(ah, 0, sizeof(*ah));
	ah->type = rdma_ah_find_type(q->dev, 1);
	rdma_ah_set_port_num(ah, 1);
	rdma_ah_set_grh(ah, (union ib_gid *)&peer->gid, 0, q->gid_index, 64,
			0x20);
}

static int ud_pair(struct kv *kv, struct kv_qp **a, struct kv_qp **b)
{
	const struct kv_opts ud = { .type = IB_QPT_UD };

	return kv_pair(kv, &ud, a, b);
}

static int ud_send(struct kv *kv, struct kv_qp *a, struct kv_qp *b,
		   struct ib_ah *ah, void *buf)
{
	struct ib_sge sge = { (uintptr_t)buf, 100, a->pd->local_dma_lkey };
	struct ib_ud_wr wr = {
		.wr = kv_send_wr(&sge),
		.ah = ah,
		.remote_qpn = b->qp->qp_num,
		.remote_qkey = 0x1234,
	};

	wr.wr.wr_id = 1;
	return kv_post(kv, a, &wr.wr);
}

/* As the core's MAD code and IPoIB do it, under their locks */
static int ah_atomic(struct kv *kv)
{
	struct rdma_ah_attr attr, got;
	struct kv_qp *a, *b;
	unsigned long flags;
	struct ib_ah *ah[8];
	spinlock_t lock;
	struct ib_wc wc;
	u8 *buf;
	int i, n, ret = 0;

	KV_TRY(ud_pair(kv, &a, &b));
	KV_GET(buf, kv_buf(kv, 4096));
	kv_fill(buf, 100, 4);
	for (i = 0; i < 8; i++)
		KV_TRY(kv_recv(kv, b, buf + 256 * (i + 1), 256));
	path(&attr, a, b);
	spin_lock_init(&lock);
	spin_lock_irqsave(&lock, flags);
	for (n = 0; n < 8; n++) {
		ah[n] = rdma_create_ah(a->pd, &attr, 0);
		if (IS_ERR(ah[n])) {
			ret = PTR_ERR(ah[n]);
			break;
		}
	}
	if (!ret)
		ret = rdma_query_ah(ah[0], &got);
	spin_unlock_irqrestore(&lock, flags);
	for (i = 0; i < n && !ret; i++)
		ret = ud_send(kv, a, b, ah[i], buf);
	/* the packets may be on their way yet */
	spin_lock_irqsave(&lock, flags);
	for (i = 0; i < n; i++)
		rdma_destroy_ah(ah[i], 0);
	spin_unlock_irqrestore(&lock, flags);
	KV_IS(kv, ret, 0);
	KV_IS(kv, rdma_ah_read_grh(&got)->traffic_class, 0x20);
	KV_EXPECT(kv, !memcmp(&rdma_ah_read_grh(&got)->dgid, &b->gid, 16),
		  "another GID");
	for (i = 0; i < 8; i++) {
		KV_TRY(kv_wait(kv, a->scq, &wc));
		KV_IS(kv, wc.status, IB_WC_SUCCESS);
		KV_TRY(kv_wait(kv, b->rcq, &wc));
		KV_IS(kv, wc.status, IB_WC_SUCCESS);
		KV_IS(kv, wc.byte_len, 140);
		KV_IS(kv, wc.src_qp, a->qp->qp_num);
		KV_EXPECT(kv, wc.wc_flags & IB_WC_GRH, "no GRH");
		KV_TRY(kv_same(kv, (u8 *)(uintptr_t)wc.wr_id + 40, 100, 4));
	}
	return 0;
}

/* Send from @a to @b by an address handle, and end that. */
static int send_and_end(struct kv *kv, struct kv_qp *a, struct kv_qp *b,
			struct ib_ah *ah, void *buf)
{
	int ret = ud_send(kv, a, b, ah, buf);

	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	return ret;
}

/* An address handle of @a's for the way to @b */
static struct ib_ah *ah_to(struct kv *kv, struct kv_qp *a, struct kv_qp *b)
{
	struct rdma_ah_attr attr;
	struct ib_ah *ah;

	path(&attr, a, b);
	ah = rdma_create_ah(a->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	if (!IS_ERR(ah))
		return ah;
	KV_FAIL(kv, "rdma_create_ah: %ld", PTR_ERR(ah));
	return NULL;
}

static int ah_modified(struct kv *kv)
{
	struct rdma_ah_attr attr, got;
	struct kv_qp *a, *b;
	struct ib_ah *ah;
	struct ib_wc wc;
	u8 *buf;
	int ret;

	KV_TRY(ud_pair(kv, &a, &b));
	KV_GET(buf, kv_buf(kv, 4096));
	KV_TRY(kv_recv(kv, b, buf + 1024, 256));
	/* to itself first */
	KV_GET(ah, ah_to(kv, a, a));
	path(&attr, a, b);
	ret = rdma_modify_ah(ah, &attr);
	if (!ret)
		ret = rdma_query_ah(ah, &got);
	KV_TRY(send_and_end(kv, a, b, ah, buf));
	KV_IS(kv, ret, 0);
	KV_EXPECT(kv, !memcmp(&rdma_ah_read_grh(&got)->dgid, &b->gid, 16),
		  "another GID");
	KV_TRY(kv_wait(kv, b->rcq, &wc));
	KV_IS(kv, wc.status, IB_WC_SUCCESS);
	return 0;
}

/* The way back to whoever sent a packet, found by its GRH */
static int ah_from_wc(struct kv *kv)
{
	struct kv_qp *a, *b;
	struct ib_ah *ah;
	struct ib_wc wc;
	u8 *buf;

	KV_TRY(ud_pair(kv, &a, &b));
	KV_GET(buf, kv_buf(kv, 4096));
	KV_TRY(kv_recv(kv, b, buf + 1024, 256));
	KV_TRY(kv_recv(kv, a, buf + 2048, 256));
	KV_GET(ah, ah_to(kv, a, b));
	KV_TRY(send_and_end(kv, a, b, ah, buf));
	KV_TRY(kv_wait(kv, b->rcq, &wc));
	KV_IS(kv, wc.network_hdr_type, RDMA_NETWORK_IPV4);
	/* an answer has no other priority for it */
	KV_IS(kv, wc.sl, 0);
	ah = ib_create_ah_from_wc(b->pd, &wc, (struct ib_grh *)(buf + 1024), 1);
	KV_EXPECT(kv, !IS_ERR(ah), "ib_create_ah_from_wc: %ld", PTR_ERR(ah));
	KV_TRY(send_and_end(kv, b, a, ah, buf));
	KV_TRY(kv_wait(kv, a->rcq, &wc));
	KV_IS(kv, wc.src_qp, b->qp->qp_num);
	return 0;
}

struct srq_watch {
	unsigned long events;
	struct ib_srq *srq;
};

static void srq_event(struct ib_event *ev, void *ctx)
{
	struct srq_watch *w = ctx;

	if (ev->element.srq == w->srq)
		set_bit(ev->event, &w->events);
}

static bool limit_reached(void *arg)
{
	return test_bit(IB_EVENT_SRQ_LIMIT_REACHED,
			&((struct srq_watch *)arg)->events);
}

static void undo_srq(void *arg)
{
	ib_destroy_srq(arg);
}

static struct srq_watch *srq_on(struct kv *kv, struct ib_pd *pd, u32 wr)
{
	struct srq_watch *w = kv_buf(kv, sizeof(*w));
	struct ib_srq_init_attr init = {
		.event_handler = srq_event,
		.srq_context = w,
		.srq_type = IB_SRQT_BASIC,
		.attr.max_wr = wr,
		.attr.max_sge = 2,
	};

	if (!w)
		return NULL;
	w->srq = ib_create_srq(pd, &init);
	if (IS_ERR(w->srq)) {
		KV_FAIL(kv, "ib_create_srq: %ld", PTR_ERR(w->srq));
		return NULL;
	}
	kv_later(kv, undo_srq, w->srq);
	return w;
}

static int srq_recvs(struct kv *kv, struct kv_qp *b, struct ib_srq *srq,
		     void *buf, int n)
{
	struct ib_sge sge = { (uintptr_t)buf, 64, b->pd->local_dma_lkey };
	struct ib_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };

	for (wr.wr_id = 0; wr.wr_id < n; wr.wr_id++)
		KV_IS(kv, ib_post_srq_recv(srq, &wr, NULL), 0);
	return 0;
}

/* Two QPs take from one queue; below the limit an event comes, once. */
static int srq_limit(struct kv *kv)
{
	struct kv_opts shared = {}, usual = {};
	struct ib_srq_attr attr = { .srq_limit = 5 };
	struct kv_qp *a[2], *b[2];
	struct srq_watch *w;
	struct ib_wc wc;
	void *buf;
	int i;

	KV_GET(shared.pd, kv_pd(kv, 1, 0));
	KV_GET(w, srq_on(kv, shared.pd, 16));
	shared.srq = w->srq;
	for (i = 0; i < 2; i++) {
		KV_GET(a[i], kv_qp(kv, 0, &usual));
		KV_GET(b[i], kv_qp(kv, 1, &shared));
		KV_TRY(kv_connect(kv, a[i], b[i]));
	}
	KV_GET(buf, kv_buf(kv, 64));
	KV_TRY(srq_recvs(kv, b[0], w->srq, buf, 10));
	KV_IS(kv, ib_modify_srq(w->srq, &attr, IB_SRQ_LIMIT), 0);
	for (i = 0; i < 5; i++)
		KV_IS(kv, kv_send(kv, a[i & 1], buf, 8), IB_WC_SUCCESS);
	KV_EXPECT(kv, !limit_reached(w), "an event with five left");
	KV_IS(kv, ib_query_srq(w->srq, &attr), 0);
	KV_IS(kv, attr.srq_limit, 5);
	KV_IS(kv, kv_send(kv, a[0], buf, 8), IB_WC_SUCCESS);
	KV_EXPECT(kv, kv_becomes(limit_reached, w), "no event");
	KV_IS(kv, ib_query_srq(w->srq, &attr), 0);
	KV_IS(kv, attr.srq_limit, 0);
	w->events = 0;
	KV_IS(kv, kv_send(kv, a[1], buf, 8), IB_WC_SUCCESS);
	/* in order over both QPs, each with its own completions */
	for (i = 0; i < 7; i++) {
		int from = i < 6 ? i & 1 : 1;

		from = i == 5 ? 0 : from;
		KV_TRY(kv_wait(kv, b[from]->rcq, &wc));
		KV_IS(kv, wc.wr_id, i);
		KV_EXPECT(kv, wc.qp == b[from]->qp, "another QP");
	}
	KV_EXPECT(kv, !w->events, "an event without a limit");
	return 0;
}

static int srq_last(struct kv *kv)
{
	struct kv_opts shared = {}, usual = {};
	struct srq_watch *w;
	struct kv_qp *a, *b;
	void *buf;

	KV_GET(shared.pd, kv_pd(kv, 1, 0));
	KV_GET(w, srq_on(kv, shared.pd, 16));
	shared.srq = w->srq;
	KV_GET(a, kv_qp(kv, 0, &usual));
	KV_GET(b, kv_qp(kv, 1, &shared));
	KV_TRY(kv_connect(kv, a, b));
	KV_GET(buf, kv_buf(kv, 64));
	KV_TRY(srq_recvs(kv, b, w->srq, buf, 10));
	KV_IS(kv, kv_to(b, IB_QPS_ERR), 0);
	KV_TRY(kv_event(kv, b, IB_EVENT_QP_LAST_WQE_REACHED));
	return 0;
}

static int srq_misuse(struct kv *kv)
{
	struct kv_opts shared = {};
	struct ib_srq_attr attr = { .srq_limit = 1000 };
	struct ib_recv_wr wr = {};
	const struct ib_recv_wr *bad;
	struct srq_watch *w;
	struct kv_qp *b;
	int i, ret = 0;

	KV_GET(shared.pd, kv_pd(kv, 1, 0));
	KV_GET(w, srq_on(kv, shared.pd, 16));
	shared.srq = w->srq;
	KV_GET(b, kv_qp(kv, 1, &shared));
	KV_TRY(kv_init(kv, b));
	KV_EXPECT(kv, ib_post_recv(b->qp, &wr, &bad) < 0,
		  "a receive for a QP with an SRQ");
	KV_IS(kv, ib_modify_srq(w->srq, &attr, IB_SRQ_LIMIT), -EINVAL);
	wr.num_sge = kv->dev[1]->attrs.max_srq_sge + 1;
	KV_IS(kv, ib_post_srq_recv(w->srq, &wr, &bad), -EINVAL);
	KV_EXPECT(kv, bad == &wr, "the bad one");
	wr.num_sge = 0;
	for (i = 0; i < 100 && !ret; i++)
		ret = ib_post_srq_recv(w->srq, &wr, &bad);
	KV_IS(kv, ret, -ENOMEM);
	KV_EXPECT(kv, i > 16, "%d fitted", i - 1);
	return 0;
}

static int queried(struct kv *kv)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	struct kv_qp *a, *b;

	KV_TRY(kv_pair(kv, NULL, &a, &b));
	KV_IS(kv, ib_query_qp(a->qp, &attr, ~0, &init), 0);
	KV_IS(kv, attr.qp_state, IB_QPS_RTS);
	KV_IS(kv, attr.cur_qp_state, IB_QPS_RTS);
	KV_IS(kv, attr.path_mtu, IB_MTU_1024);
	KV_IS(kv, attr.dest_qp_num, b->qp->qp_num);
	KV_IS(kv, attr.qp_access_flags, KV_ALL_RIGHTS);
	KV_IS(kv, attr.max_rd_atomic, 8);
	KV_IS(kv, attr.max_dest_rd_atomic, 8);
	KV_IS(kv, attr.timeout, 16);
	KV_IS(kv, attr.retry_cnt, 7);
	KV_IS(kv, attr.rnr_retry, 7);
	KV_IS(kv, attr.min_rnr_timer, 1);
	KV_IS(kv, attr.port_num, 1);
	/* no more than a CQ has been made for */
	KV_IS(kv, attr.cap.max_send_wr, 64);
	KV_IS(kv, attr.cap.max_recv_wr, 64);
	KV_EXPECT(kv, !memcmp(&rdma_ah_read_grh(&attr.ah_attr)->dgid, &b->gid,
			      16), "another GID");
	KV_EXPECT(kv, init.send_cq == a->scq && init.recv_cq == a->rcq,
		  "other CQs");
	KV_IS(kv, init.qp_type, IB_QPT_RC);
	KV_IS(kv, init.sq_sig_type, IB_SIGNAL_REQ_WR);
	return 0;
}

static int transitions(struct kv *kv)
{
	const struct kv_opts usual = {};
	struct kv_qp *a;

	KV_GET(a, kv_qp(kv, 0, &usual));
	KV_EXPECT(kv, kv_to(a, IB_QPS_RTS) < 0, "RESET to RTS");
	KV_EXPECT(kv, kv_to(a, IB_QPS_INIT) < 0, "without attributes");
	KV_TRY(kv_init(kv, a));
	KV_EXPECT(kv, kv_to(a, IB_QPS_RTS) < 0, "INIT to RTS");
	KV_IS(kv, kv_to(a, IB_QPS_ERR), 0);
	KV_EXPECT(kv, kv_to(a, IB_QPS_RTS) < 0, "ERR to RTS");
	KV_IS(kv, kv_to(a, IB_QPS_RESET), 0);
	KV_TRY(kv_init(kv, a));
	return 0;
}

/* A peer that answers, but has no receive, and one that is not there */
static int rnr_exceeded(struct kv *kv)
{
	const struct kv_opts usual = {};
	struct kv_qp *a, *b;
	void *buf;

	KV_GET(a, kv_qp(kv, 0, &usual));
	KV_GET(b, kv_qp(kv, 1, &usual));
	KV_TRY(kv_init(kv, a));
	KV_TRY(kv_init(kv, b));
	KV_TRY(kv_rtr(kv, a, b, 2));
	KV_TRY(kv_rtr(kv, b, a, 2));
	KV_GET(buf, kv_buf(kv, 64));
	KV_IS(kv, kv_send(kv, a, buf, 8), IB_WC_RNR_RETRY_EXC_ERR);
	KV_IS(kv, kv_state(a), IB_QPS_ERR);
	KV_IS(kv, kv_state(b), IB_QPS_RTS);
	return 0;
}

static int comm_est(struct kv *kv)
{
	const struct kv_opts usual = {};
	struct ib_qp_attr attr = {};
	struct kv_qp *a, *b;
	void *buf;
	int mask;

	KV_GET(a, kv_qp(kv, 0, &usual));
	KV_GET(b, kv_qp(kv, 1, &usual));
	KV_TRY(kv_connect(kv, a, b));
	KV_IS(kv, kv_to(b, IB_QPS_RESET), 0);
	KV_TRY(kv_init(kv, b));
	attr.qp_state = IB_QPS_RTR;
	attr.path_mtu = IB_MTU_1024;
	attr.dest_qp_num = a->qp->qp_num;
	attr.rq_psn = a->qp->qp_num & 0xffffff;
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 1;
	path(&attr.ah_attr, b, a);
	mask = IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
	       IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER;
	KV_IS(kv, ib_modify_qp(b->qp, &attr, mask), 0);
	KV_GET(buf, kv_buf(kv, 64));
	KV_TRY(kv_recv(kv, b, buf, 64));
	KV_IS(kv, kv_send(kv, a, buf, 8), IB_WC_SUCCESS);
	return kv_event(kv, b, IB_EVENT_COMM_EST);
}

static int no_xrc_qp(struct kv *kv, struct kv_qp *q, enum ib_qp_type type)
{
	struct ib_qp_init_attr init = {
		.qp_type = type, .send_cq = q->scq, .recv_cq = q->rcq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};
	struct ib_qp *qp;

	qp = ib_create_qp(q->pd, &init);
	if (!IS_ERR(qp))
		ib_destroy_qp(qp);
	KV_IS(kv, PTR_ERR_OR_ZERO(qp), -EOPNOTSUPP);
	return 0;
}

/*
 * There is no field in which a work request could name the peer's SRQ, so there is
 * no XRC, at either end, and nothing says that there were.
 */
static int no_xrc(struct kv *kv)
{
	struct ib_srq_init_attr init = {
		.srq_type = IB_SRQT_XRC, .attr = { .max_wr = 8, .max_sge = 1 },
	};
	struct ib_xrcd *xrcd;
	struct ib_srq *srq;
	struct kv_qp *a, *b;

	KV_TRY(kv_pair(kv, &(struct kv_opts){}, &a, &b));
	KV_IS(kv, a->dev->attrs.device_cap_flags & IB_DEVICE_XRC, 0);
	xrcd = ib_alloc_xrcd_user(a->dev, NULL, NULL);
	if (!IS_ERR(xrcd))
		ib_dealloc_xrcd_user(xrcd, NULL);
	KV_IS(kv, PTR_ERR_OR_ZERO(xrcd), -EOPNOTSUPP);
	init.ext.cq = a->rcq;
	srq = ib_create_srq(a->pd, &init);
	if (!IS_ERR(srq))
		ib_destroy_srq(srq);
	KV_IS(kv, PTR_ERR_OR_ZERO(srq), -EOPNOTSUPP);
	KV_TRY(no_xrc_qp(kv, a, IB_QPT_XRC_INI));
	KV_TRY(no_xrc_qp(kv, a, IB_QPT_XRC_TGT));
	return 0;
}

KV_CASES(objects) = {
	{ "objects: address handles in atomic context", ah_atomic },
	{ "objects: an address handle is modified", ah_modified },
	{ "objects: an address handle from a completion", ah_from_wc },
	{ "objects: two QPs on an SRQ, and its limit", srq_limit },
	{ "objects: LAST_WQE_REACHED", srq_last },
	{ "objects: an SRQ refuses what does not fit", srq_misuse },
	{ "objects: ib_query_qp says what was set", queried },
	{ "objects: transitions that there are not", transitions },
	{ "objects: RNR_RETRY_EXC_ERR", rnr_exceeded },
	{ "objects: COMM_EST", comm_est },
	{ "objects: no XRC", no_xrc },
	{ }
};
