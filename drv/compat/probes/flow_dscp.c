// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * interface: the DS field of struct flowi4 of <net/flow.h>
 * form 1 SROCE_HAVE_DST_FLOW_DSCP: is flowi4_dscp, a dscp_t
 * form 2: is flowi4_tos, a byte
 */
#if SROCE_FORM == 1
SAME_TYPE(((struct flowi4 *)0)->flowi4_dscp, dscp_t);
#elif SROCE_FORM == 2
SAME_TYPE(((struct flowi4 *)0)->flowi4_tos, __u8);
#endif
