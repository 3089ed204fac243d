# RNR retries are never counted
# file: rc/comp.c
/^static void rnr_nak/,/^}/s/req->rnr_retries--;//
