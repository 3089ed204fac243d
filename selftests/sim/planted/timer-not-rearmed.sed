# a timer that fires early is not set again
# file: rc/retrans.c
/^void sroce_repair_watch/,/^}/s/^	if (when)$/	if (when \&\& !rp->probes)/
