# an ACK that was held for the answer does not leave with it
# file: rc/resp_tx.c
# SPDX-License-Identifier: GPL-2.0
/^static bool join/,/^}/s/send_aeth(qp, true)/qp->resp.aeth = false/
