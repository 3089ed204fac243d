/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Packets that NAPI brought together, as one train. */
#ifndef SROCE_RX_GRO_H
#define SROCE_RX_GRO_H

struct list_head;
struct sk_buff;
struct sock;

struct sk_buff *sroce_gro_receive(struct sock *sk, struct list_head *head, struct sk_buff *skb);

#endif /* SROCE_RX_GRO_H */
