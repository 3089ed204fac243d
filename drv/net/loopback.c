// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Parcels, the packets that stay on this host: from one QP to the other without
 * the IP stack, with no more than one copy of the payload.
 */

#include <linux/moduleparam.h>
#include <linux/slab.h>
#include "drv/dev.h"

/* A parcel of this size holds what is copied and what has few pieces. */
#define SMALL	(sizeof(struct sroce_lbpkt) + SROCE_LBPKT_COPY_MAX)

static struct kmem_cache *small_parcels;

static bool loopback = true;
module_param(loopback, bool, 0644);
MODULE_PARM_DESC(loopback, "New devices bypass the IP stack for peers on this host");

/**
 * sroce_loopback_default() - whether new devices use the bypass
 */
bool sroce_loopback_default(void)
{
	return READ_ONCE(loopback);
}

/**
 * sroce_loopback_alloc() - memory of a parcel
 * @size: bytes
 *
 * Return: the parcel, with nothing but @size set, or NULL.
 */
struct sroce_lbpkt *sroce_loopback_alloc(size_t size)
{
	const gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	struct sroce_lbpkt *lbpkt;

	if (size <= SMALL)
		lbpkt = kmem_cache_alloc(small_parcels, gfp);
	else
		lbpkt = kmalloc(size, gfp);
	if (lbpkt)
		lbpkt->size = size;
	return lbpkt;
}

/**
 * sroce_loopback_release() - give the memory of a parcel back
 * @lbpkt: the parcel
 */
void sroce_loopback_release(struct sroce_lbpkt *lbpkt)
{
	if (lbpkt->size <= SMALL)
		kmem_cache_free(small_parcels, lbpkt);
	else
		kfree(lbpkt);
}

/* What is constructed once is not cleared each time it is given out. */
static void construct(void *lbpkt)
{
	memset(lbpkt, 0, SMALL);
}

/**
 * sroce_loopback_init() - prepare for parcels
 *
 * Return: 0 or -ENOMEM
 */
int __init sroce_loopback_init(void)
{
	small_parcels = kmem_cache_create("sroce_lbpkt", SMALL, 0,
					  SLAB_HWCACHE_ALIGN, construct);
	return small_parcels ? 0 : -ENOMEM;
}

/**
 * sroce_loopback_exit() - undo sroce_loopback_init()
 */
void sroce_loopback_exit(void)
{
	kmem_cache_destroy(small_parcels);
}

/**
 * sroce_loopback_usable() - whether the QP's peer can be reached without a wire
 * @qp: the QP, locked
 */
bool sroce_loopback_usable(struct sroce_qp *qp)
{
	if (qp->svc == SROCE_SVC_UD || qp->lb_copy_only || !READ_ONCE(qp->dev->loopback))
		return false;
	return sroce_route_is_local(qp->dev, &qp->av);
}

/**
 * sroce_loopback_tx() - queue a parcel
 * @qp: the QP, locked
 * @lbpkt: the parcel
 */
void sroce_loopback_tx(struct sroce_qp *qp, struct sroce_lbpkt *lbpkt)
{
	struct sroce_pkt *pkt = &lbpkt->pkt;
	bool response = pkt->op->flags & SROCE_RESPONSE;

	pkt->sgid = qp->av.sgid;
	pkt->dgid = qp->av.dgid;
	pkt->vlan = 0xffff;
	sroce_count(qp, SROCE_CNT_LOOPBACK_PACKETS);
	this_cpu_add(qp->counters->c[SROCE_CNT_LOOPBACK_BYTES], pkt->payload_len);
	list_add_tail(&lbpkt->list, &sroce_txq(qp->kqp, response)->lbpkts);
}

static struct sroce_kqp *find_qp(struct sroce_dev *dev, u32 qpn)
{
	struct sroce_kqp *kqp;

	rcu_read_lock();
	kqp = xa_load(&sroce_qp_tbl, qpn);
	if (kqp && !refcount_inc_not_zero(&kqp->ref))
		kqp = NULL;
	rcu_read_unlock();
	if (!kqp)
		return NULL;
	if (kqp->qp->dev->sn == dev->sn)
		return kqp;
	sroce_qp_tbl_put(kqp);
	return NULL;
}

static struct sroce_lbpkt *first(struct list_head *list)
{
	return list_first_entry_or_null(list, struct sroce_lbpkt, list);
}

static void unpack(struct sroce_lbpkt *lbpkt)
{
	list_del(&lbpkt->list);
	sroce_lbpkt_free(lbpkt);
}

/**
 * sroce_loopback_purge() - forget parcels
 * @list: the parcels; empty afterwards
 */
void sroce_loopback_purge(struct list_head *list)
{
	struct sroce_lbpkt *lbpkt;

	while ((lbpkt = first(list)))
		unpack(lbpkt);
}

/**
 * sroce_task_deliver() - hand parcels to the QP they are for
 * @dev: whose they are
 * @list: parcels of one QP to its peer, in order; empty afterwards
 *
 * Called with bottom halves disabled and no lock held. What the peer answers
 * may come back before this returns.
 */
void sroce_task_deliver(struct sroce_dev *dev, struct list_head *list)
{
	struct sroce_lbpkt *lbpkt = first(list);
	struct sroce_kqp *kqp;

	if (!lbpkt)
		return;
	kqp = find_qp(dev, lbpkt->pkt.qpn);
	if (!kqp) {
		this_cpu_inc(dev->counters->c[SROCE_CNT_RX_NO_QP]);
		sroce_loopback_purge(list);
		return;
	}
	sroce_task_lock(kqp->qp);
	while ((lbpkt = first(list))) {
		sroce_transport_rx(kqp->qp, &lbpkt->pkt);
		unpack(lbpkt);
	}
	sroce_task_unlock_run(kqp->qp);
	sroce_qp_tbl_put(kqp);
}
