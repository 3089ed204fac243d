// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Build and parse of packets; parsing of what nobody should send. */

#include <stdlib.h>
#include <linux/string.h>
#include <linux/errno.h>
#include "drv/core/wire/pkt.h"
#include "tests.h"

static void random_fields(struct rnd *r, struct sroce_pkt *p, u8 opcode)
{
	u32 f = sroce_opcodes[opcode].flags;

	memset(p, 0, sizeof(*p));
	p->opcode = opcode;
	p->op = &sroce_opcodes[opcode];
	p->payload_len = f & SROCE_PAYLOAD ? rnd_below(r, 100) : 0;
	p->pad = -p->payload_len & 3;
	p->solicited = rnd32(r) & 1;
	p->migreq = rnd32(r) & 1;
	p->ackreq = rnd32(r) & 1;
	p->pkey = rnd32(r);
	p->qpn = rnd32(r) & SROCE_QPN_MASK;
	p->psn = rnd32(r) & SROCE_PSN_MASK;
	p->qkey = f & SROCE_DETH ? rnd32(r) : 0;
	p->sqpn = f & SROCE_DETH ? rnd32(r) & SROCE_QPN_MASK : 0;
	p->feth = f & SROCE_FETH ? rnd32(r) & 0x3f : 0;
	p->va = f & (SROCE_RETH | SROCE_ATMETH) ? rnd64(r) : 0;
	p->rkey = f & (SROCE_RETH | SROCE_ATMETH) ? rnd32(r) : 0;
	p->length = f & SROCE_RETH ? rnd32(r) : 0;
	p->swap_add = f & SROCE_ATMETH ? rnd64(r) : 0;
	p->compare = f & SROCE_ATMETH ? rnd64(r) : 0;
	p->syndrome = f & SROCE_AETH ? rnd32(r) : 0;
	p->msn = f & SROCE_AETH ? rnd32(r) & SROCE_PSN_MASK : 0;
	p->orig = f & SROCE_ATMACK ? rnd64(r) : 0;
	p->imm = f & SROCE_IMMDT ? rnd32(r) : 0;
	p->inv_rkey = f & SROCE_IETH ? rnd32(r) : 0;
}

/* In memory of exactly its size; the caller frees it. */
static u8 *build(const struct sroce_pkt *p, u32 *len)
{
	u8 *exact = malloc(p->op->hdr_len), *buf;

	sroce_pkt_build(p, exact);
	*len = p->op->hdr_len + p->payload_len + p->pad + SROCE_ICRC_LEN;
	buf = malloc(*len);
	memset(buf, 0xee, *len);
	memcpy(buf, exact, p->op->hdr_len);
	free(exact);
	return buf;
}

#define SAME(field) CHECK_EQ(q.field, p.field)

static void round_trip(struct rnd *r, u8 opcode)
{
	struct sroce_pkt p, q = {};
	u32 len;
	u8 *buf;

	random_fields(r, &p, opcode);
	buf = build(&p, &len);
	/* neither FECN nor BECN, but for a CNP */
	CHECK_EQ(buf[4], opcode == SROCE_OP_CNP ? 0x40 : 0);
	CHECK_EQ(sroce_pkt_parse(&q, buf, len < SROCE_HDR_MAX ? len :
				 SROCE_HDR_MAX, len), 0);
	SAME(opcode);
	SAME(pad);
	SAME(solicited);
	SAME(migreq);
	SAME(ackreq);
	SAME(pkey);
	SAME(qpn);
	SAME(psn);
	SAME(qkey);
	SAME(sqpn);
	SAME(feth);
	SAME(va);
	SAME(rkey);
	SAME(length);
	SAME(swap_add);
	SAME(compare);
	SAME(syndrome);
	SAME(msn);
	SAME(orig);
	SAME(imm);
	SAME(inv_rkey);
	SAME(payload_len);
	CHECK(q.op == p.op);
	free(buf);
}

/* Parse @cut bytes of @buf, in memory of exactly that size, of a packet of @len. */
static int parse_cut(struct sroce_pkt *q, const u8 *buf, u32 cut, u32 len)
{
	u8 *exact = malloc(cut + !cut);
	int ret;

	memcpy(exact, buf, cut);
	ret = sroce_pkt_parse(q, exact, cut, len);
	free(exact);
	return ret;
}

/* A wrong length: an error, or a request of RC that the responder refuses */
static void check_bad_length(const struct sroce_pkt *q, int ret, u8 opcode, u32 len)
{
	bool refused = len >= 16 && SROCE_SVC(opcode) == SROCE_SVC_RC &&
		       !(sroce_opcodes[opcode].flags & SROCE_RESPONSE);

	CHECK_EQ(ret, refused ? 0 : -EBADMSG);
	CHECK(ret || q->bad_length);
	CHECK(ret || !q->payload_len);
}

/* Cut at each byte: an error, or a shorter payload; never a read beyond the end. */
static void truncated(struct rnd *r, u8 opcode)
{
	struct sroce_pkt p, q;
	u32 len, cut, min;
	int ret;
	u8 *buf;

	random_fields(r, &p, opcode);
	buf = build(&p, &len);
	min = p.op->hdr_len + p.pad + SROCE_ICRC_LEN;
	for (cut = 0; cut < len; cut++) {
		t_where("opcode %#x, %u of %u bytes", opcode, cut, len);
		memset(&q, 0, sizeof(q));
		ret = parse_cut(&q, buf, cut, cut);
		if (cut < min || (len - cut) & 3 || !p.payload_len) {
			check_bad_length(&q, ret, opcode, cut);
		} else {
			CHECK_EQ(q.payload_len, cut - min);
			CHECK(!q.bad_length);
		}
	}
	free(buf);
}

static void short_header(struct rnd *r, u8 opcode)
{
	struct sroce_pkt p, q = {};
	u32 len, cut;
	u8 *buf;

	random_fields(r, &p, opcode);
	buf = build(&p, &len);
	for (cut = 0; cut < p.op->hdr_len; cut++)
		CHECK_EQ(parse_cut(&q, buf, cut, len), -EBADMSG);
	free(buf);
}

static void refused(struct rnd *r)
{
	struct sroce_pkt p, q = {};
	u32 len, i;
	u8 *buf;

	t_case("pkt: unknown opcodes are refused");
	for (i = 0; i < 256; i++) {
		u8 hdr[64] = { i };

		if (!sroce_opcodes[i].name && SROCE_SVC(i) != SROCE_SVC_RC)
			CHECK_EQ(sroce_pkt_parse(&q, hdr, 40, 64),
				 -EPROTONOSUPPORT);
	}

	t_case("pkt: reserved opcodes of RC are for the responder to refuse");
	for (i = 0; i < 0x20; i++) {
		u8 hdr[64] = { i };

		if (sroce_opcodes[i].name)
			continue;
		CHECK_EQ(sroce_pkt_parse(&q, hdr, 40, 64), 0);
		CHECK_EQ(q.payload_len, 64 - 12 - 4);
		CHECK(q.op->flags & SROCE_RESERVED);
	}

	t_case("pkt: header versions other than 0 are refused");
	random_fields(r, &p, 0x04);
	buf = build(&p, &len);
	for (i = 1; i < 16; i++) {
		buf[1] = (buf[1] & 0xf0) | i;
		CHECK_EQ(sroce_pkt_parse(&q, buf, 12, len), -EPROTONOSUPPORT);
	}
	free(buf);
}

static void refused_lengths(void)
{
	struct sroce_pkt q;
	u32 i, len;

	t_case("pkt: a pad count longer than the packet is refused");
	for (i = 0; i < 16; i++) {
		u32 pad = i & 3, payload = i >> 2;
		u32 size = 12 + payload + SROCE_ICRC_LEN;
		u8 *exact = calloc(1, size);

		t_where("pad %u of %u bytes", pad, payload);
		memset(&q, 0, sizeof(q));
		exact[0] = 0x04;
		exact[1] = pad << 4;
		CHECK_EQ(sroce_pkt_parse(&q, exact, 12, size), 0);
		CHECK_EQ(q.bad_length, payload & 3 || pad > payload);
		free(exact);
	}

	t_case("pkt: payload or pad is refused where the opcode has none");
	for (i = 0; i < 256; i++) {
		u32 f = sroce_opcodes[i].flags;
		u8 hdr[64] = { i };

		if (!sroce_opcodes[i].name || f & SROCE_PAYLOAD)
			continue;
		t_where("opcode %#x", i);
		memset(&q, 0, sizeof(q));
		len = sroce_opcodes[i].hdr_len + 8;
		check_bad_length(&q, sroce_pkt_parse(&q, hdr, 40, len), i, len);
		hdr[1] = 0x30;
		memset(&q, 0, sizeof(q));
		check_bad_length(&q, sroce_pkt_parse(&q, hdr, 40, len - 1), i, len - 1);
	}
}

static void garbage(struct rnd *r)
{
	u32 i;

	t_case("pkt: garbage is never read beyond its end");
	for (i = 0; i < 20000; i++) {
		u32 len = rnd_below(r, 80);
		u32 head = len < SROCE_HDR_MAX ? len : SROCE_HDR_MAX;
		u8 *exact = malloc(head + !head);
		struct sroce_pkt q = {};

		rnd_fill(r, exact, head);
		if (head > 1)
			exact[1] &= 0xf0;
		if (!sroce_pkt_parse(&q, exact, head, len) && !q.bad_length)
			CHECK_EQ(q.op->hdr_len + q.payload_len + q.pad +
				 SROCE_ICRC_LEN, len);
		free(exact);
	}
}

UNIT_TESTS(pkt)
{
	struct rnd r = { 1 };
	u32 i, k;

	t_case("pkt: every opcode is parsed as it was built");
	for (i = 0; i < 256; i++)
		for (k = 0; sroce_opcodes[i].name && k < 50; k++) {
			t_where("opcode %#x", i);
			round_trip(&r, i);
		}

	t_case("pkt: cut short at each byte, an error");
	for (i = 0; i < 256; i++)
		for (k = 0; sroce_opcodes[i].name && k < 4; k++)
			truncated(&r, i);

	t_case("pkt: a linear part that ends in a header is an error");
	for (i = 0; i < 256; i++)
		if (sroce_opcodes[i].name)
			short_header(&r, i);
	refused(&r);
	refused_lengths();
	garbage(&r);
}
