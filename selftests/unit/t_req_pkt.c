// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Request packets of all services, and raw frames */

#include <stdlib.h>
#include "tests.h"
#include "xfer.h"

static const u32 uc_ops[] = {
	IB_WR_SEND, IB_WR_SEND_WITH_IMM, IB_WR_RDMA_WRITE,
	IB_WR_RDMA_WRITE_WITH_IMM,
};

static void one(const struct sim_cfg *cfg, u32 opcode, u32 len)
{
	struct xfers t;

	t_where("%u bytes", len);
	xfers_init(&t, cfg, len + 256, 104);
	xfer_put(&t, opcode, len);
	sim_doorbell(&t.s->a);
	CHECK_EQ(t.s->a.scq.n, 1);
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_TX_PACKETS), 0);
	xfers_end(&t);
}

static void sizes(enum ib_qp_type type, bool v6)
{
	u32 sizes[] = { 0, 1, 1023, 1024, 1025, 5 * 1024 + 3 };
	u32 nops = type == IB_QPT_UC ? 4 : 2, nsizes = type == IB_QPT_UC ? 6 : 4;
	struct sim_cfg cfg = sim_default;
	u32 i, k;

	cfg.type = type;
	cfg.v6 = v6;
	cfg.psn = 0xfffffe;
	for (i = 0; i < nops; i++) {
		t_case("req_pkt: %s %s, IPv%d", xfer_type_name(type),
		       xfer_name(uc_ops[i]), v6 ? 6 : 4);
		for (k = 0; k < nsizes; k++)
			one(&cfg, uc_ops[i], sizes[k]);
	}
}

static void qkeys(void)
{
	/* the Q_Key posted, that of the sender's QP, and whether it is accepted */
	static const struct {
		u32 posted, own;
		bool ok;
	} rows[] = {
		{ 0x1234, 0x9999, true },
		{ 0x1235, 0x1234, false },
		{ 0x80000000, 0x1234, true },	/* "the QP's own" */
		{ 0x80001234, 0x9999, false },
	};
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct xfers t;
	u32 i;

	t_case("req_pkt: Q_Keys are checked, controlled ones replaced");
	cfg.type = IB_QPT_UD;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		t_where("row %u", i);
		xfers_init(&t, &cfg, 65536, 4096);
		wr = xfer_make(&t, IB_WR_SEND, 700);
		xfer_recv(&t, 0);
		wr.remote_qkey = rows[i].posted;
		t.s->a.qp.attr.qkey = rows[i].own;
		sim_post(&t.s->a, &wr);
		sim_run(t.s);
		CHECK_EQ(t.s->b.rcq.n, rows[i].ok);
		CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RX_QKEY), !rows[i].ok);
		xfers_end(&t);
	}
}

/* Send @len bytes by a raw packet QP of @s; return: the completion's status */
static enum ib_wc_status send_frame(struct sim *s, const struct ib_sge *sge,
				    u32 n)
{
	struct sim_wr wr = {
		.wr_id = 7, .opcode = IB_WR_SEND, .flags = IB_SEND_SIGNALED,
		.num_sge = n,
	};

	memcpy(wr.sge, sge, n * sizeof(*sge));
	s->a.scq.n = 0;
	sim_post(&s->a, &wr);
	CHECK_EQ(s->a.scq.n, 1);
	CHECK_EQ(s->a.scq.e[0].opcode, IB_WC_SEND);
	return s->a.scq.e[0].status;
}

static struct sim *raw_sim(struct sim_buf **b)
{
	struct sim_cfg cfg = sim_default;
	struct sim *s;

	cfg.type = IB_QPT_RAW_PACKET;
	s = sim_new(&cfg);
	*b = sim_buf_new(s, 0x1000, 4096, 512, 0);
	sim_fill(*b, 0, 4096, 1);
	return s;
}

static void frames(void)
{
	struct sim_buf *b;
	struct sim *s = raw_sim(&b);
	struct ib_sge sge[2] = { sim_sge(b, 100, 1000), sim_sge(b, 1100, 518) };
	u32 i;

	t_case("req_pkt: a raw frame is sent unchanged, and is no RoCE packet");
	CHECK_EQ(send_frame(s, sge, 2), IB_WC_SUCCESS);
	CHECK_EQ(s->a.frame_len, SIM_FRAME_MAX);
	for (i = 0; i < SIM_FRAME_MAX; i++)
		CHECK_EQ(s->a.frame[i], sim_pattern(100 + i, 1));
	sge[0].length = 14;
	CHECK_EQ(send_frame(s, sge, 1), IB_WC_SUCCESS);
	CHECK_EQ(s->a.frame_len, 14);
	sim_run(s);
	CHECK_EQ(s->a.frames, 2);
	CHECK_EQ(s->sent, 0);
	sim_end(s);
}

/* The frame is sent, or fails; it is not dropped. */
static void frame_pinned_then(void)
{
	struct sim_buf *b;
	struct sim *s = raw_sim(&b);
	struct ib_sge sge = sim_sge(b, 100, 60);
	u32 i;

	t_case("req_pkt: a raw frame from a region that is pinned during a page fault");
	sim_buf_on_demand(b);
	sim_buf_pin_on_fault(b);
	CHECK_EQ(send_frame(s, &sge, 1), IB_WC_SUCCESS);
	CHECK(!b->mr.odp);
	CHECK_EQ(s->a.frames, 1);
	for (i = 0; i < 60; i++)
		CHECK_EQ(s->a.frame[i], sim_pattern(100 + i, 1));
	sim_end(s);
}

static void bad_frame(const char *what, u32 opcode, u32 len, u32 key,
		      enum ib_wc_status status)
{
	struct sim_buf *b;
	struct sim *s = raw_sim(&b);
	struct sim_wr wr = {
		.wr_id = 7, .opcode = opcode, .num_sge = 1,
		.sge = { sim_sge(b, 0, len) },
	};

	t_case("req_pkt: raw frame, %s", what);
	wr.sge[0].lkey ^= key;
	sim_post(&s->a, &wr);
	CHECK_EQ(s->a.scq.n, 1);
	CHECK_EQ(s->a.scq.e[0].status, status);
	CHECK_EQ(s->a.frames, 0);
	CHECK_EQ(s->a.qp.state, IB_QPS_ERR);
	sim_end(s);
}

static void bad_frames(void)
{
	bad_frame("shorter than a header", IB_WR_SEND, 13, 0, IB_WC_LOC_LEN_ERR);
	bad_frame("longer than the MTU", IB_WR_SEND, SIM_FRAME_MAX + 1, 0,
		  IB_WC_LOC_LEN_ERR);
	bad_frame("wrong L_Key", IB_WR_SEND, 100, 0xff,
		  IB_WC_LOC_PROT_ERR);
	bad_frame("not a SEND", IB_WR_RDMA_WRITE, 100, 0,
		  IB_WC_LOC_QP_OP_ERR);
}

/* The last packet of each end */
struct seen {
	u8	data[2][64];
	u32	len[2];
	u32	n;
};

static int look(struct sim *s, struct sim_packet *p)
{
	struct seen *w = s->arg;
	u32 end = p->from != &s->a, len = p->len - p->l3_len - 8;

	w->len[end] = len;
	memcpy(w->data[end], sim_bth(p), len < 64 ? len : 64);
	w->n++;
	return 1;
}

static void on_the_wire(void)
{
	static const u8 whole[20] = {
		0, 0, 0, 0x11,
		0xff, 0xff, 0x80, 0x00, 0x00, 0x00, 0x10, 0x00,
	};
	struct seen w = {};
	struct sim_wr wr;
	struct xfers t;
	u32 key;

	t_case("req_pkt: FLUSH: BTH, FETH, RETH; the response is an empty READ response");
	xfers_init(&t, NULL, 65536, 4096);
	t.s->wire = look;
	t.s->arg = &w;
	wr = xfer_flush(&t, 8, 0x1234);
	CHECK_EQ(xfers_post(&t, &wr), IB_WC_SUCCESS);
	CHECK_EQ(w.n, 2);
	CHECK_EQ(w.len[0], 12 + 20 + SROCE_ICRC_LEN);
	CHECK_EQ(w.data[0][0], 0x1c);
	CHECK_EQ(w.data[0][12 + 3], 0x01);
	CHECK_EQ(w.data[0][12 + 18], 0x12);
	CHECK_EQ(w.data[0][12 + 19], 0x34);
	CHECK_EQ(w.len[1], 12 + 4 + SROCE_ICRC_LEN);
	CHECK_EQ(w.data[1][0], 0x10);
	CHECK_EQ(w.data[1][12 + 3], 1);	/* MSN */
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ACK_SENT), 0);

	/* the length is not used to flush all of a region */
	wr.level = SROCE_FLUSH_REGION;
	CHECK_EQ(xfers_post(&t, &wr), IB_WC_SUCCESS);
	CHECK(!memcmp(w.data[0] + 12, whole, 12));
	key = t.b->mr.key;
	CHECK_EQ(w.data[0][24] << 24 | w.data[0][25] << 16 |
		 w.data[0][26] << 8 | w.data[0][27], key);
	CHECK(!memcmp(w.data[0] + 28, "\0\0\0\0", 4));
	xfers_end(&t);
}

UNIT_TESTS(req_pkt)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		sizes(IB_QPT_UC, i);
		sizes(IB_QPT_UD, i);
	}
	qkeys();
	frames();
	frame_pinned_then();
	bad_frames();
	on_the_wire();
}
