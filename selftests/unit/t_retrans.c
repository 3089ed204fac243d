// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Retransmission: gaps, timeouts, probes, and whether the peer keeps packets after a gap */

#include <stdlib.h>
#include "tests.h"
#include "peer.h"

#define MANY	200	/* packets; more than one run of the task sends */
#define LAST	(FIRST + MANY - 1)

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

/* A WRITE of many packets, all of them in flight */
static struct sroce_retrans *begin_write(struct xfers *t)
{
	peer_begin(t);
	xfer_put(t, IB_WR_RDMA_WRITE, MANY * MTU);
	peer_go(t);
	CHECK_EQ(txlog.n, MANY);
	txlog.n = 0;
	return &t->s->a.qp.req.retrans;
}

/* The same to a peer that is known to keep what follows a gap */
static struct sroce_retrans *begin_write_kept(struct xfers *t)
{
	struct sroce_retrans *rp = begin_write(t);

	rp->gap_policy = SROCE_GAP_KEEPS;
	return rp;
}

/* The newest gap was at @gap, @dist packets after the one before; now there is another. */
static void begin_gaps(struct xfers *t, u32 dist, u32 gap)
{
	struct sroce_retrans *rp = begin_write_kept(t);

	rp->gap_dist = dist;
	rp->gap = gap;
	peer_ack(t, FIRST + 10, GAP);
}

static void finish_write(struct xfers *t)
{
	peer_ack(t, LAST, ACK);
	CHECK_EQ(t->s->a.scq.n, 1);
	CHECK_EQ(t->s->a.scq.e[0].status, IB_WC_SUCCESS);
	CHECK_EQ(t->s->a.qp.req.una, LAST + 1);
	xfers_end(t);
}

/* The response to the first retransmission shows the gap policy of the peer. */
static void gap_policies(void)
{
	struct sroce_retrans *rp;
	struct xfers t;

	t_case("retrans: ACK of just the retransmission: the peer drops");
	rp = begin_write(&t);
	peer_ack(&t, FIRST + 10, GAP);
	peer_sent(0, FIRST + 10, 1);
	CHECK(txlog.p[0].ackreq);
	CHECK(rp->hold_new);
	peer_ack(&t, FIRST + 10, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_DROPS);
	CHECK_EQ(txlog.n, 1 + SROCE_TX_BUDGET);
	CHECK_EQ(txlog.p[1].psn, FIRST + 11);
	/* an ACK of more: these are not sent again */
	peer_ack(&t, FIRST + 149, ACK);
	CHECK_EQ(txlog.p[1 + SROCE_TX_BUDGET].psn, FIRST + 150);
	finish_write(&t);

	t_case("retrans: ACK of a part of the retransmission: nothing is known yet");
	rp = begin_write(&t);
	while (!rp->probes)
		sim_run_until(t.s, t.s->now + 10000);
	txlog.n = 0;
	/* the gap is right behind the probe, so twice as much is sent */
	peer_ack(&t, FIRST + 1, GAP);
	peer_sent(0, FIRST + 1, 2);
	peer_ack(&t, FIRST + 1, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_UNKNOWN);
	peer_ack(&t, FIRST + 2, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_DROPS);
	CHECK_EQ(txlog.p[2].psn, FIRST + 3);
	finish_write(&t);

	t_case("retrans: ACK beyond the retransmission: the peer keeps");
	rp = begin_write(&t);
	peer_ack(&t, FIRST + 10, GAP);
	peer_ack(&t, LAST - 1, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_KEEPS);
	/* just the missing one; the last may be late */
	CHECK_EQ(txlog.n, 1);
	sim_run_until(t.s, t.s->now + 20 * SIM_MS);
	CHECK(txlog.n > 1);
	CHECK_EQ(txlog.p[1].psn, LAST);
	finish_write(&t);

	t_case("retrans: RNR NAK beyond the retransmission: the peer keeps");
	rp = begin_write(&t);
	peer_ack(&t, FIRST + 10, GAP);
	peer_ack(&t, FIRST + 11, RNR);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_KEEPS);
	CHECK_EQ(t.s->a.qp.req.psn, LAST + 1);
	sim_run_until(t.s, t.s->now + 100000);
	CHECK_EQ(txlog.n, 2);
	CHECK_EQ(txlog.p[1].psn, FIRST + 11);
	finish_write(&t);

	t_case("retrans: a peer believed to drop shows that it keeps");
	rp = begin_write(&t);
	rp->gap_policy = SROCE_GAP_DROPS;
	peer_ack(&t, FIRST + 10, GAP);
	CHECK(rp->rewound);
	CHECK_EQ(txlog.n, SROCE_TX_BUDGET);
	peer_ack(&t, FIRST + 149, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_KEEPS);
	CHECK(!rp->rewound);
	finish_write(&t);
}

/* A peer that keeps packets reports one gap at a time. */
static void many_gaps(void)
{
	struct sroce_retrans *rp;
	struct xfers t;
	u32 i;

	t_case("retrans: an ACK below what was sent before the retransmission: another gap");
	rp = begin_write_kept(&t);
	peer_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(txlog.n, 1);
	/* a round trip later */
	sim_run_until(t.s, t.s->now + 100000);
	peer_ack(&t, FIRST + 29, ACK);
	peer_sent(1, FIRST + 30, 1);
	/* a duplicate ACK, without news */
	peer_ack(&t, FIRST + 29, ACK);
	peer_ack(&t, FIRST + 30, GAP);
	CHECK_EQ(txlog.n, 2);
	finish_write(&t);

	t_case("retrans: frequent gaps: retransmissions are sent twice");
	begin_gaps(&t, 200, FIRST - 190);
	CHECK_EQ(txlog.n, 2);
	CHECK_EQ(txlog.p[1].psn, FIRST + 10);
	finish_write(&t);

	t_case("retrans: dense gaps: following packets are sent before the missing one");
	begin_gaps(&t, 20, FIRST - 10);
	CHECK_EQ(txlog.n, SROCE_RETRANS_BATCH_MIN + 1);
	for (i = 0; i < SROCE_RETRANS_BATCH_MIN - 1; i++)
		CHECK_EQ(txlog.p[i].psn, FIRST + 11 + i);
	CHECK_EQ(txlog.p[i].psn, FIRST + 10);
	CHECK_EQ(txlog.p[i + 1].psn, FIRST + 10);
	CHECK(txlog.p[i].ackreq);
	finish_write(&t);

	t_case("retrans: a peer believed to drop is tested again");
	rp = begin_write(&t);
	rp->gap_policy = SROCE_GAP_DROPS;
	for (i = 0; rp->gap_policy == SROCE_GAP_DROPS && i < 100; i++)
		peer_ack(&t, FIRST + i, GAP);
	CHECK_EQ(i, 8);
	CHECK(rp->hold_new);
	finish_write(&t);
}

/* Reordered packets look like gaps for a while. */
static void no_gaps(void)
{
	struct sroce_retrans *rp;
	struct xfers t;
	u32 i;

	t_case("retrans: ACK earlier than an RTT: the packet was reordered, not lost");
	rp = begin_write_kept(&t);
	/* an RTT sample */
	sim_run_until(t.s, t.s->now + 100000);
	peer_ack(&t, FIRST + 70, ACK);
	peer_ack(&t, FIRST + 80, GAP);
	CHECK_EQ(txlog.n, 1);
	sim_run_until(t.s, t.s->now + 1000);
	for (i = 81; i < 100; i++)
		peer_ack(&t, FIRST + i, ACK);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(rp->batch, SROCE_RETRANS_BATCH_MIN);
	finish_write(&t);

	t_case("retrans: ACK earlier than an RTT after silence: no sign of reordering");
	rp = begin_write_kept(&t);
	/* the first ACK comes late, and makes a large RTT sample */
	sim_run_until(t.s, t.s->now + 1500000);
	peer_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(txlog.n, 1);
	for (i = 0; txlog.n < 2 && i < 100; i++)
		sim_run_until(t.s, t.s->now + 1000000);
	CHECK_EQ(rp->probes, 1);
	for (i = 2; i < 6; i++) {
		peer_ack(&t, FIRST + 10 * i, GAP);
		sim_run_until(t.s, t.s->now + 1000);
	}
	CHECK(t.s->a.qp.req.rtt.srtt && t.s->a.qp.req.rtt.srtt < 5000);
	CHECK(rp->gap_dist < SROCE_GAP_DIST_MAX / 2);
	finish_write(&t);

	t_case("retrans: a peer believed to keep reports each packet: it drops");
	rp = begin_write_kept(&t);
	for (i = 10; rp->gap_policy == SROCE_GAP_KEEPS && i < 100; i++) {
		peer_ack(&t, FIRST + i, GAP);
		sim_run_until(t.s, t.s->now + 100000);
	}
	CHECK(i < 20);
	CHECK(rp->hold_new);
	peer_ack(&t, FIRST + i - 1, ACK);
	CHECK_EQ(rp->gap_policy, SROCE_GAP_DROPS);
	finish_write(&t);
}

/*
 * In slow start there is a gap, on a path with a long queue, where it is filled by one packet,
 * or a short one, where it is filled by two. The window is decreased. A round trip passes.
 */
static struct sroce_cwnd *begin_twice(struct xfers *t, u64 queue)
{
	struct sroce_retrans *rp = begin_write_kept(t);
	struct sroce_cwnd *c = &t->s->a.qp.req.cwnd;

	sim_run_until(t->s, t->s->now + SIM_MS);
	sroce_cwnd_sample(c, 100000, t->s->now);
	sroce_cwnd_sample(c, 100000 + queue, t->s->now);
	sroce_cwnd_sample(c, 100000 + queue, t->s->now);
	c->cwnd = 400;
	/* frequent, but not dense */
	rp->gap_dist = 90;
	rp->gap = FIRST - 15;
	peer_ack(t, FIRST + 80, GAP);
	CHECK(sroce_cwnd(c) < 400);
	CHECK(c->ssthresh);
	CHECK_EQ(txlog.n, queue > 100000 ? 1 : 2);
	sim_run_until(t->s, t->s->now + 100000);
	return c;
}

/* Likewise, but it is not known yet what the peer does with packets after a gap. */
static void first_came_twice(void)
{
	struct sroce_cwnd *c;
	struct xfers t;

	t_case("retrans: the same at the first gap of all");
	peer_begin(&t);
	c = &t.s->a.qp.req.cwnd;
	xfer_put(&t, IB_WR_RDMA_WRITE, 100 * MTU);
	peer_go(&t);
	sroce_cwnd_sample(c, 100000, t.s->now);
	sroce_cwnd_sample(c, 600000, t.s->now);
	sroce_cwnd_sample(c, 600000, t.s->now);
	sim_run_until(t.s, t.s->now + SIM_MS);
	c->cwnd = 400;
	peer_ack(&t, FIRST + 50, GAP);
	CHECK(sroce_cwnd(c) < 400);
	sim_run_until(t.s, t.s->now + 500000);
	peer_ack(&t, FIRST + 99, ACK);
	peer_ack(&t, FIRST + 99, ACK);
	CHECK_EQ(sroce_cwnd(c), 400);
	CHECK_EQ(t.s->a.scq.n, 1);
	xfers_end(&t);
}

static void came_twice(void)
{
	struct sroce_cwnd *c;
	struct xfers t;
	u32 cut;

	t_case("retrans: the newest ACK again after a gap: the packet was late");
	c = begin_twice(&t, 500000);
	peer_ack(&t, LAST, ACK);
	CHECK(sroce_cwnd(c) < 400);
	peer_ack(&t, LAST, ACK);
	CHECK_EQ(sroce_cwnd(c), 400);
	CHECK_EQ(c->ssthresh, 0);

	t_case("retrans: but only once");
	sroce_cwnd_lost(c, 200, 1, t.s->now += SIM_MS);
	cut = sroce_cwnd(c);
	CHECK(cut < 400);
	peer_ack(&t, LAST, ACK);
	CHECK_EQ(sroce_cwnd(c), cut);
	finish_write(&t);

	t_case("retrans: no sign of that if the missing packet was sent twice");
	c = begin_twice(&t, 50000);
	peer_ack(&t, LAST, ACK);
	cut = sroce_cwnd(c);
	CHECK(cut < 400);
	peer_ack(&t, LAST, ACK);
	CHECK_EQ(sroce_cwnd(c), cut);
	finish_write(&t);
}

/* Packets to be sent again wait for the RNR timer; meanwhile an ACK of them arrives. */
static void acked_while_waiting(void)
{
	struct sroce_retrans *rp;
	struct xfers t;

	t_case("retrans: ACK of all that is queued to be sent again");
	rp = begin_write(&t);
	CHECK_EQ(rp->to, rp->from);
	peer_ack(&t, FIRST + 10, RNR);
	peer_ack(&t, FIRST + 10, GAP);
	CHECK_EQ(sroce_psn_diff(rp->to, rp->from), 1);
	CHECK_EQ(txlog.n, 0);
	peer_ack(&t, FIRST + 20, ACK);
	/* nothing is to be sent again, unless silence follows */
	CHECK_EQ(sroce_psn_diff(rp->to, rp->from), 0);
	CHECK_EQ(txlog.n, 0);
	finish_write(&t);

	t_case("retrans: ACK of a part of what is queued to be sent again");
	rp = begin_write(&t);
	peer_ack(&t, FIRST + 10, GAP);
	peer_sent(0, FIRST + 10, 1);
	peer_ack(&t, FIRST + 11, RNR);
	peer_ack(&t, FIRST + 11, GAP);
	/* the first of them is sent after the others */
	CHECK_EQ(rp->from, FIRST + 12);
	CHECK_EQ(rp->to, FIRST + 13);
	CHECK_EQ(rp->copies, 1);
	peer_ack(&t, FIRST + 11, ACK);
	CHECK_EQ(rp->from, FIRST + 12);
	CHECK_EQ(rp->to, FIRST + 13);
	CHECK_EQ(rp->copies, 0);
	CHECK_EQ(txlog.n, 1);
	/* once more when the wait is over */
	sim_run_until(t.s, t.s->now + 100000);
	CHECK(txlog.n > 1);
	CHECK_EQ(txlog.p[1].psn, FIRST + 12);
	finish_write(&t);
}

/* The reported gap lies ahead of the PSN that go-back-N has reached. */
static void gap_ahead(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;

	t_case("retrans: a gap ahead of what is being sent again");
	cfg.timeout = 8;
	cfg.retry_cnt = 1;
	peer_begin_with(&t, &cfg, 65536);
	xfer_put(&t, IB_WR_RDMA_WRITE, MANY * MTU);
	peer_go(&t);
	t.s->a.qp.req.retrans.gap_policy = SROCE_GAP_DROPS;
	while (!sim_count(&t.s->a, SROCE_CNT_TIMEOUT) && sim_step(t.s))
		;
	CHECK_EQ(t.s->a.qp.req.psn, FIRST + SROCE_TX_BUDGET);
	txlog.n = 0;
	peer_ack(&t, FIRST + 100, GAP);
	/* nothing after it was sent again: all of it is */
	CHECK(!t.s->a.qp.req.retrans.hold_new);
	peer_sent(0, FIRST + 100, SROCE_TX_BUDGET);
	finish_write(&t);
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
	gap_policies();
	many_gaps();
	no_gaps();
	came_twice();
	first_came_twice();
	acked_while_waiting();
	gap_ahead();
	window_of_gaps(0, false);
	window_of_gaps(2, false);
	window_of_gaps(5, true);
	window_of_gaps(50, true);
}
