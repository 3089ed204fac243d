// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* READ responses that are asked for again */

#include "tests.h"
#include "peer.h"

#define MANY	200	/* packets; more than one run of the task sends */

/* The first responses of a READ don't tell whether the rest is lost or late. */
static void silent_read(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("read_retry: the peer stops in the middle of a READ: one response is asked for");
	cfg.timeout = 14;
	peer_begin_with(&t, &cfg, 65536);
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

UNIT_TESTS(read_retry)
{
	silent_read();
	slow_read();
	long_read();
	long_read_partly();
	asked_often();
	implied();
}
