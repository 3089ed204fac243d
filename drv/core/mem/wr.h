/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Work requests and their queues. These are private copies: nothing here is shared with
 * user space, except for the rings behind struct sroce_ring.
 */
#ifndef SROCE_CORE_MEM_WR_H
#define SROCE_CORE_MEM_WR_H

#include <rdma/ib_verbs.h>
#include "drv/core/wire/opcode.h"
#include "drv/core/mem/ring.h"

#define SROCE_MAX_SGE		32
#define SROCE_MAX_INLINE	1024

/* Values of the user ABI that kernels before 6.2 do not define */
#define SROCE_WR_FLUSH		14
#define SROCE_WC_FLUSH		8
#define SROCE_WR_ATOMIC_WRITE	15
#define SROCE_WC_ATOMIC_WRITE	9

struct sroce_ah;
struct sroce_qp;

/**
 * struct sroce_bind - arguments of a bind or fast registration
 * @addr: first byte; for a window an address of the region it is bound to
 * @length: bytes
 * @mr_key: L_Key of the region that a window is bound to
 * @key: present key of a window
 * @new_key: new key of the window or fast region
 * @access: enum ib_access_flags
 */
struct sroce_bind {
	u64	addr;
	u64	length;
	u32	mr_key;
	u32	key;
	u32	new_key;
	u32	access;
};

/**
 * struct sroce_read_split - how a READ is split into requests, see rc/read_split.c
 * @psn: PSN of a request; requests of @psns PSNs follow from there on
 * @psns: PSNs per request, but for the last
 * @psns_before: PSNs of each request before @psn
 */
struct sroce_read_split {
	u32	psn;
	u32	psns;
	u32	psns_before;
};

/**
 * struct sroce_wqe - a send work request, from fetch or post to completion
 * @wr_id: ID set by the consumer
 * @msg: what it does
 * @flags: enum ib_send_flags
 * @status: IB_WC_SUCCESS, or why it can't be executed
 * @inv: READ with invalidate: @inv_rkey is invalidated locally when the READ completes
 * @masked: posted as a masked atomic, with masks that make it a plain one
 * @started: it has PSNs, and its first packet may have been sent
 * @ready: the memory that a READ or atomic writes to was checked, and faulted in if needed
 * @num_sge: length of @sge
 * @length: bytes of payload
 * @first_psn: PSN of its first packet
 * @last_psn: PSN of its last packet, or of the last READ response
 * @imm: immediate data in network order
 * @next_resp: READ, atomic or FLUSH that was started: send queue index of the next such one,
 *	valid unless it is sroce_req.newest_resp
 * @inv_rkey: key to invalidate: by the responder for a SEND, otherwise locally
 * @remote_addr: address in the peer's memory
 * @rkey: R_Key of @remote_addr
 * @compare_add: compare or add operand
 * @swap: swap operand
 * @split: READ: its requests
 * @feth: FLUSH: placement and selectivity, SROCE_FETH_*
 * @bind: arguments of a bind or fast registration
 * @remote_qpn: UD: destination QP
 * @remote_qkey: UD: Q_Key
 * @ah: UD: address handle, referenced
 * @sge: scatter/gather list of the payload
 * @data: inline payload, in the memory of @sge
 */
struct sroce_wqe {
	u64			wr_id;
	enum sroce_msg		msg;
	u32			flags;
	enum ib_wc_status	status;
	bool			inv;
	bool			masked;
	bool			started;
	bool			ready;
	u8			num_sge;
	u32			length;
	u32			first_psn;
	u32			last_psn;
	union {
		__be32		imm;
		u32		next_resp;
	};
	u32			inv_rkey;
	union {
		struct {
			u64	remote_addr;
			union {
				struct {
					u64	compare_add;
					u64	swap;
				};
				struct sroce_read_split split;
			};
			u32	rkey;
			u32	feth;
		};
		struct sroce_bind bind;
		struct {
			u32	remote_qpn;
			u32	remote_qkey;
			struct sroce_ah *ah;
		};
	};
	union {
		DECLARE_FLEX_ARRAY(struct ib_sge, sge);
		DECLARE_FLEX_ARRAY(u8, data);
	};
};

/**
 * struct sroce_rwqe - a receive work request in use by the responder
 * @wr_id: ID set by the consumer
 * @num_sge: length of @sge
 * @bad: it has too many entries
 * @length: bytes that the entries of @sge have in total
 * @sge: scatter/gather list
 */
struct sroce_rwqe {
	u64		wr_id;
	u8		num_sge;
	bool		bad;
	u64		length;
	struct ib_sge	sge[SROCE_MAX_SGE];
};

/**
 * struct sroce_posted - copy of the head of a slot in a send queue's ring
 * @wr: the work request
 * @dma: length of its scatter/gather list or inline data
 */
struct sroce_posted {
	struct sroce_abi_send_wr	wr;
	struct sroce_abi_dma		dma;
};

/**
 * struct sroce_sq - a send queue
 * @slots: private work requests, one per slot of @ring
 * @stride: bytes from one of @slots to the next
 * @mask: number of slots - 1
 * @prod: index of the next slot to fill
 * @cons: index of the oldest work request that is not completed
 * @max_sge: most scatter/gather entries per work request
 * @max_inline: most inline bytes per work request
 * @ring: the ring shared with user space; unused by a kernel QP
 * @db_tail: one past the last slot of @ring for which the doorbell has rung
 * @flushing: in a state that executes nothing: some are still to be flushed
 * @flushed: a batch of them was flushed in this trip
 * @posted: copy of the head of the slot that is being fetched
 */
struct sroce_sq {
	void			*slots;
	u32			stride;
	u32			mask;
	u32			prod;
	u32			cons;
	u32			max_sge;
	u32			max_inline;
	struct sroce_ring	ring;
	u32			db_tail;
	bool			flushing;
	bool			flushed;
	struct sroce_posted	posted;
};

/**
 * struct sroce_rq - a receive queue, of a QP or shared
 * @lock: serializes consumers of an SRQ, and kernel producers
 * @ring: the posted work requests
 * @max_wr: most work requests
 * @max_sge: most scatter/gather entries per work request
 * @limit: raise IB_EVENT_SRQ_LIMIT_REACHED below so many work requests; 0 for never
 */
struct sroce_rq {
	spinlock_t		lock;
	struct sroce_ring	ring;
	u32			max_wr;
	u32			max_sge;
	u32			limit;
};

static inline struct sroce_wqe *sroce_sq_wqe(const struct sroce_sq *sq, u32 idx)
{
	return sq->slots + (size_t)(idx & sq->mask) * sq->stride;
}

static inline u32 sroce_sq_next(const struct sroce_sq *sq, u32 idx)
{
	return (idx + 1) & sq->mask;
}

/* Whether no slot is free; one always stays empty, as in the ring. */
static inline bool sroce_sq_full(const struct sroce_sq *sq)
{
	return sroce_sq_next(sq, sq->prod) == sq->cons;
}

/* Whether a doorbell has rung for slots that are not fetched; never with a kernel QP */
static inline bool sroce_sq_rung(const struct sroce_sq *sq)
{
	return sq->ring.own != sq->db_tail;
}

/* Whether it has a response other than an ACK */
static inline bool sroce_wqe_wants_response(const struct sroce_wqe *wqe)
{
	return wqe->msg >= SROCE_MSG_READ;
}

/* Whether it sends no packet, but changes a window or region of this host */
static inline bool sroce_wqe_is_mem_op(const struct sroce_wqe *wqe)
{
	return wqe->msg >= SROCE_MSG_LOCAL_INV && wqe->msg <= SROCE_MSG_REG_MR;
}

/* Whether its response has the value of the peer's memory before an atomic */
static inline bool sroce_wqe_fetches(const struct sroce_wqe *wqe)
{
	return wqe->msg == SROCE_MSG_CMP_SWP || wqe->msg == SROCE_MSG_FETCH_ADD;
}

/* Whether its response has no data, and only confirms that it was executed */
static inline bool sroce_wqe_ack_only(const struct sroce_wqe *wqe)
{
	return wqe->msg == SROCE_MSG_FLUSH || wqe->msg == SROCE_MSG_ATOMIC_WRITE;
}

/* Whether its payload is sent to the peer */
static inline bool sroce_wqe_has_payload(const struct sroce_wqe *wqe)
{
	return !sroce_wqe_wants_response(wqe) || wqe->msg == SROCE_MSG_ATOMIC_WRITE;
}

#endif /* SROCE_CORE_MEM_WR_H */
