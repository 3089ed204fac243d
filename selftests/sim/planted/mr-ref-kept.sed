# a region is not let go of at the end of a burst
# file: transport.c
/^bool sroce_transport_run/,/^}/s/sroce_mr_put_last(qp);//
