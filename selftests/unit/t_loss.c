// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* RC over a wire that loses, repeats and reorders */

#include <stdlib.h>
#include "tests.h"
#include "xfer.h"

/* What befalls packets number @at and @at2, counted as they are sent */
struct mishap {
	u32	at, at2;
	int	copies;		/* 0: lost, 2: twice */
	u64	delay;		/* or late by this much */
	u64	again;		/* or a copy comes this much later */
};

static int befall(struct sim *s, struct sim_packet *p)
{
	const struct mishap *m = s->arg;

	if (s->sent != m->at && s->sent != m->at2)
		return 1;
	p->when += m->delay;
	if (m->again)
		sim_copy_later(s, p, m->again);
	return m->copies;
}

/* A message of each kind, or only one; every one of them spans packets. */
static void put_all(struct xfers *t, int only)
{
	static const u32 order[] = {
		IB_WR_SEND, IB_WR_RDMA_READ, IB_WR_RDMA_WRITE,
		IB_WR_ATOMIC_FETCH_AND_ADD, IB_WR_SEND_WITH_IMM,
		IB_WR_RDMA_READ, IB_WR_RDMA_READ, IB_WR_ATOMIC_CMP_AND_SWP,
		IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_SEND_WITH_INV,
	};
	u32 i;

	if (only >= 0) {
		xfer_put(t, only, 5 * 1024 + 3);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(order); i++)
		xfer_put(t, order[i], 1024 * (i % 3) + 700);
}

/* Return: packets sent in all */
static u32 run_one(const struct sim_cfg *cfg, int only, struct mishap *m)
{
	struct xfers t;
	u32 sent;

	xfers_init(&t, cfg, 65536, 1000);
	if (m) {
		t.s->wire = befall;
		t.s->arg = m;
	}
	put_all(&t, only);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(t.s->a.qp.req.reads, 0);
	CHECK_EQ(t.s->a.qp.req.read_psns, 0);
	if (m && !m->copies && !m->delay && !m->again && m->at == m->at2)
		CHECK(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT) > 0 ||
		      m->at >= t.s->sent);
	sent = t.s->sent;
	xfers_end(&t);
	return sent;
}

static const char *what_of(int only)
{
	return only < 0 ? "mixed messages" : xfer_name(only);
}

static void each_packet(const struct sim_cfg *cfg, int only)
{
	u32 k, n = run_one(cfg, only, NULL);
	struct mishap m;

	t_case("loss: %s, each packet lost once", what_of(only));
	for (k = 0; k < n && t_ok(); k++) {
		m = (struct mishap){ .at = k, .at2 = k };
		t_where("packet %u of %u", k, n);
		run_one(cfg, only, &m);
	}
	t_case("loss: %s, each packet twice", what_of(only));
	for (k = 0; k < n && t_ok(); k++) {
		m = (struct mishap){ .at = k, .at2 = k, .copies = 2 };
		t_where("packet %u of %u", k, n);
		run_one(cfg, only, &m);
	}
	t_case("loss: %s, each packet again when all is over", what_of(only));
	for (k = 0; k < n && t_ok(); k++) {
		m = (struct mishap){ .at = k, .at2 = k, .copies = 1,
				     .again = 50 * SIM_MS };
		t_where("packet %u of %u", k, n);
		run_one(cfg, only, &m);
	}
	t_case("loss: %s, each packet overtaken", what_of(only));
	for (k = 0; k < n && t_ok(); k++) {
		m = (struct mishap){ .at = k, .at2 = k, .copies = 1,
				     .delay = 10 * SIM_LATENCY };
		t_where("packet %u of %u", k, n);
		run_one(cfg, only, &m);
	}
}

static void each_pair(const struct sim_cfg *cfg)
{
	u32 k, j, n = run_one(cfg, -1, NULL) + 20;

	t_case("loss: mixed messages, each pair of packets lost");
	for (k = 0; k < n; k++) {
		for (j = k + 1; j < n && t_ok(); j++) {
			struct mishap m = { .at = k, .at2 = j };

			t_where("packets %u and %u", k, j);
			run_one(cfg, -1, &m);
		}
	}
}

/* PSN 1005 is lost once; so is 1015, when it comes by for the second time. */
static int lose_two(struct sim *s, struct sim_packet *p)
{
	u32 *seen = s->arg, psn = sim_psn(p);

	if (p->from != &s->a)
		return 1;
	if (psn == 1005)
		return seen[0]++ != 0;
	if (psn == 1015)
		return seen[1]++ != 1;
	return 1;
}

static void no_wait(u32 opcode)
{
	u32 seen[2] = { 0 };
	struct xfers t;

	t_case("loss: %s, gaps are reported, each once, and need no timeout",
	       xfer_name(opcode));
	xfers_init(&t, NULL, 65536, 4096);
	t.s->wire = lose_two;
	t.s->arg = seen;
	xfer_put(&t, opcode, 30 * 1024);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 2);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_NAK_SEQ_RCVD), 2);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 25 + 15);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_DUPLICATE), 0);
	xfers_end(&t);
}

/* A response that is missing in the middle is asked for when the next comes. */
static int lose_response(struct sim *s, struct sim_packet *p)
{
	u32 *seen = s->arg;

	if (p->from == &s->b && sim_psn(p) == 1005)
		return seen[0]++ != 0;
	return 1;
}

static void implied(void)
{
	u32 seen[1] = { 0 };
	struct xfers t;

	t_case("loss: READ, a missing response is asked for at once");
	xfers_init(&t, NULL, 65536, 4096);
	t.s->wire = lose_response;
	t.s->arg = seen;
	xfer_put(&t, IB_WR_RDMA_READ, 30 * 1024);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK(sim_count(&t.s->a, SROCE_CNT_IMPLIED_NAK) > 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 1);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_READ_REPLAY), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_end(&t);
}

struct weather {
	struct rnd	r;
	u32		loss, twice, late;	/* in 1000 */
};

static int storm(struct sim *s, struct sim_packet *p)
{
	struct weather *w = s->arg;
	u32 x = rnd_below(&w->r, 1000);

	if (x < w->loss)
		return 0;
	x -= w->loss;
	if (x < w->twice) {
		sim_copy_later(s, p, SIM_LATENCY + rnd_below(&w->r, 2000000));
		return 1;
	}
	x -= w->twice;
	if (x < w->late)
		p->when += rnd_below(&w->r, 200000);
	return 1;
}

/* Enough retries that giving up is as good as impossible */
static void storms(u32 rounds, u32 loss, u32 twice, u32 late)
{
	struct sim_cfg cfg = sim_default;
	struct weather w;
	struct xfers t;
	u32 i, k;

	t_case("loss: %u seeds, %u lost, %u repeated, %u late in 1000", rounds,
	       loss, twice, late);
	for (i = 0; i < rounds && t_ok(); i++) {
		t_where("seed %u", i);
		w = (struct weather){ { i + 1 }, loss, twice, late };
		cfg.psn = rnd32(&w.r) & SROCE_PSN_MASK;
		cfg.mtu = 1 + rnd_below(&w.r, 5);
		cfg.rd_atomic = 1 + rnd_below(&w.r, 4);
		cfg.dest_rd_atomic = cfg.rd_atomic + rnd_below(&w.r, 2);
		xfers_init(&t, &cfg, 400000, 8 * (1 + rnd_below(&w.r, 500)));
		t.s->wire = storm;
		t.s->arg = &w;
		t.s->kick_delay = rnd_below(&w.r, 50000);
		for (k = 0; k < 40; k++)
			xfer_put(&t, xfer_rc_ops[rnd_below(&w.r, 8)],
				 rnd_below(&w.r, rnd_below(&w.r, 8) ? 3000 :
					   20000));
		sim_doorbell(&t.s->a);
		sim_run(t.s);
		xfers_check(&t);
		xfers_end(&t);
	}
}

void test_loss(void)
{
	struct sim_cfg cfg = sim_default;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(xfer_rc_ops); i++)
		each_packet(&cfg, xfer_rc_ops[i]);
	cfg.psn = 0xfffff8;
	each_packet(&cfg, -1);
	each_pair(&cfg);
	no_wait(IB_WR_SEND);
	no_wait(IB_WR_RDMA_WRITE);
	implied();
	storms(100, 10, 10, 0);
	storms(100, 50, 20, 50);
	storms(100, 0, 100, 200);
}
