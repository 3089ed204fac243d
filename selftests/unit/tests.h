/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Files of tests. t_NAME.c tests drv/core/.../NAME.[ch] and registers itself:
 *
 *	UNIT_TESTS(NAME)
 *	{
 *		t_case("NAME: what has to hold");
 *		CHECK(...);
 *	}
 */
#ifndef UNIT_TESTS_H
#define UNIT_TESTS_H

#include "check.h"

/**
 * struct unit_file - the tests of one file
 * @name: as an argument of the program
 * @run: runs all cases
 * @next: the next by name
 */
struct unit_file {
	const char		*name;
	void			(*run)(void);
	struct unit_file	*next;
};

void unit_register(struct unit_file *f);

#define UNIT_TESTS(name_)						\
static void unit_run(void);						\
static void __attribute__((constructor)) unit_add(void)		\
{									\
	static struct unit_file file = {				\
		.name = #name_, .run = unit_run,			\
	};								\
									\
	unit_register(&file);						\
}									\
static void unit_run(void)

#endif /* UNIT_TESTS_H */
