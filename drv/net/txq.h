/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Transmit queues of a QP: how much of them this host holds, and which queue it goes by. */
#ifndef SROCE_NET_TXQ_H
#define SROCE_NET_TXQ_H

#include <linux/skbuff.h>
#include "drv/lookup/kqp.h"

/* Queue an skb behind the others. The QP is locked. */
static inline void sroce_txq_add(struct sroce_txq *txq, struct sk_buff *skb)
{
	__skb_queue_tail(&txq->skbs, skb);
	txq->queued += skb->truesize;
}

bool sroce_txq_is_given(const struct sroce_txq *txq);
bool sroce_txq_is_overtaken(struct sroce_txq *txq, const struct sk_buff *skb);
bool sroce_txq_must_wait(struct sroce_txq *txq);
u64 sroce_txq_wait_left(const struct sroce_txq *txq);
void sroce_txq_purge(struct sroce_txq *txq);
int sroce_txq_open(struct sroce_qp *qp);
void sroce_txq_stop(struct sroce_kqp *kqp);
void sroce_txq_close(struct sroce_kqp *kqp);
void sroce_txq_own(struct sroce_kqp *kqp, struct sroce_txq *txq, struct sk_buff *skb);

#endif /* SROCE_NET_TXQ_H */
