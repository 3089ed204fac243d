/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef STUB_LINUX_SLAB_H
#define STUB_LINUX_SLAB_H

#include <stdlib.h>

#define GFP_ATOMIC	0
#define __GFP_NOWARN	0
#define kmalloc(size, gfp)	sim_kmalloc(size)
#define kfree(p)		free(p)

/* env.c: may fail on purpose */
void *sim_kmalloc(size_t len);

#endif
