/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory of other drivers, as dma-bufs, and regions made of it. */
#ifndef SHARE_H
#define SHARE_H

#include "../../oddbuf/oddbuf.h"
#include "vt.h"

struct share {
	int fd;
	uint8_t *map;
	size_t size;
};

struct exporter {
	const char *name;
	int (*create)(size_t size);	/* a dma-buf, or -1 and errno */
};

extern const struct exporter exporters[];
extern const size_t num_exporters;

why_t share_open(struct share *s, const struct exporter *by, size_t size);
void share_close(struct share *s);

/* Of the module oddbuf: a dma-buf, and what is held of all of them; or -1 */
int share_odd(enum oddbuf_kind kind);
int share_held(void);

/* What UVERBS_METHOD_REG_DMABUF_MR is asked, and what it answers */
struct share_mr {
	struct ibv_context *ctx;
	uint64_t offset, length, iova;
	int fd, access;
	uint32_t handle, lkey, rkey;
};

int share_reg(struct share_mr *mr, struct ibv_pd *pd);
int share_dereg(struct share_mr *mr);

#endif
