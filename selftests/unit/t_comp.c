// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Requests that are put off, or refused, behind a READ whose responses are lost */

#include "tests.h"
#include "peer.h"

/* Nothing is sent before the time that the peer asked for, and then this. */
static void check_put_off(struct xfers *t, u32 psn, u32 packets)
{
	u32 n = tape.n;

	CHECK(t->s->a.qp.req.rnr_wait);
	sim_run_until(t->s, t->s->now + 70000);
	CHECK_EQ(tape.n, n);
	sim_run_until(t->s, t->s->now + 20000);
	CHECK(!t->s->a.qp.req.rnr_wait);
	CHECK_EQ(tape.n, n + 1);
	CHECK_EQ(tape.p[n].opcode, 0x0c);
	CHECK_EQ(tape.p[n].psn, psn);
	CHECK_EQ(tape.p[n].length, packets * MTU);
}

/* As from hardware whose pages are not in memory yet */
static void read_put_off(void)
{
	struct xfers t;

	t_case("put off: not ready for a READ, of which nothing has come");
	peer_begin(&t);
	xfer_put(&t, IB_WR_RDMA_READ, 4 * MTU);
	peer_go(&t);
	peer_ack(&t, FIRST + 1, RNR);
	check_put_off(&t, FIRST, 4);

	t_case("put off: not ready for the rest of a READ, twice");
	peer_hear(&t, 0x0d, FIRST, ACK, MTU);
	peer_ack(&t, FIRST + 1, RNR);
	check_put_off(&t, FIRST + 1, 3);
	peer_ack(&t, FIRST + 1, RNR);
	check_put_off(&t, FIRST + 1, 3);
	peer_hear(&t, 0x0d, FIRST + 1, ACK, MTU);
	peer_hear(&t, 0x0e, FIRST + 2, 0, MTU);

	t_case("put off: a READ is put off, and all that follows it with it");
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	peer_go(&t);
	tape.n = 0;
	peer_ack(&t, FIRST + 3, RNR);
	sim_run_until(t.s, t.s->now + 90000);
	CHECK_EQ(tape.n, 2);
	CHECK_EQ(tape.p[0].psn, FIRST + 3);
	CHECK_EQ(tape.p[1].psn, FIRST + 4);

	t_case("put off: a response that is here was not put off");
	peer_ack(&t, FIRST + 2, RNR);
	CHECK(!t.s->a.qp.req.rnr_wait);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RNR_RCVD), 4);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_ACK_DUP), 1);
	peer_hear(&t, 0x0f, FIRST + 3, ACK, MTU);
	peer_ack(&t, FIRST + 4, ACK);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK(sroce_sq_sched_idle(&t.s->a.qp));
	xfers_end(&t);
}

/* All that the oldest READ, one of two packets, has asked for */
static void read_comes(struct xfers *t)
{
	peer_hear(t, 0x0d, FIRST, ACK, MTU);
	peer_hear(t, 0x0f, FIRST + 1, ACK, MTU);
}

/* What lacks is of an older READ, and what was asked for again is lost as well. */
static void put_off_behind_hole(void)
{
	struct xfers t;

	t_case("put off: not ready for the rest of a READ, and one before it lacks");
	peer_begin(&t);
	xfer_put(&t, IB_WR_RDMA_READ, 2 * MTU);
	xfer_put(&t, IB_WR_RDMA_READ, 4 * MTU);
	peer_go(&t);
	peer_hear(&t, 0x0d, FIRST + 2, ACK, MTU);
	peer_sent(2, FIRST, 1);
	peer_ack(&t, FIRST + 4, RNR);
	peer_sent(3, FIRST + 3, 1);
	check_put_off(&t, FIRST + 4, 2);
	read_comes(&t);
	peer_hear(&t, 0x10, FIRST + 3, ACK, MTU);
	peer_hear(&t, 0x0d, FIRST + 4, ACK, MTU);
	peer_hear(&t, 0x0f, FIRST + 5, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK(sroce_sq_sched_idle(&t.s->a.qp));
	xfers_end(&t);
}

/* Nobody probes, no timer helps, and the first RNR NAK is the last. */
static void begin_without_retries(struct xfers *t)
{
	struct sim_cfg cfg = sim_default;

	cfg.timeout = 0;
	cfg.retry_cnt = 0;
	cfg.rnr_retry = 0;
	peer_begin_with(t, &cfg, 65536);
}

/*
 * A READ, the response to which is lost, a SEND that finds no receive, and a WRITE; or
 * another READ instead of them
 */
static void begin_exhausted(struct xfers *t, u32 reads)
{
	struct sim_wr wr;

	begin_without_retries(t);
	xfer_put(t, IB_WR_RDMA_READ, 2 * MTU);
	if (reads == 2) {
		xfer_put(t, IB_WR_RDMA_READ, 2 * MTU);
	} else {
		wr = xfer_make(t, IB_WR_SEND, MTU);
		sim_put_send(&t->s->a, &wr);
		xfer_put(t, IB_WR_RDMA_WRITE, MTU);
	}
	peer_go(t);
	tape.n = 0;
	peer_ack(t, FIRST + 2, RNR);
	CHECK_EQ(sim_count(&t->s->a, SROCE_CNT_RNR_RETRY_EXC), 1);
	CHECK_EQ(t->s->a.scq.n, 0);
	/* the first READ is asked for again */
	peer_sent(0, FIRST, 1);
}

static void exhausted_behind_read(void)
{
	struct xfers t;

	t_case("put off: no RNR retries left fails the SEND, not the READ before it");
	begin_exhausted(&t, 1);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	peer_go(&t);
	CHECK_EQ(tape.n, 1);
	peer_ack(&t, FIRST + 2, RNR);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RNR_RETRY_EXC), 1);
	peer_hear(&t, 0x0d, FIRST, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 0);
	peer_hear(&t, 0x0f, FIRST + 1, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 4);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_RNR_RETRY_EXC_ERR);
	CHECK_EQ(t.s->a.scq.e[2].status, IB_WC_WR_FLUSH_ERR);
	xfers_end(&t);

	t_case("put off: an older READ is refused while the SEND after it has failed");
	begin_exhausted(&t, 1);
	peer_ack(&t, FIRST + 1, 0x62);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_REM_ACCESS_ERR);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_WR_FLUSH_ERR);
	xfers_end(&t);

	t_case("put off: an older READ is put off while the SEND after it has failed");
	begin_exhausted(&t, 1);
	peer_hear(&t, 0x0d, FIRST, ACK, MTU);
	peer_ack(&t, FIRST + 1, RNR);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_RNR_RETRY_EXC_ERR);
	xfers_end(&t);
}

/* No RNR retries left for a SEND, but a copy of it was received. */
static void better_luck(void)
{
	struct xfers t;

	t_case("put off: no RNR retries left, but the SEND has come another time");
	begin_exhausted(&t, 1);
	peer_ack(&t, FIRST + 2, ACK);
	/* what was sent after it may have been dropped */
	peer_sent(1, FIRST + 3, 1);
	read_comes(&t);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_SUCCESS);
	peer_ack(&t, FIRST + 3, ACK);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK(sroce_sq_sched_idle(&t.s->a.qp));
	xfers_end(&t);

	t_case("put off: so it has, and what follows is lacking");
	begin_exhausted(&t, 1);
	peer_ack(&t, FIRST + 3, GAP);
	peer_sent(1, FIRST + 3, 1);
	peer_ack(&t, FIRST + 3, ACK);
	read_comes(&t);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK(sroce_sq_sched_idle(&t.s->a.qp));
	xfers_end(&t);

	t_case("put off: so it has, and what follows is refused");
	begin_exhausted(&t, 1);
	peer_ack(&t, FIRST + 3, 0x62);
	read_comes(&t);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->a.scq.e[2].status, IB_WC_REM_ACCESS_ERR);
	xfers_end(&t);

	t_case("put off: no RNR retries left for a READ, but it was executed");
	begin_exhausted(&t, 2);
	peer_hear(&t, 0x0f, FIRST + 3, ACK, MTU);
	read_comes(&t);
	CHECK_EQ(t.s->a.scq.n, 1);
	peer_hear(&t, 0x0d, FIRST + 2, ACK, MTU);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_RTS);
	xfers_end(&t);
}

/* Nothing of it has come, and nothing need come any more. */
static void read_refused_midway(u8 syndrome, enum ib_wc_status status)
{
	struct xfers t;

	t_case("put off: refuses half a READ, and the other half is lost: %u", status);
	begin_without_retries(&t);
	xfer_put(&t, IB_WR_RDMA_READ, 2 * MTU);
	sim_doorbell(&t.s->a);
	peer_ack(&t, FIRST + 1, syndrome);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, status);
	xfers_end(&t);
}

/* Who has nothing more to send has nothing to measure a round trip by. */
static void nothing_behind(void)
{
	struct sroce_req *req;
	struct xfers t;

	t_case("put off: a READ that was put off is no measure of what is sent later");
	peer_begin(&t);
	req = &t.s->a.qp.req;
	req->retrans.gap_policy = SROCE_GAP_KEEPS;
	xfer_put(&t, IB_WR_RDMA_READ, 2 * MTU);
	peer_go(&t);
	peer_hear(&t, 0x0d, FIRST, ACK, MTU);
	peer_ack(&t, FIRST + 1, RNR);
	sim_run_until(t.s, t.s->now + 90000);
	peer_hear(&t, 0x0f, FIRST + 1, ACK, MTU);
	sim_run_until(t.s, t.s->now + 1000 * SIM_MS);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	peer_go(&t);
	peer_ack(&t, FIRST + 2, ACK);
	CHECK(req->rtt.srtt < SIM_MS);
	xfers_end(&t);
}

/* It was ready, and then had no room for what came: no probe asks without retries. */
static void lacking_after_rnr(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("put off: lacks what was sent again after an RNR wait, without retries");
	cfg.retry_cnt = 0;
	peer_begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_WRITE, MTU);
	peer_go(&t);
	peer_ack(&t, FIRST, RNR);
	sim_run_until(t.s, t.s->now + 90000);
	peer_sent(1, FIRST, 1);
	peer_ack(&t, FIRST, GAP);
	peer_sent(2, FIRST, 1);
	/* once */
	peer_ack(&t, FIRST, GAP);
	CHECK_EQ(tape.n, 3);
	peer_ack(&t, FIRST, ACK);
	CHECK_EQ(t.s->a.scq.n, 1);
	xfers_end(&t);
}

UNIT_TESTS(comp)
{
	read_put_off();
	put_off_behind_hole();
	exhausted_behind_read();
	better_luck();
	nothing_behind();
	lacking_after_rnr();
	read_refused_midway(RNR, IB_WC_RNR_RETRY_EXC_ERR);
	read_refused_midway(0x62, IB_WC_REM_ACCESS_ERR);
}
