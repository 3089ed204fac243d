// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The memory of the machine. */

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
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

/* A line of /proc/meminfo, in KiB */
long vt_meminfo_kib(const char *name)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128], which[32];
	long kib = -1, n;

	while (f && kib < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "%31[^:]: %ld", which, &n) == 2 && !strcmp(which, name))
			kib = n;
	if (kib < 0)
		tap_bail("no %s in /proc/meminfo", name);
	fclose(f);
	return kib;
}

/* Free memory of the machine, in KiB */
long vt_free_kib(void)
{
	long kib = vt_meminfo_kib("MemFree");

	return kib + pcp_pages() * (getpagesize() / 1024);
}

/*
 * Have faults in memory, also those of the kernel, wait for this process. @fd: set, with @flags,
 * to what tells of them; @mode: UFFDIO_REGISTER_MODE_*
 */
why_t vt_userfault(int *fd, void *at, size_t len, int flags, uint64_t mode)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)at, .len = len }, .mode = mode,
	};

	*fd = syscall(SYS_userfaultfd, flags);
	CHECK(*fd >= 0 && !ioctl(*fd, UFFDIO_API, &api) && !ioctl(*fd, UFFDIO_REGISTER, &reg),
	      "userfaultfd: %s", strerror(errno));
	return NULL;
}
