# a duplicate atomic is executed again
# file: rc/resp.c
/^static enum verdict check_psn_rc/,/^}/s/if (diff < 0)/if (diff < 0 \&\& !(pkt->op->flags \& SROCE_ATOMIC))/
