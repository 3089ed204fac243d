/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Packets of one message that are laid out or received at once. */
#ifndef SROCE_CORE_TX_SEGS_H
#define SROCE_CORE_TX_SEGS_H

#include "drv/core/wire/pkt.h"

struct sroce_qp;
struct sroce_wqe;

/**
 * sroce_segs_gap() - bytes between the payloads of two consecutive packets
 * @pkt: the first of the packets that were laid out or received at once
 */
static inline u32 sroce_segs_gap(const struct sroce_pkt *pkt)
{
	return SROCE_ICRC_LEN + pkt->op->hdr_len;
}

/**
 * struct sroce_rx_cursor - position in the payload of received packets
 * @pkt: the packet, or the first of several that were received at once
 * @off: bytes copied; with several packets, headers and ICRCs between them included
 * @left: with several packets: bytes of payload left in the present one
 * @n: with several packets: how many were begun
 */
struct sroce_rx_cursor {
	const struct sroce_pkt	*pkt;
	u32			off;
	u32			left;
	u32			n;
};

int sroce_segs_tx_wqe(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		      const struct sroce_wqe *wqe, u32 off, u32 n);
u32 sroce_segs_tx_remote(struct sroce_qp *qp, const struct sroce_pkt *pkt, u32 rkey,
			 u64 va, u32 n);
int sroce_segs_rx_span(void *span, u32 len, void *arg);

#endif /* SROCE_CORE_TX_SEGS_H */
