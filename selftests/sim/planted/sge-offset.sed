# payload is placed at the start of its SGE
# file: mem/sge.c
# SPDX-License-Identifier: GPL-2.0
/^static int walk(/,/^}/s/list.sge, off, n, access, fn/list.sge, 0, n, access, fn/
