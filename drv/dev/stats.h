/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Counters of a device, and of sets of QPs. */
#ifndef SROCE_DEV_STATS_H
#define SROCE_DEV_STATS_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>
#include "drv/core/counter.h"

struct ib_device;
struct ib_qp;
struct rdma_counter;
struct rdma_hw_stats;
struct sroce_dev;

u64 sroce_stats_total(struct sroce_dev *dev, enum sroce_counter c);
struct rdma_hw_stats *sroce_stats_alloc_port(struct ib_device *ibdev, u32 port);
int sroce_stats_get_port(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port,
			 int index);
int sroce_stats_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp);
int sroce_stats_unbind_qp(struct ib_qp *ibqp);
int sroce_stats_dealloc(struct rdma_counter *counter);
struct rdma_hw_stats *sroce_stats_alloc(struct rdma_counter *counter);
int sroce_stats_update(struct rdma_counter *counter);

#endif /* SROCE_DEV_STATS_H */
