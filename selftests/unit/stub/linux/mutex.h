/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_LINUX_MUTEX_H
#define STUB_LINUX_MUTEX_H

struct mutex { int unused; };

#endif
