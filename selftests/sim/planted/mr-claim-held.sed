# a region is claimed while the QP still holds a reference to it
# file: mem/mem_ops.c
# SPDX-License-Identifier: GPL-2.0
/^int sroce_mem_ops_invalidate/,/^}/s/sroce_mr_put_last(qp);//
