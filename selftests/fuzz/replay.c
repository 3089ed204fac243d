// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Run the inputs in files of hexadecimal lines, one input a line; without
 * libFuzzer, so that coverage can be measured and a debugger be used.
 */

#include <stdio.h>
#include <stdlib.h>
#include "hex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int run_file(const char *name)
{
	FILE *f = fopen(name, "r");
	struct hex_line line;
	int n = 0;

	if (!f) {
		perror(name);
		exit(1);
	}
	while (hex_read(f, &line)) {
		/* of just its size, so that reading on is seen */
		uint8_t *data = malloc(line.len);

		memcpy(data, line.data, line.len);
		LLVMFuzzerTestOneInput(data, line.len);
		free(data);
		n++;
	}
	fclose(f);
	return n;
}

int main(int argc, char **argv)
{
	int i, n = 0;

	for (i = 1; i < argc; i++)
		n += run_file(argv[i]);
	printf("# %d inputs\n", n);
	return !n;
}
