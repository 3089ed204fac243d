// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* RTT samples, the congestion window and the timeout that follow from them */

#include "tests.h"
#include "xfer.h"

#define US 1000ULL

/* @n packets are acknowledged @ns after the last of them was sent. */
static void sample(struct sim *s, u32 n, u64 ns)
{
	struct sroce_req *req = &s->a.qp.req;

	sroce_cwnd_sent(&s->a.qp, sroce_psn_add(req->acked, n - 1), true);
	s->now += ns;
	req->acked = sroce_psn_add(req->acked, n);
	sroce_cwnd_acked(&s->a.qp, &(u64){ 0 });
}

static struct sim *begin(void)
{
	struct sim *s = sim_new(NULL);

	/* sets the clock */
	sim_doorbell(&s->a);
	s->a.qp.req.rtt.cwnd = SROCE_CWND_MIN;
	return s;
}

static void end(struct sim *s)
{
	sroce_reset_req_psn(&s->a.qp, s->a.qp.req.acked);
	sim_end(s);
}

static void grows(void)
{
	struct sim *s = begin();
	struct sroce_rtt *rtt = &s->a.qp.req.rtt;

	t_case("cwnd: twice the delivered packets, within bounds");
	sample(s, 100, 50 * US);
	CHECK_EQ(rtt->cwnd, SROCE_CWND_MIN);
	sample(s, 900, 50 * US);
	CHECK_EQ(rtt->cwnd, 1800);
	sample(s, 5000, 50 * US);
	CHECK_EQ(rtt->cwnd, SROCE_CWND_MAX);

	t_case("cwnd: shrinks by an eighth when a queue grows");
	sample(s, 600, 150 * US);
	CHECK_EQ(rtt->cwnd, SROCE_CWND_MAX / 8 * 7);
	sample(s, 600, 200 * US);
	CHECK_EQ(rtt->cwnd, SROCE_CWND_MAX / 64 * 49);
	while (rtt->cwnd > SROCE_CWND_MIN && t_ok()) {
		u32 was = rtt->cwnd;

		sample(s, 10, 400 * US);
		CHECK(rtt->cwnd < was);
	}
	CHECK_EQ(rtt->cwnd, SROCE_CWND_MIN);
	end(s);
}

/* After the start, or a slow peer, the window grows with each ACK in time. */
static void recovers(void)
{
	struct sim *s = begin();
	struct sroce_rtt *rtt = &s->a.qp.req.rtt;
	u64 eighth = (4096ULL << 8) / 8;
	u32 i;

	t_case("cwnd: small at first, doubled by each ACK in time");
	rtt->cwnd = 0;
	CHECK_EQ(sroce_cwnd(&s->a.qp), SROCE_CWND_INIT);
	sample(s, 128, eighth - 1);
	CHECK_EQ(rtt->cwnd, 2 * SROCE_CWND_INIT);
	sample(s, 128, eighth);
	CHECK_EQ(rtt->cwnd, 2 * SROCE_CWND_INIT);
	sample(s, 128, 10 * US);
	sample(s, 128, 10 * US);
	CHECK_EQ(rtt->cwnd, SROCE_CWND_MIN);

	t_case("cwnd: small for a slow peer");
	for (i = 0; i < 20; i++)
		sroce_cwnd_timeout(&s->a.qp);
	CHECK_EQ(rtt->cwnd, SROCE_CWND_SLOW);
	sample(s, 8, 2 * eighth);
	CHECK_EQ(rtt->cwnd, SROCE_CWND_SLOW);
	sample(s, 8, eighth / 2);
	CHECK_EQ(rtt->cwnd, 2 * SROCE_CWND_SLOW);
	end(s);
}

/* A timeout shows that the window is too large, whatever came before. */
static void timeouts(void)
{
	struct sim *s = begin();
	struct sroce_req *req = &s->a.qp.req;

	t_case("cwnd: halved by a timeout, not by a probe");
	req->rtt.cwnd = SROCE_CWND_MAX;
	req->max_psn = sroce_psn_add(req->una, 10);
	req->psn = req->max_psn;
	req->retrans.probe_at = s->now;
	sroce_retrans_timer(&s->a.qp);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_PROBE), 1);
	CHECK_EQ(req->rtt.cwnd, SROCE_CWND_MAX);
	req->deadline = s->now;
	sroce_retrans_timer(&s->a.qp);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_TIMEOUT), 1);
	CHECK_EQ(req->rtt.cwnd, SROCE_CWND_MAX / 2);
	req->max_psn = req->una;
	end(s);
}

/* Half a window is acknowledged while so many packets followed it. */
static u32 window_after(u32 followed, bool sending)
{
	struct sim *s = begin();
	struct sroce_req *req = &s->a.qp.req;
	u32 half = SROCE_CWND_MIN / SROCE_ACKS_PER_CWND, window;

	req->psn = sroce_psn_add(req->acked, half + followed);
	req->next_idx = s->a.qp.sq.prod + sending;
	sample(s, half, 50 * US);
	window = req->rtt.cwnd;
	req->psn = req->acked;
	req->next_idx = s->a.qp.sq.prod;
	end(s);
	return window;
}

static void outran(void)
{
	t_case("cwnd: grows if the ACK comes before a quarter of it was sent");
	CHECK_EQ(window_after(0, true), SROCE_CWND_MAX);
	CHECK_EQ(window_after(SROCE_CWND_MIN / 4, true), SROCE_CWND_MAX);
	CHECK_EQ(window_after(SROCE_CWND_MIN / 4 + 1, true), SROCE_CWND_MIN);

	t_case("cwnd: or before one budget of packets, with nothing more to send");
	CHECK_EQ(window_after(SROCE_TX_BUDGET, false), SROCE_CWND_MAX);
	CHECK_EQ(window_after(SROCE_TX_BUDGET + 1, false), SROCE_CWND_MIN);
}

static void opens(void)
{
	struct sim *s = begin();
	struct sroce_req *req = &s->a.qp.req;

	t_case("cwnd: open until as many packets are in flight");
	sample(s, 900, 50 * US);
	req->psn = sroce_psn_add(req->acked, 1799);
	CHECK(sroce_cwnd_free(&s->a.qp));
	req->psn = sroce_psn_add(req->acked, 1800);
	CHECK(!sroce_cwnd_free(&s->a.qp));
	/* but responses of READs don't count */
	req->read_psns = 10;
	CHECK(sroce_cwnd_free(&s->a.qp));
	req->psn = sroce_psn_add(req->acked, 1810);
	CHECK(!sroce_cwnd_free(&s->a.qp));
	req->read_psns = 0;
	end(s);
}

static void samples(void)
{
	struct sim *s = begin();
	struct sroce_req *req = &s->a.qp.req;
	struct sroce_rtt *rtt = &req->rtt;

	t_case("cwnd: one RTT sample at a time, until its packet is acknowledged");
	sroce_cwnd_sent(&s->a.qp, 1009, true);
	s->now += 10 * US;
	sroce_cwnd_sent(&s->a.qp, 1019, true);
	req->acked = 1009;
	sroce_cwnd_acked(&s->a.qp, &(u64){ 0 });
	CHECK_EQ(rtt->srtt, 0);
	s->now += 30 * US;
	req->acked = 1015;
	sroce_cwnd_acked(&s->a.qp, &(u64){ 0 });
	CHECK_EQ(rtt->srtt, 40 * US);
	CHECK_EQ(rtt->rttvar, 20 * US);
	req->acked = 1030;
	sroce_cwnd_acked(&s->a.qp, &(u64){ 0 });
	CHECK_EQ(rtt->srtt, 40 * US);

	t_case("cwnd: srtt and rttvar as in RFC 6298");
	sample(s, 1, 48 * US);
	CHECK_EQ(rtt->srtt, 41 * US);
	CHECK_EQ(rtt->rttvar, 17 * US);
	sample(s, 1, 25 * US);
	CHECK_EQ(rtt->srtt, 39 * US);
	CHECK_EQ(rtt->rttvar, 16 * US + 750);
	CHECK_EQ(rtt->min_rtt, 25 * US);

	t_case("cwnd: min_rtt is forgotten after 10 s");
	s->now += 9900 * SIM_MS;
	sample(s, 1, 90 * US);
	CHECK_EQ(rtt->min_rtt, 25 * US);
	s->now += 200 * SIM_MS;
	sample(s, 1, 70 * US);
	CHECK_EQ(rtt->min_rtt, 70 * US);

	t_case("cwnd: an RTT of 0 counts as 1 ns");
	sample(s, 900, 0);
	CHECK_EQ(rtt->min_rtt, 1);
	CHECK_EQ(rtt->cwnd, 1800);
	end(s);
}

static void rto(void)
{
	struct sim *s = begin();
	struct sroce_qp *qp = &s->a.qp;

	t_case("cwnd: rto follows the RTT and the timeout");
	CHECK_EQ(sroce_cwnd_rto(qp, 0), 10 * SIM_MS);
	CHECK_EQ(sroce_cwnd_rto(qp, 8 * SIM_MS), 2 * SIM_MS);
	CHECK_EQ(sroce_cwnd_rto(qp, 100 * US), 200 * US);
	sample(s, 1, 1000 * US);
	CHECK_EQ(sroce_cwnd_rto(qp, 0), 3000 * US);
	CHECK_EQ(sroce_cwnd_rto(qp, 8 * SIM_MS), 2 * SIM_MS);
	qp->req.rtt.srtt = 0;
	sample(s, 1, 10 * US);
	CHECK_EQ(sroce_cwnd_rto(qp, 0), 200 * US);
	qp->req.rtt.srtt = 0;
	sample(s, 1, 900 * SIM_MS);
	CHECK_EQ(sroce_cwnd_rto(qp, 0), 500 * SIM_MS);
	end(s);
}

/* @n more packets are sent; the last of them has AckReq set if @asks. */
static void leave(struct sim *s, u32 n, bool asks)
{
	struct sroce_req *req = &s->a.qp.req;

	req->psn = sroce_psn_add(req->psn, n);
	req->max_psn = req->psn;
	sroce_cwnd_sent(&s->a.qp, sroce_psn_add(req->psn, -1), asks);
	sroce_retrans_set_timer(&s->a.qp);
}

static void unasked(void)
{
	struct sim *s = begin();
	struct sroce_req *req = &s->a.qp.req;
	u64 due;

	s->a.qp.attr.retry_cnt = 7;
	sample(s, 10, 50 * US);
	req->una = req->acked;
	req->psn = req->acked;
	req->max_psn = req->acked;

	t_case("cwnd: silence does not count without an ACK request");
	leave(s, 64, false);
	s->now += 500 * US;
	leave(s, 64, false);
	CHECK(req->retrans.probe_at > s->now);
	s->now += 500 * US;
	leave(s, 64, true);
	due = req->retrans.probe_at;
	CHECK(due > s->now);

	t_case("cwnd: it counts from the first ACK request on");
	s->now += 50 * US;
	leave(s, 64, false);
	s->now += 50 * US;
	leave(s, 64, true);
	CHECK_EQ(req->retrans.probe_at, due);
	end(s);
}

struct busy {
	u64	take;		/* ns that the peer needs for each request packet */
	u64	until;
};

static int takes_long(struct sim *s, struct sim_packet *p)
{
	struct busy *b = s->arg;

	p->when = s->now + SIM_LATENCY;
	if (p->from == &s->a) {
		p->when = max(p->when, b->until) + b->take;
		b->until = p->when;
	}
	return 1;
}

/*
 * The peer takes longer than many timeouts for the packets of a large window. Nothing is
 * lost, and the window shrinks to what the peer can execute within a timeout.
 */
static void peer_is_slow(u32 us)
{
	struct busy busy = { .take = us * 1000 };
	u32 first;
	struct xfers t;

	t_case("cwnd: no error for a peer that takes %u us for each packet", us);
	xfers_init(&t, NULL, 3100000, 4096);
	t.s->wire = takes_long;
	t.s->arg = &busy;
	t.s->train = SROCE_TX_BUDGET;
	t.s->task_delay = SIM_LATENCY;
	xfer_put(&t, IB_WR_RDMA_WRITE, 1500000);
	xfers_run(&t);
	first = sim_count(&t.s->a, SROCE_CNT_TIMEOUT);
	xfer_put(&t, IB_WR_RDMA_WRITE, 1500000);
	xfers_run_check(&t);
	/* the slow peer costs timeouts only once */
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), first);
	xfers_end(&t);
}

UNIT_TESTS(cwnd)
{
	grows();
	recovers();
	timeouts();
	outran();
	opens();
	samples();
	rto();
	unasked();
	peer_is_slow(8);
	peer_is_slow(20);
	peer_is_slow(50);
}
