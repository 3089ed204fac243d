// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The TAP writer of the tests in C, see tap.h. */

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "tap.h"

static int cases, failed;

/* A line: what the caller says of it, between @before and @after */
static void line(const char *before, const char *fmt, va_list ap,
		 const char *mark, const char *after)
{
	printf("%s", before);
	vprintf(fmt, ap);
	printf("%s%s\n", mark, after);
	fflush(stdout);
}

static void result(bool ok, const char *fmt, va_list ap, const char *mark,
		   const char *after)
{
	char before[32];

	snprintf(before, sizeof(before), "%sok %d - ", ok ? "" : "not ",
		 ++cases);
	line(before, fmt, ap, mark, after);
}

void tap_report(const char *why, const char *fmt, ...)
{
	va_list ap;

	failed += !!why;
	va_start(ap, fmt);
	result(!why, fmt, ap, why && *why ? " # " : "", why ? why : "");
	va_end(ap);
}

void tap_skip(const char *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	result(true, fmt, ap, " # SKIP ", why);
	va_end(ap);
}

void tap_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line("# ", fmt, ap, "", "");
	va_end(ap);
}

void tap_bail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	line("Bail out! ", fmt, ap, "", "");
	va_end(ap);
	exit(2);
}

int tap_finish(void)
{
	printf("1..%d\n", cases);
	return failed || !cases;
}
