// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Marked packets, and the CNPs that they cause */

#include "tests.h"
#include "peer.h"

#define US	1000ULL
#define CNP	0x81

/* What goes by on the wire, to be looked at */
static struct {
	u32	cnps;
	bool	all;		/* requests and responses are marked, not just requests */
	bool	responses_only;
	u32	first;		/* PSN, of mark_some() */
	u8	cnp[SROCE_BTH_LEN + 16];
	u32	cnp_len;	/* of the newest, from the BTH on without the ICRC */
	const struct sroce_kqp *from;
} seen;

/* A queue on the path marks packets; the ICRC leaves out these bits. */
static void mark(struct sim_packet *p)
{
	if (p->l3_len == 40)
		p->data[1] |= 3 << 4;
	else
		p->data[1] |= 3;
}

static int mark_all(struct sim *s, struct sim_packet *p)
{
	const u8 *bth = sim_bth(p);

	(void)s;
	if (bth[0] == CNP) {
		seen.cnps++;
		seen.from = p->from;
		seen.cnp_len = p->len - p->l3_len - 8 - SROCE_ICRC_LEN;
		memcpy(seen.cnp, bth, min_t(u32, seen.cnp_len, sizeof(seen.cnp)));
	} else if (seen.responses_only ? sim_is_response(p) : seen.all || !sim_is_response(p)) {
		mark(p);
	}
	return 1;
}

static void begin(struct xfers *t, enum ib_qp_type type, bool v6)
{
	struct sim_cfg cfg = sim_default;

	cfg.type = type;
	cfg.v6 = v6;
	cfg.timeout = 14;
	xfers_init(t, &cfg, 65536, 4096);
	t->s->a.qp.av.tclass = 2;
	t->s->b.qp.av.tclass = 2;
	t->s->wire = mark_all;
	memset(&seen, 0, sizeof(seen));
}

/* The CNP of a train of marked WRITEs. UC has no window, and does not heed it. */
static void format(enum ib_qp_type type, bool v6)
{
	bool rc = type == IB_QPT_RC;
	struct xfers t;
	u32 i;

	t_case("ecn: marked packets of %s over IPv%u cause a CNP", xfer_type_name(type),
	       v6 ? 6 : 4);
	begin(&t, type, v6);
	xfer_put(&t, IB_WR_RDMA_WRITE, 5 * 1024);
	xfers_run_check(&t);
	CHECK_EQ(seen.cnps, 1);
	CHECK(seen.from == &t.s->b);
	CHECK_EQ(seen.cnp_len, SROCE_BTH_LEN + 16);
	/* no pad, no solicited event, transport version 0 */
	CHECK_EQ(seen.cnp[1] & ~0x40, 0);
	CHECK_EQ(seen.cnp[2] << 8 | seen.cnp[3], 0xffff);
	/* BECN, not FECN */
	CHECK_EQ(seen.cnp[4], 0x40);
	CHECK_EQ(seen.cnp[5] << 16 | seen.cnp[6] << 8 | seen.cnp[7], t.s->a.qp.qpn);
	for (i = 8; i < sizeof(seen.cnp); i++)
		CHECK_EQ(seen.cnp[i], 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RX_MARKED), 5);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_CNP_SENT), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CNP_RCVD), rc);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CNP_IGNORED), !rc);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RX_MARKED), 0);
	xfers_end(&t);
}

/* A READ request is no response: it is answered by a CNP. */
static void read_request(void)
{
	struct xfers t;

	t_case("ecn: a marked READ request causes a CNP");
	begin(&t, IB_QPT_RC, false);
	sim_run_until(t.s, 1000 * US);
	xfer_put(&t, IB_WR_RDMA_READ, 1024);
	xfers_run_check(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RX_MARKED), 1);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_CNP_SENT), 1);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_CWND_DECREASE), 0);
	xfers_end(&t);
}

/* READ responses are marked. */
static void responses(bool cc)
{
	struct xfers t;

	t_case("ecn: marked responses %s",
	       cc ? "decrease their window" : "cause a CNP where they have no window");
	begin(&t, IB_QPT_RC, false);
	seen.all = true;
	t.s->a.qp.cc = cc;
	seen.responses_only = true;
	sim_run_until(t.s, 1000 * US);
	xfer_put(&t, IB_WR_RDMA_READ, 5 * 1024);
	xfers_run_check(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RX_MARKED), 5);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CNP_SENT), !cc);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_CNP_RCVD), !cc);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE), cc);
	CHECK_EQ(t.s->b.qp.resp.rate.limited, !cc);
	xfers_end(&t);
}

static void marked_ack(void)
{
	struct xfers t;

	t_case("ecn: a marked ACK causes no CNP");
	begin(&t, IB_QPT_RC, false);
	seen.responses_only = true;
	xfer_put(&t, IB_WR_RDMA_WRITE, 5 * 1024);
	xfers_run_check(&t);
	CHECK(sim_count(&t.s->a, SROCE_CNT_RX_MARKED) > 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CNP_SENT), 0);
	xfers_end(&t);
}

/* A marked WRITE of nothing arrives at B. */
static void marked_arrives(struct xfers *t)
{
	struct sroce_pkt pkt = {
		.opcode = 0x0a, .pkey = 0xffff, .qpn = t->s->b.qp.qpn,
		.psn = t->s->b.qp.resp.psn,
	};
	struct sim_packet *p = sim_forge(&t->s->a, &pkt, NULL);

	mark(p);
	sim_deliver(t->s, p);
}

static void interval(void)
{
	struct xfers t;

	t_case("ecn: a QP sends a CNP every 50 us at most");
	begin(&t, IB_QPT_RC, false);
	sim_run_until(t.s, 100 * US);
	marked_arrives(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_CNP_SENT), 1);
	t.s->now += 50 * US - 1;
	marked_arrives(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_CNP_SENT), 1);
	t.s->now++;
	marked_arrives(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_CNP_SENT), 2);
	t.s->now += 10000 * US;
	marked_arrives(&t);
	marked_arrives(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_CNP_SENT), 3);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RX_MARKED), 5);

	t_case("ecn: without memory there is no CNP, and it is not made up for");
	t.s->now += 100 * US;
	t.s->tx_fails = true;
	marked_arrives(&t);
	t.s->tx_fails = false;
	sim_doorbell(&t.s->b);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_CNP_SENT), 3);
	xfers_end(&t);
}

/* Packets that arrive as one */
static void segments(void)
{
	struct xfers t;

	t_case("ecn: each of several packets received at once is counted");
	begin(&t, IB_QPT_RC, false);
	t.s->train = 64;
	xfer_put(&t, IB_WR_RDMA_WRITE, 10 * 1024);
	xfers_run_check(&t);
	CHECK(sim_count(&t.s->b, SROCE_CNT_RX_PKT_BATCHES) > 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RX_MARKED), 10);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_CNP_SENT), 1);
	xfers_end(&t);
}

/* As mark_all(), of the third and fourth packet; seen.first is the PSN of the first */
static int mark_some(struct sim *s, struct sim_packet *p)
{
	s32 n = sroce_psn_diff(sim_psn(p), seen.first);

	return n == 2 || n == 3 ? mark_all(s, p) : 1;
}

/* The first of a train is received by itself, so the mark is on those behind it. */
static void response_segments(void)
{
	struct xfers t;

	t_case("ecn: marked responses that are received at once decrease their window");
	begin(&t, IB_QPT_RC, false);
	t.s->train = 64;
	seen.responses_only = true;
	seen.first = t.s->a.qp.req.psn;
	t.s->wire = mark_some;
	sim_run_until(t.s, 1000 * US);
	xfer_put(&t, IB_WR_RDMA_READ, 10 * 1024);
	xfers_run_check(&t);
	CHECK(sim_count(&t.s->a, SROCE_CNT_RX_PKT_BATCHES) > 0);
	CHECK(sim_count(&t.s->a, SROCE_CNT_RX_MARKED) > 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE), 1);
	xfers_end(&t);
}

/* The QP is in error when the trip ends that a marked packet began. */
static void error(void)
{
	struct xfers t;

	t_case("ecn: no CNP leaves a QP in error");
	begin(&t, IB_QPT_RC, false);
	t.s->b.qp.cnp_due = true;
	sim_enter(&t.s->b, IB_QPS_ERR);
	sim_doorbell(&t.s->b);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_CNP_SENT), 0);
	xfers_end(&t);
}

static void cnp_arrives_late(struct xfers *t)
{
	static const u8 zeros[16];
	struct sroce_pkt pkt = {
		.opcode = CNP, .pkey = 0xffff, .qpn = t->s->a.qp.qpn,
		.payload_len = sizeof(zeros),
	};

	sim_deliver(t->s, sim_forge(&t->s->b, &pkt, zeros));
}

/* All requests have just been acknowledged. */
static void cnp_arrives(struct xfers *t)
{
	t->s->a.qp.req.idle_since = t->s->now;
	cnp_arrives_late(t);
}

static void heeded(void)
{
	struct sroce_cwnd *c;
	struct xfers t;
	u32 before;

	t_case("ecn: a CNP decreases the window");
	begin(&t, IB_QPT_RC, false);
	c = &t.s->a.qp.req.cwnd;
	sim_run_until(t.s, 1000 * US);
	c->cwnd = SROCE_CWND_MAX;
	before = sroce_cwnd(c);
	cnp_arrives(&t);
	CHECK(sroce_cwnd(c) < before);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CNP_RCVD), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE), 1);

	t_case("ecn: but not with congestion control off");
	t.s->now += 1000 * US;
	t.s->a.qp.cc = false;
	before = sroce_cwnd(c);
	cnp_arrives(&t);
	CHECK_EQ(sroce_cwnd(c), before);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CNP_RCVD), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CNP_IGNORED), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE), 1);

	t_case("ecn: nor for a path whose packets can't be marked, as ECT is not set");
	t.s->now += 1000 * US;
	t.s->a.qp.cc = true;
	t.s->a.qp.av.tclass = 0xfc;
	cnp_arrives(&t);
	CHECK_EQ(sroce_cwnd(c), before);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CNP_RCVD), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CNP_IGNORED), 2);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CWND_DECREASE), 1);

	t_case("ecn: ECT(1) will do");
	t.s->a.qp.av.tclass = 1;
	cnp_arrives(&t);
	CHECK(sroce_cwnd(c) < before);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CNP_RCVD), 2);
	xfers_end(&t);
}

/* A peer that sends a CNP for a marked ACK */
static void after_idling(void)
{
	struct sroce_cwnd *c;
	struct xfers t;
	u32 before;

	t_case("ecn: a CNP leaves the window of who has sent no request lately");
	begin(&t, IB_QPT_RC, false);
	seen.cnps = 0;
	t.s->wire = NULL;
	c = &t.s->a.qp.req.cwnd;
	xfer_put(&t, IB_WR_RDMA_WRITE, 5 * 1024);
	xfers_run_check(&t);
	before = sroce_cwnd(c);
	t.s->now += 1000 * US;
	cnp_arrives_late(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CNP_RCVD), 0);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CNP_IGNORED), 1);
	CHECK_EQ(sroce_cwnd(c), before);

	t_case("ecn: nor of who has sent one long ago, and has a large window");
	t.s->a.qp.req.idle_since = t.s->now - 1000 * US;
	c->cwnd = SROCE_CWND_MAX;
	before = sroce_cwnd(c);
	cnp_arrives_late(&t);
	CHECK_EQ(sroce_cwnd(c), before);

	t_case("ecn: but not of who has just had the last one acknowledged");
	xfer_put(&t, IB_WR_RDMA_WRITE, 5 * 1024);
	xfers_run_check(&t);
	before = sroce_cwnd(c);
	cnp_arrives(&t);
	CHECK(sroce_cwnd(c) < before);
	xfers_end(&t);
}

static void datagrams(void)
{
	struct xfers t;

	t_case("ecn: a CNP to a UD QP is dropped, and marked datagrams cause none");
	begin(&t, IB_QPT_UD, false);
	xfer_put(&t, IB_WR_SEND, 100);
	xfers_run_check(&t);
	CHECK_EQ(seen.cnps, 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_CNP_SENT), 0);
	cnp_arrives(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RX_QP_TYPE), 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CNP_RCVD), 0);
	xfers_end(&t);
}

UNIT_TESTS(ecn)
{
	format(IB_QPT_RC, false);
	format(IB_QPT_RC, true);
	format(IB_QPT_UC, false);
	read_request();
	responses(true);
	responses(false);
	marked_ack();
	interval();
	segments();
	response_segments();
	error();
	heeded();
	after_idling();
	datagrams();
}
