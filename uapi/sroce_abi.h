/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * The user ABI of sroce: what the stock librxe provider of rdma-core reads and
 * writes in the rings it shares with the kernel, and in the driver part of its
 * verbs commands. uverbs ABI version 2, driver id RDMA_DRIVER_RXE.
 *
 * Layouts are fixed by librxe of rdma-core 44 and later; drv/abi.c asserts them
 * against the kernel's own rdma/rdma_user_rxe.h where that is present.
 */
#ifndef SROCE_ABI_H
#define SROCE_ABI_H

#include <linux/types.h>

#define SROCE_ABI_VERSION 2

/* Where and how much to mmap() on the command fd for one ring. */
struct sroce_abi_mmap {
	__aligned_u64	offset;
	__u32		size;
	__u32		pad;
};

/*
 * Head of every ring. Indices are stored masked; the ring is empty when they
 * are equal, and one slot always stays empty. User space produces into SQ, RQ
 * and SRQ and consumes from CQs.
 */
struct sroce_abi_ring {
	__u32	log2_elem_size;
	__u32	index_mask;
	__u32	pad_1[30];
	__u32	producer_index;
	__u32	pad_2[31];
	__u32	consumer_index;
	__u32	pad_3[31];
	__u8	data[];
};

struct sroce_abi_sge {
	__aligned_u64	addr;
	__u32		length;
	__u32		lkey;
};

/* Scatter/gather part of a work request; the payload follows it in the slot. */
struct sroce_abi_dma {
	__u32	length;
	__u32	resid;
	__u32	cur_sge;
	__u32	num_sge;
	__u32	sge_offset;
	__u32	reserved;
};

/* A send work request, without what the slot has besides */
struct sroce_abi_send_wr {
	__aligned_u64	wr_id;
	__u32		reserved;
	__u32		opcode;		/* enum ib_uverbs_wr_opcode */
	__u32		send_flags;	/* enum ib_uverbs_send_flags */
	__u32		ex;		/* immediate (be32) or rkey to invalidate */
	union {
		struct {
			__aligned_u64	remote_addr;
			__u32		rkey;
		} rdma;
		/* its length is dma.length */
		struct {
			__aligned_u64	remote_addr;
			__u32		stale_length;
			__u32		rkey;
			__u8		type;	/* enum ib_placement_type */
			__u8		level;	/* enum ib_selectivity_level */
		} flush;
		struct {
			__aligned_u64	remote_addr;
			__aligned_u64	compare_add;
			__aligned_u64	swap;
			__u32		rkey;
		} atomic;
		struct {
			__u32		remote_qpn;
			__u32		remote_qkey;
			__u16		pkey_index;
			__u16		reserved;
			__u32		ah_num;
		} ud;
		struct {
			__aligned_u64	addr;
			__aligned_u64	length;
			__u32		mr_lkey;
			__u32		mw_rkey;
			__u32		rkey;
			__u32		access;
		} mw;
	};
};

/* A slot of the SQ. Fields that the provider leaves stale are named stale_*. */
struct sroce_abi_send_wqe {
	struct sroce_abi_send_wr	wr;
	__u8		stale_room[88];
	__u32		stale_status;
	__u32		stale_state;
	__aligned_u64	iova;
	__u32		stale_psn[6];
	struct sroce_abi_dma dma;
	/* num_sge of struct sroce_abi_sge, or dma.length bytes inline */
	__u8		payload[];
};

/* A slot of an RQ or SRQ. */
struct sroce_abi_recv_wqe {
	__aligned_u64		wr_id;
	__u32			reserved;
	__u32			padding;
	struct sroce_abi_dma	dma;
	struct sroce_abi_sge	sge[];
};

/*
 * Flags in a user's completion are IBV_WC_* of libibverbs, as librxe passes
 * them on: IB_WC_WITH_INVALIDATE has another number there.
 */
#define SROCE_ABI_WC_GRH	(1 << 0)
#define SROCE_ABI_WC_WITH_IMM	(1 << 1)
#define SROCE_ABI_WC_WITH_INV	(1 << 3)

struct sroce_abi_create_ah_resp {
	__u32	ah_num;
	__u32	reserved;
};

struct sroce_abi_create_cq_resp {
	struct sroce_abi_mmap mi;
};

struct sroce_abi_create_qp_resp {
	struct sroce_abi_mmap rq_mi;
	struct sroce_abi_mmap sq_mi;
};

struct sroce_abi_create_srq_resp {
	struct sroce_abi_mmap mi;
	__u32	srq_num;
	__u32	reserved;
};

/* modify_srq: user pointer where a struct sroce_abi_mmap is written. */
struct sroce_abi_modify_srq {
	__aligned_u64 mmap_info_addr;
};

#endif /* SROCE_ABI_H */
