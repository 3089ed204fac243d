# segments of a message skip a PSN in the middle
# file: tx/segs.c
# SPDX-License-Identifier: GPL-2.0
s/pkt\.psn = sroce_psn_add(pkt\.psn, 1);/pkt.psn = sroce_psn_add(pkt.psn, i == 9 ? 2 : 1);/
