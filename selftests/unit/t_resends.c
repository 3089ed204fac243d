// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How many packets a hostile peer can have sent again: those that the requester may send without
 * an ACK, and some for each packet that the peer acknowledges.
 */

#include "tests.h"
#include "peer.h"

#define US		1000ULL
#define PACKETS		12000	/* of the WRITE that the peer is sent */
#define PER_PACKET	16
#define NAKS		200

/* A window of 2,048 packets is under way. */
static struct sroce_req *begin(struct xfers *t, bool has_cc)
{
	struct sim_cfg cfg = sim_default;

	cfg.timeout = 0;
	peer_begin_with(t, &cfg, PACKETS * MTU + 4096);
	t->s->quick = true;
	t->s->a.qp.cc = has_cc;
	xfer_put(t, IB_WR_RDMA_WRITE, PACKETS * MTU);
	peer_go(t);
	CHECK(txlog.n > 1900);
	return &t->s->a.qp.req;
}

/* No more was sent again than that, and a window, which takes some halvings to become small. */
static void end(struct xfers *t)
{
	u32 progress = sroce_psn_diff(t->s->a.qp.req.acked, FIRST);

	CHECK(progress < 2 * PER_PACKET * NAKS);
	CHECK(sim_count(&t->s->a, SROCE_CNT_RETRANSMIT) <=
	      SROCE_RESENDS_MAX + SROCE_CWND_MAX + PER_PACKET * progress + 2 * NAKS);
	CHECK(sim_count(&t->s->a, SROCE_CNT_RETRANSMIT) >= NAKS / 2);
	while (!t->s->a.scq.n && t_ok()) {
		peer_ack(t, sroce_psn_add(t->s->a.qp.req.max_psn, -1), ACK);
		sim_run_until(t->s, t->s->now + 100 * US);
	}
	CHECK_EQ(t->s->a.scq.e[0].status, IB_WC_SUCCESS);
	xfers_end(t);
}

/* The peer takes one packet at a time, and drops what follows. */
static void one_by_one(bool has_cc, u8 syndrome, const char *what)
{
	struct sroce_req *req;
	struct xfers t;
	u32 i;

	t_case("resends: packets that are taken one by one, with %s; cc %s", what,
	       has_cc ? "on" : "off");
	req = begin(&t, has_cc);
	req->retrans.gap_policy = SROCE_GAP_DROPS;
	for (i = 0; i < NAKS; i++) {
		/* an ACK here and there, and it still passes for one that drops */
		if (req->retrans.hold_new)
			peer_ack(&t, req->acked, ACK);
		else
			peer_ack(&t, sroce_psn_add(req->acked, 1), syndrome);
		sim_run_until(t.s, t.s->now + 200 * US);
	}
	CHECK(sim_count(&t.s->a, SROCE_CNT_CWND_IDLE));
	end(&t);
}

/* Gaps were dense, so that many packets are sent for one. */
static void no_progress(bool has_cc)
{
	struct sroce_req *req;
	struct xfers t;
	u32 i;

	t_case("resends: RNR NAKs, and NAKs of gaps, of one packet that many follow; cc %s",
	       has_cc ? "on" : "off");
	req = begin(&t, has_cc);
	req->retrans.gap_policy = SROCE_GAP_KEEPS;
	req->retrans.batch = 1024;
	req->retrans.gap_dist = 400;
	for (i = 0; i < NAKS; i += 2) {
		peer_ack(&t, req->acked, RNR);
		sim_run_until(t.s, t.s->now + 1300 * US);
		peer_ack(&t, req->acked, GAP);
		sim_run_until(t.s, t.s->now + 50 * US);
	}
	end(&t);
}

/* Each probe is acknowledged, and no more: the next one is twice as large. */
static void probes(enum sroce_gap_policy policy)
{
	struct sroce_req *req;
	struct xfers t;
	u32 i, n;

	t_case("resends: probes, of which each is acknowledged; gap policy %u", policy);
	req = begin(&t, true);
	peer_ack(&t, FIRST, ACK);
	req->retrans.gap_policy = policy;
	for (i = 0; i < NAKS; i++) {
		n = sim_count(&t.s->a, SROCE_CNT_PROBE);
		while (sim_count(&t.s->a, SROCE_CNT_PROBE) == n && sim_step(t.s))
			;
		sim_run_until(t.s, t.s->now + 20 * US);
		if (req->retrans.last != req->psn && req->retrans.n)
			peer_ack(&t, sroce_psn_add(req->retrans.last, -1), ACK);
		else
			peer_ack(&t, req->acked, ACK);
	}
	end(&t);
}

/* The path seems long, and the window to have lost much. */
static void long_path(void)
{
	struct sroce_req *req;
	struct xfers t;
	u32 i;

	t_case("resends: gaps one or two packets apart, on a long path");
	req = begin(&t, true);
	sim_run_until(t.s, t.s->now + 6 * SIM_MS);
	peer_ack(&t, FIRST + 1000, ACK);
	sim_run_until(t.s, t.s->now + 6 * SIM_MS);
	peer_ack(&t, FIRST + 1100, ACK);
	CHECK(req->rtt.is_long);
	req->retrans.gap_policy = SROCE_GAP_KEEPS;
	for (i = 0; i < NAKS; i++) {
		peer_ack(&t, sroce_psn_add(req->acked, i % 2 + 1), GAP);
		sim_run_until(t.s, t.s->now + 25 * SIM_MS);
	}
	CHECK(sim_count(&t.s->a, SROCE_CNT_WINDOW_RESENT));
	end(&t);
}

UNIT_TESTS(resends)
{
	one_by_one(true, RNR, "RNR NAKs");
	one_by_one(false, RNR, "RNR NAKs");
	one_by_one(true, GAP, "NAKs of gaps");
	one_by_one(false, GAP, "NAKs of gaps");
	no_progress(true);
	no_progress(false);
	probes(SROCE_GAP_UNKNOWN);
	probes(SROCE_GAP_DROPS);
	long_path();
}
