/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a seed determines: QPs, the work posted to them, what else happens to
 * them, and how the wire is impaired. Made once, then only read; shrinking
 * marks parts of it as skipped.
 */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "../unit/sim.h"
#include "foreign.h"

#define SC_PAIRS	2
#define SC_HOSTS	(2 * SC_PAIRS)
#define SC_OPS		48	/* work requests per host */
#define SC_SGES		6
#define SC_ACTS		8
#define SC_FATES	256
#define SC_COUNTERS	3	/* words for atomics; the last is shared */
#define SC_US		1000ULL
#define SC_MS		1000000ULL

#define SC_CLASSES(C)							\
	C(CALM, calm, "no fault: nothing is sent twice")		\
	C(ONE, one, "one packet is lost, and no timer is needed")	\
	C(LOSS, loss, "up to 30 % lost")				\
	C(MESS, mess, "lost, repeated, overtaken, late, corrupted")	\
	C(BURST, burst, "bursts, black-outs, full queues, one-way loss") \
	C(RNR, rnr, "receives posted late, and shared")			\
	C(HOST, host, "no memory, no route, no CPU, small queues")	\
	C(BAD, bad, "wrong requests")					\
	C(SMALL, small, "small queues, CQs and stores, few READs at a time") \
	C(LONG, long, "READs of gigabytes, cut short")			\
	C(LIFE, life, "deregistration, errors, SQD, reset, destroy")	\
	C(BACKN, backn, "a peer that keeps nothing out of order")	\
	C(UC, uc, "unreliable connection")				\
	C(UD, ud, "datagrams")						\
	C(ALL, all, "everything at once")				\
	C(FOREIGN, foreign, "peers that are not us, and losses")

#define SC_CLASS_ENUM(id, name, what) SC_##id,
enum sc_class {
	SC_CLASSES(SC_CLASS_ENUM)
	SC_CLASS_NUM
};

/* What is wrong with a work request */
enum sc_bad {
	GOOD,
	BAD_RKEY,		/* names no region */
	BAD_RANGE,		/* one byte too far */
	BAD_ACCESS,		/* a region without the right */
	BAD_ALIGN,		/* atomic at an odd address */
	BAD_LKEY,		/* the first SGE */
	BAD_LKEY_LATE,		/* the last SGE */
	BAD_OPCODE,
	BAD_SGES,		/* too many */
	BAD_INLINE,		/* too long */
	BAD_ATOMIC_LEN,
	BAD_RECV_SHORT,		/* longer than its receive */
	BAD_RECV_LKEY,		/* its receive has a wrong key */
	BAD_BIND,		/* a window beyond its region */
	BAD_UD_LEN,
	BAD_AH,
	BAD_QKEY,		/* dropped by the receiver */
	SC_BADS
};

struct sc_op {
	bool	skip;
	u8	bad;
	u8	nsge;
	u8	dest;		/* UD: host it goes to */
	u8	word;		/* atomics: which counter */
	bool	hit;		/* CMP_SWP finds what it compares with */
	bool	via;		/* by a window onto just its bytes */
	bool	inv;		/* SEND that invalidates that window */
	bool	deep;		/* READ of memory that is all zeros */
	bool	whole;		/* FLUSH of all of the region */
	s16	of;		/* READ or FLUSH: what that WRITE wrote; fenced
				 * WRITE: over what that READ reads; -1: none */
	u32	opcode;
	u32	flags;
	u32	len;
	u64	when;		/* posted no earlier */
};

struct sc_host {
	u32		nops;
	struct sc_op	op[SC_OPS];
	u64		recv_late;	/* when the first receive is posted */
	u64		recv_gap;	/* ns from one to the next */
	u64		rts_late;	/* stays in RTR until then */
	s16		via;		/* the op that uses the peer's window, or -1 */
	bool		inv;		/* which another has invalidated */
	bool		bound;		/* its window, after the last op */
	bool		no_access;	/* peers may not READ, WRITE, operate */
};

enum sc_act_kind {
	ACT_REVOKE_LOCAL, ACT_REVOKE_TARGET, ACT_REVOKE_RECV,
	ACT_ERR, ACT_SQD, ACT_SQD_NOTIFY, ACT_RESET, ACT_DESTROY,
	ACT_KINDS
};

struct sc_act {
	bool	skip;
	u8	kind;
	u8	host;
	u64	when;
	u64	len;		/* of SQD, until RTS */
};

/* Memory whose pages come on demand */
#define SC_ODP_LOCAL	BIT(0)
#define SC_ODP_TARGET	BIT(1)
#define SC_ODP_RECV	BIT(2)

/* Impairments of packets; rates in 10000 */
struct sc_faults {
	u32	drop, dup, late, corrupt, cut;
	u32	ghost;		/* ACKs of PSNs that are far away */
	u32	burst;		/* mean length of what is lost in a row */
	u8	dirs;		/* BIT(side) of senders that suffer */
	u64	late_max;
	u32	queue;		/* packets on their way, 0: any number */
	u64	blackout_from[2], blackout_len[2];
	u32	tx_fail;
	s32	one;		/* only this packet is lost, -1: none */
};

/* What was done to one packet, to repeat it */
struct sc_fate {
	bool	skip;
	char	what;		/* 'd'rop, 'u' for twice, 'l'ate, 'c'orrupt, 'x' cut,
				 * 't'ransmit failed, 'g' for a ghost behind it */
	u32	nr;
	u64	arg;
};

struct scenario {
	u64		seed;
	enum sc_class	class;
	struct sim_cfg	cfg;
	u32		pairs;
	bool		srq;
	bool		backn[2];	/* side keeps nothing out of order */
	struct foreign_rules foreign[2];	/* of a side */
	u32		ofo_max;	/* or no more than this, 0: the usual */
	u32		train;		/* packets received at once, if they come so */
	u32		prior_events;	/* events before a RESET, 0: newly made */
	bool		sig_all;
	u8		gap_policy[2];	/* that a side believes the other to have */
	u32		short_recv;	/* bytes some receives lack, UC and UD */
	u32		srq_limit;
	bool		loopback;	/* no wire between the two sides */
	u8		on_demand[2];	/* SC_ODP_*: of a side */
	u64		page_delay;	/* most ns that pages take to come */
	u32		page_size;
	bool		page_few;	/* none before they are needed */
	u32		evict_every;	/* one page goes in so many events, 0: none */
	u64		latency, jitter;
	u32		ns_per_kb;
	u64		task_delay_max;
	u64		timer_late;	/* ns that the ACK timer is late: the machine stands still */
	u32		chunk;
	u32		batch;		/* work requests per doorbell */
	u64		impair_seed;
	u32		mark;		/* packets of 10000 that are marked CE; 0: no ECT */
	u8		cc_off;		/* BIT(side) of those without congestion control */
	u8		answers;	/* BIT(side) of those that are taken to answer soon */
	u8		ack_off;	/* BIT(side) of those that never hold an ACK for that */
	u64		turn_delay;	/* ns from the peer's message to a post; 0: no turns */
	struct sc_faults faults;
	struct sc_host	host[SC_HOSTS];
	u32		nacts;
	struct sc_act	act[SC_ACTS];
	bool		scripted;	/* by fate[], not by chance */
	u32		nfates;
	struct sc_fate	fate[SC_FATES];
};

extern const char *const sc_class_name[SC_CLASS_NUM];
extern const char *const sc_class_what[SC_CLASS_NUM];

/* Everything from the seed; @class < 0: that as well */
void scenario_make(struct scenario *sc, u64 seed, int class);
void scenario_print(const struct scenario *sc);
const char *sc_op_name(u32 opcode);
const char *sc_bad_name(u32 bad);
const char *sc_status_name(u32 status);

static inline bool sc_is_atomic(u32 opcode)
{
	return opcode == IB_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IB_WR_ATOMIC_FETCH_AND_ADD ||
	       opcode == SROCE_WR_ATOMIC_WRITE;
}

/* Its local memory is written, not read. */
static inline bool sc_fetches(u32 opcode)
{
	return opcode == IB_WR_RDMA_READ ||
	       (sc_is_atomic(opcode) && opcode != SROCE_WR_ATOMIC_WRITE);
}

/* It touches no memory, and knows of what others wrote. */
static inline bool sc_is_flush(u32 opcode)
{
	return opcode == SROCE_WR_FLUSH;
}

static inline bool sc_is_send(u32 opcode)
{
	return opcode == IB_WR_SEND || opcode == IB_WR_SEND_WITH_IMM ||
	       opcode == IB_WR_SEND_WITH_INV;
}

/* Nothing of it goes to the peer. */
static inline bool sc_is_mem_op(u32 opcode)
{
	return opcode == IB_WR_BIND_MW || opcode == IB_WR_LOCAL_INV;
}

static inline bool sc_is_write(u32 opcode)
{
	return opcode == IB_WR_RDMA_WRITE || opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

static inline bool sc_takes_recv(u32 opcode)
{
	return sc_is_send(opcode) || opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

/* All QPs of a side add to the same word of the other side. */
static inline bool sc_shared_word(const struct sc_op *op)
{
	return op->word == SC_COUNTERS - 1;
}

/* What of a side is not ours */
static inline bool sc_is_foreign(const struct scenario *sc, u32 side)
{
	return sc->foreign[side].resp || sc->foreign[side].back_n;
}

/* It fails before a packet of it is sent. */
static inline bool sc_bad_local(u32 bad)
{
	return bad == BAD_OPCODE || bad == BAD_SGES || bad == BAD_INLINE ||
	       bad == BAD_ATOMIC_LEN || bad == BAD_BIND || bad == BAD_UD_LEN || bad == BAD_AH;
}

static inline u32 sc_grh(const struct scenario *sc)
{
	return sc->cfg.type == IB_QPT_UD ? SROCE_GRH_LEN : 0;
}

static inline u32 sc_mtu(const struct scenario *sc)
{
	return 128 << sc->cfg.mtu;
}

#endif /* SIM_SCENARIO_H */
