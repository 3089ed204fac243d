// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What comes together rarely: states, losses and refusals at an awkward moment */

#include "tests.h"
#include "xfer.h"

#define MTU	256U
#define SENT	128U

/* What was sent, and whether it gets anywhere */
struct tap {
	bool	cut;
	u32	n;
	struct {
		u8	opcode;
		u8	syndrome;
		u32	psn;
	} sent[SENT];
};

static int tap(struct sim *s, struct sim_packet *p)
{
	struct tap *t = s->arg;

	if (t->n < SENT) {
		t->sent[t->n].opcode = sim_bth(p)[0];
		t->sent[t->n].syndrome = sim_bth(p)[12];
		t->sent[t->n++].psn = sim_psn(p);
	}
	return !t->cut;
}

static struct sim_cfg small(void)
{
	struct sim_cfg cfg = sim_default;

	cfg.mtu = IB_MTU_256;
	cfg.timeout = 14;
	return cfg;
}

/* As the peer's QP would send it */
static void forge(struct sroce_kqp *from, struct sroce_kqp *to,
		  struct sroce_pkt pkt)
{
	static const u8 data[MTU];

	pkt.pkey = 0xffff;
	pkt.qpn = to->qp.qpn;
	pkt.pad = -pkt.payload_len & 3;
	sim_deliver(from->sim, sim_forge(from, &pkt, data));
}

/*
 * The burst ends before the last request, so the one before it has no need to ask for an
 * acknowledge; then nothing more may be started.
 */
static void drained_within_burst(u32 timeout)
{
	struct sim_wr wr = { .opcode = IB_WR_RDMA_WRITE, .flags = IB_SEND_SIGNALED };
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i;

	t_case("rare: SQD between two bursts, no retries, timeout %u", timeout);
	cfg.retry_cnt = 0;
	cfg.timeout = timeout;
	cfg.slots = 2 * SROCE_TX_BUDGET;
	xfers_init(&t, &cfg, 65536, 4096);
	t.s->kick_delay = 100 * SIM_LATENCY;
	for (i = 0; i <= SROCE_TX_BUDGET; i++)
		sim_put_send(&t.s->a, &wr);
	sim_doorbell(&t.s->a);
	sim_enter(&t.s->a, IB_QPS_SQD);
	sim_run(t.s);
	CHECK(t.s->a.qp.drained);
	CHECK_EQ(t.s->a.scq.n, SROCE_TX_BUDGET);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	sim_enter(&t.s->a, IB_QPS_RTS);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, SROCE_TX_BUDGET + 1);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_RTS);
	xfers_end(&t);
}

static void hole_in_uc(void)
{
	struct sim_cfg cfg = small();
	struct ib_sge sge;
	struct xfers t;

	t_case("rare: a UC message with a packet of the wrong size is none");
	cfg.type = IB_QPT_UC;
	xfers_init(&t, &cfg, 65536, 4096);
	sge = sim_sge(t.b, 0, 4096);
	sim_put_recv(&t.s->b, 7, &sge, 1);
	forge(&t.s->a, &t.s->b, (struct sroce_pkt){
		.opcode = 0x20, .psn = cfg.psn, .payload_len = MTU });
	forge(&t.s->a, &t.s->b, (struct sroce_pkt){
		.opcode = 0x21, .psn = cfg.psn + 1, .payload_len = 100 });
	forge(&t.s->a, &t.s->b, (struct sroce_pkt){
		.opcode = 0x22, .psn = cfg.psn + 2, .payload_len = 100 });
	CHECK_EQ(t.s->b.rcq.n, 0);
	xfers_end(&t);
}

/* The whole message comes twice, while the first packet waits for its page. */
static void twice_while_paging(void)
{
	struct sim_cfg cfg = small();
	struct tap w = {};
	struct xfers t;
	u32 i;

	t_case("rare: a message that comes again while pages are awaited lacks nothing");
	xfers_init(&t, &cfg, 65536, 4096);
	t.s->page_delay = 10 * SIM_MS;
	sim_buf_on_demand(t.b);
	t.s->wire = tap;
	t.s->arg = &w;
	for (i = 0; i < 8; i++)
		forge(&t.s->a, &t.s->b, (struct sroce_pkt){
			.opcode = i % 4 == 0 ? 6 : i % 4 == 3 ? 8 : 7,
			.psn = cfg.psn + i % 4, .payload_len = MTU,
			.ackreq = i % 4 == 3, .va = t.b->mr.iova,
			.rkey = t.b->mr.key, .length = 4 * MTU,
		});
	w.cut = true;
	sim_run_until(t.s, t.s->now + 20 * SIM_MS);
	CHECK_EQ(t.s->b.qp.resp.psn, cfg.psn + 4);
	CHECK(w.n > 0);
	CHECK_EQ(w.sent[w.n - 1].syndrome & SROCE_AETH_TYPE, 0);
	CHECK_EQ(w.sent[w.n - 1].psn, cfg.psn + 3);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 0);
	xfers_end(&t);
}

/* Two requests overtake each other within one burst of the responder. */
static void overtaken(void)
{
	struct sim_cfg cfg = small();
	struct tap w = {};
	struct sim_packet *p[2];
	struct xfers t;
	u32 i;

	t_case("rare: a gap that is filled before it was told of is not told of");
	xfers_init(&t, &cfg, 65536, 4096);
	t.s->wire = tap;
	t.s->arg = &w;
	for (i = 0; i < 2; i++)
		/* WRITE of nothing */
		p[i] = sim_forge(&t.s->a, &(struct sroce_pkt){
			.opcode = 10, .pkey = 0xffff, .qpn = t.s->b.qp.qpn,
			.psn = cfg.psn + i, .ackreq = true,
		}, NULL);
	w.cut = true;
	sim_deliver_two(t.s, p[1], p[0]);
	sim_run_until(t.s, t.s->now + SIM_MS);
	CHECK_EQ(t.s->b.qp.resp.psn, cfg.psn + 2);
	CHECK_EQ(w.n, 1);
	CHECK_EQ(w.sent[0].psn, cfg.psn + 1);
	CHECK_EQ(w.sent[0].syndrome & SROCE_AETH_TYPE, 0);
	xfers_end(&t);
}

UNIT_TESTS(resp_tx)
{
	drained_within_burst(14);
	drained_within_burst(0);
	hole_in_uc();
	twice_while_paging();
	overtaken();
}
