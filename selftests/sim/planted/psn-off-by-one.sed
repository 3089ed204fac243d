# a request one PSN ahead is taken for the expected one
# file: rc/resp.c
# SPDX-License-Identifier: GPL-2.0
/^static enum verdict check_psn_rc/,/^}/s/if (diff > 0)/if (diff > 1)/
