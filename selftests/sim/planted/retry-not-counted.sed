# retries are never counted
# file: repair.c
/^static void timeout/,/^}/s/req->retries--;//
