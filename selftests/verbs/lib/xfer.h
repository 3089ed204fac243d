/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One message from A to B, or read by A from B, verified to the last byte. */
#ifndef XFER_H
#define XFER_H

#include "vt.h"

#define TYPE(t)		(1U << IBV_QPT_##t)
#define XFER_MAX_SGE	64
#define XFER_IMM	0xdeadbeefU

struct xfer_op {
	const char *name;
	enum ibv_wr_opcode wr;
	enum ibv_wc_opcode wc;
	unsigned int types;
	bool recv;		/* consumes a receive */
	bool imm;
	bool rdma;
};

extern const struct xfer_op xfer_ops[];
extern const size_t xfer_num_ops;

struct xfer {
	const struct xfer_op *op;
	uint32_t len;
	int sges;		/* local list */
	int rsges;		/* list of the receive */
	bool spread;		/* pieces with gaps between them */
	bool inl;
	int flags;
	uint64_t seed;
};

const struct xfer_op *xfer_op(const char *name);
size_t xfer_room(uint32_t len);
why_t xfer_do(struct vt_pair *p, const struct xfer *x);

#endif
