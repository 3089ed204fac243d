/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A barrier is where the other side of a ring gets its chance: race.c */
#ifndef FUZZ_LINUX_COMPILER_H
#define FUZZ_LINUX_COMPILER_H

#include_next <linux/compiler.h>

void fuzz_barrier(void);

#undef barrier
#define barrier()	fuzz_barrier()

#endif
