# a SEND with invalidate invalidates nothing
# file: rc/resp.c
# SPDX-License-Identifier: GPL-2.0
s/^	    sroce_mem_ops_invalidate(qp, pkt->inv_rkey, true))/	    pkt->inv_rkey == 1)/
