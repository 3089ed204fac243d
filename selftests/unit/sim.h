/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The environment of the protocol core in user space: pairs of QPs, a wire
 * between them, memory, and a clock that advances when nothing else is left to do.
 *
 * Everything is deterministic. A test, a seeded simulation or a fuzzer controls
 * it through the hooks of struct sim: @wire decides what happens to each packet,
 * @posted sees each completion, @task_delay says how long a QP that has more
 * to send waits for the CPU.
 */
#ifndef UNIT_SIM_H
#define UNIT_SIM_H

#include <linux/string.h>
#include "core.h"
#include "check.h"

#define SIM_LATENCY	1000ULL		/* ns on the wire */
#define SIM_MRS		64
#define SIM_AHS		4
#define SIM_ANY_KEY	0xabc00000	/* and above: fast, valid all the time */
#define SIM_KQPS	136
#define SIM_GUARD	16
#define SIM_GUARD_BYTE	0xc3	/* around memory */
#define SIM_FRESH_BYTE	0xa5	/* in a packet, until it is written */
#define SIM_MS		1000000ULL
#define SIM_FRAME_MAX	1518

struct sim;
struct sroce_kqp;

/* A frame from the network header to the ICRC, in memory of just its size */
struct sim_packet {
	struct sim_packet	*next;
	struct sroce_kqp	*from;
	struct sroce_kqp	*to;	/* NULL: by the BTH's QP number */
	u64			when;	/* it arrives */
	u32			refs;	/* besides the wire's */
	bool			kept;	/* it has arrived before, see @arrives */
	struct sroce_lbpkt	*lbpkt;	/* a loopback packet: there is no frame */
	u32			l3_len;
	u32			len;
	u8			*data;
};

static inline u8 *sim_bth(const struct sim_packet *p)
{
	return p->data + p->l3_len + 8;
}

static inline u32 sim_psn(const struct sim_packet *p)
{
	const u8 *bth = sim_bth(p);

	return bth[9] << 16 | bth[10] << 8 | bth[11];
}

static inline bool sim_is_response(const struct sim_packet *p)
{
	return sroce_opcodes[sim_bth(p)[0]].flags & SROCE_RESPONSE;
}

/* Registered memory, in pieces with guards around each */
struct sim_buf {
	struct sroce_mr		mr;
	u32			chunk;
	u32			pieces;
	u8			**raw;		/* NULL: zeros, which are shared */
	struct sim		*sim;
};

struct sroce_cq {
	struct sroce_cqe	*e;
	u32			n;
	u32			max;
	bool			overflowed;
};

struct sroce_srq {
	struct sroce_rq		rq;
	u32			prod;		/* the provider's index */
	struct sroce_srq	*next;
};

struct sroce_ah {
	int			refs;
	struct sroce_av		av;
};

#define SIM_FAULT_REQS	16

/* Pages of a region that were asked for */
struct sim_fault_req {
	struct sroce_odp	*odp;
	u32			first, last;
	bool			write;
};

/* One end of the wire: a QP with what surrounds it */
struct sroce_kqp {
	struct sim		*sim;
	u32			nr;	/* in sim->kqp[]: odd ones are B's */
	struct sroce_qp		qp;
	struct sroce_counters	counters;
	struct sroce_cq		scq, rcq;
	struct sim_packet	*open;
	const struct sroce_av	*open_av;
	u32			open_n;		/* this many segments of @open_len */
	u32			open_len;
	struct sim_packet	*txq, **txq_tail;
	u8			frame[SIM_FRAME_MAX];	/* the newest */
	u32			frame_len;
	u32			frames;
	u64			ack_when;	/* 0: not armed */
	u32			ack_set;	/* how often it was set */
	u64			rnr_when;
	u64			task_when;
	u64			paged_when;
	u32			fault_reqs;
	struct sim_fault_req	fault_req[SIM_FAULT_REQS];
	u32			events;		/* raised so far */
	u32			srq_events;
	u32			sq_prod, rq_prod;	/* the provider's indices */
	bool			gone;		/* destroyed */
};

struct sim_cfg {
	enum ib_qp_type	type;
	bool		v6;
	enum ib_mtu	mtu;
	u32		psn;		/* of A to B; B to A starts 100 later */
	u8		timeout, retry_cnt, rnr_retry, min_rnr_timer;
	u8		rd_atomic, dest_rd_atomic;
	u32		slots, max_sge, max_inline, cqe;
	u32		rq_slots;	/* 0: as many as slots */
};

struct sim {
	struct sroce_kqp	a, b;
	/* @a, @b and those of sim_pair(): even ones have A's address */
	struct sroce_kqp	*kqp[SIM_KQPS];
	u32			kqps;
	struct sroce_srq	*srqs;
	struct sim_cfg		cfg;
	u64			now;
	struct sim_packet	*wire_head, *wire_last;
	struct sim_packet	*wire_newest[2];	/* sent by either side, or NULL */
	u32			wire_len;
	u32			sent;		/* packets sent so far */
	u32			steps;
	struct sim_buf		*mrs[SIM_MRS];
	struct sim_buf		any;	/* what SIM_ANY_KEY names */
	struct sroce_ah		ahs[SIM_AHS];
	int			mr_refs;
	int			held;		/* packets that sroce_pkt_hold() keeps */
	bool			quick;		/* to measure: no ICRC, no invariants */
	bool			loopback;	/* no wire: loopback packets */
	u32			lb_frags;	/* of those under way */
	bool			tx_fails;	/* packets can't be allocated */
	bool			copy_fails;	/* payloads can't be read */
	bool			no_memory;	/* kmalloc() fails */
	bool			hold_fails;	/* sroce_pkt_hold() fails */
	bool			solicited;	/* the completion posted last */
	u64			task_delay;
	u64			page_delay;	/* of a page fault */
	u64			timer_late;	/* the ACK timer fires late */
	/*
	 * When the CPU of a QP does what is due at @when: it may stand still. NULL: at
	 * once. The wire sees to packets.
	 */
	u64			(*runs_at)(struct sim *s, const struct sroce_kqp *kqp, u64 when);
	u32			page_size;	/* 0: 4096 */
	bool			page_few;	/* no prefault */
	bool			on_demand;	/* some memory is on demand */
	/* May take pages away, after they have come and before they are used */
	void			(*evict)(struct sim *s);
	u32			train;		/* packets received at once, 0 as 1 */
	u32			max_segs;	/* sent at once, 0 as 64; 1: no segments */
	bool			can_append;	/* what was queued last is never full */
	bool			overtakes;	/* an ACK with a request would overtake others */
	/* Whether a packet can be allocated, unless @tx_fails */
	bool			(*tx_ok)(struct sim *s, struct sroce_qp *qp);
	/* Packets that a transmit queue takes now; NULL: any number */
	u32			(*tx_room)(struct sim *s, struct sroce_qp *qp, bool response);
	/* Whether requests are still in a queue of their host; NULL: none are */
	bool			(*tx_pending)(struct sim *s, struct sroce_qp *qp);
	/* How many copies of a packet arrive; may change @when and the bytes */
	int			(*wire)(struct sim *s, struct sim_packet *p);
	void			(*posted)(struct sim *s, struct sroce_qp *qp,
					  const struct sroce_cqe *cqe);
	/*
	 * For peers that are not us. @arrives returns false if it drops the packet, or
	 * keeps a copy for later. The others are called around each run of a QP.
	 */
	bool			(*arrives)(struct sim *s, struct sroce_kqp *kqp,
					   const struct sim_packet *p, const struct sroce_pkt *pkt);
	void			(*before_run)(struct sim *s, struct sroce_kqp *kqp);
	void			(*after_run)(struct sim *s, struct sroce_kqp *kqp);
	void			*foreign;	/* for these hooks */
	void			*arg;		/* for the hooks */
};

/* A work request, as a user gives it to the provider */
struct sim_wr {
	u64		wr_id;
	u32		opcode;		/* enum ib_wr_opcode */
	u32		flags;
	u32		ex;
	u32		num_sge;
	struct ib_sge	sge[SROCE_MAX_SGE];
	const void	*data;		/* inline */
	u32		data_len;
	u64		remote_addr;
	u32		rkey;
	u64		compare_add, swap;
	u32		length;		/* FLUSH: length, placement type, selectivity level */
	u8		type, level;
	struct sroce_bind bind;
	u32		ah, remote_qpn, remote_qkey;
};

extern const struct sim_cfg sim_default;

/* A simulation; sim_end() checks guards and references, and frees everything. */
struct sim *sim_new(const struct sim_cfg *cfg);
void sim_end(struct sim *s);

/* Another pair of QPs between the same two addresses; the first of the two */
struct sroce_kqp *sim_pair(struct sim *s, const struct sim_cfg *cfg);

/* Memory */
struct sim_buf *sim_buf_new(struct sim *s, u64 iova, u64 len, u32 chunk,
			    int access);
/* All zeros; nothing but zeros may be written to it. */
struct sim_buf *sim_buf_zeros(struct sim *s, u64 iova, u64 len, int access);
struct sim_buf *sim_window_new(struct sim *s, enum sroce_mr_kind kind);
/* Memory on demand: none of it is present; some can't be faulted in; evict one page */
void sim_buf_on_demand(struct sim_buf *b);
void sim_buf_never(struct sim_buf *b, u32 page);
void sim_buf_pin_on_fault(struct sim_buf *b);
void sim_buf_evict(struct sim_buf *b, u32 page);
void sim_buf_evict_all(struct sim_buf *b);
void sim_buf_on_demand_free(struct sim_buf *b);
void sim_pages_in(struct sroce_kqp *kqp);
void sim_buf_revoke(struct sim_buf *b);
u8 *sim_byte(const struct sim_buf *b, u64 off);
u8 *sim_span(const struct sim_buf *b, u64 off, u64 *len);
bool sim_untouched(const struct sim_buf *b, u64 from, u64 to);
void sim_fill(const struct sim_buf *b, u64 off, u64 len, u32 seed);
bool sim_filled(const struct sim_buf *b, u64 off, u64 len, u32 seed);
u64 sim_get64(const struct sim_buf *b, u64 off);
void sim_put64(const struct sim_buf *b, u64 off, u64 val);

/* Work */
void sim_put_send(struct sroce_kqp *kqp, const struct sim_wr *wr);
void sim_put_recv(struct sroce_kqp *kqp, u64 wr_id, const struct ib_sge *sge,
		  u32 num_sge);
struct sroce_srq *sim_srq_new(struct sim *s, u32 slots, u32 max_sge);
void sim_put_srq(struct sroce_srq *srq, u64 wr_id, const struct ib_sge *sge,
		 u32 num_sge);
void sim_doorbell(struct sroce_kqp *kqp);
void sim_post(struct sroce_kqp *kqp, const struct sim_wr *wr);
struct ib_sge sim_sge(const struct sim_buf *b, u64 off, u32 len);

/* States */
void sim_provide(struct sroce_qp *qp);
u32 sim_kept_responses(const struct sroce_req *req);
void sim_enter(struct sroce_kqp *kqp, enum ib_qp_state to);
void sim_destroy(struct sroce_kqp *kqp);
/* The window is as large as it gets, as on a fast path. */
void sim_open_cwnd(struct sroce_kqp *kqp);

/* Bytes of payload that all simulations have copied */
extern u64 sim_copied;

/* Time: one event, all until nothing is left to do, or up to a time */
bool sim_step(struct sim *s);
bool sim_step_until(struct sim *s, u64 limit);
void sim_run(struct sim *s);
void sim_run_until(struct sim *s, u64 when);

/* A forged packet: @pkt's headers and @data, sealed; sent from @from's address */
struct sim_packet *sim_forge(struct sroce_kqp *from, struct sroce_pkt *pkt,
			     const void *data);
void sim_deliver(struct sim *s, struct sim_packet *p);
/* Two, to one QP, which runs after the second */
void sim_deliver_two(struct sim *s, struct sim_packet *p, struct sim_packet *q);
void sim_send(struct sim *s, struct sim_packet *p);
void sim_copy_later(struct sim *s, const struct sim_packet *p, u64 delay);
void sim_seal(struct sim_packet *p);
struct sim_packet *sim_packet_copy(const struct sim_packet *p);
void sim_packet_free(struct sim_packet *p);

/* The wire: packets by the time they arrive; the next is taken off it */
void sim_wire_put(struct sim *s, struct sim_packet *p);
struct sim_packet *sim_wire_take(struct sim *s);

/* Byte number @i of what @seed stands for */
static inline u8 sim_pattern(u64 i, u32 seed)
{
	return (i * 167 + (i >> 8) * 13 + seed * 31 + 1) ^ seed >> 8;
}

static inline u64 sim_count(const struct sroce_kqp *kqp, enum sroce_counter c)
{
	return kqp->counters.c[c];
}

#endif /* UNIT_SIM_H */
