/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SROCE_COPY_H
#define SROCE_COPY_H

void sroce_copy_init(void);

#endif /* SROCE_COPY_H */
