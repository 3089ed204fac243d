// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <rdma/ib_verbs.h>

long long probe(void)
{
	return IB_DEVICE_ATOMIC_WRITE;
}
