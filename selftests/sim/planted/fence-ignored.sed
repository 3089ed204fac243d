# a fence does not wait for READs
# file: turn.c
/^static bool may_start/,/^}/s/if (wqe->flags & IB_SEND_FENCE && req->reads)/if (0)/
