// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* READ responses that are asked for again */

#include <time.h>
#include "tests.h"
#include "peer.h"
#include "drv/core/rc/read_retry.h"

#define MANY	200	/* packets; more than one run of the task sends */

/* The first responses of a READ don't tell whether the rest is lost or late. */
static void silent_read(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("read_retry: the peer stops in the middle of a READ: one response is asked for");
	cfg.timeout = 14;
	peer_begin_with(&t, &cfg, 65536);
	t.s->a.qp.req.read_retry.selective = true;
	xfer_put(&t, IB_WR_RDMA_READ, MANY * MTU);
	peer_go(&t);
	CHECK_EQ(txlog.n, 1);
	peer_hear(&t, 0x0d, FIRST, ACK, MTU);
	while (sim_count(&t.s->a, SROCE_CNT_PROBE) < 2 && sim_step(t.s))
		;
	CHECK_EQ(txlog.n, 3);
	CHECK_EQ(txlog.p[1].psn, FIRST + 1);
	CHECK_EQ(txlog.p[1].length, MTU);
	CHECK_EQ(txlog.p[2].length, MTU);
	/* one response arrives: then two are asked for, then four */
	peer_hear(&t, 0x10, FIRST + 1, ACK, MTU);
	while (sim_count(&t.s->a, SROCE_CNT_PROBE) < 3 && sim_step(t.s))
		;
	CHECK_EQ(txlog.p[3].psn, FIRST + 2);
	CHECK_EQ(txlog.p[3].length, 2 * MTU);
	/* late responses arrive: nothing is asked for */
	peer_hear(&t, 0x0e, FIRST + 2, ACK, MTU);
	peer_hear(&t, 0x0e, FIRST + 3, ACK, MTU);
	peer_hear(&t, 0x0e, FIRST + 4, ACK, MTU);
	CHECK_EQ(txlog.n, 4);
	xfers_end(&t);
}

/* One response is missing for long, but others arrive. */
static void slow_read(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i;

	t_case("read_retry: no retry is counted while READ responses arrive");
	cfg.timeout = 8;	/* 1 ms */
	cfg.retry_cnt = 1;
	peer_begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_READ, MANY * MTU);
	peer_go(&t);
	for (i = 1; i < 20; i++) {
		peer_hear(&t, 0x0e, FIRST + i, ACK, MTU);
		sim_run_until(t.s, t.s->now + SIM_MS);
	}
	CHECK_EQ(t.s->a.scq.n, 0);
	/* duplicates are no progress */
	for (i = 1; i < 5; i++) {
		peer_hear(&t, 0x0e, FIRST + i, ACK, MTU);
		sim_run_until(t.s, t.s->now + SIM_MS);
	}
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_RETRY_EXC_ERR);
	xfers_end(&t);
}

/* A READ with more responses than SROCE_READ_AHEAD, all of them lost */
static void long_read(void)
{
	const u32 n = SROCE_READ_AHEAD + 1000;
	struct sim_cfg cfg = sim_default;
	struct sroce_req *req;
	struct xfers t;

	t_case("read_retry: a READ longer than the window for out-of-order responses");
	cfg.timeout = 14;
	peer_begin_with(&t, &cfg, (n + 10) * MTU);
	req = &t.s->a.qp.req;
	t.s->a.qp.cc = false;
	req->read_retry.selective = true;
	xfer_put(&t, IB_WR_RDMA_READ, n * MTU);
	sim_doorbell(&t.s->a);
	peer_sent(0, FIRST, 1);
	peer_hear(&t, 0x0e, FIRST + SROCE_READ_AHEAD, 0, MTU);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ACK_EARLY), 1);
	peer_hear(&t, 0x0e, FIRST + SROCE_READ_AHEAD - 1, 0, MTU);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ACK_EARLY), 1);
	CHECK_EQ(req->una, FIRST);
	CHECK_EQ(txlog.n, 2);
	xfers_end(&t);

	t_case("read_retry: a probe asks for all missing responses of it");
	peer_begin_with(&t, &cfg, (n + 10) * MTU);
	req = &t.s->a.qp.req;
	t.s->a.qp.cc = false;
	xfer_put(&t, IB_WR_RDMA_READ, n * MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	sim_doorbell(&t.s->a);
	peer_ack(&t, FIRST + n, ACK);
	CHECK_EQ(req->acked, FIRST + n + 1);
	txlog.n = 0;
	while (!sim_count(&t.s->a, SROCE_CNT_PROBE) && sim_step(t.s))
		;
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(txlog.p[0].psn, FIRST);
	CHECK_EQ(txlog.p[0].opcode, 0x0c);
	xfers_end(&t);
}

/* Received responses are marked in a bitmap by the low bits of their PSNs. */
static void long_read_partly(void)
{
	const u32 n = SROCE_READ_AHEAD + 1000;
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i;

	t_case("read_retry: all missing responses of a long READ are asked for at once");
	cfg.timeout = 14;
	peer_begin_with(&t, &cfg, (n + 10) * MTU);
	t.s->a.qp.cc = false;
	t.s->a.qp.req.read_retry.selective = true;
	xfer_put(&t, IB_WR_RDMA_READ, n * MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	sim_doorbell(&t.s->a);
	for (i = 1; i <= 500; i++)
		peer_hear(&t, 0x0e, FIRST + i, ACK, MTU);
	txlog.n = 0;
	peer_ack(&t, FIRST + n, ACK);
	peer_sent(0, FIRST + 501, 1);
	xfers_end(&t);
}

/* The same responses are asked for several times. */
static void asked_often(void)
{
	struct sim_cfg cfg = sim_default;
	struct sroce_read_retry *rr;
	struct xfers t;
	u32 i;

	t_case("read_retry: ranges asked for many times are dropped once they have arrived");
	cfg.timeout = 14;
	peer_begin_with(&t, &cfg, 65536);
	rr = &t.s->a.qp.req.read_retry;
	rr->selective = true;
	xfer_put(&t, IB_WR_RDMA_READ, MANY * MTU);
	peer_go(&t);
	peer_hear(&t, 0x0e, FIRST + 5, ACK, MTU);
	while (!sim_count(&t.s->a, SROCE_CNT_TIMEOUT) && sim_step(t.s))
		;
	i = sim_count(&t.s->a, SROCE_CNT_PROBE);
	while (sim_count(&t.s->a, SROCE_CNT_PROBE) == i && sim_step(t.s))
		;
	CHECK_EQ(rr->n, 1);
	for (i = 0; i < 5; i++)
		peer_hear(&t, 0x0e, FIRST + i, ACK, MTU);
	CHECK_EQ(t.s->a.qp.req.una, FIRST + 6);
	CHECK_EQ(rr->n, 0);
	xfers_end(&t);
}

static void implied(void)
{
	struct xfer_loss lost = { .responses = true, .p = { { 1005, 1 } } };
	struct xfers t;

	t_case("read_retry: only the missing response is asked for, at once");
	xfers_init(&t, NULL, 65536, 4096);
	t.s->wire = xfer_lose;
	t.s->arg = &lost;
	xfer_put(&t, IB_WR_RDMA_READ, 30 * 1024);
	xfers_run_check(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_IMPLIED_NAK), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_READ_RETRY), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 1);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_READ_REPLAY), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_TX_PACKETS), 31);
	xfers_end(&t);
}

/* @n READs of four responses each were sent to a peer of which nothing is known. */
static void begin_careful(struct xfers *t, u8 timeout, u32 n)
{
	struct sim_cfg cfg = sim_default;

	cfg.timeout = timeout;
	peer_begin_with(t, &cfg, 65536);
	while (n--)
		xfer_put(t, IB_WR_RDMA_READ, 4 * MTU);
	peer_go(t);
}

/* Response number @i of all */
static void answer(struct xfers *t, u32 i)
{
	peer_hear(t, i % 4 == 0 ? 0x0d : i % 4 == 3 ? 0x0f : 0x0e, FIRST + i, ACK, MTU);
}

/* The last of @n packets sent is a READ of the responses @from to @to. */
static void check_repeated(u32 n, u32 from, u32 to)
{
	CHECK_EQ(txlog.n, n);
	CHECK_EQ(txlog.p[n - 1].opcode, 0x0c);
	CHECK_EQ(txlog.p[n - 1].psn, FIRST + from);
	CHECK_EQ(txlog.p[n - 1].length, (to + 1 - from) * MTU);
}

static void careful(void)
{
	struct xfers t;

	t_case("read_retry: a READ is repeated once all responses to it had their turn");
	begin_careful(&t, 0, 1);
	answer(&t, 0);
	answer(&t, 2);
	CHECK_EQ(txlog.n, 1);
	answer(&t, 3);
	check_repeated(2, 1, 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_IMPLIED_NAK), 1);
	answer(&t, 1);
	CHECK_EQ(t.s->a.scq.n, 1);
	xfers_end(&t);

	t_case("read_retry: once, from the oldest to the newest response that is missing");
	begin_careful(&t, 0, 2);
	answer(&t, 1);
	CHECK_EQ(txlog.n, 2);
	answer(&t, 4);
	check_repeated(3, 0, 3);
	/* not again, and the next not before its last response */
	answer(&t, 6);
	CHECK_EQ(txlog.n, 3);
	answer(&t, 7);
	check_repeated(4, 5, 5);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_IMPLIED_NAK), 2);
	xfers_end(&t);
}

/* As many READs as the peer accepts are under way: nothing may be added to them. */
static void within_limit(void)
{
	struct xfers t;
	u32 i;

	t_case("read_retry: repeated READs and others are no more than max_rd_atomic");
	begin_careful(&t, 0, 6);
	CHECK_EQ(txlog.n, 4);
	/* the first response of each is lost, so no READ completes */
	for (i = 0; i < 4; i++) {
		answer(&t, 4 * i + 1);
		answer(&t, 4 * i + 2);
		answer(&t, 4 * i + 3);
		check_repeated(5 + i, 4 * i, 4 * i);
	}
	/* the oldest completes, and makes room for one */
	answer(&t, 0);
	CHECK_EQ(t.s->a.scq.n, 1);
	check_repeated(9, 16, 19);
	xfers_end(&t);
}

static void repeat_lost(void)
{
	struct xfers t;

	t_case("read_retry: a response to a later request shows that a repeated READ is lost");
	begin_careful(&t, 0, 2);
	answer(&t, 1);
	answer(&t, 4);
	check_repeated(3, 0, 3);
	xfer_put(&t, IB_WR_RDMA_READ, 4 * MTU);
	peer_go(&t);
	check_repeated(4, 8, 11);
	answer(&t, 5);
	answer(&t, 6);
	answer(&t, 7);
	/* these were requested before */
	CHECK_EQ(txlog.n, 4);
	answer(&t, 8);
	check_repeated(5, 0, 3);
	xfers_end(&t);
}

/*
 * The repeated READ is answered in the middle of another one, or behind it. An answer that
 * comes @ns after the request, in less than 3/4 of the round trip, is late, not repeated.
 */
static void learns(bool between, u64 ns)
{
	bool is_selective = between && ns >= 75000;
	struct sroce_read_retry *rr;
	struct xfers t;

	t_case("read_retry: a peer that answers a repeated READ %s in %llu ns is %s",
	       between ? "between others" : "in its turn", ns,
	       is_selective ? "selective" : "not");
	begin_careful(&t, 0, 3);
	rr = &t.s->a.qp.req.read_retry;
	answer(&t, 0);
	CHECK_EQ(t.s->a.qp.req.cwnd.min_rtt, 100000);
	answer(&t, 2);
	answer(&t, 3);
	check_repeated(4, 1, 1);
	sim_run_until(t.s, t.s->now + ns);
	answer(&t, 4);
	if (!between) {
		answer(&t, 5);
		answer(&t, 6);
		answer(&t, 7);
	}
	answer(&t, 1);
	CHECK(!rr->selective);
	answer(&t, between ? 5 : 8);
	CHECK_EQ(rr->selective, is_selective);
	xfers_end(&t);
}

/* Both holes of a READ are asked for at once, before its last response. */
static void selective(void)
{
	struct xfers t;

	t_case("read_retry: of a selective peer all that is missing is requested at once");
	begin_careful(&t, 0, 1);
	t.s->a.qp.req.read_retry.selective = true;
	answer(&t, 1);
	check_repeated(2, 0, 0);
	answer(&t, 3);
	check_repeated(3, 2, 2);
	xfers_end(&t);
}

/* Of as many responses as ranges can hold every second is lost, and the peer sends newest first. */
static void answers_newest(void)
{
	const u32 n = 2 * SROCE_READ_RANGES_MAX, rounds = 20;
	struct sroce_read_retry *rr;
	u32 i, before, psn;
	struct xfers t;

	t_case("read_retry: a peer that answers the newest of repeated READs gets few requests");
	peer_begin(&t);
	t.s->a.qp.cc = false;
	rr = &t.s->a.qp.req.read_retry;
	rr->selective = true;
	xfer_put(&t, IB_WR_RDMA_READ, MANY * MTU);
	peer_go(&t);
	for (i = 1; i < n; i += 2)
		peer_hear(&t, 0x0e, FIRST + i, ACK, MTU);
	CHECK_EQ(txlog.n, 1 + n / 2);
	before = txlog.n;
	for (i = 0; i < rounds; i++) {
		psn = txlog.p[txlog.n - 1].psn;
		peer_hear(&t, 0x10, psn, ACK, MTU);
	}
	CHECK(txlog.n - before >= rounds);
	CHECK(txlog.n - before <= SROCE_READ_REPEATS_MAX + 4 * rounds);
	for (i = 0; i < rr->n; i++)
		CHECK(sroce_read_retry_missing(&t.s->a.qp.req, rr->range[i].psn));

	t_case("read_retry: and still all that is missing");
	for (i = 0; i < n / 2; i++)
		peer_hear(&t, 0x10, t.s->a.qp.req.una, ACK, MTU);
	CHECK(sroce_psn_diff(t.s->a.qp.req.una, FIRST + n) >= 0);
	xfers_end(&t);
}

/* Its pages come slowly, so it refuses the same response again and again. */
static void refused_often(void)
{
	const u32 times = SROCE_READ_REPEATS_MAX + 10;
	struct xfers t;
	u32 i;

	t_case("read_retry: a response that is refused %u times is requested as often", times);
	begin_careful(&t, 0, 1);
	answer(&t, 0);
	for (i = 0; i < times; i++) {
		peer_ack(&t, FIRST + 1, RNR);
		sim_run_until(t.s, t.s->now + 2 * SIM_MS);
		CHECK_EQ(txlog.n, 2 + i);
	}
	for (i = 1; i < 4; i++)
		answer(&t, i);
	CHECK_EQ(t.s->a.scq.n, 1);
	xfers_end(&t);
}

#define LATE_FROM	1900
#define LATE_END	2150

/* Responses that a test holds up: each once, by some round trips, or for ever */
struct delayed {
	bool	seen[LATE_END - LATE_FROM];
	bool	lost;		/* half of them don't come */
	u64	by;		/* ns */
};

static int delay_some(struct sim *s, struct sim_packet *p)
{
	struct delayed *d = s->arg;
	u32 i = sim_psn(p) - LATE_FROM;

	if (p->from != &s->b || i >= ARRAY_SIZE(d->seen) || d->seen[i])
		return 1;
	d->seen[i] = true;
	p->when += d->by;
	return !(d->lost && i & 1);
}

static struct sroce_cwnd *begin_delayed(struct xfers *t, struct delayed *d)
{
	struct sroce_cwnd *c;

	xfers_init(t, NULL, 8 << 20, 8 << 20);
	t->s->wire = delay_some;
	t->s->arg = d;
	c = &t->s->a.qp.req.read_cwnd;
	c->cwnd = 512;
	c->ssthresh = 512;
	return c;
}

/* A train of responses is overtaken, or half of it is lost. */
static void overtaken(bool lost)
{
	struct delayed d = { .lost = lost, .by = 10 * SIM_LATENCY };
	struct sroce_cwnd *c;
	struct xfers t;
	u32 before = 0;

	t_case("read_retry: responses that %s", lost ? "are lost cost window" :
	       "come twice were late, and cost no window");
	c = begin_delayed(&t, &d);
	xfer_put(&t, IB_WR_RDMA_READ, 4000 * 1024);
	sim_doorbell(&t.s->a);
	do {
		if (!sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE))
			before = sroce_cwnd(c);
	} while (sroce_psn_diff(t.s->a.qp.req.una, LATE_END + 1500) < 0 && sim_step(t.s));
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE), 1);
	if (lost)
		CHECK(sroce_cwnd(c) < before);
	else
		CHECK(sroce_cwnd(c) >= before);
	sim_run(t.s);
	xfers_check(&t);
	xfers_end(&t);
}

/* Nothing comes any more until the newest response is requested again; then all comes, or half. */
static void stood_still(bool lost)
{
	struct delayed d = { .lost = lost, .by = 500 * NSEC_PER_USEC };
	struct sroce_cwnd *c;
	struct xfers t;
	u32 before;

	t_case("read_retry: a peer that stands still costs %s", lost ?
	       "window if responses are lost" : "no window once it goes on");
	c = begin_delayed(&t, &d);
	before = sroce_cwnd(c);
	xfer_put(&t, IB_WR_RDMA_READ, (LATE_END - t.s->a.qp.req.psn) * 1024);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK(sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE));
	if (lost)
		CHECK(sroce_cwnd(c) < before);
	else
		CHECK(sroce_cwnd(c) >= before);
	xfers_check(&t);
	xfers_end(&t);
}

/*
 * When the first probe is sent, in ns. @min_rtt: the shortest round trip so far; what is
 * taken for the present one is short
 */
static u64 probed_after_with(u8 timeout, u64 min_rtt, bool is_selective, bool answered)
{
	struct xfers t;
	u64 start;

	begin_careful(&t, timeout, 1);
	t.s->a.qp.req.rtt.srtt = 1000;
	t.s->a.qp.req.rtt.rttvar = 0;
	t.s->a.qp.req.read_retry.selective = is_selective;
	if (answered)
		answer(&t, 0);
	t.s->a.qp.req.cwnd.min_rtt = min_rtt;
	t.s->a.qp.req.read_cwnd.min_rtt = min_rtt;
	t.s->a.qp.req.retrans.probe_at = 0;
	peer_go(&t);
	start = t.s->now;
	while (!sim_count(&t.s->a, SROCE_CNT_PROBE) && sim_step(t.s))
		;
	start = t.s->now - start;
	if (answered)
		check_repeated(2, 1, is_selective ? 1 : 3);
	xfers_end(&t);
	return start;
}

static u64 probed_after(u64 min_rtt, bool is_selective, bool answered)
{
	return probed_after_with(14, min_rtt, is_selective, answered);
}

/* When the first probe is sent, in ns, if a request without an answer is older than a READ */
static u64 probed_before_read(enum ib_wr_opcode opcode)
{
	struct xfers t;
	u64 start;

	peer_begin(&t);
	t.s->a.qp.req.rtt.srtt = 1000;
	t.s->a.qp.req.rtt.rttvar = 0;
	xfer_put(&t, opcode, MTU);
	xfer_put(&t, IB_WR_RDMA_READ, MTU);
	peer_go(&t);
	start = t.s->now;
	while (!sim_count(&t.s->a, SROCE_CNT_PROBE) && sim_step(t.s))
		;
	start = t.s->now - start;
	peer_sent(2, FIRST, 1);
	xfers_end(&t);
	return start;
}

static void patience(void)
{
	u64 timeout = 4096ULL << 14;

	t_case("read_retry: a quarter of the timeout passes until a READ is repeated unasked");
	CHECK(probed_after(0, false, false) >= timeout / 4);
	CHECK(probed_after(0, false, false) < timeout / 2);

	t_case("read_retry: a sixteenth if some of its responses have come");
	CHECK(probed_after(0, false, true) >= timeout / 16);
	CHECK(probed_after(0, false, true) < timeout / 8);

	t_case("read_retry: and a few round trips if the peer is selective");
	CHECK(probed_after(0, true, true) < timeout / 60);

	t_case("read_retry: not before an answer can have come, however long the path");
	CHECK(probed_after(timeout / 2, false, false) > timeout / 2);
	CHECK(probed_after(timeout / 2, false, true) > timeout / 2);
	CHECK(probed_after(timeout / 2, false, false) < timeout);

	t_case("read_retry: nobody is patient with a WRITE or SEND before a READ");
	CHECK(probed_before_read(IB_WR_RDMA_WRITE) < timeout / 60);
	CHECK(probed_before_read(IB_WR_SEND) < timeout / 60);
	CHECK(probed_before_read(IB_WR_RDMA_READ) >= timeout / 4);

	t_case("read_retry: nor soon with a timeout that is infinite");
	CHECK(probed_after_with(0, 0, false, false) >= 500000000);
	CHECK(probed_after_with(0, 0, false, true) >= 500000000);
	CHECK(probed_after_with(0, 1000000000, false, false) > 1000000000);
	CHECK(probed_after_with(0, 0, true, true) < timeout / 60);
}

/* A peer that loses much, but keeps what follows a gap, misses a READ request. */
static void copies(bool is_selective)
{
	struct sroce_req *req;
	struct xfers t;

	t_case("read_retry: a READ request that was lost is sent %s",
	       is_selective ? "twice to a selective peer" : "once more");
	peer_begin(&t);
	req = &t.s->a.qp.req;
	req->retrans.gap_policy = SROCE_GAP_KEEPS;
	req->retrans.gap_dist = 0;
	req->retrans.batch = 1;
	req->read_retry.selective = is_selective;
	xfer_put(&t, IB_WR_RDMA_READ, MTU);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	peer_go(&t);
	CHECK_EQ(txlog.n, 2);
	peer_ack(&t, FIRST, GAP);
	peer_go(&t);
	CHECK_EQ(txlog.n, is_selective ? 4 : 3);
	CHECK_EQ(txlog.p[2].psn, FIRST);
	xfers_end(&t);
}

static u64 cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

/* A READ that the peer does not answer, @n WRITEs of nothing and @reads READs are posted. */
static void begin_behind_read(struct xfers *t, u32 n, u32 reads)
{
	const struct sim_wr wr = { .opcode = IB_WR_RDMA_WRITE, .flags = IB_SEND_SIGNALED };
	struct sim_cfg cfg = sim_default;
	struct sim_wr read;
	u32 i;

	cfg.timeout = 0;
	cfg.slots = cfg.cqe = 65536;
	cfg.rd_atomic = reads + 1;
	peer_begin_with(t, &cfg, 65536);
	t->s->quick = true;
	read = xfer_make(t, IB_WR_RDMA_READ, MTU);
	for (i = 0; i < 1 + n + reads; i++)
		sim_put_send(&t->s->a, i && i <= n ? &wr : &read);
}

/* @n WRITEs of nothing behind a READ are acknowledged one by one. Return: ns an ACK takes */
static u64 ack_behind_read(u32 n)
{
	u32 psn = FIRST + 1, end = psn + n;
	struct xfers t;
	u64 from, took = 0;

	begin_behind_read(&t, n, 0);
	while (psn != end && t_ok()) {
		from = psn;
		peer_go(&t);
		took -= cpu_ns();
		for (; psn != t.s->a.qp.req.psn; psn++)
			peer_ack(&t, psn, ACK);
		took += cpu_ns();
		CHECK(psn != from);
	}
	CHECK_EQ(t.s->a.scq.n, 0);
	/* the READ is answered, and all completes */
	peer_hear(&t, 0x10, FIRST, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, n + 1);
	xfers_end(&t);
	return took / n;
}

/* What is acknowledged behind it can't complete, and stays in the queue. */
static void read_unanswered(void)
{
	u64 few, many;

	t_case("read_retry: an ACK takes no longer with many requests behind a READ");
	few = ack_behind_read(SROCE_STARTED_MAX / 16 - 1);
	many = ack_behind_read(SROCE_STARTED_MAX - 1);
	/* 12 times as long when 16 times as many were walked */
	CHECK(many < 4 * few);
}

/* The WRITEs are acknowledged, and the READs behind them answered. Return: ns a response takes */
static u64 response_behind_read(u32 n)
{
	const u32 reads = 200;
	struct xfers t;
	u64 took;
	u32 i;

	begin_behind_read(&t, n, reads);
	t.s->a.qp.cc = false;
	for (i = 0; i < n && t_ok(); i = sroce_psn_diff(t.s->a.qp.req.acked, FIRST + 1)) {
		peer_go(&t);
		peer_ack(&t, sroce_psn_add(t.s->a.qp.req.psn, -1), ACK);
	}
	peer_go(&t);
	took = cpu_ns();
	for (i = 0; i < reads; i++)
		peer_hear(&t, 0x10, FIRST + 1 + n + i, ACK, MTU);
	took = cpu_ns() - took;
	CHECK_EQ(t.s->a.qp.req.una, FIRST);
	peer_hear(&t, 0x10, FIRST, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, n + reads + 1);
	xfers_end(&t);
	return took / reads;
}

/* Each ends a READ, after which what is missing may be looked for. */
static void responses_behind_unanswered(void)
{
	u64 few, many;

	t_case("read_retry: a response takes no longer with many requests behind a READ");
	few = response_behind_read(100);
	many = response_behind_read(SROCE_STARTED_MAX - 201);
	CHECK(many < 4 * few);
}

/* Return: ns that probes take after the first response to a READ of @n packets */
static u64 probe_read(u32 n)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u64 took;

	cfg.timeout = 14;
	peer_begin_with(&t, &cfg, (n + 10) * MTU);
	t.s->quick = true;
	t.s->a.qp.cc = false;
	xfer_put(&t, IB_WR_RDMA_READ, n * MTU);
	peer_go(&t);
	peer_hear(&t, 0x0d, FIRST, ACK, MTU);
	took = cpu_ns();
	while (txlog.n < 5 && sim_step(t.s))
		;
	took = cpu_ns() - took;
	CHECK(sim_count(&t.s->a, SROCE_CNT_PROBE) >= 3);
	xfers_end(&t);
	return took;
}

/* Of responses that are far ahead none can have come: there is nothing to look at. */
static void long_read_unanswered(void)
{
	u64 few, many;

	t_case("read_retry: a probe for a READ of 64 MiB takes no longer than one for 4 MiB");
	few = probe_read(SROCE_READ_AHEAD);
	many = probe_read(16 * SROCE_READ_AHEAD);
	CHECK(many < 4 * few);
}

UNIT_TESTS(read_retry)
{
	read_unanswered();
	responses_behind_unanswered();
	long_read_unanswered();
	answers_newest();
	refused_often();
	silent_read();
	slow_read();
	long_read();
	long_read_partly();
	asked_often();
	implied();
	careful();
	within_limit();
	repeat_lost();
	learns(true, 75000);
	learns(true, 74999);
	learns(true, 0);
	learns(false, 75000);
	selective();
	patience();
	overtaken(false);
	overtaken(true);
	stood_still(false);
	stood_still(true);
	copies(false);
	copies(true);
}
