/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Transmission of packets. What the protocol calls is declared in drv/core/env.h. */
#ifndef SROCE_NET_TX_H
#define SROCE_NET_TX_H

#include <linux/types.h>

struct sk_buff_head;
struct sroce_dev;
struct sroce_qp;
struct sroce_txq;

bool sroce_tx_txq_can_append(struct sroce_txq *txq);
bool sroce_tx_prepare(struct sroce_qp *qp, struct sroce_txq *txq,
		      const struct sk_buff_head *list);
bool sroce_tx_xmit(struct sroce_dev *dev, struct sk_buff_head *list);

#endif /* SROCE_NET_TX_H */
