// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* All unit tests, or those of the files named as arguments. */

#include <string.h>
#include "tests.h"

static const struct {
	const char *name;
	void (*run)(void);
} files[] = {
	{ "opcode", test_opcode },
	{ "pkt", test_pkt },
	{ "mr", test_mr },
	{ "local", test_local },
	{ "icrc", test_icrc },
	{ "wqe", test_wqe },
	{ "rc", test_rc },
	{ "loss", test_loss },
	{ "replay", test_replay },
	{ "peer", test_peer },
	{ "putoff", test_putoff },
	{ "window", test_window },
	{ "fails", test_fails },
	{ "credit", test_credit },
	{ "errors", test_errors },
	{ "hostile", test_hostile },
	{ "state", test_state },
	{ "dgram", test_dgram },
	{ "parcel", test_parcel },
	{ "paging", test_paging },
	{ "place", test_place },
	{ "run", test_run },
	{ "rare", test_rare },
};

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
	unsigned int i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (wanted(files[i].name, argc, argv))
			files[i].run();
	return t_finish();
}
