// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets that no honest peer sends, and packets damaged on the way */

#include <stdlib.h>
#include "tests.h"
#include "xfer.h"

/* From A's address to B, with the PSN that B expects unless @psn is set */
static void forge(struct sim *s, struct sroce_pkt *p, const void *data)
{
	p->qpn = s->b.qp.qpn;
	if (!p->pkey)
		p->pkey = 0xffff;
	if (!p->psn)
		p->psn = s->b.qp.resp.psn;
	sim_deliver(s, sim_forge(&s->a, p, data));
}

struct refusal {
	const char	*what;
	struct sroce_pkt pkt[3];
	enum sroce_counter nak;
};

#define W_FIRST(len)	{ .opcode = 0x06, .payload_len = 1024, .length = (len) }
#define W_LAST(n)	{ .opcode = 0x08, .payload_len = (n) }

/* Each ends with the last packet being refused for good. */
static const struct refusal refusals[] = {
	{ "a reserved opcode", { { .opcode = 0x1f } }, SROCE_CNT_NAK_INV_SENT },
	{ "a reserved opcode within a SEND",
	  { { .opcode = 0x00, .payload_len = 1024 },
	    { .opcode = 0x1e, .payload_len = 8 } }, SROCE_CNT_NAK_INV_SENT },
	{ "SEND middle without first",
	  { { .opcode = 0x01, .payload_len = 1024 } }, SROCE_CNT_NAK_INV_SENT },
	{ "WRITE last without first", { W_LAST(10) }, SROCE_CNT_NAK_INV_SENT },
	{ "SEND last in a WRITE",
	  { W_FIRST(2000), { .opcode = 0x02, .payload_len = 976 } },
	  SROCE_CNT_NAK_INV_SENT },
	{ "a message within another",
	  { W_FIRST(2000), { .opcode = 0x04 } }, SROCE_CNT_NAK_INV_SENT },
	{ "READ within a WRITE",
	  { W_FIRST(2000), { .opcode = 0x0c } }, SROCE_CNT_NAK_INV_SENT },
	{ "SEND first shorter than the MTU",
	  { { .opcode = 0x00, .payload_len = 1020 } }, SROCE_CNT_NAK_INV_SENT },
	{ "SEND only longer than the MTU",
	  { { .opcode = 0x04, .payload_len = 1028 } }, SROCE_CNT_NAK_INV_SENT },
	{ "SEND last without data",
	  { { .opcode = 0x00, .payload_len = 1024 }, { .opcode = 0x02 } },
	  SROCE_CNT_NAK_INV_SENT },
	{ "WRITE with less than promised",
	  { W_FIRST(2000), W_LAST(975) }, SROCE_CNT_NAK_INV_SENT },
	{ "WRITE with more than promised",
	  { W_FIRST(2000), W_LAST(977) }, SROCE_CNT_NAK_INV_SENT },
	{ "WRITE that goes on too long",
	  { W_FIRST(2000), { .opcode = 0x07, .payload_len = 1024 } },
	  SROCE_CNT_NAK_INV_SENT },
	{ "WRITE first of less than a packet", { W_FIRST(1024) },
	  SROCE_CNT_NAK_INV_SENT },
	{ "WRITE of more than a message", { W_FIRST(0x80000001) },
	  SROCE_CNT_NAK_INV_SENT },
	{ "READ of more than a message",
	  { { .opcode = 0x0c, .length = 0x80000001 } }, SROCE_CNT_NAK_INV_SENT },
	{ "READ of the longest message",
	  { { .opcode = 0x0c, .length = 0x80000000 } }, SROCE_CNT_NAK_ACC_SENT },
	{ "FETCH_ADD not aligned",
	  { { .opcode = 0x14, .va = XFER_IOVA_B + 4 } }, SROCE_CNT_NAK_INV_SENT },
	{ "ATOMIC WRITE not aligned",
	  { { .opcode = 0x1d, .va = XFER_IOVA_B + 4, .payload_len = 8,
	      .length = 8 } }, SROCE_CNT_NAK_INV_SENT },
	{ "ATOMIC WRITE of four bytes",
	  { { .opcode = 0x1d, .payload_len = 4, .length = 4 } },
	  SROCE_CNT_NAK_INV_SENT },
	{ "ATOMIC WRITE of more than it brings",
	  { { .opcode = 0x1d, .payload_len = 8, .length = 16 } },
	  SROCE_CNT_NAK_INV_SENT },
	{ "FLUSH to nowhere", { { .opcode = 0x1c } }, SROCE_CNT_NAK_INV_SENT },
	{ "FLUSH of a range to nowhere that is known",
	  { { .opcode = 0x1c, .feth = 0x4 } }, SROCE_CNT_NAK_INV_SENT },
	{ "FLUSH to where is known and where not",
	  { { .opcode = 0x1c, .feth = 0x9 } }, SROCE_CNT_NAK_INV_SENT },
	{ "FLUSH of neither a range nor a region",
	  { { .opcode = 0x1c, .feth = 0x21 } }, SROCE_CNT_NAK_INV_SENT },
	{ "FLUSH of more than a message",
	  { { .opcode = 0x1c, .feth = 0x1, .length = 0x80000001 } },
	  SROCE_CNT_NAK_INV_SENT },
	{ "FLUSH of more than the region",
	  { { .opcode = 0x1c, .feth = 0x1, .length = 65537 } },
	  SROCE_CNT_NAK_ACC_SENT },
	{ "FLUSH of nothing beyond the region",
	  { { .opcode = 0x1c, .feth = 0x1, .va = XFER_IOVA_B + 65537 } },
	  SROCE_CNT_NAK_ACC_SENT },
	{ "FLUSH within a WRITE",
	  { W_FIRST(2000), { .opcode = 0x1c, .feth = 0x1 } },
	  SROCE_CNT_NAK_INV_SENT },
	{ "CMP_SWP not aligned in memory",
	  { { .opcode = 0x13, .va = XFER_IOVA_B + 8 + 4096 * 8 + 1 } },
	  SROCE_CNT_NAK_INV_SENT },
};

static bool same_memory(const struct sim_buf *b, u64 from, u64 to)
{
	for (; from < to; from++)
		if (*sim_byte(b, from))
			return false;
	return true;
}

static void refuse(const struct refusal *ref)
{
	static const u8 data[1100];
	struct ib_sge sge;
	struct xfers t;
	u32 i, n;

	t_case("hostile: %s", ref->what);
	xfers_init(&t, NULL, 65536, 4096);
	sge = sim_sge(t.b, 0, 4096);
	sim_put_recv(&t.s->b, 1, &sge, 1);
	for (n = 0; n < 3 && (ref->pkt[n].opcode || ref->pkt[n].payload_len); n++)
		;
	for (i = 0; i < n; i++) {
		struct sroce_pkt p = ref->pkt[i];

		if (!p.va)
			p.va = t.b->mr.iova;
		p.rkey = t.b->mr.key;
		CHECK_EQ(sim_count(&t.s->b, ref->nak), 0);
		forge(t.s, &p, data);
	}
	CHECK_EQ(sim_count(&t.s->b, ref->nak), 1);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	CHECK(t.s->b.rcq.n == 1);
	CHECK(t.s->b.rcq.e[0].status != IB_WC_SUCCESS);
	CHECK(same_memory(t.b, 1024, 65536));
	xfers_end(&t);
}

static void dropped(void)
{
	static const struct {
		const char *what;
		struct sroce_pkt p;
		enum sroce_counter why;
	} rows[] = {
		{ "another service", { .opcode = 0x24 }, SROCE_CNT_RX_QP_TYPE },
		{ "another P_Key", { .opcode = 0x04, .pkey = 0x8001 },
		  SROCE_CNT_RX_PKEY },
		{ "a PSN to come", { .opcode = 0x04, .psn = 2000 },
		  SROCE_CNT_OUT_OF_SEQ },
		{ "a PSN that went", { .opcode = 0x04, .psn = 900 },
		  SROCE_CNT_DUPLICATE },
		{ "an acknowledge of nothing", { .opcode = 0x11, .psn = 5000 },
		  SROCE_CNT_ACK_GHOST },
		{ "an old acknowledge", { .opcode = 0x11, .psn = 900 },
		  SROCE_CNT_ACK_DUP },
		{ "a READ response to nothing",
		  { .opcode = 0x10, .payload_len = 100, .psn = 1200 },
		  SROCE_CNT_ACK_GHOST },
	};
	static const u8 data[100];
	struct sroce_pkt p;
	struct xfers t;
	u32 i;

	t_case("hostile: packets out of place are dropped and counted");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_where("%s", rows[i].what);
		xfers_init(&t, NULL, 65536, 4096);
		p = rows[i].p;
		forge(t.s, &p, data);
		CHECK_EQ(sim_count(&t.s->b, rows[i].why), 1);
		CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
		CHECK_EQ(t.s->b.qp.resp.psn, 1000);
		/* and what comes after is none the worse */
		xfer_put(&t, IB_WR_SEND, 3000);
		xfer_put(&t, IB_WR_RDMA_READ, 3000);
		sim_doorbell(&t.s->a);
		sim_run(t.s);
		xfers_check(&t);
		xfers_end(&t);
	}

	t_case("hostile: packets from another address are dropped");
	xfers_init(&t, NULL, 65536, 4096);
	t.s->a.qp.av.sgid.raw[15]++;
	p = (struct sroce_pkt){ .opcode = 0x04 };
	forge(t.s, &p, data);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RX_ADDRESS), 1);
	CHECK_EQ(t.s->b.qp.resp.psn, 1000);
	xfers_end(&t);
}

/*
 * A request of an older connection, or of nobody: were it kept, each packet
 * until its turn would be answered with a NAK, for the gap before it.
 */
static void far_ahead(u32 ahead, bool kept)
{
	struct sroce_pkt p = { .opcode = 0x04, .psn = 1000 + ahead };
	struct xfers t;

	t_case("hostile: a request %u PSNs ahead is %s", ahead,
	       kept ? "kept" : "not kept");
	xfers_init(&t, NULL, 262144, 4096);
	forge(t.s, &p, NULL);
	/* before there is anything that the NAK could mean */
	sim_run(t.s);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 1);
	CHECK_EQ(t.s->b.qp.resp.ofo_len, kept);
	if (!kept) {
		xfer_put(&t, IB_WR_RDMA_WRITE, 200 * 1024);
		sim_doorbell(&t.s->a);
		sim_run(t.s);
		xfers_check(&t);
		CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 1);
		CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 0);
	}
	xfers_end(&t);
}

/* What A, with a READ out, thinks of answers to it */
static void answer(struct sroce_pkt *p, enum ib_wc_status want)
{
	static const u8 data[2000];
	struct xfers t;
	u64 never = 0;

	xfers_init(&t, NULL, 65536, 4096);
	xfer_put(&t, IB_WR_RDMA_READ, 3000);
	t.s->tx_fails = true;
	t.s->arg = &never;
	sim_doorbell(&t.s->a);
	p->qpn = t.s->a.qp.qpn;
	p->pkey = 0xffff;
	p->psn = 1000;
	sim_deliver(t.s, sim_forge(&t.s->b, p, data));
	if (want == IB_WC_SUCCESS) {
		CHECK_EQ(t.s->a.scq.n, 0);
		CHECK_EQ(t.s->a.qp.req.una, 1000);
		t.s->tx_fails = false;
		sim_run(t.s);
		xfers_check(&t);
	} else {
		CHECK_EQ(t.s->a.scq.n, 1);
		CHECK_EQ(t.s->a.scq.e[0].status, want);
	}
	xfers_end(&t);
}

static void answers(void)
{
	struct sroce_pkt p;

	t_case("hostile: a READ response of the wrong length ends the READ");
	p = (struct sroce_pkt){ .opcode = 0x0d, .payload_len = 1020 };
	answer(&p, IB_WC_BAD_RESP_ERR);
	p = (struct sroce_pkt){ .opcode = 0x10, .payload_len = 1500 };
	answer(&p, IB_WC_BAD_RESP_ERR);
	p = (struct sroce_pkt){ .opcode = 0x0f };
	answer(&p, IB_WC_BAD_RESP_ERR);

	t_case("hostile: answers of the wrong kind or with odd codes do no harm");
	p = (struct sroce_pkt){ .opcode = 0x12 };
	answer(&p, IB_WC_SUCCESS);
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x1f };
	answer(&p, IB_WC_SUCCESS);
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x40 };
	answer(&p, IB_WC_SUCCESS);
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x65 };
	answer(&p, IB_WC_SUCCESS);
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x7f };
	answer(&p, IB_WC_SUCCESS);

	t_case("hostile: each NAK code has its completion status");
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x61 };
	answer(&p, IB_WC_REM_INV_REQ_ERR);
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x62 };
	answer(&p, IB_WC_REM_ACCESS_ERR);
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x63 };
	answer(&p, IB_WC_REM_OP_ERR);
	p = (struct sroce_pkt){ .opcode = 0x11, .syndrome = 0x64 };
	answer(&p, IB_WC_REM_INV_RD_REQ_ERR);
}

/* Bits turn over on the way: the ICRC finds them all. */
static int flip(struct sim *s, struct sim_packet *p)
{
	struct rnd *r = s->arg;

	if (!rnd_below(r, 10))
		sim_bth(p)[rnd_below(r, p->len - p->l3_len - 8)] ^=
			1 << rnd_below(r, 8);
	return 1;
}

static void damaged(void)
{
	u32 i, k, found = 0;
	struct xfers t;
	struct rnd r;

	t_case("hostile: packets damaged on the way are dropped, and sent again");
	for (i = 0; i < 200; i++) {
		t_where("seed %u", i);
		r.s = i;
		xfers_init(&t, NULL, 100000, 4096);
		t.s->wire = flip;
		t.s->arg = &r;
		for (k = 0; k < 10; k++)
			xfer_put(&t, xfer_rc_ops[k % ARRAY_SIZE(xfer_rc_ops)], 3000);
		sim_doorbell(&t.s->a);
		sim_run(t.s);
		/* bits of the reserved byte don't count, or fail to */
		xfers_check(&t);
		found += sim_count(&t.s->b, SROCE_CNT_RX_ICRC) +
			 sim_count(&t.s->a, SROCE_CNT_RX_ICRC);
		xfers_end(&t);
	}
	CHECK(found > 100);
}

static void random_packet(struct rnd *r, struct sim *s, struct sim_buf *b)
{
	u8 opcodes[256], data[1200];
	struct sroce_kqp *to = rnd_below(r, 3) ? &s->b : &s->a;
	struct sroce_kqp *from = to == &s->a ? &s->b : &s->a;
	struct sroce_pkt p = {};
	u32 i, n = 0;

	for (i = 0; i < 256; i++)
		if (sroce_opcodes[i].name && (SROCE_SVC(i) == to->qp.svc ||
					      !rnd_below(r, 30)))
			opcodes[n++] = i;
	p.opcode = opcodes[rnd_below(r, n)];
	p.qpn = to->qp.qpn;
	p.pkey = 0xffff;
	p.solicited = rnd32(r) & 1;
	p.ackreq = rnd32(r) & 1;
	p.psn = (sroce_opcodes[p.opcode].flags & SROCE_RESPONSE ?
		 to->qp.req.una : to->qp.resp.psn) + !rnd_below(r, 6) -
		!rnd_below(r, 6);
	p.psn &= SROCE_PSN_MASK;
	p.qkey = 0x1234;
	p.va = b->mr.iova + (rnd_below(r, 4) ? 8 * rnd_below(r, 400) : rnd32(r));
	p.rkey = b->mr.key ^ !rnd_below(r, 10);
	p.length = rnd_below(r, 3) ? rnd_below(r, 4000) : rnd32(r);
	p.syndrome = rnd_below(r, 3) ? 0x1f : rnd32(r);
	p.swap_add = rnd64(r);
	if (sroce_opcodes[p.opcode].flags & SROCE_PAYLOAD)
		p.payload_len = rnd_below(r, 3) ? 256 : rnd_below(r, 300);
	rnd_fill(r, data, 300);
	sim_deliver(s, sim_forge(from, &p, data));
}

static void storm(enum ib_qp_type type, u32 rounds)
{
	struct sim_cfg cfg = sim_default;
	struct rnd r = { 100 + type };
	struct xfers t;
	u32 i, k;

	cfg.type = type;
	cfg.mtu = IB_MTU_256;
	for (i = 0; i < rounds && t_ok(); i++) {
		t_where("type %d, round %u", type, i);
		xfers_init(&t, &cfg, 4000, 104);
		for (k = 0; k < 4; k++) {
			struct ib_sge sge[2] = { sim_sge(t.b, 0, 200),
						 sim_sge(t.b, 200, 800) };

			sim_put_recv(&t.s->b, k, sge, 2);
			sim_put_recv(&t.s->a, k, sge, 2);
		}
		if (type == IB_QPT_RC)
			xfer_put(&t, xfer_rc_ops[i % ARRAY_SIZE(xfer_rc_ops)], 1000);
		t.s->tx_fails = rnd32(&r) & 1;
		sim_doorbell(&t.s->a);
		for (k = 0; k < 15; k++) {
			random_packet(&r, t.s, t.b);
			sim_run_until(t.s, t.s->now + rnd_below(&r, 3000));
		}
		t.s->tx_fails = false;
		sim_run(t.s);
		xfers_end(&t);
	}
}

/* The replay memory must know the newest of two atomics with the same PSN. */
static void replay_after_wrap(void)
{
	struct sroce_pkt p = { .opcode = 0x14, .swap_add = 1 };
	struct sim_packet *ack;
	struct xfers t;
	u32 i;

	t_case("hostile: an atomic replayed is the newest with its PSN");
	xfers_init(&t, NULL, 4096, 4096);
	p.va = t.b->mr.iova;
	p.rkey = t.b->mr.key;
	for (i = 0; i < 3; i++) {
		/* as if the PSNs had gone around once */
		t.s->b.qp.resp.psn = 0x777;
		p.psn = 0x777;
		forge(t.s, &p, NULL);
		CHECK_EQ(sim_get64(t.b, 0), i + 1);
		forge(t.s, &p, NULL);
		CHECK_EQ(sim_get64(t.b, 0), i + 1);
		CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ATOMIC_REPLAY), i + 1);
		/* atomic acknowledge: original data after BTH and AETH */
		for (ack = t.s->wire_head; ack && ack->next; ack = ack->next)
			;
		CHECK(ack);
		if (ack)
			CHECK_EQ(sim_bth(ack)[23], i);
	}
	xfers_end(&t);
}

UNIT_TESTS(transport)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(refusals); i++)
		refuse(&refusals[i]);
	dropped();
	far_ahead(1, true);
	far_ahead((1 << 18) - 1, true);
	far_ahead(1 << 18, false);
	far_ahead(0x7fffff, false);
	answers();
	damaged();
	t_case("hostile: random packets do no harm beyond their QP");
	storm(IB_QPT_RC, 2000);
	storm(IB_QPT_UC, 1000);
	storm(IB_QPT_UD, 1000);
	replay_after_wrap();
}
