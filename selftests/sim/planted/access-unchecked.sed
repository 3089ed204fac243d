# a region is written to without the access right
# file: mem/mr.c
# SPDX-License-Identifier: GPL-2.0
/^static struct sroce_mr \*get_remote/,/^}/s/(mr->access & access) != access ||/access < 0 ||/
