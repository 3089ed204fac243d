// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: ib_device_ops.create_user_cq of <rdma/ib_verbs.h>
 * form 1 SROCE_HAVE_CREATE_USER_CQ: exists, and create_cq makes CQs of the kernel only
 * form 2: is missing
 */
#if SROCE_FORM == 1
SAME_TYPE(((struct ib_device_ops *)0)->create_user_cq,
	  int (*)(struct ib_cq *, const struct ib_cq_init_attr *,
		  struct uverbs_attr_bundle *));
#elif SROCE_FORM == 2
ABSENT_MEMBER(struct ib_device_ops, create_user_cq);
#endif
