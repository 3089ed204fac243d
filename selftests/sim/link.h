/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A link that many flows share, with a bounded queue before it in each direction */
#ifndef SIM_LINK_H
#define SIM_LINK_H

#include "../unit/sim.h"

#define LINK_MTU	1024U
#define LINK_FULL	(LINK_MTU + 44)	/* bytes of a frame between the first and the last */
#define LINK_NEVER	(~0ULL)

/* One direction */
struct lane {
	u64	svc;		/* ns that a full packet takes */
	u32	queue;		/* packets that may wait */
	u32	mark;		/* CE instead of ECT if so many wait, 0: never */
	u64	*leaves;	/* when each of those that wait has left, a ring */
	u32	first, n;
	u64	busy;		/* until then */
	u64	sent, dropped, marked;
	u32	longest;
};

/* Two transmit queues of the sender, one of which lags */
struct txqs {
	u32	flip;		/* bursts in 100 that change the queue */
	u64	skew;		/* ns */
	u64	last;		/* when a packet was sent last */
	u64	newest[2];	/* arrival of the newest of each */
	u32	now;		/* the one in use */
};

struct link {
	u64		latency;	/* ns, one way */
	u32		loss;		/* packets in 100000, either way */
	struct lane	lane[2];	/* from A's to B's, and back */
	struct txqs	txqs;
	struct rnd	r;
};

void link_init(struct link *link, u64 seed);
void link_end(struct link *link);
u32 lane_waiting(struct lane *lane, u64 now);
u64 lane_enter(struct lane *lane, u64 now, u32 len);
bool lane_marks(struct lane *lane);
int link_wire(struct sim *s, struct sim_packet *p);

#endif /* SIM_LINK_H */
