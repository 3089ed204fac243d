// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: FLUSH of <rdma/ib_verbs.h>
 * form 1 SROCE_HAVE_FLUSH: is a work request, an access right and a capability
 * form 2: is missing
 */
#if SROCE_FORM == 1
static inline long long probe_flush(void)
{
	return IB_DEVICE_FLUSH_GLOBAL | IB_ACCESS_FLUSH_GLOBAL | IB_WR_FLUSH;
}
#elif SROCE_FORM == 2
ABSENT_NAME(IB_DEVICE_FLUSH_GLOBAL);
ABSENT_NAME(IB_ACCESS_FLUSH_GLOBAL);
ABSENT_NAME(IB_WR_FLUSH);
#endif
