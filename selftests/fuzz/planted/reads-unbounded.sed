# more READs are taken than can be remembered
# file: rc/resp_tx.c
# SPDX-License-Identifier: GPL-2.0
/^bool sroce_resp_res_has_room/,/^}/s/return resp->nres && .*/return resp->nres;/
