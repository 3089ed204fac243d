// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets on their way out, with the payload in place. */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/mem/mr.h"
#include "drv/core/mem/sge.h"
#include "drv/core/mem/wqe.h"
#include "drv/core/trace.h"
#include "drv/core/tx/lbpkt.h"
#include "drv/core/tx/txbuf.h"

/*
 * Whether the payload may be copied from where it lies when it is needed: with
 * RC that is before the work request completes. The fast regions of kernel users
 * may change under a lock that the copy waits for.
 */
static bool refers(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return pkt->loopback && qp->svc == SROCE_SVC_RC && qp->user;
}

/**
 * sroce_txbuf_max_payload() - most payload bytes of a packet
 * @qp: whose it is
 * @pkt: the packet; says whether it stays on this host
 */
u32 sroce_txbuf_max_payload(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return refers(qp, pkt) ? SROCE_LBPKT_MAX : qp->mtu;
}

static u8 *linear_data(struct sroce_qp *qp, u32 len, struct sroce_txbuf *txbuf)
{
	txbuf->lbpkt = sroce_lbpkt_new(qp, true, len);
	return txbuf->lbpkt ? txbuf->lbpkt->data : NULL;
}

/* Room for the payload itself; NULL if there is none */
static u8 *payload_buf(struct sroce_qp *qp, struct sroce_av *av,
		       const struct sroce_pkt *pkt, struct sroce_txbuf *txbuf)
{
	u32 hdr_len = pkt->op->hdr_len;

	*txbuf = (struct sroce_txbuf){};
	if (pkt->loopback)
		return linear_data(qp, pkt->payload_len, txbuf);
	txbuf->bth = sroce_tx_begin(qp, av, hdr_len + pkt->payload_len + pkt->pad,
				    pkt->op->flags & SROCE_RESPONSE);
	return txbuf->bth ? txbuf->bth + hdr_len : NULL;
}

static void give_up(struct sroce_qp *qp, struct sroce_txbuf *txbuf)
{
	if (txbuf->lbpkt)
		sroce_lbpkt_free(txbuf->lbpkt);
	else
		sroce_tx_abort(qp);
}

static bool by_reference(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return refers(qp, pkt) && pkt->payload_len > SROCE_LBPKT_COPY_MAX;
}

/**
 * sroce_txbuf_alloc() - room for a packet without payload, to the QP's peer
 * @qp: the QP, RC
 * @pkt: the packet
 * @txbuf: filled in
 */
void sroce_txbuf_alloc(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		       struct sroce_txbuf *txbuf)
{
	payload_buf(qp, &qp->av, pkt, txbuf);
}

/**
 * sroce_txbuf_fill_wqe() - room for a packet, and its payload from a work request
 * @qp: the QP
 * @av: where it goes
 * @pkt: the packet
 * @wqe: the work request
 * @off: offset of the payload in that of @wqe
 * @txbuf: filled in
 *
 * Return: 0, -EFAULT if the payload can't be read, -EAGAIN if not yet, -EXDEV
 * if not in this way, but if tried anew at once.
 */
int sroce_txbuf_fill_wqe(struct sroce_qp *qp, struct sroce_av *av,
			 const struct sroce_pkt *pkt, const struct sroce_wqe *wqe,
		   u32 off, struct sroce_txbuf *txbuf)
{
	int ret;

	if (by_reference(qp, pkt) && !(wqe->flags & IB_SEND_INLINE)) {
		*txbuf = (struct sroce_txbuf){};
		txbuf->lbpkt = sroce_lbpkt_new(qp, false, wqe->num_sge *
					      sizeof(struct sroce_lbfrag));
		if (!txbuf->lbpkt)
			return 0;
		ret = sroce_lbpkt_add_sges(qp, txbuf->lbpkt, wqe->sge, off,
					   pkt->payload_len);
	} else {
		u8 *to = payload_buf(qp, av, pkt, txbuf);

		if (!to)
			return 0;
		ret = sroce_wqe_gather(qp, wqe, off, to, pkt->payload_len);
		/* a region that has been pinned since needs no pages */
		if (ret == -EAGAIN)
			ret = sroce_sge_fault_in(qp, wqe->sge, wqe->num_sge, off,
						 pkt->payload_len,
					     wqe->length - off, 0) ?: -EXDEV;
	}
	if (ret)
		give_up(qp, txbuf);
	return ret;
}

static int read_remote(struct sroce_qp *qp, u32 rkey, u64 va, u8 *to, u32 len,
		       u32 left)
{
	struct sroce_mr *mr;
	int ret;

	if (!len)
		return 0;
	mr = sroce_mr_remote(qp, rkey, va, len, IB_ACCESS_REMOTE_READ);
	if (!mr)
		return -EFAULT;
	ret = sroce_mr_walk(mr, va, len, false, sroce_mr_copy_from, &to);
	if (ret == -EAGAIN)
		ret = sroce_mr_fault_in(qp, mr, va, len, left, false);
	return ret;
}

/**
 * sroce_txbuf_fill_remote() - room for a packet, and its payload as the peer named it
 * @qp: the QP, RC
 * @pkt: the packet, to the peer
 * @rkey: key of the region
 * @va: first byte
 * @left: bytes that the peer wants from there on, in this and later packets
 * @txbuf: filled in
 *
 * Return: 0, -EFAULT if the peer may not read that, -EAGAIN if not yet,
 * -EXDEV if not in this way, but in the one that the QP takes from now on.
 */
int sroce_txbuf_fill_remote(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			    u32 rkey, u64 va, u32 left, struct sroce_txbuf *txbuf)
{
	int ret;

	if (by_reference(qp, pkt)) {
		*txbuf = (struct sroce_txbuf){};
		txbuf->lbpkt = sroce_lbpkt_new(qp, false, sizeof(struct sroce_lbfrag));
		if (!txbuf->lbpkt)
			return 0;
		ret = sroce_lbpkt_add(qp, txbuf->lbpkt,
				      sroce_mr_remote(qp, rkey, va, pkt->payload_len,
						      IB_ACCESS_REMOTE_READ),
				      va, pkt->payload_len);
	} else {
		u8 *to = payload_buf(qp, &qp->av, pkt, txbuf);

		if (!to)
			return 0;
		ret = read_remote(qp, rkey, va, to, pkt->payload_len, left);
	}
	if (ret)
		give_up(qp, txbuf);
	return ret;
}

/**
 * sroce_txbuf_commit() - complete a packet and queue it
 * @qp: the QP
 * @pkt: the packet
 * @txbuf: its room
 */
void sroce_txbuf_commit(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			struct sroce_txbuf *txbuf)
{
	if (txbuf->lbpkt) {
		txbuf->lbpkt->pkt = *pkt;
		txbuf->lbpkt->pkt.carrier = txbuf->lbpkt;
		trace_sroce_tx(qp, pkt);
		qp->trip_bytes += pkt->payload_len;
		sroce_loopback_tx(qp, txbuf->lbpkt);
	} else if (txbuf->bth) {
		memset(txbuf->bth + pkt->op->hdr_len + pkt->payload_len, 0,
		       pkt->pad);
		sroce_pkt_build(pkt, txbuf->bth);
		trace_sroce_tx(qp, pkt);
		sroce_tx_commit(qp, 1);
	}
}
