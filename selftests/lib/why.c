// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Reasons: what was wrong, in words. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "why.h"

why_t because(const char *fmt, ...)
{
	static __thread char why[1024];
	char text[sizeof(why)];		/* an argument may be the last reason */
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	memcpy(why, text, sizeof(why));
	return why;
}
