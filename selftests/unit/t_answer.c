// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* ACKs that leave with the answer to a request */

#include "tests.h"
#include "peer.h"

#define US	1000ULL
/* As in answer.c: answers that begin it; and the latest that an ACK is held, in ns */
#define STREAK	8
#define LATEST	(700 * US)
/* A timer runs some time after the one before it; more than any that is looked for */
#define LONG	(2 * SIM_MS)

#define WRITE_ONLY	0x0a
#define SEND_ONLY	0x04
#define AN_ACK		0x11

/* B is under test, with a timeout; its packets do not arrive. */
static void begin_with(struct xfers *t, u8 timeout)
{
	struct sim_cfg cfg = sim_default;

	cfg.timeout = timeout;
	cfg.mtu = IB_MTU_256;
	xfers_init(t, &cfg, 65536, 4096);
	peer_record(t->s, &t->s->b);
}

static u64 count(const struct xfers *t, enum sroce_counter c)
{
	return sim_count(&t->s->b, c);
}

/* A request of one packet arrives, without bytes; it asks for an ACK. */
static void ask(struct xfers *t, u8 opcode)
{
	xfers_forge(t, &(struct sroce_pkt){ .opcode = opcode, .ackreq = true }, NULL);
}

/* B's process posts @n WRITEs of so many bytes; what they need of A is not looked at. */
static void post(struct xfers *t, u32 n, u32 len)
{
	struct sim_wr wr = {
		.opcode = IB_WR_RDMA_WRITE, .num_sge = !!len, .sge = { sim_sge(t->b, 0, len) },
		.remote_addr = t->a->mr.iova, .rkey = t->a->mr.ibmr.rkey,
	};

	while (n--)
		sim_put_send(&t->s->b, &wr);
	sim_doorbell(&t->s->b);
}

/* A has received all that B has sent. */
static void acked_by_peer(struct xfers *t)
{
	xfers_forge(t, &(struct sroce_pkt){
		.opcode = AN_ACK, .psn = t->s->b.qp.req.max_psn - 1, .syndrome = ACK,
	}, NULL);
}

/* A request arrives, and B answers after @ns. */
static void round_trip(struct xfers *t, u64 ns)
{
	ask(t, WRITE_ONLY);
	sim_run_until(t->s, t->s->now + ns);
	post(t, 1, 0);
	acked_by_peer(t);
}

/* Requests were answered as often as it takes; the log is empty. */
static void begin(struct xfers *t, u8 timeout)
{
	u32 i;

	begin_with(t, timeout);
	for (i = 0; i <= STREAK; i++)
		round_trip(t, 10 * US);
	txlog.n = 0;
}

/* The newest packet is an ACK of all that has come, and there are @n. */
static void last_is_ack(struct xfers *t, u32 n)
{
	CHECK_EQ(txlog.n, n);
	CHECK_EQ(txlog.p[n - 1].opcode, AN_ACK);
	CHECK_EQ(txlog.p[n - 1].syndrome & SROCE_AETH_TYPE, 0);
	CHECK_EQ(txlog.p[n - 1].psn, t->s->b.qp.resp.psn - 1);
}

static void streak(void)
{
	struct xfers t;
	u32 i;

	t_case("answer: ACKs leave with answers once some were given soon");
	begin_with(&t, 14);
	/* the first is that which shows what was acknowledged */
	for (i = 0; i <= STREAK; i++) {
		txlog.n = 0;
		round_trip(&t, 10 * US);
		CHECK_EQ(txlog.n, 2);
		CHECK_EQ(txlog.p[0].opcode, AN_ACK);
	}
	CHECK_EQ(count(&t, SROCE_CNT_ACK_WITH_ANSWER), 0);
	for (i = 1; i <= 100; i++) {
		txlog.n = 0;
		ask(&t, WRITE_ONLY);
		CHECK_EQ(txlog.n, 0);
		sim_run_until(t.s, t.s->now + 20 * US);
		post(&t, 1, 0);
		CHECK_EQ(txlog.p[0].opcode, WRITE_ONLY);
		last_is_ack(&t, 2);
		CHECK_EQ(count(&t, SROCE_CNT_ACK_WITH_ANSWER), i);
		acked_by_peer(&t);
	}
	CHECK_EQ(count(&t, SROCE_CNT_ACK_HELD_IN_VAIN), 0);
	CHECK_EQ(count(&t, SROCE_CNT_ACK_SENT), i + STREAK);
	xfers_end(&t);

	t_case("answer: no ACK is held where answers take long");
	begin_with(&t, 14);
	for (i = 0; i < 4 * STREAK; i++) {
		txlog.n = 0;
		ask(&t, WRITE_ONLY);
		last_is_ack(&t, 1);
		sim_run_until(t.s, t.s->now + 600 * US);
		post(&t, 1, 0);
		acked_by_peer(&t);
	}
	xfers_end(&t);
}

/* The time from a request to its ACK, where nobody answers */
static u64 time_to_ack(struct xfers *t)
{
	u64 start = t->s->now;

	txlog.n = 0;
	ask(t, WRITE_ONLY);
	while (!txlog.n && t->s->now < start + LONG)
		sim_run_until(t->s, t->s->now + US);
	last_is_ack(t, 1);
	return t->s->now - start;
}

static void no_answer(void)
{
	struct xfers t;
	u32 i, k;

	t_case("answer: without one the ACK leaves soon, and no other is held");
	begin(&t, 14);
	CHECK(time_to_ack(&t) >= 400 * US);
	CHECK_EQ(count(&t, SROCE_CNT_ACK_HELD_IN_VAIN), 1);
	for (i = 0; i < 100; i++)
		CHECK_EQ(time_to_ack(&t), 0);
	/* the next time it takes more */
	for (i = 1; i < 2 * STREAK; i++)
		round_trip(&t, 10 * US);
	CHECK_EQ(time_to_ack(&t), 0);
	CHECK_EQ(count(&t, SROCE_CNT_ACK_WITH_ANSWER), 0);
	CHECK_EQ(count(&t, SROCE_CNT_ACK_HELD_IN_VAIN), 1);
	xfers_end(&t);

	t_case("answer: an ACK is held for a small part of the timeout, whatever it is");
	for (i = 0; i <= 31; i++) {
		u64 timeout = 4096ULL << i, most = i ? timeout / 8 : LATEST;

		begin(&t, i);
		/* at any phase of the timer */
		for (k = 0; k < 20; k++)
			round_trip(&t, 17 * US);
		CHECK(time_to_ack(&t) <= min(most, LATEST));
		CHECK_EQ(count(&t, SROCE_CNT_ACK_HELD_IN_VAIN), !i || i >= 11);
		xfers_end(&t);
	}
}

/* As above, just after an answer, with requests that might have their ACKs held, or not */
static u64 time_without(u8 timeout, bool with)
{
	struct xfers t;
	u64 ns;
	u32 k;

	begin(&t, timeout);
	for (k = 0; k < 20; k++)
		round_trip(&t, 17 * US);
	t.s->b.qp.ack_with_answer = with;
	ns = time_to_ack(&t);
	xfers_end(&t);
	return ns;
}

/* The ACK timer of the simulation fires as late as it may. */
static void in_time(void)
{
	u64 without, with;
	u8 i;

	for (i = 0; i <= 14; i++) {
		t_case("answer: an ACK without one is at most 1 ms late, timeout %u", i);
		without = time_without(i, false);
		with = time_without(i, true);
		CHECK_EQ(without, 0);
		CHECK(with <= without + SIM_MS);
		/* there is something to show where ACKs are held */
		CHECK_EQ(!!with, !i || i >= 11);
	}
}

/* The ACK timer is set so often in @n round trips, so many ns apart. */
static u32 timers(u32 n, u64 apart, bool with)
{
	struct xfers t;
	u32 set, i;

	begin(&t, 14);
	t.s->b.qp.ack_with_answer = with;
	set = t.s->b.ack_set;
	for (i = 0; i < n; i++) {
		round_trip(&t, 10 * US);
		sim_run_until(t.s, t.s->now + apart - 10 * US);
	}
	set = t.s->b.ack_set - set;
	xfers_end(&t);
	return set;
}

/* One that runs anyway looks after ACKs that are held; that is not set for each. */
static void seldom(void)
{
	static const u64 apart[] = { 50, 200, 390, 710, 750, 1000, 5000 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(apart); i++) {
		u64 ns = apart[i] * US, most;

		t_case("answer: no timer is set for each of requests %llu us apart", apart[i]);
		/* where none is held as many as without, but for one that was set before */
		most = ns < LATEST ? 100 * ns / LATEST + 2 : timers(100, ns, false) + 1;
		CHECK(timers(100, ns, true) <= most);
	}
}

/* A request arrives whose ACK is held. */
static void ask_held(struct xfers *t)
{
	txlog.n = 0;
	ask(t, WRITE_ONLY);
	CHECK_EQ(txlog.n, 0);
	CHECK(t->s->b.qp.resp.answer.held);
}

static void next_request(void)
{
	struct xfers t;

	t_case("answer: the next request sends the ACK, for both");
	begin(&t, 14);
	ask_held(&t);
	ask(&t, WRITE_ONLY);
	last_is_ack(&t, 1);
	CHECK_EQ(count(&t, SROCE_CNT_ACK_HELD_IN_VAIN), 1);
	xfers_end(&t);

	t_case("answer: so does one that asks for no ACK");
	begin(&t, 14);
	ask_held(&t);
	peer_ask(&t, WRITE_ONLY, t.s->b.qp.resp.psn, 0, 0, 0);
	last_is_ack(&t, 1);
	xfers_end(&t);

	t_case("answer: so does the same request again");
	begin(&t, 14);
	ask_held(&t);
	peer_ask(&t, WRITE_ONLY, t.s->b.qp.resp.psn - 1, 0, 0, 0);
	last_is_ack(&t, 1);
	xfers_end(&t);

	t_case("answer: a NAK of a gap takes the place of the ACK");
	begin(&t, 14);
	ask_held(&t);
	peer_ask(&t, WRITE_ONLY, t.s->b.qp.resp.psn + 1, 0, 0, 0);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(txlog.p[0].syndrome, GAP);
	xfers_end(&t);

	t_case("answer: an RNR NAK takes the place of the ACK");
	begin(&t, 14);
	ask_held(&t);
	ask(&t, SEND_ONLY);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(txlog.p[0].syndrome & SROCE_AETH_TYPE, SROCE_AETH_RNR);
	CHECK_EQ(txlog.p[0].psn, t.s->b.qp.resp.psn);
	xfers_end(&t);
}

/* A's request and its ACK of what B has sent arrive as one train. */
static void ask_with_ack(struct xfers *t)
{
	struct sroce_qp *qp = &t->s->b.qp;
	struct sroce_pkt ask = {
		.opcode = WRITE_ONLY, .ackreq = true, .qpn = qp->qpn, .pkey = 0xffff,
		.psn = qp->resp.psn,
	};
	struct sroce_pkt ack = {
		.opcode = AN_ACK, .syndrome = ACK, .qpn = qp->qpn, .pkey = 0xffff,
		.psn = qp->req.max_psn - 1,
	};

	sim_deliver_two(t->s, sim_forge(&t->s->a, &ask, NULL), sim_forge(&t->s->a, &ack, NULL));
}

/* Two processes that send at once, and each wait for their own message's completion */
static void exchange(void)
{
	struct xfers t;
	u32 i;

	t_case("answer: no ACK is held while the process may wait for one");
	begin(&t, 14);
	for (i = 0; i < 4 * STREAK; i++) {
		post(&t, 1, 0);
		txlog.n = 0;
		ask(&t, WRITE_ONLY);
		last_is_ack(&t, 1);
		acked_by_peer(&t);
	}
	CHECK_EQ(count(&t, SROCE_CNT_ACK_HELD_IN_VAIN), 0);
	/* once nothing is under way one is held again */
	post(&t, 1, 0);
	acked_by_peer(&t);
	ask_held(&t);
	xfers_end(&t);

	t_case("answer: one is held if that completion comes in the same train");
	begin(&t, 14);
	post(&t, 1, 0);
	txlog.n = 0;
	ask_with_ack(&t);
	CHECK_EQ(txlog.n, 0);
	post(&t, 1, 0);
	last_is_ack(&t, 2);
	xfers_end(&t);
}

static void never_held(void)
{
	struct xfers t;

	t_case("answer: RNR is never held");
	begin(&t, 14);
	ask(&t, SEND_ONLY);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(txlog.p[0].syndrome & SROCE_AETH_TYPE, SROCE_AETH_RNR);
	xfers_end(&t);

	t_case("answer: a NAK is never held");
	begin(&t, 14);
	peer_ask(&t, WRITE_ONLY, t.s->b.qp.resp.psn + 1, 0, 0, 0);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(txlog.p[0].syndrome, GAP);
	xfers_end(&t);

	t_case("answer: a READ response is never held, nor the ACK behind it");
	begin(&t, 14);
	peer_ask_read(&t, t.s->b.qp.resp.psn, 0, 8);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(txlog.p[0].opcode, 0x10);
	ask(&t, WRITE_ONLY);
	last_is_ack(&t, 2);
	xfers_end(&t);

	t_case("answer: an atomic response is never held");
	begin(&t, 14);
	peer_ask(&t, 0x14, t.s->b.qp.resp.psn, XFER_GAP, 8, 0);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(txlog.p[0].opcode, 0x12);
	xfers_end(&t);

	t_case("answer: the ACK of several packets is never held");
	begin(&t, 14);
	peer_ask(&t, WRITE_ONLY, t.s->b.qp.resp.psn, 0, 0, 0);
	CHECK_EQ(txlog.n, 0);
	ask(&t, WRITE_ONLY);
	last_is_ack(&t, 1);
	xfers_end(&t);
}

/* As when memory was faulted in, after which requests that were dropped are missing */
static void nak_without_request(void)
{
	struct xfers t;

	t_case("answer: a NAK that no packet causes is not held, nor is the ACK before it");
	begin(&t, 14);
	ask_held(&t);
	sroce_resp_tx_nak(&t.s->b.qp, SROCE_NAK_PSN_SEQ);
	sim_doorbell(&t.s->b);
	CHECK_EQ(txlog.n, 2);
	CHECK_EQ(txlog.p[0].syndrome & SROCE_AETH_TYPE, SROCE_AETH_ACK);
	CHECK_EQ(txlog.p[0].psn, t.s->b.qp.resp.psn - 1);
	CHECK_EQ(txlog.p[1].syndrome, GAP);
	CHECK_EQ(txlog.p[1].psn, t.s->b.qp.resp.psn);
	xfers_end(&t);
}

/* @n receives are posted, a SEND comes, and it is answered. */
static void send_answered(struct xfers *t, u32 n)
{
	while (n--)
		sim_put_recv(&t->s->b, 1, NULL, 0);
	ask(t, SEND_ONLY);
	sim_run_until(t->s, t->s->now + 10 * US);
	post(t, 1, 0);
	acked_by_peer(t);
}

static void credits(void)
{
	struct xfers t;
	u32 i;

	t_case("answer: an ACK with credits that the peer waits for is never held");
	begin_with(&t, 14);
	for (i = 0; i < 4 * STREAK; i++) {
		txlog.n = 0;
		send_answered(&t, 1);
		CHECK_EQ(txlog.n, 2);
		CHECK_EQ(txlog.p[0].opcode, AN_ACK);
	}
	CHECK_EQ(count(&t, SROCE_CNT_ACK_WITH_ANSWER), 0);
	xfers_end(&t);

	t_case("answer: with credits left it is");
	begin_with(&t, 14);
	send_answered(&t, 10);
	for (i = 0; i < 4 * STREAK; i++)
		send_answered(&t, 1);
	CHECK_EQ(count(&t, SROCE_CNT_ACK_WITH_ANSWER), 3 * STREAK);
	CHECK_EQ(count(&t, SROCE_CNT_ACK_HELD_IN_VAIN), 0);
	xfers_end(&t);
}

static u32 no_room(struct sim *s, struct sroce_qp *qp, bool response)
{
	(void)s;
	(void)qp;
	return response ? ~0u : 0;
}

static void long_answer(void)
{
	struct xfers t;

	t_case("answer: an ACK does not wait behind one of many packets");
	begin(&t, 14);
	ask_held(&t);
	post(&t, 1, 10 * MTU);
	last_is_ack(&t, 11);
	CHECK_EQ(count(&t, SROCE_CNT_ACK_WITH_ANSWER), 0);
	CHECK_EQ(count(&t, SROCE_CNT_ACK_HELD_IN_VAIN), 1);
	xfers_end(&t);

	t_case("answer: the ACK leaves by itself without trains");
	begin(&t, 14);
	t.s->max_segs = 1;
	ask_held(&t);
	post(&t, 1, 0);
	last_is_ack(&t, 2);
	CHECK_EQ(count(&t, SROCE_CNT_ACK_WITH_ANSWER), 0);
	xfers_end(&t);

	t_case("answer: the ACK leaves by itself if it would overtake others");
	begin(&t, 14);
	t.s->overtakes = true;
	ask_held(&t);
	post(&t, 1, 0);
	last_is_ack(&t, 2);
	CHECK_EQ(count(&t, SROCE_CNT_ACK_WITH_ANSWER), 0);
	CHECK_EQ(count(&t, SROCE_CNT_ACK_HELD_IN_VAIN), 1);
	xfers_end(&t);

	t_case("answer: the ACK leaves if the answer can't");
	begin(&t, 14);
	ask_held(&t);
	sim_post(&t.s->b, &(struct sim_wr){
		.opcode = IB_WR_RDMA_READ, .num_sge = 1, .sge = { sim_sge(t.b, 0, 8) },
	});
	CHECK_EQ(count(&t, SROCE_CNT_ACK_WITH_ANSWER), 1);
	xfers_end(&t);
	begin(&t, 14);
	ask_held(&t);
	t.s->tx_room = no_room;
	post(&t, 1, 0);
	last_is_ack(&t, 1);
	t.s->tx_room = NULL;
	sim_doorbell(&t.s->b);
	CHECK_EQ(txlog.n, 2);
	xfers_end(&t);
}

/* B's process answers with a message without bytes, which is shorter than an ACK. */
static void post_nothing(struct xfers *t)
{
	sim_post(&t->s->b, &(struct sim_wr){ .opcode = IB_WR_SEND });
}

static void post_one(struct xfers *t) { post(t, 1, 0); }
static void post_long(struct xfers *t) { post(t, 1, 2 * MTU); }

/* No ACK is held where none could leave with the answers; they are counted. */
static void alone(const char *what, void (*post)(struct xfers *t), u32 max_segs)
{
	struct xfers t;
	u32 i;

	t_case("answer: no ACK is held for answers %s", what);
	begin_with(&t, 14);
	t.s->max_segs = max_segs;
	for (i = 0; i < 8 * STREAK; i++) {
		txlog.n = 0;
		ask(&t, WRITE_ONLY);
		last_is_ack(&t, 1);
		sim_run_until(t.s, t.s->now + 10 * US);
		post(&t);
		acked_by_peer(&t);
	}
	CHECK_EQ(count(&t, SROCE_CNT_ACK_WITH_ANSWER), 0);
	CHECK_EQ(count(&t, SROCE_CNT_ACK_HELD_IN_VAIN), 0);
	/* the first shows what was acknowledged */
	CHECK_EQ(count(&t, SROCE_CNT_ANSWER_ALONE), i - 1);
	xfers_end(&t);
}

static void states(void)
{
	struct xfers t;

	t_case("answer: what is held leaves before the QP changes");
	begin(&t, 14);
	ask_held(&t);
	CHECK(sroce_answer_may_end(&t.s->b.qp));
	sroce_answer_end(&t.s->b.qp);
	sim_doorbell(&t.s->b);
	last_is_ack(&t, 1);
	CHECK(!sroce_answer_may_end(&t.s->b.qp));
	xfers_end(&t);

	t_case("answer: what is held leaves from the error state");
	begin(&t, 14);
	ask_held(&t);
	sroce_flush_qp_error(&t.s->b.qp);
	sim_doorbell(&t.s->b);
	last_is_ack(&t, 1);
	xfers_end(&t);

	t_case("answer: no ACK is held in SQD");
	begin(&t, 14);
	sim_enter(&t.s->b, IB_QPS_SQD);
	ask(&t, WRITE_ONLY);
	last_is_ack(&t, 1);
	xfers_end(&t);

	t_case("answer: no ACK is held where that is turned off");
	begin(&t, 14);
	t.s->b.qp.ack_with_answer = false;
	ask(&t, WRITE_ONLY);
	last_is_ack(&t, 1);
	xfers_end(&t);
}

/* What A knows of B, which may hold ACKs */
enum knows {
	IS_ON		= 1,	/* both have the attribute */
	SENDS		= 2,	/* B has sent messages */
};

/* A has samples of a round trip of 10 us; what it sends is lost. */
static void begin_losing(struct xfers *t, u8 timeout, u32 knows)
{
	struct sim_cfg cfg = sim_default;

	cfg.timeout = timeout;
	xfers_init(t, &cfg, 65536, 4096);
	peer_record(t->s, &t->s->a);
	t->s->a.qp.req.rtt.srtt = 10 * US;
	t->s->a.qp.req.rtt.rttvar = US;
	t->s->a.qp.ack_with_answer = knows & IS_ON;
	t->s->a.qp.resp.msn = knows & SENDS ? 1 : 0;
}

static void post_writes(struct xfers *t, u32 n)
{
	while (n--)
		xfer_put(t, IB_WR_RDMA_WRITE, 8);
	sim_doorbell(&t->s->a);
}

/* Probes of A after its first @n messages, within so many ns */
static u64 probes_of(u32 knows, u8 timeout, u32 n, u64 ns)
{
	struct xfers t;
	u64 count;

	begin_losing(&t, timeout, knows);
	post_writes(&t, n);
	sim_run_until(t.s, t.s->now + ns);
	count = sim_count(&t.s->a, SROCE_CNT_PROBE);
	xfers_end(&t);
	return count;
}

static u64 probes(u8 timeout, u32 n, u64 ns)
{
	return probes_of(IS_ON | SENDS, timeout, n, ns);
}

/* Likewise, where a lone message is followed by others after @gap ns */
static u64 probes_after(u64 gap, u8 timeout, u64 ns)
{
	struct xfers t;
	u64 count;

	begin_losing(&t, timeout, IS_ON | SENDS);
	post_writes(&t, 1);
	sim_run_until(t.s, t.s->now + gap);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	post_writes(&t, 2);
	sim_run_until(t.s, t.s->now + ns - gap);
	count = sim_count(&t.s->a, SROCE_CNT_PROBE);
	xfers_end(&t);
	return count;
}

static void patience(void)
{
	t_case("answer: a lone request is not probed while its ACK may be held");
	CHECK_EQ(probes(14, 1, LATEST), 0);
	CHECK_EQ(probes(0, 1, LATEST), 0);
	CHECK(probes(14, 1, 2 * LATEST) > 0);
	CHECK(probes(0, 1, 2 * LATEST) > 0);

	t_case("answer: others are, and those whose ACK may not be");
	CHECK(probes(14, 2, LATEST) > 0);
	CHECK(probes(9, 1, LATEST) > 0);

	t_case("answer: a lone one that others follow is probed as they are");
	CHECK(probes_after(100 * US, 14, LATEST) > 0);

	t_case("answer: so is a lone one where the peer holds no ACK");
	CHECK(probes_of(SENDS, 14, 1, LATEST) > 0);
	CHECK(probes_of(IS_ON, 14, 1, LATEST) > 0);
}

/* B's own message is acknowledged after @ns, or its answer and the ACK come then. */
static void own_message(struct xfers *t, u64 ns, bool answered)
{
	post(t, 1, 0);
	sim_run_until(t->s, t->s->now + ns);
	if (answered)
		ask_with_ack(t);
	else
		acked_by_peer(t);
}

/* B has taken @n samples of a round trip of 10 us from a peer that sends messages, too. */
static struct sroce_rtt *begin_samples(struct xfers *t, u32 n)
{
	begin_with(t, 14);
	ask(t, WRITE_ONLY);
	while (n--)
		own_message(t, 10 * US, false);
	return &t->s->b.qp.req.rtt;
}

static void check_samples(struct xfers *t, u64 most)
{
	const struct sroce_req *req = &t->s->b.qp.req;

	CHECK(req->rtt.srtt <= most);
	CHECK(req->cwnd.rtt <= most);
	CHECK(!sroce_cwnd_congested(&req->cwnd));
	CHECK_EQ(sroce_rtt_rto(&t->s->b.qp, 0), 200 * US);
}

static void samples(void)
{
	struct sroce_rtt *rtt;
	struct xfers t;
	u32 i;

	t_case("answer: the time of an answer is not that of the path");
	begin_samples(&t, 20);
	for (i = 0; i < 100; i++)
		own_message(&t, 300 * US, true);
	check_samples(&t, 12 * US);
	xfers_end(&t);

	t_case("answer: nor is that of an ACK that was held in vain");
	begin_samples(&t, 20);
	for (i = 0; i < 100; i++)
		own_message(&t, LATEST, false);
	check_samples(&t, 12 * US);
	xfers_end(&t);

	t_case("answer: nor of one that another message has sent");
	begin_samples(&t, 20);
	for (i = 0; i < 100; i++) {
		post(&t, 1, 0);
		sim_run_until(t.s, t.s->now + 300 * US);
		own_message(&t, 0, false);
	}
	check_samples(&t, 12 * US);
	xfers_end(&t);

	t_case("answer: but the other message is one");
	rtt = begin_samples(&t, 20);
	for (i = 1; i <= 100; i++) {
		post(&t, 1, 0);
		own_message(&t, i * 6 * US, false);
	}
	CHECK(rtt->srtt > 500 * US);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_PROBE), 0);
	xfers_end(&t);

	t_case("answer: all are where the peer sends no messages");
	rtt = begin_samples(&t, 20);
	t.s->b.qp.resp.msn = 0;
	for (i = 1; i <= 100; i++)
		own_message(&t, i * 6 * US, false);
	CHECK(rtt->srtt > 500 * US);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_PROBE), 0);
	xfers_end(&t);

	t_case("answer: a path that became slower is, and one that became faster");
	rtt = begin_samples(&t, 20);
	for (i = 0; i < 40; i++)
		own_message(&t, 100 * US, false);
	CHECK(rtt->srtt > 90 * US);
	for (i = 0; i < 40; i++)
		own_message(&t, 790 * US, true);
	CHECK(rtt->srtt > LATEST);
	for (i = 0; i < 80; i++)
		own_message(&t, 5 * US, true);
	CHECK(rtt->srtt < 10 * US);
	xfers_end(&t);

	t_case("answer: a lone READ has a response, and a lone WRITE may have to wait");
	rtt = begin_samples(&t, 20);
	post(&t, 1, 0);
	CHECK(rtt->sampling && rtt->lone);
	acked_by_peer(&t);
	sim_post(&t.s->b, &(struct sim_wr){
		.opcode = IB_WR_RDMA_READ, .num_sge = 1, .sge = { sim_sge(t.b, 0, 8) },
	});
	CHECK(rtt->sampling && !rtt->lone);
	xfers_end(&t);

	t_case("answer: where no ACK is held each sample counts");
	rtt = begin_samples(&t, 20);
	t.s->b.qp.ack_with_answer = false;
	for (i = 0; i < 40; i++)
		own_message(&t, 150 * US, true);
	CHECK(rtt->srtt > 120 * US);
	xfers_end(&t);
}

UNIT_TESTS(answer)
{
	streak();
	no_answer();
	in_time();
	seldom();
	next_request();
	exchange();
	never_held();
	nak_without_request();
	credits();
	long_answer();
	alone("without bytes", post_nothing, 0);
	alone("of several packets", post_long, 0);
	alone("that leave without trains", post_one, 1);
	states();
	patience();
	samples();
}
