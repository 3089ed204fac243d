# the reference to the last region is not dropped when the QP is unlocked
# file: transport.c
# SPDX-License-Identifier: GPL-2.0
/^bool sroce_transport_run/,/^}/s/sroce_mr_put_last(qp);//
