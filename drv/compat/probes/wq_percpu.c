// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/workqueue.h>

int probe(void)
{
	return WQ_PERCPU;
}
