/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Pages of files and the like that a region will pin, and that may never come. */
#ifndef SROCE_MEM_FILEPAGES_H
#define SROCE_MEM_FILEPAGES_H

#include <linux/types.h>

struct sroce_dev;

int sroce_filepages_read(struct sroce_dev *dev, u64 start, u64 length, int access);

#endif /* SROCE_MEM_FILEPAGES_H */
