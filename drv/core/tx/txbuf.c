// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Buffers of packets to send, with the payload in place: memory for the wire, or a loopback
 * packet. The caller describes the packet first; commit writes the headers and queues it.
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/mem/mr.h"
#include "drv/core/mem/sge.h"
#include "drv/core/mem/wqe.h"
#include "drv/core/trace.h"
#include "drv/core/tx/lbpkt.h"
#include "drv/core/tx/txbuf.h"

/*
 * So many times what a READ request still needs is faulted in. A long READ comes as several
 * requests (rc/read_split.c).
 */
#define READ_AHEAD	4

/*
 * Whether a loopback packet may refer to its payload. The receiver copies it later: only
 * with RC that is before the work request completes. Not in kernel QPs, whose fast regions
 * may be claimed under a lock that the copy waits for, and not in QPs that have used memory
 * that can't be referred to.
 */
static bool may_reference(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return pkt->loopback && qp->svc == SROCE_SVC_RC && qp->user && !qp->lb_copy_only;
}

/**
 * sroce_txbuf_max_payload() - most payload bytes of a packet
 * @qp: the QP
 * @pkt: the packet; only @pkt->loopback is used
 */
u32 sroce_txbuf_max_payload(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return may_reference(qp, pkt) ? SROCE_LBPKT_MAX : qp->mtu;
}

static u8 *alloc_linear(struct sroce_qp *qp, u32 len, struct sroce_txbuf *txbuf)
{
	txbuf->lbpkt = sroce_lbpkt_new(qp, true, len);
	return txbuf->lbpkt ? txbuf->lbpkt->data : NULL;
}

/* Allocate a buffer that has its payload in it. Return: where that goes, or NULL. */
static u8 *alloc_payload(struct sroce_qp *qp, struct sroce_av *av,
			 const struct sroce_pkt *pkt, struct sroce_txbuf *txbuf)
{
	u32 hdr_len = pkt->op->hdr_len;

	*txbuf = (struct sroce_txbuf){};
	if (pkt->loopback)
		return alloc_linear(qp, pkt->payload_len, txbuf);
	txbuf->bth = sroce_tx_begin(qp, av, hdr_len + pkt->payload_len + pkt->pad,
				    pkt->op->flags & SROCE_RESPONSE && !pkt->joins);
	return txbuf->bth ? txbuf->bth + hdr_len : NULL;
}

static void discard(struct sroce_qp *qp, struct sroce_txbuf *txbuf)
{
	if (txbuf->lbpkt)
		sroce_lbpkt_free(txbuf->lbpkt);
	else
		sroce_tx_abort(qp);
}

/* Whether the packet refers to its payload, which is long enough to be worth it */
static bool by_reference(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return may_reference(qp, pkt) && pkt->payload_len > SROCE_LBPKT_COPY_MAX;
}

/**
 * sroce_txbuf_alloc() - allocate a buffer for a packet without payload
 * @qp: the QP, locked, RC
 * @pkt: the packet, described
 * @txbuf: filled in; empty without memory or route
 */
void sroce_txbuf_alloc(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		       struct sroce_txbuf *txbuf)
{
	alloc_payload(qp, &qp->av, pkt, txbuf);
}

/**
 * sroce_txbuf_fill_wqe() - allocate a buffer and copy payload of a work request
 * @qp: the QP, locked
 * @av: where the packet goes
 * @pkt: the packet, described
 * @wqe: the work request
 * @off: offset of the packet's payload in that of @wqe
 * @txbuf: filled in; empty without memory or route
 *
 * Return: 0, -EFAULT if a key, right or range is wrong, -EAGAIN if a page fault was
 * requested, -EXDEV if the caller should describe the packet anew and try again.
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
		u8 *to = alloc_payload(qp, av, pkt, txbuf);

		if (!to)
			return 0;
		ret = sroce_wqe_gather(qp, wqe, off, to, pkt->payload_len);
		/* 0: the region was pinned by a reregistration meanwhile */
		if (ret == -EAGAIN)
			ret = sroce_sge_fault_in(qp, wqe->sge, wqe->num_sge, off,
						 pkt->payload_len,
						 wqe->length - off, 0) ?: -EXDEV;
	}
	if (ret)
		discard(qp, txbuf);
	return ret;
}

static int read_remote(struct sroce_qp *qp, u32 rkey, u64 va, u8 *to, u32 len,
		       u64 left)
{
	struct sroce_mr *mr;
	int ret;

	if (!len)
		return 0;
	mr = sroce_mr_by_rkey(qp, rkey, va, len, IB_ACCESS_REMOTE_READ);
	if (!mr)
		return -EFAULT;
	ret = sroce_mr_walk(mr, va, len, false, sroce_mr_copy_from, &to);
	if (ret == -EAGAIN)
		ret = sroce_mr_fault_in(qp, mr, va, len, left, false);
	return ret;
}

/**
 * sroce_txbuf_fill_remote() - allocate a buffer and copy payload that the peer reads
 * @qp: the QP, locked, RC
 * @pkt: the packet, described
 * @rkey: R_Key of the region
 * @va: first byte
 * @left: bytes from there on that the READ still needs, in this and later packets
 * @txbuf: filled in; empty without memory or route
 *
 * Return: 0, -EFAULT if the peer may not read that, -EAGAIN if a page fault was requested,
 * -EXDEV if the caller should describe the packet anew and try again.
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
				      sroce_mr_by_rkey(qp, rkey, va, pkt->payload_len,
						       IB_ACCESS_REMOTE_READ),
				      va, pkt->payload_len);
	} else {
		u8 *to = alloc_payload(qp, &qp->av, pkt, txbuf);

		if (!to)
			return 0;
		ret = read_remote(qp, rkey, va, to, pkt->payload_len,
				  (u64)left * READ_AHEAD);
	}
	if (ret)
		discard(qp, txbuf);
	return ret;
}

/**
 * sroce_txbuf_commit() - write the headers of a packet and queue it
 * @qp: the QP, locked
 * @pkt: the packet
 * @txbuf: its buffer; if that is empty nothing is sent
 */
void sroce_txbuf_commit(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			struct sroce_txbuf *txbuf)
{
	if (txbuf->lbpkt) {
		txbuf->lbpkt->pkt = *pkt;
		txbuf->lbpkt->pkt.sqpn = qp->qpn;
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
