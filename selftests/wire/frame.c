// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Building frames, right and wrong ones. */

#include <netinet/in.h>
#include <string.h>
#include "frame.h"

static uint8_t *put_ext(const struct wt_pkt *p, uint8_t *to)
{
	for (const char *e = p->ext; *e; e++) {
		switch (*e) {
		case 'D':
			wt_put(to, p->qkey, 4);
			wt_put(to + 4, p->sqpn, 4);
			to += 8;
			break;
		case 'F':
			wt_put(to, p->feth, 4);
			to += 4;
			break;
		case 'R':
			wt_put(to, p->va, 8);
			wt_put(to + 8, p->rkey, 4);
			wt_put(to + 12, p->dlen, 4);
			to += 16;
			break;
		case 'T':
			wt_put(to, p->va, 8);
			wt_put(to + 8, p->rkey, 4);
			wt_put(to + 12, p->swap, 8);
			wt_put(to + 20, p->cmp, 8);
			to += 28;
			break;
		case 'A':
			wt_put(to, (uint32_t)p->syn << 24 | p->msn, 4);
			to += 4;
			break;
		case 'O':
			wt_put(to, p->orig, 8);
			to += 8;
			break;
		case 'I':
			wt_put(to, p->imm, 4);
			to += 4;
			break;
		case 'V':
			wt_put(to, p->inv, 4);
			to += 4;
			break;
		}
	}
	return to;
}

/* BTH to the end of the payload; room for the ICRC follows. */
static size_t put_transport(const struct wt_craft *c, uint8_t *to)
{
	const struct wt_pkt *p = &c->p;
	uint8_t *at = to;

	at[0] = p->op;
	at[1] = p->se << 7 | p->mig << 6 | p->pad << 4 | p->tver;
	wt_put(at + 2, p->pkey, 2);
	at[4] = p->resv8a;
	wt_put(at + 5, p->qpn, 3);
	at[8] = p->ack << 7 | p->resv7;
	wt_put(at + 9, p->psn, 3);
	at = put_ext(p, at + 12);
	if (p->len)
		memcpy(at, p->payload, p->len);
	at += p->len;
	memset(at, 0, c->padbytes);
	at += c->padbytes;
	memset(at, 0x5a, c->grow);
	return at + c->grow - to;
}

static uint32_t sum16(uint32_t sum, const uint8_t *p, size_t len)
{
	for (; len > 1; len -= 2, p += 2)
		sum += p[0] << 8 | p[1];
	if (len)
		sum += p[0] << 8;
	return sum;
}

static uint16_t fold(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

static void put_ip_sum(uint8_t *ip, size_t len)
{
	wt_put(ip + 10, 0, 2);
	wt_put(ip + 10, fold(sum16(0, ip, len)), 2);
}

static size_t put_ip4(const struct wt_craft *c, uint8_t *ip, size_t body)
{
	size_t len = 20 + c->ipopt;

	memset(ip, 0, 20);
	memset(ip + 20, 1, c->ipopt);	/* no-operation options */
	ip[0] = 0x40 | len / 4;
	ip[1] = c->tos;
	wt_put(ip + 2, len + body + c->iplen, 2);
	wt_put(ip + 4, c->id, 2);
	wt_put(ip + 6, c->df ? 0x4000 : 0, 2);
	ip[8] = c->ttl;
	ip[9] = IPPROTO_UDP;
	memcpy(ip + 12, c->from.ip + 12, 4);
	memcpy(ip + 16, c->to.ip + 12, 4);
	put_ip_sum(ip, len);
	return len;
}

/*
 * An extension header of eight bytes with nothing in it, or one of 256 with an option that nobody
 * knows, and that is to be skipped. Return: its length
 */
static size_t put_exthdr(enum wt_exthdr kind, uint8_t *next, uint8_t *to)
{
	static const uint8_t unknown[256] = { IPPROTO_UDP, 31, 0x1e, 252 };
	static const uint8_t padn[8] = { IPPROTO_UDP, 0, 1, 4 };
	static const uint8_t atomic[8] = { IPPROTO_UDP, 0, 0, 0, 0, 0, 0, 1 };

	*next = kind == WT_EXT_HBH ? IPPROTO_HOPOPTS :
		kind == WT_EXT_FRAG ? IPPROTO_FRAGMENT : IPPROTO_DSTOPTS;
	if (kind == WT_EXT_DST_LONG) {
		memcpy(to, unknown, sizeof(unknown));
		return sizeof(unknown);
	}
	memcpy(to, kind == WT_EXT_FRAG ? atomic : padn, 8);
	return 8;
}

static size_t put_ip6(const struct wt_craft *c, uint8_t *ip, size_t body)
{
	size_t len = 40;

	memset(ip, 0, 40);
	ip[0] = 0x60 | c->tos >> 4;
	ip[1] = c->tos << 4;
	ip[6] = IPPROTO_UDP;
	ip[7] = c->ttl;
	memcpy(ip + 8, c->from.ip, 16);
	memcpy(ip + 24, c->to.ip, 16);
	if (c->exthdr)
		len += put_exthdr(c->exthdr, &ip[6], ip + 40);
	wt_put(ip + 4, len - 40 + body + c->iplen, 2);
	return len;
}

static void put_udp_sum(const struct wt_craft *c, uint8_t *udp, size_t len)
{
	int skip = c->family == 4 ? 12 : 0;
	uint32_t sum = IPPROTO_UDP + len;
	uint16_t v;

	wt_put(udp + 6, 0, 2);
	if (!c->udpsum)
		return;
	sum = sum16(sum, c->from.ip + skip, 16 - skip);
	sum = sum16(sum, c->to.ip + skip, 16 - skip);
	v = fold(sum16(sum, udp, len));
	if (!v)
		v = 0xffff;
	if (c->udpsum == 2)
		v ^= 0x1111;
	wt_put(udp + 6, v, 2);
}

static void put_icrc(const struct wt_craft *c, const uint8_t *l3,
		     size_t l3_len, const uint8_t *udp, uint8_t *at)
{
	/* without extension headers: what a receiver computes that does not see them */
	uint32_t crc = wt_icrc_value(c->family, l3, c->exthdr ? 40 : l3_len, udp, at - udp);

	for (int i = 0; i < 4; i++)
		at[i] = crc >> (c->icrc == WT_ICRC_SWAPPED ? 24 - 8 * i : 8 * i);
	if (c->icrc == WT_ICRC_BAD)
		at[2] ^= 0x10;
	else if (c->icrc == WT_ICRC_ZERO)
		memset(at, 0, 4);
}

static size_t put_ether(const struct wt_craft *c, uint8_t *to)
{
	size_t len = 12;

	memcpy(to, c->to.mac, 6);
	memcpy(to + 6, c->from.mac, 6);
	if (c->vlan >= 0) {
		wt_put(to + len, 0x8100, 2);
		wt_put(to + len + 2, c->vlan, 2);
		len += 4;
	}
	wt_put(to + len, c->family == 4 ? 0x0800 : 0x86dd, 2);
	return len + 2;
}

/* The network header alone, as a UD receiver sees it */
size_t wt_net_header(const struct wt_craft *c, uint8_t *to)
{
	size_t len = 12 + wt_ext_len(c->p.ext) + c->p.len + c->padbytes + 4;

	return c->family == 4 ? put_ip4(c, to, 8 + len) : put_ip6(c, to, 8 + len);
}

static size_t frag4(uint8_t *ip, size_t off, bool more, size_t body)
{
	wt_put(ip + 2, 20 + body, 2);
	wt_put(ip + 6, (more ? 0x2000 : 0) | off / 8, 2);
	put_ip_sum(ip, 20);
	return 20;
}

static size_t frag6(uint8_t *ip, size_t off, bool more, size_t body, uint16_t id)
{
	ip[6] = IPPROTO_FRAGMENT;
	wt_put(ip + 4, 8 + body, 2);
	ip[40] = IPPROTO_UDP;
	ip[41] = 0;
	wt_put(ip + 42, off | more, 2);
	wt_put(ip + 44, id, 4);
	return 48;
}

static why_t send_fragments(const struct wt_craft *c, const uint8_t *eth,
			    size_t eth_len, const uint8_t *l3,
			    const uint8_t *body, size_t len, wt_emit emit,
			    void *arg)
{
	uint8_t f[WT_FRAME_MAX], *ip = f + eth_len;
	size_t step = c->frag & ~7;
	int n = 0;

	for (size_t off = 0; off < len; off += step) {
		size_t part = len - off < step ? len - off : step, head;
		bool more = off + part < len;
		why_t why;

		memcpy(f, eth, eth_len);
		memcpy(ip, l3, 40);
		head = c->family == 4 ? frag4(ip, off, more, part) :
					frag6(ip, off, more, part, c->id);
		memcpy(ip + head, body + off, part);
		if (c->fragonly && c->fragonly != ++n)
			continue;
		why = emit(arg, f, eth_len + head + part);
		if (why)
			return why;
	}
	return NULL;
}

/* Build the frame, or its fragments, and hand each to @emit. */
why_t wt_frame_send(const struct wt_craft *c, wt_emit emit, void *arg)
{
	uint8_t f[WT_FRAME_MAX + 256], t[WT_FRAME_MAX];
	size_t len = put_transport(c, t), eth, l3, total;
	uint8_t *ip, *udp;

	if (c->cut >= 0)
		len = c->cut < 4 ? 0 : c->cut - 4;
	total = len + 4;
	if (c->cut >= 0 && c->cut < 4)
		total = c->cut;
	if (c->cutraw >= 0 && (size_t)c->cutraw < total)
		total = c->cutraw;
	eth = put_ether(c, f);
	ip = f + eth;
	l3 = c->family == 4 ? put_ip4(c, ip, 8 + total) :
			      put_ip6(c, ip, 8 + total);
	udp = ip + l3;
	wt_put(udp, c->sport, 2);
	wt_put(udp + 2, c->dport, 2);
	wt_put(udp + 4, 8 + total + c->udplen, 2);
	memcpy(udp + 8, t, len);
	put_icrc(c, ip, l3, udp, udp + 8 + len);
	if (c->flip >= 0 && (size_t)c->flip < total)
		udp[8 + c->flip] ^= 1 << c->flip % 8;
	put_udp_sum(c, udp, 8 + total);
	if (c->frag)
		return send_fragments(c, f, eth, ip, udp, 8 + total, emit, arg);
	total += 8 + l3 + eth;
	memset(f + total, 0xee, c->trailer);
	return emit(arg, f, total + c->trailer);
}
