// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* RC over a wire that does no harm */

#include <stdlib.h>
#include "tests.h"
#include "xfer.h"

static const char *mtu_name(const struct sim_cfg *c)
{
	static const char * const names[] = {
		"", "256", "512", "1024", "2048", "4096"
	};

	return names[c->mtu];
}

static void one(const struct sim_cfg *cfg, u32 opcode, u32 len, u32 chunk)
{
	struct xfers t;

	t_where("%u bytes, extents of %u", len, chunk);
	xfers_init(&t, cfg, len + 256, chunk);
	xfer_put(&t, opcode, len);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_DUPLICATE), 0);
	CHECK_EQ(t.s->a.qp.req.reads, 0);
	CHECK_EQ(t.s->a.qp.req.read_psns, 0);
	xfers_end(&t);
}

static void sizes(const struct sim_cfg *cfg)
{
	u32 mtu = 128 << cfg->mtu, i, k;
	u32 sizes[] = { 0, 1, 2, 3, 4, mtu - 1, mtu, mtu + 1, 5 * mtu + 3 };

	for (i = 0; i < ARRAY_SIZE(xfer_rc_ops); i++) {
		t_case("rc: %s, MTU %s, IPv%d, PSN %#x", xfer_name(xfer_rc_ops[i]),
		       mtu_name(cfg), cfg->v6 ? 6 : 4, cfg->psn);
		for (k = 0; k < ARRAY_SIZE(sizes); k++) {
			one(cfg, xfer_rc_ops[i], sizes[k], 4096);
			one(cfg, xfer_rc_ops[i], sizes[k], 104);
		}
	}
}

static void back_to_back(void)
{
	struct sim_cfg cfg = sim_default;
	struct rnd r = { 5 };
	struct xfers t;
	u32 i, round;

	t_case("rc: queues full of mixed messages, across the PSN wrap");
	cfg.psn = 0xffff80;
	for (round = 0; round < 50; round++) {
		t_where("round %u", round);
		xfers_init(&t, &cfg, 400000, 1000);
		for (i = 0; i < 60; i++)
			xfer_put(&t, xfer_rc_ops[rnd_below(&r, ARRAY_SIZE(xfer_rc_ops))],
				 rnd_below(&r, 6000));
		sim_doorbell(&t.s->a);
		sim_run(t.s);
		xfers_check(&t);
		CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 0);
		xfers_end(&t);
	}
}

static void inlined(void)
{
	u8 data[256];
	struct xfers t;
	u32 len, i;

	t_case("rc: inline data is taken when posted");
	for (len = 1; len <= 256; len += 15) {
		struct sim_wr wr;

		xfers_init(&t, NULL, 4096, 4096);
		wr = xfer_make(&t, IB_WR_SEND, len);
		for (i = 0; i < len; i++)
			data[i] = *sim_byte(t.a, t.x[0].off + i);
		wr.flags |= IB_SEND_INLINE;
		wr.data = data;
		wr.data_len = len;
		xfer_recv(&t, 0);
		sim_post(&t.s->a, &wr);
		sim_run(t.s);
		xfers_check(&t);
		xfers_end(&t);
	}
}

/* A WRITE in the ring of A; the doorbell is still to ring. */
static void put_write(struct xfers *t, u32 flags)
{
	struct sim_wr wr = xfer_make(t, IB_WR_RDMA_WRITE, 1500);

	wr.flags = flags;
	sim_put_send(&t->s->a, &wr);
}

static void unsignaled(void)
{
	struct xfers t;
	u32 i;

	t_case("rc: unsignaled work makes no completion, but completes");
	xfers_init(&t, NULL, 65536, 4096);
	for (i = 0; i < 10; i++)
		put_write(&t, i == 9 ? IB_SEND_SIGNALED : 0);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].wr_id, 9);
	CHECK_EQ(t.s->a.qp.sq.ring.buf->consumer_index, 10);
	xfers_check_data(&t, 10);
	xfers_end(&t);
}

static void unannounced(void)
{
	struct xfers t;
	u32 i;

	t_case("rc: what is posted while others are under way waits for its doorbell");
	xfers_init(&t, NULL, 65536, 4096);
	for (i = 0; i < 3; i++) {
		put_write(&t, IB_SEND_SIGNALED);
		if (!i)
			sim_doorbell(&t.s->a);
	}
	/* the acknowledge of the first has the QP work */
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 1);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 3);
	xfers_check_data(&t, 3);
	xfers_end(&t);

	t_case("rc: and is flushed by it");
	xfers_init(&t, NULL, 65536, 4096);
	for (i = 0; i < 3; i++)
		put_write(&t, IB_SEND_SIGNALED);
	sroce_flush_qp_error(&t.s->a.qp);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 0);
	sim_doorbell(&t.s->a);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[2].status, IB_WC_WR_FLUSH_ERR);
	xfers_end(&t);
}

struct span {
	u32 max, read_reqs, asked;
};

/* Bytes, at the least MTU, that no window has room for */
#define LONG	(3 * SROCE_CWND_MAX * 256)

/* Request packets that are out and neither acknowledged nor answered */
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

static int lose_answers(struct sim *s, struct sim_packet *p)
{
	return p->from == &s->a ? 1 : 0;
}

static void window(void)
{
	struct span w = { 0 };
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("rc: no more requests are out than the window allows");
	cfg.mtu = IB_MTU_256;
	xfers_init(&t, &cfg, LONG + 4096, 4096);
	t.s->wire = watch_window;
	t.s->arg = &w;
	xfer_put(&t, IB_WR_RDMA_WRITE, LONG);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK(w.max < SROCE_CWND_MAX);
	CHECK(w.max >= SROCE_CWND_MIN / 2);
	/* the larger the window, the fewer acknowledges it takes */
	t_where("%u acknowledges asked for", w.asked);
	CHECK(w.asked >= 4 && w.asked < LONG / 256 / 64);
	xfers_end(&t);
}

/* Nobody answers; how many packets of a WRITE of @n are out then, of a window */
static s32 out_of(u32 n, bool grows)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	s32 out;

	cfg.mtu = IB_MTU_256;
	xfers_init(&t, &cfg, 256 * n + 4096, 4096);
	t.s->grows = grows;
	t.s->wire = lose_answers;
	t.s->a.qp.req.rtt.cwnd = SROCE_CWND_MIN;
	xfer_put(&t, IB_WR_RDMA_WRITE, 256 * n);
	sim_doorbell(&t.s->a);
	while (!sim_count(&t.s->a, SROCE_CNT_PROBE) && sim_step(t.s))
		;
	out = sroce_in_flight(&t.s->a.qp);
	t.s->wire = NULL;
	sim_run(t.s);
	xfers_check(&t);
	xfers_end(&t);
	return out;
}

static void window_cuts(void)
{
	t_case("rc: no train is begun that the window would cut short");
	CHECK_EQ(out_of(2 * SROCE_CWND_MIN, false), SROCE_CWND_MIN - SROCE_TX_BUDGET + 1);

	t_case("rc: but one that was begun goes on");
	CHECK_EQ(out_of(2 * SROCE_CWND_MIN, true), SROCE_CWND_MIN);

	t_case("rc: and so does what ends within the window");
	CHECK_EQ(out_of(SROCE_CWND_MIN - 1, false), SROCE_CWND_MIN - 1);
}

/* The most requests after a READ that are out while it is being answered */
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

	t_case("rc: a READ half answered does not widen the window");
	cfg.mtu = IB_MTU_256;
	xfers_init(&t, &cfg, 256 * 1000 + LONG + 4096, 4096);
	t.s->wire = watch_after_read;
	t.s->arg = &w;
	t.s->kick_delay = 20 * SIM_LATENCY;
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

	t_case("rc: no more READs and atomics are out than agreed");
	cfg.rd_atomic = 3;
	cfg.dest_rd_atomic = 3;
	xfers_init(&t, &cfg, 200000, 4096);
	t.s->wire = count_reads;
	t.s->arg = &w;
	for (i = 0; i < 30; i++)
		xfer_put(&t, i % 3 ? IB_WR_RDMA_READ :
			 IB_WR_ATOMIC_FETCH_AND_ADD, 5000);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(w.max, 3);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_INV_SENT), 0);
	xfers_end(&t);
}

static int fence_hook(struct sim *s, struct sim_packet *p)
{
	if (p->from == &s->a && !sim_is_response(p) && sim_bth(p)[0] != 0x0c)
		CHECK_EQ(s->a.qp.req.reads, 0);
	return 1;
}

static void fence(void)
{
	struct sim_wr wr;
	struct xfers t;

	t_case("rc: a fenced work request waits for READs");
	xfers_init(&t, NULL, 65536, 4096);
	t.s->wire = fence_hook;
	xfer_put(&t, IB_WR_RDMA_READ, 10000);
	wr = xfer_make(&t, IB_WR_RDMA_WRITE, 3000);
	wr.flags |= IB_SEND_FENCE;
	sim_put_send(&t.s->a, &wr);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	xfers_end(&t);
}

static void no_memory(void)
{
	struct xfers t;
	u32 i;

	t_case("rc: packets that can't be built are losses and recover");
	xfers_init(&t, NULL, 65536, 4096);
	for (i = 0; i < 8; i++)
		xfer_put(&t, xfer_rc_ops[i], 3000);
	t.s->tx_fails = true;
	sim_doorbell(&t.s->a);
	CHECK_EQ(t.s->sent, 0);
	t.s->tx_fails = false;
	sim_run(t.s);
	xfers_check(&t);
	CHECK(sim_count(&t.s->a, SROCE_CNT_TX_NO_MEM) > 0);
	CHECK(sim_count(&t.s->a, SROCE_CNT_TIMEOUT) +
	      sim_count(&t.s->a, SROCE_CNT_PROBE) > 0);
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
		t_case("rc: a message of %u bytes at MTU 256 is sent or refused",
		       lens[i]);
		for (k = 0; k < 2; k++) {
			struct sim_wr wr = {
				.opcode = k ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE,
				.flags = IB_SEND_SIGNALED, .num_sge = 1,
			};
			struct xfers t;

			t_where("%s", xfer_name(wr.opcode));
			xfers_init(&t, &cfg, 4096, 4096);
			/* nothing is ever written: the wire is cut */
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

UNIT_TESTS(req)
{
	struct sim_cfg cfg = sim_default;

	sizes(&cfg);
	cfg.v6 = true;
	cfg.mtu = IB_MTU_256;
	sizes(&cfg);
	cfg.mtu = IB_MTU_4096;
	sizes(&cfg);
	cfg.v6 = false;
	cfg.mtu = IB_MTU_512;
	cfg.psn = 0xfffffe;
	sizes(&cfg);
	back_to_back();
	inlined();
	unsignaled();
	unannounced();
	window();
	window_cuts();
	window_behind_read();
	read_limit();
	fence();
	no_memory();
	huge();
}
