# progress does not give the retries back
# file: rc/retrans.c
/^void sroce_retrans_progress/,/^}/s/req->retries = qp->attr.retry_cnt;//
