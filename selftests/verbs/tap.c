// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Test results as TAP, and the time. */

#include <stdarg.h>
#include <time.h>
#include "vt.h"

static int cases, failed;

vt_why vt_because(const char *fmt, ...)
{
	static __thread char why[512];
	char text[sizeof(why)];	/* an argument may be the last reason */
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	memcpy(why, text, sizeof(why));
	return why;
}

void vt_report(vt_why why, const char *fmt, ...)
{
	char name[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	failed += !!why;
	printf("%sok %d - %s%s%s\n", why ? "not " : "", ++cases, name,
	       why ? " # " : "", why ? why : "");
	fflush(stdout);
}

void vt_skip(const char *why, const char *fmt, ...)
{
	char name[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	printf("ok %d - %s # SKIP %s\n", ++cases, name, why);
	fflush(stdout);
}

void vt_note(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

/* Print the plan; the result is the exit status. */
int vt_finish(void)
{
	printf("1..%d\n", cases);
	return failed || !cases;
}

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
