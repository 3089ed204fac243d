/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What /dev/oddbuf is asked, by kernel and programs. */
#ifndef ODDBUF_H
#define ODDBUF_H

#include <linux/ioctl.h>

/* A dma-buf of 1 MiB, as a file descriptor; the argument says how it is odd */
#define ODDBUF_MAKE	_IO('o', 1)
enum oddbuf_kind {
	ODDBUF_DYNAMIC,		/* it would move, were it not pinned */
	ODDBUF_IO,		/* it is memory of a device */
	ODDBUF_NO_VMAP,		/* the kernel can't have it mapped */
	ODDBUF_NO_ATTACH,
	ODDBUF_NO_PIN,
	ODDBUF_NO_MAP,
	ODDBUF_NO_ACCESS,
	ODDBUF_KINDS
};

/* How many attachments, pins, maps, accesses and vmaps there are in all */
#define ODDBUF_HELD	_IO('o', 2)

#endif
