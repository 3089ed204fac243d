/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Pages that never come: memory of a file on FUSE whose daemon does not answer. */
#ifndef NEVER_H
#define NEVER_H

#include "vt.h"

#define NEVER_SIZE	(64UL << 20)
#define NEVER_PAGE	4096UL
/* ms for what must not wait for a page, on an emulated CPU */
#define NEVER_SOON	4000

struct never {
	pid_t daemon;
	uint8_t *mem;		/* NEVER_SIZE bytes, to be read */
};

/* Another process, that waits until it is told to do its part */
struct never_helper {
	pid_t pid;
	int go, done;		/* pipes */
};

extern struct never never;

void never_up(void);
struct vt_conf never_conf(void);
why_t never_post(struct vt_ep *from, const struct vt_ep *to, const struct ibv_mr *mr,
		 const void *at);
void never_down(void);
_Noreturn void never_hold(void);
why_t never_soon(const char *what, int (*fn)(void *arg), void *arg);
struct never_helper never_helper_up(int argc, char **argv, vt_case fn);
why_t never_helper_go(const struct never_helper *h, int ms);

#endif
