/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SROCE_CRC_H
#define SROCE_CRC_H

void sroce_crc_init(void);
void sroce_crc_exit(void);

#endif /* SROCE_CRC_H */
