# a piece of memory seems longer than it is
# file: mem/mr.c
/^static int walk_extents(/,/^}/s/n < len; n = extent_end/n + 16 < len; n = extent_end/
