// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Forged packets for the QPs on the board, by raw sockets, and by ordinary ones. */

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>
#include "../wire/frame.h"
#include "fz.h"

#define PORT	4791

struct packet {
	uint8_t	 ip[40];
	uint32_t ip_len;
	uint8_t	 udp[2048];	/* header, BTH and all that follows */
	uint32_t len;		/* of @udp */
};

static void put32(uint8_t *at, uint32_t v)
{
	v = htonl(v);
	memcpy(at, &v, 4);
}

/* The headers of an opcode, with the key and the address of what may be hit */
static uint32_t put_headers(struct fz_thread *t, uint8_t *at, uint8_t op,
			    const struct fz_target *to)
{
	uint32_t len = 4;

	if (op == 0x64 || op == 0x65) {
		put32(at, fz_one_in(t, 4) ? fz_rand(t) : QKEY);
		put32(at + 4, fz_rand(t) & 0xffffff);
		return 8 + (op & 1) * 4;
	}
	put32(at, fz_one_in(t, 2) ? 0x1f000000 | fz_rand(t) : fz_rand(t));	/* AETH */
	if ((op & 31) >= 6 && ((op & 31) <= 12 || (op & 31) >= 19) && (op & 31) != 17) {
		put32(at, to->addr >> 32);		/* RETH, AtomicETH */
		put32(at + 4, to->addr + fz_below(t, 8192) * 8);
		put32(at + 8, to->rkey);
		put32(at + 12, fz_one_in(t, 4) ? fz_odd(t) : fz_below(t, 4096));
		len = (op & 31) >= 19 ? 28 : 16;
	}
	return len;
}

static uint8_t an_opcode(struct fz_thread *t, uint32_t type)
{
	if (fz_one_in(t, 10))
		return fz_rand(t);
	if (fz_one_in(t, 20))
		return 0x81;	/* CNP */
	return type == 4 ? 0x64 + fz_below(t, 2) :
	       (type == 3 ? 0x20 : 0) + fz_below(t, 24);
}

static void put_transport(struct fz_thread *t, struct packet *p, const struct fz_target *to)
{
	uint8_t *bth = p->udp + 8, op = an_opcode(t, to->type);
	uint32_t pad = fz_one_in(t, 3) ? fz_below(t, 4) : 0, len;

	bth[0] = op;
	bth[1] = fz_one_in(t, 8) ? fz_rand(t) : pad << 4;
	put32(bth + 2, 0xffff0000);
	put32(bth + 4, fz_one_in(t, 20) ? fz_rand(t) & 0xffffff : to->qpn);
	put32(bth + 8, ((to->psn + fz_below(t, fz_one_in(t, 2) ? 64 : 8192)) & 0xffffff) |
		       fz_below(t, 2) << 31);
	len = 12 + put_headers(t, bth + 12, op, to);
	if (fz_one_in(t, 2))
		len += fz_one_in(t, 2) ? 256U << fz_below(t, 3) : fz_below(t, 250) * 4;
	if (fz_one_in(t, 12))
		len = fz_below(t, len + 1);	/* cut */
	p->len = 8 + len;
}

/* @id: IPv4 identification, which the ICRC covers */
static void finish(struct fz_thread *t, struct packet *p, bool v6, int from, uint16_t id,
		   uint16_t sport)
{
	uint32_t icrc, size = p->len + 4;
	uint16_t be[4] = { htons(sport), htons(PORT), htons(size), 0 };

	memcpy(p->udp, be, 8);
	memset(p->ip, 0, sizeof(p->ip));
	if (v6) {
		p->ip_len = 40;
		p->ip[0] = 0x60;
		put32(p->ip + 4, size << 16 | 17 << 8 | 64);
		inet_pton(AF_INET6, from ? "fd07::2" : "fd07::1", p->ip + 8);
		inet_pton(AF_INET6, from ? "fd07::1" : "fd07::2", p->ip + 24);
	} else {
		p->ip_len = 20;
		put32(p->ip, 0x45000000 | (20 + size));
		put32(p->ip + 4, (uint32_t)id << 16 | 0x4000);
		put32(p->ip + 8, 64 << 24 | 17 << 16);
		inet_pton(AF_INET, from ? "10.7.0.2" : "10.7.0.1", p->ip + 12);
		inet_pton(AF_INET, from ? "10.7.0.1" : "10.7.0.2", p->ip + 16);
	}
	icrc = wt_icrc_value(v6 ? 6 : 4, p->ip, p->ip_len, p->udp, p->len);
	if (fz_one_in(t, 20))
		icrc ^= 1U << fz_below(t, 32);
	memcpy(p->udp + p->len, &icrc, 4);
	p->len += 4;
}

static void send_raw(struct fz_thread *t, const struct fz_target *to, int from, bool v6)
{
	enum fz_call call = v6 ? FZ_RAW_V6 : FZ_RAW_V4;
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in sin = { .sin_family = AF_INET };
	uint8_t frame[2100];
	static int fd[2];
	struct packet p;

	memset(p.udp, fz_rand(t), sizeof(p.udp));
	put_transport(t, &p, to);
	finish(t, &p, v6, from, 1 + fz_below(t, 65535), 0xc000 | fz_below(t, 0x3fff));
	memcpy(frame, p.ip, p.ip_len);
	memcpy(frame + p.ip_len, p.udp, p.len);
	if (!fd[v6])
		fd[v6] = socket(v6 ? AF_INET6 : AF_INET, SOCK_RAW, IPPROTO_RAW);
	memcpy(&sin6.sin6_addr, p.ip + 24, 16);
	memcpy(&sin.sin_addr, p.ip + 16, 4);
	fz_begin(t, call);
	fz_end(t, call, sendto(fd[v6], frame, p.ip_len + p.len, MSG_DONTWAIT,
			       v6 ? (void *)&sin6 : (void *)&sin,
			       v6 ? sizeof(sin6) : sizeof(sin)) < 0 ? -1 : 0);
}

/* Segments of a datagram, each a packet; the last may be shorter */
static void send_train(struct fz_thread *t, const struct fz_target *to, int from, bool user)
{
	enum fz_call call = user ? FZ_USER_UDP : FZ_UDP_SEGMENT;
	struct sockaddr_in dest = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int i, n = 1 + fz_below(t, 20), discover = IP_PMTUDISC_DO;
	uint32_t size = 0;
	uint8_t data[20 * 1300];
	static int fd, sport;
	struct packet p;
	size_t len = 0;

	if (!fd) {
		sport = 0xc000 | fz_below(t, 0x3fff);
		fd = socket(AF_INET, SOCK_DGRAM, 0);
		setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof(discover));
		dest.sin_port = htons(sport);
		bind(fd, (void *)&dest, sizeof(dest));
		dest.sin_port = htons(PORT);
	}
	memset(p.udp, fz_rand(t), sizeof(p.udp));
	for (i = 0; i < n; i++) {
		put_transport(t, &p, to);
		if (!size)
			size = p.len < 1200 ? p.len : 1200;
		if (i < n - 1 || p.len > size)
			p.len = size;
		finish(t, &p, false, from, i, sport);
		memcpy(data + len, p.udp + 8, p.len - 8);
		len += p.len - 8;
	}
	size = size + 4 - 8;	/* with the ICRC, without the UDP header */
	setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size));
	inet_pton(AF_INET, from ? "10.7.0.1" : "10.7.0.2", &dest.sin_addr);
	fz_begin(t, call);
	fz_end(t, call, sendto(fd, data, len, MSG_DONTWAIT, (void *)&dest, sizeof(dest)) < 0 ?
	       -1 : 0);
}

/* Send something from namespace number @from to the other. */
void fz_forge(struct fz_thread *t, int from, bool user)
{
	struct fz_target to = board->target[!from][fz_below(t, TARGETS)];
	uint64_t since = fz_now_ms();

	if (user || fz_one_in(t, 4))
		send_train(t, &to, from, user);
	else
		send_raw(t, &to, from, fz_one_in(t, 2));
	if (user || fz_one_in(t, 4))
		usleep(1000 + fz_below(t, 4000));
	/*
	 * A debug kernel drowns in packets: softirqs come to nothing else, RCU callbacks wait for
	 * minutes, and so does the removal of a device, without which nobody gets to work.
	 */
	if (board->slowness > 1)
		usleep((board->slowness - 1) * 1000 * (1 + fz_now_ms() - since));
}
