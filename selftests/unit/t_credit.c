// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* End-to-end credits (9.7.7.2) */

#include "drv/core/wire/credit.h"
#include "tests.h"
#include "xfer.h"

/* Table 49 of the specification */
static const u32 table[] = {
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
	512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576,
	32768,
};

static void codes(void)
{
	u32 i;

	t_case("credit: each code is the number in the specification");
	CHECK_EQ(ARRAY_SIZE(table), SROCE_CREDIT_CODES);
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		CHECK_EQ(sroce_credit_decode(i), table[i]);
		CHECK_EQ(sroce_credit_encode(table[i]), i);
	}

	t_case("credit: no code promises more receives than there are");
	for (i = 1; i < ARRAY_SIZE(table); i++)
		CHECK_EQ(sroce_credit_encode(table[i] - 1), i - 1);
	CHECK_EQ(sroce_credit_encode(40000), 30);
	CHECK_EQ(sroce_credit_encode(~0u), 30);
}

/* The number of credits is unknown until the first ACK. */
static void begin(struct xfers *t, bool srq)
{
	struct sim_cfg cfg = sim_default;

	cfg.min_rnr_timer = 6;
	cfg.timeout = 14;
	xfers_init(t, &cfg, 65536, 4096);
	if (srq)
		t->s->b.qp.srq = sim_srq_new(t->s, 64, 4);
	xfer_put(t, IB_WR_RDMA_WRITE, 100);
	sim_doorbell(&t->s->a);
	sim_run(t->s);
}

/* B posts receives one after the other, each a while after the last. */
static void slow_receiver(u32 messages, u32 first)
{
	struct sim_wr wr;
	struct xfers t;
	u32 i;

	t_case("credit: %u messages for %u receives, the rest posted late",
	       messages, first);
	begin(&t, false);
	for (i = 1; i <= messages; i++) {
		wr = xfer_make(&t, IB_WR_SEND, 900);
		sim_put_send(&t.s->a, &wr);
		if (i <= first)
			xfer_recv(&t, i);
	}
	sim_doorbell(&t.s->a);
	for (i = first + 1; i <= messages; i++) {
		sim_run_until(t.s, t.s->now + SIM_MS);
		xfer_recv(&t, i);
	}
	sim_run(t.s);
	xfers_check(&t);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_TIMEOUT), 0);
	/* messages beyond the limit are sent one by one: nothing follows a refused one */
	CHECK(sim_count(&t.s->a, SROCE_CNT_CREDIT_WAIT) >= messages - first);
	CHECK_EQ(sim_count(&t.s->b, SROCE_CNT_OUT_OF_SEQ), 0);
	xfers_end(&t);
}

static void limits(void)
{
	struct sroce_req *req;
	struct sim_wr wr;
	struct xfers t;
	u32 i;

	t_case("credit: the limit is the receive queue plus the messages before");
	begin(&t, false);
	req = &t.s->a.qp.req;
	CHECK(req->lsn_valid);
	CHECK_EQ(req->lsn, 1);

	t_case("credit: a message beyond the limit is sent alone, one packet first");
	wr = xfer_make(&t, IB_WR_SEND, 3000);
	sim_put_send(&t.s->a, &wr);
	xfer_put(&t, IB_WR_RDMA_WRITE, 100);
	sim_doorbell(&t.s->a);
	CHECK_EQ(req->psn, 1002);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CREDIT_WAIT), 1);
	xfer_recv(&t, 1);
	sim_run(t.s);
	CHECK_EQ(t.s->a.scq.n, 3);
	xfers_check_data(&t, 3);

	t_case("credit: WRITEs need none");
	for (i = 0; i < 5; i++)
		xfer_put(&t, IB_WR_RDMA_WRITE, 100);
	sim_doorbell(&t.s->a);
	CHECK_EQ(req->psn, 1010);
	CHECK_EQ(sim_count(&t.s->a, SROCE_CNT_CREDIT_WAIT), 1);
	sim_run(t.s);
	xfers_end(&t);

	t_case("credit: an SRQ doesn't limit");
	begin(&t, true);
	CHECK(!t.s->a.qp.req.lsn_valid);
	xfers_end(&t);
}

static void hear(struct xfers *t, u32 psn, u32 msn, u8 credits)
{
	struct sroce_pkt p = {
		.opcode = 0x11, .pkey = 0xffff, .qpn = t->s->a.qp.qpn,
		.psn = psn, .msn = msn, .syndrome = credits,
	};

	sim_deliver(t->s, sim_forge(&t->s->b, &p, NULL));
}

static void updates(void)
{
	struct sroce_req *req;
	struct xfers t;

	t_case("credit: a repeat of the newest ACK may raise the limit");
	begin(&t, false);
	req = &t.s->a.qp.req;
	hear(&t, 1000, 1, 5);
	CHECK_EQ(req->lsn, 7);

	t_case("credit: an ACK that was overtaken does not lower the limit");
	hear(&t, 1000, 1, 2);
	CHECK_EQ(req->lsn, 7);
	hear(&t, 999, 0, 20);
	CHECK_EQ(req->lsn, 7);

	t_case("credit: a code without credits ends the limit");
	hear(&t, 1000, 1, 31);
	CHECK(!req->lsn_valid);

	t_case("credit: across the wrap of the MSN");
	hear(&t, 1000, 0xfffff0, 8);
	CHECK_EQ(req->lsn, 0);
	hear(&t, 1000, 0xfffff0, 9);
	CHECK_EQ(req->lsn, 8);
	xfers_end(&t);
}

UNIT_TESTS(credit)
{
	codes();
	slow_receiver(10, 2);
	slow_receiver(10, 9);
	limits();
	updates();
}
