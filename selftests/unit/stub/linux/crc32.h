/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_LINUX_CRC32_H
#define STUB_LINUX_CRC32_H

#include <linux/types.h>

u32 crc32_le(u32 crc, const void *data, size_t len);

#endif
