# a timer that fires early is not set again
# file: rc/retrans.c
/^void sroce_retrans_set_timer/,/^}/s/^	if (when)$/	if (when \&\& !rp->probes)/
