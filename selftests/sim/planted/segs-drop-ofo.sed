# what was kept after a gap is forgotten when a run fills it
# file: rc/resp.c
/^bool sroce_resp_rx_segs/,/^}/s/resp->paging || resp->ofo_len ||/resp->paging ||/
