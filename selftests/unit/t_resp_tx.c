// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What a responder sends, and in which order */

#include "tests.h"
#include "peer.h"

#define MANY	200	/* packets; more than one run of the task sends */

/* The last packet sent is an ACK, or a NAK, of this PSN. */
static void check_acked(u32 psn)
{
	CHECK(txlog.n);
	CHECK_EQ(txlog.p[txlog.n - 1].opcode, 0x11);
	CHECK_EQ(txlog.p[txlog.n - 1].psn, psn);
}

static void between_answers(void)
{
	struct xfers t;

	/* WRITE, FETCH_ADD, WRITE, READ, WRITE, FETCH_ADD; without bytes */
	t_case("resp_tx: the ACK of a duplicate does not overtake responses");
	peer_begin_resp(&t, 4);
	peer_ask(&t, 0x0a, FIRST, 0, 0, 0);
	peer_ask(&t, 0x14, FIRST + 1, 8, 8, 0);
	peer_ask(&t, 0x0a, FIRST + 2, 0, 0, 0);
	peer_ask(&t, 0x0c, FIRST + 3, 0, 2 * MTU, 0);
	peer_ask(&t, 0x0a, FIRST + 5, 0, 0, 0);
	peer_ask(&t, 0x14, FIRST + 6, 16, 8, 0);
	sim_run(t.s);
	peer_ask(&t, 0x0a, FIRST, 0, 0, 0);
	check_acked(FIRST);
	peer_ask(&t, 0x0a, FIRST + 2, 0, 0, 0);
	check_acked(FIRST + 2);
	/* nor does it have the PSN of a later response */
	peer_ask(&t, 0x0a, FIRST + 5, 0, 0, 0);
	check_acked(FIRST + 5);
	xfers_end(&t);

	t_case("resp_tx: a duplicate without later responses acknowledges all");
	peer_begin_resp(&t, 4);
	peer_ask(&t, 0x14, FIRST, 8, 8, 0);
	peer_ask(&t, 0x0a, FIRST + 1, 0, 0, 0);
	peer_ask(&t, 0x0a, FIRST + 2, 0, 0, 0);
	peer_ask(&t, 0x0a, FIRST + 1, 0, 0, 0);
	check_acked(FIRST + 2);
	xfers_end(&t);
}

/* Pending responses are sent before the NAK, and later requests are dropped. */
static void last_word(void)
{
	struct xfers t;

	t_case("resp_tx: a NAK waits for the READ before it");
	peer_begin_resp(&t, 1);
	peer_ask_read(&t, FIRST, 0, MANY * MTU);
	/* more READs than may be outstanding */
	peer_ask_read(&t, FIRST + MANY, 0, MTU);
	CHECK(t.s->b.qp.resp.closing);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
	peer_ask(&t, 0x14, FIRST + MANY, 0, 0, 0);
	sim_run(t.s);
	CHECK_EQ(txlog.n, MANY + 1);
	peer_read_sent(0, FIRST, MANY, MTU);
	CHECK_EQ(txlog.p[MANY].opcode, 0x11);
	CHECK_EQ(txlog.p[MANY].psn, FIRST + MANY);
	CHECK_EQ(txlog.p[MANY].syndrome, 0x61);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_INV_SENT), 1);
	CHECK(sim_filled(t.b, 0, 4096, 1));
	CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	xfers_end(&t);
}

/* They take a second, and the end of the connection must not. */
static void last_word_in_time(void)
{
	struct xfers t;

	t_case("resp_tx: a NAK that ends a connection doesn't wait for pages for long");
	peer_begin_resp(&t, 1);
	sim_buf_on_demand(t.b);
	t.s->page_delay = 1000 * SIM_MS;
	peer_ask_read(&t, FIRST, 0, MTU);
	peer_ask_read(&t, FIRST + 1, 0, MTU);
	CHECK(t.s->b.qp.resp.closing);
	sim_run_until(t.s, t.s->now + 50 * SIM_MS);
	CHECK_EQ(txlog.n, 0);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
	sim_run_until(t.s, t.s->now + 70 * SIM_MS);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(txlog.p[0].psn, FIRST + 1);
	CHECK_EQ(txlog.p[0].syndrome, 0x61);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	sim_run(t.s);
	CHECK_EQ(txlog.n, 1);
	xfers_end(&t);
}

/* The region of a READ is deregistered while responses are sent. */
static void read_revoked(void)
{
	struct xfers t;

	t_case("resp_tx: a region deregistered during a READ response");
	xfers_init(&t, NULL, 400000, 4096);
	t.s->task_delay = 10 * SIM_LATENCY;
	xfer_put(&t, IB_WR_RDMA_READ, 300000);
	xfers_put_writes(&t, 1);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, 5 * SIM_LATENCY);
	sim_buf_revoke(t.b);
	sim_run(t.s);
	xfers_check_failed(&t, 0, IB_WC_REM_ACCESS_ERR);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_ACC_SENT), 1);
	xfers_end(&t);
}

/* What the NAK does not acknowledge may not count as complete by its MSN. */
static void read_revoked_msn(void)
{
	struct xfers t;

	t_case("resp_tx: the MSN of a NAK counts what comes before the READ that it refuses");
	peer_begin_resp(&t, 4);
	peer_ask(&t, 0x0a, FIRST, 0, 0, 0);
	peer_ask_read(&t, FIRST + 1, 0, MANY * MTU);
	peer_ask(&t, 0x0a, FIRST + 1 + MANY, 0, 0, 0);
	CHECK_EQ(t.s->b.qp.resp.msn, 3);
	sim_buf_revoke(t.b);
	sim_run(t.s);
	CHECK(txlog.n > SROCE_TX_BUDGET && txlog.n < MANY);
	CHECK_EQ(txlog.p[txlog.n - 1].syndrome, 0x62);
	CHECK_EQ(txlog.p[txlog.n - 1].msn, 1);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	xfers_end(&t);
}

/* Two reordered requests are received before the QP runs. */
static void overtaken(void)
{
	struct sim_packet *p[2];
	struct xfers t;
	u32 i;

	t_case("resp_tx: no NAK for a gap that is filled before it is sent");
	peer_begin_resp(&t, 4);
	for (i = 0; i < 2; i++)
		/* WRITE of nothing */
		p[i] = sim_forge(&t.s->a, &(struct sroce_pkt){
			.opcode = 10, .pkey = 0xffff, .qpn = t.s->b.qp.qpn,
			.psn = FIRST + i, .ackreq = true,
		}, NULL);
	sim_deliver_two(t.s, p[1], p[0]);
	sim_run_until(t.s, t.s->now + SIM_MS);
	CHECK_EQ(t.s->b.qp.resp.psn, FIRST + 2);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(txlog.p[0].psn, FIRST + 1);
	CHECK_EQ(txlog.p[0].syndrome & SROCE_AETH_TYPE, 0);
	xfers_end(&t);
}

/* A packet of a SEND, which asks for an ACK, arrives. */
static void send_arrives(struct xfers *t, u8 opcode)
{
	static const u8 data[MTU];

	xfers_forge(t, &(struct sroce_pkt){
		.opcode = opcode, .ackreq = true, .payload_len = MTU,
	}, data);
}

/* The MSN doesn't count the message in progress, so the credits must. */
static void credits_in_message(void)
{
	struct ib_sge sge;
	struct xfers t;

	t_case("resp_tx: the receive of the message in progress is a credit");
	peer_begin_resp(&t, 1);
	sge = sim_sge(t.b, 0, 3 * MTU);
	sim_put_recv(&t.s->b, 1, &sge, 1);
	send_arrives(&t, 0x00);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(txlog.p[0].syndrome, 1);
	send_arrives(&t, 0x01);
	CHECK_EQ(txlog.p[1].syndrome, 1);
	send_arrives(&t, 0x02);
	CHECK_EQ(t.s->b.qp.resp.msn, 1);
	CHECK_EQ(txlog.p[2].syndrome, 0);
	CHECK_EQ(t.s->b.rcq.n, 1);
	xfers_end(&t);
}

/* A READ whose pages take longer than all timeouts, alone and between other requests */
static void patient_read(bool others)
{
	struct xfers t;

	t_case("resp_tx: a READ whose pages take long gets RNR NAKs%s",
	       others ? ", what is before it an ACK" : "");
	xfers_init_odp(&t, XFER_REMOTE, false);
	t.s->train = 16;
	t.s->a.qp.attr.timeout = 14;
	t.s->page_delay = 2000 * SIM_MS;
	if (others)
		xfer_put(&t, IB_WR_RDMA_WRITE, 0);
	xfer_put(&t, IB_WR_RDMA_READ, 20000);
	if (others)
		xfer_put(&t, IB_WR_RDMA_WRITE, 0);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + 500 * SIM_MS);
	CHECK_EQ(t.s->a.scq.n, others);
	xfers_run(&t);
	CHECK(sim_count(&t.s->b, SROCE_CNT_RNR_SENT) > 1);
	xfers_finish(&t);
}

/* The first response is lost, and with it the pages that it is from. */
static int lose_with_pages(struct sim *s, struct sim_packet *p)
{
	struct xfers *t = s->arg;

	if (!sim_is_response(p) || sim_psn(p) != FIRST)
		return 1;
	sim_buf_evict_all(t->b);
	s->page_delay = 10000 * SIM_MS;
	s->wire = NULL;
	return 0;
}

/* A READ is answered again, from pages that take longer than all timeouts. */
static void patient_replay(const char *others, u32 opcode, u32 len)
{
	struct xfers t;

	t_case("resp_tx: pages may take long when a READ is answered again%s", others);
	xfers_init_odp(&t, XFER_REMOTE, false);
	t.s->a.qp.attr.timeout = 14;
	t.s->wire = lose_with_pages;
	t.s->arg = &t;
	xfer_put(&t, IB_WR_RDMA_READ, 200);
	if (*others)
		xfer_put(&t, opcode, len);
	xfers_run(&t);
	CHECK(sim_count(&t.s->b, SROCE_CNT_RNR_SENT) > 1);
	xfers_finish(&t);
}

/* Pages that have come are gone again before they are used, so many times. */
static void evict_again(struct sim *s)
{
	struct xfers *t = s->arg;

	if (!t->n--)
		s->evict = NULL;
	else
		sim_buf_evict_all(t->b);
}

static void fleeting_pages(u32 opcode)
{
	struct xfers t, left;

	t_case("resp_tx: pages of a %s that come and go again count as pages that take long",
	       xfer_name(opcode));
	xfers_init_odp(&t, XFER_REMOTE, false);
	t.s->a.qp.attr.retry_cnt = 1;
	t.s->a.qp.req.retries = 1;
	t.s->a.qp.attr.timeout = 14;
	t.s->page_delay = 20 * SIM_MS;
	xfer_put(&t, opcode, 200);
	left = t;
	left.n = 40;
	t.s->evict = evict_again;
	t.s->arg = &left;
	xfers_run(&t);
	CHECK(!t.s->evict);
	CHECK(sim_count(&t.s->b, SROCE_CNT_RNR_SENT) > 1);
	xfers_finish(&t);
}

/* What takes no receive may be sent by a QP that allows few RNR NAKs. */
static void few_rnr(u32 opcode, u32 len, u8 retries, u32 ms)
{
	struct xfers t;

	t_case("resp_tx: a %s with %u RNR retries survives pages that take %u ms",
	       xfer_name(opcode), retries, ms);
	xfers_init_odp(&t, XFER_REMOTE, false);
	t.s->a.qp.attr.timeout = 14;
	t.s->a.qp.attr.rnr_retry = retries;
	t.s->a.qp.req.rnr_retries = retries;
	t.s->b.qp.attr.min_rnr_timer = 1;
	t.s->page_delay = ms * SIM_MS;
	xfer_put(&t, opcode, len);
	xfers_run(&t);
	CHECK_EQ(!!sim_count(&t.s->b, SROCE_CNT_RNR_SENT), retries > 0);
	xfers_finish(&t);
}

/* Its response is lost, and what follows it acknowledged. Then another READ waits for pages. */
static void older_read(void)
{
	struct xfer_loss loss = { .responses = true, .p = { { 1000, 2 } } };
	struct sim_buf *pinned, *mine;
	struct xfers t;

	t_case("resp_tx: a READ is answered again while a later one waits for pages");
	xfers_init_odp(&t, XFER_REMOTE, false);
	t.s->a.qp.attr.retry_cnt = 3;
	t.s->a.qp.req.retries = 3;
	t.s->a.qp.attr.timeout = 14;
	t.s->page_delay = 1000 * SIM_MS;
	t.s->wire = xfer_lose;
	t.s->arg = &loss;
	mine = sim_buf_new(t.s, 0x10000000, 65536, 4096, IB_ACCESS_LOCAL_WRITE);
	pinned = sim_buf_new(t.s, 0x20000000, 65536, 4096, IB_ACCESS_REMOTE_READ |
			     IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE);
	xfer_put_other(&t, IB_WR_RDMA_READ, 0, mine, &pinned->mr, 1024);
	xfer_put_other(&t, IB_WR_RDMA_WRITE, 1, mine, &pinned->mr, 1024);
	sim_doorbell(&t.s->a);
	while (t.s->a.qp.req.acked != 1002 && sim_step(t.s))
		;
	xfer_put_other(&t, IB_WR_RDMA_READ, 2, mine, &t.b->mr, 1024);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + 500 * SIM_MS);
	CHECK_EQ(t.s->a.scq.n, 2);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[2].status, IB_WC_SUCCESS);
	xfers_end(&t);
}

/* The first response is late, and the pages that it is from are gone. */
static int late_with_pages(struct sim *s, struct sim_packet *p)
{
	int there = lose_with_pages(s, p);

	if (!there)
		p->when += 40 * SIM_MS;
	return 1;
}

/* Its response was late, so it is to be answered again from pages that don't come. */
static void wanted_no_more(u32 opcode, u32 depth)
{
	struct sim_buf *pinned, *mine;
	struct xfers t;

	t_case("resp_tx: a replay that nobody wants does not hold up a %s, %u resources",
	       xfer_name(opcode), depth);
	xfers_init_odp(&t, XFER_REMOTE, false);
	peer_resize(&t, depth);
	t.s->a.qp.attr.max_rd_atomic = depth;
	t.s->a.qp.attr.timeout = 14;
	t.s->wire = late_with_pages;
	t.s->arg = &t;
	mine = sim_buf_new(t.s, 0x10000000, 65536, 4096, IB_ACCESS_LOCAL_WRITE);
	pinned = sim_buf_new(t.s, 0x20000000, 65536, 4096, IB_ACCESS_REMOTE_READ |
			     IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE);
	xfer_put_other(&t, IB_WR_RDMA_READ, 0, mine, &t.b->mr, 200);
	sim_doorbell(&t.s->a);
	while (!t.s->a.scq.n && sim_step(t.s))
		;
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_READ_REPLAY), 1);
	xfer_put_other(&t, opcode, 1, mine, &pinned->mr, 200);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, t.s->now + 500 * SIM_MS);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_SUCCESS);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RNR_SENT), 0);
	xfers_end(&t);
}

static void older_wanted(void)
{
	struct xfers t;

	t_case("resp_tx: a replay that waits for pages does not hold up that of an older READ");
	peer_begin_resp(&t, 4);
	sim_buf_on_demand(t.b);
	peer_ask_read(&t, FIRST, 0, MTU);
	sim_run(t.s);
	peer_ask_read(&t, FIRST + 1, 32768, MTU);
	sim_run(t.s);
	CHECK_EQ(txlog.n, 2);
	sim_buf_evict(t.b, 32768 / 4096);
	t.s->page_delay = 1000 * SIM_MS;
	peer_ask_read(&t, FIRST + 1, 32768, MTU);
	CHECK_EQ(txlog.n, 2);
	peer_ask_read(&t, FIRST, 0, MTU);
	CHECK_EQ(txlog.n, 3);
	peer_read_sent(2, FIRST, 1, MTU);
	sim_run(t.s);
	xfers_end(&t);
}

static void all_wanted(void)
{
	struct xfers t;
	u32 i;

	t_case("resp_tx: of READs asked for in turn, the first gets RNR NAKs if pages take long");
	peer_begin_resp(&t, 4);
	sim_buf_on_demand(t.b);
	for (i = 0; i < 3; i++) {
		peer_ask_read(&t, FIRST + i, i * 16384, MTU);
		sim_run(t.s);
	}
	CHECK_EQ(txlog.n, 3);
	sim_buf_evict(t.b, 0);
	t.s->page_delay = 1000 * SIM_MS;
	for (i = 0; i < 18; i++) {
		peer_ask_read(&t, FIRST + i % 3, i % 3 * 16384, MTU);
		if (i % 3 == 2)
			sim_run_until(t.s, t.s->now + 30 * SIM_MS);
	}
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RNR_SENT), 2);
	CHECK_EQ(txlog.n, 3 + 2);
	sim_run(t.s);
	xfers_end(&t);
}

/* The gap is filled while the transmit queue is full. */
static void stale_nak(void)
{
	struct xfers t;
	u32 i;

	t_case("resp_tx: the NAK of a gap that READs have filled is not sent");
	peer_begin_resp(&t, 8);
	t.s->tx_room = peer_no_room;
	peer_ask_read(&t, 1000, 0, MTU);
	peer_ask_read(&t, 1002, MTU, MTU);
	peer_ask_read(&t, 1001, 2 * MTU, MTU);
	t.s->tx_room = NULL;
	sim_doorbell(&t.s->b);
	CHECK_EQ(txlog.n, 3);
	for (i = 0; i < txlog.n; i++)
		CHECK_EQ(txlog.p[i].opcode, SROCE_OP_READ_ONLY);
	xfers_end(&t);
}

/* A WRITE that asks for an ACK, and a packet that is @ahead of it, in one trip */
static void behind_gap(struct xfers *t, u32 ahead)
{
	struct sroce_pkt last = {
		.opcode = 0x0a, .pkey = 0xffff, .psn = FIRST, .ackreq = true,
	}, early = last;

	peer_begin_resp(t, 1);
	last.qpn = t->s->b.qp.qpn;
	early.qpn = last.qpn;
	early.psn += ahead;
	sim_deliver_two(t->s, sim_forge(&t->s->a, &last, NULL), sim_forge(&t->s->a, &early, NULL));
	CHECK_EQ(txlog.p[txlog.n - 1].psn, FIRST + 1);
	CHECK_EQ(txlog.p[txlog.n - 1].syndrome, GAP);
}

/* The peer may have sent no more than the WRITE, so it takes the NAK for that of a ghost. */
static void forged_gap(void)
{
	struct xfers t;

	t_case("resp_tx: a packet from nowhere does not take the peer's ACK away");
	behind_gap(&t, 1 << 20);
	CHECK_EQ(txlog.n, 2);
	CHECK_EQ(txlog.p[0].psn, FIRST);
	CHECK_EQ(txlog.p[0].syndrome & SROCE_AETH_TYPE, SROCE_AETH_ACK);
	xfers_end(&t);

	t_case("resp_tx: where packets are kept behind a gap the NAK of it goes alone");
	behind_gap(&t, 2);
	CHECK_EQ(t.s->b.qp.resp.ofo_len, 1);
	CHECK_EQ(txlog.n, 1);
	xfers_end(&t);
}

UNIT_TESTS(resp_tx)
{
	forged_gap();
	between_answers();
	last_word();
	last_word_in_time();
	read_revoked();
	read_revoked_msn();
	overtaken();
	credits_in_message();
	stale_nak();
	patient_read(false);
	patient_read(true);
	patient_replay("", 0, 0);
	patient_replay(", and a WRITE behind it was executed", IB_WR_RDMA_WRITE, 0);
	patient_replay(", and a READ behind it was answered", IB_WR_RDMA_READ, 200);
	fleeting_pages(IB_WR_RDMA_READ);
	fleeting_pages(IB_WR_RDMA_WRITE);
	older_read();
	few_rnr(IB_WR_RDMA_READ, 20000, 0, 90);
	few_rnr(IB_WR_RDMA_READ, 20000, 3, 200);
	few_rnr(IB_WR_RDMA_WRITE, 1000, 0, 90);
	few_rnr(IB_WR_RDMA_WRITE, 1000, 3, 200);
	few_rnr(IB_WR_ATOMIC_FETCH_AND_ADD, 8, 0, 90);
	few_rnr(IB_WR_ATOMIC_FETCH_AND_ADD, 8, 3, 200);
	older_wanted();
	all_wanted();
	for (u32 depth = 1; depth <= 4; depth += 3) {
		wanted_no_more(IB_WR_RDMA_READ, depth);
		wanted_no_more(IB_WR_RDMA_WRITE, depth);
	}
}
