/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_LINUX_SPINLOCK_H
#define STUB_LINUX_SPINLOCK_H

typedef struct { int unused; } spinlock_t;

#endif
