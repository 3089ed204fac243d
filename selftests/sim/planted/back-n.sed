# everything is sent again after each gap, although the peer keeps what followed it
# file: rc/retrans.c
# SPDX-License-Identifier: GPL-2.0
/^static void retransmit/,/^}/s/rp->gap_policy == SROCE_GAP_KEEPS/rp->gap_policy == SROCE_GAP_UNKNOWN + 9/
/^static void retransmit/,/^}/s/rp->gap_policy == SROCE_GAP_DROPS ||/rp->gap_policy != SROCE_GAP_UNKNOWN ||/
