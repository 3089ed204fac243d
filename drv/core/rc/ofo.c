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
 * Most PSNs ahead of the expected one. A packet further ahead is not from a requester
 * with some READs in flight, but from an older connection. While it was queued, perhaps
 * for hours, each packet before it would be followed by a gap to report.
 */
#define PSN_AHEAD_MAX	0x40000

/* Copies a packet's description; the caller takes a reference to the payload. */
static struct sroce_ofo_pkt *alloc_ofo(const struct sroce_pkt *pkt)
{
	struct sroce_ofo_pkt *ofo = kmalloc(sizeof(*ofo), GFP_ATOMIC | __GFP_NOWARN);

	if (!ofo)
		return NULL;
	ofo->pkt = *pkt;
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
 * Nearly always the newest packet goes last. A retransmission goes first, or behind the
 * one before it, @near. The search ends there: the peer must not determine its length.
 */
static int insert_by_psn(struct list_head *list, struct list_head **near,
			 struct sroce_ofo_pkt *ofo)
{
	struct list_head *pos;

	pos = find_from(list, list->prev, &ofo->pkt) ?: find_from(list, list, &ofo->pkt);
	if (!pos && *near)
		pos = find_from(list, *near, &ofo->pkt);
	if (!pos)
		return -ENOMEM;
	*near = pos;
	if (pos != list && !ahead_of(&ofo->pkt, pos))
		return -EEXIST;
	list_add(&ofo->list, pos);
	*near = &ofo->list;
	return 0;
}

static int insert(struct sroce_qp *qp, struct sroce_ofo_pkt *ofo, bool first)
{
	struct list_head *queue = &qp->resp.ofo_queue;

	if (sroce_is_rc(qp))
		return insert_by_psn(queue, &qp->resp.ofo_near, ofo);
	list_add(&ofo->list, first ? queue : queue->prev);
	return 0;
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
}

/**
 * sroce_ofo_put() - queue a request for later
 * @qp: the QP, locked
 * @pkt: the packet; with RC its PSN is not before the expected one
 * @first: UC and UD: queue it before all others instead of behind them
 *
 * A loopback packet of RC is not queued: it refers to the sender's payload and would
 * hold a region.
 *
 * Return: 0, -EEXIST if it is queued already, -ENOMEM if there is no room or memory, or if
 * its place in the queue is too far from where it is searched.
 */
int sroce_ofo_put(struct sroce_qp *qp, const struct sroce_pkt *pkt, bool first)
{
	struct sroce_resp *resp = &qp->resp;
	struct sroce_ofo_pkt *ofo;
	int ret = -ENOMEM;

	if ((pkt->loopback && sroce_is_rc(qp)) || resp->ofo_len >= resp->ofo_max)
		return ret;
	if (sroce_is_rc(qp) && sroce_psn_diff(pkt->psn, resp->psn) >= PSN_AHEAD_MAX)
		return ret;
	ofo = alloc_ofo(pkt);
	if (!ofo)
		return ret;
	ret = insert(qp, ofo, first);
	if (ret)
		goto free;
	resp->ofo_len++;
	if (sroce_pkt_hold(&ofo->pkt))
		return 0;
	unlink_ofo(resp, ofo);
	ret = -ENOMEM;

free:
	kfree(ofo);
	return ret;
}

/**
 * sroce_ofo_defer() - defer a response until its memory is faulted in
 * @qp: the QP, RC, locked
 * @pkt: the packet
 *
 * Return: false if there is no room or memory for it.
 */
bool sroce_ofo_defer(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_req *req = &qp->req;
	struct list_head *near = NULL;
	struct sroce_ofo_pkt *ofo;
	int ret;

	if (pkt->loopback || req->n_ofo_resps >= qp->resp.ofo_max)
		return false;
	ofo = alloc_ofo(pkt);
	if (!ofo)
		return false;
	ret = insert_by_psn(&req->ofo_resps, &near, ofo);
	if (ret) {
		kfree(ofo);
		return ret == -EEXIST;
	}
	if (!sroce_pkt_hold(&ofo->pkt)) {
		list_del(&ofo->list);
		kfree(ofo);
		return false;
	}
	req->n_ofo_resps++;
	return true;
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
 * @ofo: from sroce_ofo_take(), or a response that was removed from the list
 */
void sroce_ofo_free(struct sroce_ofo_pkt *ofo)
{
	sroce_pkt_release(&ofo->pkt);
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
		if (!diff)
			return ofo;
		/* its PSN is within a READ that arrived meanwhile */
		sroce_ofo_free(ofo);
	}
	return NULL;
}

/**
 * sroce_ofo_purge() - free all queued requests and deferred responses
 * @qp: the QP, locked
 */
void sroce_ofo_purge(struct sroce_qp *qp)
{
	struct sroce_ofo_pkt *ofo, *next;

	while ((ofo = first_ofo(&qp->resp))) {
		unlink_ofo(&qp->resp, ofo);
		sroce_ofo_free(ofo);
	}
	list_for_each_entry_safe(ofo, next, &qp->req.ofo_resps, list)
		sroce_ofo_free(ofo);
	INIT_LIST_HEAD(&qp->req.ofo_resps);
	qp->req.n_ofo_resps = 0;
}
