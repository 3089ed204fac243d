# a duplicate atomic is executed again
# file: rc/resp.c
# SPDX-License-Identifier: GPL-2.0
/^static enum verdict check_psn_rc/,/^}/s/if (diff < 0)/if (diff < 0 \&\& !(pkt->op->flags \& SROCE_ATOMIC))/
