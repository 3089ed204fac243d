# more READs are taken than can be remembered
# file: rc/resp_tx.c
/^bool sroce_answer_room/,/^}/s/return resp->nres && .*/return resp->nres;/
