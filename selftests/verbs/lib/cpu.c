// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Which CPU a thread runs on. */

#define _GNU_SOURCE
#include <sched.h>
#include "vt.h"

/* The calling thread stays on @cpu; a negative one gives it back to the scheduler. */
void vt_run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu < 0)
		memset(&set, 0xff, sizeof(set));
	else
		CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		tap_bail("CPU %d: %s", cpu, strerror(errno));
}
