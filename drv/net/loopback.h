/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory and queues of loopback packets. */
#ifndef SROCE_NET_LOOPBACK_H
#define SROCE_NET_LOOPBACK_H

#include <linux/types.h>

struct list_head;
struct sroce_lbpkt;
struct sroce_txq;

bool sroce_loopback_default(void);
int sroce_loopback_init(void);
void sroce_loopback_exit(void);
struct sroce_lbpkt *sroce_loopback_first(struct list_head *list);
bool sroce_loopback_take(struct sroce_txq *txq, struct list_head *list);
void sroce_loopback_del(struct sroce_lbpkt *lbpkt);
void sroce_loopback_purge(struct list_head *list);

#endif /* SROCE_NET_LOOPBACK_H */
