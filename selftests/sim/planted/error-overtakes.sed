# a NAK also fails older requests that are still outstanding
# file: rc/comp.c
# SPDX-License-Identifier: GPL-2.0
/^static void set_pending_err/,/^}/s/sroce_comp_settle(qp);/sroce_sq_fail(qp, qp->req.pending_err);/
