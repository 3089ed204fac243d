# messages that leave together have the first one's immediate
# file: rc/req.c
# SPDX-License-Identifier: GPL-2.0
/^static bool put_like/,/^}/s/pkt->imm = wqe->imm;//
