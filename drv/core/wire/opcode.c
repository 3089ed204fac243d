// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * BTH opcodes (9.2.1, table 38): what each means, which headers follow BTH, and which
 * opcode a packet of a message has.
 */

#include <linux/errno.h>
#include <linux/kernel.h>
#include "drv/core/wire/opcode.h"
#include "drv/core/wire/wire.h"

#define EXT_LEN(f)						\
	(((f) & SROCE_DETH ? sizeof(struct sroce_deth) : 0) +	\
	 ((f) & SROCE_FETH ? sizeof(struct sroce_feth) : 0) +	\
	 ((f) & SROCE_RETH ? sizeof(struct sroce_reth) : 0) +	\
	 ((f) & SROCE_ATMETH ? sizeof(struct sroce_atmeth) : 0) + \
	 ((f) & SROCE_AETH ? sizeof(struct sroce_aeth) : 0) +	\
	 ((f) & SROCE_ATMACK ? sizeof(struct sroce_atmack) : 0) + \
	 ((f) & SROCE_IMMDT ? sizeof(struct sroce_immdt) : 0) +	\
	 ((f) & SROCE_IETH ? sizeof(struct sroce_ieth) : 0))

#define OP(svc, code, opname, f)				\
	[(SROCE_SVC_##svc << 5) | (code)] = {			\
		.name = #svc " " opname,			\
		.flags = (f),					\
		.hdr_len = SROCE_BTH_LEN + EXT_LEN(f),		\
	}

#define ONLY	(SROCE_START | SROCE_END)
#define SEND_F	(SROCE_SENDING | SROCE_PAYLOAD | SROCE_RECV)
#define WRITE_F	(SROCE_WRITING | SROCE_PAYLOAD)
#define RD_RESP	(SROCE_READING | SROCE_PAYLOAD | SROCE_RESPONSE)
#define ATOMIC_F	(SROCE_ATOMIC | SROCE_ATMETH | ONLY)
#define ATOMIC_WRITE_F	(SROCE_ATOMIC | SROCE_RETH | SROCE_PAYLOAD | ONLY)

/* SEND and RDMA WRITE have the same opcodes in RC and UC. */
#define CONNECTED(svc)							\
	OP(svc, 0x00, "SEND first", SEND_F | SROCE_START),		\
	OP(svc, 0x01, "SEND middle", SEND_F),				\
	OP(svc, 0x02, "SEND last", SEND_F | SROCE_END),			\
	OP(svc, 0x03, "SEND last imm", SEND_F | SROCE_END | SROCE_IMMDT),	\
	OP(svc, 0x04, "SEND only", SEND_F | ONLY),			\
	OP(svc, 0x05, "SEND only imm", SEND_F | ONLY | SROCE_IMMDT),	\
	OP(svc, 0x06, "WRITE first", WRITE_F | SROCE_START | SROCE_RETH),	\
	OP(svc, 0x07, "WRITE middle", WRITE_F),				\
	OP(svc, 0x08, "WRITE last", WRITE_F | SROCE_END),			\
	OP(svc, 0x09, "WRITE last imm",					\
	   WRITE_F | SROCE_END | SROCE_IMMDT | SROCE_RECV),		\
	OP(svc, 0x0a, "WRITE only", WRITE_F | ONLY | SROCE_RETH),		\
	OP(svc, 0x0b, "WRITE only imm",					\
	   WRITE_F | ONLY | SROCE_RETH | SROCE_IMMDT | SROCE_RECV)

const struct sroce_opcode sroce_opcodes[256] = {
	CONNECTED(RC),
	OP(RC, 0x0c, "READ request", SROCE_READING | SROCE_RETH | ONLY),
	OP(RC, 0x0d, "READ response first", RD_RESP | SROCE_AETH | SROCE_START),
	OP(RC, 0x0e, "READ response middle", RD_RESP),
	OP(RC, 0x0f, "READ response last", RD_RESP | SROCE_AETH | SROCE_END),
	OP(RC, 0x10, "READ response only", RD_RESP | SROCE_AETH | ONLY),
	OP(RC, 0x11, "ACK", SROCE_RESPONSE | SROCE_AETH | ONLY),
	OP(RC, 0x12, "ATOMIC ack",
	   SROCE_RESPONSE | SROCE_ATOMIC | SROCE_AETH | SROCE_ATMACK | ONLY),
	OP(RC, 0x13, "CMP_SWP", ATOMIC_F),
	OP(RC, 0x14, "FETCH_ADD", ATOMIC_F),
	OP(RC, 0x16, "SEND last inv", SEND_F | SROCE_END | SROCE_IETH),
	OP(RC, 0x17, "SEND only inv", SEND_F | ONLY | SROCE_IETH),
#ifdef SROCE_HAVE_FLUSH
	OP(RC, 0x1c, "FLUSH", SROCE_FLUSHING | SROCE_FETH | SROCE_RETH | ONLY),
#endif
	OP(RC, 0x1d, "ATOMIC WRITE", ATOMIC_WRITE_F),
	CONNECTED(UC),
	OP(UD, 0x04, "SEND only", SEND_F | ONLY | SROCE_DETH),
	OP(UD, 0x05, "SEND only imm", SEND_F | ONLY | SROCE_DETH | SROCE_IMMDT),
	OP(CNP, 0x01, "CNP", SROCE_CNP | SROCE_PAYLOAD | ONLY),
};

/**
 * sroce_opcode_ext_len() - total length of a set of extended headers
 * @ext: SROCE_DETH and the like
 *
 * Return: bytes.
 */
u32 sroce_opcode_ext_len(u32 ext)
{
	return EXT_LEN(ext);
}

/* What follows BTH is unknown, so all of it counts as payload. */
static const struct sroce_opcode reserved = {
	.name = "RC reserved",
	.flags = SROCE_RESERVED | SROCE_PAYLOAD | ONLY,
	.hdr_len = SROCE_BTH_LEN,
};

/**
 * sroce_opcode_of() - look up the opcode of a received packet
 * @opcode: the opcode
 *
 * An RC responder has to answer requests with a reserved opcode as well (9.7.4.1.3), so
 * these have an entry, too.
 *
 * Return: the entry, or NULL if the packet is to be dropped.
 */
const struct sroce_opcode *sroce_opcode_of(u8 opcode)
{
	if (sroce_opcodes[opcode].name)
		return &sroce_opcodes[opcode];
	return SROCE_SVC(opcode) == SROCE_SVC_RC ? &reserved : NULL;
}

/* Opcodes of the first, middle, last and only packet of a message, without the service */
struct msg_opcodes {
	u8 first, middle, last, only;
};

static const struct msg_opcodes msg_opcodes[SROCE_MSGS] = {
	[SROCE_MSG_SEND]	= { 0x00, 0x01, 0x02, 0x04 },
	[SROCE_MSG_SEND_IMM]	= { 0x00, 0x01, 0x03, 0x05 },
	[SROCE_MSG_SEND_INV]	= { 0x00, 0x01, 0x16, 0x17 },
	[SROCE_MSG_WRITE]	= { 0x06, 0x07, 0x08, 0x0a },
	[SROCE_MSG_WRITE_IMM]	= { 0x06, 0x07, 0x09, 0x0b },
	[SROCE_MSG_READ]	= { 0x0c, 0x0c, 0x0c, 0x0c },
	[SROCE_MSG_FLUSH]	= { 0x1c, 0x1c, 0x1c, 0x1c },
	[SROCE_MSG_CMP_SWP]	= { 0x13, 0x13, 0x13, 0x13 },
	[SROCE_MSG_FETCH_ADD]	= { 0x14, 0x14, 0x14, 0x14 },
	[SROCE_MSG_ATOMIC_WRITE] = { 0x1d, 0x1d, 0x1d, 0x1d },
};

/**
 * sroce_opcode_of_msg() - opcode of a packet of a message
 * @svc: SROCE_SVC_RC, _UC or _UD
 * @msg: kind of the message
 * @first: the packet starts the message
 * @last: the packet ends it
 *
 * Return: the opcode, or -EINVAL if the service has no such packet.
 */
int sroce_opcode_of_msg(u8 svc, enum sroce_msg msg, bool first, bool last)
{
	const struct msg_opcodes *m = &msg_opcodes[msg];
	u8 op = svc << 5;

	op |= first ? (last ? m->only : m->first) : (last ? m->last : m->middle);
	return sroce_opcodes[op].name ? op : -EINVAL;
}
