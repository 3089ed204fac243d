// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The responder: what it checks, executes, refuses and drops */

#include <stdlib.h>
#include <string.h>
#include "peer.h"
#include "tests.h"
#include "xfer.h"

#define SIZE	65536
#define GLOBAL	SROCE_FLUSH_GLOBAL
#define LASTS	SROCE_FLUSH_PERSISTENT
#define REGION	(SROCE_FLUSH_REGION << SROCE_FETH_SELECT_SHIFT)
/* Access flags are in the order of the placement types. */
#define RIGHTS(type)	((type) * SROCE_ACCESS_FLUSH_GLOBAL)

static enum ib_wc_status alone(struct sim_wr *how, int qp_rights, int mr_rights)
{
	enum ib_wc_status status;
	struct sim_wr wr;
	struct xfers t;

	xfers_init(&t, NULL, SIZE, 4096);
	t.s->b.qp.attr.qp_access_flags = qp_rights;
	t.b->mr.access = IB_ACCESS_LOCAL_WRITE | mr_rights;
	wr = xfer_flush(&t, 0, 100);
	wr.type = how->type;
	wr.level = how->level;
	status = xfers_post(&t, &wr);
	CHECK_EQ(t.s->b.events & BIT(IB_EVENT_QP_REQ_ERR),
		 status == IB_WC_REM_INV_REQ_ERR ? BIT(IB_EVENT_QP_REQ_ERR) : 0);
	CHECK_EQ(t.s->b.events & BIT(IB_EVENT_QP_ACCESS_ERR),
		 status == IB_WC_REM_ACCESS_ERR ? BIT(IB_EVENT_QP_ACCESS_ERR) :
						  0);
	xfers_end(&t);
	return status;
}

static void rights(void)
{
	struct sim_wr how = {};
	u32 qp, mr;

	t_case("resp: FLUSH: the QP and the region must both allow each placement type");
	for (how.type = 1; how.type < 4; how.type++) {
		for (qp = 0; qp < 4; qp++) {
			for (mr = 0; mr < 8; mr++) {
				u32 has = mr & 3;

				how.level = mr >> 2;
				t_where("type %u, level %u, QP %u, region %u",
					how.type, how.level, qp, has);
				CHECK_EQ(alone(&how, RIGHTS(qp), RIGHTS(has)),
					 how.type & ~qp ? IB_WC_REM_INV_REQ_ERR :
					 how.type & ~has ? IB_WC_REM_ACCESS_ERR :
					 IB_WC_SUCCESS);
			}
		}
	}
	/* no other access flag will do */
	how.type = GLOBAL;
	how.level = SROCE_FLUSH_RANGE;
	CHECK_EQ(alone(&how, ~0, 0xff), IB_WC_REM_ACCESS_ERR);
	CHECK_EQ(alone(&how, 0xff, ~0), IB_WC_REM_INV_REQ_ERR);
}

static void nonsense(void)
{
	static const u8 levels[] = { 0, 1, 2, 3, 4, 16, 255 };
	struct sim_wr how = {};
	u32 type, i;

	t_case("resp: FLUSH: reserved types and levels are not sent");
	for (type = 0; type < 256; type++) {
		for (i = 0; i < ARRAY_SIZE(levels); i++) {
			bool good = type && type < 4 && levels[i] < 2;

			how.type = type;
			how.level = levels[i];
			t_where("type %u, level %u", type, levels[i]);
			CHECK_EQ(alone(&how, ~0, ~0), good ? IB_WC_SUCCESS :
				 IB_WC_LOC_QP_OP_ERR);
		}
	}
}

static void ranges(void)
{
	static const struct {
		u64 off;
		u32 len;
		enum ib_wc_status status;
	} rows[] = {
		{ 0, 0, IB_WC_SUCCESS }, { SIZE, 0, IB_WC_SUCCESS },
		{ 0, SIZE, IB_WC_SUCCESS }, { 5, 7, IB_WC_SUCCESS },
		{ SIZE - 1, 1, IB_WC_SUCCESS },
		{ SIZE + 1, 0, IB_WC_REM_ACCESS_ERR },
		{ -1, 0, IB_WC_REM_ACCESS_ERR }, { -1, 8, IB_WC_REM_ACCESS_ERR },
		{ 1, SIZE, IB_WC_REM_ACCESS_ERR },
		{ 0, SROCE_MSG_MAX, IB_WC_REM_ACCESS_ERR },
		{ 0, SROCE_MSG_MAX + 1, IB_WC_LOC_LEN_ERR },
		{ 0, ~0u, IB_WC_LOC_LEN_ERR },
	};
	struct sim_wr wr;
	struct xfers t;
	u32 i, level, wrong;

	t_case("resp: FLUSH: a range must lie in the region, any address does for all of it");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (level = 0; level < 2; level++) {
			for (wrong = 0; wrong < 2; wrong++) {
				enum ib_wc_status want = rows[i].status;

				t_where("row %u, level %u, %s key", i, level,
					wrong ? "wrong" : "right");
				if (level)
					want = IB_WC_SUCCESS;
				if (wrong && want == IB_WC_SUCCESS)
					want = IB_WC_REM_ACCESS_ERR;
				xfers_init(&t, NULL, SIZE, 4096);
				wr = xfer_flush(&t, rows[i].off, rows[i].len);
				wr.level = level;
				wr.rkey ^= wrong;
				CHECK_EQ(xfers_post(&t, &wr), want);
				xfers_end(&t);
			}
		}
	}
}

/* A window has access rights of its own, but only those that its region allows. */
static void by_window(void)
{
	enum ib_wc_status status;
	struct sim_buf *w;
	struct sim_wr wr;
	struct xfers t;
	u32 has, gives, off;

	t_case("resp: FLUSH by a window onto a part of a region");
	for (has = 0; has < 2; has++) {
		for (gives = 0; gives < 4; gives++) {
			xfers_init(&t, NULL, SIZE, 4096);
			t_where("region %u, window %u", has, gives);
			w = sim_window_new(t.s, SROCE_MW_2);
			t.b->mr.access = IB_ACCESS_LOCAL_WRITE |
					 IB_ACCESS_MW_BIND | RIGHTS(has);
			wr = (struct sim_wr){
				.opcode = IB_WR_BIND_MW,
				.flags = IB_SEND_SIGNALED,
				.bind = {
					.addr = t.b->mr.iova + 64, .length = 64,
					.mr_key = t.b->mr.key,
					.key = w->mr.key,
					.new_key = w->mr.key + 1,
					.access = RIGHTS(gives),
				},
			};
			sim_post(&t.s->b, &wr);
			sim_run(t.s);
			CHECK_EQ(t.s->b.scq.n, 1);
			status = t.s->b.scq.e[0].status;
			CHECK_EQ(status, gives & ~has ? IB_WC_MW_BIND_ERR :
				 IB_WC_SUCCESS);
			wr = xfer_flush(&t, 64, 64);
			wr.rkey = w->mr.key;
			if (status == IB_WC_SUCCESS)
				CHECK_EQ(xfers_post(&t, &wr), gives ?
					 IB_WC_SUCCESS : IB_WC_REM_ACCESS_ERR);
			off = t.s->a.qp.state == IB_QPS_RTS ? 63 : SIZE;
			wr.remote_addr = t.b->mr.iova + off;
			if (gives && off < SIZE && status == IB_WC_SUCCESS)
				CHECK_EQ(xfers_post(&t, &wr), IB_WC_REM_ACCESS_ERR);
			xfers_end(&t);
		}
	}
}

/* When a FLUSH completes, all data written before it is in memory. */
static void check_order(struct sim *s, struct sroce_qp *qp,
			const struct sroce_cqe *cqe)
{
	const struct xfers *t = s->arg;
	u32 i;

	if (qp != &s->a.qp || cqe->opcode != SROCE_WC_FLUSH)
		return;
	for (i = 0; i < cqe->wr_id; i++)
		if (t->x[i].opcode == IB_WR_RDMA_WRITE)
			CHECK(sim_filled(t->b, t->x[i].off, t->x[i].len, i));
}

static struct rnd impair_rnd;

static int impair_random(struct sim *s, struct sim_packet *p)
{
	u32 x = rnd_below(&impair_rnd, 100);

	(void)s;
	if (x < 10)
		return p->lbpkt ? 1 : 0;
	if (x < 20)
		p->when += rnd_below(&impair_rnd, 100000);
	return x < 30 && !p->lbpkt ? 2 : 1;
}

static void order(bool local)
{
	struct xfers t;
	u32 seed, i;

	t_case("resp: data written before a FLUSH is in memory when it completes%s",
	       local ? ", loopback" : "");
	for (seed = 1; seed <= 60 && t_ok(); seed++) {
		t_where("seed %u", seed);
		impair_rnd.s = seed;
		xfers_init(&t, NULL, 400000, 1000);
		t.s->loopback = local;
		t.s->wire = impair_random;
		t.s->posted = check_order;
		t.s->arg = &t;
		if (seed & 1) {
			sim_buf_on_demand(t.b);
			t.s->page_delay = 50000;
		}
		for (i = 0; i < 40; i++)
			xfer_put(&t, rnd_below(&impair_rnd, 3) ? IB_WR_RDMA_WRITE :
				 SROCE_WR_FLUSH, rnd_below(&impair_rnd, 9000));
		xfers_run_check(&t);
		xfers_end(&t);
	}
}

struct refusal {
	const char	*what;
	struct sroce_pkt pkt[3];
	enum sroce_counter nak;
};

#define W_FIRST(len)	{ .opcode = 0x06, .payload_len = 1024, .length = (len) }
#define W_LAST(n)	{ .opcode = 0x08, .payload_len = (n) }

/* In each row the last packet is refused with a fatal NAK. */
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

static void refuse(const struct refusal *ref)
{
	static const u8 data[1100];
	struct ib_sge sge;
	struct xfers t;
	u32 i, n;

	t_case("resp: %s", ref->what);
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
		xfers_forge(&t, &p, data);
	}
	CHECK_EQ(sim_count(&t.s->b, ref->nak), 1);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	CHECK(t.s->b.rcq.n == 1);
	CHECK(t.s->b.rcq.e[0].status != IB_WC_SUCCESS);
	CHECK(sim_untouched(t.b, 1024, 65536));
	xfers_end(&t);
}

/* The payload of a packet can't be read: it is not executed at all. */
static void no_bytes(u32 opcode, enum ib_wc_status here, enum ib_wc_status there)
{
	struct xfers t;

	t_case("resp: %s, the payload of its packets can't be read", xfer_name(opcode));
	xfers_init(&t, NULL, 65536, 4096);
	t.s->copy_fails = true;
	xfer_put(&t, opcode, 3000);
	xfers_run(&t);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, here);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
	if (xfer_recvs(opcode)) {
		CHECK_EQ(t.s->b.rcq.n, 1);
		CHECK_EQ(t.s->b.rcq.e[0].status, there);
	}
	CHECK(sim_untouched(opcode == IB_WR_RDMA_READ ? t.a : t.b, 0, 65536));
	xfers_end(&t);
}

/* Eight bytes that the CPU can't change atomically */
static void split_atomic(const char *what, u32 opcode, u64 iova, u32 chunk)
{
	struct sim_wr wr;
	struct xfers t;

	t_case("resp: %s, memory %s", xfer_name(opcode), what);
	xfers_init(&t, NULL, 65536, 4096);
	t.b = sim_buf_new(t.s, iova, 64, chunk, IB_ACCESS_REMOTE_ATOMIC |
			  IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE);
	wr = xfer_make(&t, opcode, 8);
	sim_put64(t.b, 0, 0);
	wr.remote_addr = 0x10008;
	sim_post(&t.s->a, &wr);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_REM_INV_REQ_ERR);
	CHECK(sim_untouched(t.b, 0, 64));
	xfers_end(&t);
}

/* A region is deregistered while a message is written to it. */
static void key_goes(enum ib_qp_type type)
{
	struct xfers t;
	bool rc = type == IB_QPT_RC;

	t_case("resp: %s WRITE, the region is deregistered after its first packet",
	       rc ? "RC" : "UC");
	xfers_init_type(&t, type);
	xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
	sim_doorbell(&t.s->a);
	CHECK(sim_step(t.s));
	CHECK_EQ(t.s->b.qp.resp.remaining, 3000 - 1024);
	sim_buf_revoke(t.b);
	sim_run(t.s);
	CHECK(sim_untouched(t.b, 1024, 65536));
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status,
		 rc ? IB_WC_REM_ACCESS_ERR : IB_WC_SUCCESS);
	CHECK_EQ(t.s->b.events, rc ? BIT(IB_EVENT_QP_ACCESS_ERR) : 0);
	CHECK_EQ(t.s->b.qp.state, rc ? IB_QPS_ERR : IB_QPS_RTS);
	if (!rc) {
		CHECK(sim_count(&t.s->b, SROCE_CNT_RX_LENGTH) > 0);
		t.b->mr.key = t.b->mr.ibmr.rkey;
		xfer_put(&t, IB_WR_RDMA_WRITE_WITH_IMM, 3000);
		xfers_run(&t);
		CHECK(sim_filled(t.b, t.x[1].off, 3000, 1));
		CHECK_EQ(t.s->b.rcq.n, 1);
	}
	xfers_end(&t);
}

/* The peer of a UC QP can not end it. */
static void hole(void)
{
	struct xfers t;

	t_case("resp: UC WRITE to a page that can't be had is dropped");
	xfers_init_type(&t, IB_QPT_UC);
	sim_buf_on_demand(t.b);
	sim_buf_never(t.b, 0);
	xfer_put(&t, IB_WR_RDMA_WRITE, 200);
	xfers_run(&t);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
	CHECK_EQ(t.s->b.events, 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RX_LENGTH), 1);
	xfers_end(&t);
}

/* B went to the error state and flushed its receives. */
static void check_refused(const struct xfers *t, u32 flushed)
{
	const struct sroce_cq *cq = &t->s->b.rcq;
	u32 i, n = 0;

	CHECK_EQ(t->s->b.qp.state, IB_QPS_ERR);
	for (i = 0; i < cq->n; i++)
		n += cq->e[i].status == IB_WC_WR_FLUSH_ERR;
	CHECK_EQ(n, flushed);
	CHECK_EQ(sroce_ring_filled(&t->s->b.qp.rq.ring), 0);
}

enum wrong {
	KEY, RANGE_END, RANGE_START, WRAP, RIGHTS, GONE,
};

static void spoil(struct xfers *t, struct sim_wr *wr, enum wrong how)
{
	switch (how) {
	case KEY:
		wr->rkey ^= 1;
		break;
	case RANGE_END:
		wr->remote_addr = t->b->mr.iova + t->b->mr.length - 1999;
		break;
	case RANGE_START:
		wr->remote_addr = t->b->mr.iova - 8;
		break;
	case WRAP:
		wr->remote_addr = ~0ULL - 7;
		break;
	case RIGHTS:
		t->b->mr.access = IB_ACCESS_LOCAL_WRITE;
		break;
	case GONE:
		sim_buf_revoke(t->b);
		break;
	}
}

static void bad_remote(u32 opcode, enum wrong how)
{
	struct ib_sge sge;
	struct sim_wr wr;
	struct xfers t;
	u32 i;

	t_where("%s, %d", xfer_name(opcode), how);
	xfers_init(&t, NULL, 65536, 4096);
	xfer_put(&t, IB_WR_SEND, 3000);
	wr = xfer_make(&t, opcode, 2000);
	if (xfer_recvs(opcode))
		xfer_recv(&t, 1);
	spoil(&t, &wr, how);
	/* the SEND before needs its receive to be writable */
	if (how == GONE) {
		sim_doorbell(&t.s->a);
		t.b->mr.key = 0;
	}
	sim_put_send(&t.s->a, &wr);
	for (i = 0; i < 3; i++) {
		sge = sim_sge(t.b, t.off + 100 * i, 100);
		sim_put_recv(&t.s->b, 2000 + i, &sge, 1);
	}
	xfers_put_writes(&t, 3);
	if (how == GONE)
		t.b->mr.key = t.b->mr.ibmr.lkey;
	sim_doorbell(&t.s->a);
	if (how == GONE) {
		sim_run_until(t.s, t.s->now + 1);
		sim_buf_revoke(t.b);
	}
	sim_run(t.s);
	if (how != GONE) {
		xfers_check_failed(&t, 1, IB_WC_REM_ACCESS_ERR);
		check_refused(&t, 3 + xfer_recvs(opcode));
		CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_ACC_SENT), 1);
		CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_NAK_FATAL_RCVD), 1);
		CHECK(t.s->b.events & BIT(IB_EVENT_QP_ACCESS_ERR));
	} else {
		CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
		CHECK_EQ(t.s->b.qp.state, IB_QPS_ERR);
	}
	t.b->mr.key = t.b->mr.ibmr.lkey;
	xfers_end(&t);
}

static void bad_remotes(void)
{
	static const u32 ops[] = {
		IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_RDMA_READ,
		IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD,
		SROCE_WR_ATOMIC_WRITE, SROCE_WR_FLUSH,
	};
	u32 i;
	int how;

	t_case("resp: bad keys, ranges and rights are refused, and later work is flushed");
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		for (how = KEY; how <= GONE; how++) {
			/* one past the end would not be aligned */
			if (i >= 3 && i < 6 && how == RANGE_END)
				continue;
			bad_remote(ops[i], how);
		}
	}
}

static void bad_recv(enum ib_wc_status want, enum ib_wc_status local)
{
	struct sim_wr wr;
	struct ib_sge sge;
	struct xfers t;

	t_where("responder's status %d", want);
	xfers_init(&t, NULL, 65536, 4096);
	xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
	wr = xfer_make(&t, IB_WR_SEND, 3000);
	sge = sim_sge(t.b, t.x[1].off, want == IB_WC_LOC_LEN_ERR ? 2999 : 3000);
	sge.lkey ^= want == IB_WC_LOC_PROT_ERR;
	sim_put_recv(&t.s->b, 1001, &sge, 1);
	sim_put_recv(&t.s->b, 1002, &sge, 1);
	sim_put_send(&t.s->a, &wr);
	xfers_put_writes(&t, 2);
	xfers_run(&t);
	xfers_check_failed(&t, 1, local);
	check_refused(&t, 1);
	CHECK_EQ(t.s->b.rcq.n, 2);
	CHECK_EQ(t.s->b.rcq.e[0].wr_id, 1001);
	CHECK_EQ(t.s->b.rcq.e[0].status, want);
	xfers_end(&t);
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

	t_case("resp: UC %s, a lost packet costs its message and no more",
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
		/* the third message gets the receive even if the second took it */
		sge = sim_sge(t.b, t.x[2].off, 3000);
		sim_put_recv(&t.s->b, 1002, &sge, 1);
		xfers_run(&t);
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
	const char *name = xfer_type_name(type);
	struct sim_wr wr;
	struct xfers t;

	t_case("resp: %s, without a receive a message is dropped, the next arrives", name);
	xfers_init_type(&t, type);
	wr = xfer_make(&t, IB_WR_SEND, 700);
	CHECK_EQ(xfers_post(&t, &wr), IB_WC_SUCCESS);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OUT_OF_BUFFER), 1);
	xfer_put(&t, IB_WR_SEND, 700);
	xfers_run(&t);
	CHECK_EQ(t.s->b.rcq.n, 1);
	CHECK_EQ(t.s->b.rcq.e[0].status, IB_WC_SUCCESS);
	CHECK_EQ(t.s->b.rcq.e[0].wr_id, 1001);
	CHECK_EQ(t.s->b.qp.state, IB_QPS_RTS);
	xfers_end(&t);
}

static void too_long(void)
{
	struct sim_wr wr;
	struct ib_sge sge;
	struct xfers t;

	t_case("resp: UD: a datagram too long for its receive leaves it for the next");
	xfers_init_type(&t, IB_QPT_UD);
	wr = xfer_make(&t, IB_WR_SEND, 700);
	sim_put_send(&t.s->a, &wr);
	wr = xfer_make(&t, IB_WR_SEND, 600);
	sim_put_send(&t.s->a, &wr);
	sge = sim_sge(t.b, t.x[1].off, 40 + 699);
	sim_put_recv(&t.s->b, 1, &sge, 1);
	xfers_run(&t);
	CHECK_EQ(t.s->b.rcq.n, 1);
	CHECK_EQ(t.s->b.rcq.e[0].wr_id, 1);
	CHECK_EQ(t.s->b.rcq.e[0].byte_len, 640);
	CHECK(sim_filled(t.b, t.x[1].off + 40, 600, 1));
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RX_LENGTH), 1);
	xfers_end(&t);
}

static void grh(bool v6)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i;

	t_case("resp: UD: the network header is placed before the datagram, IPv%d",
	       v6 ? 6 : 4);
	cfg.type = IB_QPT_UD;
	cfg.v6 = v6;
	xfers_init(&t, &cfg, 65536, 4096);
	xfer_put(&t, IB_WR_SEND, 100);
	xfers_run_check(&t);
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

static void hole_in_uc(void)
{
	static const u8 data[256];
	struct sim_cfg cfg = sim_default;
	struct ib_sge sge;
	struct xfers t;

	t_case("resp: a UC message with a packet of the wrong size is dropped");
	cfg.type = IB_QPT_UC;
	cfg.mtu = IB_MTU_256;
	xfers_init(&t, &cfg, 65536, 4096);
	sge = sim_sge(t.b, 0, 4096);
	sim_put_recv(&t.s->b, 7, &sge, 1);
	xfers_forge(&t, &(struct sroce_pkt){
		.opcode = 0x20, .psn = cfg.psn, .payload_len = 256 }, data);
	xfers_forge(&t, &(struct sroce_pkt){
		.opcode = 0x21, .psn = cfg.psn + 1, .payload_len = 100 }, data);
	xfers_forge(&t, &(struct sroce_pkt){
		.opcode = 0x22, .psn = cfg.psn + 2, .payload_len = 100 }, data);
	CHECK_EQ(t.s->b.rcq.n, 0);
	xfers_end(&t);
}

/* The requester does not give up a responder that reports its page fault. */
static void no_hurry(void)
{
	struct xfers t;

	t_case("resp: a page fault longer than all timeouts is reported by RNR NAKs");
	xfers_init_odp(&t, XFER_REMOTE, false);
	t.s->a.qp.attr.retry_cnt = 1;
	t.s->a.qp.attr.timeout = 14;
	t.s->page_delay = 500 * SIM_MS;
	xfer_put(&t, IB_WR_SEND, 3000);
	xfer_put(&t, IB_WR_RDMA_WRITE, 20000);
	xfer_put(&t, IB_WR_ATOMIC_FETCH_AND_ADD, 8);
	xfers_run(&t);
	CHECK(sim_count(&t.s->b, SROCE_CNT_RNR_SENT) > 1);
	xfers_finish(&t);

	t_case("resp: no RNR NAK is sent for a short page fault");
	xfers_init_odp(&t, XFER_REMOTE, false);
	t.s->a.qp.attr.timeout = 14;
	t.s->page_delay = 20 * SIM_MS;
	xfer_put(&t, IB_WR_RDMA_WRITE, 20000);
	xfers_run(&t);
	CHECK(sim_count(&t.s->a, SROCE_CNT_PROBE) > 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RNR_SENT), 0);
	xfers_finish(&t);
}

/* The requester could not tell the first of its responses from the last. */
static void read_of_half_the_psns(void)
{
	struct xfers t;

	t_case("resp: a READ of as many PSNs as can't be compared is refused");
	peer_begin_resp(&t, 4);
	t.b->mr.length = 1ULL << 32;
	peer_ask_read(&t, FIRST, 0, SROCE_PSN_HALF * MTU);
	CHECK_EQ(txlog.n, 1);
	CHECK_EQ(txlog.p[0].opcode, 0x11);
	CHECK_EQ(txlog.p[0].syndrome, 0x61);
	t.b->mr.length = 65536;
	xfers_end(&t);
}

/* A receive may have room for more than the longest message. */
static void endless_send(void)
{
	static const u8 data[1024];
	struct sroce_resp *resp;
	struct ib_sge sge;
	struct xfers t;

	t_case("resp: a SEND is refused that goes on after the longest message");
	xfers_init(&t, NULL, 65536, 4096);
	resp = &t.s->b.qp.resp;
	sge = sim_sge(t.b, 0, 4096);
	sim_put_recv(&t.s->b, 1, &sge, 1);
	xfers_forge(&t, &(struct sroce_pkt){ .opcode = 0x00, .payload_len = 1024 }, data);
	CHECK(resp->have_wqe);
	/* what has come is so long */
	resp->off = SROCE_MSG_MAX;
	resp->wqe.length = 64ULL * SROCE_MSG_MAX;
	xfers_forge(&t, &(struct sroce_pkt){ .opcode = 0x01, .psn = resp->psn,
					     .payload_len = 1024 }, data);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_NAK_INV_SENT), 1);
	xfers_end(&t);
}

/*
 * A request of @len bytes from BTH to ICRC, too few or too many for its opcode, at a PSN
 * that is off by @off. The ICRC is right.
 */
static void bad_length(u8 opcode, u32 len, s32 off)
{
	struct sim_packet *p;
	struct sroce_pkt req;
	struct xfers t;

	t_where("opcode %#x, %u bytes, PSN %+d", opcode, len, off);
	peer_begin_resp(&t, 4);
	req = (struct sroce_pkt) {
		.opcode = opcode, .pkey = 0xffff, .qpn = t.s->b.qp.qpn,
		.psn = sroce_psn_add(t.s->b.qp.resp.psn, off), .ackreq = true,
		.va = t.b->mr.iova, .rkey = t.b->mr.ibmr.rkey, .length = 8, .payload_len = 8,
	};
	p = sim_forge(&t.s->a, &req, (const u8 *)"12345678");
	CHECK(p->l3_len + 8 + len < p->len);
	p->len = p->l3_len + 8 + len;
	sim_seal(p);
	sim_deliver(t.s, p);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_RX_MALFORMED), 1);
	CHECK_EQ(t.s->b.events & BIT(IB_EVENT_QP_REQ_ERR), off ? 0 : BIT(IB_EVENT_QP_REQ_ERR));
	CHECK_EQ(t.s->b.qp.state, off ? IB_QPS_RTS : IB_QPS_ERR);
	CHECK_EQ(txlog.n, !off);
	if (!off) {
		CHECK_EQ(txlog.p[0].opcode, SROCE_OP_ACK);
		CHECK_EQ(txlog.p[0].syndrome, GAP | SROCE_NAK_INV_REQ);
	}
	CHECK(sim_filled(t.b, 0, 8, 1));
	xfers_end(&t);
}

static void bad_lengths(void)
{
	static const struct {
		u8	opcode;
		u32	len;
	} rows[] = {
		/* SEND, WRITE: half words; in a header; without any but BTH */
		{ 0x04, 17 }, { 0x0a, 33 }, { 0x0a, 31 }, { 0x0a, 16 },
		/* READ and FETCH_ADD: forged with a payload, which is cut in part */
		{ 0x0c, 36 }, { 0x0c, 16 }, { 0x14, 48 }, { 0x14, 20 },
	};
	u32 i;

	t_case("resp: a request of a wrong length is refused at its PSN, else dropped");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		bad_length(rows[i].opcode, rows[i].len, 0);
		bad_length(rows[i].opcode, rows[i].len, 2);
		bad_length(rows[i].opcode, rows[i].len, -1);
	}
}

UNIT_TESTS(resp)
{
	u32 i;

	bad_lengths();
	endless_send();
	rights();
	nonsense();
	ranges();
	by_window();
	order(false);
	order(true);
	for (i = 0; i < ARRAY_SIZE(refusals); i++)
		refuse(&refusals[i]);
	no_bytes(IB_WR_SEND, IB_WC_REM_OP_ERR, IB_WC_LOC_PROT_ERR);
	no_bytes(IB_WR_RDMA_WRITE, IB_WC_REM_ACCESS_ERR, 0);
	no_bytes(IB_WR_RDMA_READ, IB_WC_LOC_PROT_ERR, 0);
	no_bytes(SROCE_WR_ATOMIC_WRITE, IB_WC_REM_INV_REQ_ERR, 0);
	split_atomic("in two extents", IB_WR_ATOMIC_FETCH_AND_ADD,
		     0x10000, 12);
	split_atomic("in two extents", SROCE_WR_ATOMIC_WRITE,
		     0x10000, 12);
	split_atomic("not aligned", IB_WR_ATOMIC_CMP_AND_SWP, 0x10004,
		     64);
	hole();
	key_goes(IB_QPT_RC);
	key_goes(IB_QPT_UC);
	bad_remotes();
	t_case("resp: receives too short or with a bad key fail both sides");
	bad_recv(IB_WC_LOC_LEN_ERR, IB_WC_REM_INV_REQ_ERR);
	bad_recv(IB_WC_LOC_PROT_ERR, IB_WC_REM_OP_ERR);
	uc_loss(IB_WR_SEND);
	uc_loss(IB_WR_RDMA_WRITE);
	no_receive(IB_QPT_UC);
	no_receive(IB_QPT_UD);
	too_long();
	read_of_half_the_psns();
	grh(0);
	grh(1);
	hole_in_uc();
	no_hurry();
}
