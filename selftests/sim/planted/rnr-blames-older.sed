# RNR retries exceeded fail an older READ, the response to which is lost
# file: rc/comp.c
/^static void rnr_nak/,/^}/s/set_pending_err(qp, psn, IB_WC_RNR_RETRY_EXC_ERR)/sroce_sq_fail(qp, IB_WC_RNR_RETRY_EXC_ERR)/
