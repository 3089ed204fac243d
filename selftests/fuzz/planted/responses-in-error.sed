# responses stay queued in the error state
# file: rc/flush.c
# SPDX-License-Identifier: GPL-2.0
/^void sroce_flush_qp_error/,/^}/s/sroce_resp_res_cancel(qp);/;/
