// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Requests that came after a gap wait here until it is filled, and are then
 * executed in order. The peer can't tell, but has less to send again. So do those
 * that came before the pages they go to; of UC and UD in the order they came in.
 * And so do responses: were they asked for again, pages that go as fast as they come
 * could be gone each time.
 */

#include <linux/slab.h>
#include <linux/string.h>
#include "drv/core/env.h"

/*
 * PSNs ahead of the expected one. Who is further ahead is no requester with
 * some READs under way, but a packet of an older connection; each packet until
 * its turn, perhaps hours later, would have a gap behind it to be reported.
 */
#define AHEAD_MAX	0x40000

static bool in_order(const struct sroce_qp *qp)
{
	return qp->svc == SROCE_SVC_RC;
}

/* A copy of a packet, but for what carries its payload */
static struct sroce_ofo_pkt *copy_of(const struct sroce_pkt *pkt)
{
	struct sroce_ofo_pkt *ofo = kmalloc(sizeof(*ofo), GFP_ATOMIC | __GFP_NOWARN);

	if (!ofo)
		return NULL;
	ofo->pkt = *pkt;
	/* only datagrams need it, and the original may not live as long */
	if (pkt->l3_len)
		memcpy(ofo->l3, pkt->l3, pkt->l3_len);
	ofo->pkt.l3 = ofo->l3;
	return ofo;
}

/* Return: false if it is there already. */
static bool insert_by_psn(struct list_head *list, struct sroce_ofo_pkt *ofo)
{
	struct list_head *pos;

	/* nearly always the newest goes last */
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
	struct list_head *store = &qp->resp.ofo_queue;

	if (in_order(qp))
		return insert_by_psn(store, ofo);
	list_add(&ofo->list, first ? store : store->prev);
	return true;
}

/**
 * sroce_ofo_put() - keep a request for later
 * @qp: the QP
 * @pkt: the packet; with RC its PSN is not before the expected one
 * @first: without RC: it goes before all others, and not behind them
 *
 * Of what stays on this host just UC's is kept: with RC it only refers to its
 * payload, and would hold on to a region.
 *
 * Return: 0, -EEXIST if it is there already, -ENOMEM if there is no room.
 */
int sroce_ofo_put(struct sroce_qp *qp, const struct sroce_pkt *pkt, bool first)
{
	struct sroce_resp *resp = &qp->resp;
	struct sroce_ofo_pkt *ofo;
	int ret = -ENOMEM;

	if ((pkt->loopback && in_order(qp)) || resp->ofo_len >= resp->ofo_max)
		return ret;
	if (in_order(qp) && sroce_psn_diff(pkt->psn, resp->psn) >= AHEAD_MAX)
		return ret;
	ofo = copy_of(pkt);
	if (!ofo)
		return ret;
	if (!insert(qp, ofo, first)) {
		ret = -EEXIST;
		goto forget;
	}
	if (!sroce_pkt_hold(&ofo->pkt)) {
		list_del(&ofo->list);
		goto forget;
	}
	resp->ofo_len++;
	return 0;

forget:
	kfree(ofo);
	return ret;
}

/**
 * sroce_ofo_defer() - keep a response until there are pages that it goes to
 * @qp: the QP, RC
 * @pkt: the packet
 *
 * Return: false if there is no room for it.
 */
bool sroce_ofo_defer(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_req *req = &qp->req;
	struct sroce_ofo_pkt *ofo;

	if (pkt->loopback || req->n_deferred >= qp->resp.ofo_max)
		return false;
	ofo = copy_of(pkt);
	if (!ofo)
		return false;
	if (!insert_by_psn(&req->deferred, ofo)) {
		kfree(ofo);
		return true;
	}
	if (!sroce_pkt_hold(&ofo->pkt)) {
		list_del(&ofo->list);
		kfree(ofo);
		return false;
	}
	req->n_deferred++;
	return true;
}

/**
 * sroce_ofo_defer_again() - keep a response for longer
 * @qp: the QP, RC
 * @ofo: it was kept, and is not before those that still are
 */
void sroce_ofo_defer_again(struct sroce_qp *qp, struct sroce_ofo_pkt *ofo)
{
	list_add_tail(&ofo->list, &qp->req.deferred);
	qp->req.n_deferred++;
}

/**
 * sroce_ofo_free() - be done with a packet that was kept
 * @ofo: from sroce_ofo_take(), or a response that is kept no more
 */
void sroce_ofo_free(struct sroce_ofo_pkt *ofo)
{
	sroce_pkt_release(&ofo->pkt);
	kfree(ofo);
}

static struct sroce_ofo_pkt *first(struct sroce_resp *resp)
{
	return list_first_entry_or_null(&resp->ofo_queue, struct sroce_ofo_pkt, list);
}

static void unlink(struct sroce_resp *resp, struct sroce_ofo_pkt *ofo)
{
	list_del(&ofo->list);
	resp->ofo_len--;
}

/**
 * sroce_ofo_take() - the request with the expected PSN, or the oldest
 * @qp: the QP
 *
 * Return: the request, to be freed by sroce_ofo_free(), or NULL.
 */
struct sroce_ofo_pkt *sroce_ofo_take(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;
	struct sroce_ofo_pkt *ofo;

	while ((ofo = first(resp))) {
		s32 diff = in_order(qp) ?
			   sroce_psn_diff(ofo->pkt.psn, resp->psn) : 0;

		if (diff > 0)
			return NULL;
		unlink(resp, ofo);
		if (!diff)
			return ofo;
		/* within a READ that came meanwhile */
		sroce_ofo_free(ofo);
	}
	return NULL;
}

/**
 * sroce_ofo_purge() - forget all of them
 * @qp: the QP
 */
void sroce_ofo_purge(struct sroce_qp *qp)
{
	struct sroce_ofo_pkt *ofo, *next;

	while ((ofo = first(&qp->resp))) {
		unlink(&qp->resp, ofo);
		sroce_ofo_free(ofo);
	}
	list_for_each_entry_safe(ofo, next, &qp->req.deferred, list)
		sroce_ofo_free(ofo);
	INIT_LIST_HEAD(&qp->req.deferred);
	qp->req.n_deferred = 0;
}
