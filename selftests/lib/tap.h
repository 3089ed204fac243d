/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The TAP writer of the tests in C: numbered results, notes, the plan. It writes
 * to stdout and flushes after each line, so that what was run is known even if
 * the program dies. (kverbs has a writer of its own: it writes into a buffer of
 * the kernel.)
 */
#ifndef SELFTESTS_TAP_H
#define SELFTESTS_TAP_H

/*
 * A result. @why is NULL if the case passed, else the reason of the failure; ""
 * if notes have given it already.
 */
void tap_report(const char *why, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A case that can't be run here, and why; it counts as passed. */
void tap_skip(const char *why, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A line that is not a result */
void tap_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Give up: no case can be run any more. */
void tap_bail(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));
/* Print the plan. Return the exit status: 0 if there are cases and all passed. */
int tap_finish(void);

#endif /* SELFTESTS_TAP_H */
