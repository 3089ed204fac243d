/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Packets that wait for the owner of a QP. */
#ifndef SROCE_TASK_BACKLOG_H
#define SROCE_TASK_BACKLOG_H

#include <linux/types.h>

struct sk_buff;
struct sroce_kqp;
struct sroce_qp;

bool sroce_backlog_is_full(const struct sroce_kqp *kqp);
void sroce_backlog_queue(struct sroce_kqp *kqp, struct sk_buff *skb, u32 qpn, u32 n);
void sroce_backlog_add(struct sroce_kqp *kqp, struct sk_buff *skb, u32 qpn, u32 n);
void sroce_backlog_drain(struct sroce_qp *qp);
void sroce_backlog_drain_all(struct sroce_qp *qp);
void sroce_backlog_purge(struct sroce_kqp *kqp);

#endif /* SROCE_TASK_BACKLOG_H */
