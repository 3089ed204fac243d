// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: gup_must_unshare() of <linux/mm.h>, whose series ended the forced pins of umem
 * form 1 SROCE_HAVE_UMEM_FORCE: takes no area, or RHEL 9 has taken umem's part back
 * form 2: takes an area
 * form 3: is not there
 */
#if defined(RHEL_MAJOR) && RHEL_MAJOR == 9
_Static_assert(SROCE_FORM == 1, "");
#elif SROCE_FORM == 1
SAME_TYPE(&gup_must_unshare, bool (*)(unsigned int, struct page *));
#elif SROCE_FORM == 2
SAME_TYPE(&gup_must_unshare, bool (*)(struct vm_area_struct *, unsigned int, struct page *));
#elif SROCE_FORM == 3
ABSENT_FUNCTION(gup_must_unshare);
#endif
