// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Packets: parse, responder and completer of QPs with work under way */

#include "world.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len);

static const struct action actions[] = {
	ACTION(forge, 120),
	ACTION(mangle, 20),
	ACTION(wire, 12),
	ACTION(send, 32),
	ACTION(recv, 20),
	ACTION(step, 28),
	ACTION(advance, 12),
	ACTION(fails, 4),
	ACTION(register, 4),
	ACTION(poll, 2),
	ACTION(doorbell, 0),
	{}
};

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	return world_run(data, len, actions, false);
}
