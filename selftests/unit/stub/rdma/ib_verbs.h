/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the protocol core uses of the kernel's rdma/ib_verbs.h. The values are
 * the kernel's; those that user space sees are ABI, and so are the others as
 * far as the core depends on their order.
 */
#ifndef STUB_RDMA_IB_VERBS_H
#define STUB_RDMA_IB_VERBS_H

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/types.h>

union ib_gid {
	u8 raw[16];
	struct {
		__be64 subnet_prefix;
		__be64 interface_id;
	} global;
};

struct ib_sge {
	u64 addr;
	u32 length;
	u32 lkey;
};

struct ib_mr {
	u32 lkey;
	u32 rkey;
};

struct ib_pd;

struct ib_qp {
	struct ib_pd *pd;
	u32 qp_num;
};

enum ib_mtu {
	IB_MTU_256 = 1, IB_MTU_512, IB_MTU_1024, IB_MTU_2048, IB_MTU_4096
};

enum ib_qp_type {
	IB_QPT_SMI, IB_QPT_GSI, IB_QPT_RC, IB_QPT_UC, IB_QPT_UD,
	IB_QPT_RAW_PACKET = 8
};

enum ib_qp_state {
	IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD,
	IB_QPS_SQE, IB_QPS_ERR
};

enum ib_mig_state {
	IB_MIG_MIGRATED, IB_MIG_REARM, IB_MIG_ARMED
};

enum ib_qp_attr_mask {
	IB_QP_STATE			= 1 << 0,
	IB_QP_CUR_STATE			= 1 << 1,
	IB_QP_EN_SQD_ASYNC_NOTIFY	= 1 << 2,
	IB_QP_ACCESS_FLAGS		= 1 << 3,
	IB_QP_PKEY_INDEX		= 1 << 4,
	IB_QP_PORT			= 1 << 5,
	IB_QP_QKEY			= 1 << 6,
	IB_QP_AV			= 1 << 7,
	IB_QP_PATH_MTU			= 1 << 8,
	IB_QP_TIMEOUT			= 1 << 9,
	IB_QP_RETRY_CNT			= 1 << 10,
	IB_QP_RNR_RETRY			= 1 << 11,
	IB_QP_RQ_PSN			= 1 << 12,
	IB_QP_MAX_QP_RD_ATOMIC		= 1 << 13,
	IB_QP_ALT_PATH			= 1 << 14,
	IB_QP_MIN_RNR_TIMER		= 1 << 15,
	IB_QP_SQ_PSN			= 1 << 16,
	IB_QP_MAX_DEST_RD_ATOMIC	= 1 << 17,
	IB_QP_PATH_MIG_STATE		= 1 << 18,
	IB_QP_CAP			= 1 << 19,
	IB_QP_DEST_QPN			= 1 << 20,
};

struct rdma_ah_attr {
	u32			dlid;
};

struct ib_qp_attr {
	enum ib_qp_state	qp_state;
	enum ib_qp_state	cur_qp_state;
	enum ib_mtu		path_mtu;
	enum ib_mig_state	path_mig_state;
	u32			qkey;
	u32			rq_psn;
	u32			sq_psn;
	u32			dest_qp_num;
	int			qp_access_flags;
	u8			en_sqd_async_notify;
	u8			max_rd_atomic;
	u8			max_dest_rd_atomic;
	u8			min_rnr_timer;
	u8			timeout;
	u8			retry_cnt;
	u8			rnr_retry;
	u8			port_num;
	u16			pkey_index;
	struct rdma_ah_attr	ah_attr;
};

enum ib_access_flags {
	IB_ACCESS_LOCAL_WRITE	= 1 << 0,
	IB_ACCESS_REMOTE_WRITE	= 1 << 1,
	IB_ACCESS_REMOTE_READ	= 1 << 2,
	IB_ACCESS_REMOTE_ATOMIC	= 1 << 3,
	IB_ACCESS_MW_BIND	= 1 << 4,
	IB_ZERO_BASED		= 1 << 5,
};

enum ib_wr_opcode {
	IB_WR_RDMA_WRITE		= 0,
	IB_WR_RDMA_WRITE_WITH_IMM	= 1,
	IB_WR_SEND			= 2,
	IB_WR_SEND_WITH_IMM		= 3,
	IB_WR_RDMA_READ			= 4,
	IB_WR_ATOMIC_CMP_AND_SWP	= 5,
	IB_WR_ATOMIC_FETCH_AND_ADD	= 6,
	IB_WR_LOCAL_INV			= 7,
	IB_WR_BIND_MW			= 8,
	IB_WR_SEND_WITH_INV		= 9,
};

enum ib_send_flags {
	IB_SEND_FENCE		= 1 << 0,
	IB_SEND_SIGNALED	= 1 << 1,
	IB_SEND_SOLICITED	= 1 << 2,
	IB_SEND_INLINE		= 1 << 3,
};

enum ib_wc_status {
	IB_WC_SUCCESS, IB_WC_LOC_LEN_ERR, IB_WC_LOC_QP_OP_ERR,
	IB_WC_LOC_EEC_OP_ERR, IB_WC_LOC_PROT_ERR, IB_WC_WR_FLUSH_ERR,
	IB_WC_MW_BIND_ERR, IB_WC_BAD_RESP_ERR, IB_WC_LOC_ACCESS_ERR,
	IB_WC_REM_INV_REQ_ERR, IB_WC_REM_ACCESS_ERR, IB_WC_REM_OP_ERR,
	IB_WC_RETRY_EXC_ERR, IB_WC_RNR_RETRY_EXC_ERR, IB_WC_LOC_RDD_VIOL_ERR,
	IB_WC_REM_INV_RD_REQ_ERR,
};

enum ib_wc_opcode {
	IB_WC_SEND			= 0,
	IB_WC_RDMA_WRITE		= 1,
	IB_WC_RDMA_READ			= 2,
	IB_WC_COMP_SWAP			= 3,
	IB_WC_FETCH_ADD			= 4,
	IB_WC_BIND_MW			= 5,
	IB_WC_LOCAL_INV			= 6,
	IB_WC_REG_MR			= 8,
	IB_WC_MASKED_COMP_SWAP		= 9,
	IB_WC_MASKED_FETCH_ADD		= 10,
	IB_WC_RECV			= 1 << 7,
	IB_WC_RECV_RDMA_WITH_IMM,
};

enum ib_wc_flags {
	IB_WC_GRH		= 1 << 0,
	IB_WC_WITH_IMM		= 1 << 1,
	IB_WC_WITH_INVALIDATE	= 1 << 2,
};

enum ib_event_type {
	IB_EVENT_CQ_ERR			= 0,
	IB_EVENT_QP_FATAL		= 1,
	IB_EVENT_QP_REQ_ERR		= 2,
	IB_EVENT_QP_ACCESS_ERR		= 3,
	IB_EVENT_COMM_EST		= 4,
	IB_EVENT_SQ_DRAINED		= 5,
	IB_EVENT_SRQ_LIMIT_REACHED	= 15,
	IB_EVENT_QP_LAST_WQE_REACHED	= 16,
};

bool ib_modify_qp_is_ok(enum ib_qp_state from, enum ib_qp_state to,
			enum ib_qp_type type, enum ib_qp_attr_mask mask);

#endif
