// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Opcodes by name and number, and what headers each has (9.2.1, table 38). */

#include <string.h>
#include "frame.h"

#define CONNECTED(pre, base)						\
	{ pre "SEND_FIRST",		base + 0, "P" },		\
	{ pre "SEND_MIDDLE",		base + 1, "P" },		\
	{ pre "SEND_LAST",		base + 2, "P" },		\
	{ pre "SEND_LAST_IMM",		base + 3, "IP" },		\
	{ pre "SEND_ONLY",		base + 4, "P" },		\
	{ pre "SEND_ONLY_IMM",		base + 5, "IP" },		\
	{ pre "WRITE_FIRST",		base + 6, "RP" },		\
	{ pre "WRITE_MIDDLE",		base + 7, "P" },		\
	{ pre "WRITE_LAST",		base + 8, "P" },		\
	{ pre "WRITE_LAST_IMM",		base + 9, "IP" },		\
	{ pre "WRITE_ONLY",		base + 10, "RP" },		\
	{ pre "WRITE_ONLY_IMM",		base + 11, "RIP" }

static const struct wt_op ops[] = {
	CONNECTED("", 0x00),
	{ "READ_REQUEST",	0x0c, "R" },
	{ "READ_FIRST",		0x0d, "AP" },
	{ "READ_MIDDLE",	0x0e, "P" },
	{ "READ_LAST",		0x0f, "AP" },
	{ "READ_ONLY",		0x10, "AP" },
	{ "ACK",		0x11, "A" },
	{ "ATOMIC_ACK",		0x12, "AO" },
	{ "CMP_SWP",		0x13, "T" },
	{ "FETCH_ADD",		0x14, "T" },
	{ "FLUSH",		0x1c, "FR" },
	{ "ATOMIC_WRITE",	0x1d, "RP" },
	{ "SEND_LAST_INV",	0x16, "VP" },
	{ "SEND_ONLY_INV",	0x17, "VP" },
	CONNECTED("UC_", 0x20),
	{ "UD_SEND_ONLY",	0x64, "DP" },
	{ "UD_SEND_ONLY_IMM",	0x65, "DIP" },
};

const struct wt_op *wt_op_by_code(uint8_t code)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (ops[i].code == code)
			return &ops[i];
	}
	return NULL;
}

const struct wt_op *wt_op_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!strcmp(ops[i].name, name))
			return &ops[i];
	}
	return NULL;
}

size_t wt_ext_len(const char *ext)
{
	size_t len = 0;

	for (; *ext; ext++) {
		switch (*ext) {
		case 'D': case 'O':
			len += 8;
			break;
		case 'R':
			len += 16;
			break;
		case 'T':
			len += 28;
			break;
		case 'A': case 'F': case 'I': case 'V':
			len += 4;
			break;
		}
	}
	return len;
}

bool wt_op_is_response(uint8_t code)
{
	return code >= 0x0d && code <= 0x12;
}
