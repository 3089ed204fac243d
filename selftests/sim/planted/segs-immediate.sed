# messages that leave together have the first one's immediate
# file: rc/req.c
/^static bool put_like/,/^}/s/pkt->imm = wqe->imm;//
