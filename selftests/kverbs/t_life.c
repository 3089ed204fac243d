// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Objects that are destroyed while somebody still looks at them. Some kernels let
 * `rdma resource` and `rdma statistic` find an object until the driver has destroyed it
 * (those without rdma_restrack_begin_del()). So whatever they call is called here at the
 * latest possible time: when the driver's destroy has returned to the core, which is about
 * to free the object. The device's operations are replaced for that.
 */

#include <linux/interrupt.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <rdma/rdma_counter.h>
#include <uapi/rdma/rdma_netlink.h>
#include "kverbs.h"

/* An interrupt may schedule a tasklet, too, but not each time. */
#define TRIES	8

/**
 * struct watch - what was seen of an object that was destroyed
 * @destroy_cq: the device's own operation
 * @destroy_qp: the device's own operation
 * @destroyed: calls of the driver's destroy that have returned
 * @ret: the first error of what was called then, or 0
 * @used: entries in the CQ
 * @tasklets: how often a query has scheduled a tasklet
 * @state: the QP's state
 * @bound: what came of binding the QP to a counter set
 */
static struct watch {
	int	(*destroy_cq)(struct ib_cq *cq, struct ib_udata *udata);
	int	(*destroy_qp)(struct ib_qp *qp, struct ib_udata *udata);
	int	destroyed;
	int	ret;
	u64	used;
	int	tasklets;
	int	state;
	int	bound;
} watch;

/* The value of a driver attribute in @msg, or U64_MAX if it is not there */
static u64 driver_attr(const struct sk_buff *msg, const char *name)
{
	const struct nlattr *table = (struct nlattr *)msg->data, *attr;
	bool found = false;
	int rem;

	nla_for_each_nested(attr, table, rem) {
		if (found)
			return nla_type(attr) == RDMA_NLDEV_ATTR_DRIVER_U32 ?
				nla_get_u32(attr) : nla_get_u64(attr);
		found = nla_type(attr) == RDMA_NLDEV_ATTR_DRIVER_STRING &&
			!nla_strcmp(attr, name);
	}
	return U64_MAX;
}

static void note(int ret)
{
	watch.ret = watch.ret ?: ret;
}

static int destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	struct sk_buff *msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	int ret = watch.destroy_cq(cq, udata);

	watch.destroyed++;
	note(msg ? cq->device->ops.fill_res_cq_entry(msg, cq) : -ENOMEM);
	if (msg)
		watch.used = driver_attr(msg, "used");
	kfree_skb(msg);
	return ret;
}

/* Tasklets can't run, so what the query schedules can be seen. */
static bool query_schedules(struct ib_qp *qp, struct ib_qp_attr *attr)
{
	struct ib_qp_init_attr init = {};
	bool before, after;

	local_bh_disable();
	before = local_softirq_pending() & BIT(TASKLET_SOFTIRQ);
	note(qp->device->ops.query_qp(qp, attr, 0, &init));
	after = local_softirq_pending() & BIT(TASKLET_SOFTIRQ);
	local_bh_enable();
	return after && !before;
}

static int destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	struct sk_buff *msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	int ret = watch.destroy_qp(qp, udata), i;
	struct rdma_counter set = { .device = qp->device };
	struct ib_qp_attr attr = {};

	watch.destroyed++;
	for (i = 0; i < TRIES; i++)
		watch.tasklets += query_schedules(qp, &attr);
	watch.state = attr.qp_state;
	note(msg ? qp->device->ops.fill_res_qp_entry(msg, qp) : -ENOMEM);
	kfree_skb(msg);
	watch.bound = qp->device->ops.counter_bind_qp(&set, qp);
	qp->device->ops.counter_unbind_qp(qp);
	qp->device->ops.counter_dealloc(&set);
	return ret;
}

static void undo_ops(void *arg)
{
	struct ib_device *dev = arg;

	dev->ops.destroy_cq = watch.destroy_cq;
	dev->ops.destroy_qp = watch.destroy_qp;
}

static void watch_destroy(struct kv *kv)
{
	struct ib_device *dev = kv->dev[0];

	memset(&watch, 0, sizeof(watch));
	watch.destroy_cq = dev->ops.destroy_cq;
	watch.destroy_qp = dev->ops.destroy_qp;
	dev->ops.destroy_cq = destroy_cq;
	dev->ops.destroy_qp = destroy_qp;
	kv_later(kv, undo_ops, dev);
}

/* A CQ with 3 completions */
static int destroyed_cq(struct kv *kv)
{
	struct ib_cq_init_attr attr = { .cqe = 64 };
	struct kv_opts opts = {};
	struct kv_qp *q;
	struct ib_cq *cq;
	u8 *buf;
	int i;

	KV_GET(buf, kv_buf(kv, 4096));
	cq = ib_create_cq(kv->dev[0], NULL, NULL, NULL, &attr);
	KV_EXPECT(kv, !IS_ERR(cq), "ib_create_cq: %ld", PTR_ERR(cq));
	opts.cq = cq;
	q = kv_qp(kv, 0, &opts);
	if (q) {
		kv_init(kv, q);
		for (i = 0; i < 3; i++)
			kv_recv(kv, q, buf, 64);
		kv_to(q, IB_QPS_ERR);
		/* the case destroys the QP itself */
		kv->undos--;
		ib_destroy_qp(q->qp);
		kfree(q);
	}
	watch_destroy(kv);
	ib_destroy_cq(cq);
	KV_GET(q, q);
	KV_IS(kv, watch.destroyed, 1);
	KV_IS(kv, watch.ret, 0);
	KV_IS(kv, watch.used, 0);
	return 0;
}

static int destroyed_qp(struct kv *kv)
{
	struct kv_opts opts = {};
	struct kv_qp *q;

	KV_GET(q, kv_qp(kv, 0, &opts));
	KV_TRY(kv_init(kv, q));
	/* the case destroys the QP itself */
	kv->undos--;
	watch_destroy(kv);
	ib_destroy_qp(q->qp);
	kfree(q);
	KV_IS(kv, watch.destroyed, 1);
	KV_IS(kv, watch.ret, 0);
	KV_IS(kv, watch.state, IB_QPS_RESET);
	KV_EXPECT(kv, watch.tasklets < TRIES, "each query has scheduled a tasklet");
	KV_IS(kv, watch.bound, -EINVAL);
	return 0;
}

KV_CASES(life) = {
	{ "life: a CQ that was destroyed is still dumped", destroyed_cq },
	{ "life: a QP that was destroyed is still dumped, queried and bound", destroyed_qp },
	{ }
};
