/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a corpus looks like in the repo: lines of hexadecimal digits, and of # */
#ifndef FUZZ_HEX_H
#define FUZZ_HEX_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define HEX_MAX 4096

struct hex_line {
	size_t	len;
	uint8_t	data[HEX_MAX];
};

static inline bool hex_read(FILE *f, struct hex_line *line)
{
	char text[2 * HEX_MAX + 2];
	unsigned int byte;

	do {
		if (!fgets(text, sizeof(text), f))
			return false;
	} while (*text == '#');
	line->len = 0;
	while (sscanf(text + 2 * line->len, "%2x", &byte) == 1)
		line->data[line->len++] = byte;
	return true;
}

static inline void hex_write(FILE *f, const uint8_t *data, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		fprintf(f, "%02x", data[i]);
	fprintf(f, "\n");
}

#endif /* FUZZ_HEX_H */
