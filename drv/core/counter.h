/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every decision has a counter; `rdma statistic show` and hw_counters print
 * them under the names given here.
 */
#ifndef SROCE_COUNTER_H
#define SROCE_COUNTER_H

#define SROCE_COUNTERS(C)						\
	/* traffic */							\
	C(TX_PACKETS, "sent_pkts")					\
	C(TX_BYTES, "sent_bytes")					\
	C(TX_TRAINS, "sent_trains")					\
	C(TX_RUNS, "sent_runs")						\
	C(TX_SERIES, "sent_series")					\
	C(RX_PACKETS, "rcvd_pkts")					\
	C(RX_BYTES, "rcvd_bytes")					\
	C(RX_TRAINS, "rcvd_trains")					\
	C(RX_RUNS, "rcvd_runs")						\
	C(TX_MULTICAST, "sent_multicast_pkts")				\
	C(RX_MULTICAST, "rcvd_multicast_pkts")				\
	C(LOCAL_PACKETS, "local_pkts")					\
	C(LOCAL_BYTES, "local_bytes")					\
	C(HELD, "held_doorbells")					\
	C(INBOX, "inbox_pkts")						\
	C(INBOX_FULL, "inbox_drops")					\
	C(RELAYED, "relayed_pkts")					\
	C(RELAY_FULL, "relay_drops")					\
	/* transmit path of this host */				\
	C(TX_NO_MEM, "tx_no_memory")					\
	C(TX_NO_ROUTE, "tx_no_route")					\
	C(TX_DROPPED, "tx_dropped")					\
	/* receive: drops before a QP is found */			\
	C(RX_MALFORMED, "rx_malformed")					\
	C(RX_BAD_OPCODE, "rx_unknown_opcode")				\
	C(RX_ICRC, "rx_icrc_errors")					\
	C(RX_NO_QP, "rx_unknown_qp")					\
	/* receive: drops at the QP */					\
	C(RX_QP_STATE, "rx_qp_state_drops")				\
	C(RX_QP_TYPE, "rx_qp_type_drops")				\
	C(RX_ADDRESS, "rx_address_drops")				\
	C(RX_PKEY, "rx_pkey_violations")				\
	C(RX_QKEY, "rx_qkey_violations")				\
	C(RX_LENGTH, "rx_length_drops")					\
	C(RX_NO_WQE, "rx_no_wqe_drops")					\
	/* responder */							\
	C(DUPLICATE, "duplicate_request")				\
	C(OUT_OF_SEQ, "out_of_seq_request")				\
	C(STORED, "stored_out_of_seq")					\
	C(UC_GAP, "uc_dropped_messages")				\
	C(NAK_SEQ_SENT, "sent_nak_seq")					\
	C(NAK_INV_SENT, "sent_nak_inv_req")				\
	C(NAK_ACC_SENT, "sent_nak_access")				\
	C(NAK_OP_SENT, "sent_nak_op")					\
	C(RNR_SENT, "sent_rnr_nak")					\
	C(ACK_SENT, "sent_ack")						\
	C(READ_REPLAY, "replayed_read")					\
	C(ATOMIC_REPLAY, "replayed_atomic")				\
	C(FLUSH_REPLAY, "replayed_flush")				\
	/* requester and completer */					\
	C(RETRANSMIT, "retransmitted_pkts")				\
	C(TIMEOUT, "ack_timeouts")					\
	C(PROBE, "ack_probes")						\
	C(READ_GAP, "reread_requests")					\
	C(NAK_SEQ_RCVD, "rcvd_nak_seq")					\
	C(NAK_FATAL_RCVD, "rcvd_nak_fatal")				\
	C(RNR_RCVD, "rcvd_rnr_nak")					\
	C(IMPLIED_NAK, "implied_nak")					\
	C(ACK_DUP, "duplicate_ack")					\
	C(ACK_GHOST, "ghost_ack")					\
	C(ACK_EARLY, "early_response_drops")				\
	C(CREDIT_WAIT, "out_of_credits")				\
	C(BAD_RESPONSE, "bad_response")					\
	C(RETRY_EXC, "retry_exceeded")					\
	C(RNR_RETRY_EXC, "rnr_retry_exceeded")				\
	/* memory: regions on demand, windows and fast regions */		\
	C(PAGE_WAIT, "page_waits")					\
	C(PAGE_DROP, "page_drops")					\
	C(PAGE_MISS, "page_misses")					\
	C(PAGES_IN, "pages_in")						\
	C(PAGES_OUT, "pages_out")					\
	C(MW_BIND, "windows_bound")					\
	C(FAST_REG, "fast_registrations")				\
	C(INVALIDATE, "invalidations")					\
	C(MEM_OP_ERROR, "memory_op_errors")				\
	/* completions */						\
	C(WC_ERROR, "wc_errors")					\
	C(WC_FLUSH, "wc_flushed")					\
	C(CQ_OVERFLOW, "cq_overflows")					\
	C(SQ_BAD_WQE, "sq_bad_wqe")					\
	C(RQ_BAD_WQE, "rq_bad_wqe")

#define SROCE_COUNTER_ENUM(id, name) SROCE_CNT_##id,
enum sroce_counter {
	SROCE_COUNTERS(SROCE_COUNTER_ENUM)
	SROCE_CNT_NUM
};

#undef SROCE_COUNTER_ENUM

struct sroce_counters {
	u64 c[SROCE_CNT_NUM];
};

#endif /* SROCE_COUNTER_H */
