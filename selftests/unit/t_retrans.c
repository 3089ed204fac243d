// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Retransmission: gaps, timeouts, probes, and whether the peer keeps packets after a gap */

#include <stdlib.h>
#include "tests.h"
#include "xfer.h"

/* An impairment of packets number @at and @at2, counted as they are sent */
struct impairment {
	u32	at, at2;
	int	copies;		/* 0: lost, 2: twice */
	u64	delay;		/* or late by this much */
	u64	again;		/* or a copy comes this much later */
};

static int impair(struct sim *s, struct sim_packet *p)
{
	const struct impairment *m = s->arg;

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

/* A larger window needs just one ACK. Return: packets sent in all */
static u32 run_one(const struct sim_cfg *cfg, int only, struct impairment *m, bool open)
{
	struct xfers t;
	u32 sent;

	xfers_init(&t, cfg, 65536, 1000);
	if (open)
		sim_open_cwnd(&t.s->a);
	if (m) {
		t.s->wire = impair;
		t.s->arg = m;
	}
	put_all(&t, only);
	xfers_run_check(&t);
	CHECK_EQ(t.s->a.qp.req.reads, 0);
	CHECK_EQ(t.s->a.qp.req.read_psns, 0);
	if (open && m && !m->copies && !m->delay && !m->again)
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

/* Each of @n packets in turn is impaired like @how. */
static void each_of(const struct sim_cfg *cfg, int only, u32 n,
		    const char *what, struct impairment how)
{
	t_case("retrans: %s, each packet %s", what_of(only), what);
	for (how.at = 0; how.at < n && t_ok(); how.at++) {
		how.at2 = how.at;
		t_where("packet %u of %u", how.at, n);
		run_one(cfg, only, &how, true);
	}
}

static void each_packet(const struct sim_cfg *cfg, int only)
{
	u32 n = run_one(cfg, only, NULL, true);

	each_of(cfg, only, n, "lost once", (struct impairment){});
	each_of(cfg, only, n, "twice", (struct impairment){ .copies = 2 });
	each_of(cfg, only, n, "again when all is over",
		(struct impairment){ .copies = 1, .again = 50 * SIM_MS });
	each_of(cfg, only, n, "overtaken",
		(struct impairment){ .copies = 1, .delay = 10 * SIM_LATENCY });
}

static void each_pair(const struct sim_cfg *cfg)
{
	u32 k, j, n = run_one(cfg, -1, NULL, false) + 20;

	t_case("retrans: mixed messages, each pair of packets lost");
	for (k = 0; k < n; k++) {
		for (j = k + 1; j < n && t_ok(); j++) {
			struct impairment m = { .at = k, .at2 = j };

			t_where("packets %u and %u", k, j);
			run_one(cfg, -1, &m, false);
		}
	}
}

/* One message over a wire that @wire impairs; it succeeds. */
static void send_over(struct xfers *t, const struct sim_cfg *cfg,
		      int (*wire)(struct sim *, struct sim_packet *), void *arg,
		      u32 opcode, u32 len)
{
	xfers_init(t, cfg, len + 4096, 4096);
	sim_open_cwnd(&t->s->a);
	t->s->wire = wire;
	t->s->arg = arg;
	xfer_put(t, opcode, len);
	xfers_run_check(t);
}

static void no_wait(u32 opcode)
{
	struct xfer_loss lost = { .p = { { 1005, 1 }, { 1015, 1 } } };
	struct xfers t;

	t_case("retrans: %s, only the missing packet of each gap is sent again",
	       xfer_name(opcode));
	send_over(&t, NULL, xfer_lose, &lost, opcode, 30 * 1024);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 2);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_NAK_SEQ_RCVD), 2);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 2);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_DUPLICATE), 0);
	CHECK_EQ(t.s->a.qp.req.retrans.gap_policy, SROCE_GAP_KEEPS);
	xfers_end(&t);
}

/* The first gap shows that a peer drops what follows it. */
static void dropping_peer(u32 opcode)
{
	struct xfer_loss lost = { .p = { { 1005, 1 }, { 1015, 1 } } };
	struct xfers t;

	t_case("retrans: %s, to a peer that drops packets after a gap",
	       xfer_name(opcode));
	xfers_init(&t, NULL, 65536, 4096);
	t.s->b.qp.resp.ofo_max = 0;
	sim_open_cwnd(&t.s->a);
	t.s->wire = xfer_lose;
	t.s->arg = &lost;
	xfer_put(&t, opcode, 30 * 1024);
	xfers_run_check(&t);
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
 * The lost packet has a response of its own, before all others. That response does not
 * tell whether the peer keeps what follows a gap.
 */
static void lost_first(u32 opcode, bool keeps)
{
	struct hole h = { .from = 1000, .n = 1 };
	struct sim *s;
	struct xfers t;

	t_case("retrans: %s lost before others, to a peer that %s", xfer_name(opcode),
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

/* The ACK that ends a gap acknowledges all that was executed with it. */
static void ack_of_all(u32 opcode)
{
	struct xfer_loss lost = { .p = { { 1010, 1 }, { 1029, 1 } } };
	struct xfers t;

	t_case("retrans: %s, losses in the middle and at the end", xfer_name(opcode));
	send_over(&t, NULL, xfer_lose, &lost, opcode, 30 * 1024);
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

	t_case("retrans: %s, %s", xfer_name(opcode), what);
	send_over(&t, NULL, lose_hole, &h, opcode, 120 * 1024);
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
	one_hole("six packets in a row lost", 1010, 6, opcode, 3, 0, 7);
	/* 1, 2, 4, 8, 16, 32: at most twice as many as were lost */
	one_hole("forty packets in a row lost", 1010, 40, opcode, 6, 0, 63);
	/*
	 * Nobody can report these. First one goes out that did come; then 1, 2
	 * and the 3 that are left, each after a silence.
	 */
	one_hole("the last packet lost", 1119, 1, opcode, 0, 2, 2);
	one_hole("the last six packets lost", 1114, 6, opcode, 0, 4, 7);
}

/* One packet of B is lost: the one after *left others. */
static int lose_ack_at(struct sim *s, struct sim_packet *p)
{
	u32 *left = s->arg;

	return p->from != &s->b || (*left)-- != 0;
}

static void lost_ack(u32 opcode)
{
	struct sim_cfg cfg = sim_default;
	u32 left = 0;
	struct xfers t;

	t_case("retrans: %s, a probe asks for the only ACK",
	       xfer_name(opcode));
	cfg.timeout = 14;
	send_over(&t, &cfg, lose_ack_at, &left, opcode, 5 * 1024);
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
	if (p->from == &s->a && s->now < SIM_MS / 5)
		p->when += 5 * SIM_MS + sim_psn(p) * 10;
	return 1;
}

static void overtaking_probe(u32 opcode)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u64 probes;

	t_case("retrans: %s, the response to a probe that overtook is no sign of loss",
	       xfer_name(opcode));
	cfg.timeout = 16;
	send_over(&t, &cfg, stuck, NULL, opcode, 200 * 1024);
	probes = sim_count(&t.s->a, SROCE_CNT_PROBE);
	CHECK(probes > 0);
	/* single packets, not all that is outstanding */
	CHECK(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT) < 16);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_TX_PACKETS),
		 sim_count(&t.s->b, SROCE_CNT_ACK_SENT));
	CHECK(t.s->a.qp.req.retrans.gap_policy != SROCE_GAP_DROPS);
	xfers_end(&t);
}

/* Many packets in a row are late, by less than an RTT. */
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

	t_case("retrans: %s, twenty reordered packets are one gap", xfer_name(opcode));
	send_over(&t, NULL, late, NULL, opcode, 60 * 1024);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	xfers_end(&t);
}

static void lost_going_back(void)
{
	struct xfer_loss lost = { .p = { { 1010, 1 }, { 1011, 2 } } };
	struct xfers t;

	t_case("retrans: a packet lost again during go-back-N is reported");
	xfers_init(&t, NULL, 131072, 4096);
	t.s->a.qp.req.retrans.gap_policy = SROCE_GAP_DROPS;
	t.s->wire = xfer_lose;
	t.s->arg = &lost;
	xfer_put(&t, IB_WR_RDMA_WRITE, 60 * 1024);
	xfers_run_check(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 2);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_PROBE), 0);
	xfers_end(&t);
}

struct times {
	struct xfer_loss lost;
	u64	resent;		/* when the second retransmission was sent */
	u64	next;		/* when the first new packet after it did */
};

static int note_times(struct sim *s, struct sim_packet *p)
{
	struct times *o = s->arg;

	if (p->from != &s->a)
		return 1;
	/* by then it is known that the peer keeps what follows */
	if (sim_psn(p) == 1015 && o->lost.p[1].seen)
		o->resent = s->now;
	else if (o->resent && !o->next && sim_psn(p) > 1015)
		o->next = s->now;
	return xfer_lose(s, p);
}

/* New packets take long to build, and a train grows before it is sent. */
static void resent_first(u32 opcode)
{
	struct times o = { .lost.p = { { 1005, 1 }, { 1015, 1 } } };
	struct xfers t;

	t_case("retrans: %s, a retransmission is sent before new packets are built",
	       xfer_name(opcode));
	xfers_init(&t, NULL, 8388608, 4194304);
	t.s->wire = note_times;
	t.s->arg = &o;
	xfer_put(&t, opcode, 3000 * 1024);
	xfers_run_check(&t);
	CHECK(o.resent);
	CHECK(o.next > o.resent);
	xfers_end(&t);
}

struct impair_rates {
	struct rnd	r;
	u32		loss, twice, late;	/* in 1000 */
};

static int impair_random(struct sim *s, struct sim_packet *p)
{
	struct impair_rates *w = s->arg;
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

/* Retries are so many that all messages succeed. */
static void random_impairment(u32 rounds, u32 loss, u32 twice, u32 late)
{
	struct sim_cfg cfg = sim_default;
	struct impair_rates w;
	struct xfers t;
	u32 i, k;

	t_case("retrans: %u seeds, %u lost, %u repeated, %u late in 1000", rounds,
	       loss, twice, late);
	for (i = 0; i < rounds && t_ok(); i++) {
		t_where("seed %u", i);
		w = (struct impair_rates){ { i + 1 }, loss, twice, late };
		cfg.psn = rnd32(&w.r) & SROCE_PSN_MASK;
		cfg.mtu = 1 + rnd_below(&w.r, 5);
		cfg.rd_atomic = 1 + rnd_below(&w.r, 4);
		cfg.dest_rd_atomic = cfg.rd_atomic + rnd_below(&w.r, 2);
		xfers_init(&t, &cfg, 400000, 8 * (1 + rnd_below(&w.r, 500)));
		t.s->wire = impair_random;
		t.s->arg = &w;
		t.s->task_delay = rnd_below(&w.r, 50000);
		for (k = 0; k < 40; k++)
			xfer_put(&t, xfer_rc_ops[rnd_below(&w.r, ARRAY_SIZE(xfer_rc_ops))],
				 rnd_below(&w.r, rnd_below(&w.r, 8) ? 3000 :
					   20000));
		xfers_run_check(&t);
		xfers_end(&t);
	}
}

/* A path of @latency, on which each third of A's packets, of @n from @from on, is lost once */
struct thinned {
	u64	latency;
	u32	from, n, newest;
};

static int thin_out(struct sim *s, struct sim_packet *p)
{
	struct thinned *w = s->arg;
	u32 off = sim_psn(p) - w->from;

	p->when += w->latency;
	if (p->from != &s->a || sim_is_response(p) || off >= w->n || off < w->newest)
		return 1;
	w->newest = off + 1;
	return off % 3 > 0;
}

/* A gap in a round trip would take a hundred of them. */
static void window_of_gaps(u64 ms, bool resent)
{
	struct sim_cfg cfg = sim_default;
	struct thinned w = { .latency = ms * SIM_MS, .from = 1100, .n = 300 };
	u64 rtt = 2 * (w.latency + SIM_LATENCY), start;
	struct xfers t;

	t_case("retrans: a window with a hundred gaps, round trips of %llu ms", 2 * ms);
	cfg.timeout = 18;
	xfers_init(&t, &cfg, 1 << 20, 4096);
	t.s->wire = thin_out;
	t.s->arg = &w;
	xfer_put(&t, IB_WR_RDMA_WRITE, 10 * 1024);
	xfers_run_check(&t);
	t.s->a.qp.req.retrans.gap_policy = SROCE_GAP_KEEPS;
	sim_open_cwnd(&t.s->a);
	start = t.s->now;
	xfer_put(&t, IB_WR_RDMA_WRITE, 600 * 1024);
	xfers_run_check(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_WINDOW_RESENT) > 0, resent);
	if (resent)
		CHECK(t.s->now - start < 12 * rtt);
	xfers_end(&t);
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
	lost_ack(IB_WR_SEND);
	lost_ack(IB_WR_RDMA_WRITE);
	lost_ack(IB_WR_ATOMIC_FETCH_AND_ADD);
	late_packets(IB_WR_SEND);
	late_packets(IB_WR_RDMA_WRITE);
	lost_going_back();
	overtaking_probe(IB_WR_SEND);
	overtaking_probe(IB_WR_RDMA_WRITE);
	resent_first(IB_WR_SEND);
	resent_first(IB_WR_RDMA_WRITE);
	random_impairment(100, 10, 10, 0);
	random_impairment(100, 50, 20, 50);
	random_impairment(100, 0, 100, 200);
	window_of_gaps(0, false);
	window_of_gaps(2, false);
	window_of_gaps(5, true);
	window_of_gaps(50, true);
}
