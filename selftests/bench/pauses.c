// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * How long a machine keeps programs that only count: two that do, on a CPU each, take the
 * time of windows in which they count as far as takes so many us in the median. Prints
 * quantiles, in us.
 *
 * usage: pauses [us]
 */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WINDOWS	60000
#define FEW	2000

static uint32_t spans[2 * WINDOWS];
static unsigned long far = 100;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static uint32_t window(void)
{
	uint64_t start = now();
	volatile unsigned long n;

	for (n = 0; n < far; n++)
		;
	return now() - start;
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void *count(void *arg)
{
	int cpu = (intptr_t)arg, i;
	uint32_t *mine = spans + cpu * WINDOWS;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (i = 0; i < WINDOWS; i++)
		mine[i] = window();
	return NULL;
}

/* As far as the median takes so many ns */
static void calibrate(uint32_t ns)
{
	int round, i;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < FEW; i++)
			spans[i] = window();
		qsort(spans, FEW, sizeof(spans[0]), by_size);
		far = far * ns / (spans[FEW / 2] + 1) + 1;
	}
}

static double us(double quantile)
{
	return spans[(size_t)(quantile * 2 * WINDOWS)] / 1000.0;
}

int main(int argc, char **argv)
{
	pthread_t other;

	calibrate(1000 * (argc > 1 ? atoi(argv[1]) : 20));
	if (pthread_create(&other, NULL, count, (void *)1))
		return 1;
	count((void *)0);
	pthread_join(other, NULL);
	qsort(spans, 2 * WINDOWS, sizeof(spans[0]), by_size);
	printf("p50 %.1f p99 %.1f p99.9 %.1f p99.99 %.1f\n", us(0.5), us(0.99),
	       us(0.999), us(0.9999));
	return 0;
}
