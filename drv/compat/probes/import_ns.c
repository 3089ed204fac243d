// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: the argument of MODULE_IMPORT_NS() of <linux/module.h>
 * form 1 SROCE_HAVE_IMPORT_NS_WORD: is a word
 * form 2: is a string
 */
/* a macro that makes a string of a word adds quotes to a string */
#undef MODULE_INFO
#define MODULE_INFO(tag, info) _Static_assert(sizeof(info) == sizeof("DMA_BUF"), "")

#if SROCE_FORM == 1
MODULE_IMPORT_NS(DMA_BUF);
#elif SROCE_FORM == 2
MODULE_IMPORT_NS("DMA_BUF");
#endif
