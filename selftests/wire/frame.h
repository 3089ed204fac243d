/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * RoCEv2 as the peer speaks it, written from the InfiniBand specification,
 * volume 1, chapter 9 and Annex A17. Shares nothing with the module, so that a
 * mistake there can't be made here as well by the same hand.
 */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "why.h"

#define WT_PORT_ROCE	4791
#define WT_FRAME_MAX	10000
#define WT_PSN_MASK	0xffffffu
#define WT_GRH		40

/*
 * An opcode and the headers behind its BTH, in order: D DETH, R RETH,
 * T AtomicETH, A AETH, O AtomicAckETH, I ImmDt, V IETH; P: payload may follow.
 */
struct wt_op {
	const char *name;
	uint8_t code;
	const char *ext;
};

const struct wt_op *wt_op_by_code(uint8_t code);
const struct wt_op *wt_op_by_name(const char *name);
size_t wt_ext_len(const char *ext);
bool wt_op_is_response(uint8_t code);

/* Transport fields of a packet, to be sent or received */
struct wt_pkt {
	uint8_t op;
	const char *ext;
	uint8_t se, mig, pad, tver, resv8a, resv7, ack;
	uint16_t pkey;
	uint32_t qpn, psn;
	uint32_t qkey, sqpn;		/* DETH */
	uint32_t feth;
	uint64_t va;			/* RETH, AtomicETH */
	uint32_t rkey, dlen;
	uint64_t swap, cmp;
	uint8_t syn;			/* AETH */
	uint32_t msn;
	uint64_t orig;			/* AtomicAckETH */
	uint32_t imm, inv;
	const uint8_t *payload;
	uint32_t len;
};

/* One end's addresses; IPv4 ones in the last four bytes */
struct wt_addr {
	uint8_t mac[6];
	uint8_t ip[16];
};

/* How binding an expectation is: the specification's, and what it leaves open; ours */
enum wt_level { WT_MUST, WT_MAY, WT_SROCE };

const char *wt_level_name(enum wt_level level);
bool wt_level_by_name(const char *name, enum wt_level *to);

/* What holds in every script. Those up to DF are about each frame by itself. */
enum wt_rule {
	WT_RULE_MIGREQ, WT_RULE_PKEY, WT_RULE_RESERVED, WT_RULE_PADDING,
	WT_RULE_DF, WT_RULE_ACKREQ, WT_RULE_CREDITS, WT_RULE_EVENT, WT_RULE_COMM_EST,
	WT_RULE_WC_FLAGS, WT_RULE_DESTROY, WT_RULES
};

struct wt_rule_info {
	const char *name;
	enum wt_level level;
	const char *section;	/* of the specification */
	const char *text;
};

extern const struct wt_rule_info wt_rules[WT_RULES];
int wt_rule_by_name(const char *name);

enum wt_icrc { WT_ICRC_OK, WT_ICRC_BAD, WT_ICRC_ZERO, WT_ICRC_SWAPPED };
enum wt_exthdr { WT_EXT_NONE, WT_EXT_HBH, WT_EXT_DST, WT_EXT_FRAG, WT_EXT_DST_LONG };

/* A frame to send: what is in it, and what is wrong with it */
struct wt_craft {
	struct wt_pkt p;
	int family;
	struct wt_addr from, to;
	int vlan;			/* -1: no tag */
	uint16_t sport, dport;
	uint8_t tos, ttl;
	uint16_t id;
	bool df;
	int padbytes;
	int cut;			/* transport bytes, ICRC right; -1: all */
	int cutraw;			/* the same with the ICRC cut off */
	int grow;			/* bytes between payload and ICRC */
	int udplen, iplen;		/* added to the length fields */
	int udpsum;			/* 0 none, 1 right, 2 wrong */
	int ipopt;			/* bytes of IPv4 options */
	enum wt_exthdr exthdr;
	enum wt_icrc icrc;
	int flip;			/* transport byte to damage on the way */
	int frag;			/* bytes per fragment; 0: whole */
	int fragonly;			/* send only the n-th, from 1 */
	int trailer;			/* bytes behind the IP packet */
};

typedef why_t (*wt_emit)(void *arg, const uint8_t *frame, size_t len);

why_t wt_frame_send(const struct wt_craft *c, wt_emit emit, void *arg);
size_t wt_net_header(const struct wt_craft *c, uint8_t *to);

/* A frame received: the packet, and what the network said about it */
struct wt_frame {
	uint8_t raw[WT_FRAME_MAX];
	size_t raw_len;
	int vlan;			/* -1: no tag */
	uint64_t when;			/* us, CLOCK_REALTIME */
	bool no_sum;			/* a NIC would yet fill in UDP's */
	int family;
	struct wt_addr from, to;
	uint16_t sport;
	uint8_t tos, ttl;
	struct wt_pkt p;
	unsigned int soft;		/* bits: rules that may be broken */
	unsigned int odd;		/* and those of them that are */
};

bool wt_frame_is_roce(const struct wt_frame *f);
why_t wt_frame_parse(struct wt_frame *f);

uint32_t wt_crc32(uint32_t crc, const void *data, size_t len);
uint32_t wt_icrc_value(int family, const uint8_t *l3, size_t l3_len,
		       const uint8_t *udp, size_t udp_len);

static inline void wt_put(uint8_t *p, uint64_t v, int bytes)
{
	while (bytes--) {
		p[bytes] = v;
		v >>= 8;
	}
}

static inline uint64_t wt_get(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

#endif
