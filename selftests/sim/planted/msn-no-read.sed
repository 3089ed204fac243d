# a READ is not counted in the MSN
# file: rc/resp.c
# SPDX-License-Identifier: GPL-2.0
/^static void accept/,/^}/s/resp->msn = sroce_psn_add(resp->msn, 1);/if (!(flags \& SROCE_READING))\
			&/
