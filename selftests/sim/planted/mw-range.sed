# a memory window gives access to all of its region
# file: mem/mr.c
# SPDX-License-Identifier: GPL-2.0
/^struct sroce_mr \*sroce_mr_by_rkey/,/^}/s/sroce_mr_covers(mr, va, len)/sroce_mr_covers(mr->parent ? mr->parent : mr, va, len)/
