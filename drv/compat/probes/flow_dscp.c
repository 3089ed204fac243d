// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <net/flow.h>
#include <net/inet_dscp.h>

void probe(struct flowi4 *fl);
void probe(struct flowi4 *fl)
{
	fl->flowi4_dscp = inet_dsfield_to_dscp(0);
}
