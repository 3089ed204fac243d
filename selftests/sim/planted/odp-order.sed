# of UC and UD, a packet that waits for pages is queued behind later ones
# file: rc/ofo.c
# SPDX-License-Identifier: GPL-2.0
/^void sroce_ofo_put_back/,/^}/s/&qp->resp.ofo_queue)/sroce_is_rc(qp) ? \&qp->resp.ofo_queue : qp->resp.ofo_queue.prev)/
