/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_LINUX_COMPLETION_H
#define STUB_LINUX_COMPLETION_H

struct completion { int unused; };

#endif
