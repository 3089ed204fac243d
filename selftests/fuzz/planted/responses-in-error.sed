# responses stay queued in the error state
# file: rc/flush.c
/^void sroce_flush_qp_error/,/^}/s/sroce_resp_res_forget(qp);/;/
