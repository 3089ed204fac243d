// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Segs: packets of one message that are laid out at once. The packets between the first
 * and the last differ in PSN and payload only, so they are described once, one walk of the
 * region fills them all, and they join the open train together. If that fails for whatever
 * reason, the caller sends them one by one, and handles the error there.
 */

#include <linux/string.h>
#include "drv/core/env.h"
#include "drv/core/mem/mr.h"
#include "drv/core/mem/wqe.h"
#include "drv/core/trace.h"
#include "drv/core/tx/segs.h"

/**
 * struct seg_fill - position in the payload of packets that are being filled
 * @to: where the next byte goes
 * @left: bytes of payload still to fill in the present packet
 * @unit: bytes of payload per packet
 * @gap: bytes between the payloads of two packets
 */
struct seg_fill {
	u8	*to;
	u32	left;
	u32	unit;
	u32	gap;
};

/* sroce_span_fn; @arg is struct seg_fill, which is advanced. */
static int fill_span(void *span, u32 len, void *arg)
{
	struct seg_fill *s = arg;

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

/* Begin up to *@n packets like @pkt; *@n is set. Return: BTH of the first, or NULL. */
static u8 *begin_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt, u32 *n,
		      struct seg_fill *s)
{
	u8 *bth = sroce_tx_begin_segs(qp, &qp->av, pkt->op->hdr_len + pkt->payload_len,
				      pkt->op->flags & SROCE_RESPONSE, n);

	if (!bth)
		return NULL;
	*s = (struct seg_fill){
		.to = bth + pkt->op->hdr_len,
		.left = pkt->payload_len,
		.unit = pkt->payload_len,
		.gap = sroce_segs_gap(pkt),
	};
	return bth;
}

/*
 * Build the headers of @n packets, the first of which is @first, and queue them. Middle packets
 * have a BTH only.
 */
static void commit_segs(struct sroce_qp *qp, const struct sroce_pkt *first, u8 *bth, u32 n)
{
	u32 i, stride = first->payload_len + sroce_segs_gap(first);
	struct sroce_pkt pkt = *first;

	sroce_pkt_build(&pkt, bth);
	trace_sroce_tx(qp, &pkt);
	for (i = 1; i < n; i++) {
		pkt.psn = sroce_psn_add(pkt.psn, 1);
		sroce_pkt_build_next(&pkt, bth, bth + i * stride);
		trace_sroce_tx(qp, &pkt);
	}
	sroce_count(qp, SROCE_CNT_TX_PKT_BATCHES);
	sroce_tx_commit(qp, n);
}

/**
 * sroce_segs_tx_wqe() - send packets of a work request
 * @qp: the QP, locked, RC or UC; its peer is not reached by loopback
 * @pkt: the first of them; all are middle packets of the message
 * @wqe: the work request
 * @off: offset of their payload in that of @wqe
 * @n: most packets to send
 *
 * Return: how many were sent; 0 if they have to be sent one by one; or an error of
 * sroce_wqe_walk(). After an error the caller should not try again in this trip, since
 * part of the payload is copied in vain each time.
 */
int sroce_segs_tx_wqe(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		      const struct sroce_wqe *wqe, u32 off, u32 n)
{
	struct seg_fill s;
	u8 *bth = begin_segs(qp, pkt, &n, &s);
	int ret;

	if (!bth)
		return 0;
	ret = sroce_wqe_walk(qp, wqe, off, n * pkt->payload_len, fill_span, &s);
	if (ret) {
		sroce_tx_abort(qp);
		return ret;
	}
	commit_segs(qp, pkt, bth, n);
	return n;
}

static int read_remote(struct sroce_qp *qp, u32 rkey, u64 va, u32 len,
		       struct seg_fill *s)
{
	struct sroce_mr *mr = sroce_mr_by_rkey(qp, rkey, va, len, IB_ACCESS_REMOTE_READ);

	return mr ? sroce_mr_walk(mr, va, len, false, fill_span, s) : -EFAULT;
}

/**
 * sroce_segs_tx_remote() - send responses to a READ
 * @qp: the QP, locked, RC; its peer is not reached by loopback
 * @pkt: the first of them; all are middle responses of the READ
 * @rkey: R_Key of the region
 * @va: first byte of their payload
 * @n: most packets to send
 *
 * Return: how many were sent; 0 if they have to be sent one by one.
 */
u32 sroce_segs_tx_remote(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			 u32 rkey, u64 va, u32 n)
{
	struct seg_fill s;
	u8 *bth = begin_segs(qp, pkt, &n, &s);

	if (!bth)
		return 0;
	if (read_remote(qp, rkey, va, n * pkt->payload_len, &s)) {
		sroce_tx_abort(qp);
		return 0;
	}
	commit_segs(qp, pkt, bth, n);
	return n;
}

/* Copy from the present packet, of which @cur->left bytes are left. */
static int copy_seg(const struct sroce_rx_cursor *cur, u8 *to, u32 len)
{
	const struct sroce_pkt *pkt = cur->pkt;

	if (!pkt->seg_at)
		return sroce_pkt_copy(pkt, cur->off, to, len);
	sroce_copy(to, pkt->seg_at[cur->n - 1] + pkt->op->hdr_len + pkt->seg_len - cur->left,
		   len);
	return 0;
}

/* Skip headers and ICRCs between the payloads of the packets. */
static int copy_segs(struct sroce_rx_cursor *cur, u8 *to, u32 len)
{
	const struct sroce_pkt *pkt = cur->pkt;
	int ret = 0;

	while (len && !ret) {
		u32 n;

		if (!cur->left) {
			cur->left = pkt->seg_len;
			cur->n++;
			if (cur->off)
				cur->off += sroce_segs_gap(pkt);
		}
		n = min(len, cur->left);
		ret = copy_seg(cur, to, n);
		cur->off += n;
		cur->left -= n;
		to += n;
		len -= n;
	}
	return ret;
}

/**
 * sroce_segs_rx_span() - sroce_span_fn: copy payload of received packets
 * @span: contiguous memory
 * @len: its length in bytes
 * @arg: struct sroce_rx_cursor, the source, which is advanced by @len
 *
 * Return: 0 or an error of sroce_pkt_copy().
 */
int sroce_segs_rx_span(void *span, u32 len, void *arg)
{
	struct sroce_rx_cursor *cur = arg;
	int ret;

	if (cur->pkt->segs)
		return copy_segs(cur, span, len);
	ret = sroce_pkt_copy(cur->pkt, cur->off, span, len);
	cur->off += len;
	return ret;
}
