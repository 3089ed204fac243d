/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which of two ways is faster here is tried out when the module is loaded. */
#ifndef SROCE_TRIAL_H
#define SROCE_TRIAL_H

#include <linux/compiler.h>
#include <linux/ktime.h>
#include <linux/minmax.h>

#define SROCE_CALIBRATE_RUNS	16

/* Shortest time in ns that @stmt takes, done twice: what disturbs it is left out. */
#define sroce_calibrate(stmt) ({					\
	u64 __best = U64_MAX;					\
	int __i;						\
								\
	for (__i = 0; __i < SROCE_CALIBRATE_RUNS; __i++) {		\
		u64 __start = ktime_get_ns();			\
								\
		stmt;						\
		barrier(); /* or the second is known from the first */	\
		stmt;						\
		__best = min(__best, ktime_get_ns() - __start);	\
	}							\
	__best;							\
})

/* Worth it: saves a quarter */
static inline bool sroce_calibrate_won(u64 ns, u64 other_ns)
{
	return ns * 4 < other_ns * 3;
}

#endif /* SROCE_TRIAL_H */
