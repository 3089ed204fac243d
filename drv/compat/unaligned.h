/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* <asm/unaligned.h> moved in 6.12. */
#ifdef SROCE_HAVE_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif
