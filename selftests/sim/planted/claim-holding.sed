# a region is claimed while the QP still holds it
# file: local.c
/^int sroce_local_invalidate/,/^}/s/sroce_mr_leave(qp);//
