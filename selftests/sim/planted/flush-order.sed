# receive work requests are flushed before the one in use
# file: rc/flush.c
# SPDX-License-Identifier: GPL-2.0
/^void sroce_flush_rq/,/^}/s/if (resp->have_wqe) {/if (resp->have_wqe \&\& !sroce_wqe_fetch_recv(\&qp->rq, \&resp->wqe)) {/
