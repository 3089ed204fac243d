// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: ib_mark_name_assigned_by_user() of <rdma/ib_verbs.h>
 * form 1 SROCE_HAVE_MARK_NAME: exists
 * form 2: is missing
 */
#if SROCE_FORM == 1
SAME_TYPE(&ib_mark_name_assigned_by_user, void (*)(struct ib_device *));
#elif SROCE_FORM == 2
ABSENT_FUNCTION(ib_mark_name_assigned_by_user);
#endif
