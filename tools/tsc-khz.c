// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Prints the frequency of this CPU's time stamp counter in kHz. An emulated CPU
 * has the same one, and measures it wrong if its host is busy at that moment.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES	5
#define SPAN_NS	10000000

struct point {
	uint64_t ns, tsc;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Both clocks at once: of some readings the one that took least time */
static struct point point(void)
{
	struct point best = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = __rdtsc(), ns = now(), after = __rdtsc();

		if (after - before < least) {
			least = after - before;
			best = (struct point){ ns, before + least / 2 };
		}
	}
	return best;
}

int main(void)
{
	struct point a = point(), b;

	do {
		b = point();
	} while (b.ns - a.ns < SPAN_NS);
	printf("%.0f\n", (b.tsc - a.tsc) * 1e6 / (b.ns - a.ns));
	return 0;
}
