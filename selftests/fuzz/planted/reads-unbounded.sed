# more READs are accepted than there are responder resources
# file: rc/resp_res.c
# SPDX-License-Identifier: GPL-2.0
/^bool sroce_resp_res_has_room/,/^}/s/return resp->nres && .*/return resp->nres;/
