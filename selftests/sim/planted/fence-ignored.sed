# a fenced work request does not wait for READs
# file: rc/sq_sched.c
# SPDX-License-Identifier: GPL-2.0
/^static bool may_start/,/^}/s/if (wqe->flags & IB_SEND_FENCE && req->reads)/if (0)/
