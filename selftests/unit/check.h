/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Test cases made of checks. The results go to ../lib/tap.c. */
#ifndef UNIT_CHECK_H
#define UNIT_CHECK_H

#include <stdbool.h>
#include <stdint.h>

/* Cases follow each other: starting one ends the one before. */
void t_case(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void t_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Who wants to hear of it instead of having it printed */
extern void (*t_on_fail)(const char *file, int line, const char *why);
/* What the case is about to try, for the reasons; "" for nothing */
void t_where(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool t_ok(void);
int t_finish(void);

#define CHECK(cond) do {						\
	if (!(cond))							\
		t_fail(__FILE__, __LINE__, "%s", #cond);		\
} while (0)

#define CHECK_EQ(a, b) do {						\
	unsigned long long a_ = (a), b_ = (b);				\
									\
	if (a_ != b_)							\
		t_fail(__FILE__, __LINE__, "%s is %llu (%#llx), not %llu (%#llx)", \
		       #a, a_, a_, b_, b_);				\
} while (0)

/* Repeatable randomness */
struct rnd {
	uint64_t s;
};

uint32_t rnd32(struct rnd *r);
uint64_t rnd64(struct rnd *r);
uint32_t rnd_below(struct rnd *r, uint32_t n);
void rnd_fill(struct rnd *r, void *p, uint32_t len);

#endif /* UNIT_CHECK_H */
