// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* A fuzzer's world: made from an input, run, checked and freed. */

#include <stdio.h>
#include <stdlib.h>
#include "../unit/invariant.h"
#include "world.h"

#define CQE_PLENTY	200
/* This many guard bytes in a row are a leak. */
#define LEAK_MIN	12

/* No key: what it protects is never touched, and neither is what may be read */
#define SECRET_SEED	77
#define READ_SEED	78

static u32 side(const struct sroce_qp *qp)
{
	return qp == &qp->kqp->sim->a.qp;
}

struct log *world_sq_log(struct world *w, const struct sroce_qp *qp)
{
	return &w->sq[side(qp)];
}

struct log *world_rq_log(struct world *w, const struct sroce_qp *qp)
{
	return &w->rq[side(qp)];
}

/* Work was forgotten without completions; one may have been in use. */
void log_reset(struct log *log)
{
	log->done = log->posted;
	log->failed = false;
}

static void pass_silent(struct log *log, u32 to)
{
	while (log->done < to && log->silent[log->done])
		log->done++;
}

static void log_complete(struct log *log, const struct sroce_cqe *cqe)
{
	if (log->gap && cqe->wr_id > log->done)
		log->done = cqe->wr_id;
	log->gap = false;
	CHECK(cqe->wr_id < log->posted);
	pass_silent(log, cqe->wr_id);
	CHECK_EQ(cqe->wr_id, log->done);
	log->done++;
}

/* An error is the last that has a status of its own. */
static void check_status(struct log *log, const struct sroce_qp *qp,
			 const struct sroce_cqe *cqe, bool sq)
{
	if (log->failed)
		CHECK_EQ(cqe->status, IB_WC_WR_FLUSH_ERR);
	if (cqe->status == IB_WC_SUCCESS)
		return;
	/* UD drops what is too long for an SRQ's work request, and goes on. */
	if (sq || qp->svc == SROCE_SVC_RC)
		log->failed = true;
}

static void posted(struct sim *s, struct sroce_qp *qp,
		   const struct sroce_cqe *cqe)
{
	struct world *w = s->arg;
	bool sq = cqe->opcode < IB_WC_RECV;
	struct log *log = sq ? world_sq_log(w, qp) : world_rq_log(w, qp);

	CHECK(++w->completions < STEPS_MAX * (4 * s->cfg.slots + 256));
	if (w->hostile)
		return;
	log_complete(log, cqe);
	check_status(log, qp, cqe, sq);
}

/* No packet contains guard bytes, or bytes that were never written. */
static int inspect(struct sim *s, struct sim_packet *p)
{
	u32 i, run = 0;

	(void)s;
	for (i = p->l3_len + 8; i < p->len; i++) {
		u8 b = p->data[i];

		if (fair_byte(b) == b)
			run = 0;
		else
			CHECK(++run < LEAK_MIN);
	}
	return 1;
}

/* As drv/verbs/post.c and the QP's task do it */
void world_doorbell(struct world *w, struct sroce_kqp *kqp)
{
	if (kqp->qp.state < IB_QPS_RTS) {
		sroce_reset_sq(&kqp->qp);
		log_reset(world_sq_log(w, &kqp->qp));
	}
	sim_doorbell(kqp);
}

static void make_mem(struct world *w, const u8 *head)
{
	static const int rights[MEMS] = {
		[M_ALL] = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			  IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |
			  IB_ACCESS_MW_BIND | SROCE_ACCESS_FLUSH_GLOBAL,
		[M_READ] = IB_ACCESS_REMOTE_READ | IB_ACCESS_MW_BIND,
		[M_LOCAL] = IB_ACCESS_LOCAL_WRITE,
		[M_SECRET] = 0,
		[M_TOP] = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			  IB_ACCESS_REMOTE_READ,
		[M_ODD] = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			  IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC,
	};
	u32 mtu = w->s->a.qp.mtu, big = 1024, i;

	if (head[H_FLAGS] & HF_FULL_MTU)
		big = 4 * mtu;
	if (head[H_FLAGS] & HF_LONG)
		big = min(160 * mtu, 60000u);
	for (i = 0; i < MEMS; i++) {
		u32 len = i == M_ALL ? big : i == M_ODD ? 61 : 700;
		u32 chunk = 8 << head[H_CHUNK] % 11;
		u64 iova = 0x10000ULL * (i + 1);

		if (i == M_TOP)
			iova = -(u64)len;
		if (i == M_ODD)
			iova += 13;
		if (chunk < len / 8)
			chunk = len / 8 & ~7u;
		w->mem[i] = sim_buf_new(w->s, iova, len, chunk, rights[i]);
		w->key[i] = w->mem[i]->mr.key;
	}
	w->win[0] = sim_window_new(w->s, SROCE_MW_1);
	w->win[1] = sim_window_new(w->s, SROCE_MW_2);
	sim_fill(w->mem[M_SECRET], 0, 700, SECRET_SEED);
	sim_fill(w->mem[M_READ], 0, 700, READ_SEED);
}

static void config(struct sim_cfg *c, const u8 *head)
{
	static const u8 types[8] = {
		IB_QPT_RC, IB_QPT_RC, IB_QPT_RC, IB_QPT_RC, IB_QPT_RC,
		IB_QPT_UC, IB_QPT_UD, IB_QPT_GSI,
	};
	static const u32 psns[4] = { 1000, 0xfffffe, 0x7ffffc, 0xffff00 };
	static const u8 timeouts[4] = { 8, 1, 0, 14 };

	*c = sim_default;
	c->type = types[head[H_TYPE] % 8];
	c->mtu = head[H_MTU] < 0xe0 ? IB_MTU_256 : IB_MTU_256 + head[H_MTU] % 5;
	c->psn = psns[head[H_PSN] % 4];
	c->timeout = timeouts[head[H_TIMEOUT] % 4];
	c->retry_cnt = head[H_RETRY] % 8;
	c->rnr_retry = head[H_RNR] % 8;
	c->min_rnr_timer = head[H_RNR] / 8;
	c->rd_atomic = head[H_RD] % 5;
	c->dest_rd_atomic = head[H_DEST_RD] % 5;
	c->slots = 2 << head[H_SLOTS] % 6;
	c->max_sge = 1 + head[H_SGE] % 4;
	c->max_inline = head[H_INLINE] % 5 * 40;
	c->cqe = head[H_CQE] < 0x20 ? 1 + head[H_CQE] % 8 : CQE_PLENTY;
	c->v6 = head[H_FLAGS] & HF_V6;
}

static void make_world(struct world *w, const u8 *head)
{
	struct sim_cfg cfg;
	u32 i;

	config(&cfg, head);
	w->s = sim_new(&cfg);
	race_init(w);
	w->s->arg = w;
	w->s->posted = posted;
	/* who fills rings at will sends what he likes */
	if (!w->hostile)
		w->s->wire = inspect;
	w->s->task_delay = 500;
	w->s->train = head[H_STATE] & 1 ? 64 : 1;
	make_mem(w, head);
	if (head[H_FLAGS] & HF_SRQ)
		w->s->b.qp.srq = sim_srq_new(w->s, cfg.slots, cfg.max_sge);
	for (i = 0; i < 2; i++) {
		struct sroce_qp *qp = &kqp_at(w, i)->qp;

		qp->sig_all = head[H_FLAGS] & HF_SIG_ALL;
		qp->attr.path_mig_state = head[H_FLAGS] & HF_MIGREQ ?
					  IB_MIG_ARMED : IB_MIG_MIGRATED;
		if (head[H_ACCESS] >= 0xe0)
			qp->attr.qp_access_flags = head[H_ACCESS] & 0xf;
		if (head[H_STATE] >= 0xe0)
			qp->state = IB_QPS_RTR;
	}
	w->s->a.qp.user = !(head[H_FLAGS] & HF_KERNEL) || w->hostile;
	/* the first doorbell sets the clock */
	sim_doorbell(&w->s->a);
	sim_doorbell(&w->s->b);
}

static void show(struct world *w, u32 i)
{
	const struct sroce_qp *qp = &kqp_at(w, i)->qp;

	fprintf(stderr, "  %c: state %d, una %06x psn %06x max %06x, sq %u..%u next %u, expects %06x\n",
		i ? 'A' : 'B', qp->state, qp->req.una, qp->req.psn,
		qp->req.max_psn, qp->sq.cons, qp->sq.prod, qp->req.next_idx,
		qp->resp.psn);
}

/* With FUZZ_TRACE set: what an input does, for who wants to understand it */
static void trace(struct world *w, const char *what)
{
	static int on = -1;

	if (on < 0)
		on = getenv("FUZZ_TRACE") != NULL;
	if (!on)
		return;
	fprintf(stderr, "%llu: %s\n", w->s->now, what);
	show(w, 1);
	show(w, 0);
}

/* Only small CQs may overflow. */
static void poll_all(struct world *w)
{
	u32 i;

	for (i = 0; i < 2 && w->s->cfg.cqe == CQE_PLENTY; i++) {
		kqp_at(w, i)->scq.n = 0;
		kqp_at(w, i)->rcq.n = 0;
	}
}

static bool endless(const struct sroce_qp *qp)
{
	return qp->attr.rnr_retry == 7;
}

/*
 * Without input all comes to rest: what can be done is done, what can't be has
 * failed, unless it may be tried for ever.
 */
static void settle(struct world *w)
{
	bool forever = w->hostile || endless(&w->s->a.qp) ||
		       endless(&w->s->b.qp);
	u32 n = 0, max = forever ? SETTLE_MAX / 100 : SETTLE_MAX, i;

	w->s->tx_fails = false;
	w->s->no_memory = false;
	w->s->hold_fails = false;
	w->s->copy_fails = false;
	for (i = 0; i < 2; i++)
		world_doorbell(w, kqp_at(w, i));
	while (n < max && sim_step(w->s)) {
		w->completions = 0;
		poll_all(w);
		n++;
		trace(w, "settle");
	}
	if (forever)
		return;
	CHECK(n < max);
	for (i = 0; i < 2; i++) {
		const struct sroce_qp *qp = &kqp_at(w, i)->qp;

		if (qp->state == IB_QPS_RTS &&
		    (qp->attr.timeout || qp->svc != SROCE_SVC_RC))
			CHECK_EQ(qp->sq.cons, qp->sq.prod);
	}
}

/* In the error state everything completes. */
static void flush(struct world *w)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		struct sroce_qp *qp = &kqp_at(w, i)->qp;
		struct log *sq = world_sq_log(w, qp), *rq = world_rq_log(w, qp);

		w->completions = 0;
		if (qp->state == IB_QPS_RESET)
			continue;
		sroce_flush_qp_error(qp);
		world_doorbell(w, qp->kqp);
		if (w->hostile)
			continue;
		pass_silent(sq, sq->posted);
		CHECK_EQ(sq->done, sq->posted);
		if (!qp->srq && !rq->gap)
			CHECK_EQ(rq->done, rq->posted);
	}
}

static void end_world(struct world *w)
{
	race_end();
	CHECK(sim_filled(w->mem[M_SECRET], 0, 700, SECRET_SEED));
	CHECK(sim_filled(w->mem[M_READ], 0, 700, READ_SEED));
	sim_end(w->s);
}

static void run_record(struct world *w, const u8 *r, const struct action *act)
{
	u32 sel = r[0];

	while (act[1].fn && sel >= act->share) {
		sel -= act->share;
		act++;
	}
	w->completions = 0;
	/* of what was done between records */
	race_end();
	act->fn(w, r);
	trace(w, act->name);
	race_end();
	poll_all(w);
	sim_invariants(&w->s->a);
	sim_invariants(&w->s->b);
}

/**
 * world_run() - run one input
 * @data: a head and records
 * @len: its bytes
 * @actions: what records mean, by the first byte; the last share is ignored
 * @hostile: owners of rings write anything there
 */
int world_run(const u8 *data, size_t len, const struct action *actions,
	      bool hostile)
{
	static struct world w;
	u8 rec[REC_LEN];
	size_t off;
	u32 n;

	if (len < HEAD_LEN)
		return -1;
	memset(&w, 0, sizeof(w));
	w.hostile = hostile;
	make_world(&w, data);
	trace(&w, w.s->a.qp.svc == SROCE_SVC_RC ? "RC" :
	      w.s->a.qp.svc == SROCE_SVC_UC ? "UC" : "UD");
	for (n = 0, off = HEAD_LEN; off < len && n < RECS_MAX; n++) {
		size_t part = len - off < REC_LEN ? len - off : REC_LEN;

		memset(rec, 0, sizeof(rec));
		memcpy(rec, data + off, part);
		off += part;
		run_record(&w, rec, actions);
	}
	w.completions = 0;
	settle(&w);
	flush(&w);
	end_world(&w);
	return 0;
}
