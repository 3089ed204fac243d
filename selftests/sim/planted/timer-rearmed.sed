# new work postpones the ACK timeout
# file: rc/retrans.c
# SPDX-License-Identifier: GPL-2.0
/^void sroce_retrans_set_timer/,/^}/s/if (!req->deadline && timeout)/if (timeout)/
