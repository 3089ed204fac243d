// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: WQ_PERCPU of <linux/workqueue.h>
 * form 1 SROCE_HAVE_WQ_PERCPU: exists
 * form 2: is missing
 */
#if SROCE_FORM == 1
static inline int probe_wq_percpu(void)
{
	return WQ_PERCPU;
}
#elif SROCE_FORM == 2
ABSENT_NAME(WQ_PERCPU);
#endif
