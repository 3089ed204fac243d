// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Parser and builder of BTH and the extended headers. Which headers a packet has is found
 * in the table of opcodes.
 */

#include <linux/errno.h>
#include "drv/compat/unaligned.h"
#include "drv/core/wire/opcode.h"
#include "drv/core/wire/pkt.h"
#include "drv/core/wire/wire.h"

static const u8 *parse_ext(struct sroce_pkt *pkt, const u8 *p)
{
	u32 ext = pkt->op->flags;

	if (ext & SROCE_DETH) {
		pkt->qkey = get_unaligned_be32(p);
		pkt->sqpn = get_unaligned_be32(p + 4) & SROCE_QPN_MASK;
		p += sizeof(struct sroce_deth);
	}
	if (ext & SROCE_FETH) {
		pkt->feth = get_unaligned_be32(p) &
			    (SROCE_FETH_PLACEMENT | SROCE_FETH_SELECT);
		p += sizeof(struct sroce_feth);
	}
	if (ext & SROCE_RETH) {
		pkt->va = get_unaligned_be64(p);
		pkt->rkey = get_unaligned_be32(p + 8);
		pkt->length = get_unaligned_be32(p + 12);
		p += sizeof(struct sroce_reth);
	}
	if (ext & SROCE_ATMETH) {
		pkt->va = get_unaligned_be64(p);
		pkt->rkey = get_unaligned_be32(p + 8);
		pkt->swap_add = get_unaligned_be64(p + 12);
		pkt->compare = get_unaligned_be64(p + 20);
		p += sizeof(struct sroce_atmeth);
	}
	if (ext & SROCE_AETH) {
		pkt->syndrome = *p;
		pkt->msn = get_unaligned_be32(p) & SROCE_PSN_MASK;
		p += sizeof(struct sroce_aeth);
	}
	if (ext & SROCE_ATMACK) {
		pkt->orig = get_unaligned_be64(p);
		p += sizeof(struct sroce_atmack);
	}
	if (ext & SROCE_IMMDT) {
		memcpy(&pkt->imm, p, sizeof(pkt->imm));
		p += sizeof(struct sroce_immdt);
	}
	if (ext & SROCE_IETH) {
		pkt->inv_rkey = get_unaligned_be32(p);
		p += sizeof(struct sroce_ieth);
	}
	return p;
}

/* Whether the length fits the headers and the pad; only some packets have a payload. */
static bool length_fits(const struct sroce_pkt *pkt, u32 len)
{
	u32 rest = len - pkt->op->hdr_len - SROCE_ICRC_LEN;

	if (len < pkt->op->hdr_len + pkt->pad + SROCE_ICRC_LEN || rest & 3)
		return false;
	return pkt->op->flags & SROCE_PAYLOAD || !rest;
}

/* What is wrong about a request of RC the responder tells the peer (9.7.4.1.5). */
static int bad_length(struct sroce_pkt *pkt)
{
	if (sroce_pkt_svc(pkt) != SROCE_SVC_RC || pkt->op->flags & SROCE_RESPONSE)
		return -EBADMSG;
	pkt->bad_length = true;
	return 0;
}

/**
 * sroce_pkt_parse() - parse the transport headers of a received packet
 * @pkt: filled in, except for the members of the network layer
 * @hdr: the packet from BTH on
 * @hdr_len: bytes at @hdr, at least min(@len, SROCE_HDR_MAX)
 * @len: bytes from BTH to the end of the ICRC
 *
 * Return: 0, -EPROTONOSUPPORT for an unknown opcode or header version, or -EBADMSG if the
 * length does not fit the headers and the pad; but a request of RC that has a whole BTH is
 * for the responder to refuse: @pkt->bad_length is set.
 */
int sroce_pkt_parse(struct sroce_pkt *pkt, const u8 *hdr, u32 hdr_len, u32 len)
{
	u32 qpn, apsn;

	if (len < SROCE_BTH_LEN + SROCE_ICRC_LEN || hdr_len < SROCE_BTH_LEN)
		return -EBADMSG;

	pkt->opcode = hdr[0];
	pkt->op = sroce_opcode_of(pkt->opcode);
	if (!pkt->op || hdr[1] & SROCE_BTH_TVER_MASK)
		return -EPROTONOSUPPORT;

	pkt->solicited = hdr[1] & SROCE_BTH_SE;
	pkt->migreq = hdr[1] & SROCE_BTH_MIGREQ;
	pkt->pad = (hdr[1] & SROCE_BTH_PAD_MASK) >> SROCE_BTH_PAD_SHIFT;
	pkt->pkey = get_unaligned_be16(hdr + 2);
	qpn = get_unaligned_be32(hdr + 4);
	pkt->qpn = qpn & SROCE_QPN_MASK;
	apsn = get_unaligned_be32(hdr + 8);
	pkt->psn = apsn & SROCE_PSN_MASK;
	pkt->ackreq = apsn & SROCE_BTH_ACKREQ;

	if (!length_fits(pkt, len))
		return bad_length(pkt);
	if (hdr_len < pkt->op->hdr_len)
		return -EBADMSG;
	pkt->payload_len = len - pkt->op->hdr_len - pkt->pad - SROCE_ICRC_LEN;
	if (pkt->op->hdr_len > SROCE_BTH_LEN)
		parse_ext(pkt, hdr + SROCE_BTH_LEN);
	return 0;
}

static void build_ext(const struct sroce_pkt *pkt, u8 *p)
{
	u32 ext = pkt->op->flags;

	if (ext & SROCE_DETH) {
		put_unaligned_be32(pkt->qkey, p);
		put_unaligned_be32(pkt->sqpn, p + 4);
		p += sizeof(struct sroce_deth);
	}
	if (ext & SROCE_FETH) {
		put_unaligned_be32(pkt->feth, p);
		p += sizeof(struct sroce_feth);
	}
	if (ext & SROCE_RETH) {
		put_unaligned_be64(pkt->va, p);
		put_unaligned_be32(pkt->rkey, p + 8);
		put_unaligned_be32(pkt->length, p + 12);
		p += sizeof(struct sroce_reth);
	}
	if (ext & SROCE_ATMETH) {
		put_unaligned_be64(pkt->va, p);
		put_unaligned_be32(pkt->rkey, p + 8);
		put_unaligned_be64(pkt->swap_add, p + 12);
		put_unaligned_be64(pkt->compare, p + 20);
		p += sizeof(struct sroce_atmeth);
	}
	if (ext & SROCE_AETH) {
		put_unaligned_be32((u32)pkt->syndrome << 24 | pkt->msn, p);
		p += sizeof(struct sroce_aeth);
	}
	if (ext & SROCE_ATMACK) {
		put_unaligned_be64(pkt->orig, p);
		p += sizeof(struct sroce_atmack);
	}
	if (ext & SROCE_IMMDT) {
		memcpy(p, &pkt->imm, sizeof(pkt->imm));
		p += sizeof(struct sroce_immdt);
	}
	if (ext & SROCE_IETH)
		put_unaligned_be32(pkt->inv_rkey, p);
}

static void put_psn(const struct sroce_pkt *pkt, u8 *bth)
{
	put_unaligned_be32((pkt->ackreq ? SROCE_BTH_ACKREQ : 0) | pkt->psn, bth + 8);
}

/**
 * sroce_pkt_build() - write BTH and the extended headers of a packet
 * @pkt: the fields; @pkt->op determines which of them are used
 * @hdr: where BTH goes, with space for @pkt->op->hdr_len bytes
 */
void sroce_pkt_build(const struct sroce_pkt *pkt, u8 *hdr)
{
	hdr[0] = pkt->opcode;
	hdr[1] = (pkt->solicited ? SROCE_BTH_SE : 0) |
		 (pkt->migreq ? SROCE_BTH_MIGREQ : 0) |
		 pkt->pad << SROCE_BTH_PAD_SHIFT;
	put_unaligned_be16(pkt->pkey, hdr + 2);
	put_unaligned_be32((pkt->op->flags & SROCE_CNP ? SROCE_BTH_BECN : 0) | pkt->qpn,
			   hdr + 4);
	put_psn(pkt, hdr);
	if (pkt->op->hdr_len > SROCE_BTH_LEN)
		build_ext(pkt, hdr + SROCE_BTH_LEN);
}

/**
 * sroce_pkt_build_next() - write the BTH of a packet that differs from another in its PSN
 * @pkt: the packet
 * @bth: BTH of the other one
 * @hdr: where the BTH goes
 */
void sroce_pkt_build_next(const struct sroce_pkt *pkt, const u8 *bth, u8 *hdr)
{
	memcpy(hdr, bth, SROCE_BTH_LEN - 4);
	put_psn(pkt, hdr);
}
