// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* FLUSH: what was written before shall be where it was asked to be. */

#include <string.h>
#include "tests.h"
#include "xfer.h"

#define SIZE	65536
#define GLOBAL	SROCE_FLUSH_GLOBAL
#define LASTS	SROCE_FLUSH_PERSISTENT
#define REGION	(SROCE_FLUSH_REGION << SROCE_FETH_SELECT_SHIFT)
/* The rights are in the order of the placements. */
#define RIGHTS(type)	((type) * SROCE_ACCESS_FLUSH_GLOBAL)

static struct sim_wr flush_of(const struct xfers *t, u64 off, u32 len)
{
	return (struct sim_wr){
		.opcode = SROCE_WR_FLUSH, .flags = IB_SEND_SIGNALED,
		.remote_addr = t->b->mr.iova + off, .rkey = t->b->mr.key,
		.length = len, .type = GLOBAL,
	};
}

/* How it ends; it ends */
static enum ib_wc_status end_of(struct xfers *t, const struct sim_wr *wr)
{
	const struct sroce_cq *cq = &t->s->a.scq;
	u32 n = cq->n;

	sim_post(&t->s->a, wr);
	sim_run(t->s);
	CHECK_EQ(cq->n, n + 1);
	if (cq->n != n + 1)
		return IB_WC_WR_FLUSH_ERR;
	if (cq->e[n].status == IB_WC_SUCCESS)
		CHECK_EQ(cq->e[n].opcode, SROCE_WC_FLUSH);
	return cq->e[n].status;
}

static enum ib_wc_status alone(struct sim_wr *how, int qp_rights, int mr_rights)
{
	enum ib_wc_status status;
	struct sim_wr wr;
	struct xfers t;

	xfers_init(&t, NULL, SIZE, 4096);
	t.s->b.qp.attr.qp_access_flags = qp_rights;
	t.b->mr.access = IB_ACCESS_LOCAL_WRITE | mr_rights;
	wr = flush_of(&t, 0, 100);
	wr.type = how->type;
	wr.level = how->level;
	status = end_of(&t, &wr);
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

	t_case("place: the QP and the region must both allow each placement");
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
	/* none of the others does instead */
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

	t_case("place: what has no meaning is not even sent");
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

	t_case("place: a range must be the region's, of a region all will do");
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
				wr = flush_of(&t, rows[i].off, rows[i].len);
				wr.level = level;
				wr.rkey ^= wrong;
				CHECK_EQ(end_of(&t, &wr), want);
				xfers_end(&t);
			}
		}
	}
}

/* By a window: it has rights of its own, but none that its region has not. */
static void windows(void)
{
	enum ib_wc_status status;
	struct sim_buf *w;
	struct sim_wr wr;
	struct xfers t;
	u32 has, gives, off;

	t_case("place: by a window onto a part of a region");
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
			wr = flush_of(&t, 64, 64);
			wr.rkey = w->mr.key;
			if (status == IB_WC_SUCCESS)
				CHECK_EQ(end_of(&t, &wr), gives ?
					 IB_WC_SUCCESS : IB_WC_REM_ACCESS_ERR);
			off = t.s->a.qp.state == IB_QPS_RTS ? 63 : SIZE;
			wr.remote_addr = t.b->mr.iova + off;
			if (gives && off < SIZE && status == IB_WC_SUCCESS)
				CHECK_EQ(end_of(&t, &wr), IB_WC_REM_ACCESS_ERR);
			xfers_end(&t);
		}
	}
}

/* When a FLUSH completes, all that was written before it has arrived. */
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

static struct rnd weather;

static int storm(struct sim *s, struct sim_packet *p)
{
	u32 x = rnd_below(&weather, 100);

	(void)s;
	if (x < 10)
		return p->parcel ? 1 : 0;
	if (x < 20)
		p->when += rnd_below(&weather, 100000);
	return x < 30 && !p->parcel ? 2 : 1;
}

static void order(bool local)
{
	struct xfers t;
	u32 seed, i;

	t_case("place: what was written before is there when a FLUSH completes%s",
	       local ? ", on one host" : "");
	for (seed = 1; seed <= 60 && t_ok(); seed++) {
		t_where("seed %u", seed);
		weather.s = seed;
		xfers_init(&t, NULL, 400000, 1000);
		t.s->local = local;
		t.s->wire = storm;
		t.s->posted = check_order;
		t.s->arg = &t;
		if (seed & 1) {
			sim_buf_on_demand(t.b);
			t.s->page_delay = 50000;
		}
		for (i = 0; i < 40; i++)
			xfer_put(&t, rnd_below(&weather, 3) ? IB_WR_RDMA_WRITE :
				 SROCE_WR_FLUSH, rnd_below(&weather, 9000));
		sim_doorbell(&t.s->a);
		sim_run(t.s);
		xfers_check(&t);
		xfers_end(&t);
	}
}

static int count_out(struct sim *s, struct sim_packet *p)
{
	u32 *most = s->arg;

	(void)p;
	if (s->a.qp.req.reads > *most)
		*most = s->a.qp.req.reads;
	return 1;
}

static void limit(void)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	u32 i, most = 0;

	t_case("place: no more are out than READs and atomics may be");
	cfg.rd_atomic = 2;
	cfg.dest_rd_atomic = 2;
	xfers_init(&t, &cfg, SIZE, 4096);
	t.s->wire = count_out;
	t.s->arg = &most;
	for (i = 0; i < 20; i++)
		xfer_put(&t, i % 3 ? SROCE_WR_FLUSH : IB_WR_RDMA_READ, 100);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(most, 2);
	xfers_end(&t);

	t_case("place: a responder that may not have any refuses it");
	cfg.dest_rd_atomic = 0;
	xfers_init(&t, &cfg, SIZE, 4096);
	xfer_put(&t, SROCE_WR_FLUSH, 100);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_REM_INV_REQ_ERR);
	xfers_end(&t);

	t_case("place: a requester that may not have any out can't post it");
	cfg.rd_atomic = 0;
	xfers_init(&t, &cfg, SIZE, 4096);
	xfer_put(&t, SROCE_WR_FLUSH, 100);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_LOC_QP_OP_ERR);
	CHECK_EQ(t.s->sent, 0);
	xfers_end(&t);
}

static int fence_hook(struct sim *s, struct sim_packet *p)
{
	if (p->from == &s->a && !sim_is_response(p) && sim_bth(p)[0] != 0x1c)
		CHECK_EQ(s->a.qp.req.reads, 0);
	return 1;
}

static void fence(void)
{
	struct sim_wr wr;
	struct xfers t;

	t_case("place: a fenced work request waits for a FLUSH");
	xfers_init(&t, NULL, SIZE, 4096);
	t.s->wire = fence_hook;
	xfer_put(&t, SROCE_WR_FLUSH, 100);
	wr = xfer_make(&t, IB_WR_RDMA_WRITE, 3000);
	wr.flags |= IB_SEND_FENCE;
	sim_put_send(&t.s->a, &wr);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	xfers_end(&t);
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

	t_case("place: BTH, FETH, RETH; answered by a READ response of nothing");
	xfers_init(&t, NULL, SIZE, 4096);
	t.s->wire = look;
	t.s->arg = &w;
	wr = flush_of(&t, 8, 0x1234);
	CHECK_EQ(end_of(&t, &wr), IB_WC_SUCCESS);
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

	/* of all of a region the length says nothing */
	wr.level = SROCE_FLUSH_REGION;
	CHECK_EQ(end_of(&t, &wr), IB_WC_SUCCESS);
	CHECK(!memcmp(w.data[0] + 12, whole, 12));
	key = t.b->mr.key;
	CHECK_EQ(w.data[0][24] << 24 | w.data[0][25] << 16 |
		 w.data[0][26] << 8 | w.data[0][27], key);
	CHECK(!memcmp(w.data[0] + 28, "\0\0\0\0", 4));
	xfers_end(&t);
}

static void again(void)
{
	struct seen w = {};
	struct sim_wr wr;
	struct xfers t;
	u32 i, psn;

	t_case("place: asked for again, it is answered again, and not as new");
	xfers_init(&t, NULL, SIZE, 4096);
	t.s->wire = look;
	t.s->arg = &w;
	wr = flush_of(&t, 0, 64);
	psn = t.s->b.qp.resp.psn;
	CHECK_EQ(end_of(&t, &wr), IB_WC_SUCCESS);
	for (i = 1; i < 4; i++) {
		struct sroce_pkt p = {
			.opcode = 0x1c, .qpn = t.s->b.qp.qpn, .pkey = 0xffff,
			.psn = psn, .feth = GLOBAL, .va = t.b->mr.iova,
			.rkey = t.b->mr.key, .length = 64,
		};

		w.data[1][0] = 0;
		sim_deliver(t.s, sim_forge(&t.s->a, &p, NULL));
		sim_run(t.s);
		CHECK_EQ(w.data[1][0], 0x10);
		CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_FLUSH_REPLAY), i);
	}
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_ATOMIC_REPLAY), 0);
	CHECK_EQ(t.s->b.qp.resp.msn, 1);
	xfers_end(&t);
}

/* Responses to a FLUSH that the peer never sees */
static int to_nowhere(struct sim *s, struct sim_packet *p)
{
	return p->from != &s->a;
}

static void answers(void)
{
	static const u8 data[8];
	static const struct {
		u8 opcode;
		u32 len;
		enum ib_wc_status status;
	} rows[] = {
		{ 0x10, 0, IB_WC_SUCCESS },
		{ 0x10, 8, IB_WC_BAD_RESP_ERR },
		/* as if they had not come */
		{ 0x12, 0, IB_WC_RETRY_EXC_ERR },
		{ 0x11, 0, IB_WC_RETRY_EXC_ERR },
	};
	struct sim_wr wr;
	struct xfers t;
	u32 i;

	t_case("place: only a READ response of nothing is an answer");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sroce_pkt p = {
			.opcode = rows[i].opcode, .pkey = 0xffff,
			.syndrome = 0x1f, .msn = 1, .payload_len = rows[i].len,
		};

		t_where("row %u", i);
		xfers_init(&t, NULL, SIZE, 4096);
		t.s->wire = to_nowhere;
		p.qpn = t.s->a.qp.qpn;
		p.psn = t.s->a.qp.req.psn;
		wr = flush_of(&t, 0, 64);
		sim_post(&t.s->a, &wr);
		sim_deliver(t.s, sim_forge(&t.s->b, &p, data));
		sim_run(t.s);
		CHECK_EQ(t.s->a.scq.n, 1);
		CHECK_EQ(t.s->a.scq.e[0].status, rows[i].status);
		xfers_end(&t);
	}
}

UNIT_TESTS(resp)
{
	rights();
	nonsense();
	ranges();
	windows();
	order(false);
	order(true);
	limit();
	fence();
	on_the_wire();
	again();
	answers();
}
