# a range is used when only its first page is present
# file: mem/mr.c
# SPDX-License-Identifier: GPL-2.0
/^static noinline int walk_odp/,/^}/s/sroce_odp_enter(mr->odp, iova, len, write)/sroce_odp_enter(mr->odp, iova, 1, write)/
