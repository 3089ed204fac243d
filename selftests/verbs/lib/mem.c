// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The memory of the machine. */

#include <unistd.h>
#include "vt.h"

/* Pages in the lists of the CPUs, which are free, too: from 6.7 on, many */
static long pcp_pages(void)
{
	FILE *f = fopen("/proc/zoneinfo", "r");
	char line[128];
	long n, sum = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " count: %ld", &n) == 1)
			sum += n;
	if (!f)
		tap_bail("/proc/zoneinfo: %s", strerror(errno));
	fclose(f);
	return sum;
}

/* Free memory of the machine, in KiB */
long vt_free_kib(void)
{
	char line[128];
	long kib = -1;
	FILE *f;

	f = fopen("/proc/meminfo", "r");
	while (f && kib < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "MemFree: %ld", &kib);
	if (kib < 0)
		tap_bail("no MemFree in /proc/meminfo");
	fclose(f);
	return kib + pcp_pages() * (getpagesize() / 1024);
}
