/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Counters. Each decision of the protocol has one. `rdma statistic show` and hw_counters
 * print them under the names given here. A netlink message has to hold all: drv/dev/stats.c.
 */
#ifndef SROCE_COUNTER_H
#define SROCE_COUNTER_H

#include <linux/types.h>

#define SROCE_COUNTERS(C)						\
	/* traffic */							\
	C(TX_PACKETS, "tx_pkts")					\
	C(TX_BYTES, "tx_bytes")					\
	C(TX_TRAINS, "tx_trains")					\
	C(TX_SEGMENTED, "tx_segmented_trains")				\
	C(TX_PKT_BATCHES, "tx_pkt_batches")						\
	C(TX_MSG_BATCHES, "tx_msg_batches")					\
	C(RX_PACKETS, "rx_pkts")					\
	C(RX_BYTES, "rx_bytes")					\
	C(RX_TRAINS, "rx_trains")					\
	C(RX_PKT_BATCHES, "rx_pkt_batches")						\
	C(RX_GRO_TRAINS, "rx_gro_trains")				\
	C(RX_GRO_PACKETS, "rx_gro_pkts")				\
	C(RX_GRO_ENDED, "rx_gro_broken_trains")				\
	C(TX_MULTICAST, "tx_multicast_pkts")				\
	C(RX_MULTICAST, "rx_multicast_pkts")				\
	C(LOOPBACK_PACKETS, "loopback_pkts")					\
	C(LOOPBACK_BYTES, "loopback_bytes")					\
	C(DB_COALESCED, "coalesced_doorbells")					\
	C(BACKLOG, "backlog_pkts")						\
	C(BACKLOG_FULL, "backlog_drops")					\
	C(STEERED, "steered_pkts")					\
	C(STEER_FULL, "steer_drops")					\
	/* transmit: packets that this host dropped */				\
	C(TX_NO_MEM, "tx_no_memory")					\
	C(TX_NO_ROUTE, "tx_no_route")					\
	C(TX_DROPPED, "tx_drops")					\
	C(TX_FOREIGN, "tx_foreign_drops")				\
	C(TX_CONGESTED, "tx_queue_congested")				\
	C(TX_STOPPED, "tx_queue_stopped")				\
	C(TX_ORDER_WAITS, "tx_order_waits")				\
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
	C(RX_NETDEV, "rx_wrong_netdev_drops")				\
	C(RX_MULTICAST_DROPS, "rx_multicast_drops")			\
	C(OUT_OF_BUFFER, "out_of_buffer")					\
	/* responder */							\
	C(DUPLICATE, "duplicate_request")				\
	C(OUT_OF_SEQ, "out_of_sequence")				\
	C(OFO_QUEUED, "ofo_queued")					\
	C(OFO_CONFLICT, "ofo_conflicts")				\
	C(UC_GAP, "uc_dropped_messages")				\
	/* congestion, under the names of other devices */		\
	C(RX_MARKED, "np_ecn_marked_roce_packets")			\
	C(CNP_SENT, "np_cnp_sent")					\
	C(CNP_RCVD, "rp_cnp_handled")					\
	C(CNP_IGNORED, "rp_cnp_ignored")				\
	/* responder, continued */					\
	C(NAK_SEQ_SENT, "tx_nak_seq")					\
	C(NAK_INV_SENT, "tx_nak_invalid_request")				\
	C(NAK_ACC_SENT, "tx_nak_remote_access")				\
	C(NAK_OP_SENT, "tx_nak_remote_op")					\
	C(RNR_SENT, "tx_rnr_nak")					\
	C(ACK_SENT, "tx_ack")						\
	C(ACK_WITH_ANSWER, "acks_with_answer")				\
	C(ANSWER_ALONE, "answers_alone")				\
	C(ACK_HELD_IN_VAIN, "acks_held_in_vain")			\
	C(READ_REPLAY, "replayed_reads")					\
	C(ATOMIC_REPLAY, "replayed_atomics")				\
	C(FLUSH_REPLAY, "replayed_flushes")				\
	/* requester and completer */					\
	C(RETRANSMIT, "retransmitted_pkts")				\
	C(CWND_DECREASE, "cwnd_decreases")				\
	C(CWND_IDLE, "idle_cwnd_decreases")				\
	C(JITTER_LOSS, "jitter_losses")					\
	C(PACED, "paced_trains")					\
	C(WINDOW_RESENT, "resent_windows")				\
	C(TIMEOUT, "local_ack_timeout_err")					\
	C(TIMEOUT_EXCUSED, "excused_ack_timeouts")				\
	C(PROBE, "ack_probes")						\
	C(PROBE_HELD, "held_ack_probes")				\
	C(READ_RETRY, "read_retries")					\
	C(NAK_SEQ_RCVD, "packet_seq_err")					\
	C(NAK_FATAL_RCVD, "rx_nak_fatal")				\
	C(RNR_RCVD, "rx_rnr_nak")					\
	C(IMPLIED_NAK, "implied_nak_seq_err")					\
	C(ACK_DUP, "duplicate_ack")					\
	C(ACK_GHOST, "ghost_ack")					\
	C(ACK_EARLY, "out_of_window_responses")				\
	C(CREDIT_WAIT, "out_of_credits")				\
	C(BAD_RESPONSE, "bad_response")					\
	C(RETRY_EXC, "retry_exceeded_err")					\
	C(RNR_RETRY_EXC, "rnr_nak_retry_err")				\
	C(RNR_DELAYED, "rnr_waits_delayed")				\
	/* memory: regions on demand, windows, fast regions */		\
	C(ODP_WAIT, "odp_waits")					\
	C(ODP_DROP, "odp_drops")					\
	C(ODP_MISS, "odp_misses")					\
	C(ODP_PAGES_IN, "odp_pages_in")						\
	C(ODP_PAGES_OUT, "odp_pages_out")					\
	C(ODP_DETACHED, "odp_detached_faults")					\
	C(MW_BIND, "mw_binds")					\
	C(FAST_REG, "fast_reg_mrs")				\
	C(INVALIDATE, "key_invalidations")					\
	C(MEM_OP_ERROR, "memory_op_errors")				\
	/* completions */						\
	C(WC_ERROR, "wc_errors")					\
	C(WC_FLUSH, "wc_flushed")					\
	C(CQ_OVERFLOW, "cq_overflows")					\
	C(SQ_BAD_WQE, "sq_bad_wqe")					\
	C(RQ_BAD_WQE, "rq_bad_wqe")

/* Indices into struct sroce_counters */
#define SROCE_COUNTER_ENUM(id, name) SROCE_CNT_##id,
enum sroce_counter {
	SROCE_COUNTERS(SROCE_COUNTER_ENUM)
	SROCE_CNT_NUM
};

#undef SROCE_COUNTER_ENUM

/**
 * struct sroce_counters - counters of a device on one CPU
 * @c: by enum sroce_counter
 */
struct sroce_counters {
	u64 c[SROCE_CNT_NUM];
};

#endif /* SROCE_COUNTER_H */
