// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Compile-time check of uapi/sroce_abi.h: its structures must have the layout of those in
 * <rdma/rdma_user_rxe.h>, which the stock user space provider is built with.
 */

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <rdma/rdma_user_rxe.h>
#include "uapi/sroce_abi.h"

#define SAME(ours, field, theirs, other)				\
	static_assert(offsetof(struct ours, field) ==			\
		      offsetof(struct theirs, other))
#define SAME_SIZE(ours, theirs)						\
	static_assert(sizeof(struct ours) == sizeof(struct theirs))

SAME_SIZE(sroce_abi_mmap, mminfo);
SAME(sroce_abi_mmap, size, mminfo, size);

SAME_SIZE(sroce_abi_ring, rxe_queue_buf);
SAME(sroce_abi_ring, index_mask, rxe_queue_buf, index_mask);
SAME(sroce_abi_ring, producer_index, rxe_queue_buf, producer_index);
SAME(sroce_abi_ring, consumer_index, rxe_queue_buf, consumer_index);
SAME(sroce_abi_ring, data, rxe_queue_buf, data);

SAME_SIZE(sroce_abi_sge, rxe_sge);
SAME(sroce_abi_sge, length, rxe_sge, length);
SAME(sroce_abi_sge, lkey, rxe_sge, lkey);

SAME_SIZE(sroce_abi_dma, rxe_dma_info);
SAME(sroce_abi_dma, length, rxe_dma_info, length);
SAME(sroce_abi_dma, num_sge, rxe_dma_info, num_sge);

SAME_SIZE(sroce_abi_send_wqe, rxe_send_wqe);
SAME(sroce_abi_send_wqe, wr.opcode, rxe_send_wqe, wr.opcode);
SAME(sroce_abi_send_wqe, wr.send_flags, rxe_send_wqe, wr.send_flags);
SAME(sroce_abi_send_wqe, wr.ex, rxe_send_wqe, wr.ex);
SAME(sroce_abi_send_wqe, wr.rdma.remote_addr, rxe_send_wqe, wr.wr.rdma.remote_addr);
SAME(sroce_abi_send_wqe, wr.rdma.rkey, rxe_send_wqe, wr.wr.rdma.rkey);
SAME(sroce_abi_send_wqe, wr.atomic.swap, rxe_send_wqe, wr.wr.atomic.swap);
SAME(sroce_abi_send_wqe, wr.atomic.rkey, rxe_send_wqe, wr.wr.atomic.rkey);
#ifdef SROCE_HAVE_FLUSH
SAME(sroce_abi_send_wqe, wr.flush.rkey, rxe_send_wqe, wr.wr.flush.rkey);
SAME(sroce_abi_send_wqe, wr.flush.type, rxe_send_wqe, wr.wr.flush.type);
SAME(sroce_abi_send_wqe, wr.flush.level, rxe_send_wqe, wr.wr.flush.level);
#endif
SAME(sroce_abi_send_wqe, wr.ud.remote_qkey, rxe_send_wqe, wr.wr.ud.remote_qkey);
SAME(sroce_abi_send_wqe, wr.ud.ah_num, rxe_send_wqe, wr.wr.ud.ah_num);
SAME(sroce_abi_send_wqe, wr.mw.access, rxe_send_wqe, wr.wr.mw.access);
SAME(sroce_abi_send_wqe, iova, rxe_send_wqe, iova);
SAME(sroce_abi_send_wqe, dma, rxe_send_wqe, dma);

SAME_SIZE(sroce_abi_recv_wqe, rxe_recv_wqe);
SAME(sroce_abi_recv_wqe, dma, rxe_recv_wqe, dma);

SAME_SIZE(sroce_abi_create_ah_resp, rxe_create_ah_resp);
SAME_SIZE(sroce_abi_create_cq_resp, rxe_create_cq_resp);
SAME_SIZE(sroce_abi_create_qp_resp, rxe_create_qp_resp);
SAME(sroce_abi_create_qp_resp, sq_mi, rxe_create_qp_resp, sq_mi);
SAME_SIZE(sroce_abi_create_srq_resp, rxe_create_srq_resp);
SAME(sroce_abi_create_srq_resp, srq_num, rxe_create_srq_resp, srq_num);
SAME_SIZE(sroce_abi_modify_srq, rxe_modify_srq_cmd);
