// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * ib_modify_qp_is_ok() from the tables of 11.2.5.2 (Modify QP), for the QP
 * types that the core knows. Every row is a permitted transition.
 */

#include <rdma/ib_verbs.h>

#define RC	BIT(IB_QPT_RC)
#define UC	BIT(IB_QPT_UC)
#define UD	BIT(IB_QPT_UD)
#define GSI	BIT(IB_QPT_GSI)
#define CONN	(RC | UC)
#define DGRAM	(UD | GSI)
#define ALL	(CONN | DGRAM)

#define CUR	IB_QP_CUR_STATE
#define ACCESS	IB_QP_ACCESS_FLAGS
#define PKEY	IB_QP_PKEY_INDEX
#define PORT	IB_QP_PORT
#define QKEY	IB_QP_QKEY
#define ALT	IB_QP_ALT_PATH
#define MIG	IB_QP_PATH_MIG_STATE
#define RNRT	IB_QP_MIN_RNR_TIMER
#define NOTIFY	IB_QP_EN_SQD_ASYNC_NOTIFY
#define RTR_ATTRS (IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN)
#define RTS_ATTRS (IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | \
		   IB_QP_MAX_QP_RD_ATOMIC)

#define FROM(s)	BIT(IB_QPS_##s)
#define ANY	0x7f

static const struct row {
	u8	from;		/* BIT() of states */
	u8	to;
	u8	types;		/* BIT() of QP types */
	u32	need;
	u32	may;
} rows[] = {
	{ ANY, IB_QPS_RESET, ALL, 0, 0 },
	{ ANY & ~FROM(RESET), IB_QPS_ERR, ALL, 0, 0 },

	{ FROM(RESET), IB_QPS_INIT, CONN, PKEY | PORT | ACCESS, 0 },
	{ FROM(RESET), IB_QPS_INIT, UD, PKEY | PORT | QKEY, 0 },
	{ FROM(RESET), IB_QPS_INIT, GSI, PKEY | QKEY, 0 },
	{ FROM(INIT), IB_QPS_INIT, CONN, 0, PKEY | PORT | ACCESS },
	{ FROM(INIT), IB_QPS_INIT, UD, 0, PKEY | PORT | QKEY },
	{ FROM(INIT), IB_QPS_INIT, GSI, 0, PKEY | QKEY },

	{ FROM(INIT), IB_QPS_RTR, RC, RTR_ATTRS | IB_QP_MAX_DEST_RD_ATOMIC |
	  RNRT, ALT | ACCESS | PKEY },
	{ FROM(INIT), IB_QPS_RTR, UC, RTR_ATTRS, ALT | ACCESS | PKEY },
	{ FROM(INIT), IB_QPS_RTR, DGRAM, 0, PKEY | QKEY },

	{ FROM(RTR), IB_QPS_RTS, RC, RTS_ATTRS | IB_QP_SQ_PSN,
	  CUR | ALT | ACCESS | RNRT | MIG },
	{ FROM(RTR), IB_QPS_RTS, UC, IB_QP_SQ_PSN, CUR | ALT | ACCESS | MIG },
	{ FROM(RTR), IB_QPS_RTS, DGRAM, IB_QP_SQ_PSN, CUR | QKEY },

	{ FROM(RTS) | FROM(SQD), IB_QPS_RTS, RC, 0,
	  CUR | ALT | ACCESS | RNRT | MIG },
	{ FROM(RTS) | FROM(SQD), IB_QPS_RTS, UC, 0, CUR | ALT | ACCESS | MIG },
	{ FROM(RTS) | FROM(SQD), IB_QPS_RTS, DGRAM, 0, CUR | QKEY },
	{ FROM(SQE), IB_QPS_RTS, UC, 0, CUR | ACCESS },
	{ FROM(SQE), IB_QPS_RTS, DGRAM, 0, CUR | QKEY },
	/* The kernel's table is silent about RC here: no attributes at all. */
	{ FROM(SQE), IB_QPS_RTS, RC, 0, 0 },

	{ FROM(RTS), IB_QPS_SQD, ALL, 0, NOTIFY },
	{ FROM(SQD), IB_QPS_SQD, RC, 0, PORT | IB_QP_AV | RTS_ATTRS |
	  IB_QP_MAX_DEST_RD_ATOMIC | ALT | ACCESS | PKEY | RNRT | MIG },
	{ FROM(SQD), IB_QPS_SQD, UC, 0, IB_QP_AV | ALT | ACCESS | PKEY | MIG },
	{ FROM(SQD), IB_QPS_SQD, DGRAM, 0, PKEY | QKEY },
};

bool ib_modify_qp_is_ok(enum ib_qp_state from, enum ib_qp_state to,
			enum ib_qp_type type, enum ib_qp_attr_mask mask)
{
	u32 i;

	if (mask & CUR && !(BIT(from) & (FROM(RTR) | FROM(RTS) | FROM(SQD) |
					 FROM(SQE))))
		return false;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];

		if (r->from & BIT(from) && r->to == to && r->types & BIT(type))
			return (mask & r->need) == r->need &&
			       !(mask & ~(r->need | r->may | IB_QP_STATE));
	}
	return false;
}
