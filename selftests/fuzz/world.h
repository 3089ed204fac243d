/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Two QPs with memory and work, driven by the bytes of a fuzzer.
 *
 * An input is a head, which says what the two are, and records of fixed size,
 * each one action. Fixed sizes let the mutator (mutate.c) insert, drop and
 * exchange actions without changing what the others mean.
 */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include "../unit/sim.h"

#define HEAD_LEN	16
#define REC_LEN		16
#define RECS_MAX	96
#define POSTS_MAX	2048
#define STEPS_MAX	64	/* events that one record may cause */
#define SETTLE_MAX	100000	/* events until a world without input is quiet */

/* Bytes of the head */
enum head {
	H_TYPE, H_MTU, H_PSN, H_TIMEOUT, H_RETRY, H_RNR, H_RD, H_DEST_RD,
	H_SLOTS, H_SGE, H_INLINE, H_CQE, H_FLAGS, H_CHUNK, H_ACCESS, H_STATE,
};

#define HF_V6		0x01
#define HF_SRQ		0x02	/* B receives from an SRQ */
#define HF_KERNEL	0x04	/* A belongs to the kernel */
#define HF_SIG_ALL	0x08
#define HF_MIGREQ	0x10
#define HF_FULL_MTU	0x20	/* buffers of several MTUs */
#define HF_LONG		0x40	/* or of more packets than go out at once */

/* Regions, by their rights */
enum mem { M_ALL, M_READ, M_LOCAL, M_SECRET, M_TOP, M_ODD, MEMS };

/*
 * Work requests have consecutive numbers, and complete in this order, once.
 * Those that asked for no completion may pass silently.
 */
struct log {
	u32	posted;
	u32	done;
	bool	silent[POSTS_MAX];
	bool	gap;		/* one may have been lost in a reset */
	bool	failed;		/* nothing but flushes may follow */
};

struct world {
	struct sim	*s;
	struct sim_buf	*mem[MEMS];
	u32		key[MEMS];	/* while it is registered */
	struct sim_buf	*win[2];	/* windows of type 1 and 2 */
	struct log	sq[2], rq[2];
	bool		hostile;	/* rings are: their log means nothing */
	u32		completions;	/* in this record */
};

typedef void (*action_fn)(struct world *w, const u8 *r);

/* An action and how many of 256 records mean it */
struct action {
	const char	*name;
	action_fn	fn;
	u32		share;
};

#define ACTION(name, share) { #name, act_##name, share }

/* Bytes of which a packet must not have many in a row: see inspect() */
static inline u8 fair_byte(u8 b)
{
	return b == SIM_GUARD_BYTE || b == SIM_FRESH_BYTE ? 0 : b;
}

static inline u32 rec16(const u8 *r, u32 at)
{
	return r[at] | r[at + 1] << 8;
}

static inline u32 rec32(const u8 *r, u32 at)
{
	return rec16(r, at) | rec16(r, at + 2) << 16;
}

static inline struct sroce_kqp *kqp_at(struct world *w, u32 i)
{
	return i & 1 ? &w->s->a : &w->s->b;
}

/* world.c */
int world_run(const u8 *data, size_t len, const struct action *actions,
	      bool hostile);
void world_doorbell(struct world *w, struct sroce_kqp *kqp);
struct log *world_sq_log(struct world *w, const struct sroce_qp *qp);
struct log *world_rq_log(struct world *w, const struct sroce_qp *qp);
void log_reset(struct log *log);

/* work.c: regular users, and time */
void act_send(struct world *w, const u8 *r);
void act_recv(struct world *w, const u8 *r);
void act_doorbell(struct world *w, const u8 *r);
void act_poll(struct world *w, const u8 *r);
void act_step(struct world *w, const u8 *r);
void act_advance(struct world *w, const u8 *r);
void act_fails(struct world *w, const u8 *r);
void act_register(struct world *w, const u8 *r);
u32 rec_key(struct world *w, u8 sel);
u64 rec_va(struct world *w, u8 sel, u32 off);

/* state.c */
void act_modify(struct world *w, const u8 *r);
void act_connect(struct world *w, const u8 *r);

/* forge.c: what the wire does */
void act_forge(struct world *w, const u8 *r);
void act_mangle(struct world *w, const u8 *r);
void act_wire(struct world *w, const u8 *r);

/* race.c: the other side of a ring, while it is being read */
void race_init(struct world *w);
void race_arm(u32 loads, u32 value);
void race_end(void);

#endif /* FUZZ_WORLD_H */
