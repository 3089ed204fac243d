// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The time. */

#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include "vt.h"

uint64_t vt_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
}

void vt_sleep_ms(int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/*
 * Between two looks at what has to come, for which one waits since @since (us). What takes
 * milliseconds is waited for asleep: another VM may need the CPU.
 */
void vt_relax(uint64_t since)
{
	struct timespec ts = { .tv_nsec = 500 * 1000 };

	if (vt_now_us() - since < 2000)
		sched_yield();
	else
		nanosleep(&ts, NULL);
}

/* How many times slower all is where sanitizers make it so */
int vt_slowness(void)
{
	const char *slowness = getenv("SLOWNESS");

	return slowness ? atoi(slowness) : 1;
}

int vt_long_ms(void)
{
	return 20000 * vt_slowness();
}
