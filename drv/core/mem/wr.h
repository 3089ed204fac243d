/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private copies of work requests, and their queues. Nothing here is shared with user
 * space.
 */
#ifndef SROCE_CORE_MEM_WR_H
#define SROCE_CORE_MEM_WR_H

#include <rdma/ib_verbs.h>
#include "drv/core/wire/opcode.h"
#include "drv/core/mem/ring.h"

#define SROCE_MAX_SGE		32
#define SROCE_MAX_INLINE	1024

/* Kernels before 6.2 have no name for what the provider posts all the same. */
#define SROCE_WR_FLUSH		14
#define SROCE_WC_FLUSH		8
#define SROCE_WR_ATOMIC_WRITE	15
#define SROCE_WC_ATOMIC_WRITE	9

struct sroce_ah;
struct sroce_qp;

/**
 * struct sroce_bind - what a work request does to a window or fast region
 * @addr: first byte; for a window, in the region it is bound onto
 * @length: bytes
 * @mr_key: L_Key of the region that a window is bound onto
 * @key: of the window or fast region before
 * @new_key: and after
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
 * struct sroce_wqe - a send work request from intake to completion
 * @wr_id: the user's
 * @msg: what it does
 * @flags: enum ib_send_flags
 * @status: why it can't be executed, IB_WC_SUCCESS if it can
 * @inv: a READ that ends the key @inv_rkey here when all of it has come
 * @masked: an atomic that was posted with masks, of which it needs none
 * @started: it has its PSNs and its first packet may have been sent
 * @ready: memory for what it fetches has been asked for
 * @num_sge: entries in @sge
 * @length: bytes of payload
 * @first_psn: PSN of its first packet
 * @last_psn: PSN of its last packet, or of the last READ response
 * @imm: immediate data as it goes on the wire
 * @inv_rkey: key to invalidate: a SEND's at the responder, else here
 * @remote_addr: where it reads, writes or operates
 * @rkey: key for @remote_addr
 * @compare_add: compare or add operand
 * @swap: swap operand
 * @feth: what a FLUSH is to do, SROCE_FETH_*
 * @bind: memory management: what it names, and what that becomes
 * @remote_qpn: UD destination
 * @remote_qkey: UD Q_Key
 * @ah: UD address, referenced
 * @sge: where the payload is, or goes
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
	__be32			imm;
	u32			inv_rkey;
	union {
		struct {
			u64	remote_addr;
			u64	compare_add;
			u64	swap;
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
 * @wr_id: the user's
 * @num_sge: entries in @sge
 * @length: bytes that it can take
 * @bad: it was malformed
 * @sge: where the payload goes
 */
struct sroce_rwqe {
	u64		wr_id;
	u8		num_sge;
	bool		bad;
	u64		length;
	struct ib_sge	sge[SROCE_MAX_SGE];
};

/**
 * struct sroce_posted - what counts of a slot of a user's ring
 * @wr: the work request
 * @dma: the length of its list, or of inline data
 */
struct sroce_posted {
	struct sroce_abi_send_wr	wr;
	struct sroce_abi_dma		dma;
};

/**
 * struct sroce_sq - a send queue
 * @slots: private work requests, one per slot of the ring
 * @stride: bytes from one to the next
 * @mask: slots - 1
 * @prod: where the next one taken in goes
 * @cons: the oldest one not completed
 * @max_sge: most scatter/gather entries
 * @max_inline: most inline bytes
 * @ring: the ring they are copied from; unused in a kernel QP
 * @db_tail: one past those in it for which the doorbell has rung
 * @posted: the one that is being taken in
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
	struct sroce_posted	posted;
};

/**
 * struct sroce_rq - a receive queue, of a QP or shared
 * @lock: serializes consumers of a shared one, and kernel producers
 * @ring: the posted work requests
 * @max_wr: as created
 * @max_sge: most scatter/gather entries
 * @limit: raise IB_EVENT_SRQ_LIMIT_REACHED below this many, 0 for never
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

/* No private slot left: one always stays empty, as in the ring. */
static inline bool sroce_sq_full(const struct sroce_sq *sq)
{
	return sroce_sq_next(sq, sq->prod) == sq->cons;
}

static inline bool sroce_wqe_wants_response(const struct sroce_wqe *wqe)
{
	return wqe->msg >= SROCE_MSG_READ;
}

/* It sends nothing: it changes a window or region here. */
static inline bool sroce_wqe_is_local(const struct sroce_wqe *wqe)
{
	return wqe->msg >= SROCE_MSG_LOCAL_INV && wqe->msg <= SROCE_MSG_REG_MR;
}

/* It returns what was in the peer's memory before. */
static inline bool sroce_wqe_fetches(const struct sroce_wqe *wqe)
{
	return wqe->msg == SROCE_MSG_CMP_SWP || wqe->msg == SROCE_MSG_FETCH_ADD;
}

/* Its response brings nothing: it says that the request was executed. */
static inline bool sroce_wqe_ack_only(const struct sroce_wqe *wqe)
{
	return wqe->msg == SROCE_MSG_FLUSH || wqe->msg == SROCE_MSG_ATOMIC_WRITE;
}

/* It takes its payload to the peer. */
static inline bool sroce_wqe_has_payload(const struct sroce_wqe *wqe)
{
	return !sroce_wqe_wants_response(wqe) || wqe->msg == SROCE_MSG_ATOMIC_WRITE;
}

#endif /* SROCE_CORE_MEM_WR_H */
