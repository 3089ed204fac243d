// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets on their way out, with the payload in place. */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/tx/txbuf.h"
#include "drv/core/trace.h"

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

static void parcel_new(struct sroce_qp *qp, bool copied, size_t room,
		       struct sroce_txbuf *r)
{
	r->lbpkt = sroce_loopback_alloc(sizeof(*r->lbpkt) + room);
	if (!r->lbpkt) {
		sroce_count(qp, SROCE_CNT_TX_NO_MEM);
		return;
	}
	r->lbpkt->linear = copied;
	r->lbpkt->refs = 0;
	r->lbpkt->n = 0;
}

static u8 *parcel_data(struct sroce_qp *qp, u32 len, struct sroce_txbuf *r)
{
	parcel_new(qp, true, len, r);
	return r->lbpkt ? r->lbpkt->data : NULL;
}

/* Room for the payload itself; NULL if there is none */
static u8 *payload_room(struct sroce_qp *qp, struct sroce_av *av,
			const struct sroce_pkt *pkt, struct sroce_txbuf *r)
{
	u32 hdr_len = pkt->op->hdr_len;

	*r = (struct sroce_txbuf){};
	if (pkt->loopback)
		return parcel_data(qp, pkt->payload_len, r);
	r->bth = sroce_tx_begin(qp, av, hdr_len + pkt->payload_len + pkt->pad,
				pkt->op->flags & SROCE_RESPONSE);
	return r->bth ? r->bth + hdr_len : NULL;
}

static void give_up(struct sroce_qp *qp, struct sroce_txbuf *r)
{
	if (r->lbpkt)
		sroce_lbpkt_free(r->lbpkt);
	else
		sroce_tx_abort(qp);
}

static bool by_reference(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return refers(qp, pkt) && pkt->payload_len > SROCE_LBPKT_COPY_MAX;
}

/*
 * The parcel holds @mr from now on. It can't refer to what comes and goes, nor
 * to a window, which ends before what is under it does: from now on the QP takes the way
 * round.
 */
static int add_piece(struct sroce_qp *qp, struct sroce_lbpkt *lbpkt,
		     struct sroce_mr *mr, u64 iova, u32 len)
{
	if (!mr)
		return -EFAULT;
	sroce_mr_hold(mr);
	lbpkt->frag[lbpkt->n++] = (struct sroce_lbfrag){ mr, iova, len };
	if (!sroce_mr_covers(mr, iova, len))
		return -EFAULT;
	if (!mr->odp && !mr->parent)
		return 0;
	qp->lb_copy_only = true;
	return -EXDEV;
}

static int refer_to_sges(struct sroce_qp *qp, struct sroce_lbpkt *lbpkt,
			 const struct ib_sge *sge, u32 off, u32 len)
{
	int ret;

	for (; len; sge++) {
		u32 n;

		if (off >= sge->length) {
			off -= sge->length;
			continue;
		}
		n = min(len, sge->length - off);
		ret = add_piece(qp, lbpkt, sroce_mr_local(qp, sge->lkey, 0),
				sge->addr + off, n);
		if (ret)
			return ret;
		len -= n;
		off = 0;
	}
	return 0;
}

/**
 * sroce_txbuf_alloc() - room for a packet without payload, to the QP's peer
 * @qp: the QP, RC
 * @pkt: the packet
 * @room: filled in
 */
void sroce_txbuf_alloc(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		      struct sroce_txbuf *room)
{
	payload_room(qp, &qp->av, pkt, room);
}

/**
 * sroce_txbuf_fill_wqe() - room for a packet, and its payload from a work request
 * @qp: the QP
 * @av: where it goes
 * @pkt: the packet
 * @wqe: the work request
 * @off: offset of the payload in that of @wqe
 * @room: filled in
 *
 * Return: 0, -EFAULT if the payload can't be read, -EAGAIN if not yet, -EXDEV
 * if not in this way, but if tried anew at once.
 */
int sroce_txbuf_fill_wqe(struct sroce_qp *qp, struct sroce_av *av,
		   const struct sroce_pkt *pkt, const struct sroce_wqe *wqe,
		   u32 off, struct sroce_txbuf *room)
{
	int ret;

	if (by_reference(qp, pkt) && !(wqe->flags & IB_SEND_INLINE)) {
		*room = (struct sroce_txbuf){};
		parcel_new(qp, false, wqe->num_sge * sizeof(struct sroce_lbfrag),
			   room);
		if (!room->lbpkt)
			return 0;
		ret = refer_to_sges(qp, room->lbpkt, wqe->sge, off,
				    pkt->payload_len);
	} else {
		u8 *to = payload_room(qp, av, pkt, room);

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
		give_up(qp, room);
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
 * @room: filled in
 *
 * Return: 0, -EFAULT if the peer may not read that, -EAGAIN if not yet,
 * -EXDEV if not in this way, but in the one that the QP takes from now on.
 */
int sroce_txbuf_fill_remote(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		      u32 rkey, u64 va, u32 left, struct sroce_txbuf *room)
{
	int ret;

	if (by_reference(qp, pkt)) {
		*room = (struct sroce_txbuf){};
		parcel_new(qp, false, sizeof(struct sroce_lbfrag), room);
		if (!room->lbpkt)
			return 0;
		ret = add_piece(qp, room->lbpkt,
				sroce_mr_remote(qp, rkey, va, pkt->payload_len,
						IB_ACCESS_REMOTE_READ),
				va, pkt->payload_len);
	} else {
		u8 *to = payload_room(qp, &qp->av, pkt, room);

		if (!to)
			return 0;
		ret = read_remote(qp, rkey, va, to, pkt->payload_len, left);
	}
	if (ret)
		give_up(qp, room);
	return ret;
}

/**
 * sroce_txbuf_commit() - complete a packet and queue it
 * @qp: the QP
 * @pkt: the packet
 * @room: its room
 */
void sroce_txbuf_commit(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		     struct sroce_txbuf *room)
{
	if (room->lbpkt) {
		room->lbpkt->pkt = *pkt;
		room->lbpkt->pkt.carrier = room->lbpkt;
		trace_sroce_tx(qp, pkt);
		qp->trip_bytes += pkt->payload_len;
		sroce_loopback_tx(qp, room->lbpkt);
	} else if (room->bth) {
		memset(room->bth + pkt->op->hdr_len + pkt->payload_len, 0,
		       pkt->pad);
		sroce_pkt_build(pkt, room->bth);
		trace_sroce_tx(qp, pkt);
		sroce_tx_commit(qp, 1);
	}
}

/**
 * sroce_lbpkt_copy() - payload bytes
 * @lbpkt: the parcel
 * @off: first byte
 * @to: where to
 * @len: how many; the payload has them
 */
void sroce_lbpkt_copy(const struct sroce_lbpkt *lbpkt, u32 off, u8 *to,
		       u32 len)
{
	const struct sroce_lbfrag *pc = lbpkt->frag;

	if (lbpkt->linear) {
		sroce_copy(to, lbpkt->data + off, len);
		return;
	}
	for (; len; pc++, off = 0) {
		u32 end;

		for (; off >= pc->len; pc++)
			off -= pc->len;
		end = min(pc->len, off + len);
		while (off < end) {
			u32 n = end - off;
			const void *from;

			from = sroce_mr_span(pc->mr, pc->iova + off, &n);
			sroce_copy(to, from, n);
			to += n;
			off += n;
			len -= n;
		}
	}
}

/**
 * sroce_lbpkt_free() - be done with a parcel
 * @lbpkt: the parcel
 */
void sroce_lbpkt_free(struct sroce_lbpkt *lbpkt)
{
	u32 i;

	if (lbpkt->refs) {
		lbpkt->refs--;
		return;
	}
	for (i = 0; i < lbpkt->n; i++)
		sroce_mr_put(lbpkt->frag[i].mr);
	sroce_loopback_release(lbpkt);
}
