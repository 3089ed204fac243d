/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One packet from BTH to the end of its payload: parsed view and builder. */
#ifndef SROCE_PKT_H
#define SROCE_PKT_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>
#include "drv/core/wire/opcode.h"
#include "drv/core/wire/psn.h"

/**
 * struct sroce_pkt - the fields of a packet, in host order
 * @op: the opcode's row of the table; says which fields below mean something
 * @opcode: BTH opcode
 * @pad: bytes between payload and ICRC
 * @solicited: BTH SE
 * @migreq: BTH MigReq
 * @ackreq: BTH AckReq
 * @pkey: BTH P_Key
 * @qpn: BTH destination QP
 * @psn: BTH PSN
 * @qkey: DETH Q_Key
 * @sqpn: DETH source QP
 * @feth: FETH, SROCE_FETH_*
 * @va: RETH or AtomicETH virtual address
 * @rkey: RETH or AtomicETH R_Key
 * @length: RETH DMA length in bytes
 * @swap_add: AtomicETH swap or add data
 * @compare: AtomicETH compare data
 * @syndrome: AETH syndrome
 * @msn: AETH message sequence number
 * @orig: AtomicAckETH original data
 * @imm: immediate data as it is on the wire
 * @inv_rkey: IETH R_Key
 * @payload_len: bytes of payload, without pad
 * @loopback: it stays on this host: a parcel, of one PSN or more
 * @segs: it stands for so many packets of @seg_len bytes of payload each, see run.c
 * @seg_len: those bytes
 * @sgid: source address; IPv4 mapped into IPv6
 * @dgid: destination address
 * @l3: the network header as received
 * @l3_len: 20 for IPv4, 40 for IPv6
 * @vlan: VLAN id of the arriving device, or 0xffff
 * @carrier: what sroce_pkt_copy() reads the payload from
 * @carrier_off: where in @carrier the BTH stands
 * @flat: the BTH, if the packet lies in one piece from there on, or NULL
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
	bool	loopback;
	u32	segs;
	u32	seg_len;

	union ib_gid	sgid;
	union ib_gid	dgid;
	const void	*l3;
	u8		l3_len;
	u16		vlan;
	const void	*carrier;
	u32		carrier_off;
	const u8	*flat;
};

/**
 * struct sroce_ofo_pkt - a packet that waits for those before it, or for pages
 * @list: in sroce_resp.store or sroce_req.late
 * @pkt: the packet; its carrier is held
 * @l3: its network header
 */
struct sroce_ofo_pkt {
	struct list_head	list;
	struct sroce_pkt	pkt;
	u8			l3[SROCE_GRH_LEN];
};

int sroce_pkt_parse(struct sroce_pkt *pkt, const u8 *hdr, u32 hdr_len, u32 len);
void sroce_pkt_build(const struct sroce_pkt *pkt, u8 *hdr);

/**
 * sroce_pkt_psns() - PSNs that a packet takes by its payload
 * @pkt: the packet
 * @mtu: path MTU in bytes
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
 */
static inline u8 sroce_pkt_svc(const struct sroce_pkt *pkt)
{
	return SROCE_SVC(pkt->opcode);
}

#endif /* SROCE_PKT_H */
