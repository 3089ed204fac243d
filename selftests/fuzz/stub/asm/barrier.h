/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* An index was read: from now on it may be another. race.c */
#ifndef FUZZ_ASM_BARRIER_H
#define FUZZ_ASM_BARRIER_H

#include_next <asm/barrier.h>

void fuzz_loaded(void *p);

#undef smp_load_acquire
#define smp_load_acquire(p) ({					\
	__typeof__(p) p_ = (p);					\
	__typeof__(*p_) v_ = __atomic_load_n(p_, __ATOMIC_ACQUIRE);	\
								\
	fuzz_loaded((void *)p_);				\
	v_; })

#endif
