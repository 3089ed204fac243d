# a flushed work request completes twice
# file: rc/flush.c
# SPDX-License-Identifier: GPL-2.0
/^static void post_send_cqe/,/^}/s/trace_sroce_complete(qp, &cqe);/&\
	if (status == IB_WC_WR_FLUSH_ERR)\
		sroce_cq_post(qp, qp->scq, \&cqe, true, SROCE_DEFER_SCQ);/
