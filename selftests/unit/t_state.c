// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* QP states: which transitions there are, and what draining means */

#include <stdlib.h>
#include "tests.h"
#include "xfer.h"

static const char * const names[] = {
	"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"
};

/* Figure 124: the states that can follow each state, except RESET and ERR */
static const u8 leads[] = {
	[IB_QPS_RESET] = 1 << IB_QPS_INIT,
	[IB_QPS_INIT] = 1 << IB_QPS_INIT | 1 << IB_QPS_RTR,
	[IB_QPS_RTR] = 1 << IB_QPS_RTS,
	[IB_QPS_RTS] = 1 << IB_QPS_RTS | 1 << IB_QPS_SQD,
	[IB_QPS_SQD] = 1 << IB_QPS_RTS | 1 << IB_QPS_SQD,
	[IB_QPS_SQE] = 1 << IB_QPS_RTS,
	[IB_QPS_ERR] = 0,
};

/* The attributes that RC, UC, UD must bring */
static int needed(enum ib_qp_type type, int from, int to)
{
	int rc = type == IB_QPT_RC, ud = type == IB_QPT_UD;

	if (from == IB_QPS_RESET && to == IB_QPS_INIT)
		return IB_QP_PKEY_INDEX | IB_QP_PORT |
		       (ud ? IB_QP_QKEY : IB_QP_ACCESS_FLAGS);
	if (from == IB_QPS_INIT && to == IB_QPS_RTR && !ud)
		return IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
		       IB_QP_RQ_PSN |
		       (rc ? IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER : 0);
	if (from == IB_QPS_RTR && to == IB_QPS_RTS)
		return IB_QP_SQ_PSN |
		       (rc ? IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			IB_QP_MAX_QP_RD_ATOMIC : 0);
	return 0;
}

static bool reachable(int from, int to)
{
	if (to == IB_QPS_RESET)
		return true;
	if (to == IB_QPS_ERR)
		return from != IB_QPS_RESET;
	return leads[from] & 1 << to;
}

static void transitions(enum ib_qp_type type, const char *name)
{
	struct sim_cfg cfg = sim_default;
	struct ib_qp_attr attr = {};
	struct sim *s;
	int from, to;
	u32 bit;

	t_case("state: transitions of %s and the attributes they need", name);
	cfg.type = type;
	s = sim_new(&cfg);
	s->a.qp.drained = true;
	for (from = IB_QPS_RESET; from <= IB_QPS_ERR; from++) {
		for (to = IB_QPS_RESET; to <= IB_QPS_ERR; to++) {
			int need = needed(type, from, to) | IB_QP_STATE;

			t_where("%s to %s", names[from], names[to]);
			CHECK_EQ(sroce_state_transition_ok(&s->a.qp, &attr, need,
							from, to),
				 reachable(from, to));
			for (bit = 1; bit < 21; bit++) {
				if (!(need & 1 << bit))
					continue;
				CHECK(!sroce_state_transition_ok(&s->a.qp, &attr,
					need & ~(1 << bit), from, to));
			}
			/* capacities are fixed once the QP is made */
			CHECK(!sroce_state_transition_ok(&s->a.qp, &attr,
						      need | IB_QP_CAP, from,
						      to));
		}
	}
	sim_end(s);
}

static bool rtr_to_rts(struct sim *s, const struct ib_qp_attr *attr, int more)
{
	return sroce_state_transition_ok(&s->a.qp, attr, IB_QP_STATE | more |
				      needed(IB_QPT_RC, IB_QPS_RTR, IB_QPS_RTS),
				      IB_QPS_RTR, IB_QPS_RTS);
}

static void ranges(void)
{
	static const struct {
		u32 off, max;
		int rtr;	/* set on the way to RTR, not RTS */
	} rows[] = {
		{ offsetof(struct ib_qp_attr, timeout), 31, 0 },
		{ offsetof(struct ib_qp_attr, retry_cnt), 7, 0 },
		{ offsetof(struct ib_qp_attr, rnr_retry), 7, 0 },
		{ offsetof(struct ib_qp_attr, max_rd_atomic), 128, 0 },
		{ offsetof(struct ib_qp_attr, max_dest_rd_atomic), 128, 1 },
		{ offsetof(struct ib_qp_attr, min_rnr_timer), 31, 1 },
	};
	struct sim *s = sim_new(NULL);
	u32 i, v;

	t_case("state: attributes out of range are refused");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (v = 0; v < 256; v++) {
			struct ib_qp_attr attr = {};
			int from = rows[i].rtr ? IB_QPS_INIT : IB_QPS_RTR;

			t_where("row %u, value %u", i, v);
			*((u8 *)&attr + rows[i].off) = v;
			CHECK_EQ(sroce_state_transition_ok(&s->a.qp, &attr,
				 IB_QP_STATE | needed(IB_QPT_RC, from, from + 1),
				 from, from + 1), v <= rows[i].max);
		}
	}
	sim_end(s);
}

static void current(void)
{
	struct ib_qp_attr attr = { .cur_qp_state = IB_QPS_RTR };
	struct sim *s = sim_new(NULL);

	t_case("state: cur_qp_state must be right");
	CHECK(rtr_to_rts(s, &attr, IB_QP_CUR_STATE));
	attr.cur_qp_state = IB_QPS_RTS;
	CHECK(!rtr_to_rts(s, &attr, IB_QP_CUR_STATE));
	CHECK(rtr_to_rts(s, &attr, 0));

	t_case("state: only a drained send queue takes new attributes");
	s->a.qp.drained = false;
	CHECK(!sroce_state_transition_ok(&s->a.qp, &attr, IB_QP_STATE |
				      IB_QP_TIMEOUT, IB_QPS_SQD, IB_QPS_SQD));
	CHECK(sroce_state_transition_ok(&s->a.qp, &attr, IB_QP_STATE,
				     IB_QPS_SQD, IB_QPS_SQD));
	s->a.qp.drained = true;
	CHECK(sroce_state_transition_ok(&s->a.qp, &attr, IB_QP_STATE |
				     IB_QP_TIMEOUT, IB_QPS_SQD, IB_QPS_SQD));
	sim_end(s);
}

static void drain(void)
{
	struct sim_wr wr;
	struct xfers t;

	t_case("state: SQD finishes what was started and keeps the rest for RTS");
	xfers_init(&t, NULL, 800000, 4096);
	t.s->a.qp.attr.en_sqd_async_notify = 1;
	xfers_put_each(&t, 90000);
	sim_doorbell(&t.s->a);
	CHECK_EQ(t.s->a.scq.n, 0);
	sim_enter(&t.s->a, IB_QPS_SQD);
	sim_doorbell(&t.s->a);
	CHECK(!t.s->a.qp.drained);
	/* B's side goes on */
	sim_run(t.s);
	CHECK(t.s->a.qp.drained);
	CHECK(t.s->a.events & BIT(IB_EVENT_SQ_DRAINED));
	CHECK(t.s->a.scq.n > 0 && t.s->a.scq.n < 8);
	CHECK_EQ(t.s->a.qp.req.una, t.s->a.qp.req.max_psn);
	xfer_put(&t, IB_WR_SEND, 100);
	xfers_run(&t);
	CHECK(t.s->a.scq.n < 8);
	sim_enter(&t.s->a, IB_QPS_RTS);
	xfers_run_check(&t);
	xfers_end(&t);

	t_case("state: an event of SQD is for the modify that asks for it");
	xfers_init(&t, NULL, 65536, 4096);
	t.s->a.qp.attr.en_sqd_async_notify = 1;
	sim_enter(&t.s->a, IB_QPS_SQD);
	sim_doorbell(&t.s->a);
	CHECK(t.s->a.events & BIT(IB_EVENT_SQ_DRAINED));
	t.s->a.events = 0;
	sim_enter(&t.s->a, IB_QPS_RTS);
	sim_enter(&t.s->a, IB_QPS_SQD);
	sim_doorbell(&t.s->a);
	CHECK(t.s->a.qp.drained);
	CHECK(!t.s->a.events);
	sim_enter(&t.s->a, IB_QPS_RTS);
	xfers_end(&t);

	t_case("state: in SQD a bad work request waits like a good one");
	xfers_init(&t, NULL, 65536, 4096);
	sim_enter(&t.s->a, IB_QPS_SQD);
	wr = xfer_make(&t, IB_WR_SEND, 100);
	wr.opcode = 99;
	sim_post(&t.s->a, &wr);
	sim_run(t.s);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_SQD);
	CHECK_EQ(t.s->a.scq.n, 0);
	sim_enter(&t.s->a, IB_QPS_RTS);
	sim_doorbell(&t.s->a);
	CHECK_EQ(t.s->a.qp.state, IB_QPS_ERR);
	CHECK_EQ(t.s->a.scq.n, 1);
	CHECK_EQ(t.s->a.scq.e[0].status, IB_WC_LOC_QP_OP_ERR);
	xfers_end(&t);
}

/* Above a QPN the word of the BTH has flags and reserved bits (9.2). */
static void destination(void)
{
	struct ib_qp_attr attr = { .dest_qp_num = 0xff123456 }, to = {};

	t_case("state: bits of dest_qp_num that no QPN has are ignored");
	sroce_state_set_attrs(&to, &attr, IB_QP_DEST_QPN);
	CHECK_EQ(to.dest_qp_num, 0x123456);
}

UNIT_TESTS(state)
{
	transitions(IB_QPT_RC, "RC");
	transitions(IB_QPT_UC, "UC");
	transitions(IB_QPT_UD, "UD");
	ranges();
	current();
	drain();
	destination();
}
