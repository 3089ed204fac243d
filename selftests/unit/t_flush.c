// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* RC when something is wrong: receiver not ready, lost peers, bad requests */

#include <stdlib.h>
#include "tests.h"
#include "xfer.h"

/* Work that came after the one that failed, and is flushed */
static void put_more(struct xfers *t, u32 n)
{
	while (n--)
		xfer_put(t, IB_WR_RDMA_WRITE, 2000);
}

/* @at succeeded before; then @status; all after it is flushed, in order. */
static void check_failed(const struct xfers *t, u32 at, enum ib_wc_status status)
{
	const struct sroce_cq *cq = &t->s->a.scq;
	u32 i;

	CHECK_EQ(cq->n, t->n);
	for (i = 0; i < cq->n && i < t->n; i++) {
		CHECK_EQ(cq->e[i].wr_id, i);
		CHECK_EQ(cq->e[i].status, i < at ? IB_WC_SUCCESS : i == at ?
			 status : IB_WC_WR_FLUSH_ERR);
	}
	CHECK_EQ(t->s->a.qp.state, IB_QPS_ERR);
	CHECK_EQ(sim_count(&t->s->a, SROCE_CNT_WC_ERROR), 1);
	CHECK_EQ(sim_count(&t->s->a, SROCE_CNT_WC_FLUSH), t->n - at - 1);
	xfers_check_data(t, at);
}

/* B went to the error state and flushed its receives. */
static void check_refused(const struct xfers *t, u32 flushed)
{
	const struct sroce_cq *cq = &t->s->b.rcq;
	u32 i, n = 0;

	CHECK_EQ(t->s->b.qp.state, IB_QPS_ERR);
	for (i = 0; i < cq->n; i++)
		n += cq->e[i].status == IB_WC_WR_FLUSH_ERR;
	CHECK_EQ(n, flushed);
	CHECK_EQ(sroce_ring_filled(&t->s->b.qp.rq.ring), 0);
}

static void rnr_then_success(void)
{
	static const u32 ops[] = {
		IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE_WITH_IMM
	};
	struct sim_wr wr;
	struct xfers t;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		t_case("errors: %s before its receive is posted, then posted",
		       xfer_name(ops[i]));
		for (k = 0; k < 2; k++) {
			xfers_init(&t, NULL, 65536, 4096);
			xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
			wr = xfer_make(&t, ops[i], k ? 3000 : 0);
			sim_put_send(&t.s->a, &wr);
			xfer_put(&t, IB_WR_RDMA_READ, 3000);
			sim_doorbell(&t.s->a);
			sim_run_until(t.s, SIM_MS);
			CHECK_EQ(t.s->a.scq.n, 1);
			CHECK(sim_count(&t.s->b, SROCE_CNT_RNR_SENT) > 10);
			CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RNR_SENT),
				 sim_count(&t.s->a, SROCE_CNT_RNR_RCVD));
			CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
			xfer_recv(&t, 1);
			sim_run(t.s);
			xfers_check(&t);
			xfers_end(&t);
		}
	}
}

static void rnr_exhausted(u32 retries)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct xfers t;

	t_case("errors: no receive for %u retries", retries);
	cfg.rnr_retry = retries;
	xfers_init(&t, &cfg, 65536, 4096);
	xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
	wr = xfer_make(&t, IB_WR_SEND, 3000);
	sim_put_send(&t.s->a, &wr);
	put_more(&t, 3);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	check_failed(&t, 1, IB_WC_RNR_RETRY_EXC_ERR);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RNR_SENT), retries + 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RNR_RETRY_EXC), 1);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
	xfers_end(&t);
}

/* The delay that the responder asks for is kept. */
static void rnr_delay(void)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct xfers t;
	u64 start;

	t_case("errors: the RNR delay is kept");
	cfg.min_rnr_timer = 14;		/* 1.28 ms, table 46 */
	xfers_init(&t, &cfg, 4096, 4096);
	wr = xfer_make(&t, IB_WR_SEND, 10);
	start = t.s->now;
	sim_post(&t.s->a, &wr);
	sim_run_until(t.s, start + 1270000);
	CHECK_EQ(t.s->sent, 2);
	sim_run_until(t.s, start + 1290000);
	CHECK_EQ(t.s->sent, 4);
	xfer_recv(&t, 0);
	sim_run(t.s);
	xfers_check(&t);
	xfers_end(&t);
}

/*
 * Receives one by one, after RNR waits; ATOMIC acks in between move things on
 * while what follows is refused. Each wait ends with a packet, without timers.
 */
static void rnr_again(u32 ops)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct xfers t;
	u32 i;

	t_case("errors: %u times RNR, an atomic before each", ops);
	cfg.retry_cnt = 0;
	cfg.timeout = 14;
	cfg.min_rnr_timer = 8;
	xfers_init(&t, &cfg, 65536, 4096);
	for (i = 0; i < ops; i++) {
		wr = xfer_make(&t, IB_WR_RDMA_WRITE_WITH_IMM, 3000);
		sim_put_send(&t.s->a, &wr);
		xfer_put(&t, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
	}
	sim_doorbell(&t.s->a);
	for (i = 0; i < ops; i++) {
		sim_run_until(t.s, (i + 1) * SIM_MS);
		xfer_recv(&t, 2 * i);
	}
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_end(&t);
}

/* What is to be sent again can't be read any more: an error, without a timer. */
static void rnr_then_gone(void)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct xfers t;

	t_case("errors: memory deregistered while the peer isn't ready");
	cfg.timeout = 0;
	cfg.min_rnr_timer = 8;
	xfers_init(&t, &cfg, 4096, 4096);
	wr = xfer_make(&t, IB_WR_SEND, 10);
	sim_post(&t.s->a, &wr);
	sim_run_until(t.s, 10 * SIM_LATENCY);
	CHECK(t.s->a.qp.req.rnr_wait);
	sim_buf_revoke(t.a);
	sim_run_until(t.s, SIM_MS);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_LOC_PROT_ERR);
	xfers_end(&t);
}

static int cut(struct sim *s, struct sim_packet *p)
{
	(void)p;
	return s->now < *(u64 *)s->arg;
}

static void peer_gone(u32 retries)
{
	struct sim_cfg cfg = sim_default;
	u64 never = 0, start;
	struct xfers t;

	t_case("errors: the peer is silent for %u retries", retries);
	cfg.retry_cnt = retries;
	xfers_init(&t, &cfg, 65536, 4096);
	t.s->wire = cut;
	t.s->arg = &never;
	xfer_put(&t, IB_WR_SEND, 10);
	start = t.s->now;
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	check_failed(&t, 0, IB_WC_RETRY_EXC_ERR);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), retries + 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT),
		 retries + sim_count(&t.s->a, SROCE_CNT_PROBE));
	CHECK_EQ(t.s->sent, 1 + sim_count(&t.s->a, SROCE_CNT_RETRANSMIT));
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE) > 0, retries > 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRY_EXC), 1);
	/* 9.7.6.1.3: not before the timeout, and not after four times that */
	CHECK(t.s->now - start >= (retries + 1) * (4096ULL << 8));
	CHECK(t.s->now - start <= 4 * (retries + 1) * (4096ULL << 8));
	xfers_end(&t);
}

/*
 * Where timers are @percent of the timeout late the answer may be late as well: that is
 * not the peer's fault, unless it goes on.
 */
static void held_up(u32 percent, u32 timeouts)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u64 never = 0;

	t_case("errors: the peer is silent, and timers are %u %% late", percent);
	cfg.retry_cnt = 1;
	xfers_init(&t, &cfg, 65536, 4096);
	t.s->timer_late = (4096ULL << 8) * percent / 100;
	t.s->wire = cut;
	t.s->arg = &never;
	xfer_put(&t, IB_WR_SEND, 10);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	check_failed(&t, 0, IB_WC_RETRY_EXC_ERR);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), timeouts);
	xfers_end(&t);
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
 * For the packets of a large window the peer needs many timeouts. Nothing is lost, and who
 * has heard that it is slow gives it no more than it can do in time.
 */
static void peer_is_slow(u32 us)
{
	struct busy busy = { .take = us * 1000 };
	u32 first;
	struct xfers t;

	t_case("errors: a peer that needs %u us for a packet is not given up", us);
	xfers_init(&t, NULL, 3100000, 4096);
	t.s->wire = takes_long;
	t.s->arg = &busy;
	t.s->train = SROCE_TX_BUDGET;
	t.s->kick_delay = SIM_LATENCY;
	xfer_put(&t, IB_WR_RDMA_WRITE, 1500000);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	first = sim_count(&t.s->a, SROCE_CNT_TIMEOUT);
	xfer_put(&t, IB_WR_RDMA_WRITE, 1500000);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	/* that is found out once */
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), first);
	xfers_end(&t);
}

static void peer_goes_midway(void)
{
	u64 when = 5 * SIM_LATENCY;
	struct xfers t;

	t_case("errors: the peer goes in the middle of a stream");
	xfers_init(&t, NULL, 1100000, 4096);
	put_more(&t, 2);
	xfer_put(&t, IB_WR_RDMA_READ, 1000 * 1024);
	put_more(&t, 3);
	t.s->wire = cut;
	t.s->arg = &when;
	t.s->kick_delay = 5 * SIM_LATENCY;
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	check_failed(&t, 2, IB_WC_RETRY_EXC_ERR);
	xfers_end(&t);
}

enum wrong {
	KEY, RANGE_END, RANGE_START, WRAP, RIGHTS, GONE,
};

static void spoil(struct xfers *t, struct sim_wr *wr, enum wrong how)
{
	switch (how) {
	case KEY:
		wr->rkey ^= 1;
		break;
	case RANGE_END:
		wr->remote_addr = t->b->mr.iova + t->b->mr.length - 1999;
		break;
	case RANGE_START:
		wr->remote_addr = t->b->mr.iova - 8;
		break;
	case WRAP:
		wr->remote_addr = ~0ULL - 7;
		break;
	case RIGHTS:
		t->b->mr.access = IB_ACCESS_LOCAL_WRITE;
		break;
	case GONE:
		sim_buf_revoke(t->b);
		break;
	}
}

static void bad_remote(u32 opcode, enum wrong how)
{
	struct ib_sge sge;
	struct sim_wr wr;
	struct xfers t;
	u32 i;

	t_where("%s, %d", xfer_name(opcode), how);
	xfers_init(&t, NULL, 65536, 4096);
	xfer_put(&t, IB_WR_SEND, 3000);
	wr = xfer_make(&t, opcode, 2000);
	if (xfer_recvs(opcode))
		xfer_recv(&t, 1);
	spoil(&t, &wr, how);
	/* the SEND before needs its receive to be writable */
	if (how == GONE) {
		sim_doorbell(&t.s->a);
		t.b->mr.key = 0;
	}
	sim_put_send(&t.s->a, &wr);
	for (i = 0; i < 3; i++) {
		sge = sim_sge(t.b, t.off + 100 * i, 100);
		sim_put_recv(&t.s->b, 2000 + i, &sge, 1);
	}
	put_more(&t, 3);
	if (how == GONE)
		t.b->mr.key = t.b->mr.ibmr.lkey;
	sim_doorbell(&t.s->a);
	if (how == GONE) {
		sim_run_until(t.s, t.s->now + 1);
		sim_buf_revoke(t.b);
	}
	sim_run(t.s);
	if (how != GONE) {
		check_failed(&t, 1, IB_WC_REM_ACCESS_ERR);
		check_refused(&t, 3 + xfer_recvs(opcode));
		CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_ACC_SENT), 1);
		CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_NAK_FATAL_RCVD), 1);
		CHECK(t.s->b.events & BIT(IB_EVENT_QP_ACCESS_ERR));
	} else {
		CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
		CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	}
	t.b->mr.key = t.b->mr.ibmr.lkey;
	xfers_end(&t);
}

static void bad_remotes(void)
{
	static const u32 ops[] = {
		IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_RDMA_READ,
		IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD,
		SROCE_WR_ATOMIC_WRITE, SROCE_WR_FLUSH,
	};
	u32 i;
	int how;

	t_case("errors: bad keys, ranges and rights are refused, all after is flushed");
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		for (how = KEY; how <= GONE; how++) {
			/* one past the end would not be aligned */
			if (i >= 3 && i < 6 && how == RANGE_END)
				continue;
			bad_remote(ops[i], how);
		}
	}
}

/* A READ whose region goes away while it is answered */
static void read_revoked(void)
{
	struct xfers t;

	t_case("errors: a region that goes while a READ is answered");
	xfers_init(&t, NULL, 400000, 4096);
	t.s->kick_delay = 10 * SIM_LATENCY;
	xfer_put(&t, IB_WR_RDMA_READ, 300000);
	put_more(&t, 1);
	sim_doorbell(&t.s->a);
	sim_run_until(t.s, 5 * SIM_LATENCY);
	sim_buf_revoke(t.b);
	sim_run(t.s);
	check_failed(&t, 0, IB_WC_REM_ACCESS_ERR);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_ACC_SENT), 1);
	xfers_end(&t);
}

static void bad_local(u32 opcode, u32 which)
{
	struct sim_wr wr;
	struct xfers t;

	t_where("%s, entry %u", xfer_name(opcode), which);
	xfers_init(&t, NULL, 65536, 4096);
	xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
	xfer_put(&t, IB_WR_RDMA_READ, 3000);
	xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
	wr = xfer_make(&t, opcode, 5000);
	wr.sge[which].lkey ^= 1;
	if (xfer_recvs(opcode))
		xfer_recv(&t, 3);
	sim_put_send(&t.s->a, &wr);
	put_more(&t, 3);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	check_failed(&t, 3, IB_WC_LOC_PROT_ERR);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_end(&t);
}

static void bad_locals(void)
{
	u32 i, k;

	t_case("errors: bad local keys end their own work request, not those before");
	/* all but a FLUSH, which has none */
	for (i = 0; xfer_rc_ops[i] != SROCE_WR_FLUSH; i++)
		for (k = 0; k < 3; k++)
			bad_local(xfer_rc_ops[i], k);
}

static void bad_recv(enum ib_wc_status want, enum ib_wc_status local)
{
	struct sim_wr wr;
	struct ib_sge sge;
	struct xfers t;

	t_where("responder's status %d", want);
	xfers_init(&t, NULL, 65536, 4096);
	xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
	wr = xfer_make(&t, IB_WR_SEND, 3000);
	sge = sim_sge(t.b, t.x[1].off, want == IB_WC_LOC_LEN_ERR ? 2999 : 3000);
	sge.lkey ^= want == IB_WC_LOC_PROT_ERR;
	sim_put_recv(&t.s->b, 1001, &sge, 1);
	sim_put_recv(&t.s->b, 1002, &sge, 1);
	sim_put_send(&t.s->a, &wr);
	put_more(&t, 2);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	check_failed(&t, 1, local);
	check_refused(&t, 1);
	CHECK_EQ(t.s->b.rcq.n, 2);
	CHECK_EQ(t.s->b.rcq.e[0].wr_id, 1001);
	CHECK_EQ(t.s->b.rcq.e[0].status, want);
	xfers_end(&t);
}

static void read_without_resources(void)
{
	static const u32 ops[] = {
		IB_WR_RDMA_READ, IB_WR_ATOMIC_CMP_AND_SWP,
		IB_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i;

	t_case("errors: READs and atomics where none may be out end with an error");
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		t_where("requester, %s", xfer_name(ops[i]));
		cfg.rd_atomic = 0;
		cfg.dest_rd_atomic = 4;
		xfers_init(&t, &cfg, 65536, 4096);
		xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
		xfer_put(&t, ops[i], 100);
		put_more(&t, 2);
		sim_doorbell(&t.s->a);
		sim_run(t.s);
		check_failed(&t, 1, IB_WC_LOC_QP_OP_ERR);
		xfers_end(&t);

		t_where("responder, %s", xfer_name(ops[i]));
		cfg.rd_atomic = 1;
		cfg.dest_rd_atomic = 0;
		xfers_init(&t, &cfg, 65536, 4096);
		xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
		xfer_put(&t, ops[i], 100);
		put_more(&t, 2);
		sim_doorbell(&t.s->a);
		sim_run(t.s);
		check_failed(&t, 1, IB_WC_REM_INV_REQ_ERR);
		xfers_end(&t);
	}
}

static void cq_overflow(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i;

	t_case("errors: a CQ that overflows takes its QP to the error state");
	cfg.cqe = 4;
	xfers_init(&t, &cfg, 65536, 4096);
	for (i = 0; i < 10; i++)
		xfer_put(&t, IB_WR_SEND, 1500);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
	CHECK_EQ(t.s->b.rcq.n, 4);
	CHECK(t.s->b.events & BIT(IB_EVENT_QP_FATAL));
	xfers_end(&t);
}

/*
 * The requester may start its next READ as soon as it has all responses of the
 * one before, though a replay it asked for in between is still being sent.
 */
static int slow_answers(struct sim *s, struct sim_packet *p)
{
	if (p->from == &s->b && s->now < 4 * SIM_MS)
		p->when = 2 * SIM_MS;
	/* the first answer leaves at once, the replay takes its time */
	if (s->now > SIM_MS)
		s->kick_delay = SIM_MS;
	return 1;
}

static void read_behind_replay(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("errors: a READ is no violation while a replay is being sent");
	cfg.rd_atomic = 1;
	cfg.dest_rd_atomic = 1;
	xfers_init(&t, &cfg, 700000, 4096);
	t.s->wire = slow_answers;
	xfer_put(&t, IB_WR_RDMA_READ, 300 * 1024);
	xfer_put(&t, IB_WR_RDMA_READ, 300 * 1024);
	xfer_put(&t, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_INV_SENT), 0);
	xfers_check(&t);
	xfers_end(&t);
}

UNIT_TESTS(flush)
{
	rnr_then_success();
	rnr_exhausted(0);
	rnr_exhausted(3);
	rnr_delay();
	rnr_then_gone();
	rnr_again(2);
	rnr_again(8);
	peer_gone(0);
	peer_gone(3);
	held_up(5, 2);
	held_up(100, 8);
	peer_is_slow(8);
	peer_is_slow(20);
	peer_is_slow(50);
	peer_goes_midway();
	bad_remotes();
	read_revoked();
	bad_locals();
	t_case("errors: receives too short or with a bad key end on both sides");
	bad_recv(IB_WC_LOC_LEN_ERR, IB_WC_REM_INV_REQ_ERR);
	bad_recv(IB_WC_LOC_PROT_ERR, IB_WC_REM_OP_ERR);
	read_without_resources();
	cq_overflow();
	read_behind_replay();
}
