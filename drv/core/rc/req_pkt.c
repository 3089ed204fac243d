// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The request packets of a work request (9.7.3, 9.8, 9.9).
 *
 * The progress of a message is a function of its PSNs alone: packet n of a work
 * request has PSN first_psn + n and offset n * mtu. Any packet can therefore be
 * built again at any time.
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/rc/flush.h"
#include "drv/core/rc/read_split.h"
#include "drv/core/rc/req_pkt.h"
#include "drv/core/rc/sq_sched.h"
#include "drv/core/tx/txbuf.h"

/**
 * sroce_req_pkt_is_multicast() - whether a work request is sent to a multicast group
 * @qp: the QP
 * @wqe: the work request
 */
bool sroce_req_pkt_is_multicast(const struct sroce_qp *qp, const struct sroce_wqe *wqe)
{
	return qp->svc == SROCE_SVC_UD && sroce_ah_av(wqe->ah)->multicast;
}

static void fill_bth(struct sroce_qp *qp, struct sroce_pkt *pkt,
		     const struct sroce_wqe *wqe, bool last)
{
	pkt->op = &sroce_opcodes[pkt->opcode];
	pkt->pkey = SROCE_PKEY_FULL;
	pkt->migreq = qp->attr.path_mig_state == IB_MIG_MIGRATED;
	pkt->solicited = last && wqe->flags & IB_SEND_SOLICITED &&
			 pkt->op->flags & SROCE_RECV;
	if (qp->svc == SROCE_SVC_UD) {
		pkt->qpn = sroce_req_pkt_is_multicast(qp, wqe) ? SROCE_QPN_MULTICAST :
						   wqe->remote_qpn;
		/* 10.2.5: a controlled Q_Key means "the QP's own" */
		pkt->qkey = (s32)wqe->remote_qkey < 0 ? qp->attr.qkey :
							wqe->remote_qkey;
		pkt->sqpn = qp->qpn;
	} else {
		pkt->qpn = qp->attr.dest_qp_num;
		pkt->va = wqe->remote_addr;
		pkt->rkey = wqe->rkey;
		pkt->feth = wqe->feth;
		pkt->swap_add = wqe->msg == SROCE_MSG_CMP_SWP ? wqe->swap :
								wqe->compare_add;
		pkt->compare = wqe->msg == SROCE_MSG_CMP_SWP ?
			       wqe->compare_add : 0;
	}
	pkt->imm = wqe->imm;
	pkt->inv_rkey = wqe->inv_rkey;
}

/*
 * Payload that the packet at @psn may hold. In loopback one packet holds many PSNs. If it
 * is a retransmission, it ends where what was sent before ends: an ACK of more is invalid.
 */
static u32 max_payload(const struct sroce_qp *qp, const struct sroce_pkt *pkt, u32 psn)
{
	u32 most = sroce_txbuf_max_payload(qp, pkt);
	s32 sent = sroce_psn_diff(qp->req.max_psn, psn);

	if (!pkt->loopback || sent <= 0)
		return most;
	return min_t(u64, most, (u64)sent * qp->mtu);
}

/**
 * sroce_req_pkt_describe() - fill in the fields of a request packet
 * @qp: the QP
 * @wqe: the work request
 * @psn: PSN of the packet
 * @pkt: the packet, zeroed; filled in
 *
 * Return: whether it is the last packet of the work request.
 */
bool sroce_req_pkt_describe(struct sroce_qp *qp, const struct sroce_wqe *wqe, u32 psn,
			    struct sroce_pkt *pkt)
{
	u32 off = sroce_req_pkt_offset(qp, wqe, psn);
	bool responds = sroce_wqe_wants_response(wqe);
	bool first, last;
	u32 end;

	pkt->psn = psn;
	pkt->loopback = sroce_loopback_usable(qp);
	if (sroce_wqe_has_payload(wqe))
		pkt->payload_len = min(max_payload(qp, pkt, psn), wqe->length - off);
	first = responds || !off;
	last = responds || off + pkt->payload_len == wqe->length;
	pkt->opcode = sroce_opcode_of_msg(qp->svc, wqe->msg, first, last);
	fill_bth(qp, pkt, wqe, last);
	pkt->length = wqe->length - off;
	if (wqe->msg == SROCE_MSG_READ) {
		pkt->va += off;
		end = sroce_read_split_end(wqe, psn);
		last = sroce_psn_diff(end, wqe->last_psn) > 0;
		if (!last)
			pkt->length = sroce_psn_diff(end, psn) * qp->mtu;
	}
	pkt->pad = -pkt->payload_len & 3;
	return last;
}

/**
 * sroce_req_pkt_alloc() - allocate the txbuf of a request packet and fill in the payload
 * @qp: the QP, locked
 * @wqe: the work request
 * @pkt: the packet, from sroce_req_pkt_describe()
 * @txbuf: filled in
 *
 * Return: as sroce_txbuf_fill_wqe().
 */
int sroce_req_pkt_alloc(struct sroce_qp *qp, const struct sroce_wqe *wqe,
			const struct sroce_pkt *pkt, struct sroce_txbuf *txbuf)
{
	struct sroce_av *av;

	av = qp->svc == SROCE_SVC_UD ? sroce_ah_av(wqe->ah) : &qp->av;
	return sroce_txbuf_fill_wqe(qp, av, pkt, wqe,
				    sroce_req_pkt_offset(qp, wqe, pkt->psn), txbuf);
}

/**
 * sroce_req_pkt_end() - one past the last PSN of a request packet
 * @qp: the QP
 * @wqe: the work request; a READ request takes the PSNs of its responses
 * @pkt: the packet, from sroce_req_pkt_describe()
 */
u32 sroce_req_pkt_end(const struct sroce_qp *qp, const struct sroce_wqe *wqe,
		      const struct sroce_pkt *pkt)
{
	if (wqe->msg == SROCE_MSG_READ)
		return sroce_read_split_end(wqe, pkt->psn);
	return sroce_psn_add(pkt->psn, sroce_pkt_psns(pkt, qp->mtu));
}

/**
 * sroce_req_pkt_psn_after() - one past the last PSN of a request packet that was sent
 * @qp: the QP, RC, locked
 * @psn: its first PSN, not before req.acked
 */
u32 sroce_req_pkt_psn_after(struct sroce_qp *qp, u32 psn)
{
	const struct sroce_wqe *wqe = sroce_sq_sched_wqe(qp, qp->req.acked_idx, psn);

	return wqe && wqe->msg == SROCE_MSG_READ ? sroce_read_split_end(wqe, psn) :
						   sroce_psn_add(psn, 1);
}

/**
 * sroce_req_pkt_resend_read() - request responses again
 * @qp: the QP, RC, locked
 * @wqe: a READ, atomic or FLUSH that the peer has executed
 * @from: PSN of the first response; PSNs before those of @wqe don't count
 * @end: one past the PSN of the last; PSNs beyond those of @wqe don't count
 *
 * An ATOMIC WRITE has payload. If its memory can't be read any more, the work request
 * fails, and with it the QP.
 *
 * Return: -EAGAIN if that memory is being faulted in, and nothing was sent; otherwise 0.
 */
int sroce_req_pkt_resend_read(struct sroce_qp *qp, struct sroce_wqe *wqe,
			      u32 from, u32 end)
{
	struct sroce_txbuf txbuf;
	struct sroce_pkt pkt = {};
	u32 len;
	int ret;

	if (sroce_psn_diff(from, wqe->first_psn) < 0)
		from = wqe->first_psn;
	sroce_req_pkt_describe(qp, wqe, from, &pkt);
	len = sroce_psn_diff(end, from) * qp->mtu;
	if (sroce_psn_diff(end, wqe->last_psn) <= 0)
		pkt.length = min(pkt.length, len);
	ret = sroce_req_pkt_alloc(qp, wqe, &pkt, &txbuf);
	if (ret == -EAGAIN)
		return ret;
	/* the range stays outstanding: a timeout requests it again */
	if (ret == -EXDEV)
		return 0;
	if (ret) {
		/* if it is not the oldest, it is requested again later */
		if (wqe == sroce_sq_oldest(qp))
			sroce_sq_fail(qp, IB_WC_LOC_PROT_ERR);
		return 0;
	}
	sroce_count(qp, SROCE_CNT_READ_RETRY);
	sroce_count(qp, SROCE_CNT_RETRANSMIT);
	sroce_txbuf_commit(qp, &pkt, &txbuf);
	return 0;
}
