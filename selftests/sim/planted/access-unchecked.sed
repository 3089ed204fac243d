# a region without the right is written to
# file: mr.c
/^struct sroce_mr \*sroce_mr_remote/,/^}/s/(mr->access & access) != access ||/access < 0 ||/
