// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Test cases made of checks */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "check.h"
#include "tap.h"

#define NOTES_MAX 8	/* reasons printed per case */

static char name[256], where[128];
static int reasons;
static bool open_case;

static void close_case(void)
{
	if (!open_case)
		return;
	open_case = false;
	/* the notes have said why */
	tap_report(reasons ? "" : NULL, "%s", name);
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
	char why[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (t_on_fail)
		t_on_fail(file, line, why);
	else if (reasons++ < NOTES_MAX)
		tap_note("%s:%d: %s%s%s: %s", file, line, name,
			 *where ? ", " : "", where, why);
}

/* Whether nothing has failed in this case so far */
bool t_ok(void)
{
	return !reasons;
}

/* End the last case. The rest is as with tap_finish(). */
int t_finish(void)
{
	close_case();
	return tap_finish();
}
