// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Between libFuzzer's files, one input each, and the repo's, one line each.
 *
 * usage: corpus unpack LINES DIR	make one file per line
 *	  corpus pack FILE...		print one line per file, sorted
 */

#include <libgen.h>
#include <stdlib.h>
#include "hex.h"

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void unpack(char *name, const char *dir)
{
	FILE *f = fopen(name, "r"), *to;
	struct hex_line line;
	char path[512];
	int n = 0;

	if (!f)
		die(name);
	while (hex_read(f, &line)) {
		snprintf(path, sizeof(path), "%s/%s.%d", dir, basename(name),
			 n++);
		to = fopen(path, "w");
		if (!to || fwrite(line.data, 1, line.len, to) != line.len ||
		    fclose(to))
			die(path);
	}
	fclose(f);
}

static int by_content(const void *a, const void *b)
{
	const struct hex_line *x = *(struct hex_line * const *)a;
	const struct hex_line *y = *(struct hex_line * const *)b;
	int d = memcmp(x->data, y->data, x->len < y->len ? x->len : y->len);

	return d ? d : (x->len > y->len) - (x->len < y->len);
}

static struct hex_line *load(const char *name)
{
	struct hex_line *line = malloc(sizeof(*line));
	FILE *f = fopen(name, "r");

	if (!f)
		die(name);
	line->len = fread(line->data, 1, HEX_MAX, f);
	fclose(f);
	return line;
}

static void pack(char **names, int n)
{
	struct hex_line **lines = calloc(n, sizeof(*lines));
	int i;

	for (i = 0; i < n; i++)
		lines[i] = load(names[i]);
	qsort(lines, n, sizeof(*lines), by_content);
	for (i = 0; i < n; i++) {
		hex_write(stdout, lines[i]->data, lines[i]->len);
		free(lines[i]);
	}
	free(lines);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "unpack"))
		unpack(argv[2], argv[3]);
	else if (argc >= 3 && !strcmp(argv[1], "pack"))
		pack(argv + 2, argc - 2);
	else
		return 2;
	return 0;
}
