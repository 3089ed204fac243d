// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: ib_device_ops.counter_bind_qp and .counter_unbind_qp of <rdma/ib_verbs.h>
 * form 1 SROCE_HAVE_COUNTER_PORT: take the port
 * form 2: do not
 */
#if SROCE_FORM == 1
SAME_TYPE(((struct ib_device_ops *)0)->counter_bind_qp,
	  int (*)(struct rdma_counter *, struct ib_qp *, u32));
SAME_TYPE(((struct ib_device_ops *)0)->counter_unbind_qp,
	  int (*)(struct ib_qp *, u32));
#elif SROCE_FORM == 2
SAME_TYPE(((struct ib_device_ops *)0)->counter_bind_qp,
	  int (*)(struct rdma_counter *, struct ib_qp *));
SAME_TYPE(((struct ib_device_ops *)0)->counter_unbind_qp, int (*)(struct ib_qp *));
#endif
