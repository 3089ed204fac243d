/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The request packets of a work request. */
#ifndef SROCE_CORE_RC_REQ_PKT_H
#define SROCE_CORE_RC_REQ_PKT_H

#include "drv/core/qp.h"

struct sroce_txbuf;

/**
 * sroce_req_pkt_offset() - offset of a packet in the payload of its work request
 * @qp: the QP
 * @wqe: the work request
 * @psn: PSN of the packet
 *
 * Return: bytes.
 */
static inline u32 sroce_req_pkt_offset(const struct sroce_qp *qp,
				       const struct sroce_wqe *wqe, u32 psn)
{
	return sroce_psn_diff(psn, wqe->first_psn) * qp->mtu;
}

bool sroce_req_pkt_is_multicast(const struct sroce_qp *qp, const struct sroce_wqe *wqe);
bool sroce_req_pkt_describe(struct sroce_qp *qp, const struct sroce_wqe *wqe, u32 psn,
			    struct sroce_pkt *pkt);
int sroce_req_pkt_alloc(struct sroce_qp *qp, const struct sroce_wqe *wqe,
			const struct sroce_pkt *pkt, struct sroce_txbuf *txbuf);
u32 sroce_req_pkt_end(const struct sroce_qp *qp, const struct sroce_wqe *wqe,
		      const struct sroce_pkt *pkt);
u32 sroce_req_pkt_psn_after(struct sroce_qp *qp, u32 psn);
int sroce_req_pkt_resend_read(struct sroce_qp *qp, struct sroce_wqe *wqe, u32 from,
			      u32 end);

#endif /* SROCE_CORE_RC_REQ_PKT_H */
