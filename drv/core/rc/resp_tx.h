/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Transmit side of the responder. */
#ifndef SROCE_CORE_RC_RESP_TX_H
#define SROCE_CORE_RC_RESP_TX_H

#include "drv/core/wire/wire.h"

struct sroce_pkt;
struct sroce_qp;

void sroce_resp_tx_executed(struct sroce_qp *qp, u32 psn);
void sroce_resp_tx_ack(struct sroce_qp *qp, u32 psn);
void sroce_resp_tx_ack_again(struct sroce_qp *qp, const struct sroce_pkt *pkt);
void sroce_resp_tx_nak(struct sroce_qp *qp, enum sroce_nak code);
bool sroce_resp_tx_pages_late(const struct sroce_qp *qp, const struct sroce_pkt *pkt);
void sroce_resp_tx_rnr(struct sroce_qp *qp);
bool sroce_resp_tx_dup(struct sroce_qp *qp, const struct sroce_pkt *pkt);
void sroce_resp_tx_answered(struct sroce_qp *qp, u32 n);
bool sroce_resp_tx_run(struct sroce_qp *qp, u32 budget);

#endif /* SROCE_CORE_RC_RESP_TX_H */
