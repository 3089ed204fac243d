/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Steps of a test that say why they failed. */
#ifndef SELFTESTS_WHY_H
#define SELFTESTS_WHY_H

/*
 * A test step returns NULL if all is well, else the reason of the failure,
 * which stays valid until the thread fails the next time.
 */
typedef const char *why_t;

why_t because(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* End the step with a reason unless @cond holds. */
#define CHECK(cond, ...)				\
	do {						\
		if (!(cond))				\
			return because(__VA_ARGS__);	\
	} while (0)

/* End the step if a step inside it fails. */
#define TRY(step)					\
	do {						\
		why_t why_ = (step);			\
							\
		if (why_)				\
			return why_;			\
	} while (0)

#endif /* SELFTESTS_WHY_H */
