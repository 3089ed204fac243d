// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Loopback packets: packets to a QP of this host bypass the IP stack. Large
 * payload of a user's RC QP is copied once, from region to region; other payload is copied
 * into the packet first.
 */

#include <linux/moduleparam.h>
#include <linux/slab.h>
#include "drv/core/env.h"
#include "drv/core/tx/lbpkt.h"
#include "drv/lookup/kqp.h"
#include "drv/lookup/sdev.h"
#include "drv/net/loopback.h"
#include "drv/net/route.h"

/* Packets with a copied payload or few pieces have this size at most. */
#define SMALL_SIZE	(sizeof(struct sroce_lbpkt) + SROCE_LBPKT_COPY_MAX)

static struct kmem_cache *small_lbpkts;

static bool loopback = true;
module_param(loopback, bool, 0644);
MODULE_PARM_DESC(loopback, "New devices bypass the IP stack for peers on this host");

/**
 * sroce_loopback_default() - whether new devices bypass the IP stack
 *
 * Return: the value of the module parameter.
 */
bool sroce_loopback_default(void)
{
	return READ_ONCE(loopback);
}

/**
 * sroce_loopback_alloc() - allocate a loopback packet
 * @size: bytes, struct sroce_lbpkt included
 *
 * Return: the packet, in which only sroce_lbpkt.size is set, or NULL.
 */
struct sroce_lbpkt *sroce_loopback_alloc(size_t size)
{
	const gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	struct sroce_lbpkt *lbpkt;

	if (size <= SMALL_SIZE)
		lbpkt = kmem_cache_alloc(small_lbpkts, gfp);
	else
		lbpkt = kmalloc(size, gfp);
	if (lbpkt)
		lbpkt->size = size;
	return lbpkt;
}

/**
 * sroce_loopback_release() - free the memory of a loopback packet
 * @lbpkt: the packet
 */
void sroce_loopback_release(struct sroce_lbpkt *lbpkt)
{
	if (lbpkt->size <= SMALL_SIZE)
		kmem_cache_free(small_lbpkts, lbpkt);
	else
		kfree(lbpkt);
}

/* With a constructor, the slab is not cleared at each allocation (init_on_alloc). */
static void init_once(void *lbpkt)
{
	memset(lbpkt, 0, SMALL_SIZE);
}

/**
 * sroce_loopback_init() - create the slab of small loopback packets
 *
 * Return: 0 or -ENOMEM.
 */
int __init sroce_loopback_init(void)
{
	small_lbpkts = kmem_cache_create("sroce_lbpkt", SMALL_SIZE, 0,
					 SLAB_HWCACHE_ALIGN, init_once);
	return small_lbpkts ? 0 : -ENOMEM;
}

/**
 * sroce_loopback_exit() - undo sroce_loopback_init()
 */
void sroce_loopback_exit(void)
{
	kmem_cache_destroy(small_lbpkts);
}

/**
 * sroce_loopback_usable() - whether a QP sends loopback packets to its peer
 * @qp: the QP, locked
 *
 * Return: true if the peer is on this host and the device bypasses the IP stack.
 */
bool sroce_loopback_usable(struct sroce_qp *qp)
{
	if (qp->svc == SROCE_SVC_UD || !READ_ONCE(qp->dev->loopback))
		return false;
	return sroce_route_is_local(qp->dev, &qp->av);
}

/**
 * sroce_loopback_tx() - queue a loopback packet
 * @qp: the QP, locked
 * @lbpkt: the packet, delivered when the QP is unlocked
 */
void sroce_loopback_tx(struct sroce_qp *qp, struct sroce_lbpkt *lbpkt)
{
	struct sroce_pkt *pkt = &lbpkt->pkt;
	bool response = pkt->op->flags & SROCE_RESPONSE;
	struct sroce_txq *txq = sroce_kqp_txq(qp->kqp, response);

	pkt->sgid = qp->av.sgid;
	pkt->dgid = qp->av.dgid;
	pkt->vlan = 0xffff;
	sroce_count(qp, SROCE_CNT_LOOPBACK_PACKETS);
	this_cpu_add(qp->counters->c[SROCE_CNT_LOOPBACK_BYTES], pkt->payload_len);
	list_add_tail(&lbpkt->list, &txq->lbpkts);
	txq->n_lbpkts++;
	txq->lb_bytes += pkt->payload_len;
}

/**
 * sroce_loopback_take() - take the loopback packets of a transmit queue
 * @txq: transmit queue of a locked QP
 * @list: they are appended to it
 *
 * Return: whether the queue was stopped, so that a trip must follow.
 */
bool sroce_loopback_take(struct sroce_txq *txq, struct list_head *list)
{
	bool stopped = txq->lb_stopped;

	list_splice_tail_init(&txq->lbpkts, list);
	txq->n_lbpkts = 0;
	txq->lb_bytes = 0;
	txq->lb_stopped = false;
	return stopped;
}

/**
 * sroce_loopback_first() - oldest loopback packet of a list
 * @list: the packets
 *
 * Return: the packet, or NULL if there is none.
 */
struct sroce_lbpkt *sroce_loopback_first(struct list_head *list)
{
	return list_first_entry_or_null(list, struct sroce_lbpkt, list);
}

/**
 * sroce_loopback_del() - remove a loopback packet from its list and free it
 * @lbpkt: the packet
 */
void sroce_loopback_del(struct sroce_lbpkt *lbpkt)
{
	list_del(&lbpkt->list);
	sroce_lbpkt_free(lbpkt);
}

/**
 * sroce_loopback_purge() - free all loopback packets of a list
 * @list: the packets; empty afterwards
 */
void sroce_loopback_purge(struct list_head *list)
{
	struct sroce_lbpkt *lbpkt;

	while ((lbpkt = sroce_loopback_first(list)))
		sroce_loopback_del(lbpkt);
}
