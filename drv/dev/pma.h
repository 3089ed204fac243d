/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Performance management: port counters. */
#ifndef SROCE_DEV_PMA_H
#define SROCE_DEV_PMA_H

#include <rdma/ib_verbs.h>

struct ib_device;
struct ib_grh;
struct ib_mad;
struct ib_wc;

int sroce_pma_process_mad(struct ib_device *ibdev, int flags, u32 port,
			  const struct ib_wc *wc, const struct ib_grh *grh,
			  const struct ib_mad *in, struct ib_mad *out, size_t *out_size,
			  u16 *out_pkey);

#endif /* SROCE_DEV_PMA_H */
