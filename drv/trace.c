// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The one file that defines the tracepoints declared in trace.h. */
#define CREATE_TRACE_POINTS
#include "drv/trace.h"
