# the solicited event is lost
# file: rc/resp.c
/^void sroce_resp_complete/,/^}/s/pkt->solicited || status/status/
