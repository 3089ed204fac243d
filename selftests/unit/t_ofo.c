// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What may fail on a host while it takes a packet in */

#include "tests.h"
#include "xfer.h"

static bool untouched(const struct sim_buf *b, u64 from, u64 to)
{
	for (; from < to; from++)
		if (*sim_byte(b, from))
			return false;
	return true;
}

static int lose_third(struct sim *s, struct sim_packet *p)
{
	u32 *seen = s->arg;

	if (p->from != &s->a || sim_psn(p) != 1002)
		return 1;
	return (*seen)++ != 0;
}

static void no_room(bool hold)
{
	struct xfers t;
	u32 seen = 0;

	t_case("fails: what comes after a gap can't be %s",
	       hold ? "kept" : "remembered");
	xfers_init(&t, NULL, 65536, 4096);
	t.s->wire = lose_third;
	t.s->arg = &seen;
	t.s->no_memory = !hold;
	t.s->hold_fails = hold;
	xfer_put(&t, IB_WR_SEND, 20 * 1024);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(seen, 2);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OFO_QUEUED), 0);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OUT_OF_SEQ), 17);
	CHECK_EQ(t.s->a.qp.req.retrans.gap_policy, SROCE_GAP_DROPS);
	xfers_end(&t);
}

/* The bytes of a packet can't be read: nothing of it counts. */
static void no_bytes(u32 opcode, enum ib_wc_status here, enum ib_wc_status there)
{
	struct xfers t;

	t_case("fails: %s, the payload can't be read", xfer_name(opcode));
	xfers_init(&t, NULL, 65536, 4096);
	t.s->copy_fails = true;
	xfer_put(&t, opcode, 3000);
	sim_doorbell(&t.s->a);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, here);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
	if (xfer_recvs(opcode)) {
		CHECK_EQ(t.s->b.rcq.n, 1);
		CHECK_EQ(t.s->b.rcq.e[0].status, there);
	}
	CHECK(untouched(opcode == IB_WR_RDMA_READ ? t.a : t.b, 0, 65536));
	xfers_end(&t);
}

/* Eight bytes that the CPU can't change at once */
static void split_atomic(const char *what, u32 opcode, u64 iova, u32 chunk)
{
	struct sim_wr wr;
	struct xfers t;

	t_case("fails: %s %s", xfer_name(opcode), what);
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
	CHECK(untouched(t.b, 0, 64));
	xfers_end(&t);
}

/* A region goes while a message is written to it. */
static void key_goes(enum ib_qp_type type)
{
	struct sim_cfg cfg = sim_default;
	struct xfers t;
	bool rc = type == IB_QPT_RC;

	t_case("fails: %s WRITE, the region goes after its first packet",
	       rc ? "RC" : "UC");
	cfg.type = type;
	xfers_init(&t, &cfg, 65536, 4096);
	xfer_put(&t, IB_WR_RDMA_WRITE, 3000);
	sim_doorbell(&t.s->a);
	CHECK(sim_step(t.s));
	CHECK_EQ(t.s->b.qp.resp.remaining, 3000 - 1024);
	sim_buf_revoke(t.b);
	sim_run(t.s);
	CHECK(untouched(t.b, 1024, 65536));
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status,
		 rc ? IB_WC_REM_ACCESS_ERR : IB_WC_SUCCESS);
	CHECK_EQ(t.s->b.events, rc ? BIT(IB_EVENT_QP_ACCESS_ERR) : 0);
	CHECK_EQ(t.s->b.qp.state, rc ? IB_QPS_ERR : IB_QPS_RTS);
	if (!rc) {
		CHECK(sim_count(&t.s->b, SROCE_CNT_RX_LENGTH) > 0);
		t.b->mr.key = t.b->mr.ibmr.rkey;
		xfer_put(&t, IB_WR_RDMA_WRITE_WITH_IMM, 3000);
		sim_doorbell(&t.s->a);
		sim_run(t.s);
		CHECK(sim_filled(t.b, t.x[1].off, 3000, 1));
		CHECK_EQ(t.s->b.rcq.n, 1);
	}
	xfers_end(&t);
}

UNIT_TESTS(ofo)
{
	no_room(false);
	no_room(true);
	no_bytes(IB_WR_SEND, IB_WC_REM_OP_ERR, IB_WC_LOC_PROT_ERR);
	no_bytes(IB_WR_RDMA_WRITE, IB_WC_REM_ACCESS_ERR, 0);
	no_bytes(IB_WR_RDMA_READ, IB_WC_LOC_PROT_ERR, 0);
	no_bytes(SROCE_WR_ATOMIC_WRITE, IB_WC_REM_INV_REQ_ERR, 0);
	split_atomic("across two pieces of memory", IB_WR_ATOMIC_FETCH_AND_ADD,
		     0x10000, 12);
	split_atomic("across two pieces of memory", SROCE_WR_ATOMIC_WRITE,
		     0x10000, 12);
	split_atomic("not aligned in memory", IB_WR_ATOMIC_CMP_AND_SWP, 0x10004,
		     64);
	key_goes(IB_QPT_RC);
	key_goes(IB_QPT_UC);
}
