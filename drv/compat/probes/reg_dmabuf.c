// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: ib_device_ops.reg_user_mr_dmabuf of <rdma/ib_verbs.h>
 * form 1 SROCE_HAVE_DMABUF_DMAH: takes a DMA handle and the whole attribute bundle
 * form 2 SROCE_HAVE_DMABUF_ATTRS: takes the whole attribute bundle
 * form 3: takes the udata
 */
#if SROCE_FORM == 1
SAME_TYPE(((struct ib_device_ops *)0)->reg_user_mr_dmabuf,
	  struct ib_mr *(*)(struct ib_pd *, u64, u64, u64, int, int, struct ib_dmah *,
			    struct uverbs_attr_bundle *));
#elif SROCE_FORM == 2
SAME_TYPE(((struct ib_device_ops *)0)->reg_user_mr_dmabuf,
	  struct ib_mr *(*)(struct ib_pd *, u64, u64, u64, int, int,
			    struct uverbs_attr_bundle *));
#elif SROCE_FORM == 3
SAME_TYPE(((struct ib_device_ops *)0)->reg_user_mr_dmabuf,
	  struct ib_mr *(*)(struct ib_pd *, u64, u64, u64, int, int, struct ib_udata *));
#endif
