/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A stream socket between two processes that test each other's RDMA. */
#ifndef SIDE_H
#define SIDE_H

#include "vt.h"

#define SIDE_WAIT	60000	/* ms to wait for the other end */

int side_listen(const char *addr);
int side_accept(int listener);
int side_connect(const char *addr);
why_t side_put(int fd, const void *data, size_t len);
why_t side_get(int fd, void *data, size_t len, int ms);
why_t side_swap(int fd, const void *mine, void *theirs, size_t len);
bool side_ready(int fd, int ms);

#endif
