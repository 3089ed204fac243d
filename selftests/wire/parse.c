// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Frames from the device under test. Whatever a script expects, each has to be
 * a correct RoCEv2 frame: lengths, checksums, ICRC, reserved fields, padding.
 */

#include <netinet/in.h>
#include <string.h>
#include "frame.h"

/* Where the IP header starts, 0 if this is not UDP to RoCE's port. */
static size_t roce_at(const struct wt_frame *f, int *family)
{
	const uint8_t *p = f->raw;
	size_t l4;

	if (f->raw_len < 14 + 20 + 8)
		return 0;
	if (wt_get(p + 12, 2) == 0x0800 && p[14 + 9] == IPPROTO_UDP) {
		*family = 4;
		l4 = 14 + (p[14] & 15) * 4;
	} else if (wt_get(p + 12, 2) == 0x86dd && f->raw_len >= 14 + 48 &&
		   p[14 + 6] == IPPROTO_UDP) {
		*family = 6;
		l4 = 14 + 40;
	} else {
		return 0;
	}
	return wt_get(p + l4 + 2, 2) == WT_PORT_ROCE ? 14 : 0;
}

bool wt_frame_is_roce(const struct wt_frame *f)
{
	int family;

	return roce_at(f, &family);
}

/* A frame that breaks a rule is wrong, unless the rule is soft: then that is noted. */
static why_t broken(struct wt_frame *f, enum wt_rule rule)
{
	unsigned int bit = 1u << rule;

	CHECK(f->soft & bit, "not so: %s", wt_rules[rule].text);
	f->odd |= bit;
	return NULL;
}

static uint16_t ones_sum(const uint8_t *p, size_t len, uint32_t sum)
{
	for (size_t i = 0; i < len; i++)
		sum += i & 1 ? p[i] : p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static why_t check_ip4(struct wt_frame *f, const uint8_t *ip)
{
	CHECK(ip[0] == 0x45, "IPv4 header starts with %#x", ip[0]);
	CHECK(wt_get(ip + 2, 2) == f->raw_len - 14,
	      "IPv4 total length is %u in a frame of %zu",
	      (unsigned int)wt_get(ip + 2, 2), f->raw_len);
	CHECK(ones_sum(ip, 20, 0) == 0xffff, "IPv4 header checksum is wrong");
	CHECK(!(wt_get(ip + 6, 2) & 0x3fff), "IPv4 packet is a fragment");
	if (!(ip[6] & 0x40))
		TRY(broken(f, WT_RULE_DF));
	f->tos = ip[1];
	f->ttl = ip[8];
	memset(f->from.ip, 0, 12);
	memset(f->to.ip, 0, 12);
	memcpy(f->from.ip + 12, ip + 12, 4);
	memcpy(f->to.ip + 12, ip + 16, 4);
	return NULL;
}

static why_t check_ip6(struct wt_frame *f, const uint8_t *ip)
{
	CHECK(ip[0] >> 4 == 6, "IPv6 header starts with %#x", ip[0]);
	CHECK(wt_get(ip + 4, 2) == f->raw_len - 14 - 40,
	      "IPv6 payload length is %u in a frame of %zu",
	      (unsigned int)wt_get(ip + 4, 2), f->raw_len);
	f->tos = wt_get(ip, 2) >> 4;
	f->ttl = ip[7];
	memcpy(f->from.ip, ip + 8, 16);
	memcpy(f->to.ip, ip + 24, 16);
	return NULL;
}

static why_t check_udp(struct wt_frame *f, const uint8_t *udp, size_t len)
{
	int skip = f->family == 4 ? 12 : 0;
	uint32_t sum = IPPROTO_UDP + len;

	f->sport = wt_get(udp, 2);
	CHECK(wt_get(udp + 4, 2) == len, "UDP length is %u, should be %zu",
	      (unsigned int)wt_get(udp + 4, 2), len);
	if (!wt_get(udp + 6, 2))
		return NULL;
	sum += ones_sum(f->from.ip + skip, 16 - skip, 0);
	sum += ones_sum(f->to.ip + skip, 16 - skip, 0);
	if (f->no_sum) {
		/* that of the pseudo header; 0 and 0xffff are the same */
		CHECK(wt_get(udp + 6, 2) % 0xffff ==
		      ones_sum(udp, 0, sum) % 0xffff,
		      "UDP checksum to be filled in starts wrong");
		return NULL;
	}
	CHECK(ones_sum(udp, len, sum) == 0xffff, "UDP checksum is wrong");
	return NULL;
}

static const uint8_t *get_ext(struct wt_pkt *p, const uint8_t *at)
{
	for (const char *e = p->ext; *e; e++) {
		switch (*e) {
		case 'D':
			p->qkey = wt_get(at, 4);
			p->sqpn = wt_get(at + 4, 4);
			at += 8;
			break;
		case 'F':
			p->feth = wt_get(at, 4);
			at += 4;
			break;
		case 'R':
			p->va = wt_get(at, 8);
			p->rkey = wt_get(at + 8, 4);
			p->dlen = wt_get(at + 12, 4);
			at += 16;
			break;
		case 'T':
			p->va = wt_get(at, 8);
			p->rkey = wt_get(at + 8, 4);
			p->swap = wt_get(at + 12, 8);
			p->cmp = wt_get(at + 20, 8);
			at += 28;
			break;
		case 'A':
			p->syn = at[0];
			p->msn = wt_get(at + 1, 3);
			at += 4;
			break;
		case 'O':
			p->orig = wt_get(at, 8);
			at += 8;
			break;
		case 'I':
			p->imm = wt_get(at, 4);
			at += 4;
			break;
		case 'V':
			p->inv = wt_get(at, 4);
			at += 4;
			break;
		}
	}
	return at;
}

static why_t get_bth(struct wt_frame *f, const uint8_t *b)
{
	const struct wt_op *op = wt_op_by_code(b[0]);
	struct wt_pkt *p = &f->p;

	CHECK(op, "opcode %#x does not exist", b[0]);
	p->op = b[0];
	p->ext = op->ext;
	p->se = b[1] >> 7;
	p->mig = b[1] >> 6 & 1;
	p->pad = b[1] >> 4 & 3;
	p->tver = b[1] & 15;
	p->pkey = wt_get(b + 2, 2);
	p->resv8a = b[4];
	p->qpn = wt_get(b + 5, 3);
	p->ack = b[8] >> 7;
	p->resv7 = b[8] & 0x7f;
	p->psn = wt_get(b + 9, 3);
	CHECK(!p->tver, "transport header version %u", p->tver);
	if (p->resv8a || p->resv7)
		TRY(broken(f, WT_RULE_RESERVED));
	if (!p->mig)
		TRY(broken(f, WT_RULE_MIGREQ));
	return p->pkey == 0xffff ? NULL : broken(f, WT_RULE_PKEY);
}

static why_t check_transport(struct wt_frame *f, const uint8_t *b, size_t len)
{
	struct wt_pkt *p = &f->p;
	size_t head;

	CHECK(len >= 16, "%zu bytes of transport are too few", len);
	TRY(get_bth(f, b));
	head = 12 + wt_ext_len(p->ext);
	CHECK(len >= head + p->pad + 4, "%zu bytes are too few for opcode %#x",
	      len, p->op);
	p->payload = get_ext(p, b + 12);
	p->len = len - head - p->pad - 4;
	CHECK(!((p->len + p->pad) & 3), "payload %u with pad %u", p->len, p->pad);
	CHECK(strchr(p->ext, 'P') || !p->len, "opcode %#x has a payload", p->op);
	for (int i = 0; i < p->pad; i++) {
		if (p->payload[p->len + i])
			return broken(f, WT_RULE_PADDING);
	}
	return NULL;
}

static why_t check_icrc(struct wt_frame *f, const uint8_t *ip, size_t l3)
{
	const uint8_t *udp = ip + l3, *end = f->raw + f->raw_len - 4;
	uint32_t want = wt_icrc_value(f->family, ip, l3, udp, end - udp);
	uint32_t have = end[0] | end[1] << 8 | end[2] << 16 |
			(uint32_t)end[3] << 24;

	CHECK(want == have, "ICRC is %08x, should be %08x", have, want);
	return NULL;
}

why_t wt_frame_parse(struct wt_frame *f)
{
	size_t at = roce_at(f, &f->family), l3, udp;
	const uint8_t *ip = f->raw + at;

	f->odd = 0;
	memcpy(f->to.mac, f->raw, 6);
	memcpy(f->from.mac, f->raw + 6, 6);
	l3 = f->family == 4 ? 20 : 40;
	udp = at + l3;
	TRY(f->family == 4 ? check_ip4(f, ip) : check_ip6(f, ip));
	TRY(check_udp(f, f->raw + udp, f->raw_len - udp));
	TRY(check_transport(f, f->raw + udp + 8, f->raw_len - udp - 8));
	return check_icrc(f, ip, l3);
}
