# RESET leaves what was kept for replay
# file: rc/reset.c
/^void sroce_reset_qp/,/^}/s/memset(res, 0, nres \* sizeof(\*res));/nres = qp->resp.nres;/
