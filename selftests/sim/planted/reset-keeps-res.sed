# RESET keeps the responder resources
# file: rc/reset.c
# SPDX-License-Identifier: GPL-2.0
/^void sroce_reset_qp/,/^}/s/memset(res, 0, nres \* sizeof(\*res));/nres = qp->resp.nres;/
