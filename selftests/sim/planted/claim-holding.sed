# a region is claimed while the QP still holds it
# file: mem/mem_ops.c
/^int sroce_local_invalidate/,/^}/s/sroce_mr_leave(qp);//
