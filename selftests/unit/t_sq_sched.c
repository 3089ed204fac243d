// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Which work request is sent next: limits, fences, cwnd, and work that can never be sent */

#include "tests.h"
#include "peer.h"

struct span {
	u32 max, read_reqs, asked;
};

/* More bytes than any window has room for, at the smallest MTU */
#define LONG	(3 * SROCE_CWND_MAX * 256)

/* Request packets without an ACK or response */
static int watch_window(struct sim *s, struct sim_packet *p)
{
	const struct sroce_req *req = &s->a.qp.req;
	struct span *w = s->arg;
	s32 lead;

	if (p->from != &s->a || sim_is_response(p))
		return 1;
	if (sim_bth(p)[0] == 0x0c)
		w->read_reqs++;
	if (sim_bth(p)[8] & 0x80)
		w->asked++;
	lead = sroce_psn_diff(sim_psn(p), req->una);
	if (lead > (s32)w->max)
		w->max = lead;
	return 1;
}

static void window(void)
{
	struct span w = { 0 };
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("sq_sched: no more requests are in flight than cwnd allows");
	cfg.mtu = IB_MTU_256;
	xfers_init(&t, &cfg, LONG + 4096, 4096);
	t.s->wire = watch_window;
	t.s->arg = &w;
	xfer_put(&t, IB_WR_RDMA_WRITE, LONG);
	xfers_run_check(&t);
	CHECK(w.max < SROCE_CWND_MAX);
	CHECK(w.max >= SROCE_CWND_MIN / 2);
	/* the larger the window, the fewer ACKs are requested */
	t_where("%u ACKs requested", w.asked);
	CHECK(w.asked >= 4 && w.asked < LONG / 256 / 64);
	xfers_end(&t);
}

/* The most requests in flight after a READ, before its last response */
static int watch_after_read(struct sim *s, struct sim_packet *p)
{
	const struct sroce_wqe *read = sroce_sq_wqe(&s->a.qp.sq, 0);
	struct span *w = s->arg;
	s32 lead = sroce_psn_diff(sim_psn(p), read->last_psn);

	if (p->from == &s->a && lead > (s32)w->max)
		w->max = lead;
	return 1;
}

static void window_behind_read(void)
{
	struct span w = { 0 };
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("sq_sched: a READ with half its responses does not widen the window");
	cfg.mtu = IB_MTU_256;
	xfers_init(&t, &cfg, 256 * 1000 + LONG + 4096, 4096);
	t.s->wire = watch_after_read;
	t.s->arg = &w;
	t.s->task_delay = 20 * SIM_LATENCY;
	xfer_put(&t, IB_WR_RDMA_READ, 256 * 1000);
	xfer_put(&t, IB_WR_RDMA_WRITE, LONG);
	sim_doorbell(&t.s->a);
	/* as long as the READ is the oldest */
	while (t.s->a.qp.sq.cons == 0 && sim_step(t.s))
		;
	CHECK(w.max <= SROCE_CWND_MAX);
	CHECK(w.max > 0);
	sim_run(t.s);
	xfers_check(&t);
	xfers_end(&t);
}

static int count_reads(struct sim *s, struct sim_packet *p)
{
	struct span *w = s->arg;
	u32 reads = s->a.qp.req.reads;

	(void)p;
	if (reads > w->max)
		w->max = reads;
	return 1;
}

static void read_limit(void)
{
	struct span w = { 0 };
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i;

	t_case("sq_sched: no more READs and atomics are outstanding than max_rd_atomic");
	cfg.rd_atomic = 3;
	cfg.dest_rd_atomic = 3;
	xfers_init(&t, &cfg, 200000, 4096);
	t.s->wire = count_reads;
	t.s->arg = &w;
	for (i = 0; i < 30; i++)
		xfer_put(&t, i % 3 ? IB_WR_RDMA_READ :
			 IB_WR_ATOMIC_FETCH_AND_ADD, 5000);
	xfers_run_check(&t);
	CHECK_EQ(w.max, 3);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_INV_SENT), 0);
	xfers_end(&t);
}

static int no_reads_out(struct sim *s, struct sim_packet *p)
{
	if (p->from == &s->a && !sim_is_response(p) && sim_bth(p)[0] != 0x0c)
		CHECK_EQ(s->a.qp.req.reads, 0);
	return 1;
}

static void fence(void)
{
	struct sim_wr wr;
	struct xfers t;

	t_case("sq_sched: a fenced work request waits for READs");
	xfers_init(&t, NULL, 65536, 4096);
	t.s->wire = no_reads_out;
	xfer_put(&t, IB_WR_RDMA_READ, 10000);
	wr = xfer_make(&t, IB_WR_RDMA_WRITE, 3000);
	wr.flags |= IB_SEND_FENCE;
	sim_put_send(&t.s->a, &wr);
	xfers_run_check(&t);
	xfers_end(&t);
}

/*
 * PSNs are compared over half their circle; a message that does not fit must
 * end with an error rather than wait for ever.
 */
static void huge(void)
{
	static const u32 lens[] = { 1U << 30, SROCE_MSG_MAX };
	struct sim_cfg cfg = sim_default;
	u32 i, k;

	cfg.mtu = IB_MTU_256;
	for (i = 0; i < 2; i++) {
		t_case("sq_sched: a message of %u bytes at MTU 256 is sent or fails",
		       lens[i]);
		for (k = 0; k < 2; k++) {
			struct sim_wr wr = {
				.opcode = k ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE,
				.flags = IB_SEND_SIGNALED, .num_sge = 1,
			};
			struct xfers t;

			t_where("%s", xfer_name(wr.opcode));
			xfers_init(&t, &cfg, 4096, 4096);
			/* nothing is sent, so the memory need not exist */
			wr.sge[0] = sim_sge(t.a, 0, lens[i]);
			t.a->mr.length = 1ULL << 32;
			wr.rkey = t.b->mr.key;
			t.s->tx_fails = true;
			sim_post(&t.s->a, &wr);
			CHECK(sim_count(&t.s->a, SROCE_CNT_TX_NO_MEM) ||
			      t.s->a.scq.n);
			sim_enter(&t.s->a, IB_QPS_RESET);
			t.a->mr.length = 4096;
			xfers_end(&t);
		}
	}
}

/* Two messages that together span more PSNs than may be compared */
static void longest(void)
{
	struct sim_wr wr = {
		.opcode = IB_WR_RDMA_READ, .flags = IB_SEND_SIGNALED,
		.num_sge = 1,
	};
	struct sroce_sq *sq;
	struct xfers t;

	t_case("sq_sched: the longest messages are sent one at a time");
	peer_begin(&t);
	sq = &t.s->a.qp.sq;
	/* a READ is not split */
	t.s->a.qp.cc = false;
	wr.sge[0] = sim_sge(t.a, 0, 600u << 20);
	sim_put_send(&t.s->a, &wr);
	sim_put_send(&t.s->a, &wr);
	peer_go(&t);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(sq->prod - sq->cons, 2);
	CHECK(!sroce_sq_wqe(sq, 1)->started);
	peer_ack(&t, FIRST, 0x62);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_REM_ACCESS_ERR);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_WR_FLUSH_ERR);
	xfers_end(&t);
}

/* The peer acknowledges all that is sent, until no more is. */
static void ack_all(struct xfers *t)
{
	const struct sroce_req *req = &t->s->a.qp.req;
	u32 end;

	do {
		end = req->max_psn;
		peer_ack(t, sroce_psn_add(end, -1), ACK);
		peer_go(t);
	} while (req->max_psn != end);
}

static void many_behind_read(void)
{
	const u32 more = 2 * SROCE_STARTED_MAX;
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct sroce_sq *sq;
	struct xfers t;
	u32 i;

	t_case("sq_sched: only %u work requests wait for the response of the oldest",
	       SROCE_STARTED_MAX);
	cfg.timeout = 0;
	cfg.slots = 2 * more;
	peer_begin_with(&t, &cfg, 65536);
	sq = &t.s->a.qp.sq;
	xfer_put(&t, IB_WR_RDMA_READ, 100);
	wr = xfer_make(&t, IB_WR_RDMA_WRITE, 0);
	wr.flags = 0;
	for (i = 0; i < more; i++)
		sim_put_send(&t.s->a, &wr);
	peer_go(&t);
	ack_all(&t);
	CHECK_EQ(sq->cons, 0);
	CHECK_EQ(t.s->a.qp.req.next_idx, SROCE_STARTED_MAX);
	/* those that waited follow */
	peer_hear(&t, 0x10, FIRST, ACK, 100);
	peer_go(&t);
	ack_all(&t);
	CHECK_EQ(sq->cons, more + 1);
	CHECK_EQ(t.s->a.scq.n, 1);
	xfers_end(&t);
}

static void flush_limit(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	struct span w = { 0 };
	u32 i;

	t_case("sq_sched: FLUSHes count towards max_rd_atomic");
	cfg.rd_atomic = 2;
	cfg.dest_rd_atomic = 2;
	xfers_init(&t, &cfg, 65536, 4096);
	t.s->wire = count_reads;
	t.s->arg = &w;
	for (i = 0; i < 20; i++)
		xfer_put(&t, i % 3 ? SROCE_WR_FLUSH : IB_WR_RDMA_READ, 100);
	xfers_run_check(&t);
	CHECK_EQ(w.max, 2);
	xfers_end(&t);

	t_case("sq_sched: a FLUSH without responder resources is refused");
	cfg.dest_rd_atomic = 0;
	xfers_init(&t, &cfg, 65536, 4096);
	xfer_put(&t, SROCE_WR_FLUSH, 100);
	xfers_run(&t);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_REM_INV_REQ_ERR);
	xfers_end(&t);

	t_case("sq_sched: a FLUSH with max_rd_atomic 0 fails locally");
	cfg.rd_atomic = 0;
	xfers_init(&t, &cfg, 65536, 4096);
	xfer_put(&t, SROCE_WR_FLUSH, 100);
	xfers_run(&t);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_LOC_QP_OP_ERR);
	CHECK_EQ(t.s->sent, 0);
	xfers_end(&t);
}

static int no_flush_out(struct sim *s, struct sim_packet *p)
{
	if (p->from == &s->a && !sim_is_response(p) && sim_bth(p)[0] != 0x1c)
		CHECK_EQ(s->a.qp.req.reads, 0);
	return 1;
}

static void flush_fence(void)
{
	struct sim_wr wr;
	struct xfers t;

	t_case("sq_sched: a fenced work request waits for a FLUSH");
	xfers_init(&t, NULL, 65536, 4096);
	t.s->wire = no_flush_out;
	xfer_put(&t, SROCE_WR_FLUSH, 100);
	wr = xfer_make(&t, IB_WR_RDMA_WRITE, 3000);
	wr.flags |= IB_SEND_FENCE;
	sim_put_send(&t.s->a, &wr);
	xfers_run_check(&t);
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

	t_case("sq_sched: READs and atomics with max_rd_atomic 0 fail");
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		t_where("requester, %s", xfer_name(ops[i]));
		cfg.rd_atomic = 0;
		cfg.dest_rd_atomic = 4;
		xfers_init(&t, &cfg, 65536, 4096);
		xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
		xfer_put(&t, ops[i], 100);
		xfers_put_writes(&t, 2);
		xfers_run(&t);
		xfers_check_failed(&t, 1, IB_WC_LOC_QP_OP_ERR);
		xfers_end(&t);

		t_where("responder, %s", xfer_name(ops[i]));
		cfg.rd_atomic = 1;
		cfg.dest_rd_atomic = 0;
		xfers_init(&t, &cfg, 65536, 4096);
		xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
		xfer_put(&t, ops[i], 100);
		xfers_put_writes(&t, 2);
		xfers_run(&t);
		xfers_check_failed(&t, 1, IB_WC_REM_INV_REQ_ERR);
		xfers_end(&t);
	}
}

UNIT_TESTS(sq_sched)
{
	window();
	window_behind_read();
	read_limit();
	fence();
	huge();
	longest();
	many_behind_read();
	flush_limit();
	flush_fence();
	read_without_resources();
}
