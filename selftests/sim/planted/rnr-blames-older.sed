# exceeded RNR retries fail an older READ whose response is lost
# file: rc/comp.c
# SPDX-License-Identifier: GPL-2.0
/^static void rnr_nak/,/^}/s/set_pending_err(qp, psn, IB_WC_RNR_RETRY_EXC_ERR)/sroce_sq_fail(qp, IB_WC_RNR_RETRY_EXC_ERR)/
