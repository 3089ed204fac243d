// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The device's hw_counters. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "wire.h"

static void dir_of(const struct wt_dut *d, char *to, size_t size)
{
	snprintf(to, size, "/sys/class/infiniband/%s/ports/1/hw_counters",
		 d->name);
}

why_t wt_counters_list(struct wt_dut *d)
{
	struct dirent *e;
	char path[256];
	DIR *dir;

	dir_of(d, path, sizeof(path));
	dir = opendir(path);
	CHECK(dir, "%s: %s", path, strerror(errno));
	while ((e = readdir(dir)) && d->ncounters < WT_COUNTERS) {
		if (e->d_name[0] == '.' || !strcmp(e->d_name, "lifespan"))
			continue;
		snprintf(d->counter[d->ncounters++], WT_NAME, "%.*s",
			 WT_NAME - 1, e->d_name);
	}
	closedir(dir);
	CHECK(d->ncounters, "%s has no counters", d->name);
	return NULL;
}

why_t wt_counters_read(const struct wt_dut *d, uint64_t *values)
{
	char dir[256], path[320], text[32];

	dir_of(d, dir, sizeof(dir));
	/* the kernel keeps a snapshot for a millisecond */
	wt_sleep(1100);
	for (int i = 0; i < d->ncounters; i++) {
		ssize_t n;
		int fd;

		snprintf(path, sizeof(path), "%s/%s", dir, d->counter[i]);
		fd = open(path, O_RDONLY);
		CHECK(fd >= 0, "%s: %s", path, strerror(errno));
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		CHECK(n > 0, "%s: %s", path, strerror(errno));
		text[n] = 0;
		values[i] = strtoull(text, NULL, 0);
	}
	return NULL;
}
