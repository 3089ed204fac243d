# inline data may exceed the space in the slot
# file: mem/wqe.c
s/if (wqe->length > qp->sq.max_inline)/if (wqe->length > 100000)/
