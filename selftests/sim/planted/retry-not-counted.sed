# retries are never counted
# file: rc/retrans.c
/^static void timeout/,/^}/s/req->retries--;//
