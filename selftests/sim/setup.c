// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* QPs and memory of a scenario: where each work request has its bytes. */

#include <stdlib.h>
#include "world.h"

#define GAP		5	/* bytes between pieces that nobody may touch */
#define IOVA_LOCAL	0x7f0000001008ULL
#define IOVA_TARGET	0xffff800000000ff8ULL
#define IOVA_RECV	0x100000ULL

static u64 take(struct region *r, u32 len, u32 align)
{
	u64 at = (r->used + GAP + align - 1) / align * align;

	r->used = at + len;
	return at;
}

/* @len bytes in @n pieces of any length, some perhaps empty */
static void cut(struct world *w, struct region *r, struct piece *p, u32 n,
		u32 len)
{
	u32 left = len, i;

	for (i = 0; i < n; i++) {
		p[i].len = i + 1 == n ? left : rnd_below(&w->r, left + 1);
		p[i].off = take(r, p[i].len, 1);
		left -= p[i].len;
	}
}

static void place_atomic(struct host_run *hr, struct op_run *run, u64 *word)
{
	const struct sc_op *op = run->op;

	run->orig = *word;
	if (op->opcode == IB_WR_ATOMIC_FETCH_AND_ADD) {
		run->add = sc_shared_word(op) ? 1ULL << (16 * (hr->nr / 2)) :
			   0x123456789abcdef1ULL * run->seed;
		*word += run->add;
	} else if (op->opcode == SROCE_WR_ATOMIC_WRITE) {
		u8 bytes[sizeof(*word)];
		u32 i;

		for (i = 0; i < sizeof(bytes); i++)
			bytes[i] = sim_pattern(i, run->seed);
		memcpy(word, bytes, sizeof(bytes));
	} else {
		run->compare = op->hit ? *word : ~*word;
		run->add = 0x1111111111111111ULL * run->seed;
		if (op->hit)
			*word = run->add;
	}
	run->result = *word;
}

static bool executes(const struct sc_op *op)
{
	return !op->bad || (sc_fetches(op->opcode) &&
			    (op->bad == BAD_LKEY || op->bad == BAD_LKEY_LATE));
}

static void place_target(struct world *w, struct host_run *hr, u32 i, u64 *word)
{
	struct op_run *run = &hr->op[i];
	const struct sc_op *op = run->op;
	struct region *r = &world_peer(w, hr)->target;

	run->target = &run->span;
	if (sc_is_atomic(op->opcode)) {
		run->result = word[op->word];
		if (executes(op))
			place_atomic(hr, run, &word[op->word]);
		return;
	}
	if (op->of >= 0 && !hr->sc->op[op->of].skip) {
		run->target = &hr->op[op->of].span;
		run->target->last = i;
		if (!sc_is_write(op->opcode))
			run->seed = run->target->after;
		else
			run->target->after = run->seed;
		return;
	}
	run->span.last = i;
	run->span.len = op->len;
	run->span.off = take(r, op->len, 1);
	if (op->opcode == IB_WR_RDMA_READ)
		run->span.before = run->seed;
	else if (!sc_is_flush(op->opcode))
		run->span.after = run->seed;
}

static void place_op(struct world *w, struct host_run *hr, u32 i, u64 *word)
{
	struct op_run *run = &hr->op[i];
	const struct sc_op *op = &hr->sc->op[i];

	run->op = op;
	run->seed = (w->sc->seed * 977 + hr->nr * 89 + i * 3 + 7) & 0xffffff;
	run->seed |= 1 << 24;
	run->ex = run->seed;
	/* there always is a key like that, unless it is that of a window */
	if (op->opcode == IB_WR_SEND_WITH_INV)
		run->ex = SIM_ANY_KEY | (run->seed & 0xfffff);
	if (op->skip || op->deep)
		return;
	if (!(op->flags & IB_SEND_INLINE))
		cut(w, &hr->local, run->cut, op->nsge, op->len);
	if (!sc_is_send(op->opcode) && !sc_is_mem_op(op->opcode))
		place_target(w, hr, i, word);
	if (sc_takes_recv(op->opcode))
		run->msg = hr->msgs++;
}

static void place_ops(struct world *w, struct host_run *hr)
{
	u64 word[SC_COUNTERS] = { 0 };
	u32 i;

	for (i = 0; i < hr->sc->nops; i++)
		place_op(w, hr, i, word);
}

static u32 longest(const struct world *w, u32 side)
{
	u32 i, k, len = 0;

	for (i = 0; i < w->n; i++)
		for (k = 0; k < w->sc->host[i].nops; k++) {
			const struct sc_op *op = &w->sc->host[i].op[k];

			if ((i & 1) != side && op->len > len &&
			    sc_is_send(op->opcode))
				len = op->len;
		}
	return len;
}

static void place_recv(struct world *w, struct host_run *hr, u32 len, s16 op)
{
	struct recv_run *rx = &hr->rx[hr->nrecv++];

	rx->op = op;
	rx->len = len;
	rx->npieces = 1 + rnd_below(&w->r, 2);
	cut(w, &hr->recv, rx->cut, rx->npieces, len);
}

/* RC without an SRQ: the n-th receive meets the n-th message. */
static void place_matching(struct world *w, struct host_run *hr)
{
	const struct sc_host *from = &w->sc->host[hr->nr ^ 1];
	u32 i, len;

	for (i = 0; i < from->nops; i++) {
		const struct sc_op *op = &from->op[i];

		if (op->skip || !sc_takes_recv(op->opcode))
			continue;
		len = sc_is_send(op->opcode) ? op->len : 0;
		if (op->bad == BAD_RECV_SHORT)
			len--;
		else if (rnd_below(&w->r, 2))
			len += rnd_below(&w->r, 100);
		place_recv(w, hr, len, i);
		hr->rx[hr->nrecv - 1].bad_key = op->bad == BAD_RECV_LKEY;
	}
}

/* Any receive may meet any message. */
static void place_any(struct world *w, struct host_run *hr)
{
	u32 i, k, n = 4, len = longest(w, hr->nr & 1) + sc_grh(w->sc);
	u32 lack = w->sc->short_recv < len ? w->sc->short_recv : len;

	for (i = 0; i < w->n; i++) {
		const struct sc_host *from = &w->sc->host[i];

		if ((i & 1) == (hr->nr & 1))
			continue;
		for (k = 0; k < from->nops; k++)
			n += sc_takes_recv(from->op[k].opcode);
	}
	while (n--)
		place_recv(w, hr, len - (n % 3 ? 0 : lack), -1);
}

static void place_recvs(struct world *w, struct host_run *hr)
{
	if (world_recvs(w, hr) != hr)
		return;
	if (w->sc->cfg.type == IB_QPT_RC && !w->sc->srq)
		place_matching(w, hr);
	else
		place_any(w, hr);
}

static void fill(struct world *w, struct host_run *hr)
{
	struct region *target = &world_peer(w, hr)->target;
	u32 i, k;

	for (i = 0; i < hr->sc->nops; i++) {
		struct op_run *run = &hr->op[i];
		u64 at = 0;

		if (run->op->skip)
			continue;
		if (run->span.before)
			bytes_set(target, run->span.off, run->span.len, 0,
				  run->span.before);
		if (sc_fetches(run->op->opcode) || run->op->deep ||
		    run->op->flags & IB_SEND_INLINE)
			continue;
		for (k = 0; k < run->op->nsge; at += run->cut[k++].len)
			bytes_set(&hr->local, run->cut[k].off, run->cut[k].len,
				  at, run->seed);
	}
}

static void make_regions(struct world *w, struct host_run *hr)
{
	const struct sc_host *from = &w->sc->host[hr->nr ^ 1];
	u32 i, tail = 0;

	/* room for what goes one byte too far to be seen */
	for (i = 0; i < from->nops; i++)
		if (from->op[i].bad == BAD_RANGE && from->op[i].len > tail)
			tail = from->op[i].len;
	region_new(w, &hr->local, IOVA_LOCAL + hr->nr * 8, hr->local.used + GAP,
		   IB_ACCESS_LOCAL_WRITE | IB_ACCESS_MW_BIND);
	hr->window = sim_window_new(w->s, SROCE_MW_2);
	hr->key = hr->window->mr.key;
	region_new(w, &hr->target, IOVA_TARGET, hr->target.used + GAP + tail,
		   IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
		   IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |
		   SROCE_ACCESS_FLUSH_GLOBAL);
	region_new(w, &hr->recv, IOVA_RECV + hr->nr, hr->recv.used + GAP,
		   IB_ACCESS_LOCAL_WRITE);
}

/* What the peer has bound for this host before it told it the key */
static void make_window(struct world *w, struct host_run *hr)
{
	struct host_run *peer = world_peer(w, hr);
	struct sroce_mr *mw, *mr = &peer->target.buf->mr;
	const struct span *span;
	u32 i;

	hr->remote = sim_window_new(w->s, SROCE_MW_2);
	if (hr->sc->via < 0)
		return;
	span = &hr->op[hr->sc->via].span;
	mw = &hr->remote->mr;
	mw->parent = mr;
	atomic_inc(&mr->windows);
	mw->base = mr->iova + span->off;
	mw->iova = mw->base;
	mw->length = span->len;
	mw->access = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;
	mw->qpn = peer->kqp->qp.qpn;
	mw->state = SROCE_MR_VALID;
	for (i = 0; i < hr->sc->nops; i++)
		if (hr->sc->op[i].inv)
			hr->op[i].ex = mw->key;
}

static void make_srqs(struct world *w)
{
	u32 i;

	if (!w->sc->srq)
		return;
	for (i = 0; i < 2; i++) {
		w->srq[i] = sim_srq_new(w->s, w->sc->cfg.rq_slots,
					w->sc->cfg.max_sge);
		w->srq[i]->rq.limit = w->sc->srq_limit;
	}
	for (i = 0; i < w->n; i++)
		w->host[i].kqp->qp.srq = w->srq[i & 1];
}

/* As if the administrator had said so before the QP was made */
static void set_cc(struct world *w, struct host_run *hr)
{
	struct sroce_qp *qp = &hr->kqp->qp;

	if (w->sc->mark)
		qp->av.tclass |= 2;
	if (!(w->sc->cc_off & BIT(hr->nr & 1)))
		return;
	qp->cc = false;
	sroce_reset_req_psn(qp, qp->attr.sq_psn);
}

/* Likewise */
static void set_answers(struct world *w, struct host_run *hr)
{
	struct sroce_qp *qp = &hr->kqp->qp;

	qp->ack_with_answer = !(w->sc->ack_off & BIT(hr->nr & 1));
}

static void make_host(struct world *w, u32 nr)
{
	struct host_run *hr = &w->host[nr];

	hr->nr = nr;
	hr->kqp = w->s->kqp[nr];
	hr->sc = &w->sc->host[nr];
	hr->failed = -1;
	hr->rts = !hr->sc->rts_late;
	hr->recover = NEVER;
	hr->resume = NEVER;
	/* one side begins */
	hr->turn = nr & 1 ? SC_MS : 0;
	hr->words = take(&hr->target, 8 * SC_COUNTERS, 8);
	if (!hr->rts)
		sim_enter(hr->kqp, IB_QPS_RTR);
	if (hr->sc->no_access)
		hr->kqp->qp.attr.qp_access_flags = 0;
	set_cc(w, hr);
	set_answers(w, hr);
	hr->kqp->qp.sig_all = w->sc->sig_all;
	hr->kqp->qp.req.retrans.gap_policy = w->sc->gap_policy[nr & 1];
	if (w->sc->ofo_max)
		hr->kqp->qp.resp.ofo_max = w->sc->ofo_max;
	if (w->sc->backn[nr & 1])
		hr->kqp->qp.resp.ofo_max = 0;
	if (sc_is_foreign(w->sc, nr & 1))
		foreign_set(hr->kqp, &w->sc->foreign[nr & 1]);
	liveness_start(w, hr);
}

static u32 no_rights_len(const struct world *w)
{
	u32 i, k, len = 8;

	for (i = 0; i < w->n; i++)
		for (k = 0; k < w->sc->host[i].nops; k++) {
			const struct sc_op *op = &w->sc->host[i].op[k];

			if (op->bad == BAD_ACCESS && op->len > len)
				len = op->len;
		}
	return len;
}

/**
 * world_setup() - make all that a scenario needs before it starts
 * @w: the world; @sc is set
 */
void world_setup(struct world *w)
{
	const struct scenario *sc = w->sc;
	u32 i;

	w->r.s = sc->seed + 99;
	w->s = sim_new(&sc->cfg);
	w->s->timer_late = sc->timer_late;
	w->n = 2 * sc->pairs;
	for (i = 1; i < sc->pairs; i++)
		sim_pair(w->s, &sc->cfg);
	w->s->arg = w;
	if (sc->prior_events)
		prior_life_run(w);
	w->s->posted = oracle_posted;
	w->s->train = sc->train;
	for (i = 0; i < w->n; i++)
		make_host(w, i);
	make_srqs(w);
	for (i = 0; i < w->n; i++)
		place_ops(w, &w->host[i]);
	for (i = 0; i < w->n; i++)
		place_recvs(w, &w->host[i]);
	for (i = 0; i < w->n; i++)
		make_regions(w, &w->host[i]);
	for (i = 0; i < w->n; i++)
		make_window(w, &w->host[i]);
	for (i = 0; i < w->n; i++)
		fill(w, &w->host[i]);
	region_new(w, &w->ro, 0x5000, no_rights_len(w), IB_ACCESS_LOCAL_WRITE);
	if (sc->class == SC_LONG)
		w->deep = sim_buf_zeros(w->s, 0x10000, 1ULL << 31,
					IB_ACCESS_LOCAL_WRITE |
					IB_ACCESS_REMOTE_READ);
	mem_pressure_init(w);
	impair_init(w);
}
