// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The counters of a device and of QPs bound to a set of their own, for `rdma
 * statistic` and hw_counters. A QP counts in one place: what its own set has,
 * the device's has not; the core adds them up.
 */

#include <linux/slab.h>
#include <rdma/rdma_counter.h>
#include "drv/dev.h"

/**
 * struct sroce_stat - a set of counters for some QPs
 * @counters: per CPU
 */
struct sroce_stat {
	struct sroce_counters __percpu *counters;
};

#define SROCE_COUNTER_DESC(id, text)					\
	[SROCE_CNT_##id] = { .name = text },

static const struct rdma_stat_desc descs[] = {
	SROCE_COUNTERS(SROCE_COUNTER_DESC)
};

static u64 sum_of(struct sroce_counters __percpu *counters,
		  enum sroce_counter c)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(counters, cpu)->c[c]);
	return sum;
}

/**
 * sroce_stats_total() - a counter of the device and all its QPs
 * @dev: the device
 * @c: the counter
 */
u64 sroce_stats_total(struct sroce_dev *dev, enum sroce_counter c)
{
	struct sroce_stat *stat;
	unsigned long id;
	u64 sum;

	mutex_lock(&dev->stat_lock);
	sum = sum_of(dev->counters, c) + dev->past.c[c];
	xa_for_each(&dev->stats, id, stat)
		sum += sum_of(stat->counters, c);
	mutex_unlock(&dev->stat_lock);
	return sum;
}

/**
 * sroce_stats_alloc_port() - room for a snapshot of the counters
 * @ibdev: the device
 * @port: 1
 */
struct rdma_hw_stats *sroce_stats_alloc_port(struct ib_device *ibdev,
						u32 port)
{
	/* A lifespan of 1 ms: tests read a counter just after it moved. */
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs), 1);
}

/**
 * sroce_stats_get_port() - fill in a snapshot of the counters
 * @ibdev: the device
 * @stats: filled in
 * @port: 1
 * @index: unused, all are filled in
 */
int sroce_stats_get_port(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index)
{
	int i;

	if (!port)
		return -EINVAL;
	for (i = 0; i < SROCE_CNT_NUM; i++)
		stats->value[i] = sum_of(to_sdev(ibdev)->counters, i);
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

static void count_in(struct sroce_qp *qp,
		     struct sroce_counters __percpu *counters)
{
	sroce_task_lock(qp);
	WRITE_ONCE(qp->counters, counters);
	sroce_task_unlock(qp);
}

/**
 * sroce_stats_bind_qp() - have a QP count in a set, from now on
 * @counter: the set; it has no id yet if it is new
 * @ibqp: the QP
 */
int sroce_stats_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	struct sroce_dev *dev = to_sdev(ibqp->device);
	struct sroce_stat *stat;
	int ret;

	if (!counter->id) {
		ret = new_stat(dev, &counter->id);
		if (ret)
			return ret;
	}
	stat = xa_load(&dev->stats, counter->id);
	if (!stat)
		return -EINVAL;
	count_in(to_sqp(ibqp), stat->counters);
	ibqp->counter = counter;
	return 0;
}

/**
 * sroce_stats_unbind_qp() - have a QP count in the device's set again
 * @ibqp: the QP
 */
int sroce_stats_unbind_qp(struct ib_qp *ibqp)
{
	count_in(to_sqp(ibqp), to_sdev(ibqp->device)->counters);
	/* or the core takes it for bound to what is freed next */
	ibqp->counter = NULL;
	return 0;
}

/**
 * sroce_stats_dealloc() - end a set; no QP counts in it any more
 * @counter: the set; the core has kept its values
 */
int sroce_stats_dealloc(struct rdma_counter *counter)
{
	struct sroce_dev *dev = to_sdev(counter->device);
	struct sroce_stat *stat;
	int i;

	if (!counter->id)
		return 0;
	/* a packet that came before may still be counted: input.c */
	synchronize_rcu();
	mutex_lock(&dev->stat_lock);
	stat = xa_erase(&dev->stats, counter->id);
	for (i = 0; stat && i < SROCE_CNT_NUM; i++)
		dev->past.c[i] += sum_of(stat->counters, i);
	mutex_unlock(&dev->stat_lock);
	counter->id = 0;
	if (stat) {
		free_percpu(stat->counters);
		kfree(stat);
	}
	return 0;
}

/**
 * sroce_stats_alloc() - room for a snapshot of a set
 * @counter: the set
 */
struct rdma_hw_stats *sroce_stats_alloc(struct rdma_counter *counter)
{
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs), 1);
}

/**
 * sroce_stats_update() - fill in a snapshot of a set
 * @counter: the set
 */
int sroce_stats_update(struct rdma_counter *counter)
{
	struct sroce_dev *dev = to_sdev(counter->device);
	struct sroce_stat *stat;
	int i;

	mutex_lock(&dev->stat_lock);
	stat = counter->id ? xa_load(&dev->stats, counter->id) : NULL;
	for (i = 0; stat && i < SROCE_CNT_NUM; i++)
		counter->stats->value[i] = sum_of(stat->counters, i);
	mutex_unlock(&dev->stat_lock);
	return 0;
}
