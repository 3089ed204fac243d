// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Forged packets, mostly valid so that they reach deep code; and a bad wire */

#include <stdlib.h>
#include "world.h"

#define DATA_MAX 4200
#define FLUSH	0x1c

/* Byte 2 of a forged packet */
#define FF_SOLICITED	0x01
#define FF_ACKREQ	0x02
#define FF_MIGREQ	0x04
#define FF_TO_A		0x08
#define FF_LATER	0x10	/* on the wire, where it may still be mangled */
#define FF_BAD_SHIFT	5	/* wrong on purpose, if 3 bits are all set */

/* Any opcode that the QP's service knows, or just any */
static u8 opcode_of(const struct sroce_qp *qp, u8 sel)
{
	u8 known[64];
	u32 i, n = 0;

	/* the inputs that are kept are older than FLUSH: they mean what they did */
	for (i = 0; i < 256; i++)
		if (sroce_opcodes[i].name && SROCE_SVC(i) == qp->svc &&
		    i != FLUSH)
			known[n++] = i;
	if (sel < 0xc0)
		return known[sel % n];
	if (sel >= 0xd9 && sel <= 0xdc)
		return FLUSH;
	/* other services, or nobody's */
	return sel < 0xf0 ? sel & 0x1f : sel * 13;
}

static u32 psn_of(const struct sroce_qp *qp, bool response, const u8 *r)
{
	const struct sroce_wqe *wqe = sroce_sq_wqe(&qp->sq, qp->sq.cons);
	u32 base = response ? qp->req.una : qp->resp.psn;

	switch (r[4] >> 4) {
	case 1:
		base = qp->req.max_psn - 1;
		break;
	case 2:
		base = qp->req.psn;
		break;
	case 3:
		base = wqe->last_psn;
		break;
	case 4:
		base += 1 << (r[4] & 15);
		break;
	case 5:
		base -= 1 << (r[4] & 15);
		break;
	case 6:
		base += 0x800000;
		break;
	case 7:
		base = qp->req.acked;
		break;
	default:
		break;
	}
	return sroce_psn_add(base, (s8)r[3]);
}

/* What the receiver expects, if it does; or a full packet; or not so full */
static u32 payload_of(const struct sroce_qp *qp, u32 flags, const u8 *r)
{
	const struct sroce_wqe *wqe = sroce_sq_wqe(&qp->sq, qp->sq.cons);
	u32 want = qp->mtu, off;

	if (!(flags & SROCE_PAYLOAD))
		return 0;
	if (flags & SROCE_RESPONSE) {
		off = sroce_psn_diff(qp->req.una, wqe->first_psn) * qp->mtu;
		if (off < wqe->length)
			want = min(qp->mtu, wqe->length - off);
	} else if (flags & SROCE_WRITING && !(flags & SROCE_START)) {
		want = min(qp->mtu, qp->resp.remaining);
	} else if (flags & SROCE_ATOMIC) {
		want = sizeof(u64);
	}
	switch (r[5] & 7) {
	case 0:
	case 1:
		return want;
	case 2:
		return qp->mtu;
	case 3:
		return 0;
	case 4:
		return qp->mtu + r[6] % 8;
	case 5:
		return want + (r[6] & 3) - 1u < DATA_MAX ?
		       want + (r[6] & 3) - 1u : 0;
	default:
		return rec16(r, 6) % (qp->mtu + 1);
	}
}

static u32 length_of(const struct sroce_pkt *p, u32 mtu, const u8 *r)
{
	switch (r[9] & 7) {
	case 0:
		return p->payload_len;
	case 1:
		return p->payload_len + rec16(r, 6) % (3 * mtu);
	case 2:
		return (r[9] >> 3) * mtu;
	case 3:
		return 0;
	case 4:
		return 0x80000000u + (r[9] >> 3) - 1;
	case 5:
		return rec16(r, 6) << 16 | rec16(r, 6);
	default:
		return rec16(r, 6) % 1100;
	}
}

/* AETH: mostly an ACK without credits, or with few, or any NAK */
static u8 syndrome_of(u8 sel)
{
	if (sel < 0x60)
		return 0x1f;
	if (sel < 0x80)
		return sel & 0x1f;
	if (sel < 0xa0)
		return 0x60 | sel % 6;
	return sel < 0xc0 ? 0x20 | (sel & 0x1f) : sel * 7;
}

/* One thing that is wrong before the transport looks at it */
static void spoil(struct sroce_pkt *p, struct sroce_kqp *from,
		  struct sroce_av *av, u8 sel)
{
	(void)from;
	switch (sel % 6) {
	case 0:
		p->pkey = sel << 8;
		break;
	case 1:
		p->pkey = 0x7fff;
		break;
	case 2:
		p->qkey = sel * 0x01000001u;
		break;
	case 3:
		p->qpn ^= sel;
		break;
	case 4:
		av->sgid.raw[15] ^= sel;
		break;
	default:
		av->dgid.raw[14] ^= sel;
	}
}

/* A READ or atomic that the responder remembers, once more, or nearly so */
static void again(const struct sroce_qp *qp, struct sroce_pkt *p, const u8 *r)
{
	const struct sroce_res *res;
	u32 off, whole;

	if (!qp->resp.nres)
		return;
	res = &qp->resp.res[r[10] % qp->resp.nres];
	off = r[11] % 8;
	p->psn = sroce_psn_add(res->first_psn, off);
	off *= qp->mtu;
	p->rkey = res->rkey;
	p->va = res->va + off;
	p->length = res->length - off;
	whole = (r[9] >> 5) * qp->mtu;
	if (whole && whole < p->length)
		p->length = whole;
	switch (r[8]) {
	case 0:
		p->rkey ^= 1;
		break;
	case 1:
		p->va++;
		break;
	case 2:
		p->length += qp->mtu + 1;
		break;
	case 3:
		p->length--;
		break;
	}
}

/* FETH: mostly of a range or a region to where all see it */
static u32 feth_of(u8 sel)
{
	if (sel < 0xc0)
		return SROCE_FLUSH_GLOBAL | (sel & 1) << SROCE_FETH_SELECT_SHIFT;
	return sel & (SROCE_FETH_PLACEMENT | SROCE_FETH_SELECT);
}

static void fill(struct world *w, struct sroce_pkt *p, struct sroce_qp *qp,
		 const u8 *r)
{
	const struct sroce_kqp *peer = qp->kqp == &w->s->a ? &w->s->b :
								  &w->s->a;
	u32 flags;

	p->opcode = opcode_of(qp, r[1]);
	flags = sroce_opcodes[p->opcode].flags;
	p->solicited = r[2] & FF_SOLICITED;
	p->ackreq = r[2] & FF_ACKREQ;
	p->migreq = r[2] & FF_MIGREQ;
	p->pkey = SROCE_PKEY_FULL;
	p->qpn = qp->qpn;
	p->psn = psn_of(qp, flags & SROCE_RESPONSE, r);
	p->payload_len = payload_of(qp, flags, r);
	p->va = rec_va(w, r[8], rec16(r, 10));
	p->rkey = rec_key(w, r[8]);
	p->length = length_of(p, qp->mtu, r);
	p->syndrome = syndrome_of(r[12]);
	p->feth = feth_of(r[12]);
	p->msn = sroce_psn_add(peer->qp.resp.msn, (s8)r[13]);
	p->qkey = qp->type == IB_QPT_GSI ? SROCE_DEFAULT_QKEY_GSI :
					   qp->attr.qkey;
	p->sqpn = peer->qp.qpn;
	p->orig = fair_byte(r[14]) * 0x01010101ULL;
	p->swap_add = r[14];
	p->compare = r[15];
	p->imm = rec16(r, 14);
	p->inv_rkey = rec16(r, 14);
	if (r[4] >= 0xe0 && flags & SROCE_HAS_RESPONSE)
		again(qp, p, r);
}

/* r: 1 opcode, 2 flags, 3 and 4 PSN, 5 and 6 payload, 8 memory, 9 length, 10
 * offset, 12 syndrome or FETH, 13 MSN, 14 operands
 */
void act_forge(struct world *w, const u8 *r)
{
	static u8 data[DATA_MAX];
	struct sroce_kqp *to = kqp_at(w, !!(r[2] & FF_TO_A));
	struct sroce_kqp *from = kqp_at(w, !(r[2] & FF_TO_A));
	struct sroce_av av = from->qp.av;
	struct sroce_pkt p = {};
	struct sim_packet *sp;

	memset(data, fair_byte(r[15]), sizeof(data));
	fill(w, &p, &to->qp, r);
	if (!sroce_opcodes[p.opcode].name)
		return;
	if (r[2] >> FF_BAD_SHIFT == 7)
		spoil(&p, from, &from->qp.av, r[14]);
	sp = sim_forge(from, &p, data);
	from->qp.av = av;
	if (r[2] & FF_LATER)
		sim_send(w->s, sp);
	else
		sim_deliver(w->s, sp);
}

/* Longer, shorter: in memory of just its size, so that reading on is seen */
static void resize(struct sim_packet *p, u32 len)
{
	u8 *data = malloc(len);

	memset(data, 0x5c, len);
	memcpy(data, p->data, len < p->len ? len : p->len);
	free(p->data);
	p->data = data;
	p->len = len;
}

/* Ends among its headers, is a little shorter, or longer, or as it was */
static u32 new_len(const struct sim_packet *p, u32 head, u8 sel)
{
	u32 cut = head + SROCE_BTH_LEN + 4 * (sel & 15), by = sel & 0x3f;

	if (sel >= 0xc0)
		return cut < p->len ? cut : p->len;
	if (sel >= 0x80)
		return p->len > by + head + SROCE_ICRC_LEN ? p->len - by :
							  p->len;
	return sel >= 0x40 ? p->len + by : p->len;
}

/*
 * The next packet to arrive changes, from BTH on; the ICRC is made right again
 * unless bit 0 of r[1] is set. r: 2, 4, 6 where, 3, 5, 7 what, 8 length
 */
void act_mangle(struct world *w, const u8 *r)
{
	struct sim_packet *p = sim_wire_take(w->s);
	u32 head, i;

	if (!p)
		return;
	head = p->l3_len + 8;
	resize(p, new_len(p, head, r[8]));
	for (i = 2; i < 8; i += 2)
		if (head + r[i] < p->len)
			p->data[head + r[i]] ^= r[i + 1];
	/* the module parses before it looks for an ICRC; so must we */
	if (p->len < head + SROCE_BTH_LEN + SROCE_ICRC_LEN) {
		struct sroce_pkt pkt;

		CHECK(sroce_pkt_parse(&pkt, p->data + head, p->len - head,
				      p->len - head));
		sim_packet_free(p);
		return;
	}
	if (!(r[1] & 1))
		sim_seal(p);
	sim_deliver(w->s, p);
}

/* The next packet to arrive is lost, doubled, or overtaken. */
void act_wire(struct world *w, const u8 *r)
{
	struct sim_packet *p = w->s->wire_head;
	u64 later = (u64)(1 + r[2]) << r[3] % 24;

	if (!p)
		return;
	if (r[1] % 3)
		sim_copy_later(w->s, p, later);
	if (r[1] % 3 != 1 && w->s->wire_head == p)
		sim_packet_free(sim_wire_take(w->s));
}
