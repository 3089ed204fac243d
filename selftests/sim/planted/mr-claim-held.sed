# a region is claimed while the QP still holds a reference to it
# file: mem/mem_ops.c
/^int sroce_mem_ops_invalidate/,/^}/s/sroce_mr_put_last(qp);//
