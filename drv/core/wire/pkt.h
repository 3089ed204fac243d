/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A packet from BTH to the end of its payload: its fields, parser and builder. */
#ifndef SROCE_PKT_H
#define SROCE_PKT_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>
#include "drv/core/wire/opcode.h"
#include "drv/core/wire/psn.h"

/**
 * struct sroce_pkt - the fields of a packet, in host order
 * @op: entry of @opcode in the table; determines which fields below are valid
 * @opcode: BTH opcode
 * @pad: bytes between payload and ICRC
 * @solicited: BTH SE
 * @migreq: BTH MigReq
 * @ackreq: BTH AckReq
 * @pkey: BTH P_Key
 * @qpn: BTH destination QP
 * @psn: BTH PSN
 * @qkey: DETH Q_Key
 * @sqpn: DETH source QP; of a loopback packet, always the sender
 * @feth: FETH, SROCE_FETH_*
 * @va: RETH or AtomicETH virtual address
 * @rkey: RETH or AtomicETH R_Key
 * @length: RETH DMA length in bytes
 * @swap_add: AtomicETH swap or add data
 * @compare: AtomicETH compare data
 * @syndrome: AETH syndrome
 * @msn: AETH message sequence number
 * @orig: AtomicAckETH original data
 * @imm: immediate data, in network order
 * @inv_rkey: IETH R_Key
 * @payload_len: bytes of payload, without pad
 * @bad_length: a request of RC whose length does not fit its headers and pad: there is
 *	nothing but its BTH
 * @loopback: a loopback packet; it may take several PSNs
 * @joins: to be sent: a response that leaves with the request queued last
 * @segs: not 0: this describes so many consecutive packets of a message, see tx/segs.c
 * @seg_len: bytes of payload of each of them
 * @seg_at: BTH of each of them, or NULL if they follow one another in @carrier
 * @sgid: source address; IPv4 mapped into IPv6
 * @dgid: destination address
 * @l3: network header as received
 * @l3_len: 20 for IPv4, 40 for IPv6
 * @ce: the network header is marked: congestion experienced (RFC 3168)
 * @vlan: VLAN ID of the netdev that received the packet, or 0xffff
 * @carrier: what sroce_pkt_copy() reads the payload from: an skb or a loopback packet
 * @carrier_off: offset of BTH in @carrier
 * @flat: BTH, if the packet is contiguous in memory from there on, or NULL
 */
struct sroce_pkt {
	const struct sroce_opcode *op;
	u8	opcode;
	u8	pad;
	bool	solicited;
	bool	migreq;
	bool	ackreq;
	u16	pkey;
	u32	qpn;
	u32	psn;
	u32	qkey;
	u32	sqpn;
	u32	feth;
	u64	va;
	u32	rkey;
	u32	length;
	u64	swap_add;
	u64	compare;
	u8	syndrome;
	u32	msn;
	u64	orig;
	__be32	imm;
	u32	inv_rkey;
	u32	payload_len;
	bool	bad_length;
	bool	loopback;
	bool	joins;
	u32	segs;
	u32	seg_len;
	const u8 *const *seg_at;

	union ib_gid	sgid;
	union ib_gid	dgid;
	const void	*l3;
	u8		l3_len;
	bool		ce;
	u16		vlan;
	const void	*carrier;
	u32		carrier_off;
	const u8	*flat;
};

/**
 * struct sroce_ofo_pkt - a packet that waits for a gap to be filled, or for a page fault
 * @list: in sroce_resp.ofo_queue or sroce_req.ofo_resps
 * @pkt: the packet, kept by sroce_pkt_hold()
 * @read_psns: a READ request: number of its responses
 * @l3: copy of its network header
 */
struct sroce_ofo_pkt {
	struct list_head	list;
	struct sroce_pkt	pkt;
	u32			read_psns;
	u8			l3[SROCE_GRH_LEN];
};

int sroce_pkt_parse(struct sroce_pkt *pkt, const u8 *hdr, u32 hdr_len, u32 len);
void sroce_pkt_build(const struct sroce_pkt *pkt, u8 *hdr);
void sroce_pkt_build_next(const struct sroce_pkt *pkt, const u8 *bth, u8 *hdr);

/**
 * sroce_pkt_psns() - number of PSNs that the payload of a packet takes
 * @pkt: the packet
 * @mtu: path MTU in bytes
 *
 * Return: at least 1. A READ request takes the PSNs of its responses, not this number.
 */
static inline u32 sroce_pkt_psns(const struct sroce_pkt *pkt, u32 mtu)
{
	if (pkt->segs)
		return pkt->segs;
	return pkt->loopback ? sroce_psn_count(pkt->payload_len, mtu) : 1;
}

/**
 * sroce_pkt_svc() - transport service of a packet
 * @pkt: the packet
 *
 * Return: SROCE_SVC_*.
 */
static inline u8 sroce_pkt_svc(const struct sroce_pkt *pkt)
{
	return SROCE_SVC(pkt->opcode);
}

#endif /* SROCE_PKT_H */
