// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The rate of READ responses, which CNPs and full queues of this host limit */

#include "tests.h"
#include "peer.h"

#define US	1000ULL
#define PSNS	200
/* Trains per ms, as in resp_rate.c */
#define TRAINS	50

static struct sroce_resp_rate *begin(struct xfers *t)
{
	peer_begin_resp(t, 16);
	sim_run_until(t->s, t->s->now + SIM_MS);
	t->s->b.qp.av.tclass = 2;
	return &t->s->b.qp.resp.rate;
}

static void cnp(struct xfers *t)
{
	static const u8 zeros[16];
	struct sroce_pkt pkt = {
		.opcode = 0x81, .pkey = 0xffff, .qpn = t->s->b.qp.qpn,
		.payload_len = sizeof(zeros),
	};

	sim_deliver(t->s, sim_forge(&t->s->a, &pkt, zeros));
}

static u32 count(struct xfers *t, enum sroce_counter c)
{
	return sim_count(&t->s->b, c);
}

/* Packets that are sent in a time */
static u32 sent_in(struct xfers *t, u64 ns)
{
	u32 before = txlog.n;

	sim_run_until(t->s, t->s->now + ns);
	return txlog.n - before;
}

/* A READ is being answered, 100 packets per ms: so much has gone out, in a ms. */
static struct sroce_resp_rate *begin_limited(struct xfers *t)
{
	struct sroce_resp_rate *r = begin(t);

	peer_ask_read(t, t->s->b.qp.resp.psn, 0, 100 * MTU);
	sim_run_until(t->s, t->s->now + 10 * US);
	r->since = r->last - SIM_MS;
	cnp(t);
	return r;
}

static void limited(void)
{
	struct sroce_resp_rate *r;
	struct xfers t;
	u32 n;

	t_case("resp_rate: no limit until there is a CNP");
	r = begin(&t);
	cnp(&t);
	CHECK(!r->limited);
	peer_ask_read(&t, t.s->b.qp.resp.psn, 0, PSNS * MTU);
	n = txlog.n;
	CHECK_EQ(n + sent_in(&t, 200 * US), PSNS);
	CHECK_EQ(count(&t, SROCE_CNT_PACED), 0);
	xfers_end(&t);

	t_case("resp_rate: the first CNP halves the rate at which responses have left");
	r = begin_limited(&t);
	CHECK(r->limited);
	CHECK_EQ(r->cwnd.cwnd, 50);
	CHECK_EQ(count(&t, SROCE_CNT_CWND_DECREASE), 1);

	t_case("resp_rate: in small trains, on and on");
	peer_ask_read(&t, t.s->b.qp.resp.psn, 0, PSNS * MTU);
	sim_run_until(t.s, t.s->now + 50 * US);
	CHECK(sent_in(&t, 100 * US) <= 8);
	CHECK(count(&t, SROCE_CNT_PACED) > 0);
	n = sent_in(&t, SIM_MS);
	CHECK(n >= 40 && n <= 110);
	sim_run_until(t.s, t.s->now + 5 * SIM_MS);
	CHECK_EQ(txlog.n, 100 + PSNS);

	t_case("resp_rate: the limit ends when it is far above the first rate");
	for (n = 0; r->limited && n < 100; n++) {
		peer_ask_read(&t, t.s->b.qp.resp.psn, 0, PSNS * MTU);
		sim_run_until(t.s, t.s->now + 4 * SIM_MS);
	}
	CHECK(n > 1 && n < 50);
	xfers_end(&t);
}

static void dropped_here(void)
{
	struct sroce_resp_rate *r;
	struct xfers t;

	t_case("resp_rate: responses that this host drops limit it, too, with ECN or without");
	r = begin(&t);
	t.s->b.qp.av.tclass = 0;
	sroce_transport_tx_dropped(&t.s->b.qp, true);
	CHECK(!r->limited);
	peer_ask_read(&t, t.s->b.qp.resp.psn, 0, 100 * MTU);
	sim_run_until(t.s, t.s->now + 10 * US);
	r->since = r->last - SIM_MS;
	sroce_transport_tx_dropped(&t.s->b.qp, true);
	CHECK_EQ(r->cwnd.cwnd, 50);
	CHECK_EQ(count(&t, SROCE_CNT_CWND_DECREASE), 1);

	t_case("resp_rate: once for all that is dropped at a time");
	sroce_transport_tx_dropped(&t.s->b.qp, true);
	CHECK_EQ(r->cwnd.cwnd, 50);
	xfers_end(&t);
}

/* ACK timeouts of 1 ms are in use, and each response restarts one. */
static void lowest(void)
{
	struct sroce_resp_rate *r;
	struct xfers t;
	int i;

	t_case("resp_rate: at the lowest rate, 2 per ms, no train is awaited");
	r = begin_limited(&t);
	r->cwnd.cwnd = SROCE_CWND_MIN;
	r->cwnd.target = SROCE_CWND_MIN;
	r->tokens = 0;
	r->at = t.s->now;
	peer_ask_read(&t, t.s->b.qp.resp.psn, 0, 8 * MTU);
	for (i = 0; i < 8; i++)
		CHECK_EQ(sent_in(&t, 510 * US), 1);
	xfers_end(&t);
}

static void pause(void)
{
	struct sroce_resp_rate *r;
	struct xfers t;

	t_case("resp_rate: a CNP long after the last response is not for that");
	r = begin(&t);
	peer_ask_read(&t, t.s->b.qp.resp.psn, 0, 10 * MTU);
	t.s->now += 20 * SIM_MS;
	cnp(&t);
	CHECK(!r->limited);
	/* nothing else is under way: it is ignored */
	CHECK_EQ(count(&t, SROCE_CNT_CNP_RCVD), 0);
	CHECK_EQ(count(&t, SROCE_CNT_CNP_IGNORED), 1);
	xfers_end(&t);
}

/* A WRITE of nothing arrives, which asks for an ACK. */
static void write_arrives(struct xfers *t)
{
	xfers_forge(t, &(struct sroce_pkt){ .opcode = 0x0a, .ackreq = true }, NULL);
}

static void acks(void)
{
	struct sroce_resp_rate *r;
	struct xfers t;

	t_case("resp_rate: an ACK behind READ responses waits for them");
	r = begin_limited(&t);
	txlog.n = 0;
	peer_ask_read(&t, t.s->b.qp.resp.psn, 0, 20 * MTU);
	write_arrives(&t);
	CHECK(r->go_on);
	CHECK(txlog.n < 20);
	sim_run_until(t.s, t.s->now + 2 * SIM_MS);
	CHECK_EQ(txlog.n, 21);
	CHECK_EQ(txlog.p[20].opcode, 0x11);

	t_case("resp_rate: others are not limited");
	r->go_on = t.s->now + SIM_MS;
	write_arrives(&t);
	CHECK_EQ(txlog.n, 22);
	xfers_end(&t);
}

/* The timer fires for another reason, before a train may leave. */
static void early_timer(void)
{
	struct sroce_resp_rate *r;
	struct xfers t;
	u64 paced;

	t_case("resp_rate: a timer that is early is set again, and counts once");
	r = begin_limited(&t);
	peer_ask_read(&t, t.s->b.qp.resp.psn, 0, 20 * MTU);
	CHECK(r->go_on > t.s->now + 10 * US);
	paced = count(&t, SROCE_CNT_PACED);
	t.s->b.ack_when = t.s->now + US;
	sim_run_until(t.s, t.s->now + 2 * US);
	CHECK(t.s->b.ack_when >= r->go_on);
	CHECK(t.s->b.ack_when <= r->go_on + SIM_MS / TRAINS / 4);
	CHECK_EQ(count(&t, SROCE_CNT_PACED), paced);
	/* nor did it fire in vain for requests, whose timer may be set less exactly then */
	CHECK_EQ(t.s->b.qp.req.retrans.timer_backoff, 0);
	sim_run_until(t.s, t.s->now + 2 * SIM_MS);
	CHECK_EQ(txlog.n, 120);
	xfers_end(&t);
}

/* The rate at which responses have left is that since the newest break. */
static void after_break(void)
{
	struct sroce_resp_rate *r;
	struct xfers t;
	u64 now;

	t_case("resp_rate: what left before a break does not count");
	r = begin(&t);
	peer_ask_read(&t, t.s->b.qp.resp.psn, 0, 100 * MTU);
	sim_run_until(t.s, t.s->now + SIM_MS);
	now = t.s->now;
	peer_ask_read(&t, t.s->b.qp.resp.psn, 0, 10 * MTU);
	CHECK_EQ(r->sent, 10);
	CHECK_EQ(r->since, now);
	/* no break: half as long */
	sim_run_until(t.s, t.s->now + 100 * US);
	peer_ask_read(&t, t.s->b.qp.resp.psn, 0, 10 * MTU);
	cnp(&t);
	CHECK_EQ(r->first, 200);
	xfers_end(&t);
}

/* Trips are made for other reasons, too, while a train waits for its time. */
static void trip_while_waiting(void)
{
	struct sroce_resp_rate *r;
	struct xfers t;
	u32 n;

	t_case("resp_rate: a trip before its time does not send a part of a train");
	r = begin_limited(&t);
	peer_ask_read(&t, t.s->b.qp.resp.psn, 0, 20 * MTU);
	n = txlog.n;
	CHECK(r->go_on > t.s->now + 40 * US);
	/* the tokens of a part have come */
	t.s->now = r->go_on - 5 * US;
	write_arrives(&t);
	CHECK_EQ(txlog.n, n);
	sim_run_until(t.s, r->go_on + 10 * US);
	CHECK(txlog.n >= n + 4);
	xfers_end(&t);
}

/* However many CNPs there are, something leaves. */
static void slowest(void)
{
	struct sroce_resp_rate *r;
	struct xfers t;
	u32 i;

	t_case("resp_rate: two packets per ms leave in any case");
	r = begin_limited(&t);
	for (i = 0; i < 100; i++) {
		t.s->now += 100 * US;
		cnp(&t);
	}
	CHECK_EQ(sroce_cwnd(&r->cwnd), 2);
	peer_ask_read(&t, t.s->b.qp.resp.psn, 0, 20 * MTU);
	i = sent_in(&t, 4 * SIM_MS);
	CHECK(i >= 4 && i <= 16);
	xfers_end(&t);
}

static void new_path(void)
{
	struct sroce_resp_rate *r;
	struct xfers t;

	t_case("resp_rate: another path has no limit");
	r = begin_limited(&t);
	sroce_reset_path(&t.s->b.qp);
	CHECK(!r->limited);
	xfers_end(&t);
}

UNIT_TESTS(resp_rate)
{
	limited();
	dropped_here();
	lowest();
	pause();
	acks();
	early_timer();
	after_break();
	trip_while_waiting();
	slowest();
	new_path();
}
