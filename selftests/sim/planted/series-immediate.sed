# messages that leave together have the first one's immediate
# file: rc/req.c
/^static bool append_msg/,/^}/s/pkt->imm = wqe->imm;//
