# a window is bound again when requests are sent again after a loss
# file: rc/sq_sched.c
# SPDX-License-Identifier: GPL-2.0
/^static struct sroce_wqe \*next_wqe/,/^}/s/if (!sroce_wqe_is_mem_op(wqe) || !wqe->started)/if (1)/
