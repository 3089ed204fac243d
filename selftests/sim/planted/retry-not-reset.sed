# progress does not reset the retry counter
# file: rc/retrans.c
/^void sroce_retrans_progress/,/^}/s/req->retries = qp->attr.retry_cnt;//
