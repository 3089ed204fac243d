// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <net/net_namespace.h>

void probe(struct net *net);
void probe(struct net *net)
{
	net_passive_inc(net);
}
