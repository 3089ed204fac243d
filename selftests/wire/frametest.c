// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The peer's frames without a device: what it builds it takes for right, what
 * is damaged it refuses, and its ICRC is that of frames made elsewhere.
 */

#include <stdio.h>
#include <string.h>
#include "../unit/vectors.h"
#include "frame.h"
#include "tap.h"

static why_t take(void *arg, const uint8_t *frame, size_t len)
{
	struct wt_frame *f = arg;

	memcpy(f->raw, frame, len);
	f->raw_len = len;
	return NULL;
}

static why_t there_and_back(const struct wt_craft *c, struct wt_frame *f)
{
	why_t why = wt_frame_send(c, take, f);

	if (why)
		return why;
	return wt_frame_is_roce(f) ? wt_frame_parse(f) : "not RoCE";
}

static struct wt_craft good(int family, const struct wt_op *op, uint32_t len)
{
	static uint8_t data[256];
	struct wt_craft c = {
		.family = family, .vlan = -1, .sport = 0xc123,
		.dport = WT_PORT_ROCE, .ttl = 64, .df = true,
		.cut = -1, .cutraw = -1, .flip = -1,
	};

	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + 1;
	memset(c.from.ip + (family == 4 ? 12 : 0), 0x0a, family == 4 ? 4 : 16);
	memset(c.to.ip + (family == 4 ? 12 : 0), 0x0b, family == 4 ? 4 : 16);
	c.p = (struct wt_pkt){
		.op = op->code, .ext = op->ext, .mig = 1, .ack = 1,
		.pkey = 0xffff, .qpn = 0x123456, .psn = 0xabcdef,
		.qkey = 0x11111111, .sqpn = 0x222222, .rkey = 0x44444444,
		.va = 0x3333333333333333, .dlen = 0x55555555, .swap = 0x66,
		.cmp = 0x77, .syn = 0x1f, .msn = 0x888888, .orig = 0x99,
		.feth = 0xcccccccc, .imm = 0xaaaaaaaa, .inv = 0xbbbbbbbb, .payload = data,
		.len = strchr(op->ext, 'P') ? len : 0,
	};
	c.padbytes = -c.p.len & 3;
	c.p.pad = c.padbytes;
	return c;
}

static why_t same(const struct wt_pkt *a, const struct wt_pkt *b)
{
	if (a->op != b->op || a->qpn != b->qpn || a->psn != b->psn ||
	    a->ack != b->ack || a->len != b->len || a->pad != b->pad)
		return "BTH";
	if (memcmp(a->payload, b->payload, a->len))
		return "payload";
	for (const char *e = a->ext; *e; e++) {
		bool ok = *e == 'D' ? a->qkey == b->qkey && a->sqpn == b->sqpn :
			  *e == 'R' ? a->va == b->va && a->rkey == b->rkey &&
				      a->dlen == b->dlen :
			  *e == 'T' ? a->va == b->va && a->rkey == b->rkey &&
				      a->swap == b->swap && a->cmp == b->cmp :
			  *e == 'A' ? a->syn == b->syn && a->msn == b->msn :
			  *e == 'O' ? a->orig == b->orig :
			  *e == 'I' ? a->imm == b->imm :
			  *e == 'F' ? a->feth == b->feth :
			  *e == 'V' ? a->inv == b->inv : true;

		if (!ok)
			return because("extended header %c", *e);
	}
	return NULL;
}

static why_t all_opcodes(int family)
{
	static struct wt_frame f;

	for (int code = 0; code < 256; code++) {
		const struct wt_op *op = wt_op_by_code(code);

		for (uint32_t len = 0; op && len < 9; len++) {
			struct wt_craft c = good(family, op, len);
			why_t why = there_and_back(&c, &f);

			if (!why)
				why = same(&c.p, &f.p);
			if (why)
				return because("%s of %u: %s", op->name, len,
					       why);
		}
	}
	return NULL;
}

/* A byte of a good frame is another: an XOR with @by at @at from the IP header */
static const struct damage {
	const char *name;
	int at4, at6;
	uint8_t by;
	const char *why;
} damages[] = {
	{ "IP length", 3, 5, 4, "length is" },
	{ "IPv4 checksum", 10, -1, 1, "header checksum" },
	{ "UDP length", 25, 45, 4, "UDP length" },
	{ "UDP checksum", 26, 46, 1, "UDP checksum" },
	{ "opcode", 28, 48, 0x80, "does not exist" },
	{ "opcode with another header", 28, 48, 0x08, "few" },
	{ "header version", 29, 49, 1, "version" },
	{ "pad count", 29, 49, 0x10, "ICRC" },
	{ "MigReq", 29, 49, 0x40, "MigReq" },
	{ "P_Key", 31, 51, 1, "P_Key" },
	{ "reserved byte", 32, 52, 1, "reserved" },
	{ "QP number", 35, 55, 1, "ICRC" },
	{ "reserved bits", 36, 56, 1, "reserved" },
	{ "PSN", 39, 59, 1, "ICRC" },
	{ "payload", 40, 60, 1, "ICRC" },
	{ "padding", 47, 67, 1, "padding" },
	{ "ICRC", 48, 68, 1, "ICRC" },
};

static why_t refused(int family, const struct damage *d)
{
	static struct wt_frame f;
	struct wt_craft c = good(family, wt_op_by_name("SEND_ONLY"), 5);
	int at = family == 4 ? d->at4 : d->at6;
	why_t why = there_and_back(&c, &f);

	if (why || at < 0)
		return why;
	f.raw[14 + at] ^= d->by;
	why = wt_frame_parse(&f);
	if (!why)
		return "is not noticed";
	return strstr(why, d->why) ? NULL : why;
}

static why_t scapys_icrc(void)
{
	for (unsigned int i = 0; i < vectors_nr; i++) {
		const struct vector *v = &vectors[i];
		const uint8_t *icrc = v->frame + v->len - 4;
		uint32_t have = wt_icrc_value(v->l3_len == 20 ? 4 : 6, v->frame,
					      v->l3_len, v->frame + v->l3_len,
					      v->len - v->l3_len - 4);

		for (int k = 0; k < 4; k++) {
			if (icrc[k] != (uint8_t)(have >> 8 * k))
				return because("frame %u: %08x", i, have);
		}
	}
	return vectors_nr ? NULL : "there are no frames";
}

int main(void)
{
	tap_report(scapys_icrc(), "the ICRC is that of scapy's frames");
	for (int family = 4; family <= 6; family += 2) {
		tap_report(all_opcodes(family), "all packets, IPv%d", family);
		for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++)
			tap_report(refused(family, &damages[i]),
				   "a damaged %s, IPv%d", damages[i].name,
				   family);
	}
	return tap_finish();
}
