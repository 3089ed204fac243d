// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* UC and UD */

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
		t_case("%s: %s, IPv%d", type == IB_QPT_UC ? "uc" : "ud",
		       xfer_name(uc_ops[i]), v6 ? 6 : 4);
		for (k = 0; k < nsizes; k++)
			one(&cfg, uc_ops[i], sizes[k]);
	}
}

static int lose(struct sim *s, struct sim_packet *p)
{
	(void)p;
	return s->sent != *(u32 *)s->arg;
}

/* Three messages, the second of three packets of which one is lost */
static void uc_loss(u32 opcode)
{
	struct sim_cfg cfg = sim_default;
	struct ib_sge sge;
	struct xfers t;
	u32 k, i;

	t_case("uc: %s, a lost packet costs its message and no more",
	       xfer_name(opcode));
	cfg.type = IB_QPT_UC;
	for (k = 0; k < 3; k++) {
		u32 lost = 1 + k;

		t_where("packet %u", lost);
		xfers_init(&t, &cfg, 65536, 4096);
		t.s->wire = lose;
		t.s->arg = &lost;
		xfer_put(&t, IB_WR_SEND, 1000);
		{
			struct sim_wr wr = xfer_make(&t, opcode, 3000);

			sim_put_send(&t.s->a, &wr);
		}
		{
			struct sim_wr wr = xfer_make(&t, IB_WR_SEND, 1000);

			sim_put_send(&t.s->a, &wr);
		}
		/* if the second takes it, the third has it again */
		sge = sim_sge(t.b, t.x[2].off, 3000);
		sim_put_recv(&t.s->b, 1002, &sge, 1);
		sim_doorbell(&t.s->a);
		sim_run(t.s);
		CHECK_EQ(t.s->a.scq.n, 3);
		for (i = 0; i < t.s->a.scq.n; i++)
			CHECK_EQ(t.s->a.scq.e[i].status, IB_WC_SUCCESS);
		CHECK_EQ(t.s->b.rcq.n, 2);
		CHECK_EQ(t.s->b.rcq.e[1].wr_id, 1002);
		CHECK_EQ(t.s->b.rcq.e[1].byte_len, 1000);
		CHECK(sim_filled(t.b, t.x[0].off, 1000, 0));
		CHECK(sim_filled(t.b, t.x[2].off, 1000, 2));
		CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
		CHECK(sim_count(&t.s->b, SROCE_CNT_UC_GAP) +
		      sim_count(&t.s->b, SROCE_CNT_OUT_OF_SEQ) > 0);
		xfers_end(&t);
	}
}

static void no_receive(enum ib_qp_type type)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct xfers t;

	t_case("%s: without a receive a message is dropped, the next arrives",
	       type == IB_QPT_UC ? "uc" : "ud");
	cfg.type = type;
	xfers_init(&t, &cfg, 65536, 4096);
	wr = xfer_make(&t, IB_WR_SEND, 700);
	sim_post(&t.s->a, &wr);
	sim_run(t.s);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OUT_OF_BUFFER), 1);
	xfer_put(&t, IB_WR_SEND, 700);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(t.s->b.rcq.n, 1);
	CHECK_EQ(t.s->b.rcq.e[0].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->b.rcq.e[0].wr_id, 1001);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
	xfers_end(&t);
}

static void too_long(void)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct ib_sge sge;
	struct xfers t;

	t_case("ud: a datagram too long for its receive leaves it for the next");
	cfg.type = IB_QPT_UD;
	xfers_init(&t, &cfg, 65536, 4096);
	wr = xfer_make(&t, IB_WR_SEND, 700);
	sim_put_send(&t.s->a, &wr);
	wr = xfer_make(&t, IB_WR_SEND, 600);
	sim_put_send(&t.s->a, &wr);
	sge = sim_sge(t.b, t.x[1].off, 40 + 699);
	sim_put_recv(&t.s->b, 1, &sge, 1);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(t.s->b.rcq.n, 1);
	CHECK_EQ(t.s->b.rcq.e[0].wr_id, 1);
	CHECK_EQ(t.s->b.rcq.e[0].byte_len, 640);
	CHECK(sim_filled(t.b, t.x[1].off + 40, 600, 1));
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RX_LENGTH), 1);
	xfers_end(&t);
}

static void qkeys(void)
{
	/* what is posted, the sender's own, and whether it gets through */
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

	t_case("ud: Q_Keys are checked, controlled ones replaced");
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

static void grh(bool v6)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i;

	t_case("ud: the network header stands before the datagram, IPv%d",
	       v6 ? 6 : 4);
	cfg.type = IB_QPT_UD;
	cfg.v6 = v6;
	xfers_init(&t, &cfg, 65536, 4096);
	xfer_put(&t, IB_WR_SEND, 100);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	if (v6) {
		CHECK_EQ(*sim_byte(t.b, 0), 0x60);
		CHECK_EQ(*sim_byte(t.b, 23), 1);
		CHECK_EQ(*sim_byte(t.b, 39), 2);
	} else {
		for (i = 0; i < 20; i++)
			CHECK_EQ(*sim_byte(t.b, i), 0);
		CHECK_EQ(*sim_byte(t.b, 20), 0x45);
		CHECK_EQ(*sim_byte(t.b, 35), 1);
		CHECK_EQ(*sim_byte(t.b, 39), 2);
	}
	CHECK_EQ(t.s->b.rcq.e[0].v6, v6);
	xfers_end(&t);
}

/* A local error ends in SQE, from where sending can be taken up again. */
static void sqe(enum ib_qp_type type)
{
	struct sim_cfg cfg = sim_default;
	struct sim_wr wr;
	struct xfers t;

	t_case("%s: a local error ends in SQE, receiving goes on",
	       type == IB_QPT_UC ? "uc" : "ud");
	cfg.type = type;
	xfers_init(&t, &cfg, 65536, 4096);
	wr = xfer_make(&t, IB_WR_SEND, 700);
	wr.sge[1].lkey ^= 1;
	sim_put_send(&t.s->a, &wr);
	wr = xfer_make(&t, IB_WR_SEND, 700);
	sim_put_send(&t.s->a, &wr);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_SQE);
	CHECK_EQ(t.s->a.scq.n, 2);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_LOC_PROT_ERR);
	CHECK_EQ(t.s->a.scq.e[1].status, IB_WC_WR_FLUSH_ERR);
	CHECK(sroce_qp_may_receive(&t.s->a.qp));
	sim_enter(&t.s->a, IB_QPS_RTS);
	xfer_put(&t, IB_WR_SEND, 700);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 3);
	CHECK_EQ(t.s->a.scq.e[2].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->b.rcq.n, 1);
	CHECK_EQ(t.s->b.rcq.e[0].wr_id, 1002);
	xfers_end(&t);
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

	t_case("raw: a frame leaves as it is, and is a packet of nobody's");
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

/* No frame is lost without a word. */
static void frame_pinned_then(void)
{
	struct sim_buf *b;
	struct sim *s = raw_sim(&b);
	struct ib_sge sge = sim_sge(b, 100, 60);
	u32 i;

	t_case("raw: a frame of a region that is pinned when a page was missed");
	sim_buf_on_demand(b);
	sim_buf_pinned_then(b);
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

	t_case("raw: %s", what);
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
	bad_frame("less than a header", IB_WR_SEND, 13, 0, IB_WC_LOC_LEN_ERR);
	bad_frame("more than fits", IB_WR_SEND, SIM_FRAME_MAX + 1, 0,
		  IB_WC_LOC_LEN_ERR);
	bad_frame("a key that isn't one", IB_WR_SEND, 100, 0xff,
		  IB_WC_LOC_PROT_ERR);
	bad_frame("what is no SEND", IB_WR_RDMA_WRITE, 100, 0,
		  IB_WC_LOC_QP_OP_ERR);
}

UNIT_TESTS(req_pkt)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		sizes(IB_QPT_UC, i);
		sizes(IB_QPT_UD, i);
		grh(i);
	}
	uc_loss(IB_WR_SEND);
	uc_loss(IB_WR_RDMA_WRITE);
	no_receive(IB_QPT_UC);
	no_receive(IB_QPT_UD);
	too_long();
	qkeys();
	sqe(IB_QPT_UC);
	sqe(IB_QPT_UD);
	frames();
	frame_pinned_then();
	bad_frames();
}
