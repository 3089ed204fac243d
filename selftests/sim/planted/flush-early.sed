# a FLUSH is answered before the data it has to flush has arrived
# file: rc/resp.c
s/^	if (diff > 0)$/	if (diff > 0 \&\& !(pkt->op->flags \& SROCE_FLUSHING))/
