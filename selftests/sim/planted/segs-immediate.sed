# messages that are sent together all carry the immediate of the first
# file: rc/req.c
/^static bool put_like/,/^}/s/pkt->imm = wqe->imm;//
