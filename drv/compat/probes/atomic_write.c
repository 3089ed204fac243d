// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: IB_DEVICE_ATOMIC_WRITE of <rdma/ib_verbs.h>
 * form 1 SROCE_HAVE_ATOMIC_WRITE: exists
 * form 2: is missing
 */
#if SROCE_FORM == 1
static inline long long probe_atomic_write(void)
{
	return IB_DEVICE_ATOMIC_WRITE;
}
#elif SROCE_FORM == 2
ABSENT_NAME(IB_DEVICE_ATOMIC_WRITE);
#endif
