// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The opcode table against table 38 of the specification, and PSN arithmetic. */

#include <string.h>
#include <linux/kernel.h>
#include "drv/core/wire/opcode.h"
#include "drv/core/wire/psn.h"
#include "tests.h"

/* Which opcodes exist, and their extended headers in bytes */
static const struct known {
	u8 opcode, ext;
} known[] = {
	{ 0x00, 0 }, { 0x01, 0 }, { 0x02, 0 }, { 0x03, 4 }, { 0x04, 0 },
	{ 0x05, 4 }, { 0x06, 16 }, { 0x07, 0 }, { 0x08, 0 }, { 0x09, 4 },
	{ 0x0a, 16 }, { 0x0b, 20 }, { 0x0c, 16 }, { 0x0d, 4 }, { 0x0e, 0 },
	{ 0x0f, 4 }, { 0x10, 4 }, { 0x11, 4 }, { 0x12, 12 }, { 0x13, 28 },
	{ 0x14, 28 }, { 0x16, 4 }, { 0x17, 4 }, { 0x1c, 20 }, { 0x1d, 16 },
	{ 0x20, 0 }, { 0x21, 0 }, { 0x22, 0 }, { 0x23, 4 }, { 0x24, 0 },
	{ 0x25, 4 }, { 0x26, 16 }, { 0x27, 0 }, { 0x28, 0 }, { 0x29, 4 },
	{ 0x2a, 16 }, { 0x2b, 20 },
	{ 0x64, 8 }, { 0x65, 12 }, { 0x81, 0 },
};

static const struct known *lookup(int opcode)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].opcode == opcode)
			return &known[i];
	return NULL;
}

static void table(void)
{
	int i;

	t_case("opcode: header length is that of BTH and the extended headers");
	for (i = 0; i < 256; i++) {
		const struct sroce_opcode *op = &sroce_opcodes[i];
		const struct known *k = lookup(i);

		t_where("opcode %#x", i);
		CHECK_EQ(!!op->name, !!k);
		if (!k || !op->name)
			continue;
		CHECK_EQ(op->hdr_len, 12 + k->ext);
		CHECK_EQ(op->hdr_len, 12 + sroce_opcode_ext_len(op->flags &
							 SROCE_EXT_MASK));
		CHECK(op->hdr_len <= SROCE_HDR_MAX);
	}

	t_case("opcode: flags agree with each other");
	for (i = 0; i < 256; i++) {
		u32 f = sroce_opcodes[i].flags;

		t_where("opcode %#x", i);
		if (!sroce_opcodes[i].name) {
			CHECK_EQ(f, 0);
			continue;
		}
		/* what carries no data is a message of one packet */
		if (!(f & SROCE_PAYLOAD))
			CHECK((f & SROCE_START) && (f & SROCE_END));
		CHECK(!(f & SROCE_IMMDT) || (f & SROCE_END));
		CHECK(!(f & SROCE_RECV) || !(f & SROCE_RESPONSE));
		CHECK_EQ(!!(f & SROCE_RECV), !!(f & SROCE_SENDING) ||
			 ((f & SROCE_WRITING) && (f & SROCE_IMMDT)));
		CHECK_EQ(!!(f & SROCE_AETH), (f & SROCE_RESPONSE) && i != 0x0e);
	}
}

static void msg_opcodes(void)
{
	/* first, middle, last, only; -1 where a service has none */
	static const struct {
		u8 svc, msg;
		int want[4];
	} rows[] = {
		{ SROCE_SVC_RC, SROCE_MSG_SEND, { 0x00, 0x01, 0x02, 0x04 } },
		{ SROCE_SVC_RC, SROCE_MSG_SEND_IMM, { 0x00, 0x01, 0x03, 0x05 } },
		{ SROCE_SVC_RC, SROCE_MSG_SEND_INV, { 0x00, 0x01, 0x16, 0x17 } },
		{ SROCE_SVC_RC, SROCE_MSG_WRITE, { 0x06, 0x07, 0x08, 0x0a } },
		{ SROCE_SVC_RC, SROCE_MSG_WRITE_IMM, { 0x06, 0x07, 0x09, 0x0b } },
		{ SROCE_SVC_RC, SROCE_MSG_READ, { 0x0c, 0x0c, 0x0c, 0x0c } },
		{ SROCE_SVC_RC, SROCE_MSG_CMP_SWP, { 0x13, 0x13, 0x13, 0x13 } },
		{ SROCE_SVC_RC, SROCE_MSG_FETCH_ADD, { 0x14, 0x14, 0x14, 0x14 } },
		{ SROCE_SVC_RC, SROCE_MSG_ATOMIC_WRITE,
		  { 0x1d, 0x1d, 0x1d, 0x1d } },
		{ SROCE_SVC_RC, SROCE_MSG_FLUSH, { 0x1c, 0x1c, 0x1c, 0x1c } },
		{ SROCE_SVC_UC, SROCE_MSG_FLUSH, { -1, -1, -1, -1 } },
		{ SROCE_SVC_UD, SROCE_MSG_FLUSH, { -1, -1, -1, -1 } },
		{ SROCE_SVC_UC, SROCE_MSG_ATOMIC_WRITE, { -1, -1, -1, -1 } },
		{ SROCE_SVC_UC, SROCE_MSG_SEND, { 0x20, 0x21, 0x22, 0x24 } },
		{ SROCE_SVC_UC, SROCE_MSG_SEND_IMM, { 0x20, 0x21, 0x23, 0x25 } },
		{ SROCE_SVC_UC, SROCE_MSG_SEND_INV, { 0x20, 0x21, -1, -1 } },
		{ SROCE_SVC_UC, SROCE_MSG_WRITE, { 0x26, 0x27, 0x28, 0x2a } },
		{ SROCE_SVC_UC, SROCE_MSG_WRITE_IMM, { 0x26, 0x27, 0x29, 0x2b } },
		{ SROCE_SVC_UC, SROCE_MSG_READ, { -1, -1, -1, -1 } },
		{ SROCE_SVC_UC, SROCE_MSG_CMP_SWP, { -1, -1, -1, -1 } },
		{ SROCE_SVC_UC, SROCE_MSG_FETCH_ADD, { -1, -1, -1, -1 } },
		{ SROCE_SVC_UD, SROCE_MSG_SEND, { -1, -1, -1, 0x64 } },
		{ SROCE_SVC_UD, SROCE_MSG_SEND_IMM, { -1, -1, -1, 0x65 } },
		{ SROCE_SVC_UD, SROCE_MSG_SEND_INV, { -1, -1, -1, -1 } },
		{ SROCE_SVC_UD, SROCE_MSG_WRITE, { -1, -1, -1, -1 } },
		{ SROCE_SVC_UD, SROCE_MSG_WRITE_IMM, { -1, -1, -1, -1 } },
		{ SROCE_SVC_UD, SROCE_MSG_READ, { -1, -1, -1, -1 } },
		{ SROCE_SVC_UD, SROCE_MSG_CMP_SWP, { -1, -1, -1, -1 } },
		{ SROCE_SVC_UD, SROCE_MSG_FETCH_ADD, { -1, -1, -1, -1 } },
	};
	u32 i, k;

	t_case("opcode: the opcode of each packet of each message of each service");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (k = 0; k < 4; k++) {
			bool first = k == 0 || k == 3, last = k >= 2;
			int got = sroce_opcode_of_msg(rows[i].svc, rows[i].msg,
						   first, last);

			t_where("service %u, message %u, packet %u",
				rows[i].svc, rows[i].msg, k);
			CHECK_EQ(got < 0 ? -1 : got, rows[i].want[k]);
		}
	}
}

UNIT_TESTS(opcode)
{
	table();
	msg_opcodes();
}
