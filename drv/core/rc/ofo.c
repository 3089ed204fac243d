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

/* Return: false if a packet with this PSN is queued already. */
static bool insert_by_psn(struct list_head *list, struct sroce_ofo_pkt *ofo)
{
	struct list_head *pos;

	/* nearly always the newest packet goes last */
	list_for_each_prev(pos, list) {
		const struct sroce_ofo_pkt *k =
			list_entry(pos, struct sroce_ofo_pkt, list);
		s32 diff = sroce_psn_diff(ofo->pkt.psn, k->pkt.psn);

		if (!diff)
			return false;
		if (diff > 0)
			break;
	}
	list_add(&ofo->list, pos);
	return true;
}

static bool insert(struct sroce_qp *qp, struct sroce_ofo_pkt *ofo, bool first)
{
	struct list_head *queue = &qp->resp.ofo_queue;

	if (sroce_is_rc(qp))
		return insert_by_psn(queue, ofo);
	list_add(&ofo->list, first ? queue : queue->prev);
	return true;
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
 * Return: 0, -EEXIST if it is queued already, -ENOMEM if there is no room or memory.
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
	if (!insert(qp, ofo, first)) {
		ret = -EEXIST;
		goto free;
	}
	if (!sroce_pkt_hold(&ofo->pkt)) {
		list_del(&ofo->list);
		goto free;
	}
	resp->ofo_len++;
	return 0;

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
	struct sroce_ofo_pkt *ofo;

	if (pkt->loopback || req->n_ofo_resps >= qp->resp.ofo_max)
		return false;
	ofo = alloc_ofo(pkt);
	if (!ofo)
		return false;
	if (!insert_by_psn(&req->ofo_resps, ofo)) {
		kfree(ofo);
		return true;
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

static struct sroce_ofo_pkt *first_ofo(struct sroce_resp *resp)
{
	return list_first_entry_or_null(&resp->ofo_queue, struct sroce_ofo_pkt, list);
}

static void unlink_ofo(struct sroce_resp *resp, struct sroce_ofo_pkt *ofo)
{
	list_del(&ofo->list);
	resp->ofo_len--;
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
