# a FLUSH is answered before what it is to flush has come
# file: rc/resp.c
s/^	if (diff > 0)$/	if (diff > 0 \&\& !(pkt->op->flags \& SROCE_FLUSHING))/
