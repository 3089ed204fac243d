# a timer that fires early is not set again
# file: repair.c
/^void sroce_repair_watch/,/^}/s/^	if (when)$/	if (when \&\& !rp->probes)/
