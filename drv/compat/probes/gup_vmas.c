// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/mm.h>

long probe(struct mm_struct *mm, struct page **page)
{
	return get_user_pages_remote(mm, 0, 1, 0, page, NULL, NULL);
}
