# a region is not let go of at the end of a burst
# file: transport.c
/^bool sroce_qp_run/,/^}/s/sroce_mr_leave(qp);//
