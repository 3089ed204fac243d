// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <rdma/ib_verbs.h>

struct ib_mr *reg(struct ib_pd *pd, u64 offset, u64 length, u64 iova, int fd,
		  int access, struct uverbs_attr_bundle *attrs);
struct ib_device_ops probe(void);
struct ib_device_ops probe(void)
{
	struct ib_device_ops ops = { .reg_user_mr_dmabuf = reg };

	/* a differing argument is only a warning unless told otherwise */
	_Static_assert(__builtin_types_compatible_p(
			typeof(ops.reg_user_mr_dmabuf), typeof(&reg)), "");
	return ops;
}
