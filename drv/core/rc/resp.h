/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Receive side of the responder. */
#ifndef SROCE_CORE_RC_RESP_H
#define SROCE_CORE_RC_RESP_H

#include <rdma/ib_verbs.h>

struct sroce_pkt;
struct sroce_qp;

void sroce_resp_complete(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			 enum ib_wc_status status);
void sroce_resp_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt);
bool sroce_resp_rx_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt);
void sroce_resp_faulted_in(struct sroce_qp *qp);

#endif /* SROCE_CORE_RC_RESP_H */
