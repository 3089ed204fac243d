# a region without the right is written to
# file: mem/mr.c
/^static struct sroce_mr \*get_remote/,/^}/s/(mr->access & access) != access ||/access < 0 ||/
