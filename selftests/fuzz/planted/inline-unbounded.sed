# inline data may be longer than there is room
# file: mem/wqe.c
s/if (wqe->length > qp->sq.max_inline)/if (wqe->length > 100000)/
