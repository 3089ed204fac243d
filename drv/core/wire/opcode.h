/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The one table of BTH opcodes: parse, build, checks, traces and tests use it. */
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
/* What the packet is */
#define SROCE_START	BIT(12)	/* first or only packet of its message */
#define SROCE_END	BIT(13)	/* last or only packet of its message */
#define SROCE_PAYLOAD	BIT(14)	/* carries data */
#define SROCE_RESPONSE	BIT(15)	/* for the completer, not the responder */
#define SROCE_SENDING	BIT(16)	/* of a SEND */
#define SROCE_WRITING	BIT(17)	/* of an RDMA WRITE */
#define SROCE_READING	BIT(18)	/* of an RDMA READ */
#define SROCE_ATOMIC	BIT(19)	/* of an atomic */
#define SROCE_FLUSHING	BIT(20)	/* of a FLUSH */
#define SROCE_RECV	BIT(21)	/* consumes a receive WQE (at its end, for WRITE) */
#define SROCE_RESERVED	BIT(22)	/* of RC, and nobody knows what it means */
/* Requests that have an answer of their own */
#define SROCE_HAS_RESPONSE	(SROCE_READING | SROCE_ATOMIC | SROCE_FLUSHING)

/*
 * Kernels before 6.2 have no rights for FLUSH, so that nobody could allow it:
 * there it is one of the opcodes that nobody knows.
 */
#if defined(SROCE_HAVE_FLUSH) || !defined(__KERNEL__)
#define SROCE_WITH_FLUSH	1
#else
#define SROCE_WITH_FLUSH	0
#endif

/* Transport services, bits 7..5 of the opcode */
#define SROCE_SVC(opcode)	((opcode) >> 5)
#define SROCE_SVC_RC		0
#define SROCE_SVC_UC		1
#define SROCE_SVC_RAW		2	/* of reliable datagrams, which nobody has */
#define SROCE_SVC_UD		3

/* RC opcodes that the code names itself */
#define SROCE_OP_READ_FIRST	0x0d
#define SROCE_OP_READ_MIDDLE	0x0e
#define SROCE_OP_READ_LAST	0x0f
#define SROCE_OP_READ_ONLY	0x10
#define SROCE_OP_ACK		0x11
#define SROCE_OP_ATOMIC_ACK	0x12
#define SROCE_OP_CMP_SWP	0x13
#define SROCE_OP_ATOMIC_WRITE	0x1d

/**
 * struct sroce_opcode - what a BTH opcode means
 * @name: as in the specification, for traces; NULL for an unknown opcode
 * @flags: SROCE_START and its like, and the extended headers present
 * @hdr_len: bytes of BTH and its extended headers
 */
struct sroce_opcode {
	const char	*name;
	u32		flags;
	u8		hdr_len;
};

extern const struct sroce_opcode sroce_opcodes[256];

u32 sroce_opcode_ext_len(u32 ext);
const struct sroce_opcode *sroce_opcode_of(u8 opcode);

/* What a message does on the wire; the requester's side of the table. */
enum sroce_msg {
	SROCE_MSG_SEND,
	SROCE_MSG_SEND_IMM,
	SROCE_MSG_SEND_INV,
	SROCE_MSG_WRITE,
	SROCE_MSG_WRITE_IMM,
	/* these three never are on the wire */
	SROCE_MSG_LOCAL_INV,
	SROCE_MSG_BIND_MW,
	SROCE_MSG_REG_MR,
	/* it is on the wire as it is */
	SROCE_MSG_FRAME,
	/* those from here on have an answer of their own */
	SROCE_MSG_READ,
	SROCE_MSG_FLUSH,
	SROCE_MSG_CMP_SWP,
	SROCE_MSG_FETCH_ADD,
	SROCE_MSG_ATOMIC_WRITE,
	SROCE_MSGS
};

int sroce_opcode_of_msg(u8 svc, enum sroce_msg msg, bool first, bool last);

#endif /* SROCE_OPCODE_H */
