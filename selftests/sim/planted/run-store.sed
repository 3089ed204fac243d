# what was kept after a gap is forgotten when a run fills it
# file: rc/resp.c
/^bool sroce_resp_run/,/^}/s/resp->paging || resp->stored ||/resp->paging ||/
