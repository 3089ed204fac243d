/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The protocol core with as little around it as can be: two QPs, the trains that they
 * exchange, a CRC-32 as fast as the kernel's.
 */
#ifndef BENCH_CORE_H
#define BENCH_CORE_H

#include <linux/string.h>
#include "../../unit/core.h"

#define TRAIN_MAX	65535U		/* bytes of a train, as of GSO */
#define TRAINS		64		/* that exist at a time */
#define CQES		1024
#define SLOTS		256		/* of each queue */
#define KEY(n)		(((n) + 1) << 8 | 0x5a)

/**
 * struct train - packets from one QP to the other, one behind the other
 * @next: the next in its queue
 * @response: they are responses
 * @n: packets
 * @seg: bytes of each from BTH to ICRC; the last may have less
 * @len: bytes of all
 * @icrc: CRCs of their headers, as the sender computes them
 * @l3: IPv4 header of the first
 * @udp: UDP header of the first
 * @data: the packets; the payload of those that have only a BTH is aligned
 */
struct train {
	struct train	*next;
	bool		response;
	u32		n;
	u32		seg;
	u32		len;
	struct sroce_train_icrc	icrc;
	u8		l3[20];
	u8		udp[8];
	u8		data[4 + TRAIN_MAX] __attribute__((aligned(64)));
};

struct train_queue {
	struct train	*first, *last;
};

struct sroce_cq {
	struct sroce_cqe	e[CQES];	/* a ring */
	u32			n;		/* posted so far */
};

/* One end: a QP with what surrounds it */
struct sroce_kqp {
	struct sroce_qp		qp;
	struct sroce_kqp	*peer;
	struct sroce_counters	counters;
	struct sroce_cq		scq, rcq;
	struct sroce_mr		mr;
	u8			*mem;
	struct train_queue	txq[2];		/* requests, responses */
	struct train		*open;
	u8			*open_bth;
	u32			open_len;
	bool			open_joins;
	bool			more;		/* has more to send */
	u64			ack_when;	/* 0: not set */
	u32			sq_prod, rq_prod;
};

extern bool without_crc, without_copies;	/* to measure the rest */

/* env.c */
void ends_new(struct sroce_kqp *ends, enum ib_mtu mtu, u32 size);
void ends_free(struct sroce_kqp *ends);
bool ends_work(struct sroce_kqp *ends);
bool ends_skip_wait(struct sroce_kqp *ends);
void end_run(struct sroce_kqp *kqp);

/* wire.c */
void train_receive(struct sroce_kqp *kqp, struct train *t);
struct train *train_take(struct sroce_kqp *from);
void train_free(struct train *t);

/* crc.c */
const char *crc_name(void);
bool crc_is_right(void);

#endif /* BENCH_CORE_H */
