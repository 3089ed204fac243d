# payload is placed at the start of its SGE
# file: mem/wqe.c
# SPDX-License-Identifier: GPL-2.0
/^static int walk_sges/,/^}/s/walk_sge(qp, sge, off, n, /walk_sge(qp, sge, 0, n, /
