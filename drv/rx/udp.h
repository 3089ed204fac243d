/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Packets received by the UDP sockets. */
#ifndef SROCE_RX_UDP_H
#define SROCE_RX_UDP_H

#include <linux/types.h>

struct sk_buff;
struct sock;
struct sroce_qp;
struct sroce_snet;

void sroce_udp_input(struct sroce_snet *sn, struct sk_buff *skb);
int sroce_udp_rcv(struct sock *sk, struct sk_buff *skb);
void sroce_udp_resume(struct sroce_qp *qp, struct sk_buff *skb, u32 qpn, u32 n);

#endif /* SROCE_RX_UDP_H */
