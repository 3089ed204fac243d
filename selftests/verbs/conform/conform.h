/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The conformance test: tables with a row for each verb and case. A row says
 * what is done and what the manual has to come of it; the engine (conform.c)
 * does it, compares, and prints TAP or the feature matrix.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include "vt.h"

#define CF_WR	0x51	/* wr_id of the send that a row is about */
#define CF_RECV	0x52	/* and of the receive */
#define CF_LEN	1000	/* bytes of an ordinary message */
#define CF_IMM	0x0badcafeU

/* What a row has before it acts */
enum cf_stage {
	CF_RTS,		/* two connected QPs */
	CF_RESET,	/* two QPs in RESET */
	CF_DEVICE,	/* an open device */
};

/* Fields that are zero where a row doesn't say */
#define CF_IS(x)	((x) + 1)

struct cf;

struct cf_row {
	const char *page;	/* of section 3 */
	const char *clause;	/* what it says there, or in the specification */
	const char *name;
	why_t (*act)(struct cf *t);
	long arg;
	enum cf_stage stage;
	enum ibv_qp_type type;	/* RC unless said */
	void (*prep)(struct vt_conf *c);
	long arg2, more;
	bool hostile;		/* not for rdma_rxe, which may die of it */
	uint64_t cap;		/* device_cap_flags_ex that it takes */
	bool without;		/* or that must not be there */

	/* expected */
	int err, or_err;	/* errno of the call; 0: it works */
	int wc;			/* CF_IS(status) of the send */
	int recv;		/* CF_IS(status) of the peer's receive */
	int event;		/* CF_IS(type) */
	bool event_at_peer;
	int cm;			/* CF_IS(type) of rdma_cm's event */
	int state, peer;	/* CF_IS(state) of the QPs in the end */
	why_t (*after)(struct cf *t);
	const char *via;	/* who says no, if not the device */
};

/* A row under way */
struct cf {
	const struct cf_row *row;
	struct vt_pair *p;	/* NULL for CF_DEVICE */
	struct vt_dev *dev;	/* A's */
	int err;
	int cm;			/* event of rdma_cm */
	struct ibv_sge sge[64];
	struct ibv_wc wc, rwc;
	uint32_t key;

	/* ended by the engine, in this order */
	struct ibv_mw *mw;
	struct ibv_mr *mr;
	struct ibv_ah *ah;
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	struct ibv_cq *cq;
	struct ibv_pd *pd;
};

struct cf_table {
	int order;		/* of the tables of all files */
	const char *subject;
	const struct cf_row *rows;
	size_t num;
};

/*
 * Have the rows of @table run, under the heading @title, behind the tables of
 * lower @at. A file in this folder with a table of its own needs nothing else.
 */
#define CF_TABLE(at, title, table)					\
	static const struct cf_table table##_table = {			\
		at, title, table, ARRAY_SIZE(table)			\
	};								\
	static const struct cf_table *table##_entry			\
		__attribute__((used, section("cf_tables"))) = &table##_table

#define CF_LACKING	"not in the stock provider"

why_t cf_got(struct cf *t, const void *object);
struct ibv_send_wr cf_wr(struct cf *t, enum ibv_wr_opcode opcode, uint32_t len);
why_t cf_post_send(struct cf *t, struct ibv_send_wr *wr);
why_t cf_post_good(struct cf *t, struct ibv_send_wr *wr);
why_t cf_recv(struct cf *t);
why_t cf_arrived(struct cf *t);
why_t cf_sent(struct cf *t);
void cf_fill(struct cf *t);
why_t cf_message(struct cf *t);
void cf_with_srq(struct vt_conf *c);
void cf_bindable(struct vt_conf *c);
why_t cf_bind(struct cf *t, struct vt_ep *ep, uint32_t len, int access);
uint64_t cf_word(const struct vt_buf *b, size_t off);

/* forge.c */
why_t cf_forge(struct cf *t, uint8_t opcode, uint16_t pkey, uint32_t psn,
	       const void *ext, size_t ext_len);

#endif
