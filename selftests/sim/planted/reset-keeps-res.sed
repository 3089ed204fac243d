# RESET keeps the responder resources
# file: state.c
/^void sroce_reset_qp/,/^}/s/memset(res, 0, nres \* sizeof(\*res));/nres = qp->resp.nres;/
