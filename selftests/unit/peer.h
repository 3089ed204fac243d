/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A peer played by the test: what it hears of a requester, and what it says */
#ifndef UNIT_PEER_H
#define UNIT_PEER_H

#include "xfer.h"

#define MTU	256
#define FIRST	1000	/* PSN */
#define TXLOG_MAX	1024

#define ACK	0x1f	/* no end-to-end credits */
#define GAP	0x60
#define RNR	0x26	/* 80 us */

/* What the end under test has sent; nothing of it arrives unless @passes. */
struct txlog {
	const struct sroce_kqp	*of;
	bool			passes;
	u32			n;
	struct {
		u8	opcode;
		u8	syndrome;	/* of a response */
		bool	ackreq;
		u32	psn;
		u32	msn;		/* of a response */
		u32	length;		/* of a READ */
		u32	payload;
	} p[TXLOG_MAX];
};

extern struct txlog txlog;

void peer_record(struct sim *s, const struct sroce_kqp *of);

/* A, a requester, is under test. */
void peer_begin(struct xfers *t);
void peer_begin_with(struct xfers *t, const struct sim_cfg *cfg, u32 size);
void peer_go(struct xfers *t);
void peer_sent(u32 at, u32 psn, u32 n);
void peer_hear(struct xfers *t, u8 opcode, u32 psn, u8 syndrome, u32 len);
void peer_ack(struct xfers *t, u32 psn, u8 syndrome);

/* B, a responder, is under test, and remembers @n READs and atomics. */
void peer_begin_resp(struct xfers *t, u32 n);
u32 peer_no_room(struct sim *s, struct sroce_qp *qp, bool response);
void peer_resize(struct xfers *t, u32 n);
void peer_ask(struct xfers *t, u8 opcode, u32 psn, u64 off, u32 len, u32 wrong_key);
void peer_ask_read(struct xfers *t, u32 psn, u64 off, u32 len);
void peer_read_sent(u32 at, u32 psn, u32 n, u32 len);

#endif /* UNIT_PEER_H */
