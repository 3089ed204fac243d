/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A scenario while it runs */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "scenario.h"

#define WORLD_RECVS	(2 * SC_OPS + 8)
#define NEVER		(~0ULL)

/* What a byte may be: zero as at first, scribbled over, or of a pattern */
#define BYTES_ZERO	0u
#define BYTES_SCRAMBLED	~0u

/* Part of a payload in a row */
struct piece {
	u64	off;
	u32	len;
};

/* Remote memory of a work request, perhaps shared with a later one */
struct span {
	u64	off;
	u32	len;
	u32	before;		/* BYTES_* or a pattern, at the start */
	u32	after;		/* a WRITE's pattern, or 0 */
	bool	written;	/* the WRITE has been seen to be there */
	bool	scrambled;	/* done with; nobody may touch it again */
	s16	last;		/* work request that is the last to use it */
};

struct op_run {
	const struct sc_op *op;
	u32		seed;	/* of the bytes it carries */
	u32		ex;	/* immediate data, or the key to be invalidated */
	struct piece	cut[SC_SGES];
	struct span	span;
	struct span	*target;
	u64		compare, add;	/* atomics */
	u64		orig, result;	/* of the word before and after */
	u32		msg;		/* n-th that takes a receive */
	bool		posted, done;
	bool		recvd;	/* its receive has been completed */
	bool		reused;	/* local memory: the user has it back */
	u8		status;
};

struct recv_run {
	struct piece	cut[2];
	u32		npieces;
	u32		len;
	bool		bad_key;
	bool		posted, done;
	bool		good;		/* a message has come into it */
	bool		scrambled;
	s16		op;		/* peer's, if that is certain, or -1 */
};

struct region {
	struct sim_buf	*buf;
	u64		used;
	u8		*mark;		/* bytes that have been checked */
	u8		*frozen;	/* contents when deregistered */
};

/* When a requester last made progress, and how often it has tried since */
struct liveness {
	u64		when;		/* something came, or was tried */
	u64		since;		/* the oldest packet is the oldest */
	u32		acked, una;
	u32		came;		/* responses beyond the one that lacks */
	u64		timeouts, excused, rnrs;	/* counted so far */
	u32		tries, waits;	/* since there was progress */
	u64		sent;		/* packets, and in vain */
	bool		waiting;	/* until the RNR timer fires */
	bool		idle;
	bool		vague;		/* the wait may not count */
	bool		gave_up;		/* no RNR retries left, as was checked */
};

struct host_run {
	u32		nr;
	struct sroce_kqp *kqp;
	const struct sc_host *sc;
	struct region	local, target, recv;
	struct sim_buf	*window;	/* onto local */
	struct sim_buf	*remote;	/* onto a part of the peer's target */
	u32		key;		/* of it, after what has been posted */
	struct op_run	op[SC_OPS];
	u32		next;		/* to be posted */
	u32		done;		/* all before are complete */
	s16		failed;		/* that ended in an error, or -1 */
	struct recv_run	rx[WORLD_RECVS];
	u32		nrecv, recv_posted;
	u32		recv_next;	/* the least that may complete next */
	u32		recvd;		/* the peer's work requests before this
					 * have been received, or won't be */
	bool		recv_failed;
	u32		msgs;		/* messages that take a receive */
	u64		words;		/* offset of the counters in target */
	bool		rts;		/* RTS was reached */
	bool		dead;		/* RESET or destroyed */
	bool		told_err;	/* went to ERR by modify */
	u32		heard;		/* MSN of the peer's messages at the last look */
	u64		turn;		/* it posts no earlier */
	u64		recover;	/* SQE to RTS */
	u64		resume;		/* SQD to RTS */
	struct liveness	live;
};

/* Impairment of the wire: what happens to each packet */
struct impair {
	struct rnd	r, jitter;
	u32		nr;		/* packets seen */
	u32		tries;		/* packets that were to be sent */
	u32		burst;		/* more to be lost in this row */
	u64		last[2];	/* arrival of the newest, per side */
	bool		lost_one;
	u32		lost_psn;
	const struct sroce_kqp *lost_from;
	bool		lost_response;
	u64		lost_when;
	bool		followed;	/* by one that makes the loss known */
	bool		any;		/* something was lost or late */
	u32		nfates;
	struct sc_fate	fate[SC_FATES];
};

struct world {
	const struct scenario *sc;
	struct sim	*s;
	u32		n;
	struct host_run	host[SC_HOSTS];
	struct sroce_srq *srq[2];
	struct region	ro;
	struct sim_buf	*deep;
	struct impair	impair;
	struct rnd	r;
	struct rnd	mem_rnd;	/* for pages that come and go */
	bool		verbose;
	bool		acted[SC_ACTS];
};

/* The result of a run */
struct outcome {
	bool		failed;
	char		why[600];
	struct sroce_counters counters;
	u32		packets;
	u32		ops;
	u64		bytes;
	u32		nfates;
	struct sc_fate	fate[SC_FATES];
};

void world_run(const struct scenario *sc, bool verbose, struct outcome *out);

/* memory.c */
void region_new(struct world *w, struct region *r, u64 iova, u64 len,
		int access);
void region_free(struct region *r);
void region_revoke(struct region *r);
bool bytes_are(const struct sim_buf *b, u64 off, u64 len, u64 at, u32 a, u32 c);
void bytes_set(struct region *r, u64 off, u64 len, u64 at, u32 what);
void region_mark(struct region *r, u64 off, u64 len);
void region_check_rest(const struct region *r, const char *what);

/* mem_pressure.c */
void mem_pressure_init(struct world *w);
void mem_pressure_step(struct world *w);

/* prior_life.c */
void prior_life_run(struct world *w);

/* setup.c */
void world_setup(struct world *w);

/* oracle.c */
void oracle_posted(struct sim *s, struct sroce_qp *qp,
		   const struct sroce_cqe *cqe);
void oracle_good(struct world *w, struct host_run *hr, u32 i);
bool oracle_offended(struct world *w, struct host_run *hr);
/* receive.c */
void receive_posted(struct world *w, struct host_run *hr,
		    const struct sroce_cqe *cqe);
bool receive_is(const struct host_run *pool, const struct recv_run *rx,
		u32 from, u32 len, u32 a, u32 c);
/* liveness.c */
void liveness_start(struct world *w, struct host_run *hr);
void liveness_renew(struct host_run *hr);
void liveness_check(struct world *w);
void liveness_failed(struct world *w, struct host_run *hr, u32 status);
/* final.c */
void final_check(struct world *w);

/* impair.c */
void impair_init(struct world *w);
int impair_wire(struct sim *s, struct sim_packet *p);
bool impair_tx_ok(struct sim *s, struct sroce_qp *qp);

/* trace.c */
void trace_packet(const struct world *w, const struct sim_packet *p,
		  const char *fate);
void trace_cqe(const struct world *w, const struct host_run *hr, bool send,
	       const struct sroce_cqe *cqe);
void trace_note(const struct world *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static inline struct host_run *world_host(struct world *w,
					  const struct sroce_kqp *kqp)
{
	u32 i;

	for (i = 0; i < w->n - 1 && w->host[i].kqp != kqp; i++)
		;
	return &w->host[i];
}

static inline struct host_run *world_peer(struct world *w,
					  const struct host_run *hr)
{
	return &w->host[hr->nr ^ 1];
}

/* Where the receives of a host are kept: at the first of its side if shared */
static inline struct host_run *world_recvs(struct world *w, struct host_run *hr)
{
	return w->sc->srq ? &w->host[hr->nr & 1] : hr;
}

static inline bool world_signaled(const struct world *w,
				  const struct sc_op *op)
{
	return w->sc->sig_all || op->flags & IB_SEND_SIGNALED;
}

static inline bool world_alive(const struct host_run *hr)
{
	return !hr->dead && hr->kqp->qp.state != IB_QPS_ERR;
}

#endif /* SIM_WORLD_H */
