/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Buffers in which packets are built: memory for the wire, or loopback packets. */
#ifndef SROCE_CORE_TX_TXBUF_H
#define SROCE_CORE_TX_TXBUF_H

#include <linux/types.h>

struct sroce_av;
struct sroce_lbpkt;
struct sroce_pkt;
struct sroce_qp;
struct sroce_wqe;

/**
 * struct sroce_txbuf - buffer of a packet to send
 * @bth: memory for the wire, from BTH on
 * @lbpkt: or a loopback packet
 *
 * Both are NULL without memory or route. The packet counts as sent then, and is recovered
 * like a packet lost on the wire.
 */
struct sroce_txbuf {
	u8			*bth;
	struct sroce_lbpkt	*lbpkt;
};

u32 sroce_txbuf_max_payload(const struct sroce_qp *qp, const struct sroce_pkt *pkt);
void sroce_txbuf_alloc(struct sroce_qp *qp, const struct sroce_pkt *pkt,
		       struct sroce_txbuf *txbuf);
int sroce_txbuf_fill_wqe(struct sroce_qp *qp, struct sroce_av *av,
			 const struct sroce_pkt *pkt, const struct sroce_wqe *wqe,
			 u32 off, struct sroce_txbuf *txbuf);
int sroce_txbuf_fill_remote(struct sroce_qp *qp, const struct sroce_pkt *pkt, u32 rkey,
			    u64 va, u32 left, struct sroce_txbuf *txbuf);
void sroce_txbuf_commit(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			struct sroce_txbuf *txbuf);

#endif /* SROCE_CORE_TX_TXBUF_H */
