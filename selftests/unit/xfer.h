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
const char *xfer_type_name(enum ib_qp_type type);
bool xfer_recvs(u32 opcode);

/* Memory of @size bytes on both sides, in pieces of @chunk */
void xfers_init(struct xfers *t, const struct sim_cfg *cfg, u32 size, u32 chunk);
/* QPs of a type, and 64 KB */
void xfers_init_type(struct xfers *t, enum ib_qp_type type);
void xfers_end(struct xfers *t);

/* Put the next message in A's ring and what it needs at B; no doorbell */
struct sim_wr xfer_make(struct xfers *t, u32 opcode, u32 len);
void xfer_put(struct xfers *t, u32 opcode, u32 len);
void xfer_recv(struct xfers *t, u32 i);
/* A READ or WRITE between other memory, which is not looked at in the end; signaled */
void xfer_put_other(struct xfers *t, u32 opcode, u64 wr_id, struct sim_buf *local,
		    const struct sroce_mr *remote, u32 len);
/* One message of each of the first eight opcodes */
void xfers_put_each(struct xfers *t, u32 len);

/* A FLUSH of a range of B's memory */
struct sim_wr xfer_flush(const struct xfers *t, u64 off, u32 len);

/* Ring A's doorbell, and go on until nothing is left to do */
void xfers_run(struct xfers *t);
/* Likewise with one more work request; return: how that ended */
enum ib_wc_status xfers_post(struct xfers *t, const struct sim_wr *wr);

/* All messages have succeeded, in order, once, and touched nothing else. */
void xfers_check(const struct xfers *t);
void xfers_check_data(const struct xfers *t, u32 n);
void xfers_run_check(struct xfers *t);

/* WRITEs behind a work request that fails, to be flushed */
void xfers_put_writes(struct xfers *t, u32 n);
/* The first @at succeeded; then @status; all after it is flushed, in order. */
void xfers_check_failed(const struct xfers *t, u32 at, enum ib_wc_status status);

/* A packet from A's address to B, with the PSN that B expects unless it has one */
void xfers_forge(struct xfers *t, struct sroce_pkt *p, const void *data);

/*
 * For sim->wire, with sim->arg: packets that are lost, by their PSNs, each the first
 * @times that it is sent
 */
struct xfer_loss {
	bool	responses;	/* B's packets, not A's */
	struct {
		u32	psn, times;
		u32	seen;	/* it was sent so often */
	} p[2];
};

int xfer_lose(struct sim *s, struct sim_packet *p);

#define XFER_ODP_SIZE	400000
#define XFER_ODP_DELAY	(300 * 1000ULL)		/* until pages come, in ns */

/* Whose memory comes on demand */
enum { XFER_LOCAL = 1, XFER_REMOTE = 2 };

void xfers_init_odp(struct xfers *t, int whose, bool local);
/* Ring A's doorbell, and go on until there is something on the wire */
void xfers_until_sent(struct xfers *t);
/* Go on until all has succeeded; that is the end. */
void xfers_finish(struct xfers *t);

#endif /* UNIT_XFER_H */
