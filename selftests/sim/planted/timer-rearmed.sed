# new work postpones the acknowledge timer
# file: rc/retrans.c
/^void sroce_repair_watch/,/^}/s/if (!req->deadline && timeout)/if (timeout)/
