# messages that leave together are all written where the first goes
# file: rc/req.c
/^static bool append_msg/,/^}/s/pkt->va = wqe->remote_addr;//
