# a receive work request may have any number of SGEs
# file: mem/wqe.c
# SPDX-License-Identifier: GPL-2.0
s/to->bad = raw.dma.num_sge > rq->max_sge;/to->bad = raw.dma.num_sge > 10000;/
