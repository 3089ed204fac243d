// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* drv/core/env.h for user space: the wire, the clock, completions, lookups. */

#include <linux/slab.h>
#include "drv/core/wire/icrc.h"
#include "invariant.h"
#include "sim.h"

#define UDP_LEN 8

static void put16(u8 *p, u32 v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static void put_l3(u8 *p, const struct sroce_av *av, u32 total)
{
	if (av->v6) {
		memset(p, 0, 40);
		p[0] = 0x60 | av->tclass >> 4;
		p[1] = av->tclass << 4;
		p[7] = av->hop_limit;
		put16(p + 4, total - 40);
		p[6] = 17;
		memcpy(p + 8, av->sgid.raw, 16);
		memcpy(p + 24, av->dgid.raw, 16);
		return;
	}
	memset(p, 0, 20);
	p[0] = 0x45;
	p[1] = av->tclass;
	put16(p + 2, total);
	p[6] = 0x40;
	p[8] = av->hop_limit;
	p[9] = 17;
	memcpy(p + 12, av->sgid.raw + 12, 4);
	memcpy(p + 16, av->dgid.raw + 12, 4);
}

static struct sim_packet *packet_new(const struct sroce_av *av, u32 len)
{
	struct sim_packet *p = calloc(1, sizeof(*p));
	u8 *udp;

	p->l3_len = av->v6 ? 40 : 20;
	p->len = p->l3_len + UDP_LEN + len + SROCE_ICRC_LEN;
	p->data = malloc(p->len);
	/* shows what was not written */
	memset(p->data, SIM_FRESH_BYTE, p->len);
	put_l3(p->data, av, p->len);
	udp = p->data + p->l3_len;
	put16(udp, av->sport);
	put16(udp + 2, SROCE_UDP_PORT);
	put16(udp + 4, p->len - p->l3_len);
	put16(udp + 6, 0);
	return p;
}

void sim_packet_free(struct sim_packet *p)
{
	if (p->lbpkt) {
		p->from->sim->lb_frags -= p->lbpkt->n;
		sroce_lbpkt_free(p->lbpkt);
	}
	free(p->data);
	free(p);
}

struct sim_packet *sim_packet_copy(const struct sim_packet *p)
{
	struct sim_packet *q = malloc(sizeof(*q));

	*q = *p;
	q->refs = 0;
	q->data = malloc(p->len);
	memcpy(q->data, p->data, p->len);
	return q;
}

static __le32 icrc_of(const struct sim_packet *p)
{
	const u8 *bth = sim_bth(p);
	u32 crc;

	if (p->from->sim->quick)
		return 0;
	crc = sroce_icrc_bth(sroce_icrc_net(p->data, p->l3_len, p->data + p->l3_len), bth);
	crc = sroce_icrc_data(crc, bth + SROCE_BTH_LEN,
			      p->data + p->len - SROCE_ICRC_LEN - bth -
			      SROCE_BTH_LEN);
	return sroce_icrc_final(crc);
}

void sim_seal(struct sim_packet *p)
{
	__le32 sum = icrc_of(p);

	memcpy(p->data + p->len - SROCE_ICRC_LEN, &sum, sizeof(sum));
}

void *sroce_tx_begin(struct sroce_qp *qp, struct sroce_av *av, u32 len,
		     bool response)
{
	struct sroce_kqp *kqp = qp->kqp;

	(void)response;	/* there is one queue for both */

	CHECK(!kqp->open);
	CHECK(!(len & 3));
	if (kqp->sim->tx_fails || (kqp->sim->tx_ok && !kqp->sim->tx_ok(kqp->sim, qp))) {
		sroce_count(qp, SROCE_CNT_TX_NO_MEM);
		return NULL;
	}
	kqp->open = packet_new(av, len);
	kqp->open->from = kqp;
	kqp->open_av = av;
	kqp->open_n = 1;
	kqp->open_len = len;
	return sim_bth(kqp->open);
}

/* As in the module: only behind a packet of the same size that was not sent yet */
void *sroce_tx_begin_segs(struct sroce_qp *qp, struct sroce_av *av, u32 len,
			 bool response, u32 *n)
{
	struct sroce_kqp *kqp = qp->kqp;
	u32 most = kqp->sim->max_segs ? kqp->sim->max_segs : 64, size = len + SROCE_ICRC_LEN;
	struct sim_packet *last;

	CHECK(*n > 1);
	if (!kqp->txq || most == 1)
		return NULL;
	last = container_of(kqp->txq_tail, struct sim_packet, next);
	if (last->lbpkt || sim_is_response(last) != response ||
	    last->len != last->l3_len + UDP_LEN + size)
		return NULL;
	*n = min(*n, most);
	if (!sroce_tx_begin(qp, av, *n * size - SROCE_ICRC_LEN, response))
		return NULL;
	kqp->open_n = *n;
	kqp->open_len = len;
	return sim_bth(kqp->open);
}

bool sroce_tx_can_append(struct sroce_qp *qp)
{
	return qp->kqp->sim->can_append;
}

bool sroce_tx_fits(struct sroce_qp *qp, u32 len)
{
	struct sroce_kqp *kqp = qp->kqp;
	struct sim_packet *last;

	if (!kqp->txq || kqp->sim->max_segs == 1)
		return false;
	last = container_of(kqp->txq_tail, struct sim_packet, next);
	return !last->lbpkt && !sim_is_response(last) &&
	       last->len >= last->l3_len + UDP_LEN + len + SROCE_ICRC_LEN;
}

/* There is one queue, so that it overtakes nothing, unless a test says so. */
bool sroce_tx_join(struct sroce_qp *qp, u32 len)
{
	CHECK(sroce_tx_fits(qp, len));
	return !qp->kqp->sim->overtakes;
}

void sroce_tx_idle(struct sroce_qp *qp)
{
	(void)qp;
}

u32 sroce_tx_room(struct sroce_qp *qp, bool response)
{
	struct sim *s = qp->kqp->sim;

	return s->tx_room ? s->tx_room(s, qp, response) : ~0u;
}

bool sroce_tx_wait_room(struct sroce_qp *qp, bool response)
{
	return sroce_tx_room(qp, response);
}

bool sroce_tx_pending(struct sroce_qp *qp)
{
	struct sim *s = qp->kqp->sim;

	return s->tx_pending && s->tx_pending(s, qp);
}

/* No packet may be sent that the other side would call malformed. */
static void check_sent(const struct sim_packet *p)
{
	u32 len = p->len - p->l3_len - UDP_LEN;
	struct sroce_pkt pkt = {};
	u32 i;

	CHECK_EQ(sroce_pkt_parse(&pkt, sim_bth(p), len, len), 0);
	CHECK(!pkt.bad_length);
	for (i = 0; i < pkt.pad; i++)
		CHECK_EQ(p->data[p->len - SROCE_ICRC_LEN - 1 - i], 0);
}

static void commit(struct sroce_kqp *kqp, struct sim_packet *p)
{
	sim_seal(p);
	check_sent(p);
	sroce_count(&kqp->qp, SROCE_CNT_TX_PACKETS);
	*kqp->txq_tail = p;
	kqp->txq_tail = &p->next;
}

void sroce_tx_commit(struct sroce_qp *qp, u32 n)
{
	struct sroce_kqp *kqp = qp->kqp;
	struct sim_packet *p = kqp->open, *q;
	u32 i;

	CHECK(n && n <= kqp->open_n);
	kqp->open = NULL;
	if (kqp->open_n == 1) {
		commit(kqp, p);
		return;
	}
	for (i = 0; i < n; i++) {
		q = packet_new(kqp->open_av, kqp->open_len);
		q->from = kqp;
		memcpy(sim_bth(q), sim_bth(p) + i * (kqp->open_len + SROCE_ICRC_LEN),
		       kqp->open_len);
		commit(kqp, q);
	}
	sim_packet_free(p);
}

void sroce_tx_abort(struct sroce_qp *qp)
{
	sim_packet_free(qp->kqp->open);
	qp->kqp->open = NULL;
}

u32 sroce_raw_max(struct sroce_qp *qp)
{
	(void)qp;
	return SIM_FRAME_MAX;
}

/* UD has no path MTU: here the attribute stands for the port's. */
u32 sroce_ud_max(struct sroce_qp *qp)
{
	return 128 << qp->attr.path_mtu;
}

int sroce_raw_tx(struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	struct sroce_kqp *kqp = qp->kqp;
	int ret;

	CHECK(wqe->length >= 14 && wqe->length <= SIM_FRAME_MAX);
	ret = sroce_wqe_gather(qp, wqe, 0, kqp->frame, wqe->length);
	if (!ret) {
		kqp->frame_len = wqe->length;
		kqp->frames++;
	}
	return ret;
}

bool sroce_loopback_usable(struct sroce_qp *qp)
{
	return qp->kqp->sim->loopback && qp->svc != SROCE_SVC_UD;
}

void sroce_loopback_tx(struct sroce_qp *qp, struct sroce_lbpkt *lbpkt)
{
	struct sroce_kqp *kqp = qp->kqp;
	struct sim *s = kqp->sim;
	struct sim_packet *p;

	if (s->tx_fails || (s->tx_ok && !s->tx_ok(s, qp))) {
		sroce_count(qp, SROCE_CNT_TX_NO_MEM);
		sroce_lbpkt_free(lbpkt);
		return;
	}
	p = calloc(1, sizeof(*p));
	p->from = kqp;
	p->lbpkt = lbpkt;
	lbpkt->pkt.sgid = qp->av.sgid;
	lbpkt->pkt.dgid = qp->av.dgid;
	s->lb_frags += lbpkt->n;
	sroce_count(qp, SROCE_CNT_LOOPBACK_PACKETS);
	kqp->counters.c[SROCE_CNT_LOOPBACK_BYTES] += lbpkt->pkt.payload_len;
	*kqp->txq_tail = p;
	kqp->txq_tail = &p->next;
}

int sroce_pkt_copy(const struct sroce_pkt *pkt, u32 off, void *to, u32 len)
{
	const struct sim_packet *p = pkt->carrier;
	u64 from = (u64)pkt->carrier_off + pkt->op->hdr_len + off;

	if (pkt->segs) {
		u32 stride = pkt->seg_len + pkt->op->hdr_len + SROCE_ICRC_LEN;

		CHECK(off / stride < pkt->segs && off % stride + len <= pkt->seg_len);
	} else {
		CHECK((u64)off + len <= pkt->payload_len);
	}
	if (pkt->loopback) {
		sroce_lbpkt_copy(pkt->carrier, off, to, len);
		return 0;
	}
	if (from + len > p->len || p->from->sim->copy_fails)
		return -EFAULT;
	memcpy(to, p->data + from, len);
	return 0;
}

static void drop_ref(struct sim_packet *p)
{
	CHECK(p->refs > 0);
	if (!--p->refs)
		sim_packet_free(p);
}

bool sroce_pkt_hold(struct sroce_qp *qp, struct sroce_pkt *pkt)
{
	struct sim_packet *p = (struct sim_packet *)pkt->carrier;

	CHECK(!pkt->segs);
	(void)qp;
	if (pkt->loopback) {
		((struct sroce_lbpkt *)pkt->carrier)->refs++;
		return true;
	}
	if (p->from->sim->hold_fails)
		return false;
	p->refs++;
	p->from->sim->held++;
	return true;
}

void sroce_pkt_release(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sim_packet *p = (struct sim_packet *)pkt->carrier;

	(void)qp;
	if (pkt->loopback) {
		sroce_lbpkt_free((struct sroce_lbpkt *)pkt->carrier);
		return;
	}
	p->from->sim->held--;
	drop_ref(p);
}

bool sroce_cq_post(struct sroce_qp *qp, struct sroce_cq *cq,
		   const struct sroce_cqe *cqe, bool solicited, u32 deferred)
{
	struct sim *s = qp->kqp->sim;

	s->solicited = solicited;
	if (s->posted)
		s->posted(s, qp, cqe);
	if (cq->overflowed || cq->n == cq->max) {
		cq->overflowed = true;
		sroce_count(qp, SROCE_CNT_CQ_OVERFLOW);
		return false;
	}
	cq->e[cq->n++] = *cqe;
	qp->deferred |= deferred;
	return true;
}

struct sroce_ah *sroce_ah_get(struct sroce_qp *qp, u32 ah_num)
{
	if (ah_num >= SIM_AHS)
		return NULL;
	qp->kqp->sim->ahs[ah_num].refs++;
	return &qp->kqp->sim->ahs[ah_num];
}

struct sroce_av *sroce_ah_av(struct sroce_ah *ah)
{
	return &ah->av;
}

void sroce_ah_put(struct sroce_ah *ah)
{
	CHECK(ah->refs > 0);
	ah->refs--;
}

static bool srq_take(struct sroce_qp *qp, struct sroce_rwqe *to)
{
	struct sroce_rq *rq = &qp->srq->rq;

	if (!sroce_wqe_fetch_recv(rq, to))
		return false;
	if (rq->limit && sroce_ring_filled(&rq->ring) < rq->limit) {
		rq->limit = 0;
		qp->srq_events |= BIT(IB_EVENT_SRQ_LIMIT_REACHED);
	}
	return true;
}

bool sroce_srq_take_recv(struct sroce_qp *qp, struct sroce_rwqe *to)
{
	return qp->srq ? srq_take(qp, to) : sroce_wqe_fetch_recv(&qp->rq, to);
}

/* The simulation that the core is called from: its clock, its memory */
static struct sim *clock_of;

struct sroce_lbpkt *sroce_loopback_alloc(size_t size)
{
	return sim_kmalloc(size);
}

void sroce_loopback_release(struct sroce_lbpkt *lbpkt)
{
	free(lbpkt);
}

u64 sim_copied;

void sroce_copy(void *to, const void *from, u32 len)
{
	sim_copied += len;
	memcpy(to, from, len);
}

u64 sroce_now(void)
{
	return clock_of->now;
}

void *sim_kmalloc(size_t len)
{
	return clock_of->no_memory ? NULL : malloc(len);
}

/* As late as it may be */
void sroce_task_set_ack_timer(struct sroce_qp *qp, u64 when, u64 slack)
{
	struct sroce_kqp *kqp = qp->kqp;

	if (kqp->ack_when && kqp->ack_when <= when + slack)
		return;
	kqp->ack_when = when + slack;
	kqp->ack_set++;
}

void sroce_task_set_rnr_timer(struct sroce_qp *qp, u64 delay)
{
	qp->kqp->rnr_when = qp->kqp->sim->now + delay;
}

u32 sroce_crc32(u32 crc, const void *data, u32 len)
{
	return crc32_by_tables(crc, data, len);
}

/* QPs that are locked and hold a reference to a region */
static u32 users(const struct sim *s)
{
	u32 i, n = 0;

	for (i = 0; i < s->kqps; i++)
		n += !!s->kqp[i]->qp.last_mr;
	return n;
}

/* What the module does between taking and releasing a QP */
static void unlock_run(struct sroce_kqp *kqp)
{
	struct sim *s = kqp->sim;
	u64 delay;
	bool more;

	if (s->before_run)
		s->before_run(s, kqp);
	more = sroce_transport_run(&kqp->qp);
	/* a short queue takes no time to build */
	delay = kqp->qp.deferred & SROCE_DEFER_SEND_NOW ? 0 : s->task_delay;
	kqp->task_when = more ? s->now + delay + 1 : 0;
	kqp->events |= kqp->qp.events;
	kqp->qp.events = 0;
	kqp->srq_events |= kqp->qp.srq_events;
	kqp->qp.srq_events = 0;
	kqp->qp.deferred = 0;
	CHECK(!kqp->open);
	while (kqp->txq) {
		struct sim_packet *p = kqp->txq;

		kqp->txq = p->next;
		if (!kqp->txq)
			kqp->txq_tail = &kqp->txq;
		sim_send(s, p);
	}
	if (s->after_run)
		s->after_run(s, kqp);
	CHECK(!kqp->qp.last_mr);
	CHECK_EQ(s->mr_refs, s->lb_frags + users(s));
	if (!s->quick)
		sim_invariants(kqp);
}

static void fill_net(struct sroce_pkt *pkt, const struct sim_packet *p)
{
	const u8 *ip = p->data;

	pkt->carrier = p;
	pkt->carrier_off = p->l3_len + UDP_LEN;
	pkt->l3 = ip;
	pkt->l3_len = p->l3_len;
	pkt->vlan = 0xffff;
	pkt->ce = (p->l3_len == 40 ? ip[1] >> 4 & 3 : ip[1] & 3) == 3;
	if (p->l3_len == 40) {
		memcpy(pkt->sgid.raw, ip + 8, 16);
		memcpy(pkt->dgid.raw, ip + 24, 16);
		return;
	}
	memset(pkt->sgid.raw + 10, 0xff, 2);
	memset(pkt->dgid.raw + 10, 0xff, 2);
	memcpy(pkt->sgid.raw + 12, ip + 12, 4);
	memcpy(pkt->dgid.raw + 12, ip + 16, 4);
}

static struct sroce_kqp *kqp_of(struct sim *s, u32 qpn)
{
	u32 i;

	for (i = 0; i < s->kqps; i++)
		if (s->kqp[i]->qp.qpn == qpn && !s->kqp[i]->gone)
			return s->kqp[i];
	return NULL;
}

static struct sroce_kqp *receive_lbpkt(struct sim *s, struct sim_packet *p)
{
	struct sroce_kqp *kqp = kqp_of(s, p->lbpkt->pkt.qpn);

	if (kqp)
		sroce_transport_rx(&kqp->qp, &p->lbpkt->pkt);
	sim_packet_free(p);
	return kqp;
}

/*
 * A packet arrives; drops are counted at the receiver.
 *
 * Return: the QP that received it and has to be run, or NULL.
 */
static struct sroce_kqp *receive(struct sim *s, struct sim_packet *p)
{
	struct sroce_kqp *kqp = p->to;
	struct sroce_pkt pkt = {};
	__le32 icrc;
	int ret;
	u32 len;

	clock_of = s;
	if (p->lbpkt)
		return receive_lbpkt(s, p);
	len = p->len - p->l3_len - UDP_LEN;
	p->refs = 1;
	ret = sroce_pkt_parse(&pkt, sim_bth(p), len < SROCE_HDR_MAX ? len :
			      SROCE_HDR_MAX, len);
	if (!kqp)
		kqp = ret ? NULL : kqp_of(s, pkt.qpn);
	if (!kqp) {
		sim_packet_free(p);
		return NULL;
	}
	icrc = icrc_of(p);
	if (!ret && !memcmp(&icrc, p->data + p->len - 4, sizeof(icrc))) {
		fill_net(&pkt, p);
		if (!s->arrives || s->arrives(s, kqp, p, &pkt))
			sroce_transport_rx(&kqp->qp, &pkt);
		drop_ref(p);
		return kqp;
	}
	kqp->counters.c[ret ? SROCE_CNT_RX_MALFORMED : SROCE_CNT_RX_ICRC]++;
	drop_ref(p);
	return NULL;
}

void sim_deliver(struct sim *s, struct sim_packet *p)
{
	struct sroce_kqp *kqp = receive(s, p);

	if (kqp)
		unlock_run(kqp);
}

void sim_deliver_two(struct sim *s, struct sim_packet *p, struct sim_packet *q)
{
	receive(s, p);
	sim_deliver(s, q);
}

/* Whether @p is @n packets after one that had @bth, and differs in PSN only */
static bool continues(const struct sim_packet *p, const u8 *bth, u32 len, u32 n)
{
	u32 psn = (bth[9] << 16 | bth[10] << 8 | bth[11]) + n;
	const u8 *b;
	__le32 icrc;

	if (p->lbpkt || p->to || p->len != len)
		return false;
	b = sim_bth(p);
	icrc = icrc_of(p);
	return !memcmp(b, bth, 8) && !b[8] && sim_psn(p) == (psn & SROCE_PSN_MASK) &&
	       !memcmp(&icrc, p->data + p->len - 4, sizeof(icrc));
}

/* The first @n packets of the wire, behind the network header of the first */
static void merge_segs(const struct sim *s, u32 n, struct sim_packet *all)
{
	const struct sim_packet *p = s->wire_head;
	u32 i, head = p->l3_len + UDP_LEN, size = p->len - head;

	*all = *p;
	all->len = head + n * size;
	all->data = malloc(all->len);
	memcpy(all->data, p->data, head);
	for (i = 0; i < n; i++, p = p->next)
		memcpy(all->data + head + i * size, p->data + head, size);
}

#define TRAIN_MAX	128U

/*
 * As in the module: packets that differ from the one before them, which had @bth, only
 * in their PSN, one behind the other or each where it is. Return: how many were received as
 * segments.
 */
static u32 receive_segs(struct sim *s, struct sroce_kqp *kqp, const u8 *bth,
			u32 len, u32 max)
{
	const struct sim_packet *p;
	struct sroce_pkt pkt = {};
	struct sim_packet all;
	const u8 *at[TRAIN_MAX];
	u32 i, n = 0;
	bool taken;

	if (s->max_segs == 1 || s->arrives)
		return 0;
	for (p = s->wire_head; p && n < min(max, TRAIN_MAX) && p->when <= s->now &&
	     continues(p, bth, len, n + 1); p = p->next)
		at[n++] = sim_bth(p);
	if (n < 2 || sroce_pkt_parse(&pkt, bth, SROCE_BTH_LEN, len - s->wire_head->l3_len - UDP_LEN))
		return 0;
	if (pkt.op->flags & (SROCE_START | SROCE_END) || pkt.pad)
		return 0;
	merge_segs(s, n, &all);
	fill_net(&pkt, &all);
	pkt.psn = sim_psn(s->wire_head);
	pkt.ackreq = false;
	pkt.segs = n;
	pkt.seg_at = pkt.psn & 1 && !s->copy_fails ? at : NULL;
	pkt.seg_len = pkt.payload_len;
	pkt.payload_len *= n;
	taken = sroce_transport_rx_segs(&kqp->qp, &pkt);
	free(all.data);
	for (i = 0; taken && i < n; i++)
		sim_packet_free(sim_wire_take(s));
	return taken ? n : 0;
}

/* One packet, and the segments that follow it if there are any */
static struct sroce_kqp *receive_some(struct sim *s, struct sroce_kqp *had,
					  u32 *n)
{
	struct sim_packet *p = sim_wire_take(s);
	struct sroce_kqp *kqp;
	u8 bth[SROCE_BTH_LEN];
	u32 len = 0;

	if (!p->lbpkt && !p->to) {
		memcpy(bth, sim_bth(p), sizeof(bth));
		len = p->len;
	}
	kqp = receive(s, p);
	if (had && kqp && kqp != had)
		unlock_run(had);
	++*n;
	if (kqp && len && *n < s->train)
		*n += receive_segs(s, kqp, bth, len, s->train - *n);
	return kqp ? kqp : had;
}

/* Packets that arrive together are one run of the QP, if they are for one QP. */
static void deliver_train(struct sim *s)
{
	struct sroce_kqp *kqp = NULL;
	u32 n = 0;

	do {
		kqp = receive_some(s, kqp, &n);
	} while (n < s->train && s->wire_head && s->wire_head->when <= s->now);
	if (kqp)
		unlock_run(kqp);
}

void sim_doorbell(struct sroce_kqp *kqp)
{
	if (kqp->gone)
		return;
	clock_of = kqp->sim;
	sroce_wqe_doorbell(&kqp->qp);
	if (kqp->qp.state == IB_QPS_ERR || kqp->qp.state == IB_QPS_SQE)
		sroce_flush_sq(&kqp->qp);
	if (kqp->qp.state == IB_QPS_ERR)
		sroce_flush_rq(&kqp->qp);
	unlock_run(kqp);
}

/* When the CPU of a QP does what is due at @when; 0: nothing is */
static u64 runs_at(const struct sroce_kqp *kqp, u64 when)
{
	struct sim *s = kqp->sim;

	return when && s->runs_at ? s->runs_at(s, kqp, when) : when;
}

static u64 ack_timer_at(const struct sroce_kqp *kqp)
{
	return runs_at(kqp, kqp->ack_when ? kqp->ack_when + kqp->sim->timer_late : 0);
}

static u64 earlier(u64 a, u64 b)
{
	return a && a < b ? a : b;
}

static u64 soonest(const struct sroce_kqp *kqp, u64 t)
{
	t = earlier(runs_at(kqp, kqp->task_when), t);
	t = earlier(kqp->paged_when, t);
	t = earlier(ack_timer_at(kqp), t);
	return earlier(runs_at(kqp, kqp->rnr_when), t);
}

static bool kqp_step(struct sroce_kqp *kqp, u64 t)
{
	if (runs_at(kqp, kqp->task_when) == t) {
		kqp->task_when = 0;
	} else if (kqp->paged_when == t) {
		sim_pages_in(kqp);
	} else if (ack_timer_at(kqp) == t) {
		kqp->ack_when = 0;
		sroce_retrans_timer(&kqp->qp);
	} else if (runs_at(kqp, kqp->rnr_when) == t) {
		kqp->rnr_when = 0;
		sroce_retrans_rnr_timer(&kqp->qp);
	} else {
		return false;
	}
	unlock_run(kqp);
	return true;
}

/* The next thing that happens, not after @limit */
bool sim_step_until(struct sim *s, u64 limit)
{
	struct sim_packet *p = s->wire_head;
	u64 t = p ? p->when : ~0ULL;
	u32 i;

	clock_of = s;
	for (i = 0; i < s->kqps; i++)
		t = soonest(s->kqp[i], t);
	if (t == ~0ULL || t > limit)
		return false;
	s->steps++;
	if (t > s->now)
		s->now = t;
	if (p && p->when == t) {
		deliver_train(s);
		return true;
	}
	for (i = 0; i < s->kqps && !kqp_step(s->kqp[i], t); i++)
		;
	return true;
}

bool sim_step(struct sim *s)
{
	return sim_step_until(s, ~0ULL);
}

/* Until nothing is left to do: no packet, no timer */
void sim_run(struct sim *s)
{
	u32 limit = s->steps + 2000000;

	while (sim_step(s)) {
		if (s->steps == limit) {
			CHECK(!"comes to rest");
			break;
		}
	}
}

void sim_run_until(struct sim *s, u64 when)
{
	while (sim_step_until(s, when))
		;
	if (s->now < when)
		s->now = when;
}

struct sim_packet *sim_forge(struct sroce_kqp *from, struct sroce_pkt *pkt,
			     const void *data)
{
	struct sim_packet *p;
	u8 *bth;

	pkt->op = sroce_opcode_of(pkt->opcode);
	pkt->pad = -pkt->payload_len & 3;
	p = packet_new(&from->qp.av, pkt->op->hdr_len + pkt->payload_len +
		       pkt->pad);
	p->from = from;
	bth = sim_bth(p);
	sroce_pkt_build(pkt, bth);
	if (data)
		memcpy(bth + pkt->op->hdr_len, data, pkt->payload_len);
	memset(bth + pkt->op->hdr_len + pkt->payload_len, 0, pkt->pad);
	sim_seal(p);
	return p;
}
