# a NAK fails what is older and still on its way
# file: rc/comp.c
/^static void set_pending_err/,/^}/s/sroce_comp_settle(qp);/sroce_sq_fail(qp, qp->req.pending_err);/
