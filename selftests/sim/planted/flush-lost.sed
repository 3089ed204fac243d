# the receive in use is not flushed
# file: rc/flush.c
/^void sroce_rq_flush/,/^}/s/flush_recv(qp, &resp->wqe);/if (!resp->msg)\
			&/
