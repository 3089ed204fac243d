// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Explicit congestion notification (Annex A17.9.3): a queue on the path marks packets
 * instead of dropping them. The receiver of a marked packet tells its sender by a
 * congestion notification packet (CNP), as DCQCN's notification point does. What the
 * sender does then is in rc/cc.c.
 */

#include <linux/string.h>
#include "drv/core/ecn.h"
#include "drv/core/env.h"
#include "drv/core/rc/cc.h"
#include "drv/core/wire/pkt.h"

/* Bytes of a CNP behind the BTH, reserved */
#define CNP_LEN		16

static bool is_read_response(const struct sroce_pkt *pkt)
{
	return pkt->op->flags & SROCE_READING && pkt->op->flags & SROCE_RESPONSE;
}

/* ACKs, NAKs and atomic responses fill no queue: their sender need not slow down. */
static bool is_short_response(const struct sroce_pkt *pkt)
{
	return pkt->op->flags & SROCE_RESPONSE && !is_read_response(pkt);
}

/**
 * sroce_ecn_rx() - note that a packet was received, which may be marked
 * @qp: the QP, RC or UC, locked
 * @pkt: the packet, or several
 *
 * Where this side has a window of READ responses, that gives way. A CNP would have the
 * responder slow down as well, and so twice. Several responses have been processed already:
 * they were expected, and are before req.una.
 */
void sroce_ecn_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	u64 now;

	if (!pkt->ce)
		return;
	sroce_count_n(qp, SROCE_CNT_RX_MARKED, max(pkt->segs, 1U));
	if (qp->cc && is_read_response(pkt)) {
		if (pkt->segs || (sroce_psn_diff(pkt->psn, qp->req.una) >= 0 &&
				  sroce_psn_diff(pkt->psn, qp->req.max_psn) < 0))
			sroce_cc_read_marked(qp);
		return;
	}
	if (is_short_response(pkt))
		return;
	now = sroce_now();
	if (qp->cnp_at && now - qp->cnp_at < SROCE_CNP_INTERVAL)
		return;
	qp->cnp_at = now;
	qp->cnp_due = true;
}

/**
 * sroce_ecn_tx() - send the CNP that is due
 * @qp: the QP, RC or UC, locked
 *
 * Without memory or route there is none: another marked packet will follow.
 */
void sroce_ecn_tx(struct sroce_qp *qp)
{
	struct sroce_pkt pkt = {
		.opcode = SROCE_OP_CNP, .op = &sroce_opcodes[SROCE_OP_CNP],
		.pkey = SROCE_PKEY_FULL, .qpn = qp->attr.dest_qp_num,
		.payload_len = CNP_LEN,
	};
	u8 *bth;

	qp->cnp_due = false;
	bth = sroce_tx_begin(qp, &qp->av, pkt.op->hdr_len + CNP_LEN, true);
	if (!bth)
		return;
	sroce_pkt_build(&pkt, bth);
	memset(bth + pkt.op->hdr_len, 0, CNP_LEN);
	sroce_tx_commit(qp, 1);
	sroce_count(qp, SROCE_CNT_CNP_SENT);
}
