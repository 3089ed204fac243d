/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RoCEv2 wire format: BTH, extended transport headers, AETH codes. IBTA volume 1,
 * chapters 5 and 9, and Annexes A17 (RoCEv2) and A19 (FLUSH).
 */
#ifndef SROCE_WIRE_H
#define SROCE_WIRE_H

#include <linux/bits.h>
#include <linux/types.h>

#define SROCE_UDP_PORT		4791	/* A17.3: UDP destination port */
#define SROCE_ICRC_LEN		4
#define SROCE_GRH_LEN		40	/* bytes before the payload of a UD receive */
#define SROCE_PSN_MASK		0xffffff
#define SROCE_QPN_MASK		0xffffff
#define SROCE_QPN_MULTICAST	0xffffff
#define SROCE_QPN_GSI		1
#define SROCE_PKEY_FULL		0xffff
#define SROCE_DEFAULT_QKEY_GSI	0x80010000
#define SROCE_MTU_MIN		256
#define SROCE_MTU_MAX		4096
#define SROCE_MSG_MAX		0x80000000U	/* 9.7.7: longest message */

/**
 * struct sroce_bth - Base Transport Header, 9.2
 * @opcode: transport service (3 bits) and operation (5)
 * @flags: SE, MigReq, PadCnt (2 bits), TVer (4)
 * @pkey: P_Key
 * @qpn: FECN, BECN, reserved (6 bits), destination QP (24)
 * @apsn: AckReq, reserved (7 bits), PSN (24)
 */
struct sroce_bth {
	u8	opcode;
	u8	flags;
	__be16	pkey;
	__be32	qpn;
	__be32	apsn;
} __packed;

#define SROCE_BTH_SE		0x80
#define SROCE_BTH_MIGREQ	0x40
#define SROCE_BTH_PAD_SHIFT	4
#define SROCE_BTH_PAD_MASK	0x30
#define SROCE_BTH_TVER_MASK	0x0f
#define SROCE_BTH_FECN		0x80000000U
#define SROCE_BTH_BECN		0x40000000U
#define SROCE_BTH_ACKREQ	0x80000000U
#define SROCE_BTH_RESV8A	0xff000000U	/* masked by ICRC, A17.3.3 */

/**
 * struct sroce_deth - Datagram Extended Transport Header, 9.3.2
 * @qkey: Q_Key
 * @sqpn: source QP
 */
struct sroce_deth {
	__be32	qkey;
	__be32	sqpn;
} __packed;

/**
 * struct sroce_feth - FLUSH Extended Transport Header, A19
 * @what: reserved (26 bits), selectivity (2), placement (4)
 */
struct sroce_feth {
	__be32	what;
} __packed;

#define SROCE_FETH_PLACEMENT	0x0fU
#define SROCE_FETH_SELECT	0x30U
#define SROCE_FETH_SELECT_SHIFT	4
/* Placement: the guarantee for the data written before; both may be requested */
#define SROCE_FLUSH_GLOBAL	BIT(0)	/* visible to all CPUs and devices */
#define SROCE_FLUSH_PERSISTENT	BIT(1)	/* preserved across a power failure */
/* Selectivity: the memory to flush */
#define SROCE_FLUSH_RANGE	0
#define SROCE_FLUSH_REGION	1

/**
 * struct sroce_reth - RDMA Extended Transport Header, 9.3.3
 * @va: virtual address
 * @rkey: R_Key
 * @length: DMA length in bytes
 */
struct sroce_reth {
	__be64	va;
	__be32	rkey;
	__be32	length;
} __packed;

/**
 * struct sroce_atmeth - Atomic Extended Transport Header, 9.3.4
 * @va: virtual address
 * @rkey: R_Key
 * @swap_add: swap or add operand
 * @compare: compare operand
 */
struct sroce_atmeth {
	__be64	va;
	__be32	rkey;
	__be64	swap_add;
	__be64	compare;
} __packed;

/**
 * struct sroce_aeth - ACK Extended Transport Header, 9.3.5
 * @syndrome_msn: syndrome (8 bits), MSN (24)
 */
struct sroce_aeth {
	__be32	syndrome_msn;
} __packed;

/**
 * struct sroce_atmack - Atomic ACK Extended Transport Header, 9.5.3
 * @orig: value before the atomic
 */
struct sroce_atmack {
	__be64	orig;
} __packed;

/**
 * struct sroce_immdt - Immediate Data Extended Transport Header, 9.3.6
 * @imm: immediate data
 */
struct sroce_immdt {
	__be32	imm;
} __packed;

/**
 * struct sroce_ieth - Invalidate Extended Transport Header, 9.3.7
 * @rkey: R_Key to invalidate
 */
struct sroce_ieth {
	__be32	rkey;
} __packed;

#define SROCE_BTH_LEN		sizeof(struct sroce_bth)
/* BTH and the largest set of extended headers (AtomicETH) */
#define SROCE_HDR_MAX		(SROCE_BTH_LEN + sizeof(struct sroce_atmeth))
/*
 * Most bytes that a packet with a full path MTU of payload has besides it, from IP on:
 * IPv6, UDP, BTH, RETH, ImmDt and ICRC.
 */
#define SROCE_NET_OVERHEAD	(40 + 8 + SROCE_BTH_LEN + 16 + 4 + SROCE_ICRC_LEN)

/* AETH syndrome, table 48 */
#define SROCE_AETH_TYPE		0xe0
#define SROCE_AETH_VALUE	0x1f
#define SROCE_AETH_ACK		0x00
#define SROCE_AETH_RNR		0x20
#define SROCE_AETH_NAK		0x60
#define SROCE_AETH_NO_CREDITS	0x1f	/* "credit field not valid" */

/**
 * enum sroce_nak - NAK codes in the AETH syndrome
 * @SROCE_NAK_PSN_SEQ: PSN sequence error
 * @SROCE_NAK_INV_REQ: invalid request
 * @SROCE_NAK_REM_ACCESS: remote access error
 * @SROCE_NAK_REM_OP: remote operational error
 * @SROCE_NAK_INV_RD: invalid RD request
 */
enum sroce_nak {
	SROCE_NAK_PSN_SEQ	= 0,
	SROCE_NAK_INV_REQ	= 1,
	SROCE_NAK_REM_ACCESS	= 2,
	SROCE_NAK_REM_OP	= 3,
	SROCE_NAK_INV_RD	= 4,
};

#endif /* SROCE_WIRE_H */
