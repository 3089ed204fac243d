# the solicited event is lost
# file: resp.c
/^void sroce_resp_complete/,/^}/s/pkt->solicited || status/status/
