# the number of entries of a receive is not bounded
# file: core/mem/wqe.c
# SPDX-License-Identifier: GPL-2.0
/^bool sroce_wqe_fetch_recv/,/^}/s/raw.dma.num_sge > rq->max_sge/false/
