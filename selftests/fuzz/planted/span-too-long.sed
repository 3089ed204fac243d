# an extent seems to be longer than it is
# file: mem/mr.c
# SPDX-License-Identifier: GPL-2.0
/^static int walk_extents(/,/^}/s/n < len; n = extent_end/n + 16 < len; n = extent_end/
