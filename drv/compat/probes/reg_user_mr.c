// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: ib_device_ops.reg_user_mr of <rdma/ib_verbs.h>
 * form 1 SROCE_HAVE_REG_DMAH: takes a DMA handle
 * form 2: takes none
 */
#if SROCE_FORM == 1
SAME_TYPE(((struct ib_device_ops *)0)->reg_user_mr,
	  struct ib_mr *(*)(struct ib_pd *, u64, u64, u64, int, struct ib_dmah *,
			    struct ib_udata *));
#elif SROCE_FORM == 2
SAME_TYPE(((struct ib_device_ops *)0)->reg_user_mr,
	  struct ib_mr *(*)(struct ib_pd *, u64, u64, u64, int, struct ib_udata *));
#endif
