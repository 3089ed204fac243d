/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Entry points of the core: a QP receives packets, then sends what it may send. */
#ifndef SROCE_CORE_TRANSPORT_H
#define SROCE_CORE_TRANSPORT_H

#include <linux/types.h>

struct sroce_pkt;
struct sroce_qp;

void sroce_transport_rx(struct sroce_qp *qp, const struct sroce_pkt *pkt);
bool sroce_transport_rx_segs(struct sroce_qp *qp, const struct sroce_pkt *pkt);
bool sroce_transport_run(struct sroce_qp *qp);
void sroce_transport_tx_dropped(struct sroce_qp *qp, bool response);
void sroce_transport_faulted_in(struct sroce_qp *qp);

#endif /* SROCE_CORE_TRANSPORT_H */
