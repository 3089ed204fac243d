/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_LINUX_KERNEL_H
#define STUB_LINUX_KERNEL_H

#include <linux/types.h>
#include <linux/compiler.h>

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define IS_ALIGNED(x, a)	(((x) & ((a) - 1)) == 0)
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define max_t(type, a, b)	((type)(a) > (type)(b) ? (type)(a) : (type)(b))
/* As in the kernel, operands of different type or sign don't compile. */
#define min3(a, b, c)		min(a, min(b, c))
#define min(a, b) ({				\
	__typeof__(a) min_a_ = (a);		\
	__typeof__(b) min_b_ = (b);		\
	(void)(&min_a_ == &min_b_);		\
	min_a_ < min_b_ ? min_a_ : min_b_; })
#define max(a, b) ({				\
	__typeof__(a) max_a_ = (a);		\
	__typeof__(b) max_b_ = (b);		\
	(void)(&max_a_ == &max_b_);		\
	max_a_ > max_b_ ? max_a_ : max_b_; })
#define min_not_zero(a, b) ({			\
	__typeof__(a) nz_a_ = (a);		\
	__typeof__(b) nz_b_ = (b);		\
	!nz_a_ ? nz_b_ : !nz_b_ ? nz_a_ : min(nz_a_, nz_b_); })
#define max3(a, b, c)		max(a, max(b, c))
#define clamp(val, lo, hi)	min(max(val, lo), hi)
#define clamp_t(type, val, lo, hi)	\
	min_t(type, max_t(type, val, lo), hi)
#define roundup(x, y)		((((x) + (y) - 1) / (y)) * (y))
#define container_of(ptr, type, member)	\
	((type *)((char *)(ptr) - offsetof(type, member)))

#endif
