// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The time. */

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
