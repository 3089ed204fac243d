/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_ASM_BARRIER_H
#define STUB_ASM_BARRIER_H

#define mb()			__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)

#endif
