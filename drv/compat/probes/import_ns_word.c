// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <linux/module.h>

/* where a string is wanted, this names a variable that isn't there */
MODULE_IMPORT_NS(DMA_BUF);
