/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A peer played by the test: what it hears of a requester, and what it says */
#ifndef UNIT_PEER_H
#define UNIT_PEER_H

#include "xfer.h"

#define MTU	256
#define FIRST	1000	/* PSN */
#define TAPE	1024

#define ACK	0x1f	/* no end-to-end credits */
#define GAP	0x60
#define RNR	0x26	/* 80 us */

/* What the requester has sent; nothing of it arrives. */
struct tape {
	u32 n;
	struct {
		u8	opcode;
		bool	ackreq;
		u32	psn;
		u32	length;		/* of a READ */
	} p[TAPE];
};

extern struct tape tape;

void peer_begin(struct xfers *t);
void peer_begin_with(struct xfers *t, const struct sim_cfg *cfg, u32 size);
void peer_go(struct xfers *t);
void peer_sent(u32 at, u32 psn, u32 n);
void peer_hear(struct xfers *t, u8 opcode, u32 psn, u8 syndrome, u32 len);
void peer_ack(struct xfers *t, u32 psn, u8 syndrome);

#endif /* UNIT_PEER_H */
