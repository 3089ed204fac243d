// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Congestion control of a QP: what is under way, the quota, and the pacing */

#include "tests.h"
#include "peer.h"

#define US	1000ULL
#define SRTT	(400 * US)
/* From a train to the next, without and with the slack of the timer */
#define DUE	(SRTT / 4)
#define PACE	(DUE + SRTT / 8 + 1)

/* A QP with this window, and as many packets under way */
static struct sim *begin(u32 cwnd, u32 flying)
{
	struct sim *s = sim_new(NULL);
	struct sroce_req *req = &s->a.qp.req;

	/* sets the clock */
	sim_doorbell(&s->a);
	req->cwnd.cwnd = cwnd;
	req->psn = sroce_psn_add(req->acked, flying);
	req->max_psn = req->psn;
	req->quota = 0;
	return s;
}

static void end(struct sim *s)
{
	sroce_reset_req_psn(&s->a.qp, s->a.qp.req.acked);
	sim_end(s);
}

static void ack(struct sim *s, u32 n)
{
	struct sroce_qp *qp = &s->a.qp;
	s32 before = sroce_cc_in_flight(qp);

	qp->req.acked = sroce_psn_add(qp->req.acked, n);
	if (sroce_psn_diff(qp->req.acked, qp->req.retrans.left_psn) > 0)
		qp->req.retrans.left_psn = qp->req.acked;
	sroce_cc_acked(qp, before);
}

static void grows(void)
{
	struct sroce_req *req;
	struct sim *s;

	t_case("cc: the window grows only if three quarters of it were in use");
	s = begin(40, 29);
	req = &s->a.qp.req;
	ack(s, 10);
	CHECK_EQ(sroce_cwnd(&req->cwnd), 40);
	end(s);
	s = begin(40, 30);
	req = &s->a.qp.req;
	ack(s, 10);
	CHECK_EQ(sroce_cwnd(&req->cwnd), 50);

	t_case("cc: and not for a peer that takes longer than the timeout");
	req->psn = sroce_psn_add(req->acked, 50);
	req->max_psn = req->psn;
	sroce_cwnd_sample(&req->cwnd, (4096ULL << 8) + 1, s->now);
	ack(s, 10);
	CHECK_EQ(sroce_cwnd(&req->cwnd), 50);
	req->cwnd.rtt--;
	req->psn = sroce_psn_add(req->acked, 50);
	req->max_psn = req->psn;
	ack(s, 10);
	CHECK_EQ(sroce_cwnd(&req->cwnd), 60);
	end(s);
}

/*
 * A train of a quarter of the window is acknowledged, @left packets are under way, and the next
 * train is due in @due ns. Return: the window after that
 */
static u32 trains_acked(u32 trains, u32 cwnd, u32 ssthresh, u32 quota, bool more, u32 left, s64 due)
{
	struct sim *s = begin(cwnd, cwnd / 4 + left);
	struct sroce_req *req = &s->a.qp.req;
	u32 prod = s->a.qp.sq.prod;

	req->cwnd.ssthresh = ssthresh;
	req->quota = quota;
	req->rtt.srtt = SRTT;
	req->rtt.trains = trains;
	req->pace_at = s->now + due;
	s->a.qp.sq.prod = more ? sroce_sq_next(&s->a.qp.sq, req->next_idx) : req->next_idx;
	ack(s, cwnd / 4);
	cwnd = sroce_cwnd(&req->cwnd);
	s->a.qp.sq.prod = prod;
	end(s);
	return cwnd;
}

static u32 train_acked(u32 cwnd, u32 ssthresh, u32 quota, bool more, u32 left, s64 due)
{
	return trains_acked(0, cwnd, ssthresh, quota, more, left, due);
}

static void held_by_pacing(void)
{
	t_case("cc: it grows, too, if each train is acknowledged before the next is due");
	CHECK_EQ(train_acked(64, 0, 0, true, 0, 1), 64 + 16);
	CHECK_EQ(train_acked(255, 0, 0, true, 0, 1), 255 + 63);

	t_case("cc: but not beyond long trains, after a loss, or with nothing more to send");
	CHECK_EQ(train_acked(256, 0, 0, true, 0, 1), 256);
	CHECK_EQ(train_acked(64, 64, 0, true, 0, 1), 64);
	CHECK_EQ(train_acked(64, 0, 0, false, 0, 1), 64);

	t_case("cc: nor if the pacing has held nothing back, or packets are under way");
	CHECK_EQ(train_acked(64, 0, 1, true, 0, 1), 64);
	CHECK_EQ(train_acked(64, 0, 0, true, 1, 1), 64);

	t_case("cc: it grows with packets under way if ACKs come while two trains are due");
	CHECK_EQ(train_acked(64, 0, 0, true, 1, -DUE), 64 + 16);
	CHECK_EQ(train_acked(64, 0, 0, true, 1, -DUE + 1), 64);
	CHECK_EQ(train_acked(256, 0, 0, true, 1, -DUE), 256);
	CHECK_EQ(train_acked(64, 64, 0, true, 1, -DUE), 64);
	CHECK_EQ(train_acked(64, 0, 1, true, 1, -DUE), 64);

	t_case("cc: but not on a long path, where trains are many and soon due");
	CHECK_EQ(trains_acked(5, 64, 0, 0, true, 1, -DUE), 64);
}

static void opens(void)
{
	struct sim *s = begin(100, 99);
	struct sroce_req *req = &s->a.qp.req;

	t_case("cc: open until as many packets are in flight");
	req->quota = 10;
	CHECK_EQ(sroce_cc_free(&s->a.qp), 1);
	req->psn = sroce_psn_add(req->psn, 1);
	CHECK_EQ(sroce_cc_free(&s->a.qp), 0);

	t_case("cc: responses of READs don't count");
	req->read_psns = 10;
	CHECK_EQ(sroce_cc_free(&s->a.qp), 10);
	req->psn = sroce_psn_add(req->psn, 10);
	CHECK_EQ(sroce_cc_free(&s->a.qp), 0);
	req->read_psns = 0;

	t_case("cc: nor do packets that have left the network");
	req->psn = sroce_psn_add(req->acked, 100);
	req->retrans.left_psn = sroce_psn_add(req->acked, 4);
	CHECK_EQ(sroce_cc_unacked(&s->a.qp), 100);
	CHECK_EQ(sroce_cc_in_flight(&s->a.qp), 96);
	CHECK_EQ(sroce_cc_free(&s->a.qp), 4);

	t_case("cc: but the peer need not keep more than the largest window");
	req->psn = sroce_psn_add(req->acked, SROCE_CWND_MAX - 3);
	req->retrans.left_psn = req->psn;
	CHECK_EQ(sroce_cc_free(&s->a.qp), 3);
	req->psn = sroce_psn_add(req->acked, SROCE_CWND_MAX);
	CHECK_EQ(sroce_cc_free(&s->a.qp), 0);
	end(s);
}

static void quota(void)
{
	struct sim *s = begin(100, 100);
	struct sroce_req *req = &s->a.qp.req;

	t_case("cc: an ACK lets as many packets leave, and what the window grows by");
	ack(s, 10);
	CHECK_EQ(sroce_cwnd(&req->cwnd), 110);
	CHECK_EQ(req->quota, 20);
	CHECK_EQ(sroce_cc_free(&s->a.qp), 20);
	sroce_cc_sent(&s->a.qp, 15);
	CHECK_EQ(req->quota, 5);
	sroce_cc_sent(&s->a.qp, 15);
	CHECK_EQ(req->quota, 0);
	end(s);

	t_case("cc: what does not leave adds up to a quarter of the window at most");
	s = begin(100, 60);
	req = &s->a.qp.req;
	ack(s, 10);
	ack(s, 10);
	ack(s, 10);
	CHECK_EQ(req->quota, 30);
	ack(s, 10);
	CHECK_EQ(req->quota, 35);
	ack(s, 1);
	CHECK_EQ(req->quota, 26);

	t_case("cc: with nothing under way a quarter more than was taken, or a new window");
	req->quota = 0;
	ack(s, 19);
	CHECK_EQ(req->quota, 19 + 25);
	end(s);
	s = begin(100, 99);
	ack(s, 99);
	CHECK_EQ(s->a.qp.req.quota, sroce_cwnd(&s->a.qp.req.cwnd));
	end(s);
	s = begin(40, 1);
	ack(s, 1);
	CHECK_EQ(s->a.qp.req.quota, SROCE_CWND_INIT);
	end(s);

	t_case("cc: where trains are many, an ACK of a part lets no more leave than one of them");
	s = begin(100, 100);
	req = &s->a.qp.req;
	req->rtt.trains = 20;
	ack(s, 40);
	CHECK_EQ(sroce_cwnd(&req->cwnd), 140);
	CHECK_EQ(req->quota, 7);
	ack(s, 40);
	CHECK_EQ(req->quota, 14);
	end(s);

	t_case("cc: a large window has no quota");
	s = begin(SROCE_CC_LARGE, 24);
	CHECK_EQ(sroce_cc_free(&s->a.qp), SROCE_CC_LARGE - 24);
	s->a.qp.req.cwnd.cwnd--;
	CHECK_EQ(sroce_cc_free(&s->a.qp), 0);
	end(s);
}

static void ack_interval(void)
{
	struct sim *s = begin(100, 0);
	struct sroce_cwnd *c = &s->a.qp.req.cwnd;

	t_case("cc: ACKs are requested every quarter of the window, or half of a large one");
	CHECK_EQ(sroce_cc_ack_interval(&s->a.qp), 25);
	c->cwnd = 2;
	CHECK_EQ(sroce_cc_ack_interval(&s->a.qp), 1);
	c->cwnd = SROCE_CC_LARGE - 1;
	CHECK_EQ(sroce_cc_ack_interval(&s->a.qp), 255);
	c->cwnd = SROCE_CC_LARGE;
	CHECK_EQ(sroce_cc_ack_interval(&s->a.qp), 512);
	end(s);
}

static void waits(void)
{
	struct sim *s = begin(100, 99);
	struct sroce_req *req = &s->a.qp.req;

	t_case("cc: the pacing waits a quarter of a round trip, once per train");
	req->rtt.srtt = SRTT;
	sroce_cc_wait(&s->a.qp);
	CHECK_EQ(req->pace_at, s->now + SRTT / 4 + 1);
	s->now++;
	sroce_cc_wait(&s->a.qp);
	CHECK_EQ(req->pace_at, s->now + SRTT / 4);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_PACED), 1);
	sroce_cc_go_on(&s->a.qp);
	CHECK_EQ(req->pace_at, 0);
	CHECK_EQ(req->quota, 25);

	t_case("cc: nothing waits while more may leave");
	sroce_cc_wait(&s->a.qp);
	CHECK_EQ(req->pace_at, 0);

	t_case("cc: or while the window is full, as an ACK opens it");
	req->quota = 0;
	req->psn = sroce_psn_add(req->acked, 100);
	sroce_cc_wait(&s->a.qp);
	CHECK_EQ(req->pace_at, 0);
	req->psn = sroce_psn_add(req->acked, 10);
	req->cwnd.cwnd = SROCE_CC_LARGE;
	sroce_cc_wait(&s->a.qp);
	CHECK_EQ(req->pace_at, 0);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_PACED), 1);
	end(s);
}

/* A WRITE of 100 packets to a peer that has long been silent, but is expected to answer */
static void begin_write(struct xfers *t, u32 cwnd)
{
	struct sroce_req *req;

	peer_begin(t);
	req = &t->s->a.qp.req;
	req->cwnd.cwnd = cwnd;
	req->rtt.srtt = SRTT;
	req->rtt.rttvar = 10 * SRTT;
	xfer_put(t, IB_WR_RDMA_WRITE, 100 * MTU);
	sim_doorbell(&t->s->a);
}

static void end_write(struct xfers *t)
{
	u32 i;

	for (i = 0; i < 100 && !t->s->a.scq.n; i++) {
		peer_ack(t, sroce_psn_add(t->s->a.qp.req.max_psn, -1), ACK);
		sim_run_until(t->s, t->s->now + US);
	}
	CHECK_EQ(t->s->a.scq.n, 1);
	CHECK_EQ(t->s->a.scq.e[0].status, IB_WC_SUCCESS);
	xfers_end(t);
}

static void paced(void)
{
	static const u32 sent[] = { 16, 41, 66, 91, 100, 100 };
	struct xfers t;
	u32 i;

	t_case("cc: after a pause the window leaves in quarters");
	begin_write(&t, 100);
	for (i = 0; i < ARRAY_SIZE(sent); i++) {
		sim_run_until(t.s, t.s->now + US);
		CHECK_EQ(txlog.n, sent[i]);
		sim_run_until(t.s, t.s->now + PACE - US);
	}
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PACED), 4);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	end_write(&t);

	t_case("cc: an ACK does not wait for that");
	begin_write(&t, 100);
	sim_run_until(t.s, t.s->now + US);
	CHECK_EQ(txlog.n, 16);
	peer_ack(&t, FIRST + 9, ACK);
	CHECK_EQ(txlog.n, 26);
	end_write(&t);

	t_case("cc: a large window leaves at once");
	begin_write(&t, SROCE_CC_LARGE);
	sim_run_until(t.s, t.s->now + US);
	CHECK_EQ(txlog.n, 100);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PACED), 0);
	end_write(&t);
}

/* Nothing is under way after an RNR wait, so no ACK lets anything leave. */
static void rnr_over(void)
{
	struct xfers t;

	t_case("cc: after an RNR wait packets leave at once");
	begin_write(&t, 16);
	sim_run_until(t.s, t.s->now + US);
	CHECK_EQ(txlog.n, 16);
	CHECK_EQ(t.s->a.qp.req.quota, 0);
	t.s->a.qp.req.retrans.gap_policy = SROCE_GAP_DROPS;
	peer_ack(&t, FIRST, RNR);
	txlog.n = 0;
	sim_run_until(t.s, t.s->now + 79 * US);
	CHECK_EQ(txlog.n, 0);
	sim_run_until(t.s, t.s->now + 2 * US);
	peer_sent(0, FIRST, 4);
	end_write(&t);
}

/* Nothing was lost: a peer without a receive has refused what has arrived. */
static void rnr_no_loss(enum sroce_gap_policy policy, const char *what, u32 probes)
{
	struct sroce_req *req;
	struct xfers t;

	t_case("cc: an RNR NAK of a peer that %s is no loss, after %u probes", what, probes);
	begin_write(&t, 64);
	req = &t.s->a.qp.req;
	req->retrans.gap_policy = policy;
	req->retrans.probes = probes;
	sroce_cwnd_sample(&req->cwnd, US, t.s->now);
	sim_run_until(t.s, t.s->now + US);
	peer_ack(&t, FIRST, RNR);
	req->retrans.probes = probes;
	sim_run_until(t.s, t.s->now + 81 * US);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RNR_RCVD), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE), 0);
	CHECK_EQ(sroce_cwnd(&req->cwnd), 64);
	CHECK_EQ(req->cwnd.lost, 0);

	t_case("cc: but a gap is");
	peer_ack(&t, FIRST, GAP);
	CHECK(req->cwnd.lost || sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE));
	end_write(&t);
}

/* A copy of the request that was refused has been executed. */
static void cleared_error(void)
{
	struct sroce_req *req;
	struct xfers t;

	t_case("cc: an error that was none is no loss");
	begin_write(&t, 64);
	req = &t.s->a.qp.req;
	req->retrans.gap_policy = SROCE_GAP_DROPS;
	sim_run_until(t.s, t.s->now + US);
	req->pending_err = IB_WC_REM_ACCESS_ERR;
	req->pending_err_psn = req->acked;
	peer_ack(&t, FIRST + 9, ACK);
	CHECK_EQ(req->pending_err, 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE), 0);
	CHECK(sroce_cwnd(&req->cwnd) >= 64);
	end_write(&t);
}

static int lose_acks(struct sim *s, struct sim_packet *p)
{
	return p->from == &s->a || sim_bth(p)[0] != 0x11;
}

/* The responses of a READ wait for pages, which come late; no ACK lets more leave. */
static void paced_during_fault(void)
{
	struct sim_wr wr = { .opcode = IB_WR_RDMA_WRITE, .wr_id = 1, .num_sge = 1 };
	struct sim_buf *pinned;
	struct xfers t;

	t_case("cc: the pacing goes on while responses wait for pages");
	xfers_init_odp(&t, XFER_LOCAL, false);
	t.s->page_delay = 50 * SIM_MS;
	t.s->wire = lose_acks;
	t.s->a.qp.attr.timeout = 0;
	t.s->a.qp.req.cwnd.cwnd = 48;
	t.s->a.qp.req.rtt.srtt = SRTT;
	t.s->a.qp.req.rtt.rttvar = 10 * SRTT;
	pinned = sim_buf_new(t.s, 0x10000000, 65536, 4096, IB_ACCESS_LOCAL_WRITE);
	xfer_put(&t, IB_WR_RDMA_READ, 5000);
	xfers_until_sent(&t);
	sim_buf_evict_all(t.a);
	wr.sge[0] = sim_sge(pinned, 0, 40 * 1024);
	wr.remote_addr = t.b->mr.iova + XFER_ODP_SIZE / 2;
	wr.rkey = t.b->mr.key;
	sim_put_send(&t.s->a, &wr);
	sim_doorbell(&t.s->a);
	while (!t.s->a.qp.req.n_ofo_resps && sim_step(t.s))
		;
	sim_run_until(t.s, t.s->now + SIM_MS);
	CHECK(t.s->a.qp.req.n_ofo_resps > 0);
	CHECK_EQ(t.s->b.qp.resp.psn, 1000 + 5 + 40);
	t.s->wire = NULL;
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.qp.req.una, 1000 + 5 + 40);
	xfers_end(&t);
}

static void losses(void)
{
	struct sim *s = begin(30, 30);
	struct sroce_req *req = &s->a.qp.req;

	t_case("cc: losses decrease the window, and that is counted");
	sroce_cwnd_sample(&req->cwnd, 100 * US, s->now += SIM_MS);
	sroce_cc_lost(&s->a.qp, 1);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_CWND_DECREASE), 0);
	sroce_cc_lost(&s->a.qp, 10);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_CWND_DECREASE), 1);
	CHECK_EQ(sroce_cwnd(&req->cwnd), 21);

	t_case("cc: one is enough if the peer drops what follows");
	s->now += SIM_MS;
	req->retrans.gap_policy = SROCE_GAP_DROPS;
	sroce_cc_lost(&s->a.qp, 1);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_CWND_DECREASE), 2);

	t_case("cc: dropped requests and CNPs decrease it, too; dropped ACKs don't");
	s->now += SIM_MS;
	req->cwnd.cwnd = 1000;
	sroce_cc_local_drop(&s->a.qp, true);
	CHECK_EQ(sroce_cwnd(&req->cwnd), 1000);
	req->cwnd.rtt = 2 * req->cwnd.min_rtt;
	sroce_cc_local_drop(&s->a.qp, false);
	CHECK_EQ(sroce_cwnd(&req->cwnd), 700);
	s->now += SIM_MS;
	s->a.qp.av.tclass = 2;
	sroce_cc_cnp(&s->a.qp);
	CHECK(sroce_cwnd(&req->cwnd) < 700);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_CWND_DECREASE), 4);

	t_case("cc: without congestion control none of that, but timeouts do");
	s->a.qp.cc = false;
	s->now += SIM_MS;
	req->cwnd.cwnd = 1000;
	sroce_cc_lost(&s->a.qp, 1000);
	sroce_cc_local_drop(&s->a.qp, false);
	sroce_cc_cnp(&s->a.qp);
	CHECK_EQ(sroce_cwnd(&req->cwnd), 1000);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_CWND_DECREASE), 4);
	sroce_cc_timeout(&s->a.qp);
	CHECK_EQ(sroce_cwnd(&req->cwnd), 500);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_CWND_DECREASE), 5);
	end(s);
}

/* Round trips of @ns: the newest samples, twice */
static void take_samples(struct sim *s, u64 ns)
{
	s->now += 100 * SIM_MS;
	sroce_cwnd_sample(&s->a.qp.req.cwnd, ns, s->now);
	sroce_cwnd_sample(&s->a.qp.req.cwnd, ns, s->now);
}

/* A loss in a window of 100 packets, of which all are under way, with a queue of @ns */
static struct sim *begin_lost(u64 ns)
{
	struct sim *s = begin(100, 100);

	take_samples(s, SIM_MS);
	take_samples(s, SIM_MS + ns);
	sroce_cc_lost(&s->a.qp, 1);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_CWND_DECREASE), 1);
	return s;
}

/* Each gap of a window is reported a round trip after the one before. */
static void losses_of_a_window(void)
{
	struct sim *s = begin_lost(4 * SIM_MS);
	struct sroce_qp *qp = &s->a.qp;

	t_case("cc: where the queue is long, a window is decreased once for all its losses");
	ack(s, 50);
	take_samples(s, 5 * SIM_MS);
	sroce_cc_lost(qp, 1);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_CWND_DECREASE), 1);

	t_case("cc: even if that has drained meanwhile");
	take_samples(s, 2 * SIM_MS);
	sroce_cc_lost(qp, 1);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_CWND_DECREASE), 1);

	t_case("cc: and for those of the next window again");
	ack(s, 50);
	take_samples(s, 5 * SIM_MS);
	sroce_cc_lost(qp, 1);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_CWND_DECREASE), 2);
	end(s);

	t_case("cc: where it is short, once per round trip");
	s = begin_lost(2 * SIM_MS);
	qp = &s->a.qp;
	ack(s, 50);
	take_samples(s, 3 * SIM_MS);
	sroce_cc_lost(qp, 1);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_CWND_DECREASE), 2);
	end(s);
}

/* Nothing is sent for an hour; then so much leaves before the first ACK. */
static void after_pause(bool cc, bool sqd)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 sent;

	t_case("cc: after a pause the window is that of a new path%s%s",
	       cc ? "" : ", but not without congestion control", sqd ? ", in SQD" : "");
	xfers_init(&t, &cfg, 8 << 20, 65536);
	t.s->a.qp.cc = cc;
	t.s->a.qp.req.cwnd.cwnd = 1500;
	t.s->a.qp.req.read_cwnd.cwnd = 1500;
	xfer_put(&t, IB_WR_RDMA_WRITE, 1024);
	xfers_run(&t);
	xfer_put(&t, IB_WR_RDMA_WRITE, 4 << 20);
	if (sqd) {
		t.s->a.qp.state = IB_QPS_SQD;
		sim_doorbell(&t.s->a);
		sim_run_until(t.s, t.s->now + US);
		t.s->a.qp.state = IB_QPS_RTS;
	}
	t.s->now += 3600ULL * 1000 * SIM_MS;
	sent = t.s->sent;
	t.s->wire = lose_acks;
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + 10 * US);
	/* ACKs are counted as well, and are lost */
	CHECK(cc ? t.s->sent - sent < 2 * SROCE_CWND_INIT : t.s->sent - sent > 1000);
	CHECK_EQ(sroce_cwnd(&t.s->a.qp.req.read_cwnd), cc ? SROCE_CWND_INIT : 1500);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CWND_IDLE), cc ? 2 : 0);
	t.s->wire = NULL;
	xfers_run_check(&t);
	xfers_end(&t);
}

/* The window starts at its bound. */
static void cc_off(void)
{
	struct xfers t;

	t_case("cc: without congestion control nothing is paced");
	peer_begin(&t);
	t.s->a.qp.cc = false;
	t.s->a.qp.req.cwnd.cwnd = 0;
	sroce_reset_req_psn(&t.s->a.qp, FIRST);
	CHECK_EQ(sroce_cwnd(&t.s->a.qp.req.cwnd), SROCE_CWND_MAX);
	xfer_put(&t, IB_WR_RDMA_WRITE, 100 * MTU);
	peer_go(&t);
	CHECK_EQ(txlog.n, 100);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PACED), 0);
	end_write(&t);
}

/* The window of 64 is sent; then a probe, and the timeout. */
static void timeouts(void)
{
	struct sim *s = begin(64, 10);
	struct sroce_req *req = &s->a.qp.req;

	t_case("cc: the window is halved by a timeout, not by a probe");
	req->retrans.probe_at = s->now;
	sroce_retrans_timer(&s->a.qp);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_PROBE), 1);
	CHECK_EQ(sroce_cwnd(&req->cwnd), 64);
	req->deadline = s->now;
	sroce_retrans_timer(&s->a.qp);
	CHECK_EQ(sroce_cwnd(&req->cwnd), 32);
	end(s);
}

/*
 * The peer keeps what follows gaps in a WRITE of 100 packets, and @behind it. What was sent before
 * a retransmission that is answered is not under way any more.
 */
static void two_gaps(struct xfers *t, u32 behind)
{
	struct sroce_qp *qp = &t->s->a.qp;

	qp->req.retrans.gap_policy = SROCE_GAP_KEEPS;
	sroce_cwnd_sample(&qp->req.cwnd, SRTT, t->s->now);
	peer_ack(t, FIRST + 10, GAP);
	CHECK_EQ(sroce_cc_in_flight(qp), 90 + behind);
	sim_run_until(t->s, t->s->now + SRTT);
	/* the next gap was there all along */
	peer_ack(t, FIRST + 30, GAP);
	CHECK_EQ(sroce_cc_unacked(qp), 70 + behind);
	CHECK_EQ(sroce_cc_in_flight(qp), 0);
}

static void left(void)
{
	struct sroce_req *req;
	struct xfers t;

	t_case("cc: packets behind a gap count no more once its retransmission is answered");
	begin_write(&t, SROCE_CC_LARGE);
	sim_run_until(t.s, t.s->now + US);
	req = &t.s->a.qp.req;
	two_gaps(&t, 0);

	t_case("cc: unless all is sent again");
	req->retrans.gap_policy = SROCE_GAP_DROPS;
	sim_run_until(t.s, t.s->now + SRTT);
	peer_ack(&t, FIRST + 40, GAP);
	CHECK_EQ(sroce_cc_in_flight(&t.s->a.qp), sroce_psn_diff(req->psn, FIRST + 40));
	CHECK(sroce_cc_in_flight(&t.s->a.qp) > 0);
	end_write(&t);
}

/* Responses of READs are no packets of this side. */
static void left_with_read(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("cc: nor do READs behind the gap");
	cfg.timeout = 18;
	peer_begin_with(&t, &cfg, 131072);
	xfer_put(&t, IB_WR_RDMA_WRITE, 100 * MTU);
	xfer_put(&t, IB_WR_RDMA_READ, 200 * MTU);
	peer_go(&t);
	two_gaps(&t, 1);
	/* the WRITE is complete, and the READ is not */
	peer_ack(&t, FIRST + 99, ACK);
	CHECK_EQ(sroce_cc_in_flight(&t.s->a.qp), 0);
	end_write(&t);
}

/* PSNs of a WRITE that the peer has not acknowledged, a READ of 200 behind it or not */
static u32 unacked_writes(const struct sroce_req *req, u32 acked)
{
	return min(sroce_psn_diff(req->psn, FIRST), 200) - acked;
}

/*
 * The peer has dropped all of a WRITE of 200 packets, and a READ behind it. Return: how many of
 * the WRITE are unacknowledged at most until it has all.
 */
static u32 most_after_going_back(bool read, u32 cwnd)
{
	struct sim_cfg cfg = sim_default;
	u32 i, n, acked = 0, most = 0;
	struct sroce_req *req;
	struct xfers t;

	cfg.timeout = 18;
	peer_begin_with(&t, &cfg, 131072);
	req = &t.s->a.qp.req;
	req->retrans.gap_policy = SROCE_GAP_DROPS;
	xfer_put(&t, IB_WR_RDMA_WRITE, 200 * MTU);
	if (read)
		xfer_put(&t, IB_WR_RDMA_READ, 200 * MTU);
	peer_go(&t);
	req->rtt.srtt = SRTT;
	req->cwnd.cwnd = cwnd;
	req->cwnd.ssthresh = cwnd;
	req->quota = 0;
	peer_ack(&t, FIRST, GAP);
	for (i = 0; i < 1000 && acked < 200; i++) {
		sim_run_until(t.s, t.s->now + SRTT);
		n = unacked_writes(req, acked);
		most = max(most, n);
		CHECK(sroce_cc_in_flight(&t.s->a.qp) >= (s32)n);
		/* some ACKs of a window come together, others alone */
		for (; n; n -= min(n, 3U)) {
			acked += min(n, 3U);
			peer_ack(&t, FIRST + acked - 1, ACK);
		}
	}
	CHECK_EQ(acked, 200);
	end_write(&t);
	return most;
}

static void goes_back(u32 cwnd)
{
	u32 most = most_after_going_back(false, cwnd);

	t_case("cc: a READ behind what is sent again leaves a window of %u as it is", cwnd);
	CHECK(most < 100);
	CHECK(most_after_going_back(true, cwnd) <= most + 2);
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
 * lost, and the window is what the peer can execute within a timeout.
 */
static void peer_is_slow(u32 us)
{
	struct busy busy = { .take = us * 1000 };
	u32 first;
	struct xfers t;

	t_case("cc: no error for a peer that takes %u us for each packet", us);
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

UNIT_TESTS(cc)
{
	grows();
	held_by_pacing();
	opens();
	quota();
	ack_interval();
	waits();
	paced();
	rnr_over();
	rnr_no_loss(SROCE_GAP_DROPS, "drops what follows", 0);
	rnr_no_loss(SROCE_GAP_KEEPS, "keeps what follows", 4);
	rnr_no_loss(SROCE_GAP_UNKNOWN, "is not known", 4);
	cleared_error();
	paced_during_fault();
	losses();
	losses_of_a_window();
	after_pause(true, false);
	after_pause(true, true);
	after_pause(false, false);
	cc_off();
	timeouts();
	left();
	left_with_read();
	goes_back(4);
	goes_back(32);
	peer_is_slow(8);
	peer_is_slow(20);
	peer_is_slow(50);
}
