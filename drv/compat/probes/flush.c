// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <rdma/ib_verbs.h>

long long probe(void)
{
	return IB_DEVICE_FLUSH_GLOBAL | IB_ACCESS_FLUSH_GLOBAL | IB_WR_FLUSH;
}
