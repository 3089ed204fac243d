// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The applications of all hosts: they post work at the time the scenario says. */

#include <stdio.h>
#include <stdlib.h>
#include "world.h"

#define STEPS_MAX	4000000
#define BAD_KEY		0x7fff0001
/* The longest that a process waits for an answer, in ns */
#define TURN_MAX	(3 * SC_MS)

static bool ring_full(const struct sroce_kqp *kqp)
{
	const struct sroce_ring *r = &kqp->qp.sq.ring;

	return ((kqp->sq_prod + 1) & r->mask) == r->buf->consumer_index;
}

static bool recv_ring_full(const struct world *w, const struct host_run *hr)
{
	const struct sroce_rq *rq = w->sc->srq ? &w->srq[hr->nr]->rq :
						 &hr->kqp->qp.rq;
	u32 prod = w->sc->srq ? w->srq[hr->nr]->prod : hr->kqp->rq_prod;

	return ((prod + 1) & rq->ring.mask) == rq->ring.buf->consumer_index;
}

static void spoil_wr(struct world *w, struct sim_wr *wr, const struct sc_op *op)
{
	u32 i;

	switch (op->bad) {
	case BAD_RKEY:
		wr->rkey = BAD_KEY;
		break;
	case BAD_ACCESS:
		wr->rkey = w->ro.buf->mr.key;
		wr->remote_addr = w->ro.buf->mr.iova;
		break;
	case BAD_ALIGN:
		wr->remote_addr += 4;
		break;
	case BAD_LKEY:
		for (i = 0; !wr->sge[i].length; i++)
			;
		wr->sge[i].lkey = BAD_KEY;
		break;
	case BAD_LKEY_LATE:
		for (i = op->nsge - 1; !wr->sge[i].length; i--)
			;
		wr->sge[i].lkey = BAD_KEY;
		break;
	case BAD_OPCODE:
		wr->opcode = 0x77;
		break;
	case BAD_SGES:
		wr->num_sge = w->sc->cfg.max_sge + 1;
		break;
	case BAD_ATOMIC_LEN:
		wr->num_sge = 1;
		wr->sge[0].length = 7;
		break;
	case BAD_UD_LEN:
		wr->data = NULL;
		wr->flags &= ~IB_SEND_INLINE;
		wr->num_sge = 1;
		wr->sge[0].length = sc_mtu(w->sc) + 1;
		break;
	case BAD_AH:
		wr->ah = SIM_AHS;
		break;
	case BAD_QKEY:
		wr->remote_qkey ^= 1;
		break;
	default:
		break;
	}
}

static void put_target(struct world *w, struct host_run *hr,
		       struct op_run *run, struct sim_wr *wr)
{
	struct host_run *peer = world_peer(w, hr);
	const struct sc_op *op = run->op;
	struct sim_buf *b;
	u64 off;

	if (sc_is_send(op->opcode))
		return;
	if (op->deep) {
		wr->remote_addr = w->deep->mr.iova;
		wr->rkey = w->deep->mr.key;
		wr->sge[0] = sim_sge(w->deep, 0, op->len);
		return;
	}
	if (sc_is_atomic(op->opcode)) {
		if (sc_shared_word(op))
			peer = &w->host[(hr->nr & 1) ^ 1];
		off = peer->words + 8 * op->word;
	} else {
		off = run->target->off;
	}
	b = peer->target.buf;
	if (op->bad == BAD_RANGE)
		off = op->via ? off + 1 : b->mr.length - op->len + 1;
	wr->remote_addr = b->mr.iova + off;
	wr->rkey = op->via ? hr->remote->mr.key : peer->target.buf->mr.key;
	wr->compare_add = op->opcode == IB_WR_ATOMIC_CMP_AND_SWP ?
			  run->compare : run->add;
	wr->swap = run->add;
	if (!sc_is_flush(op->opcode))
		return;
	wr->length = op->len;
	wr->type = SROCE_FLUSH_GLOBAL;
	wr->level = op->whole ? SROCE_FLUSH_REGION : SROCE_FLUSH_RANGE;
}

/* The tag of a window's key changes each time that it is bound. */
static void put_local(struct host_run *hr, u32 i, struct sim_wr *wr)
{
	const struct sroce_mr *mr = &hr->local.buf->mr;

	if (wr->opcode == IB_WR_LOCAL_INV) {
		wr->ex = hr->key;
		return;
	}
	wr->bind = (struct sroce_bind){
		.addr = mr->iova, .length = mr->length, .mr_key = mr->key,
		.key = hr->key, .new_key = i, .access = IB_ACCESS_REMOTE_READ,
	};
	if (hr->sc->op[i].bad == BAD_BIND)
		wr->bind.length++;
	hr->key = (hr->key & ~0xffU) | (i & 0xff);
}

static void post_op(struct world *w, struct host_run *hr, u32 i)
{
	struct op_run *run = &hr->op[i];
	const struct sc_op *op = run->op;
	struct sim_wr wr = {
		.wr_id = i, .opcode = op->opcode, .flags = op->flags,
		.ex = run->ex, .num_sge = op->nsge,
	};
	u8 data[sizeof(wr.sge)];
	u32 k;

	for (k = 0; k < op->nsge; k++)
		wr.sge[k] = sim_sge(hr->local.buf, run->cut[k].off,
				    run->cut[k].len);
	if (op->flags & IB_SEND_INLINE || op->bad == BAD_INLINE) {
		wr.flags |= IB_SEND_INLINE;
		wr.data = data;
		wr.data_len = op->bad == BAD_INLINE ? w->sc->cfg.max_inline + 1 :
						      op->len;
		for (k = 0; k < wr.data_len; k++)
			data[k] = sim_pattern(k, run->seed);
	}
	if (w->sc->cfg.type == IB_QPT_UD) {
		wr.ah = hr->nr & 1;
		wr.remote_qpn = w->host[op->dest].kqp->qp.qpn;
		wr.remote_qkey = w->host[op->dest].kqp->qp.attr.qkey;
	} else if (sc_is_mem_op(op->opcode)) {
		put_local(hr, i, &wr);
	} else {
		put_target(w, hr, run, &wr);
	}
	spoil_wr(w, &wr, op);
	run->posted = true;
	sim_put_send(hr->kqp, &wr);
}

/* Whether the next work request may be posted, once its time has come */
static bool may_post(const struct host_run *hr)
{
	return hr->next < hr->sc->nops && hr->rts && !hr->dead &&
	       hr->kqp->qp.state >= IB_QPS_RTS && !ring_full(hr->kqp);
}

static void skip_ops(struct host_run *hr)
{
	while (hr->next < hr->sc->nops && hr->op[hr->next].op->skip)
		hr->next++;
}

/* When the next may be posted; @hr may */
static u64 post_when(const struct world *w, const struct host_run *hr)
{
	u64 when = hr->op[hr->next].op->when;

	return w->sc->turn_delay ? max(when, hr->turn) : when;
}

/* A process that answers posts soon after a message has come, and does not wait for ever. */
static void take_turn(struct world *w, struct host_run *hr)
{
	u32 msn = hr->kqp->qp.resp.msn;

	if (w->sc->turn_delay && msn != hr->heard)
		hr->turn = w->s->now + rnd_below(&w->r, w->sc->turn_delay);
	hr->heard = msn;
}

/*
 * As if the last requests had been answered: there are too few for that. Who has sent nothing
 * yet has answered none.
 */
static void seem_to_answer(const struct world *w, struct host_run *hr)
{
	struct sroce_qp *qp = &hr->kqp->qp;

	if (w->sc->answers & BIT(hr->nr & 1) && qp->req.max_psn != qp->attr.sq_psn)
		qp->resp.answer.streak = ~0U;
}

static void post_sends(struct world *w, struct host_run *hr)
{
	u32 n = 0;

	take_turn(w, hr);
	skip_ops(hr);
	while (may_post(hr) && post_when(w, hr) <= w->s->now) {
		post_op(w, hr, hr->next++);
		hr->turn = w->s->now + TURN_MAX;
		seem_to_answer(w, hr);
		if (++n == w->sc->batch) {
			sim_doorbell(hr->kqp);
			n = 0;
		}
		skip_ops(hr);
	}
	if (n)
		sim_doorbell(hr->kqp);
}

static void post_recv(struct world *w, struct host_run *hr)
{
	struct recv_run *rx = &hr->rx[hr->recv_posted];
	struct ib_sge sge[2];
	u32 i;

	for (i = 0; i < rx->npieces; i++) {
		sge[i] = sim_sge(hr->recv.buf, rx->cut[i].off, rx->cut[i].len);
		if (rx->bad_key)
			sge[i].lkey = BAD_KEY;
	}
	rx->posted = true;
	if (w->sc->srq)
		sim_put_srq(w->srq[hr->nr], hr->recv_posted, sge, rx->npieces);
	else
		sim_put_recv(hr->kqp, hr->recv_posted, sge, rx->npieces);
	hr->recv_posted++;
}

static u64 recv_when(const struct host_run *hr)
{
	return hr->sc->recv_late + hr->recv_posted * hr->sc->recv_gap;
}

static bool may_recv(const struct world *w, const struct host_run *hr)
{
	return hr->recv_posted < hr->nrecv && (w->sc->srq || !hr->dead) &&
	       !recv_ring_full(w, hr);
}

static void post_recvs(struct world *w, struct host_run *hr)
{
	bool any = false;

	for (; may_recv(w, hr) && recv_when(hr) <= w->s->now; any = true)
		post_recv(w, hr);
	/* whoever posts to a QP in error has it flushed sooner or later */
	if (any && !w->sc->srq && hr->kqp->qp.state == IB_QPS_ERR)
		sim_doorbell(hr->kqp);
}

/* As sroce_task_send_held() */
static void send_held(struct host_run *hr)
{
	if (!sroce_answer_may_end(&hr->kqp->qp))
		return;
	sroce_answer_end(&hr->kqp->qp);
	sim_doorbell(hr->kqp);
}

static void enter(struct world *w, struct host_run *hr, enum ib_qp_state to)
{
	send_held(hr);
	trace_note(w, "host %u: from state %u to %u", hr->nr, hr->kqp->qp.state,
		   to);
	sim_enter(hr->kqp, to);
	if (to == IB_QPS_RTS)
		liveness_renew(hr);
	sim_doorbell(hr->kqp);
}

static void stop_sending(struct world *w, struct host_run *hr,
			 const struct sc_act *act)
{
	struct sroce_qp *qp = &hr->kqp->qp;

	if (qp->state != IB_QPS_RTS || hr->resume != NEVER)
		return;
	hr->kqp->events &= ~BIT(IB_EVENT_SQ_DRAINED);
	qp->attr.en_sqd_async_notify = act->kind == ACT_SQD_NOTIFY;
	hr->resume = w->s->now + act->len;
	enter(w, hr, IB_QPS_SQD);
}

/* Told once, when all is done that was begun; and only who asked is told. */
static void check_drained(const struct host_run *hr)
{
	const struct sroce_qp *qp = &hr->kqp->qp;
	bool told = hr->kqp->events & BIT(IB_EVENT_SQ_DRAINED);

	CHECK_EQ(told, qp->attr.en_sqd_async_notify && qp->drained);
	CHECK_EQ(qp->drained, sroce_sq_sched_idle(qp));
}

static void do_act(struct world *w, const struct sc_act *act)
{
	struct host_run *hr = &w->host[act->host];

	if (hr->dead)
		return;
	trace_note(w, "host %u: act %u", act->host, act->kind);
	switch (act->kind) {
	case ACT_REVOKE_LOCAL:
		region_revoke(&hr->local);
		break;
	case ACT_REVOKE_TARGET:
		region_revoke(&hr->target);
		/* no region goes before its windows */
		world_peer(w, hr)->remote->mr.state = SROCE_MR_FREE;
		break;
	case ACT_REVOKE_RECV:
		region_revoke(&world_recvs(w, hr)->recv);
		break;
	case ACT_ERR:
		hr->told_err = true;
		enter(w, hr, IB_QPS_ERR);
		break;
	case ACT_SQD:
	case ACT_SQD_NOTIFY:
		stop_sending(w, hr, act);
		break;
	case ACT_RESET:
		hr->dead = true;
		enter(w, hr, IB_QPS_RESET);
		break;
	default:
		hr->dead = true;
		send_held(hr);
		sim_destroy(hr->kqp);
	}
}

static void change_states(struct world *w, struct host_run *hr)
{
	enum ib_qp_state state = hr->kqp->qp.state;
	u64 now = w->s->now;

	if (!hr->rts && hr->sc->rts_late <= now) {
		hr->rts = true;
		if (state == IB_QPS_RTR)
			enter(w, hr, IB_QPS_RTS);
	}
	if (hr->resume <= now) {
		hr->resume = NEVER;
		if (state == IB_QPS_SQD) {
			check_drained(hr);
			enter(w, hr, IB_QPS_RTS);
		}
	}
	if (state == IB_QPS_SQE && hr->recover == NEVER)
		hr->recover = now + 50 * SC_US;
	if (hr->recover <= now) {
		hr->recover = NEVER;
		if (state == IB_QPS_SQE)
			enter(w, hr, IB_QPS_RTS);
	}
}

/* The user reads the completions, which were checked as they were posted. */
static void poll(struct host_run *hr)
{
	hr->kqp->scq.n = 0;
	hr->kqp->rcq.n = 0;
}

static void act(struct world *w)
{
	u32 i;

	for (i = 0; i < w->n; i++)
		poll(&w->host[i]);
	for (i = 0; i < w->sc->nacts; i++) {
		const struct sc_act *a = &w->sc->act[i];

		if (a->skip || w->acted[i] || a->when > w->s->now)
			continue;
		w->acted[i] = true;
		do_act(w, a);
	}
	for (i = 0; i < w->n; i++) {
		change_states(w, &w->host[i]);
		post_recvs(w, &w->host[i]);
	}
	for (i = 0; i < w->n; i++)
		post_sends(w, &w->host[i]);
}

static u64 sooner(u64 t, u64 when)
{
	return when < t ? when : t;
}

/* When act() has something to do again; what waits for a completion hasn't. */
static u64 next_act(const struct world *w)
{
	u64 t = NEVER;
	u32 i;

	for (i = 0; i < w->sc->nacts; i++)
		if (!w->sc->act[i].skip && !w->acted[i])
			t = sooner(t, w->sc->act[i].when);
	for (i = 0; i < w->n; i++) {
		const struct host_run *hr = &w->host[i];

		t = sooner(t, hr->resume);
		t = sooner(t, hr->recover);
		if (!hr->rts)
			t = sooner(t, hr->sc->rts_late);
		if (may_recv(w, hr))
			t = sooner(t, recv_when(hr));
		if (may_post(hr))
			t = sooner(t, post_when(w, hr));
	}
	return t;
}

static bool turn(struct world *w)
{
	u64 t;

	act(w);
	liveness_check(w);
	t = next_act(w);
	if (w->sc->task_delay_max)
		w->s->task_delay = rnd_below(&w->r, w->sc->task_delay_max);
	mem_pressure_step(w);
	if (sim_step_until(w->s, t)) {
		liveness_check(w);
		return true;
	}
	if (t == NEVER)
		return false;
	if (w->s->now < t)
		w->s->now = t;
	return true;
}

static struct outcome *told;

static void on_fail(const char *file, int line, const char *why)
{
	if (told->failed)
		return;
	told->failed = true;
	snprintf(told->why, sizeof(told->why), "%s:%d: %s", file, line, why);
}

static void sum_up(struct world *w, struct outcome *out)
{
	u32 i, k;

	for (i = 0; i < w->n; i++) {
		for (k = 0; k < SROCE_CNT_NUM; k++)
			out->counters.c[k] += w->host[i].kqp->counters.c[k];
		out->ops += w->host[i].done;
	}
	out->packets = w->s->sent;
	out->nfates = w->impair.nfates;
	memcpy(out->fate, w->impair.fate, sizeof(out->fate));
}

static void free_packets(struct world *w)
{
	u32 i;

	for (i = 0; i < w->n; i++)
		while (w->host[i].kqp->txq) {
			struct sim_packet *p = w->host[i].kqp->txq;

			w->host[i].kqp->txq = p->next;
			sim_packet_free(p);
		}
}

/**
 * world_run() - have a scenario happen
 * @sc: the scenario
 * @verbose: print each packet, completion and change
 * @out: what it came to
 */
void world_run(const struct scenario *sc, bool verbose, struct outcome *out)
{
	struct world *w = calloc(1, sizeof(*w));
	u32 i;

	memset(out, 0, sizeof(*out));
	told = out;
	t_on_fail = on_fail;
	w->sc = sc;
	w->verbose = verbose;
	world_setup(w);
	while (!out->failed && turn(w)) {
		if (w->s->steps > STEPS_MAX)
			CHECK(!"comes to rest");
	}
	if (!out->failed)
		final_check(w);
	if (verbose && out->failed)
		printf("FAILED at %llu us: %s\n", w->s->now / SC_US, out->why);
	sum_up(w, out);
	for (i = 0; i < w->n; i++) {
		region_free(&w->host[i].local);
		region_free(&w->host[i].target);
		region_free(&w->host[i].recv);
	}
	region_free(&w->ro);
	free_packets(w);
	foreign_end(w->s);
	sim_end(w->s);
	free(w);
	t_on_fail = NULL;
}
