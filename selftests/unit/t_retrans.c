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

/* PSNs 1005 and 1015 are lost once. */
static int lose_two(struct sim *s, struct sim_packet *p)
{
	u32 *seen = s->arg, psn = sim_psn(p);

	if (p->from != &s->a)
		return 1;
	if (psn == 1005)
		return seen[0]++ != 0;
	if (psn == 1015)
		return seen[1]++ != 0;
	return 1;
}

static void no_wait(u32 opcode)
{
	u32 seen[2] = { 0 };
	struct xfers t;

	t_case("loss: %s, gaps are reported, each once, and nothing else sent again",
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
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 2);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_DUPLICATE), 0);
	CHECK_EQ(t.s->a.qp.req.retrans.gap_policy, SROCE_GAP_KEEPS);
	xfers_end(&t);
}

/* A peer that keeps nothing after a gap is found out by the first one. */
static void dropping_peer(u32 opcode)
{
	u32 seen[2] = { 0 };
	struct xfers t;

	t_case("loss: %s, to a peer that drops what follows a gap",
	       xfer_name(opcode));
	xfers_init(&t, NULL, 65536, 4096);
	t.s->b.qp.resp.ofo_max = 0;
	t.s->wire = lose_two;
	t.s->arg = seen;
	xfer_put(&t, opcode, 30 * 1024);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(t.s->a.qp.req.retrans.gap_policy, SROCE_GAP_DROPS);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_NAK_SEQ_RCVD), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	/* the lost one by itself, then all after it */
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 25);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_DUPLICATE), 0);
	xfers_end(&t);
}

/* Packets lost when they are first sent: PSNs from @from on, @n of them */
struct hole {
	u32 from, n, seen;
};

static int lose_hole(struct sim *s, struct sim_packet *p)
{
	struct hole *h = s->arg;
	u32 off = sim_psn(p) - h->from;

	if (p->from != &s->a || sim_is_response(p) || off != h->seen ||
	    off >= h->n)
		return 1;
	h->seen++;
	return 0;
}

/*
 * What is lost answers for itself, before all others: that says nothing about
 * what the peer does with those.
 */
static void lost_first(u32 opcode, bool keeps)
{
	struct hole h = { .from = 1000, .n = 1 };
	struct sim *s;
	struct xfers t;

	t_case("loss: %s, before others, to a peer that %s", xfer_name(opcode),
	       keeps ? "keeps them" : "drops them");
	xfers_init(&t, NULL, 65536, 4096);
	s = t.s;
	if (!keeps)
		s->b.qp.resp.ofo_max = 0;
	s->wire = lose_hole;
	s->arg = &h;
	xfer_put(&t, opcode, 8);
	xfer_put(&t, IB_WR_SEND, 30 * 1024);
	xfer_put(&t, opcode, 8);
	sim_doorbell(&s->a);
	sim_run(s);
	xfers_check(&t);
	CHECK_EQ(s->a.qp.req.retrans.gap_policy, keeps ? SROCE_GAP_KEEPS :
						   SROCE_GAP_DROPS);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(&s->a, SROCE_CNT_PROBE), 0);
	/* a second one may be needed to tell */
	CHECK(sim_count(&s->a, SROCE_CNT_RETRANSMIT) <= (keeps ? 2 : 33));
	xfers_end(&t);
}

static int lose_tenth_and_last(struct sim *s, struct sim_packet *p)
{
	u32 *lost = s->arg, psn = sim_psn(p);

	if (p->from != &s->a || (psn != 1010 && psn != 1029) ||
	    *lost & 1U << (psn - 1000))
		return 1;
	*lost |= 1U << (psn - 1000);
	return 0;
}

/* The acknowledge that ends a gap tells of all that was executed with it. */
static void ack_of_all(u32 opcode)
{
	u32 lost = 0;
	struct xfers t;

	t_case("loss: %s, in its middle and at its end", xfer_name(opcode));
	xfers_init(&t, NULL, 65536, 4096);
	t.s->wire = lose_tenth_and_last;
	t.s->arg = &lost;
	xfer_put(&t, opcode, 30 * 1024);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(t.s->a.qp.req.retrans.gap_policy, SROCE_GAP_KEEPS);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 2);
	xfers_end(&t);
}

static void one_hole(const char *what, u32 from, u32 n, u32 opcode, u32 naks,
		     u32 probes, u32 resent)
{
	struct hole h = { .from = from, .n = n };
	struct xfers t;

	t_case("loss: %s, %s", xfer_name(opcode), what);
	xfers_init(&t, NULL, 131072, 4096);
	t.s->wire = lose_hole;
	t.s->arg = &h;
	xfer_put(&t, opcode, 120 * 1024);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(h.seen, n);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_NAK_SEQ_RCVD), naks);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), probes);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), resent);
	xfers_end(&t);
}

static void holes(u32 opcode)
{
	/* 1, 2, 4 are sent again, and one of them too many */
	one_hole("six packets in a row", 1010, 6, opcode, 3, 0, 7);
	/* 1, 2, 4, 8, 16, 32: never what follows the hole twice over */
	one_hole("forty packets in a row", 1010, 40, opcode, 6, 0, 63);
	/*
	 * Nobody can report these. First one goes out that did come; then 1, 2
	 * and the 3 that are left, each after a silence.
	 */
	one_hole("the last packet", 1119, 1, opcode, 0, 2, 2);
	one_hole("the last six packets", 1114, 6, opcode, 0, 4, 7);
}

/* Number @at of the packets with this direction is lost. */
static int lose_answer(struct sim *s, struct sim_packet *p)
{
	u32 *left = s->arg;

	return p->from != &s->b || (*left)-- != 0;
}

static void lost_answer(u32 opcode)
{
	struct sim_cfg cfg = sim_default;
	u32 left = 0;
	struct xfers t;

	t_case("loss: %s, the only acknowledge is asked for by a probe",
	       xfer_name(opcode));
	cfg.timeout = 14;
	xfers_init(&t, &cfg, 65536, 4096);
	t.s->wire = lose_answer;
	t.s->arg = &left;
	xfer_put(&t, opcode, 5 * 1024);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 1);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_DUPLICATE), 1);
	xfers_end(&t);
}

/*
 * Requests get stuck for a while, and what is sent then overtakes them: another
 * queue, another CPU.
 */
static int stuck(struct sim *s, struct sim_packet *p)
{
	if (p->from == &s->a && s->now < SIM_MS)
		p->when += 25 * SIM_MS + sim_psn(p) * 10;
	return 1;
}

static void overtaking_probe(u32 opcode)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u64 probes;

	t_case("loss: %s, a probe that overtakes is no sign of loss",
	       xfer_name(opcode));
	cfg.timeout = 16;
	xfers_init(&t, &cfg, 262144, 4096);
	t.s->wire = stuck;
	xfer_put(&t, opcode, 200 * 1024);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	probes = sim_count(&t.s->a, SROCE_CNT_PROBE);
	CHECK(probes > 0);
	/* a few by themselves, not all that waits */
	CHECK(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT) < 16);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_TX_PACKETS),
		 sim_count(&t.s->b, SROCE_CNT_ACK_SENT));
	CHECK(t.s->a.qp.req.retrans.gap_policy != SROCE_GAP_DROPS);
	xfers_end(&t);
}

/* Many packets in a row are late, by less than it takes to ask for them. */
static int late(struct sim *s, struct sim_packet *p)
{
	u32 psn = sim_psn(p);

	if (p->from == &s->a && psn >= 1010 && psn < 1030)
		p->when += SIM_LATENCY / 2;
	return 1;
}

static void late_packets(u32 opcode)
{
	struct xfers t;

	t_case("loss: %s, twenty late packets are one gap", xfer_name(opcode));
	xfers_init(&t, NULL, 131072, 4096);
	t.s->wire = late;
	xfer_put(&t, opcode, 60 * 1024);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	xfers_end(&t);
}

/* A requester that goes back loses the same packet once more. */
static int lose_again(struct sim *s, struct sim_packet *p)
{
	u32 *left = s->arg;

	if (p->from == &s->a && sim_psn(p) == 1011 && *left) {
		--*left;
		return 0;
	}
	return p->from != &s->a || sim_psn(p) != 1010 || left[1]++ > 0;
}

static void lost_going_back(void)
{
	u32 left[2] = { 2, 0 };
	struct xfers t;

	t_case("loss: what is lost again when all is sent again is reported");
	xfers_init(&t, NULL, 131072, 4096);
	t.s->a.qp.req.retrans.gap_policy = SROCE_GAP_DROPS;
	t.s->wire = lose_again;
	t.s->arg = left;
	xfer_put(&t, IB_WR_RDMA_WRITE, 60 * 1024);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 2);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	xfers_end(&t);
}

struct outset {
	u32	seen[2];
	u64	repair;		/* when the second repair left */
	u64	next;		/* when the first new packet after it did */
};

static int note_outset(struct sim *s, struct sim_packet *p)
{
	struct outset *o = s->arg;

	if (p->from != &s->a)
		return 1;
	/* by then it is known that the peer keeps what follows */
	if (sim_psn(p) == 1015 && o->seen[1])
		o->repair = s->now;
	else if (o->repair && !o->next && sim_psn(p) > 1015)
		o->next = s->now;
	return lose_two(s, p);
}

/* What follows is long in the making, and a train grows before it leaves. */
static void repair_first(u32 opcode)
{
	struct outset o = {};
	struct xfers t;

	t_case("loss: %s, a repair leaves before what follows it is made",
	       xfer_name(opcode));
	xfers_init(&t, NULL, 8388608, 4194304);
	t.s->wire = note_outset;
	t.s->arg = &o;
	xfer_put(&t, opcode, 3000 * 1024);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK(o.repair);
	CHECK(o.next > o.repair);
	xfers_end(&t);
}

/* Nothing is kept without bound. */
static void store_bound(void)
{
	u32 seen[2] = { 0 };
	struct xfers t;

	t_case("loss: no more is kept after a gap than there is room for");
	xfers_init(&t, NULL, 131072, 4096);
	t.s->b.qp.resp.ofo_max = 10;
	t.s->wire = lose_two;
	t.s->arg = seen;
	xfer_put(&t, IB_WR_RDMA_WRITE, 60 * 1024);
	sim_doorbell(&t.s->a);
	while (sim_step(t.s))
		CHECK(t.s->b.qp.resp.ofo_len <= 10);
	xfers_check(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OFO_QUEUED) >= 10, 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_end(&t);
}

/* What waits in the store dies with the connection. */
static void store_dies(enum ib_qp_state to)
{
	u32 seen[2] = { 0 };
	struct xfers t;

	t_case("loss: what was kept goes when the QP does (%d)", to);
	xfers_init(&t, NULL, 65536, 4096);
	t.s->wire = lose_two;
	t.s->arg = seen;
	xfer_put(&t, IB_WR_SEND, 30 * 1024);
	sim_doorbell(&t.s->a);
	while (t.s->b.qp.resp.ofo_len < 5 && sim_step(t.s))
		;
	CHECK(t.s->held >= 5);
	sim_enter(&t.s->b, to);
	CHECK_EQ(t.s->held, 0);
	sim_enter(&t.s->a, IB_QPS_RESET);
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

	t_case("loss: READ, only the missing response is asked for, at once");
	xfers_init(&t, NULL, 65536, 4096);
	t.s->wire = lose_response;
	t.s->arg = seen;
	xfer_put(&t, IB_WR_RDMA_READ, 30 * 1024);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_IMPLIED_NAK), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_READ_RETRY), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 1);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_READ_REPLAY), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_TX_PACKETS), 31);
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
			xfer_put(&t, xfer_rc_ops[rnd_below(&w.r, ARRAY_SIZE(xfer_rc_ops))],
				 rnd_below(&w.r, rnd_below(&w.r, 8) ? 3000 :
					   20000));
		sim_doorbell(&t.s->a);
		sim_run(t.s);
		xfers_check(&t);
		xfers_end(&t);
	}
}

UNIT_TESTS(retrans)
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
	dropping_peer(IB_WR_SEND);
	dropping_peer(IB_WR_RDMA_WRITE);
	for (i = IB_WR_RDMA_READ; i <= IB_WR_ATOMIC_FETCH_AND_ADD; i++) {
		lost_first(i, true);
		lost_first(i, false);
	}
	lost_first(SROCE_WR_ATOMIC_WRITE, true);
	lost_first(SROCE_WR_ATOMIC_WRITE, false);
	lost_first(SROCE_WR_FLUSH, true);
	lost_first(SROCE_WR_FLUSH, false);
	ack_of_all(IB_WR_SEND);
	ack_of_all(IB_WR_RDMA_WRITE);
	holes(IB_WR_SEND);
	holes(IB_WR_RDMA_WRITE);
	lost_answer(IB_WR_SEND);
	lost_answer(IB_WR_RDMA_WRITE);
	lost_answer(IB_WR_ATOMIC_FETCH_AND_ADD);
	late_packets(IB_WR_SEND);
	late_packets(IB_WR_RDMA_WRITE);
	lost_going_back();
	overtaking_probe(IB_WR_SEND);
	overtaking_probe(IB_WR_RDMA_WRITE);
	repair_first(IB_WR_SEND);
	repair_first(IB_WR_RDMA_WRITE);
	store_bound();
	store_dies(IB_QPS_ERR);
	store_dies(IB_QPS_RESET);
	implied();
	storms(100, 10, 10, 0);
	storms(100, 50, 20, 50);
	storms(100, 0, 100, 200);
}
