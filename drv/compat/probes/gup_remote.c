// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: get_user_pages_remote() of <linux/mm.h>
 * form 1 SROCE_HAVE_GUP_VMAS: takes an array of areas
 * form 2: takes none
 */
#if SROCE_FORM == 1
SAME_TYPE(&get_user_pages_remote,
	  long (*)(struct mm_struct *, unsigned long, unsigned long, unsigned int,
		   struct page **, struct vm_area_struct **, int *));
#elif SROCE_FORM == 2
SAME_TYPE(&get_user_pages_remote,
	  long (*)(struct mm_struct *, unsigned long, unsigned long, unsigned int,
		   struct page **, int *));
#endif
