/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A stream of requests between two processes, verified at both ends. */
#ifndef STREAM_H
#define STREAM_H

#include "side.h"

#define STREAM_AREA	((4U << 20) + 65536)	/* bytes to spread slots over */
#define STREAM_SLOTS	64

enum stream_op {
	STREAM_WRITE,
	STREAM_WRITE_IMM,
	STREAM_READ,
	STREAM_SEND,
	STREAM_SEND_IMM,
	STREAM_FADD,
	STREAM_CSWAP,
	STREAM_MIX,		/* any of those above, of any length */
};

/* What both ends have to agree on. */
struct step {
	char name[16];
	uint32_t type;		/* enum ibv_qp_type */
	uint32_t op;		/* enum stream_op */
	uint32_t dirs;		/* STREAM_OUT, STREAM_IN */
	uint32_t size, count, depth;
	uint32_t ms;		/* post for that long at most; 0: no limit */
	char until[64];		/* post until there is a file of that name; "": no limit */
	uint32_t limit;		/* ms, then it hangs */
	uint32_t timeout, retry;
	uint32_t mtu;		/* enum ibv_mtu */
	uint32_t lossy;		/* UC and UD may lose messages */
	uint64_t seed;
};

#define STREAM_OUT	1	/* the client requests */
#define STREAM_IN	2	/* the server requests */

/* What one end requested. */
struct report {
	uint64_t posted, done, bytes, us;
	uint64_t closed_us;		/* to destroy the QP */
	uint32_t failed;
	char why[200];
};

size_t stream_room(const struct step *s);
uint32_t stream_slots(const struct step *s);
void stream_run(const struct step *s, int fd, bool server, struct vt_buf *mem,
		struct report *mine, struct report *theirs);

#endif
