// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: resizing CQs by struct ib_device_ops of <rdma/ib_verbs.h>
 * form 1 SROCE_HAVE_RESIZE_USER_CQ: is resize_user_cq, for CQs of user space
 * form 2: is resize_cq
 */
#if SROCE_FORM == 1
SAME_TYPE(((struct ib_device_ops *)0)->resize_user_cq,
	  int (*)(struct ib_cq *, unsigned int, struct ib_udata *));
#elif SROCE_FORM == 2
SAME_TYPE(((struct ib_device_ops *)0)->resize_cq,
	  int (*)(struct ib_cq *, int, struct ib_udata *));
#endif
