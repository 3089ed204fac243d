// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Parcels, the packets that stay on this host: from one QP to the other without
 * the IP stack, with no more than one copy of the payload.
 */

#include <linux/moduleparam.h>
#include <linux/slab.h>
#include "drv/dev.h"

/* A parcel of this size holds what is copied and what has few pieces. */
#define SMALL	(sizeof(struct sroce_parcel) + SROCE_PARCEL_COPIED)

static struct kmem_cache *small_parcels;

static bool local = true;
module_param(local, bool, 0644);
MODULE_PARM_DESC(local, "New devices: what stays on this host bypasses the IP stack");

/**
 * sroce_parcel_default() - whether new devices use the bypass
 */
bool sroce_parcel_default(void)
{
	return READ_ONCE(local);
}

/**
 * sroce_parcel_alloc() - memory of a parcel
 * @size: bytes
 *
 * Return: the parcel, with nothing but @size set, or NULL.
 */
struct sroce_parcel *sroce_parcel_alloc(size_t size)
{
	const gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	struct sroce_parcel *parcel;

	if (size <= SMALL)
		parcel = kmem_cache_alloc(small_parcels, gfp);
	else
		parcel = kmalloc(size, gfp);
	if (parcel)
		parcel->size = size;
	return parcel;
}

/**
 * sroce_parcel_release() - give the memory of a parcel back
 * @parcel: the parcel
 */
void sroce_parcel_release(struct sroce_parcel *parcel)
{
	if (parcel->size <= SMALL)
		kmem_cache_free(small_parcels, parcel);
	else
		kfree(parcel);
}

/* What is constructed once is not cleared each time it is given out. */
static void construct(void *parcel)
{
	memset(parcel, 0, SMALL);
}

/**
 * sroce_parcel_init() - prepare for parcels
 *
 * Return: 0 or -ENOMEM
 */
int __init sroce_parcel_init(void)
{
	small_parcels = kmem_cache_create("sroce_parcel", SMALL, 0,
					  SLAB_HWCACHE_ALIGN, construct);
	return small_parcels ? 0 : -ENOMEM;
}

/**
 * sroce_parcel_exit() - undo sroce_parcel_init()
 */
void sroce_parcel_exit(void)
{
	kmem_cache_destroy(small_parcels);
}

/**
 * sroce_tx_local() - whether the QP's peer can be reached without a wire
 * @qp: the QP, locked
 */
bool sroce_tx_local(struct sroce_qp *qp)
{
	if (qp->svc == SROCE_SVC_UD || qp->paged || !READ_ONCE(qp->dev->local))
		return false;
	return sroce_route_local(qp->dev, &qp->av);
}

/**
 * sroce_tx_parcel() - queue a parcel
 * @qp: the QP, locked
 * @parcel: the parcel
 */
void sroce_tx_parcel(struct sroce_qp *qp, struct sroce_parcel *parcel)
{
	struct sroce_pkt *pkt = &parcel->pkt;
	bool response = pkt->op->flags & SROCE_RESPONSE;

	pkt->sgid = qp->av.sgid;
	pkt->dgid = qp->av.dgid;
	pkt->vlan = 0xffff;
	sroce_count(qp, SROCE_CNT_LOCAL_PACKETS);
	this_cpu_add(qp->counters->c[SROCE_CNT_LOCAL_BYTES], pkt->payload_len);
	list_add_tail(&parcel->list, &sroce_lane(qp->host, response)->parcels);
}

static struct sroce_qp_host *find_qp(struct sroce_dev *dev, u32 qpn)
{
	struct sroce_qp_host *host;

	rcu_read_lock();
	host = xa_load(&sroce_qps, qpn);
	if (host && !refcount_inc_not_zero(&host->ref))
		host = NULL;
	rcu_read_unlock();
	if (!host)
		return NULL;
	if (host->qp->dev->sn == dev->sn)
		return host;
	sroce_qp_host_put(host);
	return NULL;
}

static struct sroce_parcel *first(struct list_head *list)
{
	return list_first_entry_or_null(list, struct sroce_parcel, list);
}

static void unpack(struct sroce_parcel *parcel)
{
	list_del(&parcel->list);
	sroce_parcel_free(parcel);
}

/**
 * sroce_parcel_purge() - forget parcels
 * @list: the parcels; empty afterwards
 */
void sroce_parcel_purge(struct list_head *list)
{
	struct sroce_parcel *parcel;

	while ((parcel = first(list)))
		unpack(parcel);
}

/**
 * sroce_parcel_deliver() - hand parcels to the QP they are for
 * @dev: whose they are
 * @list: parcels of one QP to its peer, in order; empty afterwards
 *
 * Called with bottom halves disabled and no lock held. What the peer answers
 * may come back before this returns.
 */
void sroce_parcel_deliver(struct sroce_dev *dev, struct list_head *list)
{
	struct sroce_parcel *parcel = first(list);
	struct sroce_qp_host *host;

	if (!parcel)
		return;
	host = find_qp(dev, parcel->pkt.qpn);
	if (!host) {
		this_cpu_inc(dev->counters->c[SROCE_CNT_RX_NO_QP]);
		sroce_parcel_purge(list);
		return;
	}
	sroce_qp_begin(host->qp);
	while ((parcel = first(list))) {
		sroce_qp_rx(host->qp, &parcel->pkt);
		unpack(parcel);
	}
	sroce_qp_end(host->qp);
	sroce_qp_host_put(host);
}
