# a timer that fires early is not set again
# file: rc/retrans.c
# SPDX-License-Identifier: GPL-2.0
/^void sroce_retrans_set_timer/,/^}/s/^	if (when)$/	if (when \&\& !rp->probes)/
