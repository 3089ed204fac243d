// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets that are kept after a gap */

#include "tests.h"
#include "peer.h"

#define SHARE_MAX	0x100000ULL

/* PSNs from the expected one on that are accepted */
#define AHEAD	(2 * SROCE_CWND_MAX)

static void nothing_kept(bool hold)
{
	struct xfers t;
	struct xfer_loss lost = { .p = { { 1002, 1 } } };

	t_case("ofo: packets after a gap can't be %s",
	       hold ? "held" : "allocated");
	xfers_init(&t, NULL, 65536, 4096);
	t.s->wire = xfer_lose;
	t.s->arg = &lost;
	t.s->no_memory = !hold;
	t.s->hold_fails = hold;
	sim_open_cwnd(&t.s->a);
	xfer_put(&t, IB_WR_SEND, 20 * 1024);
	xfers_run_check(&t);
	CHECK_EQ(lost.p[0].seen, 2);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OFO_QUEUED), 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OUT_OF_SEQ), 17);
	CHECK_EQ(t.s->a.qp.req.retrans.gap_policy, SROCE_GAP_DROPS);
	xfers_end(&t);
}

/* The number of kept packets is bounded. */
static void kept_bound(void)
{
	struct xfer_loss lost = { .p = { { 1005, 1 }, { 1015, 1 } } };
	struct xfers t;

	t_case("ofo: no more packets are kept after a gap than ofo_max");
	xfers_init(&t, NULL, 131072, 4096);
	t.s->b.qp.resp.ofo_max = 10;
	t.s->wire = xfer_lose;
	t.s->arg = &lost;
	xfer_put(&t, IB_WR_RDMA_WRITE, 60 * 1024);
	sim_doorbell(&t.s->a);
	while (sim_step(t.s))
		CHECK(t.s->b.qp.resp.ofo_len <= 10);
	xfers_check(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OFO_QUEUED) >= 10, 1);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	xfers_end(&t);
}

/* Kept packets are freed when the QP leaves RTS. */
static void kept_freed(enum ib_qp_state to)
{
	struct xfer_loss lost = { .p = { { 1005, 1 }, { 1015, 1 } } };
	struct xfers t;

	t_case("ofo: kept packets are freed when the QP goes to state %d", to);
	xfers_init(&t, NULL, 65536, 4096);
	t.s->wire = xfer_lose;
	t.s->arg = &lost;
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

/*
 * A request of an older connection, or of nobody: were it kept, each packet
 * until its turn would be answered with a NAK, for the gap before it.
 */
static void far_ahead(u32 ahead, bool kept)
{
	struct sroce_pkt p = { .opcode = 0x04, .psn = 1000 + ahead };
	struct xfers t;

	t_case("ofo: a request %u PSNs ahead is %s", ahead,
	       kept ? "kept" : "not kept");
	xfers_init(&t, NULL, 262144, 4096);
	xfers_forge(&t, &p, NULL);
	/* before A has sent anything */
	sim_run(t.s);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 1);
	CHECK_EQ(t.s->b.qp.resp.ofo_len, kept);
	if (!kept) {
		xfer_put(&t, IB_WR_RDMA_WRITE, 200 * 1024);
		xfers_run_check(&t);
		CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 1);
		CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT), 0);
	}
	xfers_end(&t);
}

/* A request arrives, so far behind a gap. */
static void arrives(struct xfers *t, u32 behind)
{
	xfers_forge(t, &(struct sroce_pkt){ .opcode = 0x04, .psn = 1001 + behind }, NULL);
}

/* A READ that is queued accounts for its responses, up to a bound. */
static void behind_read(u32 responses, u32 ahead, bool kept)
{
	struct xfers t;

	t_case("ofo: a request %u PSNs ahead, behind a READ of %u responses, is %s", ahead,
	       responses, kept ? "kept" : "not kept");
	xfers_init(&t, NULL, 65536, 4096);
	xfers_forge(&t, &(struct sroce_pkt){
		.opcode = 0x0c, .psn = 1001, .va = t.b->mr.iova, .rkey = t.b->mr.key,
		.length = responses * t.s->b.qp.mtu,
	}, NULL);
	arrives(&t, ahead - 1);
	CHECK_EQ(t.s->b.qp.resp.ofo_len, 1 + kept);
	sim_enter(&t.s->b, IB_QPS_RESET);
	CHECK_EQ(t.s->b.qp.resp.ofo_read_psns, 0);
	xfers_end(&t);
}

/* Somebody who knows all but the PSN sends one packet for so many PSNs. Return: packets kept */
static u32 sweep(u32 first, u32 step)
{
	struct xfers t;
	u32 i, kept;

	xfers_init(&t, NULL, 65536, 4096);
	t.s->quick = true;
	for (i = 0; i < 0x1000000; i += step)
		xfers_forge(&t, &(struct sroce_pkt){
			.opcode = 0x04, .psn = (first + i) & 0xffffff,
		}, NULL);
	kept = t.s->b.qp.resp.ofo_len;
	CHECK_EQ(t.s->b.qp.resp.psn, 1000);
	sim_run(t.s);
	xfers_end(&t);
	return kept;
}

static void blind(void)
{
	t_case("ofo: packets at every 4,096th PSN are needed for one of them to be kept");
	CHECK_EQ(sweep(1001, AHEAD), 1);
	CHECK_EQ(sweep(1000 + AHEAD - 1, AHEAD), 1);
	CHECK_EQ(sweep(1000 + AHEAD, 2 * AHEAD), 0);
	CHECK_EQ(sweep(1000 + AHEAD, 1 << 18), 0);
}

/* A packet for the PSN of one that is kept: a WRITE of 200 bytes */
static const struct second {
	const char	*what;
	struct sroce_pkt p;	/* what differs; 0 is as in the first */
	u32		byte;	/* this one of the payload differs, if not 0 */
	bool		same;
} seconds[] = {
	{ "the same", {}, 0, true },
	{ "the same with AckReq", { .ackreq = true }, 0, true },
	{ "another R_Key", { .rkey = 77 }, 0, false },
	{ "another address", { .va = 77 }, 0, false },
	{ "a SEND", { .opcode = 0x04 }, 0, false },
	{ "another length", { .payload_len = 199, .length = 199 }, 0, false },
	{ "another byte in the middle", {}, 130, false },
	{ "another last byte", {}, 199, false },
};

static void second_packet(const struct second *row)
{
	struct sroce_pkt p = {
		.opcode = 0x0a, .psn = 1005, .va = XFER_IOVA_B, .length = 200,
		.payload_len = 200,
	}, q = p;
	u8 data[200] = {};
	struct xfers t;

	t_case("ofo: a second packet for the PSN of one that is kept: %s", row->what);
	xfers_init(&t, NULL, 65536, 4096);
	p.rkey = t.b->mr.key;
	xfers_forge(&t, &p, data);
	q.opcode = row->p.opcode ?: p.opcode;
	q.rkey = row->p.rkey ?: p.rkey;
	q.va += row->p.va;
	q.payload_len = row->p.payload_len ?: p.payload_len;
	q.length = row->p.length ?: p.length;
	q.ackreq = row->p.ackreq;
	data[row->byte] = !!row->byte;
	xfers_forge(&t, &q, data);
	CHECK_EQ(t.s->b.qp.resp.ofo_len, row->same);
	CHECK_EQ(t.s->held, row->same);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OFO_CONFLICT), !row->same);
	/* one that comes later is kept again */
	xfers_forge(&t, &p, data);
	CHECK_EQ(t.s->b.qp.resp.ofo_len, 1);
	sim_enter(&t.s->b, IB_QPS_RESET);
	xfers_end(&t);
}

/* A packet is forged for a PSN behind one that is lost. */
static void forged_in_gap(u32 opcode)
{
	struct xfer_loss lost = { .p = { { 1001, 1 } } };
	static u8 evil[1024];
	struct xfers t;

	t_case("ofo: of a forged and a genuine %s behind a gap, the genuine lands",
	       xfer_name(opcode));
	memset(evil, 'E', sizeof(evil));
	xfers_init(&t, NULL, 65536, 4096);
	t.s->wire = xfer_lose;
	t.s->arg = &lost;
	xfers_forge(&t, &(struct sroce_pkt){
		.opcode = opcode == IB_WR_SEND ? 0x01 : 0x07, .psn = 1003,
		.payload_len = t.s->b.qp.mtu,
	}, evil);
	CHECK_EQ(t.s->b.qp.resp.ofo_len, 1);
	sim_open_cwnd(&t.s->a);
	xfer_put(&t, opcode, 20 * 1024);
	xfers_run_check(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OFO_CONFLICT), 1);
	xfers_end(&t);
}

/* Messages, each of which has its ACK before the next */
static void one_by_one(struct xfers *t, u32 n, u32 len)
{
	u32 i;

	for (i = 0; i < n; i++) {
		xfer_put(t, IB_WR_RDMA_WRITE, len);
		sim_doorbell(&t->s->a);
		sim_run(t->s);
	}
}

/*
 * The NAK takes the place of an ACK, and is one of nothing that the peer has sent. The first
 * message is sent again for the NAK of the forged packet, which is an answer to nothing.
 */
static void forged_alone(u32 packets)
{
	struct xfer_loss lost = {};
	struct xfers t;
	u64 naks;

	t_case("ofo: a forged packet costs the ACKs of a few messages, not of all, each of %u",
	       packets);
	xfers_init(&t, NULL, 262144, 4096);
	xfers_forge(&t, &(struct sroce_pkt){ .opcode = 0x04, .psn = 1500 }, NULL);
	one_by_one(&t, 7, packets * 1024);
	CHECK_EQ(t.s->b.qp.resp.ofo_len, 1);
	while (t.s->b.qp.resp.ofo_len && t.n < 10)
		one_by_one(&t, 1, packets * 1024);
	CHECK_EQ(t.s->b.qp.resp.ofo_len, 0);
	CHECK_EQ(t.s->held, 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OFO_CONFLICT), 1);
	CHECK(sim_count(&t.s->b, SROCE_CNT_DUPLICATE) <= 9);
	CHECK(sim_count(&t.s->a, SROCE_CNT_RETRANSMIT) <= 9);

	/* the next gap is reported */
	lost.p[0].psn = t.s->b.qp.resp.psn;
	lost.p[0].times = 1;
	naks = sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT);
	t.s->wire = xfer_lose;
	t.s->arg = &lost;
	xfer_put(&t, IB_WR_RDMA_WRITE, 4 * 1024);
	xfers_run_check(&t);
	CHECK_EQ(lost.p[0].seen, 2);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), naks + 1);
	xfers_end(&t);
}

/* Packet number @i of @n, a power of two, in an order of arrival */
static u32 ascending(u32 i, u32 n)
{
	(void)n;
	return i;
}

static u32 descending(u32 i, u32 n)
{
	return n - 1 - i;
}

/* Swapped as far as the search goes */
static u32 swapped(u32 i, u32 n)
{
	(void)n;
	return i ^ (SROCE_OFO_SCAN_MAX - 1);
}

/* The bits of the number reversed: each goes right between others. */
static u32 scattered(u32 i, u32 n)
{
	u32 r = 0;

	for (; n > 1; n >>= 1, i >>= 1)
		r = r << 1 | (i & 1);
	return r;
}

/* As many requests as may be kept arrive behind a gap; return: how many are kept. */
static u32 kept_in_order(u32 (*order)(u32 i, u32 n))
{
	u32 i, n = SROCE_OFO_MAX, kept;
	struct xfers t;

	xfers_init(&t, NULL, 65536, 4096);
	t.s->quick = true;
	for (i = 0; i < n; i++)
		arrives(&t, order(i, n));
	kept = t.s->b.qp.resp.ofo_len;
	sim_run(t.s);
	xfers_end(&t);
	return kept;
}

static void search_bound(void)
{
	t_case("ofo: requests in ascending or descending order, or swapped, are all kept");
	CHECK_EQ(kept_in_order(ascending), SROCE_OFO_MAX);
	CHECK_EQ(kept_in_order(descending), SROCE_OFO_MAX);
	CHECK_EQ(kept_in_order(swapped), SROCE_OFO_MAX);

	t_case("ofo: a request is dropped if the search for its place takes long");
	CHECK(kept_in_order(scattered) < SROCE_OFO_MAX / 2);
	CHECK(kept_in_order(scattered) >= SROCE_OFO_SCAN_MAX);
}

/* A batch is retransmitted, but for its first packet: most of it is there already. */
static void batch_retransmitted(void)
{
	u32 i, n = SROCE_OFO_MAX, holes = 0;
	struct xfers t;

	t_case("ofo: holes anywhere are filled by retransmissions in order");
	xfers_init(&t, NULL, 65536, 4096);
	t.s->quick = true;
	for (i = 0; i < n; i++) {
		if (i % 100 == 50)
			holes++;
		else
			arrives(&t, i);
	}
	CHECK_EQ(t.s->b.qp.resp.ofo_len, n - holes);
	for (i = 0; i < n; i++)
		arrives(&t, i);
	CHECK_EQ(t.s->b.qp.resp.ofo_len, n);
	sim_run(t.s);
	xfers_end(&t);
}

/* A WRITE of nothing arrives. */
static void write_arrives(struct xfers *t, u32 psn, bool ackreq)
{
	xfers_forge(t, &(struct sroce_pkt){
		.opcode = 0x0a, .psn = psn, .ackreq = ackreq, .va = t->b->mr.iova,
		.rkey = t->b->mr.key,
	}, NULL);
}

/* Three WRITEs behind a gap; there is no room for the last, which alone asks for an ACK. */
static void begin_refused(struct xfers *t)
{
	peer_begin_resp(t, 1);
	t->s->b.qp.resp.ofo_max = 2;
	write_arrives(t, FIRST + 1, false);
	write_arrives(t, FIRST + 2, false);
	write_arrives(t, FIRST + 3, true);
}

static void refused_behind_gap(void)
{
	struct xfers t;

	t_case("ofo: requests that can't be kept behind a gap are NAKed once it is filled");
	begin_refused(&t);
	CHECK_EQ(txlog.n, 1);
	write_arrives(&t, FIRST, false);
	CHECK_EQ(txlog.n, 2);
	CHECK_EQ(txlog.p[1].psn, FIRST + 3);
	CHECK_EQ(txlog.p[1].syndrome, GAP);
	write_arrives(&t, FIRST + 3, true);
	CHECK_EQ(txlog.n, 3);
	CHECK_EQ(txlog.p[2].psn, FIRST + 3);
	CHECK_EQ(txlog.p[2].syndrome & SROCE_AETH_TYPE, 0);
	xfers_end(&t);
}

/* The NAK would take the place of the ACK, and be one of nothing that was sent. */
static void refused_and_kept(void)
{
	struct xfers t;

	t_case("ofo: and not if they have come again");
	begin_refused(&t);
	t.s->b.qp.resp.ofo_max = 3;
	write_arrives(&t, FIRST + 3, true);
	txlog.n = 0;
	write_arrives(&t, FIRST, false);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(txlog.p[0].psn, FIRST + 3);
	CHECK_EQ(txlog.p[0].syndrome & SROCE_AETH_TYPE, 0);
	xfers_end(&t);
}

/* Go-back-N, of which only the last packet asks for an ACK: what it sends again is lost in part. */
static void second_gap(void)
{
	struct xfers t;

	t_case("ofo: a gap in what is sent again is NAKed at once");
	peer_begin_resp(&t, 1);
	write_arrives(&t, FIRST + 7, false);
	CHECK_EQ(txlog.n, 1);
	write_arrives(&t, FIRST, false);
	CHECK_EQ(txlog.n, 1);
	write_arrives(&t, FIRST + 2, false);
	CHECK_EQ(txlog.n, 2);
	CHECK_EQ(txlog.p[1].psn, FIRST + 1);
	CHECK_EQ(txlog.p[1].syndrome, GAP);
	/* and once */
	write_arrives(&t, FIRST + 3, false);
	CHECK_EQ(txlog.n, 2);
	xfers_end(&t);
}

/* A train is late, and comes between the packets of the next one. */
static void interleaved(void)
{
	struct xfers t;
	u32 i;

	t_case("ofo: packets that are late between new ones are one gap");
	peer_begin_resp(&t, 1);
	for (i = 0; i < 10; i++) {
		write_arrives(&t, FIRST + 32 + i, false);
		write_arrives(&t, FIRST + i, false);
	}
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_SEQ_SENT), 1);
	xfers_end(&t);
}

/* Greedy owners, one after the other, keep as much as they may. */
static void shares(void)
{
	u64 all = 0, own;
	u32 n;

	t_case("ofo: of what may be kept, a greedy user takes a fifth of what others leave");
	for (n = 0; n < 12; n++) {
		u64 left = SHARE_MAX - all;

		for (own = 0; sroce_ofo_is_fair(0, own + 1, all + 1, SHARE_MAX); own++)
			all++;
		CHECK_EQ(own, left / 5);
	}
	CHECK(SHARE_MAX - all > SHARE_MAX / 16);
}

static void qp_shares(void)
{
	u64 own = 0, qp;
	u32 n;

	t_case("ofo: of what a user may keep, a greedy QP takes half of what others leave");
	for (n = 0; n < 12; n++) {
		u64 left = SHARE_MAX / 5 - own;

		for (qp = 0; sroce_ofo_is_fair(qp + 1, own + 1, own + 1, SHARE_MAX); qp++)
			own++;
		CHECK_EQ(qp, left / 2);
	}
}

/* Its turn never comes: the peer doesn't send the packets before it. */
static void too_long(u32 len, bool kept)
{
	static const u8 data[4 * MTU];
	struct xfers t;
	struct sroce_pkt pkt = { .opcode = 0x01, .payload_len = len };

	t_case("ofo: a packet of %u bytes behind a gap is %s, with an MTU of %u", len,
	       kept ? "kept" : "dropped", MTU);
	peer_begin_resp(&t, 16);
	pkt.psn = sroce_psn_add(t.s->b.qp.resp.psn, 5);
	xfers_forge(&t, &pkt, data);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OUT_OF_SEQ), 1);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OFO_QUEUED), kept);
	sim_enter(&t.s->b, IB_QPS_RESET);
	xfers_end(&t);
}

/* A packet arrives that there is no memory to keep. */
static void arrives_in_vain(struct xfers *t, struct sroce_pkt pkt)
{
	t->s->no_memory = true;
	xfers_forge(t, &pkt, NULL);
	t->s->no_memory = false;
	CHECK_EQ(sim_count(&t->s->b, SROCE_CNT_OUT_OF_SEQ),
		 sim_count(&t->s->b, SROCE_CNT_OFO_QUEUED) + 1);
}

static void refused_before_gap(void)
{
	struct xfers t;
	struct sroce_pkt send = { .opcode = 0x04, .psn = FIRST + 1, .ackreq = true };
	struct sroce_pkt lost = { .opcode = 0x0a, .psn = FIRST + 2 };

	t_case("ofo: a packet that is refused is told of before a gap behind it");
	peer_begin_resp(&t, 1);
	xfers_forge(&t, &send, NULL);
	arrives_in_vain(&t, lost);
	peer_ask(&t, 0x0a, FIRST, 0, 0, 0);
	CHECK_EQ(txlog.p[txlog.n - 1].psn, FIRST + 1);
	CHECK_EQ(txlog.p[txlog.n - 1].syndrome & SROCE_AETH_TYPE, SROCE_AETH_RNR);
	xfers_end(&t);
}

UNIT_TESTS(ofo)
{
	u32 i;

	nothing_kept(false);
	nothing_kept(true);
	refused_before_gap();
	kept_bound();
	kept_freed(IB_QPS_ERR);
	kept_freed(IB_QPS_RESET);
	far_ahead(1, true);
	far_ahead(AHEAD - 1, true);
	far_ahead(AHEAD, false);
	far_ahead(0x7fffff, false);
	behind_read(10, AHEAD + 9, true);
	behind_read(10, AHEAD + 10, false);
	behind_read(SROCE_READ_AHEAD + 1, AHEAD + SROCE_READ_AHEAD - 1, true);
	behind_read(SROCE_READ_AHEAD + 1, AHEAD + SROCE_READ_AHEAD, false);
	blind();
	shares();
	qp_shares();
	too_long(MTU, true);
	too_long(MTU + 4, false);
	too_long(4 * MTU, false);
	for (i = 0; i < ARRAY_SIZE(seconds); i++)
		second_packet(&seconds[i]);
	forged_in_gap(IB_WR_SEND);
	forged_in_gap(IB_WR_RDMA_WRITE);
	forged_alone(1);
	forged_alone(2);
	search_bound();
	batch_retransmitted();
	refused_behind_gap();
	refused_and_kept();
	second_gap();
	interleaved();
}
