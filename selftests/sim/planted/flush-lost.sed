# the receive work request in use is not flushed
# file: rc/flush.c
# SPDX-License-Identifier: GPL-2.0
/^void sroce_flush_rq/,/^}/s/flush_recv(qp, &resp->wqe);/if (!resp->msg)\
			&/
