// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The counters of a device, and of QPs that are bound to a counter set of their own, for
 * `rdma statistic` and hw_counters. A QP counts in one set only, its own or that of the
 * device. The core adds them up.
 */

#include <linux/slab.h>
#include <net/netlink.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>
#include "drv/core/qp.h"
#include "drv/dev/stats.h"
#include "drv/lookup/sdev.h"
#include "drv/task/task.h"

/**
 * struct sroce_stat - a set of counters for some QPs
 * @counters: the counters, per CPU
 */
struct sroce_stat {
	struct sroce_counters __percpu *counters;
};

#define SROCE_COUNTER_DESC(id, text)					\
	[SROCE_CNT_##id] = { .name = text },

static const struct rdma_stat_desc descs[] = {
	SROCE_COUNTERS(SROCE_COUNTER_DESC)
};

/*
 * The RDMA core allocates NLMSG_DEFAULT_SIZE for the reply to `rdma statistic show link`, and
 * fails with -EMSGSIZE if that does not hold all counters. Attributes of each: a nest, the name
 * and a u64; before them index, name and port of the device, and the nest of all.
 */
#define SROCE_COUNTER_ATTRS(id, text)					\
	+ NLA_HDRLEN + nla_total_size(sizeof(text)) + nla_total_size(sizeof(u64))
#define COUNTERS_LEN	(0 SROCE_COUNTERS(SROCE_COUNTER_ATTRS))
#define DEVICE_LEN	(2 * nla_total_size(sizeof(u32)) + nla_total_size(IFNAMSIZ) + NLA_HDRLEN)
/* With pages of 4 KiB, and a struct skb_shared_info of 320 bytes, as it mostly has. */
#define REPLY_LEN	(4096 - 320 - NLMSG_HDRLEN)

static u64 sum_cpus(struct sroce_counters __percpu *counters,
		    enum sroce_counter c)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(counters, cpu)->c[c]);
	return sum;
}

/**
 * sroce_stats_total() - value of a counter, over the device and all its QPs
 * @dev: the device
 * @c: the counter
 *
 * Context: process, may sleep.
 */
u64 sroce_stats_total(struct sroce_dev *dev, enum sroce_counter c)
{
	struct sroce_stat *stat;
	unsigned long id;
	u64 sum;

	mutex_lock(&dev->stat_lock);
	sum = sum_cpus(dev->counters, c) + dev->past.c[c];
	xa_for_each(&dev->stats, id, stat)
		sum += sum_cpus(stat->counters, c);
	mutex_unlock(&dev->stat_lock);
	return sum;
}

/**
 * sroce_stats_alloc_port() - allocate a snapshot of the device's counters
 * @ibdev: the device
 * @port: 1
 *
 * Return: the snapshot, or NULL without memory.
 */
struct rdma_hw_stats *sroce_stats_alloc_port(struct ib_device *ibdev,
					     u32 port)
{
	BUILD_BUG_ON(COUNTERS_LEN + DEVICE_LEN > REPLY_LEN);
	/* a lifespan of 1 ms: tests read a counter just after it has changed */
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs), 1);
}

/**
 * sroce_stats_get_port() - fill in a snapshot of the device's counters
 * @ibdev: the device
 * @stats: filled in
 * @port: 1
 * @index: ignored: all counters are filled in
 *
 * Return: number of counters, or -EINVAL without a port.
 */
int sroce_stats_get_port(struct ib_device *ibdev, struct rdma_hw_stats *stats,
			 u32 port, int index)
{
	int i;

	if (!port)
		return -EINVAL;
	for (i = 0; i < SROCE_CNT_NUM; i++)
		stats->value[i] = sum_cpus(to_sdev(ibdev)->counters, i);
	return SROCE_CNT_NUM;
}

static int new_stat(struct sroce_dev *dev, u32 *id)
{
	struct sroce_stat *stat = kzalloc(sizeof(*stat), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (!stat)
		return ret;
	stat->counters = alloc_percpu_gfp(struct sroce_counters,
					  GFP_KERNEL_ACCOUNT);
	if (stat->counters)
		ret = xa_alloc(&dev->stats, id, stat, xa_limit_32b,
			       GFP_KERNEL_ACCOUNT);
	if (ret) {
		free_percpu(stat->counters);
		kfree(stat);
	}
	return ret;
}

/* Return: whether the QP is not being destroyed; it counts in @counters in any case. */
static bool set_counters(struct sroce_qp *qp,
			 struct sroce_counters __percpu *counters)
{
	struct sroce_kqp *kqp = sroce_task_lock_query(qp);

	WRITE_ONCE(qp->counters, counters);
	sroce_task_unlock_query(qp, kqp);
	return kqp;
}

/**
 * sroce_stats_bind_qp() - have a QP count in a set from now on
 * @counter: the set; its id is 0 if it is new
 * @ibqp: the QP
 *
 * The RDMA core may find a QP that is being destroyed. It would never unbind that.
 *
 * Return: 0, -ENOMEM, or -EINVAL if there is no such set or the QP is being destroyed.
 */
int sroce_stats_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	struct sroce_dev *dev = to_sdev(ibqp->device);
	bool is_new = !counter->id;
	struct sroce_stat *stat;
	int ret;

	if (is_new) {
		ret = new_stat(dev, &counter->id);
		if (ret)
			return ret;
	}
	stat = xa_load(&dev->stats, counter->id);
	if (!stat)
		return -EINVAL;
	if (!set_counters(to_sqp(ibqp), stat->counters)) {
		set_counters(to_sqp(ibqp), dev->counters);
		if (is_new)
			sroce_stats_dealloc(counter);
		return -EINVAL;
	}
	ibqp->counter = counter;
	return 0;
}

/**
 * sroce_stats_unbind_qp() - have a QP count in the device's set again
 * @ibqp: the QP
 *
 * Return: 0.
 */
int sroce_stats_unbind_qp(struct ib_qp *ibqp)
{
	set_counters(to_sqp(ibqp), to_sdev(ibqp->device)->counters);
	/* or the core would take the QP as bound to a set that is freed next */
	ibqp->counter = NULL;
	return 0;
}

/**
 * sroce_stats_dealloc() - free a set
 * @counter: the set; no QP counts in it, and the core has saved its values
 *
 * Context: process, may sleep.
 *
 * Return: 0.
 */
int sroce_stats_dealloc(struct rdma_counter *counter)
{
	struct sroce_dev *dev = to_sdev(counter->device);
	struct sroce_stat *stat;
	int i;

	if (!counter->id)
		return 0;
	/* a packet or doorbell from before the unbind may still be counted, under RCU */
	synchronize_rcu();
	mutex_lock(&dev->stat_lock);
	stat = xa_erase(&dev->stats, counter->id);
	for (i = 0; stat && i < SROCE_CNT_NUM; i++)
		dev->past.c[i] += sum_cpus(stat->counters, i);
	mutex_unlock(&dev->stat_lock);
	counter->id = 0;
	if (stat) {
		free_percpu(stat->counters);
		kfree(stat);
	}
	return 0;
}

/**
 * sroce_stats_alloc() - allocate a snapshot of a set
 * @counter: the set
 *
 * Return: the snapshot, or NULL without memory.
 */
struct rdma_hw_stats *sroce_stats_alloc(struct rdma_counter *counter)
{
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs), 1);
}

/**
 * sroce_stats_update() - fill in the snapshot of a set
 * @counter: the set; @counter->stats is filled in
 *
 * Return: 0.
 */
int sroce_stats_update(struct rdma_counter *counter)
{
	struct sroce_dev *dev = to_sdev(counter->device);
	struct sroce_stat *stat;
	int i;

	mutex_lock(&dev->stat_lock);
	stat = counter->id ? xa_load(&dev->stats, counter->id) : NULL;
	for (i = 0; stat && i < SROCE_CNT_NUM; i++)
		counter->stats->value[i] = sum_cpus(stat->counters, i);
	mutex_unlock(&dev->stat_lock);
	return 0;
}
