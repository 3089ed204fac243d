# RESET leaves what was kept for replay
# file: state.c
/^void sroce_qp_reset/,/^}/s/memset(res, 0, nres \* sizeof(\*res));/nres = qp->resp.nres;/
