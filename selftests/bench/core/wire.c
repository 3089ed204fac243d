// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Trains of packets between the two QPs, built as drv/net/tx.c and received as drv/rx/udp.c
 * do it, without skbs and without an IP stack between them.
 */

#include <stdlib.h>
#include "core.h"

#define ETH_LEN		14U
#define SEGS_MAX	64

static struct train *unused;

static struct train *train_alloc(void)
{
	struct train *t = unused;

	if (t)
		unused = t->next;
	else
		t = aligned_alloc(64, (sizeof(*t) + 63) & ~63UL);
	return t;
}

void train_free(struct train *t)
{
	t->next = unused;
	unused = t;
}

static void put16(u8 *p, u32 v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static void put_headers(struct train *t, struct sroce_av *av, u32 len)
{
	memset(t->l3, 0, sizeof(t->l3));
	t->l3[0] = 0x45;
	t->l3[1] = av->tclass;
	put16(t->l3 + 2, sizeof(t->l3) + sizeof(t->udp) + len);
	put16(t->l3 + 4, av->ip_id++);
	t->l3[6] = 0x40;
	t->l3[8] = av->hop_limit;
	t->l3[9] = 17;
	memcpy(t->l3 + 12, av->sgid.raw + 12, 4);
	memcpy(t->l3 + 16, av->dgid.raw + 12, 4);
	put16(t->udp, av->sport);
	put16(t->udp + 2, SROCE_UDP_PORT);
	put16(t->udp + 4, sizeof(t->udp) + len);
	put16(t->udp + 6, 0);
}

static struct train *train_new(struct sroce_av *av, u32 len, bool response)
{
	struct train *t = train_alloc();

	t->next = NULL;
	t->response = response;
	t->n = 0;
	t->seg = len;
	t->len = 0;
	put_headers(t, av, len);
	sroce_train_icrc_init(&t->icrc, t->l3, sizeof(t->l3), t->udp);
	return t;
}

static u8 *train_at(struct train *t, u32 off)
{
	return t->data + 16 - SROCE_BTH_LEN + off;
}

/* How many packets of @len bytes a train takes; only its last may be shorter. */
static u32 train_room(const struct train *t, u32 len)
{
	u32 space = TRAIN_MAX - ETH_LEN - sizeof(t->l3) - sizeof(t->udp);

	return !t || t->len != t->n * t->seg || len > t->seg ? 0 : (space - t->len) / len;
}

void *sroce_tx_begin(struct sroce_qp *qp, struct sroce_av *av, u32 len, bool response)
{
	struct sroce_kqp *kqp = qp->kqp;
	struct train *t = kqp->txq[response].last;

	len += SROCE_ICRC_LEN;
	kqp->open_joins = train_room(t, len);
	if (kqp->open_joins)
		av->ip_id = t->icrc.id + t->n + 1;
	else
		t = train_new(av, len, response);
	kqp->open = t;
	kqp->open_len = len;
	kqp->open_bth = train_at(t, t->len);
	return kqp->open_bth;
}

void *sroce_tx_begin_segs(struct sroce_qp *qp, struct sroce_av *av, u32 len,
			  bool response, u32 *n)
{
	struct sroce_kqp *kqp = qp->kqp;
	struct train *t = kqp->txq[response].last;
	u32 room = train_room(t, len + SROCE_ICRC_LEN);

	len += SROCE_ICRC_LEN;
	if (!room || t->seg != len)
		return NULL;
	*n = min(*n, room);
	kqp->open = t;
	kqp->open_joins = true;
	kqp->open_len = len;
	kqp->open_bth = train_at(t, t->len);
	av->ip_id = t->icrc.id + t->n + *n;
	return kqp->open_bth;
}

/* CRC of the headers of packet @n, of @len bytes, up to the end of its BTH */
static u32 headers_crc(struct sroce_train_icrc *icrc, const struct train *t, u32 n,
		       const u8 *bth, u32 len)
{
	u8 l3[sizeof(t->l3)], udp[sizeof(t->udp)];

	if (len == t->seg)
		return sroce_train_icrc_headers(icrc, n, bth);
	memcpy(l3, t->l3, sizeof(l3));
	memcpy(udp, t->udp, sizeof(udp));
	sroce_icrc_segment_header(l3, sizeof(l3), n, len);
	put16(udp + 4, sizeof(udp) + len);
	return sroce_icrc_bth(sroce_icrc_net(l3, sizeof(l3), udp), bth);
}

static __le32 icrc_of(struct sroce_train_icrc *icrc, const struct train *t, u32 n,
		      const u8 *bth, u32 len)
{
	u32 crc = headers_crc(icrc, t, n, bth, len);

	return sroce_icrc_final(sroce_icrc_data(crc, bth + SROCE_BTH_LEN,
						len - SROCE_BTH_LEN - SROCE_ICRC_LEN));
}

void sroce_tx_commit(struct sroce_qp *qp, u32 n)
{
	struct sroce_kqp *kqp = qp->kqp;
	struct train_queue *q = &kqp->txq[kqp->open->response];
	struct train *t = kqp->open;
	u8 *bth = kqp->open_bth;
	u32 i, len = kqp->open_len;

	for (i = 0; i < n; i++, bth += len) {
		__le32 sum = icrc_of(&t->icrc, t, t->n + i, bth, len);

		memcpy(bth + len - SROCE_ICRC_LEN, &sum, sizeof(sum));
	}
	t->n += n;
	t->len += n * len;
	sroce_count_n(qp, SROCE_CNT_TX_PACKETS, n);
	kqp->open = NULL;
	if (kqp->open_joins)
		return;
	if (q->last)
		q->last->next = t;
	else
		q->first = t;
	q->last = t;
}

void sroce_tx_abort(struct sroce_qp *qp)
{
	if (!qp->kqp->open_joins)
		train_free(qp->kqp->open);
	qp->kqp->open = NULL;
}

bool sroce_tx_can_append(struct sroce_qp *qp)
{
	const struct train *t = qp->kqp->txq[false].last;

	return t && train_room(t, t->seg);
}

/* The next train that a QP sends, or NULL; responses go first. */
struct train *train_take(struct sroce_kqp *from)
{
	struct train_queue *q = &from->txq[!!from->txq[true].first];
	struct train *t = q->first;

	if (!t)
		return NULL;
	q->first = t->next;
	if (!q->first)
		q->last = NULL;
	return t;
}

/**
 * struct rx - a train while it is received
 * @kqp: the QP
 * @t: the train
 * @n: packets received
 * @icrc: CRCs of the headers, as the receiver computes them
 * @pkt: the last packet, or several
 */
struct rx {
	struct sroce_kqp	*kqp;
	struct train		*t;
	u32			n;
	struct sroce_train_icrc	icrc;
	struct sroce_pkt	pkt;
};

static bool icrc_ok(struct rx *rx, u32 n, const u8 *bth, u32 len)
{
	__le32 want;

	memcpy(&want, bth + len - SROCE_ICRC_LEN, sizeof(want));
	return icrc_of(&rx->icrc, rx->t, n, bth, len) == want;
}

static void read_addresses(struct sroce_pkt *pkt, const u8 *l3)
{
	pkt->l3 = l3;
	pkt->l3_len = 20;
	pkt->vlan = 0xffff;
	memset(pkt->sgid.raw + 10, 0xff, 2);
	memset(pkt->dgid.raw + 10, 0xff, 2);
	memcpy(pkt->sgid.raw + 12, l3 + 12, 4);
	memcpy(pkt->dgid.raw + 12, l3 + 16, 4);
}

/* Return: whether it was received. */
static bool receive_one(struct rx *rx, const u8 *bth, u32 len)
{
	struct sroce_pkt *pkt = &rx->pkt;

	memset(pkt, 0, offsetof(struct sroce_pkt, sgid));
	pkt->flat = bth;
	if (sroce_pkt_parse(pkt, bth, min_t(u32, len, SROCE_HDR_MAX), len)) {
		sroce_count(&rx->kqp->qp, SROCE_CNT_RX_MALFORMED);
		return false;
	}
	if (!icrc_ok(rx, rx->n, bth, len)) {
		sroce_count(&rx->kqp->qp, SROCE_CNT_RX_ICRC);
		return false;
	}
	sroce_count(&rx->kqp->qp, SROCE_CNT_RX_PACKETS);
	sroce_transport_rx(&rx->kqp->qp, pkt);
	return true;
}

static bool is_next(const struct sroce_pkt *pkt, const u8 *bth, u32 n)
{
	u32 psn = sroce_psn_add(pkt->psn, n);

	return !memcmp(bth, pkt->flat, 8) && !bth[8] && bth[9] == psn >> 16 &&
	       bth[10] == (psn >> 8 & 255) && bth[11] == (psn & 255);
}

/* Receive packets that follow the last one at once. Return: how many */
static u32 receive_segs(struct rx *rx, u32 off)
{
	struct sroce_pkt *pkt = &rx->pkt;
	struct train *t = rx->t;
	const u8 *at[SEGS_MAX];
	u32 n;

	if (pkt->pad || pkt->op->flags & (SROCE_START | SROCE_END))
		return 0;
	for (n = 0; n < SEGS_MAX && t->len - off >= t->seg; n++, off += t->seg) {
		at[n] = train_at(t, off);
		if (!is_next(pkt, at[n], n + 1) || !icrc_ok(rx, rx->n + n, at[n], t->seg))
			break;
	}
	if (n < 2)
		return 0;
	pkt->psn = sroce_psn_add(pkt->psn, 1);
	pkt->ackreq = false;
	pkt->flat = at[0];
	pkt->segs = n;
	pkt->seg_at = at;
	pkt->seg_len = pkt->payload_len;
	pkt->payload_len *= n;
	if (!sroce_transport_rx_segs(&rx->kqp->qp, pkt))
		return 0;
	sroce_count_n(&rx->kqp->qp, SROCE_CNT_RX_PACKETS, n);
	return n;
}

/* A train arrives at a QP. */
void train_receive(struct sroce_kqp *kqp, struct train *t)
{
	struct rx rx = { .kqp = kqp, .t = t };
	u32 off = 0, n, len;

	read_addresses(&rx.pkt, t->l3);
	sroce_train_icrc_init(&rx.icrc, t->l3, sizeof(t->l3), t->udp);
	while (off < t->len) {
		bool ok;

		len = min(t->len - off, t->seg);
		ok = receive_one(&rx, train_at(t, off), len);
		off += len;
		rx.n++;
		n = ok && off < t->len ? receive_segs(&rx, off) : 0;
		off += n * t->seg;
		rx.n += n;
	}
	train_free(t);
}

bool without_copies;

void sroce_copy(void *to, const void *from, u32 len)
{
	if (!without_copies)
		memcpy(to, from, len);
}

int sroce_pkt_copy(const struct sroce_pkt *pkt, u32 off, void *to, u32 len)
{
	sroce_copy(to, pkt->flat + pkt->op->hdr_len + off, len);
	return 0;
}

/* Nothing is lost or overtaken, so nothing has to be kept. */
bool sroce_pkt_hold(struct sroce_qp *qp, struct sroce_pkt *pkt)
{
	(void)qp;
	(void)pkt;
	return false;
}

void sroce_pkt_release(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	(void)qp;
	(void)pkt;
}
