// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <rdma/ib_verbs.h>

int create(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
	   struct uverbs_attr_bundle *attrs);
struct ib_device_ops probe(void);
struct ib_device_ops probe(void)
{
	struct ib_device_ops ops = { .create_cq = create };

	/* a differing argument is only a warning unless told otherwise */
	_Static_assert(__builtin_types_compatible_p(typeof(ops.create_cq),
						    typeof(&create)), "");
	return ops;
}
