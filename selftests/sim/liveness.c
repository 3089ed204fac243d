// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Liveness: no requester waits longer than it may, or gives up too early. */

#include "world.h"

static u64 ack_timeout(const struct world *w)
{
	return 4096ULL << w->sc->cfg.timeout;
}

/*
 * Responses that arrived after a missing one, or found no page: a new one is
 * progress.
 */
static u32 responses(const struct host_run *hr)
{
	const struct sroce_req *req = &hr->kqp->qp.req;
	u32 n = sim_count(hr->kqp, SROCE_CNT_ODP_MISS);

	return req->una == req->acked ? n : n + sim_kept_responses(req);
}

/**
 * liveness_start() - a requester starts with all retries left
 * @w: the world
 * @hr: its host
 */
void liveness_start(struct world *w, struct host_run *hr)
{
	const struct sroce_req *req = &hr->kqp->qp.req;

	hr->live = (struct liveness){
		.when = w->s->now, .since = w->s->now, .acked = req->acked,
		.una = req->una, .came = responses(hr),
		.timeouts = sim_count(hr->kqp, SROCE_CNT_TIMEOUT),
		.excused = sim_count(hr->kqp, SROCE_CNT_TIMEOUT_EXCUSED),
		.rnrs = sim_count(hr->kqp, SROCE_CNT_RNR_RCVD),
		.waiting = req->rnr_wait,
	};
}

/**
 * liveness_renew() - a requester has all retries left again
 * @hr: its host
 */
void liveness_renew(struct host_run *hr)
{
	hr->live.timeouts = sim_count(hr->kqp, SROCE_CNT_TIMEOUT);
	hr->live.tries = 0;
	hr->live.waits = 0;
}

/* Progress after which a requester has all its retries again */
static bool advanced(const struct host_run *hr)
{
	const struct sroce_req *req = &hr->kqp->qp.req;

	return hr->live.acked != req->acked || hr->live.una != req->una;
}

static bool moved(const struct host_run *hr)
{
	return advanced(hr) || hr->live.came != responses(hr);
}

static bool waits(const struct host_run *hr)
{
	const struct sroce_req *req = &hr->kqp->qp.req;

	return sroce_qp_may_send(&hr->kqp->qp) && req->una != req->max_psn;
}

static void check_tries(const struct world *w, const struct host_run *hr)
{
	const struct sim_cfg *c = &w->sc->cfg;

	if (hr->live.tries > c->retry_cnt)
		t_fail("liveness", 1, "host %u: timeout %u, of %u that it may have",
		       hr->nr, hr->live.tries, c->retry_cnt);
	if (c->rnr_retry != 7 &&
	    hr->live.waits > (u32)c->rnr_retry + hr->live.vague)
		t_fail("liveness", 2, "host %u: RNR wait %u, of %u that it may have",
		       hr->nr, hr->live.waits, c->rnr_retry);
}

/* Packets that were sent, or would have been */
static u64 packets_out(const struct host_run *hr)
{
	return sim_count(hr->kqp, SROCE_CNT_TX_PACKETS) +
	       sim_count(hr->kqp, SROCE_CNT_LOOPBACK_PACKETS) +
	       sim_count(hr->kqp, SROCE_CNT_TX_NO_MEM);
}

/* What got an RNR NAK is sent again as soon as the delay is over. */
static void check_rnr_over(const struct host_run *hr)
{
	const struct sroce_req *req = &hr->kqp->qp.req;

	/* what can't be read any more fails when what came before is done */
	if (hr->local.frozen)
		return;
	/* what can't be read yet is sent when it can */
	if (req->paging)
		return;
	if (req->acked != req->max_psn && packets_out(hr) == hr->live.sent)
		t_fail("liveness", 10, "host %u: an RNR wait is over, and nothing is sent",
		       hr->nr);
}

static void check_silence(const struct world *w, const struct host_run *hr)
{
	u64 silent = w->s->now - hr->live.when;
	/* time in which a probe is late does not count, and there may be some probes */
	u64 most = 2 * ack_timeout(w) + 4 * w->s->timer_late;

	if (!hr->live.waiting && w->sc->cfg.timeout && silent > most)
		t_fail("liveness", 3, "host %u: %llu us without progress, timeout or answer",
		       hr->nr, silent / SC_US);
	if (hr->live.waiting && silent > 656 * SC_MS)
		t_fail("liveness", 4, "host %u: RNR wait of %llu us", hr->nr,
		       silent / SC_US);
}

static void check_rnr_exceeded(const struct world *w, const struct host_run *hr)
{
	u32 retries = w->sc->cfg.rnr_retry;
	u32 had = advanced(hr) ? 0 : hr->live.waits;

	if (retries == 7 || (had != retries &&
			     had != retries + hr->live.vague))
		t_fail("liveness", 8, "host %u: given up after RNR wait %u, of %u",
		       hr->nr, had, retries);
	if (sim_count(hr->kqp, SROCE_CNT_RNR_RCVD) == hr->live.rnrs && !had)
		t_fail("liveness", 9, "host %u: given up without RNR", hr->nr);
}

/* There is progress: what remains of RNR waits? */
static void start_again(struct world *w, struct host_run *hr)
{
	bool renewed = advanced(hr) || hr->live.idle || !waits(hr);
	struct liveness *p = &hr->live, was = *p;
	bool more = hr->kqp->qp.req.rnr_wait && !was.waiting;

	liveness_start(w, hr);
	p->idle = !waits(hr);
	/* progress and RNR NAK came at once: the order is unknown */
	p->waits = (renewed ? 0 : was.waits) + more;
	p->vague = renewed ? more : was.vague;
}

static void check(struct world *w, struct host_run *hr)
{
	const struct sroce_req *req = &hr->kqp->qp.req;
	struct liveness *p = &hr->live;
	u64 timeouts = sim_count(hr->kqp, SROCE_CNT_TIMEOUT);
	u64 excused = sim_count(hr->kqp, SROCE_CNT_TIMEOUT_EXCUSED);
	bool gave_up = req->pending_err == IB_WC_RNR_RETRY_EXC_ERR;

	/* fails once the older work requests are complete */
	if (gave_up && !p->gave_up)
		check_rnr_exceeded(w, hr);
	if (!waits(hr) || moved(hr) || p->idle) {
		start_again(w, hr);
	} else if (timeouts != p->timeouts) {
		p->tries += timeouts - p->timeouts;
		p->timeouts = timeouts;
		p->when = w->s->now;
	} else if (excused != p->excused) {
		p->excused = excused;
		p->when = w->s->now;
	} else if (req->rnr_wait != p->waiting) {
		p->waits += req->rnr_wait;
		p->when = w->s->now;
		if (!req->rnr_wait)
			check_rnr_over(hr);
	}
	/* a page fault may take any time */
	if (req->paging)
		p->when = w->s->now;
	p->waiting = req->rnr_wait;
	p->gave_up = gave_up;
	p->sent = packets_out(hr);
	check_tries(w, hr);
	check_silence(w, hr);
}

/**
 * liveness_check() - check all requesters after an event
 * @w: the world
 */
void liveness_check(struct world *w)
{
	u32 i;

	if (w->sc->cfg.type != IB_QPT_RC)
		return;
	for (i = 0; i < w->n; i++)
		if (world_alive(&w->host[i]))
			check(w, &w->host[i]);
}

/* Whether a requester may have received no response at all */
static bool may_be_silent(struct world *w, struct host_run *hr)
{
	const struct scenario *sc = w->sc;

	if (!world_alive(world_peer(w, hr)))
		return true;
	/* a queue as long as the timeout is as good as a loss */
	if (sc->ns_per_kb)
		return true;
	/* a response that finds no page is as good as lost */
	if (sim_count(hr->kqp, SROCE_CNT_ODP_MISS))
		return true;
	/* so is a request, and without retries no probe asks what the peer lacks */
	if (!sc->cfg.retry_cnt &&
	    sim_count(world_peer(w, hr)->kqp, SROCE_CNT_ODP_DROP))
		return true;
	/*
	 * Eight timeouts in a row, with probes in between, can't be chance, unless of ten
	 * packets three are lost: then it is twice in 100,000, and a seed has several tries.
	 */
	if ((sc->class == SC_LOSS || sc->class == SC_BACKN || sc->class == SC_FOREIGN) &&
	    !sc->foreign[hr->nr & 1].back_n)
		return sc->cfg.retry_cnt < 7 || sc->faults.drop >= 3000;
	return w->impair.any;
}

static void check_exceeded(struct world *w, struct host_run *hr)
{
	u32 tries = sim_count(hr->kqp, SROCE_CNT_TIMEOUT) - hr->live.timeouts +
		    hr->live.tries;
	u64 took = w->s->now - hr->live.since;

	if (tries != w->sc->cfg.retry_cnt + 1u)
		t_fail("liveness", 5, "host %u: given up after timeout %u, of %u",
		       hr->nr, tries, w->sc->cfg.retry_cnt + 1);
	if (took < tries * ack_timeout(w))
		t_fail("liveness", 6, "host %u: given up after %llu us, too early",
		       hr->nr, took / SC_US);
	if (!may_be_silent(w, hr))
		t_fail("liveness", 7, "host %u: given up, but the peer is there",
		       hr->nr);
}

/**
 * liveness_failed() - a requester fails with exceeded retries
 * @w: the world
 * @hr: its host
 * @status: why
 */
void liveness_failed(struct world *w, struct host_run *hr, u32 status)
{
	if (status == IB_WC_RETRY_EXC_ERR)
		check_exceeded(w, hr);
	else if (!hr->live.gave_up)
		check_rnr_exceeded(w, hr);
}
