// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Samples of the round trip, and the timeout that follows from them */

#include "tests.h"
#include "peer.h"

#define US 1000ULL

static struct sim *begin(void)
{
	struct sim *s = sim_new(NULL);

	/* sets the clock */
	sim_doorbell(&s->a);
	return s;
}

static void end(struct sim *s)
{
	sroce_reset_req_psn(&s->a.qp, s->a.qp.req.acked);
	sim_end(s);
}

static enum sroce_rtt_sample ack(struct sim *s, u32 psn)
{
	s->a.qp.req.acked = psn;
	return sroce_rtt_acked(&s->a.qp, &(u64){ 0 });
}

/* A packet leaves, perhaps for the second time, which asks for an ACK or doesn't. */
static void leaves(struct sim *s, u32 psn, bool asks, bool again)
{
	sroce_rtt_sent(&s->a.qp, &(struct sroce_pkt){
		.psn = psn, .ackreq = asks, .op = &sroce_opcodes[0x06],
	}, again);
}

/* A packet that asks for an ACK, perhaps one that was sent before, and its answer */
static enum sroce_rtt_sample sample(struct sim *s, u64 ns, bool again)
{
	u32 psn = s->a.qp.req.acked;

	leaves(s, psn, true, again);
	s->now += ns;
	return ack(s, sroce_psn_add(psn, 1));
}

/* The answer to a packet that was reported missing, and sent again */
static enum sroce_rtt_sample resample(struct sim *s, u64 ns)
{
	sroce_rtt_retransmitted(&s->a.qp);
	s->now += ns;
	return ack(s, sroce_psn_add(s->a.qp.req.acked, 1));
}

static void one_at_a_time(void)
{
	struct sim *s = begin();
	struct sroce_rtt *rtt = &s->a.qp.req.rtt;

	t_case("rtt: one sample at a time, until its packet is acknowledged");
	leaves(s, 1005, false, false);
	CHECK(!rtt->sampling);
	leaves(s, 1009, true, false);
	s->now += 10 * US;
	leaves(s, 1019, true, false);
	ack(s, 1009);
	CHECK_EQ(rtt->srtt, 0);
	s->now += 30 * US;
	ack(s, 1015);
	CHECK_EQ(rtt->srtt, 40 * US);
	CHECK_EQ(rtt->rttvar, 20 * US);
	CHECK_EQ(s->a.qp.req.cwnd.rtt, 40 * US);
	ack(s, 1030);
	CHECK_EQ(rtt->srtt, 40 * US);

	t_case("rtt: srtt and rttvar as in RFC 6298");
	sample(s, 48 * US, false);
	CHECK_EQ(rtt->srtt, 41 * US);
	CHECK_EQ(rtt->rttvar, 17 * US);
	sample(s, 25 * US, false);
	CHECK_EQ(rtt->srtt, 39 * US);
	CHECK_EQ(rtt->rttvar, 16 * US + 750);
	CHECK_EQ(s->a.qp.req.cwnd.min_rtt, 25 * US);

	t_case("rtt: 0 counts as 1 ns");
	sample(s, 0, false);
	CHECK_EQ(s->a.qp.req.cwnd.min_rtt, 1);
	end(s);
}

static void first_answer(void)
{
	struct sim *s = begin();

	t_case("rtt: until there is a sample, the first answer of all is the shortest");
	sroce_rtt_heard(&s->a.qp);
	CHECK_EQ(s->a.qp.req.cwnd.min_rtt, 0);
	leaves(s, 1000, false, false);
	s->now += 70 * US;
	sroce_rtt_heard(&s->a.qp);
	CHECK_EQ(s->a.qp.req.cwnd.min_rtt, 70 * US);
	CHECK_EQ(s->a.qp.req.rtt.srtt, 0);
	s->now += 10 * US;
	sroce_rtt_heard(&s->a.qp);
	CHECK_EQ(s->a.qp.req.cwnd.rtt, 70 * US);
	sample(s, 50 * US, false);
	CHECK_EQ(s->a.qp.req.cwnd.min_rtt, 50 * US);
	end(s);
}

static void answer_after_probe(void)
{
	struct sim *s = begin();
	struct sroce_req *req = &s->a.qp.req;
	u32 i;

	t_case("rtt: that after a probe may be long, so a shorter answer is not to an original");
	leaves(s, 1000, true, false);
	s->now += 16000 * US;
	sroce_rtt_probed(&s->a.qp);
	s->now += 50 * US;
	sroce_rtt_heard(&s->a.qp);
	CHECK_EQ(req->cwnd.min_rtt, 16050 * US);
	req->rtt.sampling = false;
	for (i = 0; req->rtt.assume_lost; i++)
		CHECK_EQ(resample(s, 50 * US), SROCE_RTT_NONE);
	CHECK(i > 0);
	CHECK_EQ(req->cwnd.min_rtt, 16050 * US);
	CHECK_EQ(resample(s, 50 * US), SROCE_RTT_NONE);
	CHECK_EQ(req->cwnd.min_rtt, 50 * US);
	CHECK_EQ(resample(s, 30 * US), SROCE_RTT_SPURIOUS);
	CHECK_EQ(req->cwnd.min_rtt, 50 * US);
	end(s);

	t_case("rtt: unless a sample has confirmed it");
	s = begin();
	req = &s->a.qp.req;
	leaves(s, 1000, true, false);
	sroce_rtt_probed(&s->a.qp);
	s->now += 16000 * US;
	sroce_rtt_heard(&s->a.qp);
	ack(s, 1001);
	req->rtt.assume_lost = 0;
	CHECK_EQ(resample(s, 50 * US), SROCE_RTT_SPURIOUS);
	CHECK_EQ(req->cwnd.min_rtt, 16000 * US);
	end(s);
}

static void spurious(void)
{
	struct sim *s = begin();
	struct sroce_req *req = &s->a.qp.req;
	u32 i;

	t_case("rtt: an answer to a retransmission within 3/4 of a round trip is to the original");
	sample(s, 100 * US, false);
	CHECK_EQ(resample(s, 75 * US - 1), SROCE_RTT_SPURIOUS);
	CHECK_EQ(req->rtt.srtt, 100 * US);
	CHECK_EQ(req->cwnd.min_rtt, 100 * US);
	CHECK_EQ(resample(s, 75 * US), SROCE_RTT_RETRANS);
	CHECK(req->rtt.srtt < 100 * US);

	t_case("rtt: likewise of a packet sent again in turn");
	CHECK_EQ(sample(s, 60 * US, true), SROCE_RTT_SPURIOUS);
	CHECK_EQ(sample(s, 90 * US, true), SROCE_RTT_RETRANS);

	t_case("rtt: after a probe such answers are taken, without news for the window");
	sroce_rtt_probed(&s->a.qp);
	req->cwnd.rtt = 123;
	CHECK_EQ(resample(s, 10 * US), SROCE_RTT_NONE);
	CHECK(req->rtt.srtt < 90 * US);
	CHECK_EQ(req->cwnd.rtt, 123);
	for (i = 1; i < 8; i++)
		CHECK_EQ(resample(s, 10 * US), SROCE_RTT_NONE);
	CHECK_EQ(resample(s, 10 * US), SROCE_RTT_SPURIOUS);
	end(s);
}

static void floors(void)
{
	struct sim *s = begin();
	struct sroce_req *req = &s->a.qp.req;

	t_case("rtt: a retransmission to a peer that keeps never shortens the shortest");
	sample(s, 100 * US, false);
	req->retrans.gap_policy = SROCE_GAP_KEEPS;
	CHECK_EQ(resample(s, 80 * US), SROCE_RTT_RETRANS);
	CHECK_EQ(req->cwnd.min_rtt, 100 * US);
	CHECK_EQ(req->cwnd.rtt, 100 * US);
	CHECK_EQ(resample(s, 130 * US), SROCE_RTT_RETRANS);
	CHECK_EQ(req->cwnd.rtt, 130 * US);
	req->retrans.gap_policy = SROCE_GAP_UNKNOWN;
	CHECK_EQ(resample(s, 80 * US), SROCE_RTT_RETRANS);
	CHECK_EQ(req->cwnd.min_rtt, 100 * US);

	t_case("rtt: to one that drops it does");
	req->retrans.gap_policy = SROCE_GAP_DROPS;
	CHECK_EQ(resample(s, 80 * US), SROCE_RTT_RETRANS);
	CHECK_EQ(req->cwnd.min_rtt, 80 * US);

	t_case("rtt: one that waited for its batch shows no queue");
	req->retrans.tries_batch = true;
	CHECK_EQ(resample(s, 900 * US), SROCE_RTT_RETRANS);
	CHECK_EQ(req->cwnd.rtt, 80 * US);
	end(s);
}

static void rto(void)
{
	struct sim *s = begin();
	struct sroce_qp *qp = &s->a.qp;

	t_case("rtt: the timeout before the first sample");
	CHECK_EQ(sroce_rtt_rto(qp, 0), 2 * SIM_MS);
	CHECK_EQ(sroce_rtt_rto(qp, 4 * SIM_MS), 1 * SIM_MS);
	CHECK_EQ(sroce_rtt_rto(qp, 100 * US), 200 * US);

	t_case("rtt: the timeout follows the samples, within bounds");
	sample(s, 1000 * US, false);
	CHECK_EQ(sroce_rtt_rto(qp, 0), 3000 * US);
	qp->req.rtt.rttvar = 1;
	CHECK_EQ(sroce_rtt_rto(qp, 0), 1500 * US);
	qp->req.rtt.srtt = 0;
	sample(s, 10 * US, false);
	CHECK_EQ(sroce_rtt_rto(qp, 0), 200 * US);
	qp->req.rtt.srtt = 0;
	sample(s, 900 * SIM_MS, false);
	CHECK_EQ(sroce_rtt_rto(qp, 0), 500 * SIM_MS);

	t_case("rtt: at most a quarter of the ACK timeout, unless the round trip is longer");
	qp->req.rtt.srtt = 0;
	sample(s, 1000 * US, false);
	CHECK_EQ(sroce_rtt_rto(qp, 8000 * US), 2000 * US);
	CHECK_EQ(sroce_rtt_rto(qp, 4001 * US), 4001 * US / 4);
	CHECK_EQ(sroce_rtt_rto(qp, 4000 * US), 2000 * US);

	t_case("rtt: and at most half of it in any case");
	CHECK_EQ(sroce_rtt_rto(qp, 800 * US), 400 * US);
	CHECK_EQ(sroce_rtt_ack_timeout(qp), 4096ULL << 8);
	qp->attr.timeout = 0;
	CHECK_EQ(sroce_rtt_ack_timeout(qp), 0);
	end(s);
}

/* A WRITE of 32 packets, of which the eighth was the first to ask for an ACK */
static struct sroce_rtt *begin_probe(struct xfers *t)
{
	peer_begin(t);
	t->s->a.qp.req.cwnd.cwnd = 32;
	t->s->a.qp.req.quota = 32;
	xfer_put(t, IB_WR_RDMA_WRITE, 32 * MTU);
	peer_go(t);
	CHECK_EQ(txlog.n, 32);
	CHECK(t->s->a.qp.req.rtt.sampling);
	CHECK_EQ(t->s->a.qp.req.rtt.psn, FIRST + 7);
	while (!sim_count(&t->s->a, SROCE_CNT_PROBE) && sim_step(t->s))
		;
	return &t->s->a.qp.req.rtt;
}

/* The peer may just be slow: without the sample it would be probed for ever. */
static void probes(void)
{
	struct sroce_rtt *rtt;
	struct xfers t;

	t_case("rtt: a probe keeps the sample of a later packet");
	rtt = begin_probe(&t);
	CHECK(rtt->sampling && !rtt->retrans);
	peer_ack(&t, FIRST + 7, ACK);
	CHECK(rtt->srtt > 2 * SIM_MS);
	peer_ack(&t, FIRST + 31, ACK);
	xfers_end(&t);

	t_case("rtt: but not that of the packet that it sends again");
	rtt = begin_probe(&t);
	peer_ack(&t, FIRST + 6, ACK);
	while (sim_count(&t.s->a, SROCE_CNT_PROBE) < 2 && sim_step(t.s))
		;
	CHECK(!rtt->sampling);
	peer_ack(&t, FIRST + 31, ACK);
	CHECK_EQ(rtt->srtt, 0);
	xfers_end(&t);
}

/* @n more packets are sent; the last of them has AckReq set if @asks. */
static void leave(struct sim *s, u32 n, bool asks)
{
	struct sroce_req *req = &s->a.qp.req;

	req->psn = sroce_psn_add(req->psn, n);
	req->max_psn = req->psn;
	leaves(s, sroce_psn_add(req->psn, -1), asks, false);
	sroce_retrans_set_timer(&s->a.qp);
}

static void unasked(void)
{
	struct sim *s = begin();
	struct sroce_req *req = &s->a.qp.req;
	u64 due;

	s->a.qp.attr.retry_cnt = 7;
	sample(s, 50 * US, false);
	req->una = req->acked;
	req->psn = req->acked;
	req->max_psn = req->acked;

	t_case("rtt: silence does not count without an ACK request");
	leave(s, 64, false);
	s->now += 500 * US;
	leave(s, 64, false);
	CHECK(req->retrans.probe_at > s->now);
	s->now += 500 * US;
	leave(s, 64, true);
	due = req->retrans.probe_at;
	CHECK(due > s->now);

	t_case("rtt: it counts from the first ACK request on");
	s->now += 50 * US;
	leave(s, 64, false);
	s->now += 50 * US;
	leave(s, 64, true);
	CHECK_EQ(req->retrans.probe_at, due);
	end(s);
}

static u32 trains_after(u64 ns)
{
	struct sim *s = begin();
	u32 trains;

	sample(s, ns, false);
	trains = sroce_rtt_trains(&s->a.qp);
	CHECK_EQ(sroce_rtt_is_long(&s->a.qp), trains > SROCE_RTT_TRAINS_MIN);
	end(s);
	return trains;
}

static void long_paths(void)
{
	t_case("rtt: on a long path a window leaves in a train each quarter of a ms");
	CHECK_EQ(trains_after(50 * US), SROCE_RTT_TRAINS_MIN);
	CHECK_EQ(trains_after(4999 * US), SROCE_RTT_TRAINS_MIN);
	CHECK_EQ(trains_after(5000 * US), 20);
	CHECK_EQ(trains_after(50000 * US), 200);
	CHECK_EQ(trains_after(200000 * US), SROCE_RTT_TRAINS_MAX);
}

static void samples(struct sim *s, u32 n, u64 ns)
{
	while (n--)
		sample(s, ns, false);
}

static void long_queues(void)
{
	struct sim *s = begin();
	struct sroce_qp *qp = &s->a.qp;
	u32 i;

	t_case("rtt: so it does where a queue makes the smoothed round trip as long");
	sample(s, 100 * US, false);
	samples(s, 5, 8000 * US);
	CHECK(qp->req.rtt.srtt < 5000 * US);
	CHECK_EQ(qp->req.rtt.trains, 0);
	samples(s, 100, 8000 * US);
	CHECK(qp->req.rtt.srtt > 7990 * US);
	CHECK_EQ(sroce_rtt_trains(qp), 31);
	CHECK(!sroce_rtt_is_long(qp));

	t_case("rtt: until that is gone");
	samples(s, 100, 100 * US);
	CHECK_EQ(sroce_rtt_trains(qp), SROCE_RTT_TRAINS_MIN);
	CHECK_EQ(qp->req.rtt.trains, 0);
	end(s);

	t_case("rtt: samples of a busy host, long and short ones, are no queue");
	s = begin();
	qp = &s->a.qp;
	sample(s, 100 * US, false);
	for (i = 0; i < 100; i++) {
		sample(s, i % 3 ? 12000 * US : 200 * US, false);
		CHECK_EQ(qp->req.rtt.trains, 0);
	}
	CHECK(qp->req.rtt.srtt > 5000 * US);
	end(s);

	t_case("rtt: a long path has as many trains, whatever its queue");
	s = begin();
	qp = &s->a.qp;
	sample(s, 5000 * US, false);
	samples(s, 100, 50000 * US);
	CHECK_EQ(sroce_rtt_trains(qp), 20);
	CHECK(sroce_rtt_is_long(qp));
	end(s);
}

/* A READ, and its response */
static void read_sample(struct sim *s, u64 ns)
{
	u32 psn = s->a.qp.req.acked;

	sroce_rtt_sent(&s->a.qp, &(struct sroce_pkt){
		.psn = psn, .op = &sroce_opcodes[0x0c],
	}, false);
	s->now += ns;
	sroce_rtt_heard(&s->a.qp);
	ack(s, sroce_psn_add(psn, 1));
}

static void reads_alone(void)
{
	struct sim *s = begin();
	u32 i;

	t_case("rtt: a path of READs is not long because the first response was late");
	read_sample(s, 64000 * US);
	CHECK(sroce_rtt_is_long(&s->a.qp));
	for (i = 0; i < 100; i++)
		read_sample(s, 50 * US);
	CHECK(!sroce_rtt_is_long(&s->a.qp));
	CHECK_EQ(sroce_rtt_trains(&s->a.qp), SROCE_RTT_TRAINS_MIN);
	end(s);
}

UNIT_TESTS(rtt)
{
	reads_alone();
	one_at_a_time();
	first_answer();
	answer_after_probe();
	spurious();
	floors();
	rto();
	probes();
	unasked();
	long_paths();
	long_queues();
}
