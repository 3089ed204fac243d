/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tracepoints: each packet sent or received, each packet dropped at its QP,
 * each completion, each decrease of a congestion window, and each transition to SQE or
 * to the error state.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sroce

#if !defined(SROCE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SROCE_TRACE_H

#include <linux/tracepoint.h>
#include "drv/core/env.h"

DECLARE_EVENT_CLASS(sroce_packet,
	TP_PROTO(struct sroce_qp *qp, const struct sroce_pkt *pkt),
	TP_ARGS(qp, pkt),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, dqpn)
		__field(u32, psn)
		__field(u32, len)
		__field(u8, opcode)
		__field(u8, syndrome)
		__field(bool, ackreq)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->dqpn = pkt->qpn;
		__entry->psn = pkt->psn;
		__entry->len = pkt->payload_len;
		__entry->opcode = pkt->opcode;
		__entry->syndrome = pkt->syndrome;
		__entry->ackreq = pkt->ackreq;
	),
	TP_printk("qp %u to %u opcode 0x%02x psn %u len %u ackreq %d syndrome 0x%02x",
		  __entry->qpn, __entry->dqpn, __entry->opcode, __entry->psn,
		  __entry->len, __entry->ackreq, __entry->syndrome)
);

DEFINE_EVENT(sroce_packet, sroce_tx,
	TP_PROTO(struct sroce_qp *qp, const struct sroce_pkt *pkt),
	TP_ARGS(qp, pkt)
);

DEFINE_EVENT(sroce_packet, sroce_rx,
	TP_PROTO(struct sroce_qp *qp, const struct sroce_pkt *pkt),
	TP_ARGS(qp, pkt)
);

/* @why: enum sroce_counter, the counter of the reason */
TRACE_EVENT(sroce_drop,
	TP_PROTO(struct sroce_qp *qp, const struct sroce_pkt *pkt, int why),
	TP_ARGS(qp, pkt, why),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u8, opcode)
		__field(int, why)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->psn = pkt->psn;
		__entry->opcode = pkt->opcode;
		__entry->why = why;
	),
	TP_printk("qp %u opcode 0x%02x psn %u counter %d", __entry->qpn,
		  __entry->opcode, __entry->psn, __entry->why)
);

TRACE_EVENT(sroce_complete,
	TP_PROTO(struct sroce_qp *qp, const struct sroce_cqe *cqe),
	TP_ARGS(qp, cqe),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u64, wr_id)
		__field(u32, status)
		__field(u32, opcode)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->wr_id = cqe->wr_id;
		__entry->status = cqe->status;
		__entry->opcode = cqe->opcode;
	),
	TP_printk("qp %u wr_id 0x%llx status %u opcode %u", __entry->qpn,
		  __entry->wr_id, __entry->status, __entry->opcode)
);

/* @state: enum ib_qp_state, the new state; called before qp->state changes */
TRACE_EVENT(sroce_state,
	TP_PROTO(struct sroce_qp *qp, int state),
	TP_ARGS(qp, state),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(int, from)
		__field(int, to)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->from = qp->state;
		__entry->to = state;
	),
	TP_printk("qp %u state %d to %d", __entry->qpn, __entry->from,
		  __entry->to)
);

/* After a decrease of the window; times in ns, windows in packets */
TRACE_EVENT(sroce_cwnd,
	TP_PROTO(struct sroce_qp *qp, const struct sroce_cwnd *cwnd),
	TP_ARGS(qp, cwnd),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u8, of)
		__field(u32, cwnd)
		__field(u32, ssthresh)
		__field(u32, w_max)
		__field(u64, rtt)
		__field(u64, min_rtt)
	),
	TP_fast_assign(
		__entry->qpn = qp->qpn;
		__entry->of = cwnd == &qp->req.cwnd ? 0 : cwnd == &qp->req.read_cwnd ? 1 : 2;
		__entry->cwnd = sroce_cwnd(cwnd);
		__entry->ssthresh = cwnd->ssthresh;
		__entry->w_max = cwnd->w_max;
		__entry->rtt = cwnd->rtt;
		__entry->min_rtt = cwnd->min_rtt;
	),
	TP_printk("qp %u of %s cwnd %u ssthresh %u w_max %u rtt %llu min_rtt %llu",
		  __entry->qpn,
		  __print_symbolic(__entry->of, { 0, "requests" }, { 1, "READs" },
				   { 2, "responses per ms" }),
		  __entry->cwnd, __entry->ssthresh, __entry->w_max,
		  __entry->rtt, __entry->min_rtt)
);

#endif /* SROCE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH drv
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
