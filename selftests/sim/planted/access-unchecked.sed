# a region is written to without the access right
# file: mem/mr.c
/^static struct sroce_mr \*get_remote/,/^}/s/(mr->access & access) != access ||/access < 0 ||/
