/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Regions of dma-bufs. */
#ifndef SROCE_MEM_DMABUF_H
#define SROCE_MEM_DMABUF_H

#include <rdma/ib_verbs.h>
#include "drv/compat/compat.h"

struct sroce_dmabuf_arg;

struct ib_mr *sroce_dmabuf_reg(struct ib_pd *ibpd, u64 offset, u64 length, u64 iova,
			       int fd, int access, SROCE_DMABUF_DMAH_ARG
			       struct sroce_dmabuf_arg *unused);
int sroce_dmabuf_init(void);
void sroce_dmabuf_exit(void);

#endif /* SROCE_MEM_DMABUF_H */
