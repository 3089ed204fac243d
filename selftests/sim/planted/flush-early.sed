# a FLUSH is answered before the data it has to flush has arrived
# file: rc/resp.c
# SPDX-License-Identifier: GPL-2.0
s/^	if (diff > 0)$/	if (diff > 0 \&\& !(pkt->op->flags \& SROCE_FLUSHING))/
