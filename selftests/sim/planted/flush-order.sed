# receives are flushed before the one in use
# file: rc/flush.c
/^void sroce_rq_flush/,/^}/s/if (resp->have_wqe) {/if (resp->have_wqe \&\& !sroce_rq_fetch(\&qp->rq, \&resp->wqe)) {/
