/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * User ABI of sroce: the rings that the stock librxe provider of rdma-core shares with the
 * kernel, and the driver part of its verbs commands. uverbs ABI version 2, driver ID
 * RDMA_DRIVER_RXE.
 *
 * The layouts are those of librxe in rdma-core 44 and later. drv/verbs/abi.c asserts them
 * against the kernel's rdma/rdma_user_rxe.h where that is present.
 */
#ifndef SROCE_ABI_H
#define SROCE_ABI_H

#include <linux/types.h>

#define SROCE_ABI_VERSION 2

/**
 * struct sroce_abi_mmap - arguments of mmap() on the command fd, for one ring
 * @offset: file offset
 * @size: bytes
 * @pad: unused
 */
struct sroce_abi_mmap {
	__aligned_u64	offset;
	__u32		size;
	__u32		pad;
};

/**
 * struct sroce_abi_ring - head of a ring
 * @log2_elem_size: log2 of the bytes per slot
 * @index_mask: number of slots - 1
 * @pad_1: unused
 * @producer_index: next slot to fill, masked
 * @pad_2: unused
 * @consumer_index: next slot to read, masked
 * @pad_3: unused
 * @data: the slots
 *
 * The ring is empty when the indices are equal. One slot always stays empty. User space is
 * the producer of SQs, RQs and SRQs and the consumer of CQs.
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

/**
 * struct sroce_abi_sge - scatter/gather entry
 * @addr: first byte
 * @length: bytes
 * @lkey: L_Key
 */
struct sroce_abi_sge {
	__aligned_u64	addr;
	__u32		length;
	__u32		lkey;
};

/**
 * struct sroce_abi_dma - payload of a work request, which follows it in the slot
 * @length: bytes of payload
 * @resid: unused by sroce
 * @cur_sge: unused by sroce
 * @num_sge: scatter/gather entries; 0 with inline data
 * @sge_offset: unused by sroce
 * @reserved: unused
 */
struct sroce_abi_dma {
	__u32	length;
	__u32	resid;
	__u32	cur_sge;
	__u32	num_sge;
	__u32	sge_offset;
	__u32	reserved;
};

/*
 * A send work request, as far as sroce uses it: the head of struct sroce_abi_send_wqe.
 * Members that the provider does not set are named stale_*.
 */
struct sroce_abi_send_wr {
	__aligned_u64	wr_id;
	__u32		reserved;
	__u32		opcode;		/* enum ib_uverbs_wr_opcode */
	__u32		send_flags;	/* enum ib_uverbs_send_flags */
	__u32		ex;		/* immediate (be32) or R_Key to invalidate */
	union {
		struct {
			__aligned_u64	remote_addr;
			__u32		rkey;
		} rdma;
		/* the length is dma.length */
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

/**
 * struct sroce_abi_send_wqe - a slot of an SQ
 * @wr: the work request
 * @stale_av: address vector of UD, which sroce looks up by ud.ah_num instead
 * @stale_status: unused by sroce
 * @stale_state: unused by sroce
 * @iova: unused by sroce
 * @stale_psn: unused by sroce
 * @dma: description of @payload
 * @payload: dma.num_sge of struct sroce_abi_sge, or dma.length bytes of inline data
 */
struct sroce_abi_send_wqe {
	struct sroce_abi_send_wr	wr;
	__u8		stale_av[88];
	__u32		stale_status;
	__u32		stale_state;
	__aligned_u64	iova;
	__u32		stale_psn[6];
	struct sroce_abi_dma dma;
	__u8		payload[];
};

/**
 * struct sroce_abi_recv_wqe - a slot of an RQ or SRQ
 * @wr_id: ID set by the consumer
 * @reserved: unused
 * @padding: unused
 * @dma: length of @sge
 * @sge: scatter/gather list
 */
struct sroce_abi_recv_wqe {
	__aligned_u64		wr_id;
	__u32			reserved;
	__u32			padding;
	struct sroce_abi_dma	dma;
	struct sroce_abi_sge	sge[];
};

/*
 * Flags of a completion in a user CQ: IBV_WC_* of libibverbs, since librxe does not convert
 * them. IBV_WC_WITH_INV has another value than IB_WC_WITH_INVALIDATE.
 */
#define SROCE_ABI_WC_GRH	0x1
#define SROCE_ABI_WC_WITH_IMM	0x2
#define SROCE_ABI_WC_WITH_INV	0x8

/* SL of a completion in a user CQ: how a datagram came, with the values of ConnectX */
#define SROCE_ABI_SL_IPV6	1
#define SROCE_ABI_SL_IPV4	2

/**
 * struct sroce_abi_create_ah_resp - response of create_ah
 * @ah_num: number that send work requests refer to the address handle by
 * @reserved: unused
 */
struct sroce_abi_create_ah_resp {
	__u32	ah_num;
	__u32	reserved;
};

/**
 * struct sroce_abi_create_cq_resp - response of create_cq and resize_cq
 * @mi: the ring
 */
struct sroce_abi_create_cq_resp {
	struct sroce_abi_mmap mi;
};

/**
 * struct sroce_abi_create_qp_resp - response of create_qp
 * @rq_mi: ring of the RQ; empty with an SRQ
 * @sq_mi: ring of the SQ
 */
struct sroce_abi_create_qp_resp {
	struct sroce_abi_mmap rq_mi;
	struct sroce_abi_mmap sq_mi;
};

/**
 * struct sroce_abi_create_srq_resp - response of create_srq
 * @mi: the ring
 * @srq_num: number of the SRQ
 * @reserved: unused
 */
struct sroce_abi_create_srq_resp {
	struct sroce_abi_mmap mi;
	__u32	srq_num;
	__u32	reserved;
};

/**
 * struct sroce_abi_modify_srq - request of modify_srq
 * @mmap_info_addr: user pointer to which a struct sroce_abi_mmap is written on resize
 */
struct sroce_abi_modify_srq {
	__aligned_u64 mmap_info_addr;
};

#endif /* SROCE_ABI_H */
