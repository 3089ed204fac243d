# inline data may be longer than there is room
# file: mem/wqe.c
# SPDX-License-Identifier: GPL-2.0
s/if (wqe->length > qp->sq.max_inline)/if (wqe->length > 100000)/
