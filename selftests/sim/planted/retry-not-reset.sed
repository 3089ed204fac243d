# progress does not reset the retry counter
# file: rc/retrans.c
# SPDX-License-Identifier: GPL-2.0
/^void sroce_retrans_progress/,/^}/s/req->retries = qp->attr.retry_cnt;//
