/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The table of BTH opcodes. Parser, builder, checks, tracepoints and tests use it. */
#ifndef SROCE_OPCODE_H
#define SROCE_OPCODE_H

#include <linux/bits.h>
#include "drv/core/wire/wire.h"

/* Extended headers, in the order in which they follow BTH */
#define SROCE_DETH	BIT(0)
#define SROCE_FETH	BIT(1)
#define SROCE_RETH	BIT(2)
#define SROCE_ATMETH	BIT(3)
#define SROCE_AETH	BIT(4)
#define SROCE_ATMACK	BIT(5)
#define SROCE_IMMDT	BIT(6)
#define SROCE_IETH	BIT(7)
#define SROCE_EXT_MASK	GENMASK(11, 0)
/* Properties of the packet */
#define SROCE_START	BIT(12)	/* first or only packet of its message */
#define SROCE_END	BIT(13)	/* last or only packet of its message */
#define SROCE_PAYLOAD	BIT(14)	/* carries data */
#define SROCE_RESPONSE	BIT(15)	/* received by the completer, not the responder */
#define SROCE_SENDING	BIT(16)	/* belongs to a SEND */
#define SROCE_WRITING	BIT(17)	/* belongs to an RDMA WRITE */
#define SROCE_READING	BIT(18)	/* belongs to an RDMA READ */
#define SROCE_ATOMIC	BIT(19)	/* belongs to an atomic */
#define SROCE_FLUSHING	BIT(20)	/* belongs to a FLUSH */
#define SROCE_RECV	BIT(21)	/* consumes a receive WQE (at its end, for WRITE) */
#define SROCE_RESERVED	BIT(22)	/* reserved opcode of RC */
#define SROCE_CNP	BIT(23)	/* congestion notification, for RC and UC */
/* Requests that have a response other than an ACK */
#define SROCE_HAS_RESPONSE	(SROCE_READING | SROCE_ATOMIC | SROCE_FLUSHING)

/* Transport services, bits 7..5 of the opcode */
#define SROCE_SVC(opcode)	((opcode) >> 5)
#define SROCE_SVC_RC		0
#define SROCE_SVC_UC		1
#define SROCE_SVC_RAW		2	/* raw packet QPs; the code of RD, which RoCE lacks */
#define SROCE_SVC_UD		3
#define SROCE_SVC_CNP		4

/* RC opcodes that the code refers to */
#define SROCE_OP_READ_FIRST	0x0d
#define SROCE_OP_READ_MIDDLE	0x0e
#define SROCE_OP_READ_LAST	0x0f
#define SROCE_OP_READ_ONLY	0x10
#define SROCE_OP_ACK		0x11
#define SROCE_OP_ATOMIC_ACK	0x12
#define SROCE_OP_CMP_SWP	0x13
#define SROCE_OP_ATOMIC_WRITE	0x1d
/* Congestion notification packet, A17.9.3 */
#define SROCE_OP_CNP		0x81

/**
 * struct sroce_opcode - meaning of a BTH opcode
 * @name: name in the specification; NULL if the opcode is not in the table
 * @flags: SROCE_START and the like, and the extended headers that follow BTH
 * @hdr_len: bytes of BTH and the extended headers
 */
struct sroce_opcode {
	const char	*name;
	u32		flags;
	u8		hdr_len;
};

extern const struct sroce_opcode sroce_opcodes[256];

u32 sroce_opcode_ext_len(u32 ext);
const struct sroce_opcode *sroce_opcode_of(u8 opcode);

/**
 * enum sroce_msg - what a send work request does
 * @SROCE_MSG_SEND: SEND
 * @SROCE_MSG_SEND_IMM: SEND with immediate
 * @SROCE_MSG_SEND_INV: SEND with invalidate
 * @SROCE_MSG_WRITE: RDMA WRITE
 * @SROCE_MSG_WRITE_IMM: RDMA WRITE with immediate
 * @SROCE_MSG_LOCAL_INV: local invalidate; sends no packet, like the next two
 * @SROCE_MSG_BIND_MW: bind a window
 * @SROCE_MSG_REG_MR: register a fast region
 * @SROCE_MSG_FRAME: Ethernet frame of a raw packet QP, without BTH
 * @SROCE_MSG_READ: RDMA READ; this and the following have a response other than an ACK
 * @SROCE_MSG_FLUSH: FLUSH
 * @SROCE_MSG_CMP_SWP: compare and swap
 * @SROCE_MSG_FETCH_ADD: fetch and add
 * @SROCE_MSG_ATOMIC_WRITE: ATOMIC WRITE
 * @SROCE_MSGS: number of the above
 *
 * The order matters: comparisons such as that of sroce_wqe_wants_response() rely on it.
 */
enum sroce_msg {
	SROCE_MSG_SEND,
	SROCE_MSG_SEND_IMM,
	SROCE_MSG_SEND_INV,
	SROCE_MSG_WRITE,
	SROCE_MSG_WRITE_IMM,
	SROCE_MSG_LOCAL_INV,
	SROCE_MSG_BIND_MW,
	SROCE_MSG_REG_MR,
	SROCE_MSG_FRAME,
	SROCE_MSG_READ,
	SROCE_MSG_FLUSH,
	SROCE_MSG_CMP_SWP,
	SROCE_MSG_FETCH_ADD,
	SROCE_MSG_ATOMIC_WRITE,
	SROCE_MSGS
};

int sroce_opcode_of_msg(u8 svc, enum sroce_msg msg, bool first, bool last);

#endif /* SROCE_OPCODE_H */
