# a piece of memory seems longer than it is
# file: mem/mr.c
s/\*len = min_t(u64, \*len, end - off);/*len = min_t(u64, *len, end - off + 16);/
