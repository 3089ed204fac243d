/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_LINUX_REFCOUNT_H
#define STUB_LINUX_REFCOUNT_H

typedef struct { int refs; } refcount_t;

#endif
