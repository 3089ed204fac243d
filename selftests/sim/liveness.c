// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Whether requesters stay alive: nothing waits longer than it may. */

#include "world.h"

static u64 ack_timeout(const struct world *w)
{
	return 4096ULL << w->sc->cfg.timeout;
}

/*
 * Responses that wait for one that lacks, or came and found no page: a new one
 * is a sign of life.
 */
static u32 responses(const struct host_run *hr)
{
	const struct sroce_req *req = &hr->h->qp.req;
	u32 i, n = sim_count(hr->h, SROCE_CNT_ODP_MISS);

	if (req->una == req->acked)
		return n;
	for (i = 0; i < ARRAY_SIZE(req->resp_bitmap); i++)
		n += __builtin_popcountl(req->resp_bitmap[i]);
	return n;
}

/**
 * pulse_start() - a requester starts, with all retries left
 * @w: the world
 * @hr: its host
 */
void pulse_start(struct world *w, struct host_run *hr)
{
	const struct sroce_req *req = &hr->h->qp.req;

	hr->pulse = (struct pulse){
		.when = w->s->now, .since = w->s->now, .acked = req->acked,
		.una = req->una, .came = responses(hr),
		.timeouts = sim_count(hr->h, SROCE_CNT_TIMEOUT),
		.rnrs = sim_count(hr->h, SROCE_CNT_RNR_RCVD),
		.waiting = req->rnr_wait,
	};
}

/**
 * pulse_renew() - a requester has all retries left again
 * @hr: its host
 */
void pulse_renew(struct host_run *hr)
{
	hr->pulse.timeouts = sim_count(hr->h, SROCE_CNT_TIMEOUT);
	hr->pulse.tries = 0;
	hr->pulse.waits = 0;
}

static bool moved(const struct host_run *hr)
{
	const struct sroce_req *req = &hr->h->qp.req;
	const struct pulse *p = &hr->pulse;

	return p->acked != req->acked || p->una != req->una ||
	       p->came != responses(hr);
}

static bool waits(const struct host_run *hr)
{
	const struct sroce_req *req = &hr->h->qp.req;

	return sroce_qp_may_send(&hr->h->qp) && req->una != req->max_psn;
}

static void check_tries(const struct world *w, const struct host_run *hr)
{
	const struct sim_cfg *c = &w->sc->cfg;

	if (hr->pulse.tries > c->retry_cnt)
		t_fail("pulse", 1, "host %u: timeout %u, of %u that it may have",
		       hr->nr, hr->pulse.tries, c->retry_cnt);
	if (c->rnr_retry != 7 &&
	    hr->pulse.waits > (u32)c->rnr_retry + hr->pulse.vague)
		t_fail("pulse", 2, "host %u: RNR wait %u, of %u that it may have",
		       hr->nr, hr->pulse.waits, c->rnr_retry);
}

/* Packets that were sent, or would have been */
static u64 packets_out(const struct host_run *hr)
{
	return sim_count(hr->h, SROCE_CNT_TX_PACKETS) +
	       sim_count(hr->h, SROCE_CNT_LOOPBACK_PACKETS) +
	       sim_count(hr->h, SROCE_CNT_TX_NO_MEM);
}

/* What was refused for want of a receive is sent as soon as it may be. */
static void check_rnr_over(const struct host_run *hr)
{
	const struct sroce_req *req = &hr->h->qp.req;

	/* what can't be read any more fails when what came before is done */
	if (hr->local.frozen)
		return;
	/* what can't be read yet is sent when it can */
	if (req->paging)
		return;
	if (req->acked != req->max_psn && packets_out(hr) == hr->pulse.sent)
		t_fail("pulse", 10, "host %u: an RNR wait is over, and nothing is sent",
		       hr->nr);
}

static void check_silence(const struct world *w, const struct host_run *hr)
{
	u64 silent = w->s->now - hr->pulse.when;

	if (!hr->pulse.waiting && w->sc->cfg.timeout &&
	    silent > 2 * ack_timeout(w))
		t_fail("pulse", 3, "host %u: %llu us without progress, timeout or answer",
		       hr->nr, silent / SC_US);
	if (hr->pulse.waiting && silent > 656 * SC_MS)
		t_fail("pulse", 4, "host %u: RNR wait of %llu us", hr->nr,
		       silent / SC_US);
}

static void check_rnr_exceeded(const struct world *w, const struct host_run *hr)
{
	u32 retries = w->sc->cfg.rnr_retry;
	u32 had = moved(hr) ? 0 : hr->pulse.waits;

	if (retries == 7 || (had != retries &&
			     had != retries + hr->pulse.vague))
		t_fail("pulse", 8, "host %u: given up after RNR wait %u, of %u",
		       hr->nr, had, retries);
	if (sim_count(hr->h, SROCE_CNT_RNR_RCVD) == hr->pulse.rnrs && !had)
		t_fail("pulse", 9, "host %u: given up without RNR", hr->nr);
}

static void feel(struct world *w, struct host_run *hr)
{
	const struct sroce_req *req = &hr->h->qp.req;
	struct pulse *p = &hr->pulse;
	u64 timeouts = sim_count(hr->h, SROCE_CNT_TIMEOUT);
	bool doomed = req->pending_err == IB_WC_RNR_RETRY_EXC_ERR;
	bool waited = p->waiting;

	/* given up, but for what comes before */
	if (doomed && !p->doomed)
		check_rnr_exceeded(w, hr);
	if (!waits(hr) || moved(hr) || p->idle) {
		pulse_start(w, hr);
		p->idle = !waits(hr);
		/* which came first, if both came at once? */
		p->waits = req->rnr_wait && !waited;
		p->vague = p->waits;
	} else if (timeouts != p->timeouts) {
		p->tries += timeouts - p->timeouts;
		p->timeouts = timeouts;
		p->when = w->s->now;
	} else if (req->rnr_wait != p->waiting) {
		p->waits += req->rnr_wait;
		p->when = w->s->now;
		if (!req->rnr_wait)
			check_rnr_over(hr);
	}
	/* pages have all the time that they need */
	if (req->paging)
		p->when = w->s->now;
	p->waiting = req->rnr_wait;
	p->doomed = doomed;
	p->sent = packets_out(hr);
	check_tries(w, hr);
	check_silence(w, hr);
}

/**
 * pulse_feel() - look at all requesters, after whatever may have moved them
 * @w: the world
 */
void pulse_feel(struct world *w)
{
	u32 i;

	if (w->sc->cfg.type != IB_QPT_RC)
		return;
	for (i = 0; i < w->n; i++)
		if (world_alive(&w->host[i]))
			feel(w, &w->host[i]);
}

/* Whether a requester may have got no answer at all */
static bool may_be_silent(struct world *w, struct host_run *hr)
{
	const struct scenario *sc = w->sc;

	if (!world_alive(world_peer(w, hr)))
		return true;
	/* a queue as long as the timeout is as good as a loss */
	if (sc->ns_per_kb)
		return true;
	/* what comes and finds no page is as good as lost */
	if (sim_count(hr->h, SROCE_CNT_ODP_MISS))
		return true;
	/* eight timeouts in a row, with probes in between, can't be chance */
	if (sc->class == SC_LOSS || sc->class == SC_BACKN)
		return sc->cfg.retry_cnt < 7;
	return w->weather.any;
}

static void check_exceeded(struct world *w, struct host_run *hr)
{
	u32 tries = sim_count(hr->h, SROCE_CNT_TIMEOUT) - hr->pulse.timeouts +
		    hr->pulse.tries;
	u64 took = w->s->now - hr->pulse.since;

	if (tries != w->sc->cfg.retry_cnt + 1u)
		t_fail("pulse", 5, "host %u: given up after timeout %u, of %u",
		       hr->nr, tries, w->sc->cfg.retry_cnt + 1);
	if (took < tries * ack_timeout(w))
		t_fail("pulse", 6, "host %u: given up after %llu us, too early",
		       hr->nr, took / SC_US);
	if (!may_be_silent(w, hr))
		t_fail("pulse", 7, "host %u: given up, but the peer is there",
		       hr->nr);
}

/**
 * pulse_failed() - a requester gives up
 * @w: the world
 * @hr: its host
 * @status: why
 */
void pulse_failed(struct world *w, struct host_run *hr, u32 status)
{
	if (status == IB_WC_RETRY_EXC_ERR)
		check_exceeded(w, hr);
	else if (!hr->pulse.doomed)
		check_rnr_exceeded(w, hr);
}
