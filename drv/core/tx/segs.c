// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Runs: packets between the first and the last of a message, which differ from each
 * other in PSN and payload only. They are described once, one walk of the region
 * fills them all, and together they join the train that is open. What can't be sent
 * so, for whatever reason, is sent one by one, and finds the reason.
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/tx/segs.h"
#include "drv/core/trace.h"

/**
 * struct spread - where payload goes that is cut into packets
 * @to: the next byte
 * @left: room in that packet
 * @unit: room in each
 * @gap: bytes between them
 */
struct spread {
	u8	*to;
	u32	left;
	u32	unit;
	u32	gap;
};

static int spread_span(void *span, u32 len, void *arg)
{
	struct spread *s = arg;

	while (len) {
		u32 n = min(len, s->left);

		sroce_copy(s->to, span, n);
		s->to += n;
		s->left -= n;
		span += n;
		len -= n;
		if (!s->left) {
			s->to += s->gap;
			s->left = s->unit;
		}
	}
	return 0;
}

/* Room for *@n packets like @pkt, or fewer. Return: the first's BTH, or NULL. */
static u8 *begin(struct sroce_qp *qp, const struct sroce_pkt *pkt, u32 *n,
		 struct spread *s)
{
	u8 *bth = sroce_tx_begin_segs(qp, &qp->av, pkt->op->hdr_len + pkt->payload_len,
				     pkt->op->flags & SROCE_RESPONSE, n);

	if (!bth)
		return NULL;
	*s = (struct spread){
		.to = bth + pkt->op->hdr_len,
		.left = pkt->payload_len,
		.unit = pkt->payload_len,
		.gap = sroce_segs_gap(pkt),
	};
	return bth;
}

static void seal(struct sroce_qp *qp, const struct sroce_pkt *first, u8 *bth, u32 n)
{
	u32 i, stride = first->payload_len + sroce_segs_gap(first);
	struct sroce_pkt pkt = *first;

	for (i = 0; i < n; i++) {
		sroce_pkt_build(&pkt, bth + i * stride);
		trace_sroce_tx(qp, &pkt);
		pkt.psn = sroce_psn_add(pkt.psn, 1);
	}
	sroce_count(qp, SROCE_CNT_TX_PKT_BATCHES);
	sroce_tx_commit(qp, n);
}

/**
 * sroce_segs_tx_wqe() - send packets of a work request
 * @qp: the QP, RC or UC; its peer is reached by the wire
 * @pkt: the first of them, neither the first nor the last of the message
 * @wqe: the work request
 * @off: offset of the payload in that of @wqe
 * @n: so many, if possible
 *
 * Return: how many were sent. If none, it has to be one by one: this time, or, if it
 * is an error, until the payload can be read, for some of it was in vain.
 */
int sroce_segs_tx_wqe(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		  const struct sroce_wqe *wqe, u32 off, u32 n)
{
	struct spread s;
	u8 *bth = begin(qp, pkt, &n, &s);
	int ret;

	if (!bth)
		return 0;
	ret = sroce_wqe_walk(qp, wqe, off, n * pkt->payload_len, spread_span, &s);
	if (ret) {
		sroce_tx_abort(qp);
		return ret;
	}
	seal(qp, pkt, bth, n);
	return n;
}

static int read_remote(struct sroce_qp *qp, u32 rkey, u64 va, u32 len,
		       struct spread *s)
{
	struct sroce_mr *mr = sroce_mr_remote(qp, rkey, va, len, IB_ACCESS_REMOTE_READ);

	return mr ? sroce_mr_walk(mr, va, len, false, spread_span, s) : -EFAULT;
}

/**
 * sroce_segs_tx_remote() - send responses to a READ
 * @qp: the QP, RC; its peer is reached by the wire
 * @pkt: the first of them, neither the first nor the last of all
 * @rkey: key of the region
 * @va: first byte
 * @n: so many, if possible
 *
 * Return: how many were sent; if none, it has to be one by one.
 */
u32 sroce_segs_tx_remote(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		     u32 rkey, u64 va, u32 n)
{
	struct spread s;
	u8 *bth = begin(qp, pkt, &n, &s);

	if (!bth)
		return 0;
	if (read_remote(qp, rkey, va, n * pkt->payload_len, &s)) {
		sroce_tx_abort(qp);
		return 0;
	}
	seal(qp, pkt, bth, n);
	return n;
}
