# RNR retries are never counted
# file: comp.c
/^static void rnr_nak/,/^}/s/req->rnr_retries--;//
