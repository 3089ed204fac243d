/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Pairs of QPs that share a link, and what becomes of them */
#ifndef SIM_FLOWS_H
#define SIM_FLOWS_H

#include "cubic.h"
#include "foreign.h"
#include "stall.h"

#define FLOWS_MAX	(SIM_KQPS / 2)

/* What is to be transferred, over which link */
struct flows {
	u32	pairs;
	u32	opcode, len;
	u32	count;		/* work requests of each pair */
	u32	depth;		/* at a time */
	u32	rd_atomic;
	u64	kick;		/* ns that a sender needs for SROCE_TX_BUDGET packets */
	bool	back_n;		/* the receivers drop what is early */
	bool	rxe;		/* and serve repeats as rdma_rxe does */
	bool	adapter;	/* the requesters have no windows */
	bool	ect;
	u8	timeout;
	u8	tries;		/* retry_cnt + 1; 0: 8 */
	struct link link;
	struct stall_cfg stall[2];	/* of the CPU of A's, and of B's */
	bool	one_host;	/* a packet is in a queue of the sender until it is received */
	bool	cubic;		/* beside a TCP flow in the direction of the data */
	u64	late;		/* ns, at most, that a host takes in a train late */
	u64	spread;		/* ns, times the seed, that a pair is farther apart than the one before */
	u64	join;		/* ns after which another pair begins */
	u64	limit;		/* of simulated time, in ns; 0: 4 s */
	u64	settle;		/* what the link carries before this is not counted */
	/* Called every @sample ns */
	u64	sample;
	void	(*sampled)(struct sim *s, struct lane *lane, const struct cubic *cubic);
};

struct flows_result {
	double	part;		/* of what the link can carry; all flows of ours */
	double	cubic;		/* likewise */
	double	dropped;	/* packets of those sent into the queue */
	double	jain;		/* until the first pair had all; 1: equal */
	u32	done, wanted;	/* work requests */
	u32	dead;		/* QPs */
	u64	ns;
	u64	timeouts, excused, probes, retransmits, marked;
	u32	longest;	/* queue */
};

struct flows_result flows_run(const struct flows *like, u64 seed);

/* Packets of a pair that have arrived */
u32 flows_progress(const struct sroce_kqp *kqp);

#endif /* SIM_FLOWS_H */
