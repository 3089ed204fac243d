// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Packets that can't be executed yet.
 *
 * Requests that arrive after a gap wait here until it is filled, and are then executed
 * in order. The peer can't tell, but has less to retransmit. Requests whose memory is
 * being faulted in wait here, too, those of UC and UD in order of arrival. So do
 * responses: if they were requested again instead, their pages could be gone again by
 * the time the next copy arrives.
 */

#include <linux/slab.h>
#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/rc/ofo.h"

/*
 * Most PSNs ahead of the expected one, besides those of the responses to READs that are
 * queued: two of the largest windows. What is further ahead is from an older connection,
 * or from somebody who guesses PSNs, and the fewer are accepted, the more he must try. It
 * may also follow a READ that is lost. Then it is retransmitted.
 */
#define PSN_AHEAD_MAX	(2 * SROCE_CWND_MAX)

/*
 * Requests, in a row, of which the peer has asked for an ACK again, before it is taken to have sent
 * nothing but these: where 30 % of all packets are lost, three are no rarity.
 */
#define DUPLICATES_MAX	8

/* Payload bytes that are compared at a time */
#define COMPARE_BYTES	128U

/* Copies a packet's description, and holds its payload. */
static struct sroce_ofo_pkt *new_ofo(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_ofo_pkt *ofo = kmalloc(sizeof(*ofo), GFP_ATOMIC | __GFP_NOWARN);

	if (!ofo)
		return NULL;
	ofo->pkt = *pkt;
	if (!sroce_pkt_hold(qp, &ofo->pkt)) {
		kfree(ofo);
		return NULL;
	}
	ofo->read_psns = 0;
	/* only datagrams have it; the original may be freed earlier */
	if (pkt->l3_len)
		memcpy(ofo->l3, pkt->l3, pkt->l3_len);
	ofo->pkt.l3 = ofo->l3;
	return ofo;
}

/* How far a packet is ahead of one in a list */
static s32 ahead_of(const struct sroce_pkt *pkt, const struct list_head *pos)
{
	return sroce_psn_diff(pkt->psn, list_entry(pos, struct sroce_ofo_pkt, list)->pkt.psn);
}

/*
 * Walk from @pos to the newest packet that is not ahead of @pkt, or to the head of the list.
 * Return: NULL if that is too far.
 */
static struct list_head *find_from(struct list_head *list, struct list_head *pos,
				   const struct sroce_pkt *pkt)
{
	u32 steps = SROCE_OFO_SCAN_MAX;

	for (; pos != list && ahead_of(pkt, pos) < 0; pos = pos->prev)
		if (!steps--)
			return NULL;
	for (; pos->next != list && ahead_of(pkt, pos->next) >= 0; pos = pos->next)
		if (!steps--)
			return NULL;
	return pos;
}

/*
 * Find the packet that @pkt goes behind. Nearly always the newest packet goes last. A
 * retransmission goes first, or behind the one before it, @near. The search ends there: the
 * peer must not determine its length. @near is set to the place.
 *
 * Return: 0, -EEXIST if a packet with this PSN is at the place, -ENOMEM if it is too far.
 */
static int find_place(struct list_head *list, struct list_head **near,
		      const struct sroce_pkt *pkt)
{
	struct list_head *pos;

	pos = find_from(list, list->prev, pkt) ?: find_from(list, list, pkt);
	if (!pos && *near)
		pos = find_from(list, *near, pkt);
	if (!pos)
		return -ENOMEM;
	*near = pos;
	return pos != list && !ahead_of(pkt, pos) ? -EEXIST : 0;
}

static struct sroce_ofo_pkt *first_ofo(struct sroce_resp *resp)
{
	return list_first_entry_or_null(&resp->ofo_queue, struct sroce_ofo_pkt, list);
}

static void unlink_ofo(struct sroce_resp *resp, struct sroce_ofo_pkt *ofo)
{
	if (resp->ofo_near == &ofo->list)
		resp->ofo_near = NULL;
	list_del(&ofo->list);
	resp->ofo_len--;
	resp->ofo_read_psns -= ofo->read_psns;
}

/*
 * READs count for no more than a requester like us has outstanding. Otherwise a forged one
 * of 2 GB had most of all PSNs accepted. What is beyond is retransmitted.
 */
static bool is_too_far(const struct sroce_resp *resp, const struct sroce_pkt *pkt)
{
	return sroce_psn_diff(pkt->psn, resp->psn) >=
	       (s64)(PSN_AHEAD_MAX + min_t(u64, resp->ofo_read_psns, SROCE_READ_AHEAD));
}

/* Fields that a packet of this opcode does not have are 0. */
static bool same_headers(const struct sroce_pkt *a, const struct sroce_pkt *b)
{
	return a->opcode == b->opcode && a->pkey == b->pkey &&
	       a->va == b->va && a->rkey == b->rkey && a->length == b->length &&
	       a->swap_add == b->swap_add && a->compare == b->compare &&
	       a->imm == b->imm && a->inv_rkey == b->inv_rkey && a->feth == b->feth &&
	       a->payload_len == b->payload_len;
}

static bool same_payload(const struct sroce_pkt *a, const struct sroce_pkt *b)
{
	u8 x[COMPARE_BYTES], y[COMPARE_BYTES];
	u32 off, n;

	for (off = 0; off < a->payload_len; off += n) {
		n = min(a->payload_len - off, COMPARE_BYTES);
		if (sroce_pkt_copy(a, off, x, n) || sroce_pkt_copy(b, off, y, n) ||
		    memcmp(x, y, n))
			return false;
	}
	return true;
}

/*
 * A packet has the PSN of one that is queued, at resp.ofo_near. If they don't ask for the
 * same, one of them is forged, and nobody knows which. Both are dropped: the peer
 * retransmits its own. ICRCs are no help: the IPv4 identification of a retransmission and
 * its AckReq differ. One that asks for an ACK may be the last that is sent before that comes.
 */
static int compare_with_queued(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_ofo_pkt *ofo = list_entry(qp->resp.ofo_near, struct sroce_ofo_pkt, list);

	if (same_headers(&ofo->pkt, pkt) && same_payload(&ofo->pkt, pkt)) {
		ofo->pkt.ackreq |= pkt->ackreq;
		qp->resp.ofo_duplicates = 0;
		return -EEXIST;
	}
	unlink_ofo(&qp->resp, ofo);
	sroce_ofo_free(qp, ofo);
	sroce_count(qp, SROCE_CNT_OFO_CONFLICT);
	return -EBADMSG;
}

/* Place of a request of RC, or why it is not queued. */
static int find_place_rc(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	int ret;

	/* it may refer to the sender's payload, and would hold a region */
	if (pkt->loopback || is_too_far(resp, pkt))
		return -ENOMEM;
	ret = find_place(&resp->ofo_queue, &resp->ofo_near, pkt);
	return ret == -EEXIST ? compare_with_queued(qp, pkt) : ret;
}

static u32 read_psns(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return pkt->op->flags & SROCE_READING ? sroce_psn_count(pkt->length, qp->mtu) : 0;
}

static void link_ofo(struct sroce_resp *resp, struct sroce_ofo_pkt *ofo, struct list_head *pos)
{
	resp->ofo_duplicates = 0;
	list_add(&ofo->list, pos);
	resp->ofo_near = &ofo->list;
	resp->ofo_len++;
	resp->ofo_read_psns += ofo->read_psns;
}

/* Queue a packet behind @pos. */
static int queue_behind(struct sroce_qp *qp, struct list_head *pos, const struct sroce_pkt *pkt)
{
	struct sroce_resp *resp = &qp->resp;
	struct sroce_ofo_pkt *ofo;

	if (resp->ofo_len >= resp->ofo_max)
		return -ENOMEM;
	ofo = new_ofo(qp, pkt);
	if (!ofo)
		return -ENOMEM;
	ofo->read_psns = read_psns(qp, pkt);
	link_ofo(resp, ofo, pos);
	return 0;
}

/*
 * Whether a packet is worth the memory: one that is longer than those of its connection is refused
 * when it is its turn. The parser takes any length that a datagram can have.
 */
static bool is_worth_keeping(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return pkt->loopback || qp->svc == SROCE_SVC_UD || pkt->payload_len <= qp->mtu;
}

/* A request was dropped; RC asks for it again, see sroce_ofo_lacks(). */
static void note_dropped(struct sroce_resp *resp, u32 psn)
{
	if (!resp->ofo_dropped || sroce_psn_diff(psn, resp->ofo_dropped_psn) > 0)
		resp->ofo_dropped_psn = psn;
	resp->ofo_dropped = true;
}

/**
 * sroce_ofo_put() - queue a request for later
 * @qp: the QP, locked
 * @pkt: the packet; with RC its PSN is not before the expected one
 *
 * Requests of UC and UD are queued in order of arrival, those of RC in that of their PSNs. A
 * loopback packet of RC is not queued.
 *
 * Return: 0; -EEXIST if it is queued already; -EBADMSG if another request was queued with its
 * PSN, which is dropped, too; -ENOMEM if there is no room or memory, if its PSN or its place in
 * the queue is too far away, or if it is too long.
 */
int sroce_ofo_put(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct list_head *queue = &qp->resp.ofo_queue;
	int ret;

	if (!is_worth_keeping(qp, pkt))
		ret = -ENOMEM;
	else if (sroce_is_rc(qp))
		ret = find_place_rc(qp, pkt) ?: queue_behind(qp, qp->resp.ofo_near, pkt);
	else
		ret = queue_behind(qp, queue->prev, pkt);
	if (ret && ret != -EEXIST)
		note_dropped(&qp->resp, pkt->psn);
	return ret;
}

/**
 * sroce_ofo_is_ahead() - whether a packet is ahead of all that are queued
 * @resp: the responder, RC, of a locked QP
 * @psn: that of the packet
 *
 * What is not was sent when the requester had gone back. What is may be new, and the packets before
 * it late.
 */
bool sroce_ofo_is_ahead(const struct sroce_resp *resp, u32 psn)
{
	const struct list_head *last = resp->ofo_queue.prev;

	return last == &resp->ofo_queue ||
	       sroce_psn_diff(psn, list_entry(last, struct sroce_ofo_pkt, list)->pkt.psn) > 0;
}

/**
 * sroce_ofo_lacks() - whether requests were dropped that have not come again
 * @qp: the QP, RC, locked; nothing is queued
 *
 * Return: true once: the peer is to be told.
 */
bool sroce_ofo_lacks(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;
	bool dropped = resp->ofo_dropped;

	resp->ofo_dropped = false;
	return dropped && sroce_psn_diff(resp->ofo_dropped_psn, resp->psn) >= 0;
}

/**
 * sroce_ofo_ask() - have the request at resp.psn, if it is queued, ask for an ACK
 * @qp: the QP, RC, locked; a duplicate of the request has asked for one
 */
void sroce_ofo_ask(struct sroce_qp *qp)
{
	struct sroce_ofo_pkt *ofo = first_ofo(&qp->resp);

	if (ofo && ofo->pkt.psn == qp->resp.psn)
		ofo->pkt.ackreq = true;
}

/**
 * sroce_ofo_defer() - defer a response until its memory is faulted in
 * @qp: the QP, RC, locked
 * @pkt: the packet
 *
 * Of two responses with one PSN the first is kept. They may differ: what a READ reads may
 * change.
 *
 * Return: 0; -EEXIST if one with its PSN is deferred; -ENOMEM if there is no room or memory.
 */
int sroce_ofo_defer(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct list_head *pos = NULL;
	struct sroce_req *req = &qp->req;
	struct sroce_ofo_pkt *ofo;
	int ret;

	if (pkt->loopback || req->n_ofo_resps >= qp->resp.ofo_max)
		return -ENOMEM;
	ret = find_place(&req->ofo_resps, &pos, pkt);
	if (ret)
		return ret;
	ofo = new_ofo(qp, pkt);
	if (!ofo)
		return -ENOMEM;
	list_add(&ofo->list, pos);
	req->n_ofo_resps++;
	return 0;
}

/**
 * sroce_ofo_defer_again() - put a deferred response back into the list
 * @qp: the QP, RC, locked
 * @ofo: the response; its PSN is beyond those in the list
 */
void sroce_ofo_defer_again(struct sroce_qp *qp, struct sroce_ofo_pkt *ofo)
{
	list_add_tail(&ofo->list, &qp->req.ofo_resps);
	qp->req.n_ofo_resps++;
}

/**
 * sroce_ofo_free() - free a queued packet and release its payload
 * @qp: the QP, locked
 * @ofo: from sroce_ofo_take(), or a response that was removed from the list
 */
void sroce_ofo_free(struct sroce_qp *qp, struct sroce_ofo_pkt *ofo)
{
	sroce_pkt_release(qp, &ofo->pkt);
	kfree(ofo);
}

/**
 * sroce_ofo_take() - remove the request that is next from the queue
 * @qp: the QP, locked
 *
 * With RC that is the request with the expected PSN, otherwise the oldest.
 *
 * Return: the request, to be freed by sroce_ofo_free(), or NULL.
 */
struct sroce_ofo_pkt *sroce_ofo_take(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;
	struct sroce_ofo_pkt *ofo;

	while ((ofo = first_ofo(resp))) {
		s32 diff = sroce_is_rc(qp) ?
			   sroce_psn_diff(ofo->pkt.psn, resp->psn) : 0;

		if (diff > 0)
			return NULL;
		unlink_ofo(resp, ofo);
		resp->ofo_duplicates = 0;
		if (!diff)
			return ofo;
		/* its PSN is within a READ that arrived meanwhile */
		sroce_ofo_free(qp, ofo);
	}
	return NULL;
}

/**
 * sroce_ofo_put_back() - put a request back to where it was taken from
 * @qp: the QP, locked
 * @ofo: from sroce_ofo_take(); nothing was queued or taken since
 */
void sroce_ofo_put_back(struct sroce_qp *qp, struct sroce_ofo_pkt *ofo)
{
	link_ofo(&qp->resp, ofo, &qp->resp.ofo_queue);
}

static void purge_requests(struct sroce_qp *qp)
{
	struct sroce_ofo_pkt *ofo;

	while ((ofo = first_ofo(&qp->resp))) {
		unlink_ofo(&qp->resp, ofo);
		sroce_ofo_free(qp, ofo);
	}
}

/**
 * sroce_ofo_duplicate() - the peer asks again for the ACK of all that was executed
 * @qp: the QP, RC, locked
 *
 * While requests are queued the NAK of the gap before them takes the place of ACKs. If they are
 * forged the peer has sent nothing at its PSN, drops it (9.7.6), and lacks an ACK each time that it
 * has sent all it had. If the peer sent them the NAK was lost, and the gap is filled soon. So when
 * it asks again for one request after the other, and nothing is queued, sent again or filled
 * meanwhile, what is queued is dropped.
 */
void sroce_ofo_duplicate(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;

	if (!resp->ofo_len || resp->paging ||
	    (resp->ofo_duplicates && resp->ofo_dup_psn == resp->psn))
		return;
	resp->ofo_dup_psn = resp->psn;
	if (++resp->ofo_duplicates < DUPLICATES_MAX)
		return;
	sroce_count_n(qp, SROCE_CNT_OFO_CONFLICT, resp->ofo_len);
	purge_requests(qp);
	resp->nak_sent = false;
}

/**
 * sroce_ofo_purge() - free all queued requests and deferred responses
 * @qp: the QP, locked
 */
void sroce_ofo_purge(struct sroce_qp *qp)
{
	struct sroce_ofo_pkt *ofo, *next;

	purge_requests(qp);
	list_for_each_entry_safe(ofo, next, &qp->req.ofo_resps, list)
		sroce_ofo_free(qp, ofo);
	INIT_LIST_HEAD(&qp->req.ofo_resps);
	qp->req.n_ofo_resps = 0;
}
