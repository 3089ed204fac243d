/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Choice of the CPU that receives packets of a virtual link. */
#ifndef SROCE_TASK_STEER_H
#define SROCE_TASK_STEER_H

#include <linux/types.h>

struct sk_buff;
struct sroce_snet;

void sroce_steer_note_tx(void);
void sroce_steer_note_doorbell(void);
bool sroce_steer(struct sroce_snet *sn, struct sk_buff *skb);
void sroce_steer_flush(const struct sroce_snet *sn);
void sroce_steer_init(void (*rcv)(struct sroce_snet *sn, struct sk_buff *skb));
void sroce_steer_exit(void);

#endif /* SROCE_TASK_STEER_H */
