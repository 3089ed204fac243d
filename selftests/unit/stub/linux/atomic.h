/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_LINUX_ATOMIC_H
#define STUB_LINUX_ATOMIC_H

typedef struct { int counter; } atomic_t;

#define atomic_read(v)	((v)->counter)
#define atomic_inc(v)	((void)(v)->counter++)
#define atomic_dec(v)	((void)(v)->counter--)

#endif
