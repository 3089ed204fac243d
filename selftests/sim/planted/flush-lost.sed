# the receive work request in use is not flushed
# file: rc/flush.c
/^void sroce_flush_rq/,/^}/s/flush_recv(qp, &resp->wqe);/if (!resp->msg)\
			&/
