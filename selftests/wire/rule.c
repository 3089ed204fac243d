// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Levels of what is expected, and rules that hold in every script: a device that
 * breaks one would fail nearly all of them, whatever they are about.
 */

#include <string.h>
#include "frame.h"

static const char *const levels[] = {
	[WT_MUST] = "must", [WT_MAY] = "may", [WT_SROCE] = "sroce",
};

const struct wt_rule_info wt_rules[WT_RULES] = {
	[WT_RULE_MIGREQ] = { "migreq", WT_MUST, "9.2",
			     "MigReq is 1 in state Migrated" },
	[WT_RULE_PKEY] = { "pkey", WT_MUST, "9.2",
			   "the P_Key is that of the QP" },
	[WT_RULE_RESERVED] = { "reserved", WT_MUST, "9.2",
			       "reserved bits of BTH are 0" },
	[WT_RULE_PADDING] = { "padding", WT_SROCE, "9.2",
			      "padding is 0" },
	[WT_RULE_DF] = { "df", WT_MUST, "A17.3",
			 "IPv4 packets have DF" },
	[WT_RULE_ACKREQ] = { "ackreq", WT_MAY, "9.7.3",
			     "the last packet of a chain asks for an acknowledge" },
	[WT_RULE_CREDITS] = { "credits", WT_MUST, "9.7.7.2",
			      "an acknowledge has the credits that there are" },
	[WT_RULE_EVENT] = { "event", WT_MUST, "11.6",
			    "affiliated events are raised, and no others" },
	[WT_RULE_COMM_EST] = { "comm-est", WT_MAY, "11.6",
			       "the first packet in RTR is an event" },
	[WT_RULE_WC_FLAGS] = { "wc-flags", WT_MAY, "11.4.2.1",
			       "only datagrams have a GRH, only receives a value" },
	[WT_RULE_DESTROY] = { "destroy", WT_SROCE, "10.2",
			      "QPs are destroyed within a second" },
};

const char *wt_level_name(enum wt_level level)
{
	return levels[level];
}

bool wt_level_by_name(const char *name, enum wt_level *to)
{
	for (int i = WT_MUST; i <= WT_SROCE; i++) {
		if (!strcmp(levels[i], name)) {
			*to = i;
			return true;
		}
	}
	return false;
}

/* -1: none is called so */
int wt_rule_by_name(const char *name)
{
	for (int i = 0; i < WT_RULES; i++) {
		if (!strcmp(wt_rules[i].name, name))
			return i;
	}
	return -1;
}
