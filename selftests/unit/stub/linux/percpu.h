/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_LINUX_PERCPU_H
#define STUB_LINUX_PERCPU_H

/* One CPU; and what env.h takes from linux/atomic.h by way of this. */
#define this_cpu_inc(x)		((x)++)
#define this_cpu_add(x, n)	((x) += (n))
#define cmpxchg(p, old, new)	__sync_val_compare_and_swap(p, old, new)
#define cmpxchg64(p, old, new)	__sync_val_compare_and_swap(p, old, new)
#define atomic64_fetch_add(n, v) \
	__atomic_fetch_add(&(v)->counter, (s64)(n), __ATOMIC_SEQ_CST)

#endif
