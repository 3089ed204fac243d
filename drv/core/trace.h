/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tracepoints of the module. Where the core is built in user space they do nothing. */
#ifdef __KERNEL__
#include "drv/trace.h"
#else
#define trace_sroce_tx(qp, pkt)			((void)(qp), (void)(pkt))
#define trace_sroce_rx(qp, pkt)			((void)(qp), (void)(pkt))
#define trace_sroce_rx_enabled()		false
#define trace_sroce_drop(qp, pkt, why)		((void)(qp), (void)(pkt))
#define trace_sroce_complete(qp, cqe)		((void)(qp), (void)(cqe))
#define trace_sroce_state(qp, state)		((void)(qp))
#define trace_sroce_cwnd(qp, cwnd)		((void)(qp), (void)(cwnd))
#endif
