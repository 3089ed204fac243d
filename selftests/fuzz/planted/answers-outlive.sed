# answers stay queued in the error state
# file: rc/flush.c
/^void sroce_qp_error/,/^}/s/sroce_answer_forget(qp);/;/
