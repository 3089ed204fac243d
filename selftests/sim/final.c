// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Checks when nothing is left to do */

#include "world.h"

static bool is_rc(const struct world *w)
{
	return w->sc->cfg.type == IB_QPT_RC;
}

/* The scenario has no intended errors. */
static bool all_good(const struct world *w)
{
	u32 i, k;

	for (i = 0; i < w->sc->nacts; i++)
		if (!w->sc->act[i].skip)
			return false;
	for (i = 0; i < w->n; i++) {
		const struct host_run *hr = &w->host[i];

		if (hr->sc->no_access || hr->kqp->scq.overflowed || hr->kqp->rcq.overflowed)
			return false;
		for (k = 0; k < hr->sc->nops; k++)
			if (hr->sc->op[k].bad && !hr->sc->op[k].skip)
				return false;
	}
	return true;
}

/* Trailing unsignaled work requests are done when the queue is empty. */
static void end_sends(struct world *w, struct host_run *hr)
{
	const struct sroce_sq *sq = &hr->kqp->qp.sq;
	u32 i;

	if (hr->dead)
		return;
	CHECK_EQ(sq->cons, sq->prod);
	for (i = hr->done; i < hr->next; i++) {
		if (hr->op[i].op->skip)
			continue;
		if (world_signaled(w, hr->op[i].op))
			t_fail("final", 1, "host %u op %u: never completed",
			       hr->nr, i);
		oracle_good(w, hr, i);
	}
	hr->done = hr->next;
	if (hr->next != hr->sc->nops)
		t_fail("final", 2, "host %u: only %u of %u were posted",
		       hr->nr, hr->next, hr->sc->nops);
}

static bool in_error(const struct host_run *hr)
{
	return !hr->dead && hr->kqp->qp.state == IB_QPS_ERR;
}

/* What was posted has been used or flushed, but for an SRQ's. */
static void end_receives(struct world *w, struct host_run *hr)
{
	bool all = in_error(hr) || (is_rc(w) && world_alive(hr) &&
				    world_alive(world_peer(w, hr)));
	u32 i;

	if (w->sc->srq || !all)
		return;
	for (i = 0; i < hr->nrecv; i++)
		if (!hr->rx[i].done)
			t_fail("final", 3, "host %u receive %u: never completed",
			       hr->nr, i);
}

/* Without impairments even UC and UD lose nothing. */
static void check_unlost(struct world *w, struct host_run *hr)
{
	u32 i;

	if (w->impair.any || w->sc->host[hr->nr ^ 1].recv_late ||
	    w->sc->short_recv || !all_good(w) ||
	    sim_count(world_peer(w, hr)->kqp, SROCE_CNT_ODP_DROP))
		return;
	for (i = 0; i < hr->sc->nops; i++) {
		const struct op_run *run = &hr->op[i];

		if (!run->op->skip && sc_takes_recv(run->op->opcode) &&
		    !run->recvd)
			t_fail("final", 4, "host %u op %u: not received",
			       hr->nr, i);
	}
}

static void explain_error(struct world *w, struct host_run *hr)
{
	u32 events = hr->kqp->events;
	u32 known = BIT(IB_EVENT_COMM_EST) | BIT(IB_EVENT_SQ_DRAINED) |
		    BIT(IB_EVENT_QP_LAST_WQE_REACHED);
	bool lost = hr->kqp->scq.overflowed || hr->kqp->rcq.overflowed;

	if (events & BIT(IB_EVENT_COMM_EST) && !hr->sc->rts_late)
		t_fail("final", 13, "host %u: COMM_EST in RTS", hr->nr);
	if (events & ~known && !oracle_offended(w, hr) && !lost &&
	    !hr->recv_failed)
		t_fail("final", 5, "host %u: events %#x for no reason",
		       hr->nr, events);
	if (!in_error(hr))
		return;
	if (!hr->told_err && hr->failed < 0 && !oracle_offended(w, hr) &&
	    !hr->recv_failed) {
		if (!lost)
			t_fail("final", 6, "host %u: in error for no reason",
			       hr->nr);
		CHECK(events & BIT(IB_EVENT_QP_FATAL));
	}
	if (w->sc->srq)
		CHECK(events & BIT(IB_EVENT_QP_LAST_WQE_REACHED));
}

/* After a fatal NAK the peer is in the error state as well. */
static void check_refused(struct world *w, struct host_run *hr)
{
	u32 status;

	if (!is_rc(w) || hr->failed < 0)
		return;
	status = hr->op[hr->failed].status;
	if (status != IB_WC_REM_ACCESS_ERR && status != IB_WC_REM_OP_ERR &&
	    status != IB_WC_REM_INV_REQ_ERR)
		return;
	if (world_alive(world_peer(w, hr)))
		t_fail("final", 7, "host %u: refused by a peer that goes on",
		       hr->nr);
}

/* One direction of a connection: what is sent has come, and both know it. */
static void check_agreed(const struct host_run *hr, const struct host_run *peer)
{
	const struct sroce_req *req = &hr->kqp->qp.req;
	const struct sroce_resp *resp = &peer->kqp->qp.resp;

	CHECK_EQ(req->una, req->max_psn);
	CHECK_EQ(req->acked, req->max_psn);
	CHECK_EQ(req->psn, req->max_psn);
	CHECK_EQ(resp->psn, req->max_psn);
	CHECK_EQ(resp->msn, req->ssn);
	CHECK_EQ(req->reads, 0);
	CHECK_EQ(req->read_psns, 0);
	CHECK(!req->rnr_wait && !req->pending_err && !req->deadline);
	CHECK(!resp->ofo_len && !resp->fifo.n && !resp->replays.n);
	CHECK_EQ(foreign_waiting(peer->kqp), 0);
	CHECK(!resp->aeth && !resp->have_wqe && !resp->msg && !resp->closing);
	CHECK_EQ(sim_kept_responses(req), 0);
}

static void check_pair(struct world *w, struct host_run *hr)
{
	struct host_run *peer = world_peer(w, hr);

	if (!is_rc(w)) {
		check_unlost(w, hr);
		return;
	}
	if (!world_alive(hr) || !world_alive(peer))
		return;
	CHECK_EQ(hr->kqp->qp.state, IB_QPS_RTS);
	check_agreed(hr, peer);
	if (hr->sc->via >= 0 && !peer->target.frozen)
		CHECK_EQ(hr->remote->mr.state, hr->sc->inv ? SROCE_MR_FREE :
							     SROCE_MR_VALID);
	CHECK_EQ(hr->window->mr.state, hr->sc->bound ? SROCE_MR_VALID :
						       SROCE_MR_FREE);
}

/*
 * A READ out of a window's range starts one byte late; where it leaves as
 * several requests, those within the range are served.
 */
static u64 first_byte(const struct sc_op *op)
{
	return op->bad == BAD_RANGE && op->via ? 1 : 0;
}

static void check_local(struct host_run *hr, struct op_run *run)
{
	u32 a = run->seed, c = run->seed, i;
	u64 at = sc_fetches(run->op->opcode) ? first_byte(run->op) : 0;

	if (run->op->flags & IB_SEND_INLINE || run->op->deep)
		return;
	if (sc_fetches(run->op->opcode))
		a = BYTES_ZERO;
	if (run->reused)
		a = c = BYTES_SCRAMBLED;
	for (i = 0; i < run->op->nsge; at += run->cut[i++].len) {
		const struct piece *p = &run->cut[i];

		region_mark(&hr->local, p->off, p->len);
		if (hr->local.frozen ||
		    (a == BYTES_ZERO && sc_is_atomic(run->op->opcode)))
			continue;
		if (!bytes_are(hr->local.buf, p->off, p->len, at, a, c))
			t_fail("final", 8, "host %u op %u: local bytes changed",
			       hr->nr, (u32)(run - hr->op));
	}
}

static void check_span(struct region *r, const struct host_run *hr,
		       const struct op_run *run)
{
	const struct span *span = &run->span;
	u32 a = span->before, c = span->after ? span->after : span->before;

	if (span->scrambled)
		a = c = BYTES_SCRAMBLED;
	region_mark(r, span->off, span->len);
	if (!r->frozen && !bytes_are(r->buf, span->off, span->len, 0, a, c))
		t_fail("final", 9, "host %u op %u: remote bytes changed",
		       hr->nr, (u32)(run - hr->op));
}

/* A word that one QP operates on is as after one of its work requests. */
static void check_word(const struct host_run *hr, const struct region *r,
		       u32 word, u64 val)
{
	u64 last = 0;
	u32 i;

	for (i = 0; i < hr->sc->nops; i++) {
		const struct op_run *run = &hr->op[i];

		if (run->op->skip || !sc_is_atomic(run->op->opcode) ||
		    run->op->word != word)
			continue;
		if (run->done && run->status == IB_WC_SUCCESS) {
			last = run->result;
			continue;
		}
		if (run->posted && val == run->result)
			return;
	}
	if (val != last && !r->frozen)
		t_fail("final", 10, "host %u: word %u is %#llx, not %#llx",
		       hr->nr, word, val, last);
}

static void check_words(struct world *w, struct host_run *hr)
{
	struct region *r = &world_peer(w, hr)->target;
	u32 i, shift = 16 * (hr->nr / 2);
	u64 val;

	for (i = 0; i < SC_COUNTERS - 1; i++)
		check_word(hr, r, i,
			   sim_get64(r->buf, world_peer(w, hr)->words + 8 * i));
	/* the shared one is at the first host of the other side */
	r = &w->host[(hr->nr & 1) ^ 1].target;
	val = sim_get64(r->buf, w->host[(hr->nr & 1) ^ 1].words + 8 * i);
	check_word(hr, r, i, val & 0xffffULL << shift);
}

static void check_receive(struct world *w, struct host_run *hr, u32 i)
{
	struct recv_run *rx = &hr->rx[i];
	u32 k, a = BYTES_ZERO, c = BYTES_ZERO;

	for (k = 0; k < rx->npieces; k++)
		region_mark(&hr->recv, rx->cut[k].off, rx->cut[k].len);
	if (hr->recv.frozen)
		return;
	if (rx->scrambled)
		a = c = BYTES_SCRAMBLED;
	else if (rx->op >= 0)
		c = world_peer(w, hr)->op[rx->op].seed;
	else if (rx->posted)
		return;
	if (!receive_is(hr, rx, 0, rx->len, a, c))
		t_fail("final", 11, "host %u receive %u: bytes changed", hr->nr,
		       i);
}

static void check_memory(struct world *w, struct host_run *hr)
{
	u32 i;

	region_mark(&hr->target, hr->words, 8 * SC_COUNTERS);
	for (i = 0; i < hr->sc->nops; i++) {
		if (hr->op[i].op->skip)
			continue;
		check_local(hr, &hr->op[i]);
		if (hr->op[i].span.len)
			check_span(&world_peer(w, hr)->target, hr, &hr->op[i]);
	}
	if (is_rc(w))
		check_words(w, hr);
	for (i = 0; i < hr->nrecv; i++)
		check_receive(w, hr, i);
}

/* Without impairments nothing is sent twice, and there are no timeouts. */
static void check_calm(struct world *w, const struct host_run *hr)
{
	const struct sroce_kqp *kqp = hr->kqp;

	if (w->sc->class != SC_CALM)
		return;
	CHECK_EQ(sim_count(kqp, SROCE_CNT_RETRANSMIT), 0);
	CHECK_EQ(sim_count(kqp, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(kqp, SROCE_CNT_DUPLICATE), 0);
	CHECK_EQ(sim_count(kqp, SROCE_CNT_OUT_OF_SEQ), 0);
	CHECK_EQ(sim_count(kqp, SROCE_CNT_NAK_SEQ_SENT), 0);
	CHECK_EQ(sim_count(kqp, SROCE_CNT_ACK_GHOST), 0);
}

/* A single loss never takes a timeout if a later packet makes it known. */
static void check_one(struct world *w, const struct host_run *hr)
{
	if (w->sc->class != SC_ONE)
		return;
	CHECK_EQ(sim_count(hr->kqp, SROCE_CNT_TIMEOUT), 0);
	CHECK(sim_count(hr->kqp, SROCE_CNT_NAK_SEQ_SENT) <= 1);
	CHECK(sim_count(hr->kqp, SROCE_CNT_READ_RETRY) <= 1 ||
	      sim_count(hr->kqp, SROCE_CNT_PROBE));
	if (w->impair.followed)
		CHECK_EQ(sim_count(hr->kqp, SROCE_CNT_PROBE), 0);
}

/* Not much more is sent again than was lost. */
static void check_retransmits(struct world *w)
{
	u32 i, n = w->impair.nfates;
	u64 again = 0, most = n < 5 ? 4 * n + 8 : 40 * n;

	if (w->sc->class != SC_LOSS || w->sc->ns_per_kb ||
	    sc_is_foreign(w->sc, 0) || sc_is_foreign(w->sc, 1))
		return;
	for (i = 0; i < w->n; i++)
		again += sim_count(w->host[i].kqp, SROCE_CNT_RETRANSMIT);
	/* a long path seems silent until it has answered once, and a window may go out again */
	if (w->sc->latency >= SC_MS)
		most += 64;
	/* responses may seem lost that marks have slowed down to one per timeout */
	if (w->sc->mark >= 5000)
		most += 64;
	/* where much is lost, what is sent again is so, too */
	if (again > most)
		t_fail("final", 14, "%u packets were lost, and %llu sent again",
		       n, again);
}

static void check_success(struct world *w, const struct host_run *hr)
{
	enum sc_class class = w->sc->class;

	if (class != SC_CALM && class != SC_ONE)
		return;
	if (hr->failed >= 0)
		t_fail("final", 12, "host %u op %d failed", hr->nr, hr->failed);
	check_calm(w, hr);
	check_one(w, hr);
}

/* The limit is told once, when there are fewer left; then it is off. */
static void check_srq(const struct world *w, u32 side)
{
	const struct sroce_rq *rq = &w->srq[side]->rq;
	bool told = false;
	u32 i;

	for (i = side; i < w->n; i += 2)
		told |= w->host[i].kqp->srq_events &
			BIT(IB_EVENT_SRQ_LIMIT_REACHED);
	CHECK_EQ(told, w->sc->srq_limit && !rq->limit);
}

/**
 * final_check() - all that can be said when a run has come to rest
 * @w: the world
 */
void final_check(struct world *w)
{
	u32 i;

	for (i = 0; i < w->n; i++)
		end_sends(w, &w->host[i]);
	for (i = 0; i < w->n; i++) {
		struct host_run *hr = &w->host[i];

		end_receives(w, hr);
		explain_error(w, hr);
		check_refused(w, hr);
		check_pair(w, hr);
		check_success(w, hr);
		check_memory(w, hr);
	}
	for (i = 0; i < w->n; i++) {
		region_check_rest(&w->host[i].local, "local");
		region_check_rest(&w->host[i].target, "target");
		region_check_rest(&w->host[i].recv, "receive");
	}
	region_check_rest(&w->ro, "forbidden");
	check_retransmits(w);
	for (i = 0; w->sc->srq && i < 2; i++)
		check_srq(w, i);
}
