// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A consumer that works all the time, until its device is taken away: then it
 * has to come to rest, and to give everything back.
 */

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include "kverbs.h"

#define DEPTH	16

struct live {
	struct kv	kv;
	struct kv_qp	*q[2], *member;
	struct ib_cqe	cqe;
	void		*buf;
	u64		sent;
	atomic64_t	done;
	atomic_t	bad;
	struct task_struct *task;
};

/* ff0e::1:2 */
static union ib_gid group = { { 0xff, 0x0e, [13] = 1, [15] = 2 } };

static DEFINE_MUTEX(live_lock);
static struct live *live;
static char last[64] = "idle";

static void live_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct live *l = container_of(wc->wr_cqe, struct live, cqe);

	if (wc->status != IB_WC_SUCCESS)
		atomic_inc(&l->bad);
	atomic64_inc(&l->done);
}

static int work(void *arg)
{
	struct live *l = arg;
	struct ib_sge sge = { (uintptr_t)l->buf, 4096,
			      l->q[0]->pd->local_dma_lkey };
	struct ib_recv_wr rwr = {
		.wr_cqe = &l->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &l->cqe,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	while (!kthread_should_stop()) {
		if (l->sent * 2 - atomic64_read(&l->done) > DEPTH) {
			usleep_range(20, 100);
			continue;
		}
		sge.lkey = l->q[1]->pd->local_dma_lkey;
		if (ib_post_recv(l->q[1]->qp, &rwr, NULL))
			break;
		sge.lkey = l->q[0]->pd->local_dma_lkey;
		if (ib_post_send(l->q[0]->qp, &wr, NULL))
			break;
		l->sent++;
	}
	while (!kthread_should_stop())
		usleep_range(100, 1000);
	return 0;
}

static void give_back(struct kv *kv)
{
	while (kv->undos--)
		kv->undo[kv->undos].fn(kv->undo[kv->undos].arg);
	while (kv->mems--)
		kv->mem[kv->mems].fn(kv->mem[kv->mems].arg);
}

/* A QP in a group, which the netdev has to leave with it */
static int join(struct live *l)
{
	struct kv_opts opts = { .type = IB_QPT_UD };
	int ret;

	KV_GET(l->member, kv_qp(&l->kv, 0, &opts));
	KV_TRY(kv_init(&l->kv, l->member));
	ret = ib_attach_mcast(l->member->qp, &group, be16_to_cpu(IB_MULTICAST_LID_BASE));
	return ret ? KV_FAIL(&l->kv, "ib_attach_mcast: %d", ret) : 0;
}

static int set_up(struct live *l)
{
	struct kv_opts opts = {};
	int i;

	l->cqe.done = live_done;
	KV_GET(l->buf, kv_buf(&l->kv, 4096));
	for (i = 0; i < 2; i++) {
		KV_GET(opts.cq, kv_api_cq(&l->kv, i, 256,
					  i ? IB_POLL_WORKQUEUE :
					      IB_POLL_SOFTIRQ));
		KV_GET(l->q[i], kv_qp(&l->kv, i, &opts));
	}
	KV_TRY(kv_connect(&l->kv, l->q[0], l->q[1]));
	return join(l);
}

/**
 * kv_live_start() - begin to work
 * @dev: on which device; it is not removed meanwhile
 */
int kv_live_start(struct ib_device *dev)
{
	struct live *l;
	int ret = -EBUSY;

	mutex_lock(&live_lock);
	if (live)
		goto out;
	l = kzalloc(sizeof(*l), GFP_KERNEL);
	ret = -ENOMEM;
	if (!l)
		goto out;
	l->kv.dev[0] = dev;
	l->kv.dev[1] = dev;
	ret = set_up(l);
	if (!ret) {
		l->task = kthread_run(work, l, "kverbs/live");
		ret = PTR_ERR_OR_ZERO(l->task);
	}
	if (ret) {
		pr_err("live: %s\n", l->kv.why);
		give_back(&l->kv);
		kfree(l);
		goto out;
	}
	live = l;
	strscpy(last, "working", sizeof(last));
out:
	mutex_unlock(&live_lock);
	return ret;
}

/* All that was posted has completed once both are drained. */
static void end(void)
{
	struct live *l = live;
	u64 done;

	if (!l)
		return;
	live = NULL;
	kthread_stop(l->task);
	ib_drain_qp(l->q[0]->qp);
	ib_drain_qp(l->q[1]->qp);
	ib_detach_mcast(l->member->qp, &group, be16_to_cpu(IB_MULTICAST_LID_BASE));
	done = atomic64_read(&l->done);
	snprintf(last, sizeof(last), "%s: %llu of %llu",
		 done == 2 * l->sent && done ? "drained" : "left", done,
		 2 * l->sent);
	give_back(&l->kv);
	kfree(l);
}

/**
 * kv_live_removed() - a device goes: stop if it is the one
 * @dev: the device
 */
void kv_live_removed(struct ib_device *dev)
{
	mutex_lock(&live_lock);
	if (live && live->kv.dev[0] == dev)
		end();
	mutex_unlock(&live_lock);
}

/**
 * kv_live_stop() - stop whatever works
 */
void kv_live_stop(void)
{
	mutex_lock(&live_lock);
	end();
	mutex_unlock(&live_lock);
}

/**
 * kv_live_say() - how it goes, or has ended
 * @buf: filled in
 * @len: its size
 */
int kv_live_say(char *buf, size_t len)
{
	int n;

	mutex_lock(&live_lock);
	n = scnprintf(buf, len, "%s\n", last);
	if (live)
		n = scnprintf(buf, len, "%s: %llu, %d bad\n", last,
			      (u64)atomic64_read(&live->done),
			      atomic_read(&live->bad));
	mutex_unlock(&live_lock);
	return n;
}
