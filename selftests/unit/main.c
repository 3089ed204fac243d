// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* All unit tests, or those of the files named as arguments. */

#include <string.h>
#include "tests.h"

static struct unit_file *files;

/* Called by constructors: their order is the linker's, that of the files is not. */
void unit_register(struct unit_file *f)
{
	struct unit_file **at = &files;

	while (*at && strcmp((*at)->name, f->name) < 0)
		at = &(*at)->next;
	f->next = *at;
	*at = f;
}

static int wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return 1;
	return argc == 1;
}

int main(int argc, char **argv)
{
	struct unit_file *f;

	for (f = files; f; f = f->next)
		if (wanted(f->name, argc, argv))
			f->run();
	return t_finish();
}
