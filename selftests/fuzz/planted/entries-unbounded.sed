# a send work request may have any number of SGEs
# file: mem/wqe.c
# SPDX-License-Identifier: GPL-2.0
s/if (dma->num_sge > qp->sq.max_sge)/if (dma->num_sge > 10000)/
