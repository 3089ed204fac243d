# a run is taken for what is missing before it
# file: rc/resp.c
/^bool sroce_resp_rx_segs/,/^}/s/resp->msg != kind || pkt->psn != resp->psn || /resp->msg != kind || sroce_psn_diff(pkt->psn, resp->psn) < 0 || /
