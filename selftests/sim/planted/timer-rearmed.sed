# new work postpones the ACK timeout
# file: rc/retrans.c
/^void sroce_retrans_set_timer/,/^}/s/if (!req->deadline && timeout)/if (timeout)/
