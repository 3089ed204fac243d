/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_ASM_UNALIGNED_H
#define STUB_ASM_UNALIGNED_H

#include <linux/types.h>
#include <string.h>

#define STUB_UNALIGNED(bits)					\
static inline u##bits get_unaligned_be##bits(const void *p)	\
{								\
	uint##bits##_t v;					\
								\
	memcpy(&v, p, sizeof(v));				\
	return be##bits##toh(v);				\
}								\
								\
static inline void put_unaligned_be##bits(u##bits val, void *p)	\
{								\
	uint##bits##_t v = htobe##bits(val);			\
								\
	memcpy(p, &v, sizeof(v));				\
}

STUB_UNALIGNED(16)
STUB_UNALIGNED(32)
STUB_UNALIGNED(64)

#undef STUB_UNALIGNED

#endif
