// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The counters of a device, for `rdma statistic` and hw_counters. */

#include "dev.h"

#define SROCE_COUNTER_DESC(id, text) [SROCE_CNT_##id] = { .name = text },

static const struct rdma_stat_desc descs[] = {
	SROCE_COUNTERS(SROCE_COUNTER_DESC)
};

/**
 * sroce_counter_read() - sum of a counter over the CPUs
 * @dev: the device
 * @c: the counter
 */
u64 sroce_counter_read(struct sroce_dev *dev, enum sroce_counter c)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(dev->counters, cpu)->c[c]);
	return sum;
}

/**
 * sroce_alloc_hw_port_stats() - room for a snapshot of the counters
 * @ibdev: the device
 * @port: 1
 */
struct rdma_hw_stats *sroce_alloc_hw_port_stats(struct ib_device *ibdev,
						u32 port)
{
	/* A lifespan of 1 ms: tests read a counter just after it moved. */
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs), 1);
}

/**
 * sroce_get_hw_stats() - fill in a snapshot of the counters
 * @ibdev: the device
 * @stats: filled in
 * @port: 1
 * @index: unused, all are filled in
 */
int sroce_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index)
{
	int i;

	if (!port)
		return -EINVAL;
	for (i = 0; i < SROCE_CNT_NUM; i++)
		stats->value[i] = sroce_counter_read(to_sdev(ibdev), i);
	return SROCE_CNT_NUM;
}
