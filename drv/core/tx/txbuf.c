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
	return pkt->local && qp->svc == SROCE_SVC_RC && qp->user;
}

/**
 * sroce_room_unit() - most payload bytes of a packet
 * @qp: whose it is
 * @pkt: the packet; says whether it stays on this host
 */
u32 sroce_room_unit(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return refers(qp, pkt) ? SROCE_PARCEL_MAX : qp->mtu;
}

static void parcel_new(struct sroce_qp *qp, bool copied, size_t room,
		       struct sroce_room *r)
{
	r->parcel = sroce_parcel_alloc(sizeof(*r->parcel) + room);
	if (!r->parcel) {
		sroce_count(qp, SROCE_CNT_TX_NO_MEM);
		return;
	}
	r->parcel->copied = copied;
	r->parcel->held = 0;
	r->parcel->n = 0;
}

static u8 *parcel_data(struct sroce_qp *qp, u32 len, struct sroce_room *r)
{
	parcel_new(qp, true, len, r);
	return r->parcel ? r->parcel->data : NULL;
}

/* Room for the payload itself; NULL if there is none */
static u8 *payload_room(struct sroce_qp *qp, struct sroce_av *av,
			const struct sroce_pkt *pkt, struct sroce_room *r)
{
	u32 hdr_len = pkt->op->hdr_len;

	*r = (struct sroce_room){};
	if (pkt->local)
		return parcel_data(qp, pkt->payload_len, r);
	r->bth = sroce_tx_begin(qp, av, hdr_len + pkt->payload_len + pkt->pad,
				pkt->op->flags & SROCE_RESPONSE);
	return r->bth ? r->bth + hdr_len : NULL;
}

static void give_up(struct sroce_qp *qp, struct sroce_room *r)
{
	if (r->parcel)
		sroce_parcel_free(r->parcel);
	else
		sroce_tx_abort(qp);
}

static bool by_reference(const struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return refers(qp, pkt) && pkt->payload_len > SROCE_PARCEL_COPIED;
}

/*
 * The parcel holds @mr from now on. It can't refer to what comes and goes, nor
 * to a window, which ends before what is under it does: from now on the QP takes the way
 * round.
 */
static int add_piece(struct sroce_qp *qp, struct sroce_parcel *parcel,
		     struct sroce_mr *mr, u64 iova, u32 len)
{
	if (!mr)
		return -EFAULT;
	sroce_mr_hold(mr);
	parcel->piece[parcel->n++] = (struct sroce_piece){ mr, iova, len };
	if (!sroce_mr_covers(mr, iova, len))
		return -EFAULT;
	if (!mr->odp && !mr->under)
		return 0;
	qp->paged = true;
	return -EXDEV;
}

static int refer_to_sges(struct sroce_qp *qp, struct sroce_parcel *parcel,
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
		ret = add_piece(qp, parcel, sroce_mr_local(qp, sge->lkey, 0),
				sge->addr + off, n);
		if (ret)
			return ret;
		len -= n;
		off = 0;
	}
	return 0;
}

/**
 * sroce_room_empty() - room for a packet without payload, to the QP's peer
 * @qp: the QP, RC
 * @pkt: the packet
 * @room: filled in
 */
void sroce_room_empty(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		      struct sroce_room *room)
{
	payload_room(qp, &qp->av, pkt, room);
}

/**
 * sroce_room_wqe() - room for a packet, and its payload from a work request
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
int sroce_room_wqe(struct sroce_qp *qp, struct sroce_av *av,
		   const struct sroce_pkt *pkt, const struct sroce_wqe *wqe,
		   u32 off, struct sroce_room *room)
{
	int ret;

	if (by_reference(qp, pkt) && !(wqe->flags & IB_SEND_INLINE)) {
		*room = (struct sroce_room){};
		parcel_new(qp, false, wqe->num_sge * sizeof(struct sroce_piece),
			   room);
		if (!room->parcel)
			return 0;
		ret = refer_to_sges(qp, room->parcel, wqe->sge, off,
				    pkt->payload_len);
	} else {
		u8 *to = payload_room(qp, av, pkt, room);

		if (!to)
			return 0;
		ret = sroce_wqe_gather(qp, wqe, off, to, pkt->payload_len);
		/* a region that has been pinned since needs no pages */
		if (ret == -EAGAIN)
			ret = sroce_sge_want(qp, wqe->sge, wqe->num_sge, off,
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
	ret = sroce_mr_walk(mr, va, len, false, sroce_span_get, &to);
	if (ret == -EAGAIN)
		ret = sroce_mr_want(qp, mr, va, len, left, false);
	return ret;
}

/**
 * sroce_room_remote() - room for a packet, and its payload as the peer named it
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
int sroce_room_remote(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		      u32 rkey, u64 va, u32 left, struct sroce_room *room)
{
	int ret;

	if (by_reference(qp, pkt)) {
		*room = (struct sroce_room){};
		parcel_new(qp, false, sizeof(struct sroce_piece), room);
		if (!room->parcel)
			return 0;
		ret = add_piece(qp, room->parcel,
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
 * sroce_room_seal() - complete a packet and queue it
 * @qp: the QP
 * @pkt: the packet
 * @room: its room
 */
void sroce_room_seal(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		     struct sroce_room *room)
{
	if (room->parcel) {
		room->parcel->pkt = *pkt;
		room->parcel->pkt.carrier = room->parcel;
		trace_sroce_tx(qp, pkt);
		qp->burst += pkt->payload_len;
		sroce_tx_parcel(qp, room->parcel);
	} else if (room->bth) {
		memset(room->bth + pkt->op->hdr_len + pkt->payload_len, 0,
		       pkt->pad);
		sroce_pkt_build(pkt, room->bth);
		trace_sroce_tx(qp, pkt);
		sroce_tx_commit(qp, 1);
	}
}

/**
 * sroce_parcel_copy() - payload bytes
 * @parcel: the parcel
 * @off: first byte
 * @to: where to
 * @len: how many; the payload has them
 */
void sroce_parcel_copy(const struct sroce_parcel *parcel, u32 off, u8 *to,
		       u32 len)
{
	const struct sroce_piece *pc = parcel->piece;

	if (parcel->copied) {
		sroce_copy(to, parcel->data + off, len);
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
 * sroce_parcel_free() - be done with a parcel
 * @parcel: the parcel
 */
void sroce_parcel_free(struct sroce_parcel *parcel)
{
	u32 i;

	if (parcel->held) {
		parcel->held--;
		return;
	}
	for (i = 0; i < parcel->n; i++)
		sroce_mr_put(parcel->piece[i].mr);
	sroce_parcel_release(parcel);
}
