/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The version: of the module, of the firmware that the device reports, and of all
 * packages. tools/version.sh reads it from here.
 */
#ifndef SROCE_VERSION_H
#define SROCE_VERSION_H

#include <linux/stringify.h>
#include <linux/types.h>

#define SROCE_MAJOR	0
#define SROCE_MINOR	1
#define SROCE_PATCH	0

#define SROCE_VERSION							\
	__stringify(SROCE_MAJOR) "." __stringify(SROCE_MINOR) "."	\
	__stringify(SROCE_PATCH)

/* "+gCOMMIT" or "+gCOMMIT-dirty" in a module that was built in a git tree between tags */
#ifndef SROCE_GIT
#define SROCE_GIT	""
#endif

/* Major (32 bits), minor and patch (16 bits each), as libibverbs prints it */
#define SROCE_FW_VERSION						\
	((u64)SROCE_MAJOR << 32 | SROCE_MINOR << 16 | SROCE_PATCH)

#endif
