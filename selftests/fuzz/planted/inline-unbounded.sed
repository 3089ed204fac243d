# inline data may exceed the space in the slot
# file: mem/wqe.c
# SPDX-License-Identifier: GPL-2.0
s/if (wqe->length > qp->sq.max_inline)/if (wqe->length > 100000)/
