/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* CRC-32 by the fastest means of this kernel. */
#ifndef SROCE_NET_CRC_H
#define SROCE_NET_CRC_H

#include <linux/types.h>

void sroce_crc_init(void);
void sroce_crc_exit(void);

#endif /* SROCE_NET_CRC_H */
