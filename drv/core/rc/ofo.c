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
static struct sroce_kept *copy_of(const struct sroce_pkt *pkt)
{
	struct sroce_kept *kept = kmalloc(sizeof(*kept), GFP_ATOMIC | __GFP_NOWARN);

	if (!kept)
		return NULL;
	kept->pkt = *pkt;
	/* only datagrams need it, and the original may not live as long */
	if (pkt->l3_len)
		memcpy(kept->l3, pkt->l3, pkt->l3_len);
	kept->pkt.l3 = kept->l3;
	return kept;
}

/* Return: false if it is there already. */
static bool insert_by_psn(struct list_head *list, struct sroce_kept *kept)
{
	struct list_head *pos;

	/* nearly always the newest goes last */
	list_for_each_prev(pos, list) {
		const struct sroce_kept *k =
			list_entry(pos, struct sroce_kept, list);
		s32 diff = sroce_psn_diff(kept->pkt.psn, k->pkt.psn);

		if (!diff)
			return false;
		if (diff > 0)
			break;
	}
	list_add(&kept->list, pos);
	return true;
}

static bool insert(struct sroce_qp *qp, struct sroce_kept *kept, bool first)
{
	struct list_head *store = &qp->resp.store;

	if (in_order(qp))
		return insert_by_psn(store, kept);
	list_add(&kept->list, first ? store : store->prev);
	return true;
}

/**
 * sroce_store_put() - keep a request for later
 * @qp: the QP
 * @pkt: the packet; with RC its PSN is not before the expected one
 * @first: without RC: it goes before all others, and not behind them
 *
 * Of what stays on this host just UC's is kept: with RC it only refers to its
 * payload, and would hold on to a region.
 *
 * Return: 0, -EEXIST if it is there already, -ENOMEM if there is no room.
 */
int sroce_store_put(struct sroce_qp *qp, const struct sroce_pkt *pkt, bool first)
{
	struct sroce_resp *resp = &qp->resp;
	struct sroce_kept *kept;
	int ret = -ENOMEM;

	if ((pkt->local && in_order(qp)) || resp->stored >= resp->store_max)
		return ret;
	if (in_order(qp) && sroce_psn_diff(pkt->psn, resp->psn) >= AHEAD_MAX)
		return ret;
	kept = copy_of(pkt);
	if (!kept)
		return ret;
	if (!insert(qp, kept, first)) {
		ret = -EEXIST;
		goto forget;
	}
	if (!sroce_pkt_hold(&kept->pkt)) {
		list_del(&kept->list);
		goto forget;
	}
	resp->stored++;
	return 0;

forget:
	kfree(kept);
	return ret;
}

/**
 * sroce_store_late() - keep a response until there are pages that it goes to
 * @qp: the QP, RC
 * @pkt: the packet
 *
 * Return: false if there is no room for it.
 */
bool sroce_store_late(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	struct sroce_req *req = &qp->req;
	struct sroce_kept *kept;

	if (pkt->local || req->lates >= qp->resp.store_max)
		return false;
	kept = copy_of(pkt);
	if (!kept)
		return false;
	if (!insert_by_psn(&req->late, kept)) {
		kfree(kept);
		return true;
	}
	if (!sroce_pkt_hold(&kept->pkt)) {
		list_del(&kept->list);
		kfree(kept);
		return false;
	}
	req->lates++;
	return true;
}

/**
 * sroce_store_late_again() - keep a response for longer
 * @qp: the QP, RC
 * @kept: it was kept, and is not before those that still are
 */
void sroce_store_late_again(struct sroce_qp *qp, struct sroce_kept *kept)
{
	list_add_tail(&kept->list, &qp->req.late);
	qp->req.lates++;
}

/**
 * sroce_store_free() - be done with a packet that was kept
 * @kept: from sroce_store_take(), or a response that is kept no more
 */
void sroce_store_free(struct sroce_kept *kept)
{
	sroce_pkt_release(&kept->pkt);
	kfree(kept);
}

static struct sroce_kept *first(struct sroce_resp *resp)
{
	return list_first_entry_or_null(&resp->store, struct sroce_kept, list);
}

static void unlink(struct sroce_resp *resp, struct sroce_kept *kept)
{
	list_del(&kept->list);
	resp->stored--;
}

/**
 * sroce_store_take() - the request with the expected PSN, or the oldest
 * @qp: the QP
 *
 * Return: the request, to be freed by sroce_store_free(), or NULL.
 */
struct sroce_kept *sroce_store_take(struct sroce_qp *qp)
{
	struct sroce_resp *resp = &qp->resp;
	struct sroce_kept *kept;

	while ((kept = first(resp))) {
		s32 diff = in_order(qp) ?
			   sroce_psn_diff(kept->pkt.psn, resp->psn) : 0;

		if (diff > 0)
			return NULL;
		unlink(resp, kept);
		if (!diff)
			return kept;
		/* within a READ that came meanwhile */
		sroce_store_free(kept);
	}
	return NULL;
}

/**
 * sroce_store_purge() - forget all of them
 * @qp: the QP
 */
void sroce_store_purge(struct sroce_qp *qp)
{
	struct sroce_kept *kept, *next;

	while ((kept = first(&qp->resp))) {
		unlink(&qp->resp, kept);
		sroce_store_free(kept);
	}
	list_for_each_entry_safe(kept, next, &qp->req.late, list)
		sroce_store_free(kept);
	INIT_LIST_HEAD(&qp->req.late);
	qp->req.lates = 0;
}
