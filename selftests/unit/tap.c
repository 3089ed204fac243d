// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Test cases that print TAP */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "tap.h"

#define NOTES_MAX 8	/* reasons printed per case */

static char name[256], where[128];
static int cases, failed, reasons;
static bool open_case;

static void close_case(void)
{
	if (!open_case)
		return;
	open_case = false;
	failed += reasons > 0;
	printf("%sok %d - %s\n", reasons ? "not " : "", ++cases, name);
	fflush(stdout);
}

void t_case(const char *fmt, ...)
{
	va_list ap;

	close_case();
	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	open_case = true;
	reasons = 0;
	where[0] = 0;
}

void t_where(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(where, sizeof(where), fmt, ap);
	va_end(ap);
}

void (*t_on_fail)(const char *file, int line, const char *why);

void t_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	if (t_on_fail) {
		char why[512];

		va_start(ap, fmt);
		vsnprintf(why, sizeof(why), fmt, ap);
		va_end(ap);
		t_on_fail(file, line, why);
		return;
	}
	if (reasons++ >= NOTES_MAX)
		return;
	printf("# %s:%d: %s%s%s: ", file, line, name, *where ? ", " : "",
	       where);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

void t_note(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

/* Whether nothing has failed in this case so far */
bool t_ok(void)
{
	return !reasons;
}

/* Print the plan; the result is the exit status. */
int t_finish(void)
{
	close_case();
	printf("1..%d\n", cases);
	return failed || !cases;
}
