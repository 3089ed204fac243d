/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Messages from A to B with the memory of both, and what must come of them. */
#ifndef UNIT_XFER_H
#define UNIT_XFER_H

#include "sim.h"

#define XFER_MAX	64
#define XFER_IOVA_A	0x7f0000001008ULL
#define XFER_IOVA_B	0xffff800000000ff8ULL
#define XFER_GAP	24

struct xfer {
	u32	opcode;		/* enum ib_wr_opcode */
	u32	len;
	u64	off;		/* in the memory of both */
	u64	before;		/* value under an atomic */
	u64	add;
};

struct xfers {
	struct sim	*s;
	struct sim_buf	*a, *b;
	u64		off;	/* memory used so far */
	u32		n;
	struct xfer	x[XFER_MAX];
};

extern const u32 xfer_rc_ops[10];
const char *xfer_name(u32 opcode);
bool xfer_recvs(u32 opcode);

/* Memory of @size bytes on both sides, in pieces of @chunk */
void xfers_init(struct xfers *t, const struct sim_cfg *cfg, u32 size, u32 chunk);
void xfers_end(struct xfers *t);

/* Put the next message in A's ring and what it needs at B; no doorbell */
struct sim_wr xfer_make(struct xfers *t, u32 opcode, u32 len);
void xfer_put(struct xfers *t, u32 opcode, u32 len);
void xfer_recv(struct xfers *t, u32 i);

/* All messages have succeeded, in order, once, and touched nothing else. */
void xfers_check(const struct xfers *t);
void xfers_check_data(const struct xfers *t, u32 n);

#endif /* UNIT_XFER_H */
