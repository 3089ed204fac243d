// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* check.h for fuzzing: a check that fails is a crash. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "../unit/check.h"

void t_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	abort();
}

/* Inputs are many and small: a long quarantine costs more than it finds. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8:malloc_context_size=10";
}
