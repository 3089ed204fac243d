// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: net_passive_inc() of <net/net_namespace.h>
 * form 1 SROCE_HAVE_NET_PASSIVE: exists
 * form 2: is missing
 */
#if SROCE_FORM == 1
SAME_TYPE(&net_passive_inc, void (*)(struct net *));
#elif SROCE_FORM == 2
ABSENT_FUNCTION(net_passive_inc);
#endif
