# payload is placed at the start of its SGE
# file: mem/sge.c
# SPDX-License-Identifier: GPL-2.0
/^int sroce_sge_walk/,/^}/s/walk_sge(qp, sge, off, n, /walk_sge(qp, sge, 0, n, /
