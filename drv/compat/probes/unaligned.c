// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: the header of get_unaligned_be32()
 * form 1 SROCE_HAVE_LINUX_UNALIGNED: is <linux/unaligned.h>
 * form 2: is <asm/unaligned.h>
 */
#if SROCE_FORM == 1
#if __has_include(<linux/unaligned.h>)
#include <linux/unaligned.h>
#else
#error "there is no <linux/unaligned.h>"
#endif

static inline u32 probe_unaligned(const void *p)
{
	return get_unaligned_be32(p);
}
#elif SROCE_FORM == 2
#if __has_include(<linux/unaligned.h>) || !__has_include(<asm/unaligned.h>)
#error "there is <linux/unaligned.h>, or no <asm/unaligned.h>"
#else
#include <asm/unaligned.h>
#endif

static inline u32 probe_unaligned(const void *p)
{
	return get_unaligned_be32(p);
}
#endif
