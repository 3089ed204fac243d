# segments after a gap are taken for the missing packets
# file: rc/resp.c
# SPDX-License-Identifier: GPL-2.0
/^bool sroce_resp_rx_segs/,/^}/s/resp->msg != kind || pkt->psn != resp->psn || /resp->msg != kind || sroce_psn_diff(pkt->psn, resp->psn) < 0 || /
