// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Commands of the shell. */

#include <stdarg.h>
#include "vt.h"

why_t vt_run_cmd(const char *fmt, ...)
{
	char cmd[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	CHECK(!system(cmd), "'%s' fails", cmd);
	return NULL;
}
