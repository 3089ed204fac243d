// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Callers: any sequence of modify, post, deregister, with packets and time */

#include "world.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len);

static const struct action actions[] = {
	ACTION(modify, 56),
	ACTION(connect, 24),
	ACTION(send, 48),
	ACTION(recv, 28),
	ACTION(step, 32),
	ACTION(advance, 16),
	ACTION(register, 10),
	ACTION(fails, 6),
	ACTION(wire, 10),
	ACTION(forge, 16),
	ACTION(poll, 4),
	ACTION(doorbell, 0),
	{}
};

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	return world_run(data, len, actions, false);
}
