/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Explicit congestion notification: marked packets, and CNPs for them. */
#ifndef SROCE_CORE_ECN_H
#define SROCE_CORE_ECN_H

struct sroce_pkt;
struct sroce_qp;

void sroce_ecn_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt);
void sroce_ecn_tx(struct sroce_qp *qp);

#endif /* SROCE_CORE_ECN_H */
