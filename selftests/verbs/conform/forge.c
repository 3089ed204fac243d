// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets in a peer's name that it would never send: written to a raw socket of
 * its namespace, with a right ICRC (Annex A17).
 */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include "conform.h"

#define ROCE_PORT	4791
#define UDP_LEN		8
#define BTH_LEN		12
#define ROOM		512

/* A packet in the making: an IP header, UDP, and what follows that */
struct forged {
	uint8_t bytes[ROOM];
	size_t ip;		/* bytes of IP header */
	size_t len;		/* of all, without the ICRC */
};

static void put16(uint8_t *at, uint16_t x)
{
	x = htons(x);
	memcpy(at, &x, 2);
}

static void put32(uint8_t *at, uint32_t x)
{
	x = htonl(x);
	memcpy(at, &x, 4);
}

static uint32_t crc32(uint32_t crc, const uint8_t *p, size_t len)
{
	int k;

	while (len--) {
		crc ^= *p++;
		for (k = 0; k < 8; k++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return crc;
}

/* What may change on the way counts as ones, as do 8 bytes before it all. */
static uint32_t icrc(const struct forged *f)
{
	uint8_t copy[8 + ROOM], *ip = copy + 8, *udp = ip + f->ip;

	memset(copy, 0xff, 8);
	memcpy(ip, f->bytes, f->len);
	if (f->ip == 20) {
		ip[1] = 0xff;
		ip[8] = 0xff;
		memset(ip + 10, 0xff, 2);
	} else {
		ip[0] |= 0x0f;
		memset(ip + 1, 0xff, 3);
		ip[7] = 0xff;
	}
	memset(udp + 6, 0xff, 2);
	udp[UDP_LEN + 4] = 0xff;
	return ~crc32(~0u, copy, 8 + f->len);
}

static uint32_t sum(const uint8_t *p, size_t len)
{
	uint32_t s = 0;

	for (; len > 1; len -= 2, p += 2)
		s += p[0] << 8 | p[1];
	return len ? s + (p[0] << 8) : s;
}

/* The UDP checksum, which IPv6 can't do without */
static void check(struct forged *f, size_t udp_len)
{
	size_t addrs = f->ip == 20 ? 8 : 32;
	uint32_t s = sum(f->bytes + f->ip - addrs, addrs) + IPPROTO_UDP +
		     udp_len + sum(f->bytes + f->ip, udp_len);

	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	put16(f->bytes + f->ip + 6, s == 0xffff ? s : ~s);
}

static void address(struct forged *f, const union ibv_gid *from,
		    const union ibv_gid *to, size_t udp_len)
{
	uint8_t *ip = f->bytes;

	if (vt_opts.family == 4) {
		f->ip = 20;
		ip[0] = 0x45;
		put16(ip + 2, f->ip + udp_len);
		put16(ip + 4, 0x5eed);	/* the kernel makes up none then */
		put16(ip + 6, 0x4000);
		ip[8] = 64;
		ip[9] = IPPROTO_UDP;
		memcpy(ip + 12, from->raw + 12, 4);
		memcpy(ip + 16, to->raw + 12, 4);
	} else {
		f->ip = 40;
		ip[0] = 0x60;
		put16(ip + 4, udp_len);
		ip[6] = IPPROTO_UDP;
		ip[7] = 64;
		memcpy(ip + 8, from->raw, 16);
		memcpy(ip + 24, to->raw, 16);
	}
}

static why_t emit(const struct forged *f, const union ibv_gid *to)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	bool is_v4 = vt_opts.family == 4;
	int sock = socket(is_v4 ? AF_INET : AF_INET6, SOCK_RAW, IPPROTO_RAW);
	ssize_t n;

	CHECK(sock >= 0, "raw socket: %s", strerror(errno));
	memcpy(&v4.sin_addr, to->raw + 12, 4);
	memcpy(&v6.sin6_addr, to->raw, 16);
	n = sendto(sock, f->bytes, f->len, 0,
		   is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6,
		   is_v4 ? sizeof(v4) : sizeof(v6));
	close(sock);
	CHECK(n == (ssize_t)f->len, "sendto: %s", strerror(errno));
	return NULL;
}

/*
 * A packet from B to A's QP: @ext_len bytes of extended headers and payload, a
 * multiple of 4, follow BTH.
 */
why_t cf_forge(struct cf *t, uint8_t opcode, uint16_t pkey, uint32_t psn,
	       const void *ext, size_t ext_len)
{
	size_t udp_len = UDP_LEN + BTH_LEN + ext_len + 4;
	const struct vt_ep *a = &t->p->a, *b = &t->p->b;
	struct forged f = {};
	uint8_t *udp, *bth;
	uint32_t crc;

	CHECK(ext_len <= ROOM - 128, "%zu bytes", ext_len);
	address(&f, &b->dev->gid, &a->dev->gid, udp_len);
	udp = f.bytes + f.ip;
	bth = udp + UDP_LEN;
	put16(udp, 0xc000);
	put16(udp + 2, ROCE_PORT);
	put16(udp + 4, udp_len);
	bth[0] = opcode;
	bth[1] = 0x40;			/* migrated */
	put16(bth + 2, pkey);
	put32(bth + 4, a->qp->qp_num);
	put32(bth + 8, psn & 0xffffff);
	memcpy(bth + BTH_LEN, ext, ext_len);
	f.len = f.ip + udp_len - 4;
	crc = icrc(&f);
	/* its lowest byte comes first */
	for (int i = 0; i < 4; i++)
		f.bytes[f.len++] = crc >> 8 * i;
	check(&f, udp_len);
	vt_enter_netns(b->dev);
	return emit(&f, &a->dev->gid);
}
